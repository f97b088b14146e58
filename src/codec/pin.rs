//! Pins.

use super::{Error, range, time};
use crate::{
    model::{Pin, PinId, Revision, ViewName},
    proto::v1 as pb,
};

/// To the contract's form.
#[must_use]
pub fn to_pb(pin: &Pin) -> pb::Pin {
    pb::Pin {
        id: pin.id.to_string(),
        view: pin.view.to_string(),
        rows: Some(range::to_pb(pin.rows)),
        reason: pin.reason.clone(),
        author: pin.author.clone(),
        create_time: Some(time::to_pb(pin.create_time)),
    }
}

/// From the contract's form, which does not tell the revisions between which it
/// holds.
///
/// # Errors
///
/// Names the field that is not as expected.
pub fn from_pb(pin: pb::Pin) -> Result<Pin, Error> {
    let rows = pin.rows.ok_or_else(|| Error::new("rows", "set"))?;
    let create_time = pin.create_time.map(time::from_pb).transpose();
    Ok(Pin {
        id: PinId::new(&pin.id),
        view: ViewName::new(&pin.view),
        rows: range::from_pb(rows).map_err(|err| err.within("rows"))?,
        reason: pin.reason,
        author: pin.author,
        create_time: create_time.map_err(|err| err.within("create_time"))?.unwrap_or_default(),
        since: Revision::default(),
        until: None,
    })
}
