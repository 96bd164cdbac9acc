//! Reads schemas from their written form.
//!
//! Upstream checks the document against a schema of schemas and then decodes it (`typed.NewParser`). Here, one walk
//! does both, with the rules of that schema written out: types and fields are identified by their names, fields of
//! unions by their field names. Unknown members and repeated names are errors. Names of scalars, relationships and
//! types are not checked.

use super::build::{BuildError, Builder, MapDef, Ref, UnionDef, UnionFieldDef};
use super::model::{AtomId, ListId, MAX_DEPTH, MapId, Relationship, Scalar, Schema};
use kubeshape_schema::{Bump, Json};
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

/// An error in a written schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The path, as upstream writes paths: `.types[name="pod"].map`; empty for the document.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// Location: the entry in the document's tape.
    pub at: u32,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

/// All errors in a written schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ReadErrors(
    /// In document order, never empty.
    pub Vec<ReadError>,
);

impl fmt::Display for ReadErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unable to validate schema: ")?;
        match self.0.as_slice() {
            [one] => one.fmt(f),
            errors => {
                f.write_str("errors:")?;
                errors.iter().try_for_each(|error| write!(f, "\n  {error}"))
            }
        }
    }
}

/// Reads a schema from its YAML or JSON form. A null, such as the empty document, is the empty schema.
///
/// # Errors
/// All errors in the document, each with its location.
///
/// # Example: upstream's message
/// ```
/// use kubeshape_smd::schema;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = "types: [{name: a, zz: 1}]";
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let errors = schema::read(tape.document(source).root().unwrap()).unwrap_err();
/// assert_eq!(
///     errors.to_string(),
///     r#"unable to validate schema: .types[name="a"].zz: field not declared in schema"#,
/// );
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn read(node: Node<'_>) -> Result<Schema, ReadErrors> {
    let arena = Bump::new();
    let mut reader =
        Reader { builder: Builder::new(), errors: Vec::new(), path: String::new(), depth: 0, arena: &arena };
    reader.schema(node);
    let Reader { builder, mut errors, .. } = reader;
    let schema = builder.finish().map_err(|error| {
        if errors.is_empty() {
            errors.push(ReadError { path: String::new(), message: error.to_string(), at: node.index() });
        }
    });
    match schema {
        Ok(schema) if errors.is_empty() => Ok(schema),
        _ => Err(ReadErrors(errors)),
    }
}

struct Reader<'b> {
    builder: Builder,
    errors: Vec<ReadError>,
    /// The path of the current node.
    path: String,
    /// The number of inlined types around it.
    depth: u16,
    /// Memory for defaults until they are in the builder.
    arena: &'b Bump,
}

/// The members of an atom, which a type and a reference have in addition to their own.
const SCALAR: &str = "scalar";
const LIST: &str = "list";
const MAP: &str = "map";
/// The schema of schemas has it, but it has no meaning.
const UNTYPED: &str = "untyped";

