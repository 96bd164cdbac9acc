//! Walks over a schema: annotations, null, properties, branches.

use super::branches::{has_other_fields, junctors, says_either};
use super::extensions::kept;
use super::format::{self, Shown};
use super::{Draft, Nulls, Options, Patterns, Resolver};
use kubeshape_schema::escape::{self, Escape};
use kubeshape_schema::{Additional, Code, Converted, Flags, Gvk, Json, Note, NoteKind, Property, Schema, Type, order};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

/// Where a schema comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A CustomResourceDefinition.
    Crd,
    /// An OpenAPI document.
    Document,
}

/// What a schema is part of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// The schema itself, which decides what is pruned.
    Spine,
    /// The same, for items of a list that preserves unknown fields.
    Preserved,
    /// A branch of a junctor, for the value of the surrounding schema.
    Branch,
    /// Anything below a branch, or that only validates.
    InBranch,
}

impl Place {
    pub(super) fn is_spine(self) -> bool {
        matches!(self, Place::Spine | Place::Preserved)
    }

    /// Returns the place of a property or a value of a map.
    pub(super) fn child(self) -> Place {
        if self.is_spine() { Place::Spine } else { Place::InBranch }
    }
}

/// The additional fields of a schema that describes a resource.
#[derive(Clone, Copy)]
pub(super) enum Meta<'a> {
    None,
    /// A custom resource.
    Root(Gvk<'a>),
    /// A definition of a document that is a kind.
    Kind(Gvk<'a>),
    /// An embedded resource.
    Embedded,
}

/// Types for which Kubernetes publishes less than their schema.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    None,
    Quantity,
    Time,
}

/// How null is added to a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Null {
    /// It is not added.
    No,
    /// As a further type, value and alternative.
    Inline,
    /// As the alternative to everything else.
    Around,
}

/// How the surrounding value handles null in the place of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nil {
    /// The schema of the value decides.
    Own,
    /// It is accepted, because the server removes it or replaces it with the default.
    Accepted,
    /// It is rejected, because the server removes it and the field is required.
    Refused,
}

/// A definition that must still be printed.
pub(super) struct Wanted<'a> {
    /// The name under which it is printed.
    pub(super) printed: String,
    /// Its own name.
    pub(super) name: String,
    pub(super) schema: &'a Schema<'a>,
    pub(super) place: Place,
}

/// The decisions about a schema before it is printed.
pub(super) struct Plan<'s> {
    pub(super) null: Null,
    pub(super) special: Special,
    pub(super) format: Shown<'s>,
    /// The translation of `pattern`, or the format's pattern.
    pub(super) pattern: Cow<'s, str>,
    /// It is an int-or-string, and none of its keywords says so.
    pub(super) either: bool,
    /// It is an int-or-string.
    pub(super) int_or_string: bool,
    /// Null is rejected, and neither type nor enumeration says so.
    pub(super) not_null: bool,
    /// Further members of `allOf`, printed.
    pub(super) all_of: Vec<Vec<u8>>,
}

/// The keywords of OpenAPI 3.1 that may declare fields.
const DECLARING: [&str; 6] = ["dependentSchemas", "else", "if", "patternProperties", "then", "unevaluatedProperties"];

/// The server's check of the type of an embedded resource (apiextensions-apiserver: `objectmeta.Validate`). It checks a
/// kind in lower case, which is ASCII for the Kelvin sign, too.
const API_VERSION: &str = r#"{"type":"string","minLength":1,"pattern":"^[^/]*(?:/[^/]*)?$"}"#;
const KIND: &str = concat!(
    r#"{"type":"string","maxLength":63,"#,
    "\"pattern\":\"^[A-Za-z\u{212a}](?:[-A-Za-z0-9\u{212a}]*[A-Za-z0-9\u{212a}])?$\"}"
);

/// Returns the server's check of the number at a path such as `.spec.replicas` (apiextensions-apiserver:
/// `validateScaleSpec`).
fn replicas(path: &str) -> Option<Vec<u8>> {
    let mut out = b"{\"minimum\":0,\"maximum\":2147483647}".to_vec();
    for name in path.strip_prefix('.')?.rsplit('.') {
        if name.is_empty() || name.contains('[') {
            return None;
        }
        let inner = std::mem::replace(&mut out, b"{\"properties\":{".to_vec());
        escape::string(&mut out, name, Escape::Plain);
        out.push(b':');
        out.extend(inner);
        out.extend_from_slice(b"}}");
    }
    Some(out)
}

