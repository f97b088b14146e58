//! Messages as bytes: the one stored form and the wire form of a message.
