//! What only a database on disk can show.
