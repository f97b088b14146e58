//! What readers ask. Each statement is fetched whole.

/// Of a view, but for when it was last reduced.
macro_rules! view_columns {
    () => {
        "
           v.name, v.preset, v.overrides_json, v.policy_json, v.model, v.context_window,
           v.output_reserve, v.request_bytes_limit, v.caller_fixed_tokens"
    };
}

/// Of a session and one of its views.
macro_rules! session_columns {
    () => {
        concat!(
            "
    SELECT s.key, s.namespace, s.id, s.display_name, s.labels, s.parent, s.created_at,
           s.updated_at, s.next_seq, s.revision, s.tokens,
           (SELECT o.id FROM sessions AS o WHERE o.key = s.origin) AS origin_id,
           s.origin_seq, s.origin_revision, v.reductions_revision,",
            view_columns!()
        )
    };
}

/// Of a pin.
macro_rules! pin_columns {
    () => {
        "
    SELECT p.id, p.view, p.first_seq, p.last_seq, p.reason, p.author, p.created_at,
           p.since_revision, p.until_revision"
    };
}

/// The last revision that deleted the view $3 of a session that is named by $1
/// and $2; zero where none did. What came before it is of another view.
macro_rules! deleted_at {
    () => {
        "
          coalesce((SELECT max(revision) FROM revisions INDEXED BY view_deletions
                    WHERE session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
                      AND kind = 7 AND ref = $3), 0)"
    };
}

/// Of an overlay and its summary.
macro_rules! overlay_columns {
    () => {
        "
    SELECT o.commit_revision, o.id, o.view, o.kind, o.covered, o.kept, o.cleared,
           o.tokens_before, o.tokens_after, o.summarizer, o.cause, o.stage, o.author,
           o.commit_time, o.transcript, o.covered_overlays, o.source_digest,
           o.rollback_revision, o.rollback_time, o.rollback_author, o.rollback_reason,
           c.id AS content, c.codec, c.bytes"
    };
}

/// Of a message and its content.
macro_rules! row_columns {
    () => {
        "
    SELECT m.seq, m.turn, m.round, m.revision, m.recorded_at, m.tokens, m.block_tokens, m.digest,
           c.id, c.codec, c.bytes"
    };
}

/// Of a context item and its content.
macro_rules! item_columns {
    () => {
        "
    SELECT i.name, i.view, i.placement, i.format, i.tokens, c.id, c.codec, c.bytes"
    };
}

/// A session with its views.
pub(in super::super) const GET_SESSION: &str = concat!(
    session_columns!(),
    "
    FROM sessions AS s
    JOIN views AS v ON v.session = s.key AND v.until_revision IS NULL
    WHERE s.namespace = $1 AND s.id = $2
    ORDER BY v.name <> 'main', v.name
"
);

