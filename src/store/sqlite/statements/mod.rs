//! Every statement this backend runs. Values are bound, never formatted in.
//!
//! A command is one query string: each string is one hop to the connection's
//! thread, and the hop is what costs. Its parameters are shared by all of its
//! statements, and lists travel as one JSON array whose elements are rows.
//! Every command undoes itself where it fails: it is a savepoint, or one
//! statement.

mod append;
mod command;
mod erase;
mod fork;
mod lookup;
mod plan;
#[macro_use]
mod read;
mod past;

pub(super) use self::{
    append::*, command::*, erase::*, fork::*, lookup::*, past::*, plan::*, read::*,
};

/// The inventory that a test prepares against a fresh schema; that of
/// `WRITER_SETUP` has run by then.
#[cfg(test)]
pub(super) const ALL: &[&str] = &[
    BEGIN,
    COMMIT,
    CHECKPOINT,
    CREATE_SESSION,
    UPDATE_SESSION,
    SET_VIEW,
    DELETE_VIEW,
    SET_ITEM,
    PIN,
    UNPIN,
    CHANGE_OVERLAYS,
    SET_CALIBRATION,
    EXPIRE,
    PREPARE,
    RENEW_PLANS,
    ABANDON_PLANS,
    ABANDON_OWN_PLANS,
    GET_PLANS,
    LIST_PLANS,
    VERSION,
    COUNTERS,
    HEAD,
    OPEN_ROUNDS,
    CALLS_BY_ID,
    CALLS_BY_ID_OF_FORK,
    REQUEST,
    CREATION,
    VIEW_REDUCED_AT,
    ITEM,
    OVERLAYS_IN_FORCE,
    VIEW_DELETED_AT,
    ERASURES,
    FORK_POINT,
    FORK_POINT_OF_FORK,
    IS_TAKEN,
    FORKS,
    FORK_SESSION,
    BEGIN_ERASURE,
    END_ERASURE,
    ERASE_MESSAGES,
    ERASE_OVERLAYS,
    ERASE_ITEMS,
    ERASE_REVISIONS,
    ERASE_ROUNDS,
    ERASE_CALLS,
    ERASE_ANSWERS,
    ERASE_LINEAGE,
    ERASE_VIEWS,
    ERASE_PINS,
    ERASE_PLANS,
    ERASE_NAMES,
    ERASE_REQUESTS,
    GET_SESSION,
    LIST_SESSIONS,
    FIND_SESSION,
    READ_ROWS,
    READ_ROWS_REVERSED,
    READ_SHARED_ROWS,
    READ_SHARED_ROWS_REVERSED,
    LIST_ITEMS,
    LIST_ITEMS_AT,
    GET_OVERLAYS,
    LIST_OVERLAYS,
    LIST_ALL_OVERLAYS,
    GET_PINS,
    LIST_PINS,
    LIST_REVISIONS,
    LIST_REVISIONS_OF_FORK,
    VIEWS_SET,
    ITEMS_SET,
    VIEW_AT,
    VIEW_AT_OF_FORK,
    OVERLAYS_AT,
    CALIBRATIONS,
];
