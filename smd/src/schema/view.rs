//! Views of a [`Schema`]: small values that borrow it.

use super::model::{
    ABSENT, AtomId, FieldData, ListData, MapData, RefData, Relationship, Scalar, Schema, Text, TypeData, UnionData,
    Word,
};

impl Schema {
    /// Returns the types in order.
    pub fn types(&self) -> Types<'_> {
        Types { schema: self, inner: self.types.iter() }
    }

    /// Returns the type with that name; of several, the last one, as upstream.
    ///
    /// # Example: look up a type
    /// ```
    /// let schema = kubeshape_smd::schema::deduced();
    /// assert!(schema.find_type("__untyped_atomic_").is_some());
    /// assert!(schema.find_type("pod").is_none());
    /// ```
    pub fn find_type(&self, name: &str) -> Option<TypeDef<'_>> {
        let data = if self.by_name.is_empty() {
            let at = self.types.binary_search_by(|t| self.str(t.name).cmp(name)).ok()?;
            &self.types[at]
        } else {
            let behind = self.by_name.partition_point(|at| self.str(self.types[*at as usize].name) <= name);
            let at = *self.by_name.get(behind.checked_sub(1)?)?;
            let data = &self.types[at as usize];
            if self.str(data.name) != name {
                return None;
            }
            data
        };
        Some(TypeDef { schema: self, data })
    }

    /// Returns the atom of a type reference, with the reference's override applied: to the map if there is one, else to
    /// the list. Returns `None` if the named type does not exist, or if there is neither map nor list to override. A
    /// reference without name and content gives the empty atom (upstream `Schema.Resolve`).
    ///
    /// # Example: follow a reference
    /// ```
    /// let schema = kubeshape_smd::schema::deduced();
    /// let deduced = schema.find_type("__untyped_deduced_").unwrap().atom();
    /// let items = schema.resolve(deduced.list().unwrap().element_type()).unwrap();
    /// assert_eq!(items, schema.find_type("__untyped_atomic_").unwrap().atom());
    /// ```
    pub fn resolve<'s>(&'s self, type_ref: TypeRef<'s>) -> Option<Atom<'s>> {
        let atom = match type_ref.named() {
            Some(name) => self.find_type(name)?.atom(),
            None => type_ref.inlined(),
        };
        if type_ref.data.relationship() == Word::NONE {
            return Some(atom);
        }
        let data = atom.schema.atom_data(atom.id);
        if data.map == ABSENT && data.list == ABSENT {
            return None;
        }
        Some(Atom { overriding: type_ref.relationship(), ..atom })
    }
}

/// A named type.
#[derive(Clone, Copy)]
pub struct TypeDef<'s> {
    pub(super) schema: &'s Schema,
    pub(super) data: &'s TypeData,
}

impl<'s> TypeDef<'s> {
    /// The name.
    pub fn name(self) -> &'s str {
        self.schema.str(self.data.name)
    }

    /// Returns the atom of the type.
    pub fn atom(self) -> Atom<'s> {
        Atom::new(self.schema, self.data.atom)
    }
}

/// A scalar, a list, a map, or several of these, between which the value chooses.
#[derive(Clone, Copy)]
pub struct Atom<'s> {
    pub(super) schema: &'s Schema,
    pub(super) id: AtomId,
    /// The relationship from the type reference, for the map or, without a map, for the list.
    pub(super) overriding: Option<Relationship<'s>>,
}

impl<'s> Atom<'s> {
    #[inline]
    pub(super) fn new(schema: &'s Schema, id: AtomId) -> Self {
        Atom { schema, id, overriding: None }
    }

    /// Returns the atom of the schema, without the reference's override.
    #[inline]
    pub(crate) fn id(self) -> AtomId {
        self.id
    }

    /// The scalar type.
    #[inline]
    pub fn scalar(self) -> Option<Scalar<'s>> {
        self.schema.atom_data(self.id).scalar.scalar(self.schema)
    }

    /// The list.
    #[inline]
    pub fn list(self) -> Option<List<'s>> {
        let data = self.schema.atom_data(self.id);
        let overriding = if data.map == ABSENT { self.overriding } else { None };
        self.schema.lists.get(data.list as usize).map(|list| List { schema: self.schema, data: list, overriding })
    }

    /// The map or struct.
    #[inline]
    pub fn map(self) -> Option<Map<'s>> {
        let data = self.schema.atom_data(self.id);
        let overriding = self.overriding;
        self.schema.maps.get(data.map as usize).map(|map| Map { schema: self.schema, data: map, overriding })
    }

    /// Returns whether it is neither scalar nor list nor map.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.id == AtomId::EMPTY
    }
}

/// A reference to a type: a name, or an inlined atom.
#[derive(Clone, Copy)]
pub struct TypeRef<'s> {
    pub(super) schema: &'s Schema,
    pub(super) data: &'s RefData,
}

impl<'s> TypeRef<'s> {
    /// Returns the name of the type; the type need not exist. It has priority over [`TypeRef::inlined`].
    #[inline]
    pub fn named(self) -> Option<&'s str> {
        self.schema.optional_str(self.data.named)
    }

    /// Returns the inlined type, which is empty if the reference has a name.
    #[inline]
    pub fn inlined(self) -> Atom<'s> {
        Atom::new(self.schema, self.data.atom)
    }

    /// Returns the relationship that replaces the map's or list's own.
    #[inline]
    pub fn relationship(self) -> Option<Relationship<'s>> {
        self.data.relationship().relationship(self.schema)
    }

    /// Returns whether `null` is allowed. No algorithm of structured merge diff uses it.
    #[inline]
    pub fn nullable(self) -> bool {
        self.data.nullable()
    }

    /// Returns whether the reference is empty. As the element type of a map, this means that undeclared keys are
    /// errors.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.data.is_empty()
    }
}

