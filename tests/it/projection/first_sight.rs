//! Stages that are fixed at first sight: caps, budgets, duplicates, pictures,
//! white space.

use bytes::Bytes;
use concertina::{
    model::{Block, BlockKind, Role, Seq, ToolOutput},
    projection::report,
};

use super::support::{Agent, Look, call, message, png, prose, results, words};

const FILE: &str = r#"{"path":"a.rs"}"#;

/// How a result of `chars` characters is shown under a preset.
fn capped(preset: &str, chars: usize) -> String {
    let mut agent = Agent::of(preset, 200_000);
    agent.user("go");
    let seq = agent.tool("bash", "{}", &prose(chars));
    agent.look().text(seq, 0).unwrap()
}

#[test]
fn r23_r24_r28_a_result_above_4000_keeps_its_first_2400_and_last_1600() {
    for chars in [4400, 8000, 50_000] {
        let (whole, shown) = (prose(chars), capped("cascade", chars));
        let marker = format!("...[{} chars removed]...", chars - 4000);
        let expected = format!("{}{marker}{}", &whole[..2400], &whole[chars - 1600..]);
        assert_eq!(shown, expected);
    }
}

#[test]
fn r23_r28_a_result_of_4000_is_untouched() {
    for chars in [0, 1, 3999, 4000] {
        assert_eq!(capped("cascade", chars), prose(chars));
    }
}

#[test]
fn r23_a_cut_that_would_not_be_smaller_is_not_made() {
    for chars in 4001..4020 {
        assert!(capped("cascade", chars).len() <= 4030);
    }
}

#[test]
fn r8_sizes_in_characters_are_no_bytes() {
    let mut agent = Agent::of("cascade", 200_000);
    let (exact, above) = ("漢".repeat(4000), "漢".repeat(5000));
    let exact_at = agent.tool("bash", "{}", &exact);
    let above_at = agent.tool("bash", "{}", &above);
    let look = agent.look();
    assert_eq!(look.text(exact_at, 0).unwrap(), exact);
    let shown = look.text(above_at, 0).unwrap();
    assert_eq!(shown.matches('漢').count(), 4000);
    assert!(shown.contains("...[1000 chars removed]..."));
}

#[test]
fn r25_r22_words_of_user_and_assistant_are_never_cut() {
    for preset in ["cascade", "four-level", "teaching", "default"] {
        let mut agent = Agent::of(preset, 200_000);
        let user = agent.user(&prose(50_000));
        let assistant = agent.assistant(&prose(50_000));
        let look = agent.look();
        assert_eq!(look.text(user, 0).unwrap(), prose(50_000), "{preset}");
        assert_eq!(look.text(assistant, 0).unwrap().trim_end(), prose(50_000).trim_end());
    }
}

#[test]
fn r26_what_was_cut_once_stays_as_it_is() {
    let mut agent = Agent::of("cascade", 200_000);
    let seq = agent.tool("bash", "{}", &prose(50_000));
    let first = agent.look().text(seq, 0);
    for turn in 0..30 {
        agent.exchange("more", "of it");
        let again = agent.look();
        assert_eq!(again.text(seq, 0), first, "turn {turn}");
        assert_eq!(again.added, []);
    }
}

#[test]
fn r26_a_result_that_looks_cut_already_is_cut_like_any_other() {
    // What was cut is short enough to stay: a cut is never cut again.
    let shown = capped("cascade", 50_000);
    assert!(shown.len() > 4000);
    let mut agent = Agent::of("cascade", 200_000);
    let forged = format!("{shown}{}", prose(2000));
    let seq = agent.tool("bash", "{}", &forged);
    let shown = agent.look().text(seq, 0).unwrap();
    assert!(shown.contains(&format!("...[{} chars removed]...", forged.len() - 4000)));
}

#[test]
fn r27_four_level_keeps_a_head_of_4096() {
    assert_eq!(capped("four-level", 4096), prose(4096));
    let expected = format!("{}\n... [truncated, 50000 total chars]", &prose(50_000)[..4096]);
    assert_eq!(capped("four-level", 50_000), expected);
}

