-- Leases on ranges that are being summarized, and what it takes to tell what
-- changed at each revision and how things stood there.

-- Leases, and what was in force in their rows when they were made. Only the
-- expiry, until they end, and the end, once, are ever updated.
CREATE TABLE plans (
    key                INTEGER PRIMARY KEY,  -- in the order in which they were made
    session            INTEGER NOT NULL,
    id                 TEXT    NOT NULL,
    view               TEXT    NOT NULL,
    kind               INTEGER NOT NULL,     -- of the overlay to come
    covered            TEXT    NOT NULL,     -- ranges of seqs: [[first, last], …]
    kept               TEXT    NOT NULL,     -- likewise
    overlays           TEXT    NOT NULL,     -- a JSON array of the ids in force there
    pins               TEXT    NOT NULL,     -- likewise
    source_digest      BLOB    NOT NULL,     -- BLAKE3 over the digests of the covered rows
    max_summary_tokens INTEGER NOT NULL,
    stage              TEXT    NOT NULL,
    is_own             INTEGER NOT NULL,     -- 1: the server's, which ends with its process
    author             TEXT    NOT NULL,
    created_at         INTEGER NOT NULL,
    expires_at         INTEGER NOT NULL,
    ended              INTEGER,              -- null: not yet, 1: given back, 2: committed
    overlay            TEXT,                 -- that was committed
    UNIQUE (session, id)
) STRICT;

CREATE INDEX plans_open ON plans (session, view) WHERE ended IS NULL;
CREATE INDEX plans_by_expiry ON plans (expires_at);

-- What the revisions that set names or labels set. Rows are never updated.
CREATE TABLE session_names (
    session      INTEGER NOT NULL,
    revision     INTEGER NOT NULL,
    display_name TEXT    NOT NULL,
    labels       TEXT    NOT NULL,           -- a JSON object of strings
    PRIMARY KEY (session, revision)
) STRICT, WITHOUT ROWID;

-- What earlier ones set was not kept: each is told as the last.
INSERT INTO session_names (session, revision, display_name, labels)
    SELECT r.session, r.revision, s.display_name, s.labels
    FROM revisions AS r
    JOIN sessions AS s ON s.key = r.session
    WHERE r.kind = 9;

-- What was committed before the last of a name is of another view.
CREATE INDEX view_deletions ON revisions (session, ref, revision) WHERE kind = 7;

CREATE INDEX overlays_by_view ON overlays (session, view, commit_revision, rollback_revision);
CREATE INDEX pins_by_view ON pins (session, view, since_revision, until_revision);
CREATE INDEX context_items_by_start ON context_items (session, since_revision);
CREATE INDEX context_items_by_end ON context_items (session, until_revision)
    WHERE until_revision IS NOT NULL;
