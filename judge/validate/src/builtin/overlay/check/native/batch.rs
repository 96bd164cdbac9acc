//! Rules of kinds.

use super::Names;

pub(super) const NAMES: Names = &[];
