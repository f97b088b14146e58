//! The contract, served: decode, call, encode.