/// Results of one round, as one message each or all in one.
fn round(preset: &str, sizes: &[usize], together: bool) -> (Agent, Look, Vec<(Seq, u32)>) {
    let mut agent = Agent::of(preset, 1_000_000);
    agent.user("go");
    let ids: Vec<String> = (0..sizes.len()).map(|nth| format!("c{nth}")).collect();
    let calls = ids.iter().map(|id| call(id, "bash", "{}")).collect();
    agent.say(message(Role::Assistant, calls));
    let blocks = ids
        .iter()
        .zip(sizes)
        .map(|(id, size)| results(id, vec![ToolOutput::Text(Bytes::from(prose(*size)))]));
    let places: Vec<(Seq, u32)> = if together {
        let seq = agent.say(message(Role::User, blocks.collect())).seq;
        (0..).take(sizes.len()).map(|block| (seq, block)).collect()
    } else {
        blocks.map(|block| (agent.say(message(Role::User, vec![block])).seq, 0)).collect()
    };
    let look = agent.look();
    (agent, look, places)
}

fn shown_sizes(look: &Look, places: &[(Seq, u32)]) -> Vec<usize> {
    places.iter().map(|(seq, block)| look.text(*seq, *block).unwrap().chars().count()).collect()
}

#[test]
fn r29_results_of_200000_together_are_untouched() {
    for together in [true, false] {
        let sizes = [100_000, 60_000, 40_000];
        let (_, look, places) = round("teaching", &sizes, together);
        assert_eq!(shown_sizes(&look, &places), sizes);
    }
}

#[test]
fn r29_r31_above_200000_the_largest_becomes_a_preview_of_2000() {
    let (_, look, places) = round("teaching", &[60_000, 100_001, 40_000], true);
    let (seq, block) = places[1];
    let shown = look.text(seq, block).unwrap();
    let expected = format!(
        "{}\n<persisted-output>100001 characters in all; the rest is kept: message {seq} block \
         {block}</persisted-output>",
        &prose(100_001)[..2000]
    );
    assert_eq!(shown, expected);
    let sizes = shown_sizes(&look, &places);
    assert_eq!((sizes[0], sizes[2]), (60_000, 40_000));
}

#[test]
fn r30_what_is_previewed_is_on_record_in_full() {
    let (agent, _, places) = round("teaching", &[150_000, 60_000], true);
    let row = agent.history.row(places[0].0).unwrap();
    assert_eq!(words(&row.message.blocks[0]), prose(150_000));
}

#[test]
fn r32_of_five_files_of_100000_in_one_message_one_stays_whole() {
    let (_, look, places) = round("teaching", &[100_000; 5], true);
    let sizes = shown_sizes(&look, &places);
    assert!(sizes.iter().sum::<usize>() <= 200_000, "{sizes:?}");
    assert_eq!(sizes.iter().filter(|size| **size == 100_000).count(), 1, "{sizes:?}");
}

#[test]
fn r32_of_five_files_that_come_one_by_one_the_first_two_stay_whole() {
    let (_, look, places) = round("teaching", &[100_000; 5], false);
    let sizes = shown_sizes(&look, &places);
    assert_eq!(sizes[..2], [100_000; 2]);
    assert!(sizes[2..].iter().all(|size| *size < 120), "a pointer each: {sizes:?}");
}

#[test]
fn edge_5_many_results_below_any_floor_still_come_within_the_budget() {
    for (count, size) in [(7, 29_000), (150, 1900), (2000, 150)] {
        let (_, look, places) = round("teaching", &vec![size; count], true);
        let sum: usize = shown_sizes(&look, &places).iter().sum();
        assert!(sum <= 200_000, "{count} of {size}: {sum}");
    }
}

#[test]
fn r33_a_file_read_again_becomes_the_documents_marker() {
    let mut agent = Agent::of("four-level", 200_000);
    let first = agent.tool("read_file", FILE, &prose(900));
    let second = agent.tool("read_file", FILE, &prose(900));
    let third = agent.tool("read_file", FILE, &prose(900));
    let look = agent.look();
    assert_eq!(look.text(first, 0).unwrap(), prose(900));
    for seq in [second, third] {
        let marker = "[Duplicate file content, see earlier in conversation]";
        assert_eq!(look.text(seq, 0).unwrap(), marker);
    }
}

