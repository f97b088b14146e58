-- Times are microseconds since the Unix epoch. Kinds, roles, causes, formats
-- and placements are the numbers that the contract's enums have. A session is
-- named by `key` everywhere but in its own row, which alone bears namespace and
-- id. No foreign keys are enforced: the one writer keeps them, and a check would
-- cost a lookup for each row.

-- Conversations: their names and their counters.
CREATE TABLE sessions (
    key            INTEGER PRIMARY KEY,    -- never given twice
    namespace      TEXT    NOT NULL,
    id             TEXT    NOT NULL,       -- unique within the namespace
    display_name   TEXT    NOT NULL,
    labels         TEXT    NOT NULL,       -- a JSON object of strings
    parent         TEXT    NOT NULL,       -- a session's id in the same namespace; empty: none
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    next_seq       INTEGER NOT NULL,       -- grows with appends only
    revision       INTEGER NOT NULL,       -- grows with every change
    turn           INTEGER NOT NULL,       -- of the newest message
    tokens         INTEGER NOT NULL,       -- of all messages, uncalibrated
    create_request TEXT,                   -- the request that made it, where it had an id
    UNIQUE (namespace, id)
) STRICT;

CREATE INDEX sessions_by_age ON sessions (namespace, created_at, id);

-- Stored messages, without their content. Rows are never updated.
CREATE TABLE messages (
    session       INTEGER NOT NULL,
    seq           INTEGER NOT NULL,        -- from 1, without gaps
    turn          INTEGER NOT NULL,
    round         INTEGER NOT NULL,        -- the seq of its round's first message
    lane          TEXT    NOT NULL,
    role          INTEGER NOT NULL,
    author        TEXT    NOT NULL,
    tokens        INTEGER NOT NULL,        -- uncalibrated
    tokens_before INTEGER NOT NULL,        -- of all rows before it: any range is two point reads
    block_tokens  BLOB    NOT NULL,        -- one LEB128 number for each block
    size          INTEGER NOT NULL,        -- bytes of the content, plain
    digest        BLOB    NOT NULL,        -- BLAKE3 of the content, plain
    recorded_at   INTEGER NOT NULL,
    revision      INTEGER NOT NULL,        -- that appended it
    content       INTEGER NOT NULL,        -- contents.id
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

-- Exact bytes, in the order in which they came: messages as encoded protobuf,
-- summaries and context items as they are. Rows are never updated.
CREATE TABLE contents (
    id    INTEGER PRIMARY KEY,             -- never given twice
    codec INTEGER NOT NULL,                -- 0: plain, 1: zstd
    bytes BLOB    NOT NULL
) STRICT;

-- Every change of a session. Rows are never updated.
CREATE TABLE revisions (
    session  INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    next_seq INTEGER NOT NULL,             -- after it
    kind     INTEGER NOT NULL,             -- 1 append, 2 overlay committed, 3 rolled back,
                                           -- 4 pinned, 5 unpinned, 6 view set, 7 view deleted,
                                           -- 8 item set, 9 session updated
    ref      TEXT    NOT NULL,             -- the overlay, pin, view or item; empty otherwise
    author   TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (session, revision)
) STRICT, WITHOUT ROWID;

-- Rounds that hold calls; every other message is a round that settled as it came.
CREATE TABLE rounds (
    session          INTEGER NOT NULL,
    round            INTEGER NOT NULL,     -- the seq of its first message
    lane             TEXT    NOT NULL,
    unanswered       INTEGER NOT NULL,     -- calls that had no answer when it settled, or now
    settled_seq      INTEGER,              -- the message that settled it; null: in flight
    settled_revision INTEGER,
    PRIMARY KEY (session, round)
) STRICT, WITHOUT ROWID;

CREATE INDEX rounds_in_flight ON rounds (session, round) WHERE settled_seq IS NULL;

-- Tool calls and the answer in force; the writer pairs by it.
CREATE TABLE calls (
    session      INTEGER NOT NULL,
    id           TEXT    NOT NULL,         -- the caller's; may repeat or be empty
    seq          INTEGER NOT NULL,         -- the message that holds it; also its round
    block        INTEGER NOT NULL,
    answer_seq   INTEGER,                  -- the newest result; null: none yet
    answer_block INTEGER,
    PRIMARY KEY (session, id, seq, block)
) STRICT, WITHOUT ROWID;

-- Recorded reductions of a view. Only the rollback columns are ever updated, once.
CREATE TABLE overlays (
    session           INTEGER NOT NULL,
    commit_revision   INTEGER NOT NULL,    -- from which it is in force
    id                TEXT    NOT NULL,
    view              TEXT    NOT NULL,
    kind              INTEGER NOT NULL,
    covered           TEXT    NOT NULL,    -- ranges of seqs: [[first, last], …]
    kept              TEXT    NOT NULL,    -- likewise
    summary           INTEGER,             -- contents.id; null: empty
    cleared           BLOB,                -- what a clear shows: an encoded Overlay with that alone
    tokens_before     INTEGER NOT NULL,
    tokens_after      INTEGER NOT NULL,
    summarizer        TEXT    NOT NULL,
    cause             INTEGER NOT NULL,
    stage             TEXT    NOT NULL,
    author            TEXT    NOT NULL,
    commit_time       INTEGER NOT NULL,
    transcript        TEXT    NOT NULL,    -- stored before it; empty: none
    covered_overlays  TEXT    NOT NULL,    -- a JSON array of ids
    source_digest     BLOB    NOT NULL,    -- BLAKE3 over the digests of the covered rows
    rollback_revision INTEGER,             -- from which it is not in force any more
    rollback_time     INTEGER,
    rollback_author   TEXT,
    rollback_reason   TEXT,
    PRIMARY KEY (session, commit_revision)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX overlays_by_id ON overlays (session, id);
CREATE INDEX overlays_in_force ON overlays (session, view, commit_revision)
    WHERE rollback_revision IS NULL;

-- Views, with the revisions between which each version holds.
CREATE TABLE views (
    session             INTEGER NOT NULL,
    name                TEXT    NOT NULL,
    since_revision      INTEGER NOT NULL,
    until_revision      INTEGER,           -- null: it holds
    reductions_revision INTEGER NOT NULL,  -- that set it or last changed its overlays or pins
    preset              TEXT    NOT NULL,
    overrides_json      BLOB    NOT NULL,  -- the caller's patch, as given
    policy_json         BLOB    NOT NULL,  -- the whole policy, resolved
    model               TEXT,              -- null: none was named, and the next four say nothing
    context_window      INTEGER,
    output_reserve      INTEGER,           -- null also where the caller named none
    request_bytes_limit INTEGER,
    caller_fixed_tokens INTEGER,
    PRIMARY KEY (session, name, since_revision)
) STRICT, WITHOUT ROWID;

-- Text around the messages, with the revisions between which each version holds.
CREATE TABLE context_items (
    session        INTEGER NOT NULL,
    name           TEXT    NOT NULL,
    view           TEXT    NOT NULL,       -- empty: all views
    since_revision INTEGER NOT NULL,
    until_revision INTEGER,                -- null: it holds
    placement      INTEGER NOT NULL,
    format         INTEGER NOT NULL,
    tokens         INTEGER NOT NULL,       -- uncalibrated
    content        INTEGER NOT NULL,       -- contents.id
    PRIMARY KEY (session, name, view, since_revision)
) STRICT, WITHOUT ROWID;

CREATE INDEX context_items_in_force ON context_items (session, name, view)
    WHERE until_revision IS NULL;

-- Rows that no automatic reduction covers, with the revisions between which each holds.
CREATE TABLE pins (
    session        INTEGER NOT NULL,
    id             TEXT    NOT NULL,
    view           TEXT    NOT NULL,
    first_seq      INTEGER NOT NULL,
    last_seq       INTEGER NOT NULL,
    reason         TEXT    NOT NULL,
    author         TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    since_revision INTEGER NOT NULL,
    until_revision INTEGER,                -- null: it holds
    PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;

-- Requests that were answered, so that a retry gets the same answer.
CREATE TABLE requests (
    key        INTEGER PRIMARY KEY,        -- in the order in which they came: the oldest expire first
    session    INTEGER NOT NULL,           -- 0: of a namespace
    namespace  TEXT    NOT NULL,           -- empty: of a session
    id         TEXT    NOT NULL,
    digest     BLOB    NOT NULL,           -- BLAKE3 of what was asked
    answer     TEXT    NOT NULL,           -- JSON
    created_at INTEGER NOT NULL,
    UNIQUE (session, namespace, id)
) STRICT;

-- Learned factors between estimated and reported tokens.
CREATE TABLE calibrations (
    namespace TEXT NOT NULL,
    model     TEXT NOT NULL,
    factor    REAL NOT NULL,
    PRIMARY KEY (namespace, model)
) STRICT, WITHOUT ROWID;

-- Sessions that were deleted and whose rows are still being erased.
CREATE TABLE erasures (
    session INTEGER PRIMARY KEY
) STRICT;
