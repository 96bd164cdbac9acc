//! Integration tests of discovery: small definitions of our own, random groups, and recorded documents if they are
//! available.

mod drawn;
mod recorded;
mod rules;
