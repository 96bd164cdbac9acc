//! Integration tests of the comparison with recorded answers.

mod corpus;
mod table;
