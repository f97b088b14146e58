//! Collapse as a stage among others: when it acts, on what, and beside whom.

use concertina::proto::v1::{self as pb, WireFormat, overlay::Kind};

use super::{
    reducing::{made_by, range, stage, used},
    support::{FORMATS, Talk, asking, assistant, creating, text, user},
};
use crate::{grpc::summarizers::Scripted, projection::support::of_tokens};

/// A window whose limit is 30,000 under presets that reserve 8192.
const WINDOW: i64 = 38_192;
const LIMIT: i64 = 30_000;

#[tokio::test]
async fn r18_collapse_and_compact_may_overlap_or_one_may_be_left_out() {
    // Compact's own trigger lies at 93.5 % of the limit, collapse's at 90 %, and
    // what collapse alone must cope with begins at 95 %.
    let told = async |patch: &str| {
        let held = Scripted::saying("never");
        let mut talk = Talk::summarized_by(held, "default", patch, WINDOW).await;
        talk.turns(20, 1200).await;
        talk.fill_to(LIMIT * 94 / 100).await;
        talk.context(WireFormat::OpenaiChat).await.stages
    };
    let trigger = |stages: &[pb::StageReport], name: &str| {
        stages.iter().find(|it| it.stage == name).map(|it| it.trigger.clone())
    };
    let would_act = Some("not_available".to_owned());
    let both = told(r#"{"collapse":{"with_auto_compact":"overlapping"}}"#).await;
    assert_eq!(trigger(&both, "collapse").as_deref(), Some("over_threshold"));
    assert_eq!(trigger(&both, "auto_compact"), would_act, "each at its own trigger");
    let replaced = told("").await;
    assert_eq!(trigger(&replaced, "collapse").as_deref(), Some("over_threshold"));
    assert_eq!(trigger(&replaced, "auto_compact").as_deref(), Some("below_threshold"));
    let alone = told(r#"{"stages":["auto_compact","fit"]}"#).await;
    assert_eq!(trigger(&alone, "collapse"), None);
    assert_eq!(trigger(&alone, "auto_compact"), would_act, "at once, without a collapse before");
}

#[tokio::test]
async fn r20_collapse_is_on_where_the_stages_name_it() {
    let with = r#"{"stages":["collapse","fit"]}"#;
    let without = r#"{"stages":["fit"]}"#;
    let mut talk = Talk::start_with("default", without, WINDOW).await;
    talk.turns(40, 900).await;
    let off = talk.at_rest().await;
    assert!(off.stages.iter().all(|it| it.stage != "collapse"));
    assert!(off.overlays.iter().all(|it| it.kind() == Kind::Snip), "{:?}", off.overlays);

    // A preview under other stages changes nothing.
    let preview = pb::GetContextRequest {
        preview: true,
        policy_overrides_json: r#"{"stages":["collapse","fit"],"fit":{"until_ratio":1.0}}"#.into(),
        expand_overlay_ids: off.overlays.iter().map(|it| it.id.clone()).collect(),
        ..asking(WireFormat::OpenaiChat)
    };
    let seen = talk.try_context(preview).await.unwrap();
    assert!(seen.stages.iter().any(|it| it.stage == "collapse"));
    assert_eq!(talk.at_rest().await.messages_json, off.messages_json);

    for snip in &off.overlays {
        talk.roll_back(&snip.id).await;
    }
    set_stages(&mut talk, with).await;
    let on = talk.at_rest().await;
    assert!(on.overlays.iter().all(|it| it.kind() == Kind::Collapse), "{:?}", on.overlays);
    assert!(!on.overlays.is_empty());

    // What is collapsed stays so when the stage is switched off again, and who
    // wants it by hand may have it.
    set_stages(&mut talk, without).await;
    assert_eq!(talk.at_rest().await.messages_json, on.messages_json);
    let last = on.overlays.last().unwrap().covered.last().unwrap().last_seq;
    talk.collapse(last + 1, last + 8).await.unwrap();
    assert!(used(&talk.at_rest().await) < used(&on));
}

async fn set_stages(talk: &mut Talk, patch: &str) {
    let as_created = creating("s", "default", patch, WINDOW);
    let view = pb::View { name: "main".into(), policy: as_created.policy, model: as_created.model };
    let request =
        pb::SetViewRequest { session_id: "s".into(), view: Some(view), ..Default::default() };
    talk.client.set_view(request).await.unwrap();
}

#[tokio::test]
async fn r64_h5_thirty_turns_in_three_segments_cost_three_calls() {
    let summarizer = Scripted::extractive();
    let patch = r#"{"collapse":{"until_ratio":0.5,"min_turns":5,"max_turns":5}}"#;
    let mut talk = Talk::summarized_by(summarizer.clone(), "default", patch, WINDOW).await;
    talk.turns(30, LIMIT * 91 / 100 / 30 - 20).await;
    let collapsed = talk.at_rest().await;
    assert!(used(&collapsed) <= LIMIT / 2, "{}", used(&collapsed));
    let tasks = summarizer.tasks();
    assert_eq!(tasks.len(), 3, "a call for each segment");
    let ever = talk.ever("").await;
    let made = made_by(&ever, "collapse");
    let covered: Vec<_> = made.iter().map(|it| it.covered[0]).collect();
    assert_eq!(covered, [range(1, 10), range(11, 20), range(21, 30)]);
    for (task, made) in tasks.iter().zip(made) {
        assert_eq!((task.min_tokens, task.max_tokens), (100, 300));
        assert_eq!(task.material.rounds.len(), 10, "five turns");
        assert!(task.material.earlier.is_empty());
        let words = concertina::tokens::count_text(&made.summary);
        assert!(words <= 300, "{words}: {}", made.summary);
        assert_eq!(made.summarizer, "scripted:test");
    }
}

#[tokio::test]
async fn r65_the_newest_turns_stay_whole() {
    for keep in [1, 2, 4] {
        let collapse = format!(r#""keep_turns":{keep},"keep_share":0,"until_ratio":0.01"#);
        let patch = format!(r#"{{"stages":["collapse","fit"],"collapse":{{{collapse}}}}}"#);
        let mut talk = Talk::start_with("default", &patch, WINDOW).await;
        talk.turns(30, 900).await;
        let plain = talk.history().await;
        let context = talk.at_rest().await;
        let rows: Vec<i64> = context
            .origins
            .iter()
            .filter(|it| it.overlay_id.is_empty())
            .flat_map(|it| it.rows.iter().flat_map(|rows| rows.first_seq..=rows.last_seq))
            .collect();
        let newest: Vec<i64> = plain.iter().rev().take(2 * keep).rev().map(|it| it.seq).collect();
        assert_eq!(rows, newest, "keep_turns = {keep}");
    }
    for preset in ["cascade", "teaching-collapse", "default", "claude-code"] {
        let patch = r#"{"stages":["collapse","fit"],"collapse":{"until_ratio":0.01}}"#;
        let mut talk = Talk::start_with(preset, patch, 40_000).await;
        talk.turns(40, 900).await;
        let context = talk.at_rest().await;
        let shown: Vec<_> = context.messages_json.iter().rev().take(4).collect();
        let requests = shown.iter().filter(|it| String::from_utf8_lossy(it).contains("Do part"));
        assert_eq!(requests.count(), 2, "{preset}");
    }
}

#[tokio::test]
async fn r67_what_is_older_lies_under_more_summaries_and_is_shorter() {
    let patch = r#"{"stages":["collapse","fit"],"collapse":{"all_summaries_share":0.06}}"#;
    let mut talk = Talk::start_with("default", patch, WINDOW).await;
    for nth in 1..=150 {
        talk.exchange(&format!("Do part {nth} of it now."), &of_tokens(500)).await;
        if nth % 3 == 0 {
            talk.at_rest().await;
        }
    }
    let context = talk.at_rest().await;
    let ever = talk.ever("").await;
    let (oldest, newest) = (&context.overlays[0], context.overlays.last().unwrap());
    assert!(!oldest.covered_overlay_ids.is_empty(), "{oldest:?}");
    assert!(newest.covered_overlay_ids.is_empty(), "{newest:?}");
    let depth = |overlay: &pb::Overlay| depth(overlay, &ever);
    assert!(depth(oldest) > depth(newest));
    let per_row = |overlay: &pb::Overlay| {
        let told = ever.iter().find(|it| it.id == overlay.id).unwrap();
        let words = i64::from(concertina::tokens::count_text(&told.summary));
        1000 * words / told.covered_messages
    };
    assert!(per_row(oldest) < per_row(newest), "{} {}", per_row(oldest), per_row(newest));
    // Every one of them can be opened again, one after the other.
    let before = context.overlays.len();
    let opened = oldest.covered_overlay_ids.len();
    talk.roll_back(&oldest.id).await;
    let shown = pb::GetContextRequest {
        preview: true,
        policy_overrides_json: r#"{"stages":[]}"#.into(),
        ..asking(WireFormat::OpenaiChat)
    };
    let inner = talk.try_context(shown).await.unwrap();
    assert_eq!(inner.overlays.len(), before - 1 + opened);
}

/// How many summaries lie on each other.
fn depth(overlay: &pb::Overlay, ever: &[pb::Overlay]) -> usize {
    let under = |id: &String| ever.iter().find(|it| it.id == *id);
    let deepest = overlay.covered_overlay_ids.iter().filter_map(under).map(|it| depth(it, ever));
    1 + deepest.max().unwrap_or(0)
}

#[tokio::test]
async fn r69_from_95_percent_on_no_sub_agent_should_be_started() {
    for preset in ["default", "teaching-collapse"] {
        let summarizer = Scripted::saying("What was said before.");
        // Nobody waits here for what is held back.
        let patch = r#"{"collapse":{"block_wait_seconds":0,"template":"span"}}"#;
        let mut create = creating("s", preset, patch, 32_000);
        create.model.as_mut().unwrap().output_reserve = Some(1_000);
        let server = crate::grpc::support::TestServer::start_with(summarizer.clone(), |_| {}).await;
        let mut talk = Talk::over(server, create).await;
        let limit = 31_000;
        // A view's very first collapse waits for nobody; this is not it.
        talk.turns(14, 2000).await;
        talk.fill_to(limit * 94 / 100).await;
        summarizer.release();
        talk.at_rest().await;
        summarizer.hold();
        let asked = summarizer.tasks().len();

        let edge = (limit * 95 + 99) / 100;
        for (tokens, is_allowed) in [(edge - 10, true), (edge, false), (edge + 50, false)] {
            let appended = talk.fill_to(tokens).await;
            let told = talk.context(WireFormat::OpenaiChat).await.budget.unwrap();
            // From here on the worker leaves the view alone: an append tells its
            // budget where nobody works on it.
            summarizer.was_asked_after(asked).await;
            for budget in [appended, told] {
                assert_eq!(budget.spawn_allowed, is_allowed, "{preset} at {tokens}: {budget:?}");
                let is_critical = budget.pressure() == pb::Pressure::Critical;
                assert_eq!(is_critical, !is_allowed, "{preset} at {tokens}");
            }
        }
        summarizer.release();
        let collapsed = talk.at_rest().await.budget.unwrap();
        assert!(collapsed.spawn_allowed, "{preset}: {collapsed:?}");
    }
}

#[tokio::test]
async fn r73_whole_turns_are_collapsed_words_and_all_and_come_back() {
    let patch = r#"{"stages":["collapse","fit"]}"#;
    let mut talk = Talk::start_with("default", patch, WINDOW).await;
    for nth in 0..24 {
        talk.user(&format!("Use port {} for part {nth}.", 48_000 + nth)).await;
        if nth % 2 == 0 {
            talk.tool("bash", r#"{"command":"make"}"#, &of_tokens(300)).await;
        }
        talk.say(vec![assistant(vec![text(&of_tokens(1000))])]).await;
    }
    let off = pb::GetContextRequest {
        preview: true,
        policy_overrides_json: r#"{"stages":[]}"#.into(),
        ..asking(WireFormat::OpenaiChat)
    };
    let plain = talk.try_context(pb::GetContextRequest { ..off.clone() }).await.unwrap();
    let history = talk.history().await;
    let collapsed = talk.at_rest().await;
    let made = talk.ever("").await;
    assert!(!made.is_empty());
    let covers = |seq: i64| {
        let ranges = made.iter().flat_map(|it| &it.covered);
        ranges.into_iter().any(|it| (it.first_seq..=it.last_seq).contains(&seq))
    };
    let role = |it: &pb::StoredMessage| it.message.as_ref().unwrap().role();
    let covered: Vec<_> = history.iter().filter(|it| covers(it.seq)).collect();
    let is_words = |it: &&&pb::StoredMessage| {
        let blocks = &it.message.as_ref().unwrap().blocks;
        blocks.iter().all(|it| matches!(it.kind, Some(pb::block::Kind::Text(_))))
    };
    let words = covered.iter().filter(is_words);
    assert!(words.clone().any(|it| role(it) == pb::Role::User));
    assert!(words.clone().any(|it| role(it) == pb::Role::Assistant));
    assert!(words.count() < covered.len(), "calls and results go along");
    // Whole turns: what follows the last covered row is a request.
    for overlay in &made {
        let last = overlay.covered.last().unwrap().last_seq;
        let next = &history[usize::try_from(last).unwrap()];
        assert_eq!(role(next), pb::Role::User, "{overlay:?}");
    }
    assert!(made[0].summary.contains("48000"), "{}", made[0].summary);
    assert_eq!(stage(&collapsed, "collapse").trigger, "over_threshold");
    for overlay in &made {
        talk.roll_back(&overlay.id).await;
    }
    assert_eq!(talk.try_context(off).await.unwrap().messages_json, plain.messages_json);
    assert_eq!(talk.history().await, history);
}

#[tokio::test]
async fn r19_r68_what_is_collapsed_is_shown_alike_in_every_format() {
    let mut talk = Talk::start("default", WINDOW).await;
    talk.turns(40, 900).await;
    talk.say(vec![user("and now?")]).await;
    let made = talk.at_rest().await.overlays;
    for format in FORMATS {
        let context = talk.context(format).await;
        let ids = |of: &[pb::Overlay]| of.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&context.overlays), ids(&made));
        assert_eq!(stage(&context, "auto_compact").trigger, "below_threshold");
    }
}

#[tokio::test]
async fn r67_a_wider_one_that_a_preview_opens_stays_open() {
    let patch = r#"{"stages":["collapse","fit"],"collapse":{"all_summaries_share":0.06}}"#;
    let mut talk = Talk::start_with("default", patch, WINDOW).await;
    let mut at_rest = None;
    for nth in 1..=150 {
        talk.exchange(&format!("Do part {nth} of it now."), &of_tokens(500)).await;
        if nth % 3 == 0 {
            at_rest = Some(talk.at_rest().await);
        }
    }
    let context = at_rest.unwrap();
    let wide = &context.overlays[0];
    assert!(!wide.covered_overlay_ids.is_empty(), "{wide:?}");
    let preview = pb::GetContextRequest {
        preview: true,
        expand_overlay_ids: vec![wide.id.clone()],
        ..asking(WireFormat::OpenaiChat)
    };
    let opened = talk.try_context(preview).await.unwrap();
    let shown: Vec<&str> = opened.overlays.iter().map(|it| it.id.as_str()).collect();
    for inner in &wide.covered_overlay_ids {
        assert!(shown.contains(&inner.as_str()), "{inner} of {shown:?}");
    }
}

#[tokio::test]
async fn clears_of_what_lies_under_a_summary_are_not_among_those_that_are_shown() {
    let mut talk = Talk::start("off", WINDOW).await;
    let mut results = Vec::new();
    for nth in 1..=12 {
        talk.user(&format!("Look at part {nth}.")).await;
        results.push(talk.tool("Read", "{}", &of_tokens(300)).await);
    }
    talk.user("go on").await;
    let clear = async |seq: i64, talk: &mut Talk| {
        let contents = vec![pb::ContentRef { seq, ..Default::default() }];
        let request =
            pb::CreateClearRequest { session_id: "s".into(), contents, ..Default::default() };
        talk.overlays.create_clear(request).await.unwrap().into_inner().overlay.unwrap()
    };
    let (under, beside) = (clear(results[1], &mut talk).await, clear(results[9], &mut talk).await);
    let shown = async |talk: &mut Talk| {
        let context = talk.context(WireFormat::OpenaiChat).await;
        context.overlays.into_iter().map(|it| it.id).collect::<Vec<_>>()
    };
    assert_eq!(shown(&mut talk).await, [under.id, beside.id.clone()]);
    let fold = talk.collapse(1, results[3]).await.unwrap();
    assert_eq!(shown(&mut talk).await, [fold.id, beside.id]);
}
