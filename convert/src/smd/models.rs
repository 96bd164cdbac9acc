//! The converter through models. One walk over the source does upstream's three steps: gnostic's OpenAPI v2 form,
//! models of it, and types of these.

use super::merging::{self, KeyNames, ListMerge, ListWords, Said};
use super::references::last_segment;
use super::unions::{self, Union};
use super::{Built, Options, QUANTITY, RAW_EXTENSION, SmdError, nested};
use crate::proto::is_unquoted_text;
use kubeshape_schema::{Bump, Json};
use kubeshape_smd::schema::{
    self as smd, AtomId, BuildError, Builder, MAX_DEPTH, MapDef, Ref, Relationship, UNTYPED_ATOMIC, UNTYPED_DEDUCED,
    UnionDef,
};
use kubeshape_yaml::{Kind, Node};

/// Returns a default as upstream reads it. gnostic prints it as YAML 1.2, and upstream's reader reads it as YAML 1.1,
/// so a string such as `yes` becomes a boolean.
fn read_again<'a>(value: Json<'a>, arena: &'a Bump) -> Json<'a> {
    match value {
        Json::Str(text) if is_unquoted_text(text) => match kubeshape_yaml::plain_scalar(text) {
            Kind::True => Json::Bool(true),
            Kind::False => Json::Bool(false),
            _ => value,
        },
        Json::Array(items) => {
            Json::Array(arena.alloc_slice_fill_iter(items.iter().map(|item| read_again(*item, arena))))
        }
        Json::Object(members) => {
            let members = members.iter().map(|(name, value)| (*name, read_again(*value, arena)));
            Json::Object(arena.alloc_slice_fill_iter(members))
        }
        _ => value,
    }
}

/// Converts the definitions and adds their types to those of `builder`, sorted by name.
pub(super) fn convert(builder: Builder, definitions: Option<Node<'_>>, options: Options) -> Built {
    let arena = Bump::new();
    let definitions = definitions.map_or_else(Vec::new, sorted_pairs);
    let mut converter = Converter {
        builder,
        definitions: &definitions,
        arena: &arena,
        errors: Vec::new(),
        refusals: Vec::new(),
        path: Vec::new(),
        any: None,
    };
    for (name, node) in &definitions {
        converter.definition(name, *node, options.preserve_unknown);
    }
    let Converter { mut builder, errors, mut refusals, .. } = converter;
    if !refusals.is_empty() {
        // Models are built in document order. Nothing is converted before all of them are built.
        if definitions.first().is_some_and(|(_, node)| node.document().is_json()) {
            refusals.sort_by_key(|error| error.at);
        }
        return Err(refusals);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    builder.sort_types();
    builder.finish().map_err(|error| vec![SmdError { text: error.to_string(), at: 0 }])
}

/// Returns the pairs of a mapping, sorted by the bytes of their keys. Of a repeated key, the last is used.
fn sorted_pairs(node: Node<'_>) -> Vec<(&str, Node<'_>)> {
    let mut pairs: Vec<_> = node.pairs().map(|(key, value)| (key.text(), value)).collect();
    if !pairs.windows(2).all(|pair| pair[0].0 < pair[1].0) {
        pairs.reverse();
        pairs.sort_by_key(|(name, _)| *name);
        pairs.dedup_by_key(|(name, _)| *name);
    }
    pairs
}

struct Converter<'c, 'n> {
    builder: Builder,
    /// Sorted by name.
    definitions: &'c [(&'n str, Node<'n>)],
    /// The arena for free values.
    arena: &'n Bump,
    errors: Vec<SmdError>,
    /// Why there are no models.
    refusals: Vec<SmdError>,
    /// The definition and the fields that lead to the current value.
    path: Vec<&'n str>,
    /// The atom of any value, created when it is first needed.
    any: Option<AtomId>,
}

/// The position of a value in its definition.
#[derive(Clone, Copy)]
struct Place {
    /// Unknown fields are preserved here, by the options or by a record further out.
    preserve: bool,
    /// The number of values around it.
    depth: u16,
}

impl Place {
    fn inside(self) -> Place {
        Place { depth: self.depth + 1, ..self }
    }
}

/// The members of a schema that models use.
#[derive(Clone, Copy, Default)]
struct Members<'n> {
    reference: &'n str,
    ty: Option<Node<'n>>,
    format: &'n str,
    properties: Option<Node<'n>>,
    items: Option<Node<'n>>,
    additional: Option<Node<'n>>,
    default: Option<Node<'n>>,
    /// Whether there are extensions that affect merging.
    extended: bool,
}

