//! How early a form gets its room: the lowest first.

/// The newest thing that a user asked.
pub(super) const NEWEST_REQUEST: u16 = 8;
/// The directory that the changed files share.
pub(super) const ROOT: u16 = 9;
/// Everything that users asked, and every file that changed.
pub(super) const REQUEST: u16 = 10;
/// See `REQUEST`.
pub(super) const FILE: u16 = 12;
/// Commands that fail still.
pub(super) const FAILING: u16 = 20;
/// Files outside the project, and directories.
pub(super) const LESSER_FILE: u16 = 22;
/// What is still to do.
pub(super) const TODO: u16 = 24;
/// Where things stand.
pub(super) const STATE: u16 = 26;
/// Commands that failed and passed later.
pub(super) const FAILED_ONCE: u16 = 28;
/// Tools that failed.
pub(super) const TOOL_FAILED: u16 = 30;
/// What was decided.
pub(super) const DECISION: u16 = 32;
/// What failed, with what it told.
pub(super) const FAILURE_LINE: u16 = 34;
/// What users demand or forbid.
pub(super) const CONSTRAINT: u16 = 38;
/// Requests at more length.
pub(super) const LONGER_REQUEST: u16 = 40;
/// Calls and commands that change something elsewhere.
pub(super) const DEED: u16 = 42;
/// Text that programs put in a user's mouth.
pub(super) const PROGRAM: u16 = 44;
/// Where things stand, at more length.
pub(super) const LONGER_STATE: u16 = 46;
/// What came of the requests.
pub(super) const OUTCOME: u16 = 48;
/// What else an earlier summary says.
pub(super) const CARRIED: u16 = 50;
/// What was found out.
pub(super) const FINDING: u16 = 52;
/// Why a file was changed: detail of the code.
pub(super) const FILE_DETAIL: u16 = 54;
/// What only rounds a summary off.
pub(super) const ROUND_OFF: u16 = 60;
/// Anything else.
pub(super) const REST: u16 = 66;
/// Full length.
pub(super) const FULL: u16 = 72;
