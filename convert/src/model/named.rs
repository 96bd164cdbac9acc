//! Objects whose members have free names: paths, responses and callbacks.

use super::member::{Boxed, Entry, Map, Member, Reference, print_entries, read_map};
use super::object::{Extensions, Object};
use super::print::Printer;
use super::walk::{Mapper, Site, Visitor};
use kubeshape_schema::read::{Reader, Rules, is_extension};
use kubeshape_schema::{Code, Json, Profile, order};
use kubeshape_yaml::{Kind, Node};

/// The paths of a document: path items (`T`) by path. Keys that do not begin with a slash are not paths.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Paths<'a, T> {
    /// Path items by path.
    pub items: Map<'a, T>,
    /// `x-` members.
    pub extensions: Extensions<'a>,
    /// Location: the object's entry in the tape.
    pub at: u32,
}

/// The responses of an operation: responses (`T`) by status code.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Responses<'a, T> {
    /// The response for codes without a response of their own.
    pub default: Boxed<'a, T>,
    /// Responses by code; by a range of codes (`4XX`) only with [`Profile::Faithful`].
    pub codes: Map<'a, T>,
    /// `x-` members.
    pub extensions: Extensions<'a>,
    /// Location: the object's entry in the tape.
    pub at: u32,
}

/// Requests that the server makes: path items (`T`) by the expression that gives their URL.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Callback<'a, T> {
    /// A reference to a shared callback.
    pub reference: Reference<'a>,
    /// Path items by expression.
    pub items: Map<'a, T>,
    /// `x-` members.
    pub extensions: Extensions<'a>,
    /// Location: the object's entry in the tape.
    pub at: u32,
}

/// The response objects of the two dialects.
pub trait ResponseObject {
    /// Whether kube-openapi prints a default response without members.
    const EMPTY_DEFAULT: bool;
}

impl<'a, T: Member<'a> + 'a> Object<'a> for Paths<'a, T> {
    const NAME: &'static str = "the paths of a document";

    fn set_at(&mut self, at: u32) {
        self.at = at;
    }

    fn member(&mut self, _: &mut Reader<'a>, _: Node<'a>, _: Node<'a>) -> Option<u32> {
        None
    }

    fn set_extensions(&mut self, extensions: Extensions<'a>) {
        self.extensions = extensions;
    }

    fn is_extensible(_: &Reader<'a>) -> bool {
        true
    }

    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        let items = read_map(reader, node, |name| name.starts_with('/'));
        let extensions =
            free_members(reader, node, |name| name.starts_with('/'), |reader, key, _| reader.unknown_field(key));
        Self { items, extensions, at: node.index() }
    }

    fn print(&self, p: &mut Printer<'_>) {
        print_entries(&self.items, p);
        print_extensions(self.extensions, p);
    }

    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        self.items.is_empty() && self.extensions.is_empty()
    }

    fn visit(&self, site: Site, visitor: &mut dyn Visitor<'a>) {
        self.items.visit(site, visitor);
    }

    fn replace(&self, site: Site, mapper: &mut dyn Mapper<'a>) -> Self {
        Self { items: self.items.replace(site, mapper), ..*self }
    }
}

impl<'a, T: Object<'a> + Member<'a> + ResponseObject> Object<'a> for Responses<'a, T> {
    const NAME: &'static str = "the responses of an operation";

    fn set_at(&mut self, at: u32) {
        self.at = at;
    }

    fn member(&mut self, _: &mut Reader<'a>, _: Node<'a>, _: Node<'a>) -> Option<u32> {
        None
    }

    fn set_extensions(&mut self, extensions: Extensions<'a>) {
        self.extensions = extensions;
    }

    fn is_extensible(_: &Reader<'a>) -> bool {
        true
    }

    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        let rules = reader.rules();
        let codes: Map<'a, T> = read_map(reader, node, |name| response_code(name, rules).is_some());
        if node.kind() != Kind::Map {
            // The wrong type was noted when the codes were read.
            return Self { at: node.index(), ..Self::default() };
        }
        let codes = canonical_codes(reader, codes);
        let default: Map<'a, Boxed<'a, T>> = read_map(reader, node, |name| name == "default");
        let default = default
            .get("default")
            .copied()
            .map(|response| response.unwrap_or_else(|| &*reader.arena().alloc(T::default())));
        let taken = |name: &str| name == "default" || response_code(name, rules).is_some();
        let extensions = free_members(reader, node, taken, |reader, key, value| match rules {
            Rules::Document(Profile::Kube) if !is_read_past(value) => not_a_code(reader, key),
            _ => reader.unknown_field(key),
        });
        Self { default, codes, extensions, at: node.index() }
    }

    fn print(&self, p: &mut Printer<'_>) {
        if self.prints_default(p) {
            p.key("default");
            self.default.print(p);
            p.first = false;
        }
        print_entries(&self.codes, p);
        print_extensions(self.extensions, p);
    }

    fn renders_empty(&self, p: &Printer<'_>) -> bool {
        !self.prints_default(p) && self.codes.is_empty() && self.extensions.is_empty()
    }

    fn visit(&self, site: Site, visitor: &mut dyn Visitor<'a>) {
        self.default.visit(site, visitor);
        self.codes.visit(site, visitor);
    }

    fn replace(&self, site: Site, mapper: &mut dyn Mapper<'a>) -> Self {
        Self { default: self.default.replace(site, mapper), codes: self.codes.replace(site, mapper), ..*self }
    }
}

impl<'a, T: Object<'a> + ResponseObject> Responses<'a, T> {
    fn prints_default(&self, p: &Printer<'_>) -> bool {
        let with_empty = T::EMPTY_DEFAULT || p.profile == Profile::Faithful;
        self.default.is_some_and(|default| with_empty || !default.renders_empty(p))
    }
}

