//! Compares the items of lists and the fields of objects.

use super::value::{judged, takes_default, text};
use super::{Pair, Rest, STRICTER, WIDER, Walk, missing};
use crate::change::{Class, Consumer, MAX_MARKED_ITEMS};
use crate::findings::{Spot, Subject};
use crate::moves::Field;
use crate::server_fields::Role;
use crate::types::{self, Types};
use kubeshape_sample::Step;
use kubeshape_schema::{Code, Flags, Property, Schema, Type};

use Class::{Breaking, Compatible, Risky};
use Consumer::{Apply, Cel, Readers, Storage, V2, Writers};

/// The key of a map in witnesses.
const KEY: &str = "anything";
/// Details for changes of ownership when a schema disappears or appears.
const UNKNOWN_NOW: &str =
    "parts are no longer owned as the schema said: objects are owned field by field, lists as a whole";
const KNOWN_NOW: &str =
    "parts are now owned as the schema says: before, objects were owned field by field, lists as a whole";

impl<'a> Walk<'_, 'a> {
    pub(super) fn list(&mut self, pair: &Pair<'a>, todo: &mut Vec<Pair<'a>>) {
        let kind = |schema: &Schema<'a>| schema.extra().list_type.unwrap_or("atomic");
        let (was, is) = (kind(&pair.old), kind(&pair.new));
        let (old_keys, new_keys) = (pair.old.extra().list_map_keys, pair.new.extra().list_map_keys);
        if was != is || (is == "map" && old_keys != new_keys) {
            let named = |kind: &str, keys: &[&str]| match keys {
                [] => kind.to_owned(),
                keys => format!("{kind} by {}", keys.join(", ")),
            };
            let detail = format!("list type changed from {} to {}", named(was, old_keys), named(is, new_keys));
            let list_part: &[&str] =
                if was == is { &["x-kubernetes-list-map-keys"] } else { &["x-kubernetes-list-type"] };
            let class = if was == "atomic" { Risky } else { Breaking };
            // Rules compare lists, sets and maps differently.
            let mut effects = vec![(Writers, Risky), (Apply, class), (Cel, Risky)];
            effects.retain(|(consumer, _)| match consumer {
                Apply => !pair.is_whole,
                _ => pair.rules_below(),
            });
            if !effects.is_empty() {
                self.push(pair, Code::DiffOwnership, &*detail, &effects);
                self.found.part(list_part);
            }
            if is_unique_newly(pair, (was, old_keys), (is, new_keys)) {
                self.push(pair, Code::DiffUnique, detail, STRICTER);
                self.found.part(list_part);
            }
        }
        // Without a schema, items can be anything.
        if let Some(new) = pair.new.item() {
            let old = pair.old.item().copied().unwrap_or_else(anything);
            self.descend(pair, (old, *new), Step::Item, || format!("{}[]", pair.path), todo);
        }
    }

    pub(super) fn fields(&mut self, pair: &Pair<'a>, todo: &mut Vec<Pair<'a>>) {
        let (old, new) = (&pair.old, &pair.new);
        let is_atomic = |schema: &Schema<'a>| schema.extra().map_type == Some("atomic");
        let before = self.found.changes.len();
        match (is_atomic(old), is_atomic(new)) {
            _ if pair.is_whole => {}
            (false, true) => self.push(
                pair,
                Code::DiffOwnership,
                "fields are now owned together, not one by one",
                &[(Apply, Breaking)],
            ),
            (true, false) => {
                self.push(
                    pair,
                    Code::DiffOwnership,
                    "fields are now owned one by one, not together",
                    &[(Apply, Risky)],
                );
            }
            _ => {}
        }
        if self.found.changes.len() > before {
            self.found.part(&["x-kubernetes-map-type"]);
        }
        self.unknown_fields(pair, todo);
        self.own_fields(pair, todo);
        for property in old.properties {
            match new.property(property.name) {
                None if pair.own.1.field(property.name).is_some() => {}
                Some(schema) => {
                    let step = Step::Property(property.name);
                    self.descend(pair, (property.schema, *schema), step, || below(pair, property.name), todo);
                }
                None => self.gone(pair, property, todo),
            }
        }
        for property in new.properties.iter().filter(|property| old.property(property.name).is_none()) {
            if pair.own.0.field(property.name).is_none() {
                self.came(pair, property, todo);
            }
        }
        for name in missing(new.required, old.required) {
            // A server sets the default of a missing field.
            if pair.own.0.always().contains(&name) || new.property(name).is_some_and(|schema| schema.default.is_some())
            {
                continue;
            }
            self.push_about(
                pair,
                Subject::Field(name),
                Code::DiffRequired,
                format!("{name} is now required"),
                STRICTER,
            );
            self.found.part(&["required", &index(new.required, name)]);
        }
        for name in missing(old.required, new.required) {
            let effects = [(Writers, Compatible), (Readers, Risky)];
            self.push(pair, Code::DiffRequiredGone, format!("{name} is no longer required"), &effects);
            self.found.removed(&["required", &index(old.required, name)]);
        }
    }

    /// Compares fields that a server handles itself on one side and that one of the schemas does not name.
    fn own_fields(&mut self, pair: &Pair<'a>, todo: &mut Vec<Pair<'a>>) {
        let (was, is) = pair.own;
        let mut dropped = Vec::new();
        for &name in was.fields() {
            let Some(own) = was.field(name) else { continue };
            let at = |schema: &Schema<'a>, at: u32| Schema { at, ..*schema };
            let (before, after) = match (pair.old.property(name), pair.new.property(name), is.field(name)) {
                // These are compared like other fields, or neither schema nor server constrains them.
                (Some(_), Some(_), _) | (Some(_), None, None) | (None, None, Some(_)) => continue,
                (Some(old), None, Some(own)) => (*old, at(own, pair.new.at)),
                (None, Some(new), _) => (at(own, pair.old.at), *new),
                (None, None, None) => match self.rest_now(&pair.new, is) {
                    Rest::Schema(schema) => (at(own, pair.old.at), *schema),
                    Rest::Kept => continue,
                    Rest::Dropped => {
                        dropped.push(name);
                        continue;
                    }
                },
            };
            self.descend(pair, (before, after), Step::Property(name), || below(pair, name), todo);
        }
        if !dropped.is_empty() {
            let detail = format!("no longer an embedded resource: its {} are dropped", dropped.join(", "));
            let effects = [(Storage, Breaking), (Writers, Breaking), (Readers, Breaking), (Apply, Risky)];
            self.push(pair, Code::DiffFieldGone, detail, &effects);
            self.found.part(&["x-kubernetes-embedded-resource"]);
        }
    }

    /// Compares whether fields without a property are kept.
    fn unknown_fields(&mut self, pair: &Pair<'a>, todo: &mut Vec<Pair<'a>>) {
        let (old, new) = (&pair.old, &pair.new);
        let before = self.found.changes.len();
        match (self.rest_before(old, pair.own.0), self.rest_now(new, pair.own.1)) {
            (Rest::Dropped, Rest::Dropped) | (Rest::Kept, Rest::Kept) => {}
            // Reported once, for the whole definition.
            (Rest::Dropped, Rest::Kept) | (Rest::Kept, Rest::Dropped) if self.keeps.0 != self.keeps.1 => {}
            (Rest::Schema(old), Rest::Schema(new)) => {
                self.descend(pair, (*old, *new), Step::Key(KEY), || format!("{}.*", pair.path), todo);
            }
            (Rest::Dropped, _) => self.push(pair, Code::DiffKeptWider, "fields without a schema are now kept", WIDER),
            (Rest::Schema(schema), Rest::Kept) => {
                self.push(pair, Code::DiffKeptWider, "field values can now be anything", WIDER);
                if !is_owned_as_unknown(schema) {
                    self.push_about(pair, Subject::Field(KEY), Code::DiffOwnership, UNKNOWN_NOW, &[(Apply, Risky)]);
                }
            }
            (_, Rest::Dropped) => {
                let effects = [(Storage, Breaking), (Writers, Breaking), (Readers, Breaking), (Apply, Risky)];
                let detail = "fields without a schema are now dropped";
                self.push_about(pair, Subject::Field(KEY), Code::DiffKept, detail, &effects);
            }
            (Rest::Kept, Rest::Schema(schema)) if Types::of(schema) == Types::ANY => {
                self.descend(pair, (anything(), *schema), Step::Key(KEY), || format!("{}.*", pair.path), todo);
            }
            (Rest::Kept, Rest::Schema(schema)) => {
                let detail = format!("field values must now be of type {}", types::name(schema));
                self.push_about(pair, Subject::Field(KEY), Code::DiffType, detail, STRICTER);
                if !is_owned_as_unknown(schema) {
                    self.push_about(pair, Subject::Field(KEY), Code::DiffOwnership, KNOWN_NOW, &[(Apply, Risky)]);
                }
            }
        }
        let part = if old.additional == new.additional {
            "x-kubernetes-preserve-unknown-fields"
        } else {
            "additionalProperties"
        };
        for change in &mut self.found.changes[before..] {
            change.part = vec![part.to_owned()];
        }
    }

    /// Describes the field of the change that is pushed next.
    fn field(&self, pair: &Pair<'a>, property: &Property<'a>, path: &str) -> Field<'a> {
        Field {
            at: self.found.changes.len(),
            name: property.name,
            parent: pair.path.clone(),
            path: path.to_owned(),
            schema: property.schema,
        }
    }

    fn gone(&mut self, pair: &Pair<'a>, property: &Property<'a>, todo: &mut Vec<Pair<'a>>) {
        let path = below(pair, property.name);
        let places = (property.at, pair.new.at);
        let trail = self.found.step(pair.trail, Step::Property(property.name));
        let (old, new) = (property.schema, Schema::of_type(Type::Absent));
        let spot = Spot { old, new, also: None, own: Role::Nothing, trail, subject: Subject::Value };
        match self.rest_now(&pair.new, pair.own.1) {
            Rest::Schema(schema) => todo.push(pair.below(property.schema, *schema, path, trail, property.name)),
            Rest::Kept => {
                let detail = "schema of the field removed; its values are kept".to_owned();
                let mut effects = vec![(Writers, Compatible), (Readers, Risky)];
                if !is_owned_as_unknown(&property.schema) {
                    effects.push((Apply, Risky));
                }
                effects.push((V2, Risky));
                self.at(&spot, path, places, Code::DiffTypeWider, detail, &effects);
                self.found.removed(&[]);
            }
            Rest::Dropped => {
                let detail = "its values are dropped, and strict requests that contain it are rejected".to_owned();
                let effects =
                    [(Storage, Breaking), (Writers, Breaking), (Readers, Breaking), (Apply, Risky), (V2, Breaking)];
                self.gone.push(self.field(pair, property, &path));
                self.at(&spot, path, places, Code::DiffFieldGone, detail, &effects);
                self.found.removed(&[]);
            }
        }
    }

    fn came(&mut self, pair: &Pair<'a>, property: &Property<'a>, todo: &mut Vec<Pair<'a>>) {
        let path = below(pair, property.name);
        let places = (pair.old.at, property.at);
        let trail = self.found.step(pair.trail, Step::Key(property.name));
        let (old, new) = (Schema::of_type(Type::Absent), property.schema);
        let spot = Spot { old, new, also: None, own: Role::Nothing, trail, subject: Subject::Value };
        match self.rest_before(&pair.old, pair.own.0) {
            Rest::Schema(schema) => todo.push(pair.below(*schema, property.schema, path, trail, property.name)),
            Rest::Kept if Types::of(&property.schema) == Types::ANY => {
                todo.push(pair.below(anything(), property.schema, path, trail, property.name));
            }
            Rest::Kept => {
                let detail = format!("values must now be of type {}", types::name(&property.schema));
                self.at(&spot, path.clone(), places, Code::DiffType, detail, STRICTER);
                self.found.added(&[]);
                if !is_owned_as_unknown(&property.schema) {
                    let effects = [(Apply, Risky)];
                    self.at(&spot, path.clone(), places, Code::DiffOwnership, KNOWN_NOW.to_owned(), &effects);
                    self.found.added(&[]);
                }
                self.first_default(pair, property, &spot, path);
            }
            Rest::Dropped => {
                let effects = [(Writers, Compatible), (Readers, Compatible), (V2, Compatible)];
                self.came.push(self.field(pair, property, &path));
                self.at(&spot, path.clone(), places, Code::DiffFieldNew, "field added".to_owned(), &effects);
                self.found.added(&[]);
                self.first_default(pair, property, &spot, path);
            }
        }
    }

    /// Reports the default of a field that had no schema.
    fn first_default(&mut self, pair: &Pair<'a>, property: &Property<'a>, spot: &Spot<'a>, path: String) {
        let Some(default) = property.schema.default else { return };
        let detail = format!("default {} added", text(default));
        let (detail, class) = judged(&detail, pair.judge_of(property.name).as_ref());
        let class = if takes_default(&property.schema) { class } else { Risky };
        let effects = [(Storage, Risky), (Writers, class), (Readers, Risky)];
        let places = (pair.old.at, property.schema.at);
        self.at(spot, path, places, Code::DiffDefault, detail, &effects);
        self.found.added(&["default"]);
    }
}

