//! The reference backend: everything in memory.
