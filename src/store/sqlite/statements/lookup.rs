//! What the writer looks up before it writes.

/// The library's version.
pub(in super::super) const VERSION: &str = "SELECT sqlite_version()";

/// What the writer counts on from: the last session key and content id.
pub(in super::super) const COUNTERS: &str = "
    SELECT
        max((SELECT coalesce(max(key), 0) FROM sessions),
            (SELECT coalesce(max(session), 0) FROM erasures)),
        (SELECT coalesce(max(id), 0) FROM contents)
";

/// A session's counters, and whether it is a fork.
pub(in super::super) const HEAD: &str = "
    SELECT key, next_seq, revision, turn, tokens, origin IS NOT NULL
    FROM sessions
    WHERE namespace = $1 AND id = $2
";

/// A session's rounds in flight.
pub(in super::super) const OPEN_ROUNDS: &str = "
    SELECT round, lane, unanswered
    FROM rounds INDEXED BY rounds_in_flight
    WHERE session = $1 AND settled_seq IS NULL
    ORDER BY round
";

/// Every call of some ids, oldest first, and the answer in force.
pub(in super::super) const CALLS_BY_ID: &str = "
    SELECT c.id, c.seq, c.block, r.lane, a.answer_seq, a.answer_block
    FROM json_each($2) AS wanted
    CROSS JOIN calls AS c ON c.session = $1 AND c.id = wanted.value
    CROSS JOIN rounds AS r ON r.session = c.session AND r.round = c.seq
    LEFT JOIN answers AS a
        ON (a.session, a.seq, a.block, a.answer_seq, a.answer_block) = (
            SELECT session, seq, block, answer_seq, answer_block
            FROM answers
            WHERE session = c.session AND seq = c.seq AND block = c.block
            ORDER BY answer_seq DESC, answer_block DESC
            LIMIT 1
        )
    ORDER BY c.seq, c.block
";

/// The same of a fork: each call as the rows that it shares and its own have
/// made and answered it.
pub(in super::super) const CALLS_BY_ID_OF_FORK: &str = "
    SELECT c.id, c.seq, c.block, r.lane, a.answer_seq, a.answer_block
    FROM json_each($2) AS wanted
    CROSS JOIN lineage AS l ON l.session = $1
    CROSS JOIN calls AS c
        ON c.session = l.ancestor AND c.id = wanted.value
       AND c.seq BETWEEN l.first_seq AND l.last_seq
    CROSS JOIN rounds AS r ON r.session = c.session AND r.round = c.seq
    LEFT JOIN answers AS a
        ON (a.session, a.seq, a.block, a.answer_seq, a.answer_block) = (
            SELECT b.session, b.seq, b.block, b.answer_seq, b.answer_block
            FROM lineage AS m
            CROSS JOIN answers AS b
                ON b.session = m.ancestor AND b.seq = c.seq AND b.block = c.block
               AND b.answer_seq BETWEEN m.first_seq AND m.last_seq
            WHERE m.session = $1
            ORDER BY m.ancestor DESC, b.answer_seq DESC, b.answer_block DESC
            LIMIT 1
        )
    ORDER BY c.seq, c.block
";

/// What was answered to a request.
pub(in super::super) const REQUEST: &str = "
    SELECT key, digest, answer
    FROM requests
    WHERE session = $1 AND namespace = $2 AND id = $3
";

/// Whether a new session's id and its parent's are there.
pub(in super::super) const CREATION: &str = "
    SELECT
        EXISTS (SELECT 1 FROM sessions WHERE namespace = $1 AND id = $2),
        EXISTS (SELECT 1 FROM sessions WHERE namespace = $1 AND id = $3)
";

/// A view's version that holds.
pub(in super::super) const VIEW_REDUCED_AT: &str = "
    SELECT reductions_revision
    FROM views
    WHERE session = $1 AND name = $2 AND until_revision IS NULL
";

/// A context item that holds.
pub(in super::super) const ITEM: &str = "
    SELECT i.name, i.view, i.placement, i.format, i.tokens, c.id, c.codec, c.bytes
    FROM context_items AS i INDEXED BY context_items_in_force
    JOIN contents AS c ON c.id = i.content
    WHERE i.session = $1 AND i.name = $2 AND i.view = $3 AND i.until_revision IS NULL
";

/// What the rules need to know of a view's overlays in force.
pub(in super::super) const OVERLAYS_IN_FORCE: &str = "
    SELECT commit_revision, id, kind, covered, kept
    FROM overlays INDEXED BY overlays_in_force
    WHERE session = $1 AND view = $2 AND rollback_revision IS NULL
      AND commit_revision >
          coalesce((SELECT max(revision) FROM revisions INDEXED BY view_deletions
                    WHERE session = $1 AND kind = 7 AND ref = $2), 0)
    ORDER BY commit_revision
";

/// The last revision that deleted a view of a name; null where none did.
pub(in super::super) const VIEW_DELETED_AT: &str = "
    SELECT max(revision)
    FROM revisions INDEXED BY view_deletions
    WHERE session = $1 AND kind = 7 AND ref = $2
";

/// Sessions whose rows are still to be erased.
pub(in super::super) const ERASURES: &str = "SELECT session FROM erasures ORDER BY session";
