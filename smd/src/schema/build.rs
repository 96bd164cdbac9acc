//! Builds schemas.

use super::model::{
    ABSENT, AtomData, AtomId, FieldData, ListData, ListId, MAX_DEPTH, MapData, MapId, RefData, Relationship, Scalar,
    Schema, Span, Text, TypeData, UnionData, Word,
};
use kubeshape_schema::Json;
use kubeshape_schema::escape::Escape;

/// Why a schema could not be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// Inlined types nest deeper than [`MAX_DEPTH`].
    #[error("inlined types nest deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// There are more than 4 GiB of names, or as many fields.
    #[error("the schema is larger than 4 GiB")]
    TooLarge,
    /// An [`AtomId`], [`ListId`] or [`MapId`] came from another builder.
    #[error("an id comes from another builder")]
    ForeignId,
}

/// A type reference for the builder: a name or an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ref<'t> {
    /// The name of a type.
    pub named: Option<&'t str>,
    /// The type itself. Upstream's form allows both; then the name is used.
    pub inlined: AtomId,
    /// Replaces the type's own relationship.
    pub relationship: Option<Relationship<'t>>,
    /// Whether `null` is allowed.
    pub nullable: bool,
}

impl<'t> Ref<'t> {
    /// An empty reference. As the element type of a map, it means that undeclared keys are errors.
    pub const EMPTY: Ref<'static> = Ref { named: None, inlined: AtomId::EMPTY, relationship: None, nullable: false };

    /// Creates a reference to a named type.
    pub fn named(name: &'t str) -> Self {
        Ref { named: Some(name), ..Ref::EMPTY }
    }

    /// Creates a reference with an inlined atom.
    pub fn inlined(atom: AtomId) -> Self {
        Ref { inlined: atom, ..Ref::EMPTY }
    }
}

impl Default for Ref<'_> {
    fn default() -> Self {
        Ref::EMPTY
    }
}

/// The properties of a map in addition to its fields.
#[derive(Clone, Copy, Debug, Default)]
pub struct MapDef<'t> {
    /// The type of members that are not declared fields.
    pub element: Ref<'t>,
    /// How the members are merged.
    pub relationship: Option<Relationship<'t>>,
    /// The unions.
    pub unions: &'t [UnionDef<'t>],
}

/// A union for the builder.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnionDef<'t> {
    /// The field that says which field is set.
    pub discriminator: Option<&'t str>,
    /// Whether a wrong discriminator is corrected.
    pub deduce_invalid_discriminator: bool,
    /// The fields.
    pub fields: &'t [UnionFieldDef<'t>],
}

/// A field of a union for the builder.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnionFieldDef<'t> {
    /// The field's name.
    pub field_name: &'t str,
    /// The value of the discriminator if this field is set.
    pub discriminator_value: &'t str,
}

/// Where the fields of a map begin, see [`Builder::open`].
#[derive(Debug)]
pub struct Mark(usize);

/// Builds a [`Schema`] from the leaves up: a list, map or atom refers only to what was built before it.
///
/// # Example: a keyed list of structs
/// ```
/// use kubeshape_smd::schema::{AtomId, Builder, MapDef, Ref, Relationship};
/// let mut builder = Builder::new();
/// let fields = builder.open();
/// builder.field("port", Ref::inlined(AtomId::NUMERIC), None);
/// let port = builder.map(fields, MapDef::default());
/// let port = builder.atom(None, None, Some(port));
/// let ports = builder.list(Ref::inlined(port), Some(Relationship::Associative), ["port"]);
/// let ports = builder.atom(None, Some(ports), None);
/// builder.type_def("ports", ports);
/// let schema = builder.finish()?;
/// assert_eq!(schema.find_type("ports").unwrap().atom().list().unwrap().keys().len(), 1);
/// # Ok::<(), kubeshape_smd::schema::BuildError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    schema: Schema,
    /// Fields of maps that are still open.
    pending: Vec<FieldData>,
    /// A buffer for a default.
    scratch: Vec<u8>,
    error: Option<BuildError>,
}

impl Builder {
    /// Creates a builder without types.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Creates a builder that starts with the types of `base`. This copies a few flat vectors.
    pub fn extending(base: &Schema) -> Self {
        fn copy<T: Copy>(from: &[T], more: usize) -> Vec<T> {
            let mut to = Vec::with_capacity(from.len() + more);
            to.extend_from_slice(from);
            to
        }
        let mut text = String::with_capacity(base.text.len() + 4096);
        text.push_str(&base.text);
        let schema = Schema {
            text,
            types: copy(&base.types, 8),
            by_name: Vec::new(),
            atoms: copy(&base.atoms, 64),
            lists: copy(&base.lists, 16),
            maps: copy(&base.maps, 64),
            fields: copy(&base.fields, 256),
            keys: copy(&base.keys, 8),
            unions: base.unions.clone(),
            union_fields: base.union_fields.clone(),
            words: base.words.clone(),
        };
        Builder { schema, pending: Vec::new(), scratch: Vec::new(), error: None }
    }

