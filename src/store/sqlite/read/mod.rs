//! Reading, on any connection.
//!
//! Every function fetches its statements whole, so that nothing is held between
//! two pages: a half-read statement would keep the log from being emptied and
//! slow every writer down. Those that ask more than once do so in a transaction
//! that ends with the page. Rows are converted, never trusted.

mod items;
mod overlays;
mod past;
mod pins;
mod plans;
mod revisions;
mod rows;
mod sessions;

pub(super) use items::{ItemRow, item_from, list_items};
pub(super) use overlays::{get_overlays, list_overlays};
pub(super) use past::state_at;
pub(super) use pins::{get_pins, list_pins};
pub(super) use plans::{get_plans, list_plans};
pub(super) use revisions::list_revisions;
pub(super) use rows::read_rows;
pub(super) use sessions::{find_session, get_session, list_sessions, not_found};

use crate::store::Error;

/// The column of a row that cannot be what it holds.
fn corrupt(table: &'static str, column: &'static str, row: i64) -> Error {
    Error::Corrupt { table, column, row }
}

/// An enum's number, as the contract's messages hold it.
fn number(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(-1)
}
