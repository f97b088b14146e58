//! The contract's enums in the words of the command line.

use crate::proto::v1::{
    self, Role,
    overlay::{Cause, Kind},
    token_budget::part,
};

/// A shape of the contract without its prefix, in lower case: `KIND_CLEAR` is `clear`.
fn short(name: &'static str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_ascii_lowercase()
}

pub(super) fn role(role: i32) -> &'static str {
    match Role::try_from(role).unwrap_or_default() {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::Unspecified => "unknown",
    }
}

pub(super) fn overlay_kind(kind: i32) -> String {
    short(Kind::try_from(kind).unwrap_or_default().as_str_name(), "KIND_")
}

pub(super) fn cause(cause: i32) -> String {
    short(Cause::try_from(cause).unwrap_or_default().as_str_name(), "CAUSE_")
}

pub(super) fn part_kind(kind: i32) -> String {
    short(part::Kind::try_from(kind).unwrap_or_default().as_str_name(), "KIND_")
}

pub(super) fn pressure(pressure: i32) -> String {
    short(v1::Pressure::try_from(pressure).unwrap_or_default().as_str_name(), "PRESSURE_")
}

pub(super) fn placement(placement: i32) -> String {
    let placement = v1::context_item::Placement::try_from(placement).unwrap_or_default();
    short(placement.as_str_name(), "PLACEMENT_")
}

pub(super) fn format(format: i32) -> String {
    short(v1::WireFormat::try_from(format).unwrap_or_default().as_str_name(), "WIRE_FORMAT_")
}

/// `rows 3–17`, `row 20`.
pub(super) fn rows(ranges: &[v1::SeqRange]) -> String {
    let is_one = matches!(ranges, [range] if range.first_seq == range.last_seq);
    format!("{} {}", if is_one { "row" } else { "rows" }, self::ranges(ranges))
}

/// `3–17, 20`.
pub(super) fn ranges(ranges: &[v1::SeqRange]) -> String {
    let one = |range: &v1::SeqRange| {
        if range.first_seq == range.last_seq {
            range.first_seq.to_string()
        } else {
            format!("{}–{}", range.first_seq, range.last_seq)
        }
    };
    ranges.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// True where `seq` lies in one of them.
pub(super) fn holds(ranges: &[v1::SeqRange], seq: i64) -> bool {
    ranges.iter().any(|range| (range.first_seq..=range.last_seq).contains(&seq))
}

/// A time as RFC 3339; empty where there is none.
pub(super) fn time(time: Option<&prost_types::Timestamp>) -> String {
    time.and_then(|time| jiff::Timestamp::new(time.seconds, time.nanos).ok())
        .map(|time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enums_lose_their_prefix() {
        assert_eq!(overlay_kind(Kind::Clear.into()), "clear");
        assert_eq!(pressure(v1::Pressure::Elevated.into()), "elevated");
        assert_eq!(format(v1::WireFormat::OpenaiChat.into()), "openai_chat");
        assert_eq!(part_kind(9), "tool_result");
        assert_eq!(part_kind(99), "unspecified");
    }

    #[test]
    fn a_range_of_one_row_is_told_as_a_number() {
        let range = |first_seq, last_seq| v1::SeqRange { first_seq, last_seq };
        assert_eq!(ranges(&[range(3, 17), range(20, 20)]), "3–17, 20");
        assert_eq!(rows(&[range(3, 17), range(20, 20)]), "rows 3–17, 20");
        assert_eq!(rows(&[range(20, 20)]), "row 20");
        assert!(holds(&[range(3, 17)], 17));
        assert!(!holds(&[range(3, 17)], 18));
    }
}
