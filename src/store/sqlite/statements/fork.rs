//! Forking sessions.

/// What a fork needs to know of the rows around its point, where the origin has
/// all of its rows itself: those of `$2` and of the next.
pub(in super::super) const FORK_POINT: &str = "
    SELECT seq, session, turn, tokens_before + tokens, revision
    FROM messages
    WHERE session = $1 AND seq BETWEEN $2 AND $2 + 1
    ORDER BY seq
";

/// The same, where the origin is a fork.
pub(in super::super) const FORK_POINT_OF_FORK: &str = "
    SELECT m.seq, m.session, m.turn, m.tokens_before + m.tokens, m.revision
    FROM lineage AS l
    CROSS JOIN messages AS m
        ON m.session = l.ancestor
       AND m.seq BETWEEN max(l.first_seq, $2) AND min(l.last_seq, $2 + 1)
    WHERE l.session = $1
    ORDER BY l.ancestor, m.seq
";

/// Whether a new session's id is taken.
pub(in super::super) const IS_TAKEN: &str = "
    SELECT EXISTS (SELECT 1 FROM sessions WHERE namespace = $1 AND id = $2)
";

/// The first forks of a session, as many as are asked for.
pub(in super::super) const FORKS: &str = "
    SELECT id FROM sessions INDEXED BY sessions_by_origin
    WHERE origin = $1
    ORDER BY id
    LIMIT $2
";

