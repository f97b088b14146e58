//! What changed at each revision, and how things stood there. Read together,
//! in one transaction.

/// A page of revisions. Where an append began is where the revision before it
/// had come to.
pub(in super::super) const LIST_REVISIONS: &str = "
    SELECT r.revision, r.next_seq, r.kind, r.ref AS named, r.author, r.at,
           earlier.next_seq AS first_seq, m.lane, n.display_name, n.labels
    FROM (
        SELECT * FROM revisions
        WHERE session = $1 AND revision > $2
        ORDER BY revision LIMIT $3
    ) AS r
    LEFT JOIN revisions AS earlier
        ON r.kind = 1 AND earlier.session = $1 AND earlier.revision = r.revision - 1
    LEFT JOIN messages AS m ON m.session = $1 AND m.seq = earlier.next_seq
    LEFT JOIN session_names AS n
        ON r.kind = 9 AND n.session = $1 AND n.revision = r.revision
    ORDER BY r.revision
";

/// The same of a fork.
pub(in super::super) const LIST_REVISIONS_OF_FORK: &str = "
    SELECT r.revision, r.next_seq, r.kind, r.ref AS named, r.author, r.at, r.first_seq,
           (SELECT m.lane FROM lineage AS l
            CROSS JOIN messages AS m ON m.session = l.ancestor AND m.seq = r.first_seq
            WHERE l.session = $1 AND r.first_seq BETWEEN l.first_seq AND l.last_seq) AS lane,
           n.display_name, n.labels
    FROM (
        SELECT r.*,
               CASE WHEN r.kind = 1 THEN (
                   SELECT earlier.next_seq FROM lineage AS l
                   CROSS JOIN revisions AS earlier
                       ON earlier.session = l.ancestor AND earlier.revision = r.revision - 1
                   WHERE l.session = $1
                     AND r.revision - 1 BETWEEN l.first_revision AND l.last_revision
               ) END AS first_seq
        FROM lineage AS l
        CROSS JOIN revisions AS r
            ON r.session = l.ancestor
           AND r.revision BETWEEN max(l.first_revision, $2 + 1) AND l.last_revision
        WHERE l.session = $1
        ORDER BY l.ancestor, r.revision LIMIT $3
    ) AS r
    LEFT JOIN session_names AS n
        ON r.kind = 9 AND n.session = r.session AND n.revision = r.revision
    ORDER BY r.revision
";

/// The versions of views that some revisions set; $2 is a JSON array of
/// revision and name.
pub(in super::super) const VIEWS_SET: &str = concat!(
    "
    SELECT v.since_revision, v.since_revision AS reductions_revision,",
    view_columns!(),
    "
    FROM json_each($2) AS wanted
    CROSS JOIN views AS v
        ON v.session = $1 AND v.name = wanted.value ->> 1
       AND v.since_revision = wanted.value ->> 0
"
);

/// The context items that some revisions (a JSON array) set or removed, without
/// their content.
pub(in super::super) const ITEMS_SET: &str = "
    SELECT wanted.value AS revision, i.name, i.view, i.placement, i.format, i.tokens
    FROM json_each($2) AS wanted
    CROSS JOIN context_items AS i INDEXED BY context_items_by_start
        ON i.session = $1 AND i.since_revision = wanted.value
    UNION ALL
    SELECT wanted.value AS revision, i.name, i.view, i.placement, i.format, 0
    FROM json_each($2) AS wanted
    CROSS JOIN context_items AS i INDEXED BY context_items_by_end
        ON i.session = $1 AND i.until_revision = wanted.value
    WHERE NOT EXISTS (
        SELECT 1 FROM context_items AS next INDEXED BY context_items_by_start
        WHERE next.session = $1 AND next.since_revision = wanted.value
    )
";

/// A view as it was at a revision, and where the next row would have gone. Which
/// `revisions` tell that is joined in.
macro_rules! view_at {
    ($revision:literal) => {
        concat!(
            "
    SELECT r.next_seq,
           max(v.since_revision,
               coalesce((SELECT max(commit_revision) FROM overlays INDEXED BY overlays_by_view
                         WHERE session = $1 AND view = $2 AND commit_revision <= $3), 0),
               coalesce((SELECT max(rollback_revision) FROM overlays INDEXED BY overlays_by_view
                         WHERE session = $1 AND view = $2 AND commit_revision <= $3
                           AND rollback_revision <= $3), 0),
               coalesce((SELECT max(since_revision) FROM pins INDEXED BY pins_by_view
                         WHERE session = $1 AND view = $2 AND since_revision <= $3), 0),
               coalesce((SELECT max(until_revision) FROM pins INDEXED BY pins_by_view
                         WHERE session = $1 AND view = $2 AND since_revision <= $3
                           AND until_revision <= $3), 0)) AS reductions_revision,",
            view_columns!(),
            "
    FROM views AS v",
            $revision,
            "
    WHERE v.session = $1 AND v.name = $2
      AND v.since_revision = (SELECT max(since_revision) FROM views
                              WHERE session = $1 AND name = $2 AND since_revision <= $3)
      AND (v.until_revision IS NULL OR v.until_revision > $3)
"
        )
    };
}

/// That of a session that is no fork.
pub(in super::super) const VIEW_AT: &str = view_at!(
    "
    JOIN revisions AS r ON r.session = $1 AND r.revision = $3"
);

/// That of a fork.
pub(in super::super) const VIEW_AT_OF_FORK: &str = view_at!(
    "
    JOIN lineage AS l ON l.session = $1 AND $3 BETWEEN l.first_revision AND l.last_revision
    JOIN revisions AS r ON r.session = l.ancestor AND r.revision = $3"
);

/// The overlays that were in force in a view at a revision.
pub(in super::super) const OVERLAYS_AT: &str = concat!(
    overlay_columns!(),
    "
    FROM overlays AS o INDEXED BY overlays_by_view
    LEFT JOIN contents AS c ON c.id = o.summary
    WHERE o.session = $1 AND o.view = $2
      AND o.commit_revision <= $3
      AND o.commit_revision >
          coalesce((SELECT max(revision) FROM revisions INDEXED BY view_deletions
                    WHERE session = $1 AND kind = 7 AND ref = $2 AND revision <= $3), 0)
      AND (o.rollback_revision IS NULL OR o.rollback_revision > $3)
    ORDER BY o.commit_revision
"
);
