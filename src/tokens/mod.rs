//! Counting, and learning from what providers report.