/// Makes a fork `$1` of `$2` with the rows up to `$3`, in the state of revision
/// `$4`.
///
/// What is long (rows, contents, revisions, calls and their answers) is read
/// through the lineage; what holds at the revision is copied, as it stood then,
/// and shares its content. So are the rounds that were in flight after row
/// `$3`, which session `$12` knows, and the revisions that deleted views: each
/// says of the copies of which view they are.
pub(in super::super) const FORK_SESSION: &str = "
    SAVEPOINT command;
    INSERT INTO requests (session, namespace, id, digest, answer, created_at)
        SELECT 0, namespace, $10, $11, json_quote($5), $7 FROM sessions
        WHERE key = $2 AND $10 IS NOT NULL;
    INSERT INTO sessions (key, namespace, id, display_name, labels, parent, created_at,
                          updated_at, next_seq, revision, turn, tokens, create_request, origin,
                          origin_seq, origin_revision)
        SELECT $1, namespace, $5, CASE WHEN $6 = '' THEN display_name ELSE $6 END, labels, parent,
               $7, $7, $3 + 1, $4, $8, $9, $10, $2, $3, $4
        FROM sessions WHERE key = $2;
    INSERT INTO lineage (session, ancestor, first_seq, last_seq, first_revision, last_revision)
        SELECT $1, ancestor, first_seq, min(last_seq, $3), first_revision,
               min(last_revision, $4 - 1)
        FROM (
            SELECT ancestor, first_seq, last_seq, first_revision, last_revision
            FROM lineage WHERE session = $2
            UNION ALL
            SELECT $2, 1, $3, 1, $4 WHERE NOT EXISTS (SELECT 1 FROM lineage WHERE session = $2)
        )
        WHERE first_seq <= $3 OR first_revision < $4
        UNION ALL
        SELECT $1, $1, $3 + 1, 9223372036854775807, $4, 9223372036854775807;
    INSERT INTO revisions (session, revision, next_seq, kind, ref, author, at)
        SELECT $1, $4, $3 + 1, r.kind, r.ref, r.author, r.at
        FROM (
            SELECT ancestor FROM lineage
            WHERE session = $2 AND $4 BETWEEN first_revision AND last_revision
            UNION ALL
            SELECT $2 WHERE NOT EXISTS (SELECT 1 FROM lineage WHERE session = $2)
        ) AS l
        CROSS JOIN revisions AS r ON r.session = l.ancestor AND r.revision = $4
        UNION ALL
        SELECT $1, revision, next_seq, kind, ref, author, at
        FROM revisions INDEXED BY view_deletions
        WHERE session = $2 AND kind = 7 AND revision < $4;
    INSERT INTO session_names (session, revision, display_name, labels)
        SELECT $1, $4, n.display_name, n.labels
        FROM (
            SELECT ancestor FROM lineage
            WHERE session = $2 AND $4 BETWEEN first_revision AND last_revision
            UNION ALL
            SELECT $2 WHERE NOT EXISTS (SELECT 1 FROM lineage WHERE session = $2)
        ) AS l
        CROSS JOIN session_names AS n ON n.session = l.ancestor AND n.revision = $4;
    INSERT INTO rounds (session, round, lane, unanswered)
        SELECT $1, r.round, r.lane, r.unanswered + (
            SELECT count(DISTINCT a.block) FROM answers AS a
            WHERE a.session = $12 AND a.seq = r.round AND a.answer_seq > $3
              AND (r.settled_seq IS NULL OR a.answer_seq <= r.settled_seq)
              AND NOT EXISTS (
                  SELECT 1 FROM lineage AS l
                  CROSS JOIN answers AS b
                      ON b.session = l.ancestor AND b.seq = a.seq AND b.block = a.block
                     AND b.answer_seq BETWEEN l.first_seq AND l.last_seq
                  WHERE l.session = $1
              )
        )
        FROM (
            SELECT round, lane, unanswered, settled_seq
            FROM rounds
            WHERE session = $12 AND round BETWEEN $3 - 256 AND $3
              AND (settled_seq IS NULL OR settled_seq > $3)
            UNION ALL
            SELECT round, lane, unanswered, settled_seq
            FROM rounds INDEXED BY rounds_in_flight
            WHERE session = $12 AND settled_seq IS NULL AND round < $3 - 256
            UNION ALL
            SELECT round, lane, unanswered, settled_seq
            FROM rounds INDEXED BY rounds_long
            WHERE session = $12 AND settled_seq - round > 256 AND round < $3 - 256
              AND settled_seq > $3
        ) AS r;
    INSERT INTO overlays (session, commit_revision, id, view, kind, covered, kept, summary,
                          cleared, tokens_before, tokens_after, summarizer, cause, stage, author,
                          commit_time, transcript, covered_overlays, source_digest,
                          rollback_revision, rollback_time, rollback_author, rollback_reason)
        SELECT $1, commit_revision, id, view, kind, covered, kept, summary,
               cleared, tokens_before, tokens_after, summarizer, cause, stage, author,
               commit_time, transcript, covered_overlays, source_digest,
               CASE WHEN rollback_revision <= $4 THEN rollback_revision END,
               CASE WHEN rollback_revision <= $4 THEN rollback_time END,
               CASE WHEN rollback_revision <= $4 THEN rollback_author END,
               CASE WHEN rollback_revision <= $4 THEN rollback_reason END
        FROM overlays WHERE session = $2 AND commit_revision <= $4;
    INSERT INTO pins (session, id, view, first_seq, last_seq, reason, author, created_at,
                      since_revision, until_revision)
        SELECT $1, id, view, first_seq, last_seq, reason, author, created_at, since_revision,
               CASE WHEN until_revision <= $4 THEN until_revision END
        FROM pins WHERE session = $2 AND since_revision <= $4;
    INSERT INTO context_items (session, name, view, since_revision, until_revision, placement,
                               format, tokens, content)
        SELECT $1, name, view, since_revision,
               CASE WHEN until_revision <= $4 THEN until_revision END,
               placement, format, tokens, content
        FROM context_items WHERE session = $2 AND since_revision <= $4;
    INSERT INTO views (session, name, since_revision, until_revision, reductions_revision, preset,
                       overrides_json, policy_json, model, context_window, output_reserve,
                       request_bytes_limit, caller_fixed_tokens)
        SELECT $1, v.name, v.since_revision,
               CASE WHEN v.until_revision <= $4 THEN v.until_revision END,
               CASE WHEN v.until_revision <= $4 THEN v.reductions_revision ELSE max(
                   v.since_revision,
                   coalesce((SELECT max(max(commit_revision), coalesce(max(rollback_revision), 0))
                             FROM overlays WHERE session = $1 AND view = v.name), 0),
                   coalesce((SELECT max(max(since_revision), coalesce(max(until_revision), 0))
                             FROM pins WHERE session = $1 AND view = v.name), 0)
               ) END,
               v.preset, v.overrides_json, v.policy_json, v.model, v.context_window,
               v.output_reserve, v.request_bytes_limit, v.caller_fixed_tokens
        FROM views AS v WHERE v.session = $2 AND v.since_revision <= $4;
    RELEASE command;
";
