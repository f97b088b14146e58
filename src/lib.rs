//! A session server for LLM agents.
//!
//! Agents append every message; before each model call they ask for the context
//! to send. The full history stays in the store and never changes; what they
//! get is a projection, computed at read time.
//!
//! Arrows point one way: `grpc`, `cli` → `service` → `projection`, `render`,
//! `ingest`, `tokens`, `policies`, `store` → `rounds`, `codec` → `model`.
//! A test holds that.

pub mod cli;
pub mod clock;
pub mod codec;
pub mod config;
pub mod grpc;
pub mod id;
pub mod ingest;
pub mod model;
pub mod policies;
pub mod projection;
pub mod proto;
pub mod render;
pub mod rounds;
pub mod service;
pub mod store;
pub mod summary;
pub mod telemetry;
pub mod tokens;
