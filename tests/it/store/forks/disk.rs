//! Forks on a disk.
