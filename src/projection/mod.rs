//! Rows and overlays into what is shown. Pure.
