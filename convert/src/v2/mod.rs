//! OpenAPI v2 (Swagger 2.0), as far as it is written today.

pub mod from_structural;
pub mod merge;
