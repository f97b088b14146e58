//! The command line, run as a process against a server of its own.

mod commands;
mod demo;
mod docs;
mod failures;
mod import;
mod policy;
mod serve;
mod support;
