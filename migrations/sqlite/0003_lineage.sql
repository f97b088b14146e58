-- Forks: sessions that share rows of others by reference.

-- Where a session was forked from; null where it was not.
ALTER TABLE sessions ADD COLUMN origin INTEGER;          -- a session's key
ALTER TABLE sessions ADD COLUMN origin_seq INTEGER;      -- the last row that is shared
ALTER TABLE sessions ADD COLUMN origin_revision INTEGER; -- in whose state it started

CREATE INDEX sessions_by_origin ON sessions (origin, id) WHERE origin IS NOT NULL;

-- Whose rows a fork reads, flat however often it was forked; no rows of a
-- session that is none. Keys grow, so they are in the order of the seqs. The
-- last is the fork itself. The revision that it started in is its own: where the
-- next is an append of which it shares only the first rows, these are there
-- already. Rows are never updated.
CREATE TABLE lineage (
    session        INTEGER NOT NULL,
    ancestor       INTEGER NOT NULL,       -- whose row of `messages`, `rounds` … it is
    first_seq      INTEGER NOT NULL,       -- of the rows that are read there, …
    last_seq       INTEGER NOT NULL,       -- … below it: none
    first_revision INTEGER NOT NULL,       -- likewise
    last_revision  INTEGER NOT NULL,
    PRIMARY KEY (session, ancestor)
) STRICT, WITHOUT ROWID;

-- Results of tool calls, every one: the newest up to a row is the answer in
-- force there. Rows are never updated.
CREATE TABLE answers (
    session      INTEGER NOT NULL,         -- whose row answers
    seq          INTEGER NOT NULL,         -- of the call, which may be an ancestor's
    block        INTEGER NOT NULL,
    answer_seq   INTEGER NOT NULL,
    answer_block INTEGER NOT NULL,
    PRIMARY KEY (session, seq, block, answer_seq, answer_block)
) STRICT, WITHOUT ROWID;

INSERT INTO answers (session, seq, block, answer_seq, answer_block)
    SELECT session, seq, block, answer_seq, answer_block
    FROM calls
    WHERE answer_seq IS NOT NULL;

ALTER TABLE calls DROP COLUMN answer_seq;
ALTER TABLE calls DROP COLUMN answer_block;

-- The few rounds that took long to settle: with those near a row and those in
-- flight, all that can have been in flight there.
CREATE INDEX rounds_long ON rounds (session, round) WHERE settled_seq - round > 256;

-- What a deleted fork shared stays: overlays and items up to this revision have
-- their content of an ancestor.
ALTER TABLE erasures ADD COLUMN shared_revision INTEGER NOT NULL DEFAULT 0;
