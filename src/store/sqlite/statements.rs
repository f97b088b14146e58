//! Every statement this backend runs. Values are bound, never formatted in.
//!
//! A command is one query string: each string is one hop to the connection's
//! thread, and the hop is what costs. Its parameters are shared by all of its
//! statements, and lists travel as one JSON array whose elements are rows.
//! Every command undoes itself where it fails: it is a savepoint, or one
//! statement.

/// Opens a group.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

/// Makes a group durable.
pub(super) const COMMIT: &str = "COMMIT";

/// Gives a group up.
pub(super) const ROLLBACK: &str = "ROLLBACK";

/// Undoes the command that failed.
pub(super) const ROLLBACK_COMMAND: &str = "ROLLBACK TO command; RELEASE command";

/// Copies the log into the database and empties it.
pub(super) const CHECKPOINT: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// The library's version.
pub(super) const VERSION: &str = "SELECT sqlite_version()";

/// What the writer counts on from: the last session key and content id.
pub(super) const COUNTERS: &str = "
    SELECT
        max((SELECT coalesce(max(key), 0) FROM sessions),
            (SELECT coalesce(max(session), 0) FROM erasures)),
        (SELECT coalesce(max(id), 0) FROM contents)
";

/// A session's counters.
pub(super) const HEAD: &str = "
    SELECT key, next_seq, revision, turn, tokens
    FROM sessions
    WHERE namespace = $1 AND id = $2
";

/// A session's rounds in flight.
pub(super) const OPEN_ROUNDS: &str = "
    SELECT round, lane, unanswered
    FROM rounds INDEXED BY rounds_in_flight
    WHERE session = $1 AND settled_seq IS NULL
    ORDER BY round
";

/// Every call of some ids, oldest first.
pub(super) const CALLS_BY_ID: &str = "
    SELECT c.id, c.seq, c.block, r.lane, c.answer_seq, c.answer_block
    FROM json_each($2) AS wanted
    CROSS JOIN calls AS c ON c.session = $1 AND c.id = wanted.value
    CROSS JOIN rounds AS r ON r.session = c.session AND r.round = c.seq
    ORDER BY c.seq, c.block
";

/// What was answered to a request.
pub(super) const REQUEST: &str = "
    SELECT key, digest, answer
    FROM requests
    WHERE session = $1 AND namespace = $2 AND id = $3
";

/// Whether a new session's id and its parent's are there.
pub(super) const CREATION: &str = "
    SELECT
        EXISTS (SELECT 1 FROM sessions WHERE namespace = $1 AND id = $2),
        EXISTS (SELECT 1 FROM sessions WHERE namespace = $1 AND id = $3)
";

/// Creates a session with its `main` view.
pub(super) const CREATE_SESSION: &str = "
    SAVEPOINT command;
    INSERT INTO requests (session, namespace, id, digest, answer, created_at)
        SELECT 0, $2, $8, $9, json_quote($3), $7 WHERE $8 IS NOT NULL;
    INSERT INTO sessions (key, namespace, id, display_name, labels, parent, created_at,
                          updated_at, next_seq, revision, turn, tokens, create_request)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $7, 1, 1, 0, 0, $8);
    INSERT INTO views (session, name, since_revision, reductions_revision, preset,
                       overrides_json, policy_json, model, context_window, output_reserve,
                       request_bytes_limit, caller_fixed_tokens)
        VALUES ($1, 'main', 1, 1, $10, $11, $12, $13, $14, $15, $16, $17);
    INSERT INTO revisions (session, revision, next_seq, kind, ref, author, at)
        VALUES ($1, 1, 1, 6, 'main', '', $7);
    RELEASE command;
";

/// Sets a session's names.
pub(super) const UPDATE_SESSION: &str = "
    SAVEPOINT command;
    UPDATE sessions SET display_name = $4, labels = $5, revision = $2, updated_at = $3
        WHERE key = $1;
    INSERT INTO revisions (session, revision, next_seq, kind, ref, author, at)
        SELECT $1, $2, next_seq, 9, '', '', $3 FROM sessions WHERE key = $1;
    RELEASE command;
