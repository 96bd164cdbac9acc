//! `blame`: the owners of each field of objects.
//!
//! An object is printed as YAML and read again. Then the paths that begin on each line are known.

use super::sets::{managed, tell_ignored};
use crate::args::BlameArgs;
use crate::error::Fatal;
use crate::input::check_once;
use crate::report::clean;
use crate::session::object::{Object, read_objects};
use crate::session::print::Output;
use crate::session::types::BuiltIn;
use crate::session::{Command, Common, Session, diagnose, types};
use kubeshape_input::Code;
use kubeshape_registry::{Registry, print};
use kubeshape_smd::Value;
use kubeshape_smd::fieldpath::{DisplayPath, PathElement, Set};
use kubeshape_smd::managed::{Owned, Owner, Ownership, is_system_field};
use kubeshape_smd::typed::Duplicates;
use kubeshape_yaml::json;
use kubeshape_yaml::{Kind, Limits, Node, Stream, Tape};
use std::fmt::Write;

/// The maximum column at which owners are printed.
const MARGIN: usize = 60;
/// The text for no owner.
const NOBODY: &str = "-";

/// A field of the object and its owners.
struct Field<'o, 'a> {
    path: Vec<PathElement<'a>>,
    /// The position in the printed object. An item of a list begins on the line of its first member.
    line: usize,
    owners: Vec<&'o Owner<'a>>,
    /// Whether anybody can own it. Nobody can own a field that only holds other fields, or one that managed fields
    /// never name.
    counts: bool,
}

/// `kubeshape blame`
///
/// # Errors
/// There is no answer.
pub(crate) fn run(args: &BlameArgs, session: &mut Session<'_>) -> Result<bool, Fatal> {
    let output = Output::new(&args.result)?;
    let inputs = args.filenames.and(&args.objects);
    check_once(args.types.schemas.iter().chain(&inputs))?;
    let mut registry = types::read(&args.types, session)?;
    // Without a release, the keys in managedFields are enough.
    if let Some(built_in) = BuiltIn::new(args.types.kubernetes, false) {
        built_in.add(&mut registry, session);
    }
    let registry: &Registry = session.arena.alloc(registry);
    let objects = read_objects(&inputs, session);
    let mut out = Vec::new();
    for object in &objects.all {
        let Some(printed) = blamed(object, objects.is_one, (args, &output), registry, session)? else { continue };
        if !out.is_empty() && !output.is_json() && !args.paths {
            out.extend_from_slice(b"---\n");
        }
        out.extend(printed);
    }
    output.bytes(&out)?;
    Ok(true)
}

/// Returns an object with its owners. If something is wrong with it, reports that and returns `None`.
fn blamed<'a>(
    object: &Object<'a>,
    is_one: bool,
    (args, output): (&BlameArgs, &Output),
    registry: &'a Registry,
    session: &mut Session<'a>,
) -> Result<Option<Vec<u8>>, Fatal> {
    let ownership = match managed(object, registry.settings().compat, session) {
        Ok(managed) => Ownership::new(&managed),
        Err(error) => {
            diagnose::managed_fields(object, &error, session);
            return Ok(None);
        }
    };
    tell_ignored(object, session);
    let Some(items) = items(object, registry, session) else { return Ok(None) };
    if object.value.get("metadata").and_then(|metadata| metadata.get("managedFields")).is_none() {
        let at = object.at_pointer("/metadata").shown();
        let detail = "found no metadata.managedFields; kubectl prints them with --show-managed-fields";
        diagnose::tell(object, Code::NoManagedFields, at, detail, session);
    }
    let value = shown(object.value, args.show_managed_fields, session);
    let arena = session.arena;
    let text: &'a str = arena.alloc_str(&print::yaml(value));
    let mut tape = Tape::new();
    let limits = Limits { bytes: usize::MAX, ..Limits::default() };
    let read = Stream::new(text.as_bytes(), limits).ok().and_then(|mut stream| stream.next(&mut tape));
    let tape: &'a Tape = arena.alloc(tape);
    let document = tape.document(text);
    let (Some(Ok(())), Some(root)) = (read, document.root()) else {
        return Err(Fatal::Internal { input: object.location.input().to_string() });
    };
    let mut walk = Walk { text, at: (0, 0), fields: Vec::new(), path: Vec::new(), session };
    walk.value(root, &ownership.root(), items, &[]);
    let fields = walk.fields;
    let version = object.gvk().api_version();
    Ok(Some(if output.is_json() {
        let list = as_json(&fields, session);
        let mut compact = Vec::new();
        if is_one {
            compact = list;
        } else {
            compact.extend(object.begin_json());
            compact.extend_from_slice(b",\"fields\":");
            compact.extend(list);
            compact.push(b'}');
        }
        let mut out = Vec::new();
        json::indent(&compact, &mut out);
        out.push(b'\n');
        out
    } else if args.paths {
        let name = if is_one { String::new() } else { object.name() + "\t" };
        let mut out = String::new();
        for field in fields.iter().filter(|field| field.counts || !field.owners.is_empty()) {
            let path = clean::clean(&DisplayPath(&field.path).to_string());
            let _ = writeln!(out, "{name}{path}\t{}", names(&field.owners, version));
        }
        out.into_bytes()
    } else {
        let mut out = if is_one { String::new() } else { format!("# {}\n", object.name()) };
        out.push_str(&in_margin(text, &fields, version));
        clean::lines(&out).into_owned().into_bytes()
    }))
}

