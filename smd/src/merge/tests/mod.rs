//! The rules of apply and update, one test each.

mod generate;
mod prune;
