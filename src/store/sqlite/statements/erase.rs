//! Erasing deleted sessions. What the pieces are: see `writer::erase`.

/// Takes a session out of every reader's sight; its rows are erased later.
pub(in super::super) const BEGIN_ERASURE: &str = "
    SAVEPOINT command;
    INSERT INTO erasures (session, shared_revision)
        SELECT key, coalesce(origin_revision, 0) FROM sessions WHERE key = $1;
    DELETE FROM requests
        WHERE session = 0
          AND (namespace, id) = (SELECT namespace, create_request FROM sessions WHERE key = $1);
    DELETE FROM sessions WHERE key = $1;
    RELEASE command;
";

/// Ends an erasure.
pub(in super::super) const END_ERASURE: &str = "DELETE FROM erasures WHERE session = $1";

/// Erases messages and their contents, at most 256 and about 1 MiB of them.
pub(in super::super) const ERASE_MESSAGES: &str = "
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

/// Erases overlays; those that a fork shares leave their content to an ancestor.
pub(in super::super) const ERASE_OVERLAYS: &str = "
    DELETE FROM contents WHERE id IN (
        SELECT summary FROM (
            SELECT summary, commit_revision FROM overlays WHERE session = $1
            ORDER BY commit_revision LIMIT 64
        ) WHERE commit_revision > (SELECT shared_revision FROM erasures WHERE session = $1)
    );
    DELETE FROM overlays WHERE session = $1 AND commit_revision IN (
        SELECT commit_revision FROM overlays WHERE session = $1 ORDER BY commit_revision LIMIT 64
    );
";

/// Erases context items; likewise.
pub(in super::super) const ERASE_ITEMS: &str = "
    DELETE FROM contents WHERE id IN (
        SELECT content FROM (
            SELECT content, since_revision FROM context_items WHERE session = $1
            ORDER BY name, view, since_revision LIMIT 16
        ) WHERE since_revision > (SELECT shared_revision FROM erasures WHERE session = $1)
    );
    DELETE FROM context_items WHERE session = $1 AND (name, view, since_revision) IN (
        SELECT name, view, since_revision FROM context_items WHERE session = $1
        ORDER BY name, view, since_revision LIMIT 16
    );
";

pub(in super::super) const ERASE_REVISIONS: &str = "
    DELETE FROM revisions WHERE session = $1 AND revision IN (
        SELECT revision FROM revisions WHERE session = $1 LIMIT 256
    )
";

pub(in super::super) const ERASE_ROUNDS: &str = "
    DELETE FROM rounds WHERE session = $1 AND round IN (
        SELECT round FROM rounds WHERE session = $1 LIMIT 256
    )
";

pub(in super::super) const ERASE_CALLS: &str = "
    DELETE FROM calls WHERE session = $1 AND (id, seq, block) IN (
        SELECT id, seq, block FROM calls WHERE session = $1 LIMIT 256
    )
";

pub(in super::super) const ERASE_ANSWERS: &str = "
    DELETE FROM answers WHERE session = $1 AND (seq, block, answer_seq, answer_block) IN (
        SELECT seq, block, answer_seq, answer_block FROM answers WHERE session = $1 LIMIT 256
    )
";

pub(in super::super) const ERASE_LINEAGE: &str = "
    DELETE FROM lineage WHERE session = $1 AND ancestor IN (
        SELECT ancestor FROM lineage WHERE session = $1 LIMIT 256
    )
";

pub(in super::super) const ERASE_VIEWS: &str = "
    DELETE FROM views WHERE session = $1 AND (name, since_revision) IN (
        SELECT name, since_revision FROM views WHERE session = $1 LIMIT 256
    )
";

pub(in super::super) const ERASE_PINS: &str = "
    DELETE FROM pins WHERE session = $1 AND id IN (
        SELECT id FROM pins WHERE session = $1 LIMIT 256
    )
";

pub(in super::super) const ERASE_PLANS: &str = "
    DELETE FROM plans WHERE key IN (
        SELECT key FROM plans WHERE session = $1 LIMIT 64
    )
";

pub(in super::super) const ERASE_NAMES: &str = "
    DELETE FROM session_names WHERE session = $1 AND revision IN (
        SELECT revision FROM session_names WHERE session = $1 LIMIT 256
    )
";

pub(in super::super) const ERASE_REQUESTS: &str = "
    DELETE FROM requests WHERE key IN (
        SELECT key FROM requests WHERE session = $1 LIMIT 256
    )
";

/// The steps of an erasure: each is repeated until it finds nothing more.
pub(in super::super) const ERASE: &[&str] = &[
    ERASE_MESSAGES,
    ERASE_OVERLAYS,
    ERASE_ITEMS,
    ERASE_REVISIONS,
    ERASE_ROUNDS,
    ERASE_CALLS,
    ERASE_ANSWERS,
    ERASE_LINEAGE,
    ERASE_VIEWS,
    ERASE_PINS,
    ERASE_PLANS,
    ERASE_NAMES,
    ERASE_REQUESTS,
];