/// A list.
#[derive(Clone, Copy)]
pub struct List<'s> {
    pub(super) schema: &'s Schema,
    pub(super) data: &'s ListData,
    overriding: Option<Relationship<'s>>,
}

impl<'s> List<'s> {
    /// Returns the type of the items.
    pub fn element_type(self) -> TypeRef<'s> {
        TypeRef { schema: self.schema, data: &self.data.element }
    }

    /// Returns how the items are merged. There is no default.
    pub fn relationship(self) -> Option<Relationship<'s>> {
        self.overriding.or_else(|| self.data.relationship.relationship(self.schema))
    }

    /// Returns the fields that together identify an item of an associative list; without them, the list is a set.
    pub fn keys(self) -> Keys<'s> {
        Keys { schema: self.schema, inner: self.data.keys.of(&self.schema.keys).iter() }
    }
}

/// A map or a struct.
#[derive(Clone, Copy)]
pub struct Map<'s> {
    pub(super) schema: &'s Schema,
    pub(super) data: &'s MapData,
    overriding: Option<Relationship<'s>>,
}

impl<'s> Map<'s> {
    /// Returns the declared fields in order.
    pub fn fields(self) -> Fields<'s> {
        Fields { schema: self.schema, inner: self.data.fields.of(&self.schema.fields).iter() }
    }

    /// Returns the field with that name; of several, the last one, as upstream.
    pub fn field(self, name: &str) -> Option<Field<'s>> {
        let fields = self.data.fields.of(&self.schema.fields);
        let data = if self.data.sorted {
            &fields[fields.binary_search_by(|field| self.schema.str(field.name).cmp(name)).ok()?]
        } else {
            fields.iter().rev().find(|field| self.schema.str(field.name) == name)?
        };
        Some(Field { schema: self.schema, data })
    }

    /// Returns the unions. They are stored, but no algorithm uses them.
    pub fn unions(self) -> Unions<'s> {
        Unions { schema: self.schema, inner: self.data.unions.of(&self.schema.unions).iter() }
    }

    /// Returns the type of the members that are not declared fields; it is empty if there must be none.
    pub fn element_type(self) -> TypeRef<'s> {
        TypeRef { schema: self.schema, data: &self.data.element }
    }

    /// Returns how the members are merged; `None` is the same as separable.
    pub fn relationship(self) -> Option<Relationship<'s>> {
        self.overriding.or_else(|| self.data.relationship.relationship(self.schema))
    }
}

/// A declared field.
#[derive(Clone, Copy)]
pub struct Field<'s> {
    pub(super) schema: &'s Schema,
    pub(super) data: &'s FieldData,
}

impl<'s> Field<'s> {
    /// The name.
    pub fn name(self) -> &'s str {
        self.schema.str(self.data.name)
    }

    /// The type.
    pub fn type_ref(self) -> TypeRef<'s> {
        TypeRef { schema: self.schema, data: &self.data.type_ref }
    }

    /// Returns the default as compact JSON with sorted keys.
    pub fn default_json(self) -> Option<&'s str> {
        self.schema.optional_str(self.data.default)
    }
}

/// A union: fields of which one is set.
#[derive(Clone, Copy)]
pub struct Union<'s> {
    schema: &'s Schema,
    data: &'s UnionData,
}

impl<'s> Union<'s> {
    /// Returns the field that says which field is set.
    pub fn discriminator(self) -> Option<&'s str> {
        self.schema.optional_str(self.data.discriminator)
    }

    /// Returns whether a wrong discriminator is corrected.
    pub fn deduce_invalid_discriminator(self) -> bool {
        self.data.deduce_invalid
    }

    /// The fields.
    pub fn fields(self) -> UnionFields<'s> {
        UnionFields { schema: self.schema, inner: self.data.fields.of(&self.schema.union_fields).iter() }
    }
}

/// A field of a union.
#[derive(Clone, Copy)]
pub struct UnionField<'s> {
    schema: &'s Schema,
    data: &'s (Text, Text),
}

impl<'s> UnionField<'s> {
    /// The field's name.
    pub fn field_name(self) -> &'s str {
        self.schema.str(self.data.0)
    }

    /// Returns the value of the discriminator if this field is set.
    pub fn discriminator_value(self) -> &'s str {
        self.schema.str(self.data.1)
    }
}

macro_rules! iterators {
    ($($(#[$doc:meta])* $name:ident: $data:ty => $item:ty, |$schema:ident, $value:ident| $make:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name<'s> {
            schema: &'s Schema,
            inner: std::slice::Iter<'s, $data>,
        }

        impl<'s> Iterator for $name<'s> {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<$item> {
                let $schema = self.schema;
                self.inner.next().map(|$value| $make)
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                self.inner.size_hint()
            }
        }

        impl DoubleEndedIterator for $name<'_> {
            fn next_back(&mut self) -> Option<Self::Item> {
                let $schema = self.schema;
                self.inner.next_back().map(|$value| $make)
            }
        }

        impl ExactSizeIterator for $name<'_> {}
    )*};
}

iterators! {
    /// The types of a schema.
    Types: TypeData => TypeDef<'s>, |schema, data| TypeDef { schema, data };
    /// The fields of a map.
    Fields: FieldData => Field<'s>, |schema, data| Field { schema, data };
    /// The keys of a list.
    Keys: Text => &'s str, |schema, text| schema.str(*text);
    /// The unions of a map.
    Unions: UnionData => Union<'s>, |schema, data| Union { schema, data };
    /// The fields of a union.
    UnionFields: (Text, Text) => UnionField<'s>, |schema, data| UnionField { schema, data };
}
