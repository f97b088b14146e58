//! Plans: leases on ranges.

/// Of a plan.
macro_rules! plan_columns {
    () => {
        "
    SELECT p.key, p.id, p.view, p.kind, p.covered, p.kept, p.overlays, p.pins, p.source_digest,
           p.max_summary_tokens, p.stage, p.is_own, p.author, p.created_at, p.expires_at, p.ended,
           p.overlay"
    };
}

/// Makes plans.
pub(in super::super) const PREPARE: &str = "
    SAVEPOINT command;
    INSERT INTO requests (session, namespace, id, digest, answer, created_at)
        SELECT $1, '', $4, $5, $6, $7 WHERE $4 IS NOT NULL;
    INSERT INTO plans (session, id, view, kind, covered, kept, overlays, pins, source_digest,
                       max_summary_tokens, stage, is_own, author, created_at, expires_at)
        SELECT $1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
               value ->> 6, substr($3, 32 * key + 1, 32), value ->> 7, value ->> 8, value ->> 9,
               value ->> 10, value ->> 11, value ->> 12
        FROM json_each($2)
        ORDER BY key;
    RELEASE command;
";

/// Lets plans (a JSON array of ids) hold longer, where they do.
pub(in super::super) const RENEW_PLANS: &str = "
    UPDATE plans SET expires_at = max(expires_at, $4)
    WHERE session = $1 AND id IN (SELECT value FROM json_each($2))
      AND ended IS NULL AND expires_at > $3
";

/// Gives plans (a JSON array of ids) back.
pub(in super::super) const ABANDON_PLANS: &str = "
    UPDATE plans SET ended = 1
    WHERE session = $1 AND id IN (SELECT value FROM json_each($2)) AND ended IS NULL
";

/// Gives back what a process that is gone worked on.
pub(in super::super) const ABANDON_OWN_PLANS: &str = "
    UPDATE plans INDEXED BY plans_open SET ended = 1 WHERE ended IS NULL AND is_own
";

/// Plans by their ids (a JSON array).
pub(in super::super) const GET_PLANS: &str = concat!(
    plan_columns!(),
    "
    FROM json_each($3) AS wanted
    CROSS JOIN plans AS p
        ON p.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
       AND p.id = wanted.value
    ORDER BY p.key
"
);

/// A view's plans that hold.
pub(in super::super) const LIST_PLANS: &str = concat!(
    plan_columns!(),
    "
    FROM plans AS p INDEXED BY plans_open
    WHERE p.session = (SELECT key FROM sessions WHERE namespace = $1 AND id = $2)
      AND p.view = $3 AND p.ended IS NULL AND p.expires_at > $4
    ORDER BY p.key
"
);