impl Reader<'_> {
    fn schema(&mut self, node: Node<'_>) {
        let [types] = self.members(node, ["types"]);
        self.keyed(types, "types", "name", |reader, name, node| {
            let [_, scalar, list, map, untyped] = reader.members(node, ["name", SCALAR, LIST, MAP, UNTYPED]);
            let atom = reader.atom([scalar, list, map, untyped]);
            reader.builder.type_def(name, atom);
        });
    }

    fn atom(&mut self, [scalar, list, map, untyped]: [Option<Node<'_>>; 4]) -> AtomId {
        let scalar = self.text(scalar, SCALAR).map(Scalar::from_name);
        let list = list.map(|node| self.within(LIST, |reader| reader.list(node)));
        let map = map.map(|node| self.within(MAP, |reader| reader.map(node)));
        if let Some(node) = untyped {
            self.within(UNTYPED, |reader| {
                let [relationship] = reader.members(node, ["elementRelationship"]);
                reader.relationship(relationship);
            });
        }
        self.builder.atom(scalar, list, map)
    }

    fn type_ref<'n>(&mut self, node: Option<Node<'n>>, key: &str) -> Ref<'n> {
        let Some(node) = node else { return Ref::EMPTY };
        if self.depth >= MAX_DEPTH {
            self.error(node, &BuildError::TooDeep.to_string());
            return Ref::EMPTY;
        }
        self.depth += 1;
        let type_ref = self.within(key, |reader| {
            let keys = ["namedType", SCALAR, LIST, MAP, UNTYPED, "elementRelationship", "nullable"];
            let [named, scalar, list, map, untyped, relationship, nullable] = reader.members(node, keys);
            Ref {
                named: reader.text(named, "namedType"),
                inlined: reader.atom([scalar, list, map, untyped]),
                relationship: reader.relationship(relationship),
                nullable: reader.boolean(nullable, "nullable"),
            }
        });
        self.depth -= 1;
        type_ref
    }

    fn list(&mut self, node: Node<'_>) -> ListId {
        let [element, relationship, keys] = self.members(node, ["elementType", "elementRelationship", "keys"]);
        let element = self.type_ref(element, "elementType");
        let relationship = self.relationship(relationship);
        let mut names = Vec::new();
        self.indexed(keys, "keys", |reader, node| names.push(reader.own_text(node).unwrap_or("")));
        self.builder.list(element, relationship, names)
    }

    fn map(&mut self, node: Node<'_>) -> MapId {
        let keys = ["fields", "unions", "elementType", "elementRelationship"];
        let [fields, unions, element, relationship] = self.members(node, keys);
        let mark = self.builder.open();
        self.keyed(fields, "fields", "name", |reader, name, node| {
            let [_, type_ref, default] = reader.members(node, ["name", "type", "default"]);
            let type_ref = reader.type_ref(type_ref, "type");
            let default = default.map(|node| Json::read(node, reader.arena));
            reader.builder.field(name, type_ref, default.as_ref());
        });
        let element = self.type_ref(element, "elementType");
        let relationship = self.relationship(relationship);
        let unions = self.unions(unions);
        let unions: Vec<UnionDef<'_>> = unions.iter().map(|(union, fields)| UnionDef { fields, ..*union }).collect();
        self.builder.map(mark, MapDef { element, relationship, unions: &unions })
    }

    fn unions<'n>(&mut self, node: Option<Node<'n>>) -> Vec<(UnionDef<'n>, Vec<UnionFieldDef<'n>>)> {
        let mut unions = Vec::new();
        self.indexed(node, "unions", |reader, node| {
            let keys = ["discriminator", "deduceInvalidDiscriminator", "fields"];
            let [discriminator, deduce, fields] = reader.members(node, keys);
            let discriminator = reader.text(discriminator, "discriminator");
            let deduce_invalid_discriminator = reader.boolean(deduce, "deduceInvalidDiscriminator");
            let mut own = Vec::new();
            reader.keyed(fields, "fields", "fieldName", |reader, field_name, node| {
                let [_, value] = reader.members(node, ["fieldName", "discriminatorValue"]);
                let discriminator_value = reader.text(value, "discriminatorValue").unwrap_or("");
                own.push(UnionFieldDef { field_name, discriminator_value });
            });
            unions.push((UnionDef { discriminator, deduce_invalid_discriminator, fields: &[] }, own));
        });
        unions
    }

    fn relationship<'n>(&mut self, node: Option<Node<'n>>) -> Option<Relationship<'n>> {
        self.text(node, "elementRelationship").map(Relationship::from_name)
    }

    /// Returns the members with these names. Null members are treated as absent. The first unknown member is an error.
    fn members<'n, const N: usize>(&mut self, node: Node<'n>, names: [&str; N]) -> [Option<Node<'n>>; N] {
        let mut found = [None; N];
        if !matches!(node.kind(), Kind::Map | Kind::Null) {
            self.expected("map", node);
        }
        let mut unknown = false;
        for (key, value) in node.pairs() {
            match names.iter().position(|name| *name == key.text()) {
                Some(at) => found[at] = (!value.is_null()).then_some(value),
                None if !unknown => {
                    unknown = true;
                    self.within(key.text(), |reader| reader.error(key, "field not declared in schema"));
                }
                None => {}
            }
        }
        found
    }

    /// Reads the items of a list that are identified by a string member. It stops at the first item that cannot be
    /// identified.
    fn keyed<'n>(
        &mut self,
        list: Option<Node<'n>>,
        member: &str,
        key: &str,
        mut read: impl FnMut(&mut Self, &'n str, Node<'n>),
    ) {
        let Some(list) = self.sequence(list, member) else { return };
        let length = self.path.len();
        self.path.push('.');
        self.path.push_str(member);
        let mut names = BTreeSet::new();
        for (i, item) in list.items().enumerate() {
            let problem = match item.kind() {
                Kind::Map => None,
                Kind::Null => Some("associative list with keys may not have a null element".to_owned()),
                _ => Some("associative list with keys may not have non-map elements".to_owned()),
            };
            let name = item.get(key);
            let problem = problem.or_else(|| {
                name.is_none().then(|| {
                    format!(
                        "associative list with keys has an element that omits all key fields [{key:?}] \
                         (and doesn't have default values for any key fields)"
                    )
                })
            });
            let (None, Some(name)) = (problem.as_deref(), name) else {
                self.error(item, &format!("element {i}: {}", problem.unwrap_or_default()));
                break;
            };
            let element = format!("[{key}={}]", shown(name));
            if !names.insert(element.clone()) {
                self.error(item, &format!("duplicate entries for key {element}"));
            }
            let list_length = self.path.len();
            self.path.push_str(&element);
            let text = self.text(Some(name), key).unwrap_or("");
            read(self, text, item);
            self.path.truncate(list_length);
        }
        self.path.truncate(length);
    }

    /// Reads the items of a list that are identified by their index.
    fn indexed<'n>(&mut self, list: Option<Node<'n>>, member: &str, mut read: impl FnMut(&mut Self, Node<'n>)) {
        let Some(list) = self.sequence(list, member) else { return };
        for (i, item) in list.items().enumerate() {
            let length = self.path.len();
            let _ = write!(self.path, ".{member}[{i}]");
            read(self, item);
            self.path.truncate(length);
        }
    }

    fn sequence<'n>(&mut self, node: Option<Node<'n>>, member: &str) -> Option<Node<'n>> {
        let node = node?;
        if node.kind() == Kind::Seq {
            return Some(node);
        }
        self.within(member, |reader| reader.expected("list", node));
        None
    }

    fn text<'n>(&mut self, node: Option<Node<'n>>, member: &str) -> Option<&'n str> {
        let node = node?;
        node.as_str().or_else(|| self.within(member, |reader| reader.own_text(node)))
    }

    /// Returns the string at the current node. Null is treated as absent.
    fn own_text<'n>(&mut self, node: Node<'n>) -> Option<&'n str> {
        if !matches!(node.kind(), Kind::Str | Kind::Null) {
            self.expected("string", node);
        }
        node.as_str()
    }

    fn boolean(&mut self, node: Option<Node<'_>>, member: &str) -> bool {
        let Some(node) = node else { return false };
        node.as_bool().unwrap_or_else(|| {
            self.within(member, |reader| reader.expected("boolean", node));
            false
        })
    }

    fn within<R>(&mut self, member: &str, read: impl FnOnce(&mut Self) -> R) -> R {
        let length = self.path.len();
        self.path.push('.');
        self.path.push_str(member);
        let result = read(self);
        self.path.truncate(length);
        result
    }

    fn expected(&mut self, kind: &str, node: Node<'_>) {
        self.error(node, &format!("expected {kind}, got {}", shown(node)));
    }

    #[cold]
    fn error(&mut self, node: Node<'_>, message: &str) {
        self.errors.push(ReadError { path: self.path.clone(), message: message.to_owned(), at: node.index() });
    }
}

/// Prints a value for an error or a path.
fn shown(node: Node<'_>) -> String {
    match node.kind() {
        Kind::Null => "null".to_owned(),
        Kind::False => "false".to_owned(),
        Kind::True => "true".to_owned(),
        Kind::Int | Kind::Float => node.text().to_owned(),
        Kind::Str => format!("{:?}", node.text()),
        Kind::Seq => "a list".to_owned(),
        Kind::Map => "a map".to_owned(),
    }
}