    /// Begins a map: the fields from here to [`Builder::map`] with this mark are its fields. Other maps may be opened
    /// and closed in between.
    pub fn open(&mut self) -> Mark {
        Mark(self.pending.len())
    }

    /// Adds a field to the map that was opened last. A default of `null` is ignored.
    #[inline]
    pub fn field(&mut self, name: &str, type_ref: Ref<'_>, default: Option<&Json<'_>>) {
        let name = self.text(name);
        let type_ref = self.type_ref(type_ref);
        let default = match default {
            None | Some(Json::Null) => Text::NONE,
            Some(value) => self.json(value),
        };
        self.pending.push(FieldData { name, type_ref, default });
    }

    /// Ends a map.
    // The mark is consumed, so that no map is ended twice.
    #[allow(clippy::needless_pass_by_value)]
    pub fn map(&mut self, fields: Mark, def: MapDef<'_>) -> MapId {
        let element = self.type_ref(def.element);
        let relationship = self.map_relationship(def.relationship);
        let unions = self.unions(def.unions);
        let from = fields.0.min(self.pending.len());
        let schema = &mut self.schema;
        let fields = Span { at: schema.fields.len() as u32, len: (self.pending.len() - from) as u32 };
        schema.fields.extend_from_slice(&self.pending[from..]);
        let own = &self.pending[from..];
        let mut depth = schema.depth(element.atom);
        for field in own {
            depth = depth.max(schema.depth(field.type_ref.atom));
        }
        let sorted = own.windows(2).all(|w| schema.bytes(w[0].name) < schema.bytes(w[1].name));
        self.pending.truncate(from);
        let depth = self.deeper(depth);
        self.schema.maps.push(MapData { fields, unions, element, relationship, depth, sorted });
        MapId(self.schema.maps.len() as u32 - 1)
    }

