//! Providers' JSON and recorded sessions into messages.
