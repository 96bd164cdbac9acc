//! The flat storage behind [`Schema`].

/// The maximum nesting of inlined types. CustomResourceDefinitions are far below it, and every walk over a schema may
/// recurse this deep.
pub const MAX_DEPTH: u16 = 512;

/// A schema: an ordered list of named types.
///
/// It owns its contents, is never changed once built, and may be shared between threads. Two schemas are equal as
/// upstream compares them (`Schema.Equals`): types in order, and of an atom that is several of scalar, list and map,
/// only the first.
///
/// # Example: a schema with one type
/// ```
/// use kubeshape_smd::schema::{AtomId, Builder, MapDef, Ref, print_json};
/// let mut builder = Builder::new();
/// let fields = builder.open();
/// builder.field("name", Ref::inlined(AtomId::STRING), None);
/// let map = builder.map(fields, MapDef::default());
/// let atom = builder.atom(None, None, Some(map));
/// builder.type_def("pod", atom);
/// let schema = builder.finish()?;
///
/// let mut json = Vec::new();
/// print_json(&schema, &mut json);
/// assert_eq!(json, br#"{"types":[{"name":"pod","map":{"fields":[{"name":"name","type":{"scalar":"string"}}]}}]}"#);
/// # Ok::<(), kubeshape_smd::schema::BuildError>(())
/// ```
#[derive(Clone, Default)]
pub struct Schema {
    /// Every name, key and default, one after the other.
    pub(super) text: String,
    pub(super) types: Vec<TypeData>,
    /// The types' indices sorted by name; empty if the types themselves are sorted by name without duplicates.
    pub(super) by_name: Vec<u32>,
    pub(super) atoms: Vec<AtomData>,
    pub(super) lists: Vec<ListData>,
    pub(super) maps: Vec<MapData>,
    pub(super) fields: Vec<FieldData>,
    pub(super) keys: Vec<Text>,
    pub(super) unions: Vec<UnionData>,
    pub(super) union_fields: Vec<(Text, Text)>,
    /// Names of scalars and relationships beyond the known ones.
    pub(super) words: Vec<Text>,
}

/// The name of a scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar<'t> {
    /// `numeric`: integers and floats.
    Numeric,
    /// `string`
    String,
    /// `boolean`
    Boolean,
    /// `untyped`: any scalar.
    Untyped,
    /// Another name. A schema may contain it; it fails only for a value of that type.
    Other(&'t str),
}

impl<'t> Scalar<'t> {
    /// Returns the scalar with that name.
    pub fn from_name(name: &'t str) -> Self {
        match name {
            "numeric" => Scalar::Numeric,
            "string" => Scalar::String,
            "boolean" => Scalar::Boolean,
            "untyped" => Scalar::Untyped,
            other => Scalar::Other(other),
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'t str {
        match self {
            Scalar::Numeric => "numeric",
            Scalar::String => "string",
            Scalar::Boolean => "boolean",
            Scalar::Untyped => "untyped",
            Scalar::Other(name) => name,
        }
    }
}

/// How the items of a list or the members of a map are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relationship<'t> {
    /// `atomic`: replaced as a whole.
    Atomic,
    /// `associative`: a list's items are merged by their keys. Without keys, the list is a set.
    Associative,
    /// `separable`: a map's members are merged one by one; the same as an absent relationship.
    Separable,
    /// Another name. A schema may contain it.
    Other(&'t str),
}

impl<'t> Relationship<'t> {
    /// Returns the relationship with that name.
    pub fn from_name(name: &'t str) -> Self {
        match name {
            "atomic" => Relationship::Atomic,
            "associative" => Relationship::Associative,
            "separable" => Relationship::Separable,
            other => Relationship::Other(other),
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'t str {
        match self {
            Relationship::Atomic => "atomic",
            Relationship::Associative => "associative",
            Relationship::Separable => "separable",
            Relationship::Other(name) => name,
        }
    }
}

/// An atom of a builder or schema. The five atoms that need no storage are constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AtomId(pub(super) u32);

impl AtomId {
    /// Neither scalar nor list nor map: the atom of a type reference without contents.
    pub const EMPTY: AtomId = AtomId(0);
    /// A `numeric` scalar.
    pub const NUMERIC: AtomId = AtomId(1);
    /// A `string` scalar.
    pub const STRING: AtomId = AtomId(2);
    /// A `boolean` scalar.
    pub const BOOLEAN: AtomId = AtomId(3);
    /// An `untyped` scalar.
    pub const UNTYPED: AtomId = AtomId(4);