/// Writes `,"name":`; the name must need no escapes.
macro_rules! key {
    ($w:expr, $name:literal) => {{
        if $w.first {
            $w.first = false;
        } else {
            $w.out.push(b',');
        }
        $w.out.extend_from_slice(concat!("\"", $name, "\":").as_bytes());
    }};
}
pub(super) use key;

pub(super) struct Writer<'r, 'a, 'o> {
    pub(super) out: Vec<u8>,
    pub(super) first: bool,
    pub(super) options: Options<'o>,
    pub(super) origin: Origin,
    pub(super) resolver: &'r Resolver<'r, 'a>,
    pub(super) notes: Vec<Note<'a>>,
    /// For definitions from elsewhere: the location for their losses, and the definition's name.
    pub(super) elsewhere: Option<(u32, String)>,
    /// Definitions to which the result refers: by printed name, with their JSON as soon as they are printed.
    pub(super) definitions: BTreeMap<String, Option<Vec<u8>>>,
    pub(super) queue: VecDeque<Wanted<'a>>,
    /// The size of the printed definitions in bytes.
    pub(super) printed: usize,
    /// How often something was left out or left to the validator, so that the result accepts more.
    pub(super) widened: usize,
    /// Whether the server removes no null (`spec.preserveUnknownFields`).
    pub(super) keeps_nulls: bool,
    /// Whether it is noted that there is no definition of metadata.
    metadata_noted: bool,
    /// Whether the definition that is being printed is a type of Kubernetes' own.
    is_built_in: bool,
}

impl<'r, 'a, 'o> Writer<'r, 'a, 'o> {
    pub(super) fn new(origin: Origin, resolver: &'r Resolver<'r, 'a>, options: Options<'o>) -> Self {
        Writer {
            out: Vec::new(),
            first: true,
            options,
            origin,
            resolver,
            notes: Vec::new(),
            elsewhere: None,
            definitions: BTreeMap::new(),
            queue: VecDeque::new(),
            printed: 0,
            widened: 0,
            keeps_nulls: false,
            metadata_noted: false,
            is_built_in: false,
        }
    }

    /// Prints the whole document.
    pub(super) fn document(&mut self, schema: &Schema<'a>, name: &str, meta: Meta<'_>, place: Place) {
        self.out.push(b'{');
        key!(self, "$schema");
        self.text(self.options.draft.uri());
        if !self.options.id.is_empty() {
            key!(self, "$id");
            self.text(self.options.id);
        }
        self.enter(name);
        self.members(schema, place, meta, Special::of(name), Nil::Own);
        self.write_definitions(schema.at);
        self.out.push(b'}');
    }

    /// Begins a definition. A server decodes built-in types with Go's decoder, and checks no sets in them.
    pub(super) fn enter(&mut self, name: &str) {
        self.is_built_in = name.starts_with("io.k8s.") && self.origin == Origin::Document;
    }

    /// Returns whether a list type `set` restricts the items.
    pub(super) fn is_set(&self, s: &Schema<'_>) -> bool {
        s.extra().list_type == Some("set") && !self.is_built_in
    }