";

/// An append, as a row: what the triggers below do with it is one statement.
///
/// It is the one command that is worth this. A query string tells its caller
/// of each of its statements, and each time the caller's thread wakes: nine of
/// them cost a third more than one. A statement also undoes itself where it
/// fails, so that an append needs no savepoint. The view is the writing
/// connection's own; nothing of it is in the file.
pub(super) const APPEND: &str = "
    INSERT INTO appends (session, revision, at, author, first_content, rows, contents, digests,
                         next_seq, turn, tokens, request, request_digest, answer, rounds, calls)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
";

/// What an append is made of.
const APPENDS: &str = "
    CREATE TEMP VIEW appends (session, revision, at, author, first_content, rows, contents,
                              digests, next_seq, turn, tokens, request, request_digest, answer,
                              rounds, calls)
    AS SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
              NULL, NULL
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
/// Rounds and calls that are there already change by the same statement that
/// adds new ones: an update joined with a list would look at every row of the
/// session.
const APPEND_CALLS: &str = "
    CREATE TEMP TRIGGER append_calls INSTEAD OF INSERT ON appends WHEN NEW.calls IS NOT NULL
    BEGIN
        INSERT INTO rounds (session, round, lane, unanswered, settled_seq, settled_revision)
            SELECT NEW.session, value ->> 0, value ->> 1, value ->> 2, value ->> 3,
                   CASE WHEN value ->> 3 IS NOT NULL THEN NEW.revision END
            FROM json_each(NEW.rounds) WHERE TRUE
            ON CONFLICT (session, round) DO UPDATE
                SET unanswered = unanswered + excluded.unanswered,
                    settled_seq = excluded.settled_seq,
                    settled_revision = excluded.settled_revision;
        INSERT INTO calls (session, id, seq, block, answer_seq, answer_block)
            SELECT NEW.session, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
            FROM json_each(NEW.calls) WHERE TRUE
            ON CONFLICT (session, id, seq, block) DO UPDATE
                SET answer_seq = excluded.answer_seq, answer_block = excluded.answer_block;
    END
";

/// What the writing connection needs before it can append.
pub(super) const WRITER_SETUP: &[&str] = &[APPENDS, APPEND_ROWS, APPEND_CALLS];

/// Sets a view: the version that held ends and another begins.
pub(super) const SET_VIEW: &str = "
    SAVEPOINT command;
    UPDATE views SET until_revision = $2
        WHERE session = $1 AND name = $5 AND until_revision IS NULL;
    INSERT INTO views (session, name, since_revision, reductions_revision, preset,
                       overrides_json, policy_json, model, context_window, output_reserve,
                       request_bytes_limit, caller_fixed_tokens)
        VALUES ($1, $5, $2, $2, $6, $7, $8, $9, $10, $11, $12, $13);
    INSERT INTO revisions (session, revision, next_seq, kind, ref, author, at)
        SELECT $1, $2, next_seq, 6, $5, $4, $3 FROM sessions WHERE key = $1;
    UPDATE sessions SET revision = $2, updated_at = $3 WHERE key = $1;
    RELEASE command;
";

/// A view's version that holds.
pub(super) const VIEW_REDUCED_AT: &str = "
    SELECT reductions_revision
    FROM views
    WHERE session = $1 AND name = $2 AND until_revision IS NULL
";

/// A context item that holds.
pub(super) const ITEM: &str = "
    SELECT i.name, i.view, i.placement, i.format, i.tokens, c.id, c.codec, c.bytes
    FROM context_items AS i INDEXED BY context_items_in_force
    JOIN contents AS c ON c.id = i.content
    WHERE i.session = $1 AND i.name = $2 AND i.view = $3 AND i.until_revision IS NULL
";

