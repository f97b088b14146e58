//! The names of things.

use std::{fmt, sync::Arc};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes the text as it is; who calls has checked it or read it
            /// from the store.
            #[must_use]
            pub fn new(text: &str) -> Self {
                Self(Arc::from(text))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// Whose sessions: ids are unique within one.
    Namespace
}
text_id! {
    /// A session's id, unique within its namespace.
    SessionId
}
text_id! {
    /// An overlay's id, unique within its session.
    OverlayId
}
text_id! {
    /// A view's name, unique within its session.
    ViewName
}
text_id! {
    /// A pin's id, unique within its session.
    PinId
}
text_id! {
    /// A plan's id, unique within its session.
    PlanId
}

impl Namespace {
    /// The one namespace there is until access control tells them apart.
    pub const DEFAULT: &'static str = "default";
}

impl ViewName {
    /// The view that every session has.
    pub const MAIN: &'static str = "main";

    /// `main`.
    #[must_use]
    pub fn main() -> Self {
        Self::new(Self::MAIN)
    }

    /// Says whether `text` may name a view: `[a-zA-Z0-9._-]{1,64}`.
    #[must_use]
    pub fn is_legal(text: &str) -> bool {
        is_plain_name(text, 64)
    }
}

impl SessionId {
    /// Says whether `text` may name a session: `[a-zA-Z0-9._-]{1,128}`.
    #[must_use]
    pub fn is_legal(text: &str) -> bool {
        is_plain_name(text, 128)
    }
}

fn is_plain_name(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub i64);

        impl $name {
            /// The one after this.
            #[must_use]
            pub fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number_id! {
    /// A message's position in its session, from 1, without gaps.
    Seq
}
number_id! {
    /// Counts a session's changes, from 1 (its creation).
    Revision
}