impl<'a, T: Member<'a> + 'a> Object<'a> for Callback<'a, T> {
    const NAME: &'static str = "a callback";

    fn set_at(&mut self, at: u32) {
        self.at = at;
    }

    fn member(&mut self, _: &mut Reader<'a>, _: Node<'a>, _: Node<'a>) -> Option<u32> {
        None
    }

    fn set_extensions(&mut self, extensions: Extensions<'a>) {
        self.extensions = extensions;
    }

    fn is_extensible(_: &Reader<'a>) -> bool {
        true
    }

    fn read(reader: &mut Reader<'a>, node: Node<'a>) -> Self {
        let expression = |name: &str| name != "$ref" && !is_extension(name);
        let items = read_map(reader, node, expression);
        let reference = node.get("$ref").map_or_else(Reference::default, |value| Reference::read(reader, value));
        let extensions =
            free_members(reader, node, |name| !is_extension(name), |reader, key, _| reader.unknown_field(key));
        Self { reference, items, extensions, at: node.index() }
    }

    fn print(&self, p: &mut Printer<'_>) {
        if !self.reference.text.is_empty() {
            p.key("$ref");
            p.text(self.reference.text);
        }
        print_entries(&self.items, p);
        print_extensions(self.extensions, p);
    }

    fn renders_empty(&self, _: &Printer<'_>) -> bool {
        self.reference.text.is_empty() && self.items.is_empty() && self.extensions.is_empty()
    }

    fn visit(&self, _: Site, visitor: &mut dyn Visitor<'a>) {
        self.reference.visit(Site::Callback, visitor);
        self.items.visit(Site::Callback, visitor);
    }

    fn replace(&self, _: Site, mapper: &mut dyn Mapper<'a>) -> Self {
        let reference = self.reference.replace(Site::Callback, mapper);
        Self { reference, items: self.items.replace(Site::Callback, mapper), ..*self }
    }
}

/// Returns the extensions among the members that `taken` does not accept. Other members are noted as unknown.
fn free_members<'a>(
    reader: &mut Reader<'a>,
    node: Node<'a>,
    taken: impl Fn(&str) -> bool,
    mut unknown: impl FnMut(&mut Reader<'a>, Node<'a>, Node<'a>),
) -> Extensions<'a> {
    let mark = reader.checkpoint();
    for (key, value) in node.pairs() {
        let name = key.text();
        if taken(name) {
            continue;
        }
        if is_extension(name) {
            let value = reader.json(value);
            reader.push_extension(name, value);
        } else {
            unknown(reader, key, value);
        }
    }
    reader.take_extensions(&mark)
}

/// Returns whether kube-openapi skips the value of a name that is not a status code. It reads the value as the next
/// name, so scalars and lists of them are harmless unless they look like the name of a response.
fn is_read_past(value: Node<'_>) -> bool {
    match value.kind() {
        Kind::Map | Kind::Int => false,
        Kind::Seq => value.items().all(is_read_past),
        Kind::Str => {
            let text = value.text();
            text != "default" && !is_extension(text) && response_code(text, Rules::Crd).is_none()
        }
        Kind::Null | Kind::True | Kind::False | Kind::Float => true,
    }
}

/// Notes a response under a name that is not a status code. kube-openapi's reader fails there.
#[cold]
fn not_a_code<'a>(reader: &mut Reader<'a>, key: Node<'a>) {
    reader.error(Code::WrongType, key, || {
        format!(
            "expected `default`, a status code or an extension, found {:?}; kube-openapi cannot read the document (use --profile faithful to read ranges such as 4XX)",
            key.text()
        )
    });
}

/// Returns the status code of a name. kube-openapi accepts every string that Go reads as an integer. The specifications
/// also have ranges of codes, for which it returns -1.
fn response_code(name: &str, rules: Rules) -> Option<i64> {
    let digits = name.strip_prefix(['+', '-']).unwrap_or(name);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return name.strip_prefix('+').unwrap_or(name).parse().ok();
    }
    let range = matches!(name.as_bytes(), [b'1'..=b'5', b'X' | b'x', b'X' | b'x']);
    (range && rules == Rules::Document(Profile::Faithful)).then_some(-1)
}

/// Returns codes as kube-openapi writes them: without a plus sign and leading zeros. Of equal codes, the last is used.
fn canonical_codes<'a, T: Member<'a> + 'a>(reader: &Reader<'a>, codes: Map<'a, T>) -> Map<'a, T> {
    let canonical = |name: &str| {
        name == "0"
            || matches!(name.as_bytes(), [b'1'..=b'9', rest @ ..] if rest.iter().all(|b| b.is_ascii_digit() || *b == b'X' || *b == b'x'))
    };
    if codes.iter().all(|entry| canonical(entry.name)) {
        return codes;
    }
    let mut entries: Vec<Entry<'a, T>> = codes.iter().copied().collect();
    // The last one in the document is used.
    entries.sort_by_key(|entry| entry.at);
    for entry in &mut entries {
        if let Some(code) = response_code(entry.name, Rules::Crd) {
            entry.name = reader.arena().alloc_str(&code.to_string());
        }
    }
    let kept = order::sort_last_wins(&mut entries, |entry| entry.name);
    Map { entries: reader.arena().alloc_slice_copy(&entries[..kept]), ..codes }
}

/// Prints `x-` members.
pub(crate) fn print_extensions(extensions: &[(&str, Json<'_>)], p: &mut Printer<'_>) {
    for (key, value) in extensions {
        p.any_key(key);
        p.json(value);
    }
}