/// Returns the index of a name in a list; that of the first item that is too far back to be marked, if it is not
/// before.
fn index(names: &[&str], name: &str) -> String {
    names.iter().take(MAX_MARKED_ITEMS).position(|other| *other == name).unwrap_or(MAX_MARKED_ITEMS).to_string()
}

/// Returns whether server-side apply owns the parts of a value as it would without a schema: object fields one by one,
/// lists as a whole.
fn is_owned_as_unknown(schema: &Schema<'_>) -> bool {
    let mut todo = vec![schema];
    while let Some(schema) = todo.pop() {
        let extra = schema.extra();
        if matches!(extra.list_type, Some("set" | "map")) || extra.map_type == Some("atomic") {
            return false;
        }
        todo.extend(schema.properties.iter().map(|property| &property.schema));
        todo.extend(schema.additional_schema());
    }
    true
}

/// Returns whether a list can contain items that the old type distinguishes and the new one does not.
fn is_unique_newly(pair: &Pair<'_>, (was, old_keys): (&str, &[&str]), (is, new_keys): (&str, &[&str])) -> bool {
    if let (Some(old), Some(new)) = (pair.old.item(), pair.new.item())
        && Types::of(old).both(Types::of(new)).is_empty()
    {
        return false;
    }
    match (was, is) {
        // Equal items have equal keys.
        (_, "atomic") | ("map", "set") => false,
        // Items that differ in some of the keys differ in all of them.
        ("map", "map") => old_keys.iter().any(|key| !new_keys.contains(key)),
        _ => true,
    }
}

/// Returns the path of a property. Long names are cut: they appear in every path below.
fn below(pair: &Pair<'_>, name: &str) -> String {
    const LONGEST: usize = 253;
    let name = match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    };
    if pair.path.is_empty() { name } else { format!("{}.{name}", pair.path) }
}

/// Returns the schema of values that could be anything.
fn anything<'a>() -> Schema<'a> {
    let any = Schema::of_type(Type::Absent);
    Schema { flags: any.flags.with(Flags::PRESERVE_UNKNOWN), subtree: any.subtree.with(Flags::PRESERVE_UNKNOWN), ..any }
}
