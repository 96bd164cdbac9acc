//! placeholder
use super::Schema;
/// x
pub struct ReadError;
/// x
pub fn read(_: kubeshape_yaml::Node<'_>) -> Result<Schema, Vec<ReadError>> { Err(vec![]) }
