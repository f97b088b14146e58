//! Says which rules of a provider a request breaks.
