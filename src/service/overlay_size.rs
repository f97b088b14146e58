//! Keeps overlays within what one answer may hold.

use super::page::PAGE_BYTES;
use crate::{
    codec,
    model::{Overlay, SessionId},
};

/// Leaves out what an overlay shows instead where it alone would outgrow a
/// page: a clear of many long texts may.
pub(super) fn bound(overlay: &mut Overlay, session: &SessionId) {
    if codec::overlay::size(overlay, session) > PAGE_BYTES {
        overlay.cleared = Vec::new();
        overlay.summary = String::new();
    }
}