/// Returns the fields by the object's type, which gives the items of lists their names. Empty if there is no type.
fn items<'a>(object: &Object<'a>, registry: &'a Registry, session: &mut Session<'a>) -> Option<Set<'a>> {
    if registry.is_empty() {
        return Some(Set::EMPTY);
    }
    let Some(kind) = registry.kind(object.gvk()) else {
        types::unknown_of(object, registry, session);
        return None;
    };
    // Managed fields are reported already, and have no owners.
    let typed = kind.merge_type()?.validate(shown(object.value, false, session), Duplicates::Allowed);
    match typed.and_then(|typed| typed.to_field_set(session.arena)) {
        Ok(set) => Some(set),
        Err(errors) => {
            diagnose::invalid(object, &errors, kind, registry, session);
            None
        }
    }
}

/// Returns the object as it is printed.
fn shown<'a>(object: Value<'a>, with_managed_fields: bool, session: &Session<'a>) -> Value<'a> {
    let (Value::Map(map), Some(Value::Map(metadata))) = (object, object.get("metadata")) else { return object };
    if with_managed_fields {
        return object;
    }
    let metadata = metadata.with("managedFields", None, session.arena);
    Value::Map(map.with("metadata", Some(Value::Map(metadata)), session.arena))
}

/// Returns whether the field is shown without owners, because a server writes it or it only holds other fields.
fn has_no_owner(path: &[PathElement<'_>]) -> bool {
    is_system_field(path) || matches!(path, [PathElement::FieldName("metadata")])
}

/// A walk over the printed object and its owners at the same time.
struct Walk<'w, 'o, 'a> {
    text: &'a str,
    /// The last position whose line was requested, and its line.
    at: (usize, usize),
    fields: Vec<Field<'o, 'a>>,
    path: Vec<PathElement<'a>>,
    session: &'w Session<'a>,
}

impl<'o, 'a> Walk<'_, 'o, 'a> {
    /// `above` are the owners of something around this value that is owned as a whole.
    fn value(&mut self, node: Node<'a>, owned: &Owned<'o, 'a>, items: Set<'a>, above: &[&'o Owner<'a>]) {
        let inner: Vec<&'o Owner<'a>> = if owned.is_leaf() {
            let own = owned.owners().filter(|owner| !above.contains(owner));
            above.iter().copied().chain(own).collect()
        } else {
            above.to_vec()
        };
        for (key, value) in node.pairs() {
            let element = PathElement::FieldName(key.text());
            self.field(key.span().start, element, value, &owned.child(element), items.with_prefix(element), &inner);
        }
        if node.is_empty() || node.kind() != Kind::Seq {
            return;
        }
        let mut names = ItemNames::new(items, owned);
        for (index, item) in node.items().enumerate() {
            let value = Value::from_node(item, self.session.arena);
            let named = names.of(index, value);
            let of_item = match named {
                Some(element) if names.agree() => owned.child(element),
                _ => owned.item(index, value),
            };
            let element = named.unwrap_or(PathElement::Index(i64::try_from(index).unwrap_or(i64::MAX)));
            self.field(item.span().start, element, item, &of_item, items.with_prefix(element), &inner);
        }
    }

    fn field(
        &mut self,
        start: usize,
        element: PathElement<'a>,
        node: Node<'a>,
        owned: &Owned<'o, 'a>,
        items: Set<'a>,
        above: &[&'o Owner<'a>],
    ) {
        self.path.push(element);
        let line = self.line(start);
        let own: Vec<&'o Owner<'a>> = owned.owners().collect();
        let owners: Vec<&'o Owner<'a>> =
            above.iter().copied().filter(|owner| !own.contains(owner)).chain(own.iter().copied()).collect();
        let is_leaf = !matches!(node.kind(), Kind::Map | Kind::Seq) || node.is_empty();
        let counts = is_leaf && !has_no_owner(&self.path);
        self.fields.push(Field { path: self.path.clone(), line, owners, counts });
        // A field that managed fields never name is one field, whatever it contains.
        if !has_no_owner(&self.path) || self.path.len() == 1 {
            self.value(node, owned, items, above);
        }
        self.path.pop();
    }

    /// Returns the line of a position, from 0. Positions must come in order.
    fn line(&mut self, start: usize) -> usize {
        let (at, line) = self.at;
        let more = self.text.as_bytes().get(at..start).map_or(0, |new| memchr::memchr_iter(b'\n', new).count());
        self.at = (start.max(at), line + more);
        line + more
    }
}

