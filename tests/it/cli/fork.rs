//! `concertina fork`: two lines of work that share what came before.

use super::support::{Server, stderr};

#[test]
fn a_fork_goes_on_from_a_row_and_leaves_its_origin_as_it_is() {
    let server = Server::with_turns(4);
    assert_eq!(server.run(&["fork", "s", "other", "--seq", "4", "--name", "try"]), "other\n");
    let listed = server.run(&["sessions"]);
    assert!(listed.contains("fork of") && listed.contains("s, row 4 at revision 1"), "{listed}");
    server.run(&["append", "other", "Go another way."]);
    let texts = |session: &str| -> Vec<String> {
        let rows = server.json(&["history", session]);
        rows.iter().map(|row| row["content"][0]["text"].to_string()).collect()
    };
    let (origin, fork) = (texts("s"), texts("other"));
    assert_eq!((origin.len(), fork.len()), (8, 5));
    assert_eq!(origin[..4], fork[..4]);
    assert_eq!(fork[4], "\"Go another way.\"");
}

#[test]
fn a_fork_starts_with_the_overlays_of_its_row_and_rolls_them_back_alone() {
    let server = Server::with_turns(6);
    let id = server.collapsed("1-4");
    let fork = server.json(&["fork", "s", "other"]).remove(0);
    assert_eq!(fork["fork_origin"]["session_id"], "s");
    assert_eq!(fork["fork_origin"]["seq"], 12);
    assert_eq!(server.json(&["overlays", "other"])[0]["id"], id.as_str());
    server.run(&["rollback", "other", &id]);
    assert!(server.json(&["overlays", "other"]).is_empty());
    assert_eq!(server.json(&["overlays", "s"]).len(), 1);
}

#[test]
fn forks_are_listed_and_keep_their_origin_from_being_deleted() {
    let server = Server::with_turns(2);
    let fork = server.run(&["fork", "s", "--request-id", "r-1"]);
    assert_eq!(server.run(&["fork", "s", "--request-id", "r-1"]), fork, "the same one");
    let listed = server.json(&["sessions", "--forks-of", "s"]);
    let ids: Vec<_> = listed.iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(ids, [fork.trim()]);
    let words = server.refused(&["delete", "s", "--yes"]);
    assert!(words.contains("reason: SESSION_HAS_FORKS"), "{words}");
    assert!(words.contains("hint: `concertina sessions --forks-of SESSION`"), "{words}");
}

#[test]
fn what_cannot_be_forked_is_told_with_its_reason() {
    let server = Server::with_turns(2);
    let cases: [(&[&str], &str); 3] = [
        (&["none"], "SESSION_NOT_FOUND"),
        (&["s", "other", "--seq", "99"], "RANGE_NOT_FOUND"),
        (&["s", "s"], "SESSION_EXISTS"),
    ];
    for (arguments, reason) in cases {
        let words = server.refused(&[&["fork"], arguments].concat());
        assert!(words.contains(&format!("reason: {reason}")), "{words}");
    }
    let assert = server.command(&["fork", "s", "x", "--seq", "0"]).assert().code(2);
    assert!(stderr(&assert).contains("--seq"), "{}", stderr(&assert));
}
