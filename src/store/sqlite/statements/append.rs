//! Appending messages.

/// The statement that appends as many times as it is given dots.
///
/// Its parameters have no numbers: those of the first append come first.
macro_rules! append {
    (@row $dot:tt) => {
        ", (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    };
    ($first:tt $($more:tt)*) => {
        concat!(
            "INSERT INTO appends (session, revision, at, author, first_content, rows, contents, ",
            "digests, next_seq, turn, tokens, request, request_digest, answer, rounds, calls, ",
            "answers) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            $(, append!(@row $more))*
        )
    };
}

/// One append, two, three, …, as rows: what the triggers below do with them is
/// one statement.
///
/// It is the one command that is worth this. A query string tells its caller
/// of each of its statements, and each time the caller's thread wakes: nine of
/// them cost a third more than one, and so does one for each append of a group.
/// A statement also undoes itself where it fails, so that an append needs no
/// savepoint, and is a transaction where it is alone. The view is the writing
/// connection's own; nothing of it is in the file.
pub(in super::super) const APPENDS_AT_ONCE: &[&str] = &[
    append!(.),
    append!(. .),
    append!(. . .),
    append!(. . . .),
    append!(. . . . .),
    append!(. . . . . .),
    append!(. . . . . . .),
    append!(. . . . . . . .),
    append!(. . . . . . . . .),
    append!(. . . . . . . . . .),
    append!(. . . . . . . . . . .),
    append!(. . . . . . . . . . . .),
    append!(. . . . . . . . . . . . .),
    append!(. . . . . . . . . . . . . .),
    append!(. . . . . . . . . . . . . . .),
    append!(. . . . . . . . . . . . . . . .),
];

/// What an append is made of.
const APPENDS_VIEW: &str = "
    CREATE TEMP VIEW appends (session, revision, at, author, first_content, rows, contents,
                              digests, next_seq, turn, tokens, request, request_digest, answer,
                              rounds, calls, answers)
    AS SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
              NULL, NULL, NULL
";

/// Appends messages. Each of `rows` tells its place in `contents` and in
/// `digests`, where its block tokens follow its digest.
const APPEND_ROWS: &str = "
    CREATE TEMP TRIGGER append_rows INSTEAD OF INSERT ON appends
    BEGIN
        INSERT INTO requests (session, namespace, id, digest, answer, created_at)
            SELECT NEW.session, '', NEW.request, NEW.request_digest, NEW.answer, NEW.at
            WHERE NEW.request IS NOT NULL;
        INSERT INTO contents (id, codec, bytes)
            SELECT NEW.first_content + key, value ->> 9,
                   substr(NEW.contents, value ->> 10, value ->> 11)
            FROM json_each(NEW.rows);
        INSERT INTO messages (session, seq, turn, round, lane, role, author, tokens,
                              tokens_before, block_tokens, size, digest, recorded_at, revision,
                              content)
            SELECT NEW.session, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
                   value ->> 5, value ->> 6, value ->> 7,
                   substr(NEW.digests, (value ->> 12) + 32, value ->> 13), value ->> 8,
                   substr(NEW.digests, value ->> 12, 32), NEW.at, NEW.revision,
                   NEW.first_content + key
            FROM json_each(NEW.rows);
        INSERT INTO revisions (session, revision, next_seq, kind, ref, author, at)
            VALUES (NEW.session, NEW.revision, NEW.next_seq, 1, '', NEW.author, NEW.at);
        UPDATE sessions
            SET next_seq = NEW.next_seq, revision = NEW.revision, turn = NEW.turn,
                tokens = NEW.tokens, updated_at = NEW.at
            WHERE key = NEW.session;
    END
";

/// Keeps what an append calls and answers, where it does.
///
/// Rounds that are there already change by the same statement that adds new
/// ones: an update joined with a list would look at every row of the session.
const APPEND_CALLS: &str = "
    CREATE TEMP TRIGGER append_calls INSTEAD OF INSERT ON appends WHEN NEW.rounds IS NOT NULL
    BEGIN
        INSERT INTO rounds (session, round, lane, unanswered, settled_seq, settled_revision)
            SELECT NEW.session, value ->> 0, value ->> 1, value ->> 2, value ->> 3,
                   CASE WHEN value ->> 3 IS NOT NULL THEN NEW.revision END
            FROM json_each(NEW.rounds) WHERE TRUE
            ON CONFLICT (session, round) DO UPDATE
                SET unanswered = unanswered + excluded.unanswered,
                    settled_seq = excluded.settled_seq,
                    settled_revision = excluded.settled_revision;
        INSERT INTO calls (session, id, seq, block)
            SELECT NEW.session, value ->> 0, value ->> 1, value ->> 2
            FROM json_each(NEW.calls);
        INSERT INTO answers (session, seq, block, answer_seq, answer_block)
            SELECT NEW.session, value ->> 0, value ->> 1, value ->> 2, value ->> 3
            FROM json_each(NEW.answers);
    END
";

/// What the writing connection needs before it can append.
pub(in super::super) const WRITER_SETUP: &[&str] = &[APPENDS_VIEW, APPEND_ROWS, APPEND_CALLS];