    /// Adds a list.
    pub fn list<'t>(
        &mut self,
        element: Ref<'_>,
        relationship: Option<Relationship<'_>>,
        keys: impl IntoIterator<Item = &'t str>,
    ) -> ListId {
        let element = self.type_ref(element);
        let relationship = self.map_relationship(relationship);
        let at = self.schema.keys.len();
        for key in keys {
            let key = self.text(key);
            self.schema.keys.push(key);
        }
        let keys = Span { at: at as u32, len: (self.schema.keys.len() - at) as u32 };
        let depth = self.deeper(self.schema.depth(element.atom));
        self.schema.lists.push(ListData { element, keys, relationship, depth });
        ListId(self.schema.lists.len() as u32 - 1)
    }

    /// Adds an atom.
    pub fn atom(&mut self, scalar: Option<Scalar<'_>>, list: Option<ListId>, map: Option<MapId>) -> AtomId {
        if list.is_none() && map.is_none() {
            match scalar {
                None => return AtomId::EMPTY,
                Some(Scalar::Numeric) => return AtomId::NUMERIC,
                Some(Scalar::String) => return AtomId::STRING,
                Some(Scalar::Boolean) => return AtomId::BOOLEAN,
                Some(Scalar::Untyped) => return AtomId::UNTYPED,
                Some(Scalar::Other(_)) => {}
            }
        }
        let scalar = match scalar {
            None => Word::NONE,
            Some(Scalar::Numeric) => Word(1),
            Some(Scalar::String) => Word(2),
            Some(Scalar::Boolean) => Word(3),
            Some(Scalar::Untyped) => Word(4),
            Some(Scalar::Other(name)) => self.word(name),
        };
        let mut data = AtomData { list: ABSENT, map: ABSENT, scalar, depth: 0 };
        if let Some(ListId(id)) = list {
            match self.schema.lists.get(id as usize) {
                Some(list) => (data.list, data.depth) = (id, list.depth),
                None => self.fail(BuildError::ForeignId),
            }
        }
        if let Some(MapId(id)) = map {
            match self.schema.maps.get(id as usize) {
                Some(map) => (data.map, data.depth) = (id, data.depth.max(map.depth)),
                None => self.fail(BuildError::ForeignId),
            }
        }
        self.schema.atoms.push(data);
        AtomId(AtomId::STORED.saturating_add(self.schema.atoms.len() as u32 - 1))
    }

    /// Adds a type.
    pub fn type_def(&mut self, name: &str, atom: AtomId) {
        let name = self.text(name);
        let atom = self.known(atom);
        self.schema.types.push(TypeData { name, atom });
    }

    /// Sorts the types by the bytes of their names. Types with the same name keep their order.
    pub fn sort_types(&mut self) {
        let text = &self.schema.text;
        let name = |t: &TypeData| &text.as_bytes()[t.name.at as usize..][..t.name.len as usize];
        self.schema.types.sort_by(|a, b| name(a).cmp(name(b)));
    }

    /// Returns the finished schema.
    ///
    /// # Errors
    /// It is too deep or too large, or was built with ids of another builder.
    pub fn finish(mut self) -> Result<Schema, BuildError> {
        let s = &self.schema;
        let most = [s.text.len(), s.types.len(), s.fields.len(), s.keys.len(), s.atoms.len() + AtomId::STORED as usize];
        // Below half of the range, packed and marked values fit, too.
        if most.into_iter().chain([s.words.len() + 8]).any(|n| n >= u32::MAX as usize / 2) {
            return Err(BuildError::TooLarge);
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        let ascending = s.types.windows(2).all(|w| s.bytes(w[0].name) < s.bytes(w[1].name));
        if !ascending {
            let mut by_name: Vec<u32> = (0..s.types.len() as u32).collect();
            by_name.sort_by(|a, b| s.bytes(s.types[*a as usize].name).cmp(s.bytes(s.types[*b as usize].name)));
            self.schema.by_name = by_name;
        }
        Ok(self.schema)
    }

    #[cold]
    fn fail(&mut self, error: BuildError) {
        self.error.get_or_insert(error);
    }

    /// Returns one level more than that of the parts.
    #[inline]
    fn deeper(&mut self, depth: u16) -> u16 {
        if depth >= MAX_DEPTH {
            self.fail(BuildError::TooDeep);
            return depth;
        }
        depth + 1
    }

    #[inline]
    fn known(&mut self, atom: AtomId) -> AtomId {
        if atom.0 as usize >= self.schema.atoms.len() + AtomId::STORED as usize {
            self.fail(BuildError::ForeignId);
            return AtomId::EMPTY;
        }
        atom
    }

    #[inline]
    fn text(&mut self, text: &str) -> Text {
        let at = self.schema.text.len() as u32;
        self.schema.text.push_str(text);
        Text { at, len: text.len() as u32 }
    }

    fn json(&mut self, value: &Json<'_>) -> Text {
        self.scratch.clear();
        value.print(&mut self.scratch, Escape::Plain);
        let at = self.schema.text.len() as u32;
        // The printer prints UTF-8 if all strings are UTF-8.
        self.schema.text.push_str(std::str::from_utf8(&self.scratch).unwrap_or("null"));
        Text { at, len: self.schema.text.len() as u32 - at }
    }

    #[inline]
    fn type_ref(&mut self, type_ref: Ref<'_>) -> RefData {
        let named = match type_ref.named {
            None => Text::NONE,
            Some(name) => self.text(name),
        };
        let relationship = match type_ref.relationship {
            None => Word::NONE,
            Some(relationship) => self.relationship(relationship),
        };
        let atom = self.known(type_ref.inlined);
        RefData::new(named, atom, relationship, type_ref.nullable)
    }

    fn relationship(&mut self, relationship: Relationship<'_>) -> Word {
        match relationship {
            Relationship::Atomic => Word(1),
            Relationship::Associative => Word(2),
            Relationship::Separable => Word(3),
            Relationship::Other(name) => self.word(name),
        }
    }

    /// In a list or map (not in a reference), an empty relationship is the same as an absent one.
    fn map_relationship(&mut self, relationship: Option<Relationship<'_>>) -> Word {
        match relationship {
            None | Some(Relationship::Other("")) => Word::NONE,
            Some(relationship) => self.relationship(relationship),
        }
    }

    #[cold]
    fn word(&mut self, name: &str) -> Word {
        if let Some(index) = self.schema.words.iter().position(|word| self.schema.str(*word) == name) {
            return Word::other(index);
        }
        let name = self.text(name);
        self.schema.words.push(name);
        Word::other(self.schema.words.len() - 1)
    }

    fn unions(&mut self, unions: &[UnionDef<'_>]) -> Span {
        let at = self.schema.unions.len() as u32;
        for union in unions {
            let discriminator = union.discriminator.map_or(Text::NONE, |name| self.text(name));
            let fields = Span { at: self.schema.union_fields.len() as u32, len: union.fields.len() as u32 };
            for field in union.fields {
                let pair = (self.text(field.field_name), self.text(field.discriminator_value));
                self.schema.union_fields.push(pair);
            }
            let deduce_invalid = union.deduce_invalid_discriminator;
            self.schema.unions.push(UnionData { discriminator, fields, deduce_invalid });
        }
        Span { at, len: unions.len() as u32 }
    }
}

impl Schema {
    #[inline]
    fn depth(&self, atom: AtomId) -> u16 {
        if atom.0 < AtomId::STORED { 0 } else { self.atom_data(atom).depth }
    }

    #[inline]
    fn bytes(&self, text: Text) -> &[u8] {
        &self.text.as_bytes()[text.at as usize..text.at as usize + text.len as usize]
    }
}
