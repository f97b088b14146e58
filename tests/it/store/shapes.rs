//! Pairing over any shape of history, against the reference.
