//! The presets, and what a caller's patch makes of them.