/// The path elements that can name the items of a list.
struct ItemNames<'a> {
    /// Elements from the object's type and those that managers wrote, in order.
    elements: Vec<PathElement<'a>>,
    /// The fields that are keys. There is one set of keys, unless they changed after a manager wrote.
    keys: Vec<Vec<&'a str>>,
    /// Elements by the values of some of their keys, for items that lack the others.
    partial: Vec<Partial<'a>>,
}

/// Elements with these keys, by the values of those that are present.
struct Partial<'a> {
    keys: usize,
    present: Vec<&'a str>,
    /// The values, and the index of the element among all elements. Sorted.
    table: Vec<(Vec<Value<'a>>, usize)>,
}

impl<'a> ItemNames<'a> {
    fn new(items: Set<'a>, owned: &Owned<'_, 'a>) -> Self {
        let mut elements = owned.elements();
        elements.extend(items.entries().iter().map(|entry| entry.element));
        elements.sort();
        elements.dedup();
        let mut keys: Vec<Vec<&'a str>> = Vec::new();
        for element in &elements {
            if let PathElement::Key(fields) = element
                && !keys.iter().any(|names| has_keys(fields, names))
            {
                keys.push(fields.iter().map(|(name, _)| *name).collect());
            }
        }
        ItemNames { elements, keys, partial: Vec::new() }
    }

    /// Returns whether an item has at most one name.
    fn agree(&self) -> bool {
        self.keys.len() <= 1
    }