/// Sets a context item, or (without a content) ends it.
pub(super) const SET_ITEM: &str = "
    SAVEPOINT command;
    UPDATE context_items INDEXED BY context_items_in_force SET until_revision = $2
        WHERE session = $1 AND name = $5 AND view = $6 AND until_revision IS NULL;
    INSERT INTO contents (id, codec, bytes)
        SELECT $7, $8, $9 WHERE $7 IS NOT NULL;
    INSERT INTO context_items (session, name, view, since_revision, placement, format, tokens,
                               content)
        SELECT $1, $5, $6, $2, $10, $11, $12, $7 WHERE $7 IS NOT NULL;
    INSERT INTO revisions (session, revision, next_seq, kind, ref, author, at)
        SELECT $1, $2, next_seq, 8, $5, $4, $3 FROM sessions WHERE key = $1;
    UPDATE sessions SET revision = $2, updated_at = $3 WHERE key = $1;
    RELEASE command;
";

/// What the rules need to know of a view's overlays in force.
pub(super) const OVERLAYS_IN_FORCE: &str = "
    SELECT commit_revision, id, kind, covered, kept
    FROM overlays INDEXED BY overlays_in_force
    WHERE session = $1 AND view = $2 AND rollback_revision IS NULL
    ORDER BY commit_revision
";

/// Commits overlays and ends others; either list may be empty.
pub(super) const CHANGE_OVERLAYS: &str = "
    SAVEPOINT command;
    INSERT INTO requests (session, namespace, id, digest, answer, created_at)
        SELECT $1, '', $12, $13, $14, $3 WHERE $12 IS NOT NULL;
    INSERT INTO contents (id, codec, bytes)
        SELECT value ->> 4, value ->> 5, substr($7, value ->> 6, value ->> 7)
        FROM json_each($6)
        WHERE value ->> 4 IS NOT NULL;
    INSERT INTO overlays (session, commit_revision, id, view, kind, covered, kept, summary,
                          cleared, tokens_before, tokens_after, summarizer, cause, stage, author,
                          commit_time, transcript, covered_overlays, source_digest)
        SELECT $1, value ->> 0, value ->> 1, $5, value ->> 2, value -> 3 ->> 0, value -> 3 ->> 1,
               value ->> 4,
               CASE WHEN value ->> 9 > 0 THEN substr($7, value ->> 8, value ->> 9) END,
               value -> 10 ->> 0, value -> 10 ->> 1, value -> 10 ->> 2, value -> 10 ->> 3,
               value -> 10 ->> 4, $4, $3, value -> 10 ->> 5, value -> 10 ->> 6,
               substr($7, value ->> 11, 32)
        FROM json_each($6);
    UPDATE overlays
        SET rollback_revision = (SELECT value ->> 1 FROM json_each($8)
                                 WHERE value ->> 0 = overlays.commit_revision),
            rollback_time = $3, rollback_author = $4, rollback_reason = $9
        WHERE session = $1
          AND commit_revision IN (SELECT value ->> 0 FROM json_each($8));
    INSERT INTO revisions (session, revision, next_seq, kind, ref, author, at)
        SELECT $1, value ->> 0, $11, value ->> 1, value ->> 2, $4, $3
        FROM json_each($10);
    UPDATE views SET reductions_revision = $2
        WHERE session = $1 AND name = $5 AND until_revision IS NULL;
    UPDATE sessions SET revision = $2, updated_at = $3 WHERE key = $1;
    RELEASE command;
";

/// Remembers a calibration factor.
pub(super) const SET_CALIBRATION: &str = "
    SAVEPOINT command;
    INSERT INTO calibrations (namespace, model, factor) VALUES ($1, $2, $3)
        ON CONFLICT (namespace, model) DO UPDATE SET factor = excluded.factor;
    RELEASE command;
";

/// Forgets request ids that came before a moment, out of the oldest 256. The
/// rest of the table is not looked at.
pub(super) const EXPIRE_REQUESTS: &str = "
    DELETE FROM requests WHERE key IN (
        SELECT key FROM (SELECT key, created_at FROM requests ORDER BY key LIMIT 256)
        WHERE created_at <= $1
    )
";

