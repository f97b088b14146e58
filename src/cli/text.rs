//! Numbers, bars, tables and excerpts for people.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};

use super::out::{Paint, harmless};
use crate::proto::v1::Pressure;

/// `12,345`.
pub(super) fn thousands(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if number < 0 { format!("−{out}") } else { out }
}

/// `12.3 KB`.
#[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
pub(super) fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// `1 message`, `2 messages`.
pub(super) fn count(number: i64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", thousands(number))
}

/// The first characters of a text on one line, at most `width` of them.
pub(super) fn excerpt(text: &str, width: usize) -> String {
    // More than is needed of a long text is never looked at.
    let start: String = text.chars().take(width.saturating_mul(4)).collect();
    let line = start.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = harmless(&line).into_owned();
    let cut = start.len() < text.len() || line.chars().count() > width;
    if cut {
        let kept: String = line.chars().take(width.saturating_sub(1)).collect();
        format!("{}…", kept.trim_end())
    } else {
        line
    }
}

/// A bar of `width` cells, `share` of it full; eighths are drawn.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a width of a terminal, and a share that is clamped to 0..=1"
)]
pub(super) fn bar(share: f64, width: usize) -> String {
    const PARTS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 1.0 };
    let eighths = (share * width as f64 * 8.0).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if let Some(part) = PARTS.get(eighths % 8).filter(|part| **part != ' ') {
        bar.push(*part);
    }
    let drawn = bar.chars().count();
    bar + &"·".repeat(width.saturating_sub(drawn))
}

/// A share in whole percent, `64 %`; rounded down, so that a level that starts
/// at 85 % is never told of 84.9 %.
pub(super) fn percent(share: f64) -> String {
    // 0.85 × 100 is a hair below 85.
    format!("{:.0} %", (share * 100.0 + 1e-9).floor())
}

/// Green, yellow or red by pressure; the words that go with it say the same.
pub(super) fn by_pressure(paint: Paint, pressure: i32, text: &str) -> String {
    match Pressure::try_from(pressure).unwrap_or_default() {
        Pressure::Unspecified | Pressure::Normal => paint.green(text),
        Pressure::Elevated => paint.yellow(text),
        Pressure::Warning | Pressure::Critical => paint.red(text),
    }
}

/// A table without frames. A column named with a leading `#` holds numbers, one
/// with a leading `*` is folded where the table would be too wide.
pub(super) fn table<const N: usize>(header: [&str; N], rows: Vec<[String; N]>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(TABLE_WIDTH);
    table.set_header(header.map(|name| name.trim_start_matches(['#', '*'])));
    for row in rows {
        table.add_row(row.map(|cell| harmless(&cell).into_owned()));
    }
    for (column, name) in table.column_iter_mut().zip(header) {
        column.set_padding((0, 2));
        if name.starts_with('#') {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if !name.starts_with('*') {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table.trim_fmt()
}

/// What an ordinary terminal shows without folding.
const TABLE_WIDTH: u16 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(-1_234_567), "−1,234,567");
    }

    #[test]
    fn an_excerpt_is_one_line_and_says_that_it_is_cut() {
        assert_eq!(excerpt("a  b\n\tc", 10), "a b c");
        assert_eq!(excerpt("abcdefgh", 5), "abcd…");
        assert_eq!(excerpt(&"x".repeat(100), 5), "xxxx…");
        assert_eq!(excerpt("żółw", 4), "żółw");
        assert_eq!(excerpt("\u{1b}[31m", 20), "\\u{1b}[31m");
    }

    #[test]
    fn a_bar_is_as_wide_as_asked_whatever_the_share() {
        for share in [0.0, 0.01, 0.5, 0.999, 1.0, 7.0, f64::NAN] {
            assert_eq!(bar(share, 20).chars().count(), 20, "{share}");
        }
        assert_eq!(bar(0.5, 4), "██··");
    }

    #[test]
    fn a_percentage_never_reaches_a_level_before_the_share_does() {
        assert_eq!(percent(0.8499), "84 %");
        assert_eq!(percent(0.85), "85 %");
        assert_eq!(percent(0.29), "29 %");
    }

    #[test]
    fn sizes_bear_a_unit() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(98_304), "98.3 KB");
        assert_eq!(count(1, "message"), "1 message");
        assert_eq!(count(2_000, "message"), "2,000 messages");
    }

    #[test]
    fn a_table_lines_up_numbers_on_the_right() {
        let rows = vec![["fit".into(), "1,000".into()], ["collapse".into(), "5".into()]];
        let lines: Vec<_> = table(["stage", "#saved"], rows).lines().map(str::to_owned).collect();
        assert_eq!(lines[1].trim_end(), "fit       1,000");
        assert_eq!(lines[2].trim_end(), "collapse      5");
    }
}
