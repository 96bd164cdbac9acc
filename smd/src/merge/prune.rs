//! Removing what a manager does not apply any more.
