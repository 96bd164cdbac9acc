//! Managed fields, and whole requests.

use super::inputs::Inputs;
use super::measure::Bench;

/// Measures all of them.
pub(super) fn all(inputs: &Inputs, bench: &mut Bench) {
    let _ = (inputs, bench);
}
