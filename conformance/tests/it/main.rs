//! Integration tests of the comparison with recorded answers.

mod areas;
mod corpus;
mod table;
