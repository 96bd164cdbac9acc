//! Integration tests of discovery: small definitions of our own, drawn groups, and recorded documents where they are
//! present.

mod drawn;
mod recorded;
mod rules;
