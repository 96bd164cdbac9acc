//! The kinds of entries.

/// The kind of an entry, after resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// `null`, `~` or an absent value.
    Null,
    /// A false boolean.
    False,
    /// A true boolean.
    True,
    /// A number whose JSON form has neither fraction nor exponent and fits 64 bits, signed or unsigned.
    Int,
    /// Any other number.
    Float,
    /// A string. Keys are always of this kind.
    Str,
    /// A sequence.
    Seq,
    /// A mapping: its children alternate between key and value.
    Map,
}
