//! Turns what is wrong with objects into findings with positions.

use super::Session;
use super::object::Object;
use kubeshape_input::{Code, Finding};
use kubeshape_registry::{Error, FieldError, FieldErrorKind, Kind, Location, Registry, describe, managed_fields_error};
use kubeshape_smd::managed::DecodeError;
use kubeshape_smd::typed::ValidationErrors;
use kubeshape_yaml::{Kind as NodeKind, Node};

/// The maximum number of errors that are shown for one object.
const MOST: usize = 50;

/// Reports everything that does not match the type of an object.
pub(crate) fn invalid<'a>(
    object: &Object<'a>,
    errors: &ValidationErrors,
    kind: &Kind,
    registry: &Registry,
    session: &mut Session<'a>,
) {
    let errors = registry.field_errors(errors, Some(kind), object.gvk(), Some(object.location));
    field_errors(object, &errors, kind, registry, session);
}

/// The same as [`invalid`], for errors that were already collected.
pub(crate) fn field_errors<'a>(
    object: &Object<'a>,
    errors: &[FieldError],
    kind: &Kind,
    registry: &Registry,
    session: &mut Session<'a>,
) {
    for error in errors.iter().take(MOST) {
        let at = error.location.as_ref().unwrap_or(object.location);
        let finding = match &error.kind {
            FieldErrorKind::Undeclared { name, declared_by, .. } => {
                let mut finding = at.finding(Code::UndeclaredField, error.to_string());
                undeclared(&mut finding, (name, declared_by.as_deref()), error, kind, registry);
                finding
            }
            other => {
                let value = error.value.as_ref().map(Location::node);
                // Upstream prints the value as Go does; here the source shows it.
                let expected = error.message.split_once(", got ").zip(value);
                let (detail, unquoted) = match expected {
                    Some(((expected, _), value)) => (format!("{expected}, found {}", describe(value)), unquoted(value)),
                    None => (error.message.clone(), None),
                };
                let code = if *other == FieldErrorKind::Duplicate { Code::DuplicateItem } else { Code::InvalidValue };
                let mut finding = at.finding(code, detail);
                finding.notes.extend(unquoted);
                finding.notes.extend(declared(error, "the type is declared in"));
                finding
            }
        };
        session.report(&object.named(finding));
    }
    if errors.len() > MOST {
        session.say(&format!("{} more errors are not shown", errors.len() - MOST));
    }
}

/// Returns how YAML interprets a word without quotes.
fn unquoted(node: Node<'_>) -> Option<String> {
    let read = match node.kind() {
        NodeKind::True => "true",
        NodeKind::False => "false",
        _ => return None,
    };
    let text = node.document().source().get(node.span())?;
    (text != read).then(|| format!("{text} without quotes is read as {read}; write \"{text}\""))
}

/// Returns additional information about a field that the schema does not declare.
fn undeclared(
    finding: &mut Finding,
    (name, declared_by): (&str, Option<&[String]>),
    error: &FieldError,
    kind: &Kind,
    registry: &Registry,
) {
    let notes = &mut finding.notes;
    notes.extend(declared(error, "checked against"));
    match declared_by {
        Some([]) => notes.push(format!("no other version declares {name}")),
        Some(versions) => notes.push(format!("{} declares {name}", versions.join(", "))),
        None => {}
    }
    if kind.definition().is_custom_resource() {
        notes.push(
            "a plain create would drop this field (prune it), server-side apply refuses it; with \
             x-kubernetes-preserve-unknown-fields: true in that schema both would keep it"
                .to_owned(),
        );
    } else if !registry.has_one_type() {
        notes.push(
            "a plain create would drop this field with a warning at most; server-side apply refuses it".to_owned(),
        );
    }
}

/// Returns the position in the schema that an error is about.
fn declared(error: &FieldError, what: &str) -> Option<String> {
    let location = error.declared.as_ref()?;
    let pointer = location.pointer();
    // In a long line, the pointer is the position.
    let is_said = pointer.is_empty() || location.place().is_some_and(kubeshape_input::Place::is_far);
    let pointer = if is_said { String::new() } else { format!(", {pointer}") };
    Some(format!("{what} {location}{pointer}"))
}

/// Reports that the managed fields of an object cannot be read.
pub(crate) fn managed_fields<'a>(object: &Object<'a>, error: &DecodeError, session: &mut Session<'a>) {
    if let Error::ManagedFields { message, location } = managed_fields_error(error, Some(object.location)) {
        let at = location.as_ref().unwrap_or(object.location);
        session.report(&object.named(at.finding(Code::ManagedFields, message)));
    }
}

/// Reports something about an object.
pub(crate) fn tell<'a>(
    object: &Object<'a>,
    code: Code,
    at: Node<'_>,
    detail: impl Into<String>,
    session: &mut Session<'a>,
) {
    session.report(&object.finding(code, at, detail));
}
