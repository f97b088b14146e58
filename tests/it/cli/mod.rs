//! The command line, run as a process against a server of its own.

mod collapse;
mod commands;
mod demo;
mod docs;
mod failures;
mod fork;
mod history_in_time;
mod import;
mod overlays;
mod pins;
mod policy;
mod serve;
mod support;
mod views;
