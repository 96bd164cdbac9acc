//! placeholder
/// x
pub const LOSS: &str = "x-kubeshape-loss";