/// A page of sessions with their views, newest first.
pub(in super::super) const LIST_SESSIONS: &str = concat!(
    session_columns!(),
    "
    FROM (
        SELECT * FROM sessions AS s
        WHERE s.namespace = $1
          AND (s.created_at, s.id) < ($2, $3)
          AND ($4 = '' OR s.parent = $4)
          AND ($7 = '' OR s.origin = (SELECT key FROM sessions WHERE namespace = $1 AND id = $7))
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
    ORDER BY s.created_at DESC, s.id DESC, v.name <> 'main', v.name
"
);

/// A session's key and its newest revision; of a fork, the last row that it
/// shares.
pub(in super::super) const FIND_SESSION: &str = "
    SELECT key, revision, origin_seq FROM sessions WHERE namespace = $1 AND id = $2
";

/// Rows of a page whose content is read: only of those that fit.
macro_rules! page_of {
    ($order:literal, $rows:literal) => {
        concat!(
            row_columns!(),
            "
    FROM (
        SELECT *, sum(size) OVER (ORDER BY seq ",
            $order,
            ") - size AS size_before
        FROM (",
            $rows,
            ")
    ) AS m
    CROSS JOIN contents AS c ON c.id = m.content
    WHERE m.size_before = 0 OR m.size_before < $6
"
        )
    };
}

/// A page of rows that are a session's own, oldest first; none where a fork is
/// asked for rows that it shares.
pub(in super::super) const READ_ROWS: &str = page_of!(
    "ASC",
    "
            SELECT * FROM messages
            WHERE session = (SELECT key FROM sessions
                             WHERE namespace = $1 AND id = $2
                               AND (origin IS NULL OR origin_seq < $3))
              AND seq BETWEEN $3 AND $4
            ORDER BY seq LIMIT $5
        "
);

/// The same, newest first.
pub(in super::super) const READ_ROWS_REVERSED: &str = page_of!(
    "DESC",
    "
            SELECT * FROM messages
            WHERE session = (SELECT key FROM sessions
                             WHERE namespace = $1 AND id = $2
                               AND (origin IS NULL OR origin_seq < $3))
              AND seq BETWEEN $3 AND $4
            ORDER BY seq DESC LIMIT $5
        "
);

/// A page of a fork's rows, shared ones and its own, oldest first. The ancestors
/// are in the order of their rows, so a page is read and no more.
pub(in super::super) const READ_SHARED_ROWS: &str = page_of!(
    "ASC",
    "
            SELECT m.* FROM lineage AS l
            CROSS JOIN messages AS m
                ON m.session = l.ancestor
               AND m.seq BETWEEN max(l.first_seq, $3) AND min(l.last_seq, $4)
            WHERE l.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
            ORDER BY l.ancestor, m.seq LIMIT $5
        "
);

/// The same, newest first.
pub(in super::super) const READ_SHARED_ROWS_REVERSED: &str = page_of!(
    "DESC",
    "
            SELECT m.* FROM lineage AS l
            CROSS JOIN messages AS m
                ON m.session = l.ancestor
               AND m.seq BETWEEN max(l.first_seq, $3) AND min(l.last_seq, $4)
            WHERE l.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
            ORDER BY l.ancestor DESC, m.seq DESC LIMIT $5
        "
);

/// The context items that hold.
pub(in super::super) const LIST_ITEMS: &str = concat!(
    item_columns!(),
    "
    FROM context_items AS i INDEXED BY context_items_in_force
    JOIN contents AS c ON c.id = i.content
    WHERE i.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
      AND i.until_revision IS NULL
    ORDER BY i.name, i.view
"
);

/// The context items that held at a revision.
pub(in super::super) const LIST_ITEMS_AT: &str = concat!(
    item_columns!(),
    "
    FROM context_items AS i
    JOIN contents AS c ON c.id = i.content
    WHERE i.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
      AND i.since_revision <= $3
      AND (i.until_revision IS NULL OR i.until_revision > $3)
    ORDER BY i.name, i.view
"
);

/// Overlays by their ids (a JSON array).
pub(in super::super) const GET_OVERLAYS: &str = concat!(
    overlay_columns!(),
    "
    FROM json_each($3) AS wanted
    CROSS JOIN overlays AS o
        ON o.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
       AND o.id = wanted.value
    LEFT JOIN contents AS c ON c.id = o.summary
    ORDER BY o.commit_revision
"
);

/// A view's overlays in force.
pub(in super::super) const LIST_OVERLAYS: &str = concat!(
    overlay_columns!(),
    "
    FROM overlays AS o INDEXED BY overlays_in_force
    LEFT JOIN contents AS c ON c.id = o.summary
    WHERE o.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
      AND o.view = $3 AND o.rollback_revision IS NULL
      AND o.commit_revision >",
    deleted_at!(),
    "
    ORDER BY o.commit_revision
"
);

/// A view's overlays, rolled-back ones too.
pub(in super::super) const LIST_ALL_OVERLAYS: &str = concat!(
    overlay_columns!(),
    "
    FROM overlays AS o INDEXED BY overlays_by_view
    LEFT JOIN contents AS c ON c.id = o.summary
    WHERE o.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
      AND o.view = $3
      AND o.commit_revision >",
    deleted_at!(),
    "
    ORDER BY o.commit_revision
"
);

/// Pins by their ids (a JSON array), whether they hold or not.
pub(in super::super) const GET_PINS: &str = concat!(
    pin_columns!(),
    "
    FROM json_each($3) AS wanted
    CROSS JOIN pins AS p
        ON p.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
       AND p.id = wanted.value
    ORDER BY p.since_revision
"
);

/// A view's pins that hold.
pub(in super::super) const LIST_PINS: &str = concat!(
    pin_columns!(),
    "
    FROM pins AS p INDEXED BY pins_by_view
    WHERE p.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
      AND p.view = $3 AND p.until_revision IS NULL
      AND p.since_revision >",
    deleted_at!(),
    "
    ORDER BY p.since_revision
"
);

/// A namespace's calibration factors.
pub(in super::super) const CALIBRATIONS: &str = "
    SELECT model, factor FROM calibrations WHERE namespace = $1 ORDER BY model
";