/// Takes a session out of every reader's sight; its rows are erased later.
pub(super) const BEGIN_ERASURE: &str = "
    SAVEPOINT command;
    INSERT INTO erasures (session) VALUES ($1);
    DELETE FROM requests
        WHERE session = 0
          AND (namespace, id) = (SELECT namespace, create_request FROM sessions WHERE key = $1);
    DELETE FROM sessions WHERE key = $1;
    RELEASE command;
";

/// Sessions whose rows are still to be erased.
pub(super) const ERASURES: &str = "SELECT session FROM erasures ORDER BY session";

/// Ends an erasure.
pub(super) const END_ERASURE: &str = "DELETE FROM erasures WHERE session = $1";

/// Erases messages and their contents, at most 256 and about 1 MiB of them.
const ERASE_MESSAGES: &str = "
    DELETE FROM contents WHERE id IN (
        SELECT content FROM (
            SELECT content, sum(size) OVER (ORDER BY seq) - size AS size_before
            FROM (SELECT seq, content, size FROM messages WHERE session = $1
                  ORDER BY seq LIMIT 256)
        ) WHERE size_before < 1048576
    );
    DELETE FROM messages WHERE session = $1 AND seq IN (
        SELECT seq FROM (
            SELECT seq, sum(size) OVER (ORDER BY seq) - size AS size_before
            FROM (SELECT seq, content, size FROM messages WHERE session = $1
                  ORDER BY seq LIMIT 256)
        ) WHERE size_before < 1048576
    );
";

const ERASE_OVERLAYS: &str = "
    DELETE FROM contents WHERE id IN (
        SELECT summary FROM overlays WHERE session = $1 ORDER BY commit_revision LIMIT 64
    );
    DELETE FROM overlays WHERE session = $1 AND commit_revision IN (
        SELECT commit_revision FROM overlays WHERE session = $1 ORDER BY commit_revision LIMIT 64
    );
";

const ERASE_ITEMS: &str = "
    DELETE FROM contents WHERE id IN (
        SELECT content FROM context_items WHERE session = $1
        ORDER BY name, view, since_revision LIMIT 16
    );
    DELETE FROM context_items WHERE session = $1 AND (name, view, since_revision) IN (
        SELECT name, view, since_revision FROM context_items WHERE session = $1
        ORDER BY name, view, since_revision LIMIT 16
    );
";

const ERASE_REVISIONS: &str = "
    DELETE FROM revisions WHERE session = $1 AND revision IN (
        SELECT revision FROM revisions WHERE session = $1 LIMIT 256
    )
";

const ERASE_ROUNDS: &str = "
    DELETE FROM rounds WHERE session = $1 AND round IN (
        SELECT round FROM rounds WHERE session = $1 LIMIT 256
    )
";

const ERASE_CALLS: &str = "
    DELETE FROM calls WHERE session = $1 AND (id, seq, block) IN (
        SELECT id, seq, block FROM calls WHERE session = $1 LIMIT 256
    )
";

const ERASE_VIEWS: &str = "
    DELETE FROM views WHERE session = $1 AND (name, since_revision) IN (
        SELECT name, since_revision FROM views WHERE session = $1 LIMIT 256
    )
";

const ERASE_PINS: &str = "
    DELETE FROM pins WHERE session = $1 AND id IN (
        SELECT id FROM pins WHERE session = $1 LIMIT 256
    )
";

const ERASE_REQUESTS: &str = "
    DELETE FROM requests WHERE key IN (
        SELECT key FROM requests WHERE session = $1 LIMIT 256
    )
";

/// The steps of an erasure: each is repeated until it finds nothing more.
pub(super) const ERASE: &[&str] = &[
    ERASE_MESSAGES,
    ERASE_OVERLAYS,
    ERASE_ITEMS,
    ERASE_REVISIONS,
    ERASE_ROUNDS,
    ERASE_CALLS,
    ERASE_VIEWS,
    ERASE_PINS,
    ERASE_REQUESTS,
];

