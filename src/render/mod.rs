//! What is shown into a provider's request. Pure: bytes from data.
//!
//! Two steps, so that what did not change is not written again: [`round`]
//! writes one round (its result may be kept as long as the round is shown the
//! same), [`assemble`] joins rounds, notices and context items into a request.