    /// Returns the result of a schema at that location.
    pub(super) fn finish(self, at: u32) -> Converted<'a, Vec<u8>> {
        if !self.is_full() {
            return Converted { value: self.out, notes: self.notes };
        }
        let detail = format!("its JSON Schema has more than {} bytes", self.options.most_bytes);
        Converted { value: Vec::new(), notes: vec![Note::new(Code::OutputBudget, at, detail)] }
    }

    /// Returns whether the result is larger than allowed. If so, continuing is useless.
    pub(super) fn is_full(&self) -> bool {
        self.printed + self.out.len() > self.options.most_bytes
    }

    pub(super) fn text(&mut self, text: &str) {
        escape::string(&mut self.out, text, Escape::Plain);
    }

    pub(super) fn json(&mut self, value: &Json<'_>) {
        value.print(&mut self.out, Escape::Plain);
    }

    /// Prints a key that may need escapes.
    pub(super) fn any_key(&mut self, name: &str) {
        if self.first {
            self.first = false;
        } else {
            self.out.push(b',');
        }
        self.text(name);
        self.out.push(b':');
    }

    #[cold]
    pub(super) fn note(&mut self, code: Code, at: u32, detail: String) {
        self.widened += usize::from(code.kind() == NoteKind::Widened);
        self.notes.push(match &self.elsewhere {
            None => Note::new(code, at, detail),
            Some((at, name)) => Note::new(code, *at, format!("{name}: {detail}")),
        });
    }

    /// Prints a schema with its braces.
    pub(super) fn object(&mut self, s: &Schema<'a>, place: Place) {
        self.value(s, place, Nil::Own);
    }

    /// Prints the schema of a value in another one, with its braces.
    pub(super) fn value(&mut self, s: &Schema<'a>, place: Place, nil: Nil) {
        self.out.push(b'{');
        self.first = true;
        self.members(s, place, Meta::None, Special::None, nil);
        self.out.push(b'}');
        self.first = false;
    }

    pub(super) fn members(&mut self, s: &Schema<'a>, place: Place, meta: Meta<'_>, special: Special, nil: Nil) {
        if self.is_full() {
            return;
        }
        let embedded = s.flags.any(Flags::EMBEDDED_RESOURCE) && place != Place::Branch;
        let meta = if embedded && matches!(meta, Meta::None) { Meta::Embedded } else { meta };
        self.counted(s, place);
        let plan = self.plan(s, place, meta, special, nil);
        self.annotations(s);
        if plan.null == Null::Around {
            key!(self, "anyOf");
            self.out.extend_from_slice(b"[{\"type\":\"null\"},{");
            self.first = true;
            self.assertions(s, place, meta, &plan);
            self.out.extend_from_slice(b"}]");
            self.first = false;
        } else {
            self.assertions(s, place, meta, &plan);
        }
        self.extensions(s, meta);
    }

    fn annotations(&mut self, s: &Schema<'a>) {
        let e = s.extra();
        // The first schema that is printed is the root.
        let title = match std::mem::take(&mut self.options.title) {
            "" => e.title,
            title => title,
        };
        if !title.is_empty() {
            key!(self, "title");
            self.text(title);
        }
        let lifecycle = lifecycle(s);
        let stage = stage(&lifecycle);
        if !s.description.is_empty() || !stage.is_empty() {
            key!(self, "description");
            let gap = if s.description.is_empty() || stage.is_empty() { "" } else { "\n\n" };
            self.text(&format!("{}{gap}{stage}", s.description));
        }
        if let Some(default) = s.default {
            key!(self, "default");
            self.json(default);
        }
        if let Some(example) = e.example {
            key!(self, "examples");
            self.out.push(b'[');
            self.json(example);
            self.out.push(b']');
        }
        if is_true(s, "deprecated") || lifecycle.iter().any(|entry| word(entry, "status") == "deprecated") {
            key!(self, "deprecated");
            self.out.extend_from_slice(b"true");
        }
        if s.flags.any(Flags::READ_ONLY) {
            key!(self, "readOnly");
            self.out.extend_from_slice(b"true");
        }
        if is_true(s, "writeOnly") {
            key!(self, "writeOnly");
            self.out.extend_from_slice(b"true");
        }
    }

    fn plan(&mut self, s: &Schema<'a>, place: Place, meta: Meta<'_>, special: Special, nil: Nil) -> Plan<'a> {
        let e = s.extra();
        let crd = self.origin == Origin::Crd;
        let int_or_string = s.flags.any(Flags::INT_OR_STRING) || (!crd && s.format == "int-or-string");
        let either = int_or_string && !says_either(s, crd);
        let format = format::shown(s.format, s.ty, crd);
        if let Some((code, why)) = format.loss {
            self.note(code, s.at, format!("format {:?}: {why}", s.format));
        } else if self.is_unchecked(format.name) {
            let detail = format!("format {:?}: kubeconform checks formats in schemas of draft 7 only", s.format);
            self.note(Code::JsonSchemaFormatUnchecked, s.at, detail);
        }
        // Validators may or may not check these formats.
        let left_open = ["date", "date-time", "email", "hostname", "ipv4", "ipv6", "uri"].contains(&format.name);
        self.widened += usize::from(left_open);
        let mut all_of = Vec::new();
        // JSON Schema has no such bounds. With them, the server rejects every value of the type.
        let impossible = [
            (e.max_length.is_some_and(|n| n < 0), "string"),
            (e.max_items.is_some_and(|n| n < 0), "array"),
            (e.max_properties.is_some_and(|n| n < 0), "object"),
            (e.multiple_of.is_some_and(|n| n <= 0.0), "number"),
        ];
        for (_, ty) in impossible.into_iter().filter(|(there, _)| *there) {
            all_of.push(format!("{{\"not\":{{\"type\":\"{ty}\"}}}}").into_bytes());
        }
        if let Meta::Root(_) = meta {
            all_of.extend(self.options.replicas.iter().filter_map(|path| replicas(path)));
        }
        self.fractions(s, place);
        let mut pattern = self.pattern(s);
        if pattern.is_empty() {
            pattern = Cow::Borrowed(format.pattern);
        } else if !format.pattern.is_empty() {
            let mut member = b"{\"pattern\":".to_vec();
            escape::string(&mut member, format.pattern, Escape::Plain);
            member.push(b'}');
            all_of.push(member);
        }
        let mut blocked = !s.reference.is_empty() || !e.all_of.is_empty() || !e.one_of.is_empty() || e.not.is_some();
        if either && !e.any_of.is_empty() {
            all_of.push(br#"{"anyOf":[{"type":"integer"},{"type":"string"}]}"#.to_vec());
            blocked = true;
        }
        // For null, the server checks type and enum only, and it does not use a null that the enum lists.
        let listed = s.enumeration.is_empty() || (!crd && s.enumeration.contains(&Json::Null));
        let said = s.flags.any(Flags::NULLABLE) || is_true(s, "x-nullable") || special == Special::Time;
        let untyped = crd && s.ty == Type::Absent && !int_or_string;
        let accepted = match nil {
            Nil::Own => listed && (said || (untyped && place != Place::Branch)),
            Nil::Accepted => true,
            Nil::Refused => false,
        };
        let null = match meta {
            Meta::Root(_) | Meta::Kind(_) => Null::No,
            _ if !accepted => Null::No,
            _ if blocked => Null::Around,
            _ => Null::Inline,
        };
        if lists_nothing(s, self.origin, null) {
            all_of.push(br#"{"not":{}}"#.to_vec());
        }
        let not_null = nil == Nil::Refused && untyped && s.enumeration.is_empty();
        Plan { null, special, format, pattern, either, int_or_string, not_null, all_of }
    }

    /// Returns whether the server checks a format, but the readers of Go patterns do not: for them, a format of a newer
    /// draft is an annotation.
    fn is_unchecked(&self, format: &str) -> bool {
        let is_annotation = self.options.patterns == Patterns::Go && self.options.draft != Draft::D7;
        is_annotation && matches!(format, "date" | "date-time")
    }

    /// Notes numbers whose fractions the server ignores.
    fn fractions(&mut self, s: &Schema<'a>, place: Place) {
        let e = s.extra();
        let may_be_integer = matches!(s.ty, Type::Integer | Type::Number | Type::Absent | Type::Several);
        for (name, bound) in [("minimum", e.minimum), ("maximum", e.maximum), ("multipleOf", e.multiple_of)] {
            if may_be_integer && bound.is_some_and(|bound| bound.fract() != 0.0) {
                self.note(Code::JsonSchemaNumber, s.at, name.to_owned());
            }
        }
        let is_any = matches!(s.ty, Type::Absent | Type::Several);
        let is_compared_converted = |value: &Json<'_>| match value {
            Json::Int(_) => is_any || s.ty == Type::Number,
            Json::Str(text) => is_any && place.is_spine() && text.chars().count() == 1,
            _ => false,
        };
        if self.origin == Origin::Crd && s.enumeration.iter().any(is_compared_converted) {
            self.note(Code::JsonSchemaNumber, s.at, "enum".to_owned());
        }
    }

    /// Prints the properties, with those of a resource.
    pub(super) fn properties(&mut self, s: &Schema<'a>, place: Place, meta: Meta<'_>) {
        let mut names: Vec<(&str, Option<&Property<'a>>)> = s.properties.iter().map(|p| (p.name, Some(p))).collect();
        let added: &[&'static str] = match meta {
            Meta::None => &[],
            Meta::Kind(_) => &["apiVersion", "kind"],
            Meta::Root(_) | Meta::Embedded => &["apiVersion", "kind", "metadata"],
        };
        for name in added.iter().filter(|name| s.property(name).is_none()) {
            names.push((name, None));
        }
        if names.is_empty() {
            return;
        }
        names.sort_by(|a, b| order::utf16(a.0, b.0));
        key!(self, "properties");
        self.out.push(b'{');
        self.first = true;
        for (name, property) in names {
            self.any_key(name);
            let schema = property.map(|p| &p.schema);
            match (meta, name, schema) {
                (Meta::Root(gvk) | Meta::Kind(gvk), "apiVersion", _) => self.fixed(schema, gvk.api_version()),
                (Meta::Root(gvk) | Meta::Kind(gvk), "kind", _) => self.fixed(schema, gvk.kind()),
                // Declarations in a document come from the server.
                (Meta::Root(_) | Meta::Embedded, "metadata", _) if self.origin == Origin::Crd || schema.is_none() => {
                    // The server reads null as metadata without fields.
                    let null = matches!(meta, Meta::Embedded) && self.options.nulls == Nulls::Server;
                    if null {
                        self.out.extend_from_slice(br#"{"anyOf":[{"type":"null"},"#);
                    }
                    self.metadata(s, schema);
                    if null {
                        self.out.extend_from_slice(b"]}");
                    }
                }
                (Meta::Embedded, "apiVersion", _) if self.origin == Origin::Crd => self.type_field(API_VERSION, schema),
                (Meta::Embedded, "kind", _) if self.origin == Origin::Crd => self.type_field(KIND, schema),
                (Meta::Embedded, "apiVersion" | "kind", Some(schema)) => self.object(schema, Place::InBranch),
                (_, _, Some(schema)) => {
                    let nil = self.nil(schema, s.required.contains(&name), place);
                    self.value(schema, place.child(), nil);
                }
                (_, _, None) => self.out.extend_from_slice(br#"{"type":"string"}"#),
            }
            self.first = false;
        }
        self.out.push(b'}');
        self.first = false;
    }

    /// Returns how null is handled in a field or a value of a map.
    fn nil(&self, s: &Schema<'a>, is_required: bool, place: Place) -> Nil {
        let crd = self.origin == Origin::Crd;
        if self.is_built_in && self.options.nulls == Nulls::Server {
            // Go's decoder reads null as the zero value.
            Nil::Accepted
        } else if crd && (s.flags.any(Flags::NULLABLE) || !place.is_spine()) {
            // Null stays, because branches neither remove nor replace anything.
            Nil::Own
        } else if crd && self.keeps_nulls && s.default.is_none() {
            Nil::Own
        } else if crd && is_required && s.default.is_none() {
            Nil::Refused
        } else if self.options.nulls == Nulls::Server && (!is_required || s.default.is_some()) {
            Nil::Accepted
        } else {
            Nil::Own
        }
    }

    /// Returns how null is handled in a list: only a default replaces it.
    pub(super) fn nil_of_item(&self, s: &Schema<'a>, place: Place) -> Nil {
        let is_replaced = self.origin == Origin::Crd
            && self.options.nulls == Nulls::Server
            && place.is_spine()
            && s.default.is_some()
            && !s.flags.any(Flags::NULLABLE);
        let is_zero = self.is_built_in && self.options.nulls == Nulls::Server;
        if is_replaced || is_zero { Nil::Accepted } else { Nil::Own }
    }

    /// Notes keywords that count fields: they count nulls that the server removes, and do not count defaults that it
    /// sets.
    fn counted(&mut self, s: &Schema<'a>, place: Place) {
        if self.origin != Origin::Crd || self.options.nulls != Nulls::Server || !place.is_spine() {
            return;
        }
        let leaves = |s: &Schema<'_>| !s.flags.any(Flags::NULLABLE) && (!self.keeps_nulls || s.default.is_some());
        let map = matches!(s.additional, Some(Additional::Schema(values)) if leaves(values));
        if !map && !s.properties.iter().any(|p| leaves(&p.schema)) {
            return;
        }
        let e = s.extra();
        for (name, there) in [
            ("minProperties", e.min_properties.is_some()),
            ("maxProperties", e.max_properties.is_some()),
            ("allOf", e.all_of.iter().any(looks_at_fields)),
            ("anyOf", e.any_of.iter().any(looks_at_fields)),
            ("oneOf", e.one_of.iter().any(looks_at_fields)),
            ("not", e.not.is_some_and(looks_at_fields)),
        ] {
            if there {
                self.note(Code::JsonSchemaNull, s.at, name.to_owned());
            }
        }
    }

    /// Prints a string field that the server checks in addition to what the author requires.
    fn type_field(&mut self, check: &str, authored: Option<&Schema<'a>>) {
        let Some(schema) = authored else { return self.out.extend_from_slice(check.as_bytes()) };
        self.out.extend_from_slice(b"{\"allOf\":[");
        self.out.extend_from_slice(check.as_bytes());
        self.out.push(b',');
        self.object(schema, Place::InBranch);
        self.out.extend_from_slice(b"]}");
    }

    /// Prints a field with one allowed value.
    fn fixed(&mut self, authored: Option<&Schema<'a>>, value: &str) {
        self.out.push(b'{');
        self.first = true;
        if let Some(schema) = authored {
            self.members(schema, Place::InBranch, Meta::None, Special::None, Nil::Own);
        } else {
            key!(self, "type");
            self.text("string");
        }
        key!(self, "const");
        self.text(value);
        self.out.push(b'}');
    }

    /// Prints the metadata of a resource. The author's schema does not decide what is pruned in it.
    fn metadata(&mut self, resource: &Schema<'a>, authored: Option<&Schema<'a>>) {
        let says_more = authored.filter(|s| {
            let bare = Schema { ty: Type::Object, at: s.at, flags: s.flags, subtree: s.subtree, ..Schema::default() };
            **s != bare && **s != Schema { ty: Type::Absent, ..bare }
        });
        let reference = if self.origin == Origin::Crd { self.wanted(super::OBJECT_META, Place::Spine) } else { None };
        match (reference, says_more) {
            (Some(pointer), None) => self.reference_object(&pointer),
            (Some(pointer), Some(schema)) => {
                self.out.extend_from_slice(b"{\"allOf\":[");
                self.reference_object(&pointer);
                self.out.push(b',');
                self.object(schema, Place::InBranch);
                self.out.extend_from_slice(b"]}");
            }
            (None, _) => {
                if !self.metadata_noted && self.origin == Origin::Crd {
                    self.metadata_noted = true;
                    self.note(Code::JsonSchemaMetadata, resource.at, "metadata".to_owned());
                }
                match says_more {
                    Some(schema) => self.object(schema, Place::InBranch),
                    None => self.out.extend_from_slice(br#"{"type":"object"}"#),
                }
            }
        }
    }

    /// `additionalProperties`.
    pub(super) fn additional(&mut self, s: &Schema<'a>, place: Place, meta: Meta<'_>) {
        let strict = self.options.strict && place.is_spine();
        match s.additional {
            Some(Additional::Schema(schema)) => {
                key!(self, "additionalProperties");
                let nil = self.nil(schema, false, place);
                self.value(schema, place.child(), nil);
            }
            Some(Additional::Allowed(allowed)) => {
                key!(self, "additionalProperties");
                if allowed && strict && self.origin == Origin::Crd {
                    // The fields are kept, but objects in them are emptied.
                    let pointer = self.emptied();
                    self.reference_object(&pointer);
                } else {
                    self.out.extend_from_slice(if allowed { b"true" } else { b"false" });
                }
            }
            None if strict
                && place == Place::Spine
                && !s.flags.any(Flags::PRESERVE_UNKNOWN)
                && self.closes(s, meta) =>
            {
                key!(self, "additionalProperties");
                self.out.extend_from_slice(b"false");
            }
            None => {}
        }
    }

    /// Returns whether the server removes undeclared fields of an object.
    fn closes(&mut self, s: &Schema<'a>, meta: Meta<'_>) -> bool {
        if self.origin == Origin::Crd {
            return s.ty == Type::Object || matches!(meta, Meta::Root(_));
        }
        let e = s.extra();
        let composed = (!s.reference.is_empty() && !s.properties.is_empty())
            || (transparent(s).is_none() && junctors(s).any(|branch| has_other_fields(s, branch)))
            || DECLARING.iter().any(|name| kept(s, name).is_some());
        if composed {
            self.note(Code::JsonSchemaOpen, s.at, "its fields are declared in several schemas".to_owned());
        }
        !composed && !s.properties.is_empty() && e.pattern_properties.is_empty()
    }
}

impl Special {
    /// Returns the special type of a definition with this name.
    pub(super) fn of(name: &str) -> Special {
        let ends = |suffixes: [&str; 2]| suffixes.iter().any(|suffix| name.ends_with(suffix));
        if ends(["apimachinery.pkg.api.resource.Quantity", "apimachinery/pkg/api/resource.Quantity"]) {
            Special::Quantity
        } else if ends(["apimachinery.pkg.apis.meta.v1.Time", "apimachinery/pkg/apis/meta/v1.Time"])
            || ends(["apimachinery.pkg.apis.meta.v1.MicroTime", "apimachinery/pkg/apis/meta/v1.MicroTime"])
        {
            Special::Time
        } else {
            Special::None
        }
    }
}

/// Returns whether a branch checks fields of the value.
fn looks_at_fields(s: &Schema<'_>) -> bool {
    let e = s.extra();
    !s.required.is_empty()
        || !s.properties.is_empty()
        || e.min_properties.is_some()
        || e.max_properties.is_some()
        || e.not.is_some_and(looks_at_fields)
        || junctors(s).any(looks_at_fields)
}

/// Returns the entries of `x-kubernetes-api-lifecycle`, one for each project.
fn lifecycle<'a>(s: &Schema<'a>) -> Vec<&'a Json<'a>> {
    let extension = s.extra().extensions.iter().find(|(key, _)| *key == "x-kubernetes-api-lifecycle");
    match extension {
        Some((_, Json::Object(projects))) => projects.iter().map(|(_, entry)| entry).collect(),
        _ => Vec::new(),
    }
}

/// Returns a member that is a string, or `""` if it is absent.
fn word<'a>(entry: &Json<'a>, name: &str) -> &'a str {
    entry.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// Returns the sentence about fields that are alpha or beta: `Alpha since v1.20, behind the feature gate Frobber2D.`
fn stage(entries: &[&Json<'_>]) -> String {
    let mut out = String::new();
    for entry in entries {
        let stage = match word(entry, "status") {
            "alpha" => "Alpha",
            "beta" => "Beta",
            _ => continue,
        };
        out.push_str(if out.is_empty() { "" } else { " " });
        out.push_str(stage);
        let (since, gate) = (word(entry, "minVersion"), word(entry, "featureGate"));
        if !since.is_empty() {
            out.push_str(" since ");
            out.push_str(since);
        }
        if !gate.is_empty() {
            out.push_str(", behind the feature gate ");
            out.push_str(gate);
        }
        out.push('.');
    }
    out
}

/// Returns whether an extension is present and true.
fn is_true(s: &Schema<'_>, name: &str) -> bool {
    s.extra.is_some_and(|e| e.extensions.iter().any(|(key, value)| *key == name && *value == Json::Bool(true)))
}

/// Returns the only member of `allOf`, a reference, if it is the whole schema: documents write references with siblings
/// in this way.
pub(super) fn transparent<'a>(s: &Schema<'a>) -> Option<&'a Schema<'a>> {
    let e = s.extra();
    let alone = e.any_of.is_empty() && e.one_of.is_empty() && e.not.is_none();
    match e.all_of {
        [only] if alone && s.properties.is_empty() && s.reference.is_empty() && !only.reference.is_empty() => {
            Some(only)
        }
        _ => None,
    }
}

/// Returns whether an enum lists nothing that is accepted. Readers of draft 7 reject a schema with an empty enum.
pub(super) fn lists_nothing(s: &Schema<'_>, origin: Origin, null: Null) -> bool {
    let is_null = |value: &Json<'_>| *value == Json::Null;
    origin == Origin::Crd && null != Null::Inline && !s.enumeration.is_empty() && s.enumeration.iter().all(is_null)
}
