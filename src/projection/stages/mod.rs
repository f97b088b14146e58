//! The stages, one file each.
//!
//! Two sorts. Those that judge a row at first sight take its drafts and change
//! them; the others look at a composed view under pressure and propose
//! overlays.

pub(crate) mod auto_compact;
pub(crate) mod batch_budget;
pub(crate) mod collapse;
pub(crate) mod dedupe_files;
pub(crate) mod fit;
pub(crate) mod micro_clear;
pub(crate) mod micro_text;
pub(crate) mod result_cap;
pub(crate) mod shorten;
pub(crate) mod snip_middle;
pub(crate) mod snip_turns;
pub(crate) mod strip_images;
pub(crate) mod tool_fold;