#[test]
fn m5_defaults_marker_of_a_duplicate_names_the_original() {
    let mut agent = Agent::of("default", 200_000);
    let first = agent.tool("read_file", FILE, &prose(900));
    let second = agent.tool("read_file", FILE, &prose(900));
    let shown = agent.look().text(second, 0).unwrap();
    assert_eq!(shown, format!("[same content as message {first} block 0, shown above]"));
}

/// Which of several results of calls (tool, input, output) are marked.
fn marked(results: &[(&str, &str, &str)]) -> Vec<bool> {
    let mut agent = Agent::of("four-level", 200_000);
    let seqs: Vec<Seq> =
        results.iter().map(|(tool, input, out)| agent.tool(tool, input, out)).collect();
    let look = agent.look();
    seqs.iter().map(|seq| look.text(*seq, 0).unwrap().contains("Duplicate")).collect()
}

#[test]
fn r34_edge_6_only_the_same_content_of_the_same_file_is_a_duplicate() {
    let (a, b) = (prose(900), prose(901));
    let other = r#"{"path":"b.rs"}"#;
    assert_eq!(marked(&[("read_file", FILE, ""), ("read_file", FILE, "")]), [false, false]);
    assert_eq!(marked(&[("read_file", FILE, &a), ("read_file", other, &a)]), [false, false]);
    assert_eq!(marked(&[("bash", "{}", &a), ("bash", "{}", &a)]), [false, false]);
    let edited = [("read_file", FILE, &*a), ("read_file", FILE, &b), ("read_file", FILE, &a)];
    assert_eq!(marked(&edited), [false, false, false], "other content was shown between");
    let between = [("read_file", FILE, &*a), ("read_file", other, &b), ("read_file", FILE, &a)];
    assert_eq!(marked(&between), [false, false, true]);
    // One tool's name for a file's path is as good as another's.
    let named = r#"{"file_path":"a.rs","limit":10}"#;
    assert_eq!(marked(&[("read_file", FILE, &a), ("Read", named, &a)]), [false, true]);
}

#[test]
fn edge_8_a_duplicate_shows_its_text_where_its_original_is_gone() {
    let mut agent = Agent::of("four-level", 200_000);
    let first = agent.tool("read_file", FILE, &prose(900));
    let second = agent.tool("read_file", FILE, &prose(900));
    let third = agent.tool("read_file", FILE, &prose(900));
    agent.user("go on");
    let snip = super::support::snip(&agent, first.0 - 1, first.0);
    agent.commit(vec![snip], &[]);
    let look = agent.look();
    assert!(!look.shows(first));
    assert_eq!(look.text(second, 0).unwrap(), prose(900));
    assert!(look.text(third, 0).unwrap().contains("Duplicate"));
    let id = agent.ever[0].id.clone();
    agent.roll_back(&id);
    assert!(agent.look().text(second, 0).unwrap().contains("Duplicate"));
}

#[test]
fn edge_8_a_cleared_original_makes_its_duplicate_whole() {
    let mut agent = Agent::of("default", 200_000);
    let first = agent.tool("read_file", FILE, &prose(900));
    let second = agent.tool("read_file", FILE, &prose(900));
    let clear = super::support::clear(&agent, first, 0, "gone");
    agent.commit(vec![clear], &[]);
    let look = agent.look();
    assert_eq!(look.text(first, 0).unwrap(), "gone");
    assert_eq!(look.text(second, 0).unwrap(), prose(900));
}

#[test]
fn r35_a_picture_is_its_type_size_and_dimensions() {
    let mut agent = Agent::of("four-level", 200_000);
    let of_user = message(
        Role::User,
        vec![Block::text("what is this?"), Block::new(BlockKind::Image(png(300, 200, 5000)))],
    );
    let user = agent.say(of_user).seq;
    agent.call("c", "screenshot", "{}");
    let output = vec![ToolOutput::Text("done".into()), ToolOutput::Image(png(40, 30, 700))];
    let tool = agent.say(message(Role::User, vec![results("c", output)])).seq;
    let look = agent.look();
    let line = |dimensions, bytes, seq, block| {
        format!("[image: image/png, {dimensions}, {bytes} bytes, message {seq} block {block}]")
    };
    assert_eq!(look.text(user, 1).unwrap(), line("300x200", 5000, user, 1));
    assert_eq!(look.text(tool, 0).unwrap(), format!("done{}", line("40x30", 700, tool, 0)));
}