    fn of(&mut self, index: usize, item: Value<'_>) -> Option<PathElement<'a>> {
        let known = |element: PathElement<'_>| self.elements.binary_search_by(|other| other.cmp(&element)).ok();
        let by_keys = self.keys.iter().find_map(|names| {
            let fields: Option<Vec<(&str, Value<'_>)>> =
                names.iter().map(|name| item.get(name).map(|value| (*name, value))).collect();
            known(PathElement::Key(&fields?))
        });
        let by_place = || known(PathElement::Index(i64::try_from(index).ok()?));
        let found = by_keys.or_else(|| known(PathElement::Value(item))).or_else(by_place);
        let found = found.or_else(|| (0..self.keys.len()).find_map(|keys| self.defaulted(keys, item)))?;
        self.elements.get(found).copied()
    }

    /// Finds the element of an item that lacks a key. The element then has the default of the key.
    fn defaulted(&mut self, keys: usize, item: Value<'_>) -> Option<usize> {
        let names = self.keys.get(keys)?;
        let present: Vec<&'a str> = names.iter().copied().filter(|name| item.get(name).is_some()).collect();
        if present.is_empty() {
            return None;
        }
        let is_made = |partial: &Partial<'_>| partial.keys == keys && partial.present == present;
        if !self.partial.iter().any(is_made) {
            let all = self.elements.iter().enumerate().filter_map(|(at, element)| match element {
                PathElement::Key(fields) if has_keys(fields, names) => {
                    let of_present = fields.iter().filter(|(name, _)| present.contains(name));
                    Some((of_present.map(|(_, value)| *value).collect(), at))
                }
                _ => None,
            });
            let mut table: Vec<(Vec<Value<'a>>, usize)> = all.collect();
            table.sort();
            self.partial.push(Partial { keys, present: present.clone(), table });
        }
        let Partial { table, .. } = self.partial.iter().find(|partial| is_made(partial))?;
        let values: Vec<Value<'_>> = present.iter().filter_map(|name| item.get(name)).collect();
        let at = table.partition_point(|(other, _)| other.iter().lt(values.iter()));
        table.get(at).filter(|(other, _)| other.iter().eq(values.iter())).map(|(_, at)| *at)
    }
}

fn has_keys(fields: &[(&str, Value<'_>)], names: &[&str]) -> bool {
    names.iter().eq(fields.iter().map(|(name, _)| name))
}

/// Returns the owners on one line.
fn names(owners: &[&Owner<'_>], version: &str) -> String {
    if owners.is_empty() {
        return NOBODY.to_owned();
    }
    let name = |owner: &&Owner<'_>| {
        let mut out = format!("{} {}", owner.manager, owner.operation);
        if !owner.subresource.is_empty() {
            let _ = write!(out, " /{}", owner.subresource);
        }
        if owner.api_version != version {
            let _ = write!(out, " {}", owner.api_version);
        }
        if let Some(time) = owner.time {
            let _ = write!(out, " {time}");
        }
        out
    };
    clean::clean(&owners.iter().map(name).collect::<Vec<_>>().join(", "))
}

/// Returns the object with the owners of each line at its end, as a comment.
fn in_margin(text: &str, fields: &[Field<'_, '_>], version: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    // For each line: the owners, and whether it can have owners.
    let mut margin: Vec<(Vec<&Owner<'_>>, bool)> = lines.iter().map(|_| (Vec::new(), false)).collect();
    for field in fields {
        let Some((owners, counts)) = margin.get_mut(field.line) else { continue };
        *counts |= field.counts;
        let more: Vec<_> = field.owners.iter().filter(|owner| !owners.contains(owner)).copied().collect();
        owners.extend(more);
    }
    let width = |line: &&str| line.chars().count();
    let owned = lines.iter().zip(&margin).filter(|(_, (owners, counts))| *counts || !owners.is_empty());
    let column = owned.map(|(line, _)| width(line)).filter(|width| *width <= MARGIN).max().unwrap_or(0);
    let mut out = String::with_capacity(2 * text.len());
    for (line, (owners, counts)) in lines.iter().zip(&margin) {
        if owners.is_empty() && !counts {
            let _ = writeln!(out, "{line}");
        } else {
            let _ = writeln!(out, "{line:column$}  # {}", names(owners, version));
        }
    }
    out
}

/// Returns the fields as compact JSON: a list in the order of the object.
fn as_json(fields: &[Field<'_, '_>], session: &Session<'_>) -> Vec<u8> {
    let arena = session.arena;
    let text = |text: &str| Value::String(arena.alloc_str(text));
    let object = |members: Vec<(&'static str, Value<'_>)>| {
        let mut compact = b"{".to_vec();
        for (at, (name, value)) in members.iter().enumerate() {
            compact.extend_from_slice(if at == 0 { b"\"" } else { b",\"" });
            compact.extend_from_slice(name.as_bytes());
            compact.extend_from_slice(b"\":");
            // Texts and lists of texts have no infinite numbers, so this cannot fail.
            let _ = value.write_json(&mut compact);
        }
        compact.push(b'}');
        compact
    };
    let mut compact = b"[".to_vec();
    let listed = fields.iter().filter(|field| field.counts || !field.owners.is_empty());
    for (at, field) in listed.enumerate() {
        if at > 0 {
            compact.push(b',');
        }
        let path = DisplayPath(&field.path).to_string();
        let mut entry = object(vec![("path", text(&path))]);
        entry.pop();
        entry.extend_from_slice(b",\"owners\":[");
        for (at, owner) in field.owners.iter().enumerate() {
            if at > 0 {
                entry.push(b',');
            }
            let mut members = vec![
                ("manager", text(owner.manager)),
                ("operation", text(owner.operation.as_str())),
                ("apiVersion", text(owner.api_version)),
            ];
            if !owner.subresource.is_empty() {
                members.push(("subresource", text(owner.subresource)));
            }
            if let Some(time) = owner.time {
                members.push(("time", text(&time.to_string())));
            }
            entry.extend(object(members));
        }
        entry.extend_from_slice(b"]}");
        compact.extend(entry);
    }
    compact.push(b']');
    compact
}

impl Command for BlameArgs {
    fn common(&self) -> Common<'_> {
        Common { findings: &self.result.findings, walk: &self.types.walk, quiet: self.result.quiet, is_report: false }
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        run(self, session)
    }
}
