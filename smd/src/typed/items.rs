//! Path elements of list items.