/// A session with its views.
pub(super) const GET_SESSION: &str = "
    SELECT s.key, s.namespace, s.id, s.display_name, s.labels, s.parent, s.created_at,
           s.updated_at, s.next_seq, s.revision, s.tokens,
           v.name, v.reductions_revision, v.preset, v.overrides_json, v.policy_json, v.model,
           v.context_window, v.output_reserve, v.request_bytes_limit, v.caller_fixed_tokens
    FROM sessions AS s
    JOIN views AS v ON v.session = s.key AND v.until_revision IS NULL
    WHERE s.namespace = $1 AND s.id = $2
    ORDER BY v.name
";

/// A page of sessions with their views, newest first.
pub(super) const LIST_SESSIONS: &str = "
    SELECT s.key, s.namespace, s.id, s.display_name, s.labels, s.parent, s.created_at,
           s.updated_at, s.next_seq, s.revision, s.tokens,
           v.name, v.reductions_revision, v.preset, v.overrides_json, v.policy_json, v.model,
           v.context_window, v.output_reserve, v.request_bytes_limit, v.caller_fixed_tokens
    FROM (
        SELECT * FROM sessions AS s
        WHERE s.namespace = $1
          AND (s.created_at, s.id) < ($2, $3)
          AND ($4 = '' OR s.parent = $4)
          AND NOT EXISTS (
              SELECT 1 FROM json_each($5) AS wanted
              WHERE NOT EXISTS (
                  SELECT 1 FROM json_each(s.labels) AS label
                  WHERE label.key = wanted.key AND label.value = wanted.value
              )
          )
        ORDER BY s.created_at DESC, s.id DESC
        LIMIT $6
    ) AS s
    JOIN views AS v ON v.session = s.key AND v.until_revision IS NULL
    ORDER BY s.created_at DESC, s.id DESC, v.name
";

/// A session's key and its newest revision.
pub(super) const FIND_SESSION: &str = "
    SELECT key, revision FROM sessions WHERE namespace = $1 AND id = $2
";

/// A page of rows, oldest first. Content is read only of the rows that fit.
pub(super) const READ_ROWS: &str = "
    SELECT m.seq, m.turn, m.round, m.revision, m.recorded_at, m.tokens, m.block_tokens, m.digest,
           c.id, c.codec, c.bytes
    FROM (
        SELECT *, sum(size) OVER (ORDER BY seq) - size AS size_before
        FROM (
            SELECT * FROM messages
            WHERE session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
              AND seq BETWEEN $3 AND $4
            ORDER BY seq LIMIT $5
        )
    ) AS m
    CROSS JOIN contents AS c ON c.id = m.content
    WHERE m.size_before = 0 OR m.size_before < $6
";

/// A page of rows, newest first.
pub(super) const READ_ROWS_REVERSED: &str = "
    SELECT m.seq, m.turn, m.round, m.revision, m.recorded_at, m.tokens, m.block_tokens, m.digest,
           c.id, c.codec, c.bytes
    FROM (
        SELECT *, sum(size) OVER (ORDER BY seq DESC) - size AS size_before
        FROM (
            SELECT * FROM messages
            WHERE session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
              AND seq BETWEEN $3 AND $4
            ORDER BY seq DESC LIMIT $5
        )
    ) AS m
    CROSS JOIN contents AS c ON c.id = m.content
    WHERE m.size_before = 0 OR m.size_before < $6
";

/// The context items that hold.
pub(super) const LIST_ITEMS: &str = "
    SELECT i.name, i.view, i.placement, i.format, i.tokens, c.id, c.codec, c.bytes
    FROM context_items AS i INDEXED BY context_items_in_force
    JOIN contents AS c ON c.id = i.content
    WHERE i.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
      AND i.until_revision IS NULL
    ORDER BY i.name, i.view
";

/// The context items that held at a revision.
pub(super) const LIST_ITEMS_AT: &str = "
    SELECT i.name, i.view, i.placement, i.format, i.tokens, c.id, c.codec, c.bytes
    FROM context_items AS i
    JOIN contents AS c ON c.id = i.content
    WHERE i.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
      AND i.since_revision <= $3
      AND (i.until_revision IS NULL OR i.until_revision > $3)
    ORDER BY i.name, i.view