impl<'n> Members<'n> {
    fn new(node: Node<'n>) -> Self {
        let mut members = Members::default();
        for (key, value) in node.pairs() {
            match key.text() {
                "$ref" => members.reference = text(value),
                "type" => members.ty = Some(value),
                "format" => members.format = text(value),
                "properties" => members.properties = Some(value),
                "items" => members.items = Some(value),
                "additionalProperties" => members.additional = Some(value),
                "default" => members.default = Some(value).filter(|value| !value.is_null()),
                name => members.extended |= name.starts_with("x-kubernetes-"),
            }
        }
        members
    }

    /// Returns the types, if there are any.
    fn types(&self) -> Types<'n> {
        match self.ty {
            None => Types::None,
            Some(node) if node.kind() == Kind::Seq => {
                let mut names = node.items().map(Node::text);
                match (names.next(), names.next()) {
                    (None, _) => Types::None,
                    (Some(only), None) => Types::One(only),
                    (Some(_), Some(_)) => Types::Several,
                }
            }
            Some(node) => Types::One(node.text()),
        }
    }
}

enum Types<'n> {
    None,
    One(&'n str),
    Several,
}

/// Returns a string as gnostic reads it. gnostic also accepts integers as strings.
fn text(node: Node<'_>) -> &str {
    if matches!(node.kind(), Kind::Str | Kind::Int) { node.text() } else { "" }
}

