//! Transactions, and the commands of the writer that are neither appends nor
//! erasures.

/// Opens a group.
pub(in super::super) const BEGIN: &str = "BEGIN IMMEDIATE";

/// Makes a group durable.
pub(in super::super) const COMMIT: &str = "COMMIT";

/// Gives a group up.
pub(in super::super) const ROLLBACK: &str = "ROLLBACK";

/// Undoes the command that failed.
pub(in super::super) const ROLLBACK_COMMAND: &str = "ROLLBACK TO command; RELEASE command";

/// Copies the log into the database and empties it.
pub(in super::super) const CHECKPOINT: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// Creates a session with its `main` view.
pub(in super::super) const CREATE_SESSION: &str = "
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
pub(in super::super) const UPDATE_SESSION: &str = "
    SAVEPOINT command;
    UPDATE sessions SET display_name = $4, labels = $5, revision = $2, updated_at = $3
        WHERE key = $1;
    INSERT INTO session_names (session, revision, display_name, labels)
        VALUES ($1, $2, $4, $5);
    INSERT INTO revisions (session, revision, next_seq, kind, ref, author, at)
        SELECT $1, $2, next_seq, 9, '', '', $3 FROM sessions WHERE key = $1;
    RELEASE command;
";

/// Sets a view: the version that held ends and another begins.
pub(in super::super) const SET_VIEW: &str = "
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

/// Deletes a view: its version that held ends, and with it the view's context
/// items and plans. Overlays and pins stay as they are on record.
pub(in super::super) const DELETE_VIEW: &str = "
    SAVEPOINT command;
    UPDATE views SET until_revision = $2
        WHERE session = $1 AND name = $4 AND until_revision IS NULL;
    UPDATE context_items INDEXED BY context_items_in_force SET until_revision = $2
        WHERE session = $1 AND view = $4 AND until_revision IS NULL;
    UPDATE plans INDEXED BY plans_open SET ended = 1
        WHERE session = $1 AND view = $4 AND ended IS NULL;
    INSERT INTO revisions (session, revision, next_seq, kind, ref, author, at)
        SELECT $1, $2, next_seq, 7, $4, '', $3 FROM sessions WHERE key = $1;
    UPDATE sessions SET revision = $2, updated_at = $3 WHERE key = $1;
    RELEASE command;
";

/// Sets a context item, or (without a content) ends it.
pub(in super::super) const SET_ITEM: &str = "
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

/// Sets a pin.
pub(in super::super) const PIN: &str = "
    SAVEPOINT command;
    INSERT INTO requests (session, namespace, id, digest, answer, created_at)
        SELECT $1, '', $10, $11, $12, $3 WHERE $10 IS NOT NULL;
    INSERT INTO pins (session, id, view, first_seq, last_seq, reason, author, created_at,
                      since_revision)
        VALUES ($1, $6, $5, $7, $8, $9, $4, $3, $2);
    INSERT INTO revisions (session, revision, next_seq, kind, ref, author, at)
        SELECT $1, $2, next_seq, 4, $6, $4, $3 FROM sessions WHERE key = $1;
    UPDATE views SET reductions_revision = $2
        WHERE session = $1 AND name = $5 AND until_revision IS NULL;
    UPDATE sessions SET revision = $2, updated_at = $3 WHERE key = $1;
    RELEASE command;
";

/// Takes a pin away.
pub(in super::super) const UNPIN: &str = "
    SAVEPOINT command;
    UPDATE pins SET until_revision = $2 WHERE session = $1 AND id = $5;
    INSERT INTO revisions (session, revision, next_seq, kind, ref, author, at)
        SELECT $1, $2, next_seq, 5, $5, '', $3 FROM sessions WHERE key = $1;
    UPDATE views SET reductions_revision = $2
        WHERE session = $1 AND name = $4 AND until_revision IS NULL;
    UPDATE sessions SET revision = $2, updated_at = $3 WHERE key = $1;
    RELEASE command;
";

/// Commits overlays and ends others, sets a pin and ends plans; each list may
/// be empty.
pub(in super::super) const CHANGE_OVERLAYS: &str = "
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
    INSERT INTO pins (session, id, view, first_seq, last_seq, reason, author, created_at,
                      since_revision)
        SELECT $1, value ->> 0, $5, value ->> 1, value ->> 2, $9, $4, $3, $2
        FROM json_each($15);
    UPDATE plans
        SET ended = 2, overlay = (SELECT value ->> 1 FROM json_each($16)
                                  WHERE value ->> 0 = plans.id)
        WHERE session = $1 AND id IN (SELECT value ->> 0 FROM json_each($16));
    INSERT INTO revisions (session, revision, next_seq, kind, ref, author, at)
        SELECT $1, value ->> 0, $11, value ->> 1, value ->> 2, $4, $3
        FROM json_each($10);
    UPDATE views SET reductions_revision = $2
        WHERE session = $1 AND name = $5 AND until_revision IS NULL;
    UPDATE sessions SET revision = $2, updated_at = $3 WHERE key = $1;
    RELEASE command;
";

/// Remembers a calibration factor.
pub(in super::super) const SET_CALIBRATION: &str = "
    SAVEPOINT command;
    INSERT INTO calibrations (namespace, model, factor) VALUES ($1, $2, $3)
        ON CONFLICT (namespace, model) DO UPDATE SET factor = excluded.factor;
    RELEASE command;
";

/// Forgets request ids that came before a moment, out of the oldest 256 (the
/// rest of the table is not looked at), and plans that held until then.
pub(in super::super) const EXPIRE: &str = "
    DELETE FROM requests WHERE key IN (
        SELECT key FROM (SELECT key, created_at FROM requests ORDER BY key LIMIT 256)
        WHERE created_at <= $1
    );
    DELETE FROM plans WHERE key IN (
        SELECT key FROM plans INDEXED BY plans_by_expiry WHERE expires_at <= $1
        ORDER BY expires_at LIMIT 64
    );
";