#[test]
fn r36_r17_duplicates_pictures_and_blanks_go_without_any_pressure() {
    let mut agent = Agent::of("four-level", 1_000_000);
    let first = agent.tool("read_file", FILE, &prose(900));
    let again = agent.tool("read_file", FILE, &prose(900));
    let said = agent.assistant("done  \n\n\n\nnow");
    let look = agent.look();
    assert_eq!(look.text(first, 0).unwrap(), prose(900));
    assert!(look.text(again, 0).unwrap().contains("Duplicate"));
    assert_eq!(look.text(said, 0).unwrap(), "done\n\nnow");
    assert_eq!(look.added, [], "nothing of it needs a record");
}

#[test]
fn r37_h1_snip_alone_recovers_a_good_part_of_a_coding_session() {
    let mut agent = Agent::of("four-level", 1_000_000);
    for turn in 0..35_usize {
        agent.user(&format!("please change step {turn} of the parser, {}", prose(200)));
        let path = format!(r#"{{"path":"src/file{}.rs"}}"#, turn % 9);
        let content = format!("// {} {}\n{}", turn % 9, turn / 20, prose(3000));
        agent.tool("read_file", &path, &content);
        let edited = format!("updated {turn}: {}", prose(600));
        agent.tool("edit_file", &path, &edited);
        let tests = format!("run {turn}: {}", prose(2500));
        agent.tool("bash", r#"{"command":"cargo test"}"#, &tests);
        agent.assistant(&format!("Step {turn} is done. {}", prose(300)));
    }
    let look = agent.look();
    let whole: i64 = agent.history.rows().iter().map(|row| row.tokens.total).sum();
    let saved = whole - look.composed.tokens;
    assert!(saved * 100 >= whole * 15, "{saved} of {whole}");
    let by_stage = report::savings(agent.lens(), &look.composed, &[]);
    assert_eq!(by_stage["dedupe_files"].tokens, saved, "and says by whom");
}

#[test]
fn r38_r40_white_space_of_the_assistant_goes_and_no_word_does() {
    let mut agent = Agent::of("four-level", 200_000);
    let text = "First.   \n\n\n\n\nSecond.\t\n```\nkeep   \n\n\n\nthis\n```\nThird.\n\n\n";
    let user = agent.user(text);
    let assistant = agent.assistant(text);
    let system = agent.say(message(Role::System, vec![Block::text(text)])).seq;
    let look = agent.look();
    assert_eq!(look.text(user, 0).unwrap(), text);
    assert_eq!(look.text(system, 0).unwrap(), text);
    let tidy = "First.\n\nSecond.\n```\nkeep   \n\n\n\nthis\n```\nThird.";
    assert_eq!(look.text(assistant, 0).unwrap(), tidy);
}

#[test]
fn r39_a_description_said_twice_in_one_message_is_said_once() {
    let mut agent = Agent::of("four-level", 200_000);
    let blocks = vec![
        Block::text("I read the file."),
        call("c1", "read_file", FILE),
        Block::text("I read the file.  "),
        call("c2", "read_file", FILE),
    ];
    let seq = agent.say(message(Role::Assistant, blocks)).seq;
    agent.result("c1", "a");
    agent.result("c2", "b");
    let next = agent.assistant("I read the file.");
    let look = agent.look();
    assert_eq!(look.text(seq, 0).unwrap(), "I read the file.");
    assert_eq!(look.text(seq, 2), None);
    assert_eq!(look.text(next, 0).unwrap(), "I read the file.", "another message says it itself");
}

#[test]
fn r41_a_rewritten_message_keeps_its_place_and_its_bytes() {
    let mut agent = Agent::of("four-level", 200_000);
    agent.user("go");
    let seq = agent.assistant("done  \n\n\n\n\n\nnow");
    let first = agent.look().text(seq, 0);
    for _ in 0..5 {
        agent.exchange("and", "so on   ");
        assert_eq!(agent.look().text(seq, 0), first);
    }
}
