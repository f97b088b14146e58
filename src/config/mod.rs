//! What the server may be told: flags, environment, file, defaults.