";

/// Overlays by their ids (a JSON array).
pub(super) const GET_OVERLAYS: &str = "
    SELECT o.commit_revision, o.id, o.view, o.kind, o.covered, o.kept, o.cleared,
           o.tokens_before, o.tokens_after, o.summarizer, o.cause, o.stage, o.author,
           o.commit_time, o.transcript, o.covered_overlays, o.source_digest,
           o.rollback_revision, o.rollback_time, o.rollback_author, o.rollback_reason,
           c.id AS content, c.codec, c.bytes
    FROM json_each($3) AS wanted
    CROSS JOIN overlays AS o
        ON o.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
       AND o.id = wanted.value
    LEFT JOIN contents AS c ON c.id = o.summary
    ORDER BY o.commit_revision
";

/// A view's overlays in force.
pub(super) const LIST_OVERLAYS: &str = "
    SELECT o.commit_revision, o.id, o.view, o.kind, o.covered, o.kept, o.cleared,
           o.tokens_before, o.tokens_after, o.summarizer, o.cause, o.stage, o.author,
           o.commit_time, o.transcript, o.covered_overlays, o.source_digest,
           o.rollback_revision, o.rollback_time, o.rollback_author, o.rollback_reason,
           c.id AS content, c.codec, c.bytes
    FROM overlays AS o INDEXED BY overlays_in_force
    LEFT JOIN contents AS c ON c.id = o.summary
    WHERE o.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
      AND o.view = $3 AND o.rollback_revision IS NULL
    ORDER BY o.commit_revision
";

/// A view's overlays, rolled-back ones too.
pub(super) const LIST_ALL_OVERLAYS: &str = "
    SELECT o.commit_revision, o.id, o.view, o.kind, o.covered, o.kept, o.cleared,
           o.tokens_before, o.tokens_after, o.summarizer, o.cause, o.stage, o.author,
           o.commit_time, o.transcript, o.covered_overlays, o.source_digest,
           o.rollback_revision, o.rollback_time, o.rollback_author, o.rollback_reason,
           c.id AS content, c.codec, c.bytes
    FROM overlays AS o
    LEFT JOIN contents AS c ON c.id = o.summary
    WHERE o.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
      AND o.view = $3
    ORDER BY o.commit_revision
";

/// A namespace's calibration factors.
pub(super) const CALIBRATIONS: &str = "
    SELECT model, factor FROM calibrations WHERE namespace = $1 ORDER BY model
";

/// The inventory that a test prepares against a fresh schema; that of
/// `WRITER_SETUP` has run by then.
#[cfg(test)]
pub(super) const ALL: &[&str] = &[
    BEGIN,
    COMMIT,
    CHECKPOINT,
    VERSION,
    COUNTERS,
    HEAD,
    OPEN_ROUNDS,
    CALLS_BY_ID,
    REQUEST,
    CREATION,
    CREATE_SESSION,
    UPDATE_SESSION,
    APPEND,
    SET_VIEW,
    VIEW_REDUCED_AT,
    ITEM,
    SET_ITEM,
    OVERLAYS_IN_FORCE,
    CHANGE_OVERLAYS,
    SET_CALIBRATION,
    EXPIRE_REQUESTS,
    BEGIN_ERASURE,
    ERASURES,
    END_ERASURE,
    ERASE_MESSAGES,
    ERASE_OVERLAYS,
    ERASE_ITEMS,
    ERASE_REVISIONS,
    ERASE_ROUNDS,
    ERASE_CALLS,
    ERASE_VIEWS,
    ERASE_PINS,
    ERASE_REQUESTS,
    GET_SESSION,
    LIST_SESSIONS,
    FIND_SESSION,
    READ_ROWS,
    READ_ROWS_REVERSED,
    LIST_ITEMS,
    LIST_ITEMS_AT,
    GET_OVERLAYS,
    LIST_OVERLAYS,
    LIST_ALL_OVERLAYS,
    CALIBRATIONS,
];