    /// The first id that is in [`Schema::atoms`].
    pub(super) const STORED: u32 = 5;
}

/// A list of a builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListId(pub(super) u32);

/// A map of a builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MapId(pub(super) u32);

/// A range of [`Schema::text`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    pub(super) at: u32,
    pub(super) len: u32,
}

impl Text {
    /// No text, as opposed to an empty one.
    pub(super) const NONE: Text = Text { at: 0, len: u32::MAX };

    #[inline]
    pub(super) fn is_none(self) -> bool {
        self.len == u32::MAX
    }
}

/// The name of a scalar or relationship: absent, a known one, or an index into [`Schema::words`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Word(pub(super) u32);

impl Word {
    pub(super) const NONE: Word = Word(0);
    const OTHER: u32 = 8;

    pub(super) fn other(index: usize) -> Word {
        Word(Word::OTHER.saturating_add(index as u32))
    }

    #[inline]
    pub(super) fn scalar(self, schema: &Schema) -> Option<Scalar<'_>> {
        match self.0 {
            0 => None,
            1 => Some(Scalar::Numeric),
            2 => Some(Scalar::String),
            3 => Some(Scalar::Boolean),
            4 => Some(Scalar::Untyped),
            n => Some(Scalar::Other(schema.word(n - Word::OTHER))),
        }
    }

    #[inline]
    pub(super) fn relationship(self, schema: &Schema) -> Option<Relationship<'_>> {
        match self.0 {
            0 => None,
            1 => Some(Relationship::Atomic),
            2 => Some(Relationship::Associative),
            3 => Some(Relationship::Separable),
            n => Some(Relationship::Other(schema.word(n - Word::OTHER))),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TypeData {
    pub(super) name: Text,
    pub(super) atom: AtomId,
}

/// A scalar, a list and a map, if present.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtomData {
    pub(super) list: u32,
    pub(super) map: u32,
    pub(super) scalar: Word,
    pub(super) depth: u16,
}

/// The index of an absent list or map.
pub(super) const ABSENT: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct RefData {
    pub(super) named: Text,
    pub(super) atom: AtomId,
    /// The override, shifted left by one, and in the lowest bit whether it is nullable.
    packed: u32,
}

impl RefData {
    #[inline]
    pub(super) fn new(named: Text, atom: AtomId, relationship: Word, nullable: bool) -> RefData {
        RefData { named, atom, packed: relationship.0 << 1 | u32::from(nullable) }
    }

    #[inline]
    pub(super) fn relationship(self) -> Word {
        Word(self.packed >> 1)
    }

    #[inline]
    pub(super) fn nullable(self) -> bool {
        self.packed & 1 != 0
    }

    /// Returns whether this is an inlined atom without an override.
    #[inline]
    pub(super) fn is_plain_atom(self) -> bool {
        self.named.is_none() && self.packed == 0
    }

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.is_plain_atom() && self.atom == AtomId::EMPTY
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FieldData {
    pub(super) name: Text,
    pub(super) type_ref: RefData,
    /// The default as JSON.
    pub(super) default: Text,
}

/// A range of one of the vectors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) at: u32,
    pub(super) len: u32,
}

impl Span {
    #[inline]
    pub(super) fn of<T>(self, all: &[T]) -> &[T] {
        &all[self.at as usize..self.at as usize + self.len as usize]
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ListData {
    pub(super) element: RefData,
    pub(super) keys: Span,
    pub(super) relationship: Word,
    pub(super) depth: u16,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MapData {
    pub(super) fields: Span,
    pub(super) unions: Span,
    pub(super) element: RefData,
    pub(super) relationship: Word,
    pub(super) depth: u16,
    /// Whether the fields are sorted by name without duplicates.
    pub(super) sorted: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct UnionData {
    pub(super) discriminator: Text,
    pub(super) fields: Span,
    pub(super) deduce_invalid: bool,
}

/// The atoms that need no storage.
const CONSTANT_ATOMS: [AtomData; AtomId::STORED as usize] = {
    const fn scalar(word: u32) -> AtomData {
        AtomData { list: ABSENT, map: ABSENT, scalar: Word(word), depth: 0 }
    }
    [scalar(0), scalar(1), scalar(2), scalar(3), scalar(4)]
};

impl Schema {
    #[inline]
    pub(super) fn str(&self, text: Text) -> &str {
        &self.text[text.at as usize..text.at as usize + text.len as usize]
    }

    #[inline]
    pub(super) fn optional_str(&self, text: Text) -> Option<&str> {
        (!text.is_none()).then(|| self.str(text))
    }

    fn word(&self, index: u32) -> &str {
        self.str(self.words[index as usize])
    }

    #[inline]
    pub(super) fn atom_data(&self, id: AtomId) -> &AtomData {
        match id.0.checked_sub(AtomId::STORED) {
            None => &CONSTANT_ATOMS[id.0 as usize],
            Some(index) => &self.atoms[index as usize],
        }
    }
}