impl<'n> Converter<'_, 'n> {
    fn definition(&mut self, name: &'n str, node: Node<'n>, preserve: bool) {
        self.path.push(name);
        let members = Members::new(node);
        if members.reference.is_empty() {
            let atom = self.atom(node, &members, Place { preserve, depth: 0 });
            self.builder.type_def(name, atom);
        } else {
            // A definition that is only a reference is not a type, but its target must be one.
            self.referenced(node, &members);
        }
        self.path.clear();
    }

    #[cold]
    fn report(&mut self, node: Node<'_>, place: Place, message: &str) {
        let definition = self.path.first().copied().unwrap_or_default();
        self.errors.push(SmdError { text: nested(place.depth, definition, message), at: node.index() });
    }

    #[cold]
    fn refuse(&mut self, node: Node<'_>, message: &str) {
        let path = self.path.join(".");
        self.refusals.push(SmdError { text: format!("SchemaError({path}): {message}"), at: node.index() });
    }

    /// Returns the model of a field, an item or a member.
    fn type_ref(&mut self, node: Node<'n>, members: &Members<'n>, place: Place) -> Ref<'n> {
        if !members.reference.is_empty() {
            return self.reference(node, members, place);
        }
        let place = place.inside();
        if place.depth > MAX_DEPTH {
            self.report(node, Place { depth: 0, ..place }, &BuildError::TooDeep.to_string());
            return Ref::EMPTY;
        }
        Ref::inlined(self.atom(node, members, place))
    }

    fn reference(&mut self, node: Node<'n>, members: &Members<'n>, place: Place) -> Ref<'n> {
        match self.referenced(node, members) {
            None => Ref::EMPTY,
            Some(RAW_EXTENSION) => Ref::named(UNTYPED_ATOMIC),
            Some(name) => {
                let relationship = self.map_relationship(node, members, place);
                Ref { relationship, ..Ref::named(last_segment(name)) }
            }
        }
    }

    /// Returns the definition to which a schema refers.
    fn referenced(&mut self, node: Node<'n>, members: &Members<'n>) -> Option<&'n str> {
        let reference = members.reference;
        if members.properties.is_some_and(|properties| properties.kind() == Kind::Map && !properties.is_empty()) {
            self.refuse(node, "unallowed embedded type definition");
        } else if !matches!(members.types(), Types::None) {
            self.refuse(node, "definition reference can't have a type");
        } else if let Some(name) = reference.strip_prefix("#/definitions/") {
            if self.definitions.binary_search_by(|(other, _)| (*other).cmp(name)).is_ok() {
                return Some(name);
            }
            self.refuse(node, &format!("unknown model in reference: {name:?}"));
        } else {
            self.refuse(node, &format!("unallowed reference to non-definition {reference:?}"));
        }
        None
    }

    fn atom(&mut self, node: Node<'n>, members: &Members<'n>, place: Place) -> AtomId {
        let name = match members.types() {
            Types::None => {
                return match members.properties {
                    Some(properties) => self.record(node, members, properties, place),
                    None => self.any_value(),
                };
            }
            Types::Several => {
                self.refuse(node, "definitions with multiple types aren't supported");
                return AtomId::EMPTY;
            }
            Types::One(name) => name,
        };
        let scalar = match name {
            "object" => {
                return match members.properties {
                    Some(properties) => self.record(node, members, properties, place),
                    None => self.map(node, members, place),
                };
            }
            "array" => return self.list(node, members, place),
            "string" if matches!(members.format, "" | "byte") => AtomId::STRING,
            "string" => AtomId::UNTYPED,
            "integer" | "number" => AtomId::NUMERIC,
            "boolean" => AtomId::BOOLEAN,
            _ => {
                self.refuse(node, &format!("Unknown primitive type: {name:?}"));
                return AtomId::EMPTY;
            }
        };
        // Only the definition itself has this name, not the schemas that are inlined in it.
        if place.depth == 0 && self.path == [QUANTITY] { AtomId::UNTYPED } else { scalar }
    }

    /// Returns the atom of any value, whose shape is deduced.
    fn any_value(&mut self) -> AtomId {
        *self.any.get_or_insert_with(|| smd::untyped_deduced_atom(&mut self.builder))
    }

    fn record(&mut self, node: Node<'n>, members: &Members<'n>, properties: Node<'n>, mut place: Place) -> AtomId {
        place.preserve |=
            members.extended && node.get("x-kubernetes-preserve-unknown-fields").and_then(Node::as_bool) == Some(true);
        let fields = self.builder.open();
        if properties.document().is_json() {
            for (key, value) in properties.pairs() {
                self.field(key.text(), value, place);
            }
        } else {
            for (name, value) in sorted_pairs(properties) {
                self.field(name, value, place);
            }
        }
        let unions = if members.extended { node.get(unions::UNIONS) } else { None };
        let unions = unions.map_or(Ok(Vec::new()), |unions| unions::unions(&Json::read(unions, self.arena)));
        // Upstream stops at wrong unions.
        let (unions, relationship) = match unions {
            Ok(unions) => (unions, self.map_relationship(node, members, place)),
            Err(error) => {
                self.report(node, place, &error);
                (Vec::new(), None)
            }
        };
        let unions: Vec<UnionDef<'_>> = unions.iter().map(Union::def).collect();
        let element = if place.preserve { Ref::named(UNTYPED_DEDUCED) } else { Ref::EMPTY };
        let map = self.builder.map(fields, MapDef { element, relationship, unions: &unions });
        self.builder.atom(None, None, Some(map))
    }

    fn field(&mut self, name: &'n str, node: Node<'n>, place: Place) {
        let members = Members::new(node);
        self.path.push(name);
        let type_ref = self.type_ref(node, &members, place);
        self.path.pop();
        match members.default {
            None => self.builder.field(name, type_ref, None),
            Some(default) => {
                let default = read_again(Json::read(default, self.arena), self.arena);
                self.builder.field(name, type_ref, Some(&default));
            }
        }
    }

    fn map(&mut self, node: Node<'n>, members: &Members<'n>, place: Place) -> AtomId {
        let relationship = self.map_relationship(node, members, place);
        let element = match members.additional {
            Some(additional) if additional.kind() == Kind::Map => {
                self.type_ref(additional, &Members::new(additional), place)
            }
            _ => Ref::inlined(self.any_value()),
        };
        let fields = self.builder.open();
        let map = self.builder.map(fields, MapDef { element, relationship, unions: &[] });
        self.builder.atom(None, None, Some(map))
    }

    fn list(&mut self, node: Node<'n>, members: &Members<'n>, place: Place) -> AtomId {
        let Some(items) = members.items else {
            self.refuse(node, "array should have exactly one sub-item");
            return AtomId::EMPTY;
        };
        let merge = if members.extended { self.list_merge(node) } else { ListMerge::ATOMIC };
        if let Some(error) = &merge.error {
            self.report(node, place, error);
        }
        // Anything but a mapping, such as a list of schemas, is an empty schema.
        let element = self.type_ref(items, &Members::new(items), place);
        let list = self.builder.list(element, Some(merge.relationship), merge.keys.iter().copied());
        self.builder.atom(None, Some(list), None)
    }

    fn list_merge(&self, node: Node<'n>) -> ListMerge<'n> {
        let said = |name| node.get(name).map_or(Said::Nothing, |value| self.said(value));
        let keys = node.get(merging::MAP_KEYS);
        ListMerge::new(ListWords {
            list_type: said(merging::LIST_TYPE),
            keys: keys.map_or(KeyNames::Absent, |keys| KeyNames::json(&Json::read(keys, self.arena))),
            strategy: said(merging::PATCH_STRATEGY),
            merge_key: said(merging::MERGE_KEY),
        })
    }

    fn said(&self, value: Node<'n>) -> Said<'n> {
        match value.as_str() {
            Some(text) => Said::Text(text),
            None => Said::json(&Json::read(value, self.arena)),
        }
    }

    fn map_relationship(
        &mut self,
        node: Node<'n>,
        members: &Members<'n>,
        place: Place,
    ) -> Option<Relationship<'static>> {
        if !members.extended {
            return None;
        }
        let said = self.said(node.get(merging::MAP_TYPE)?);
        merging::map_relationship(said).unwrap_or_else(|error| {
            self.report(node, place, &error);
            None
        })
    }
}
