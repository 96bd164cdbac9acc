//! What is wrong with objects, as findings that point at it.

use super::Session;
use super::library::{Known, Library};
use super::object::{Found, Object, what};
use super::origin::{declares, steps};
use kubeshape_input::{Code, Finding};
use kubeshape_smd::managed::DecodeError;
use kubeshape_smd::typed::{ValidationError, ValidationErrorKind, ValidationErrors};
use kubeshape_yaml::{Kind, Node};

/// Errors that are shown of one object.
const MOST: usize = 50;

/// Tells everything by which an object does not fit its type.
pub(crate) fn invalid<'a>(
    object: &Object<'a>,
    errors: &ValidationErrors,
    known: &Known<'a>,
    library: &Library<'a>,
    session: &mut Session<'a>,
) {
    let mut places = object.places();
    let mut placed: Vec<(&ValidationError, Found<'a>)> =
        errors.0.iter().map(|error| (error, places.at(&error.pointer))).collect();
    // In the order in which a reader comes to them.
    placed.sort_by_key(|(error, found)| shown(error, found).span().start);
    for (error, found) in placed.into_iter().take(MOST) {
        let at = shown(error, &found);
        let finding = match &error.kind {
            ValidationErrorKind::UndeclaredField { name, nearest } => {
                undeclared(object, at, error, (name, nearest), known, library)
            }
            ValidationErrorKind::Other(_) => {
                let message = error.to_string();
                // Upstream prints the value as Go does; here the source shows it.
                let (detail, is_type) = match message.split_once(", got ") {
                    Some((expected, _)) => (format!("{expected}, found {}", what(found.value)), true),
                    None => (message, false),
                };
                let is_duplicate = error.kind.to_string().starts_with("duplicate entries");
                let code = if is_duplicate { Code::DuplicateItem } else { Code::InvalidValue };
                let mut finding = object.text.about(code, at, detail);
                finding.notes.extend(unquoted(found.value).filter(|_| is_type));
                finding.notes.extend(declared(known, &steps(&error.pointer), "the type stands"));
                finding
            }
        };
        session.tell(&about(finding, object));
    }
    if errors.0.len() > MOST {
        session.say(&format!("{} more errors are not shown", errors.0.len() - MOST));
    }
}

/// The node that an error points at.
fn shown<'a>(error: &ValidationError, found: &Found<'a>) -> Node<'a> {
    match error.kind {
        ValidationErrorKind::UndeclaredField { .. } => found.key.unwrap_or(found.value),
        ValidationErrorKind::Other(_) => found.shown(),
    }
}

/// What YAML makes of a word without quotes.
fn unquoted(node: Node<'_>) -> Option<String> {
    let read = match node.kind() {
        Kind::True => "true",
        Kind::False => "false",
        _ => return None,
    };
    let text = node.document().source().get(node.span())?;
    (text != read).then(|| format!("{text} without quotes is read as {read}; write \"{text}\""))
}

/// A field that the schema does not declare.
fn undeclared<'a>(
    object: &Object<'a>,
    at: Node<'a>,
    error: &ValidationError,
    (name, nearest): (&str, &[String]),
    known: &Known<'a>,
    library: &Library<'a>,
) -> Finding {
    let path = steps(&error.pointer);
    let parent = path.split_last().map_or(&[][..], |(_, parent)| parent);
    let near = match nearest {
        [] => String::new(),
        [one] => format!("; near to it is {one}"),
        several => format!("; near to it are {}", several.join(", ")),
    };
    let mut finding = object.text.about(Code::UndeclaredField, at, format!("{error}{near}"));
    let notes = &mut finding.notes;
    notes.extend(declared(known, parent, "the schema that does not declare it stands"));
    let gvk = object.gvk();
    let others: Vec<&str> = library
        .versions(gvk.group(), gvk.kind())
        .filter(|other| other.gvk != gvk && declares(other.ty.types().schema(), other.type_name, &path))
        .map(|other| other.gvk.api_version())
        .collect();
    if !others.is_empty() {
        notes.push(format!("{} declares {name}", others.join(", ")));
    } else if library.versions(gvk.group(), gvk.kind()).count() > 1 {
        notes.push(format!("no other version declares {name}"));
    }
    if known.origin.is_resource() {
        notes.push(
            "a plain create would drop this field (prune it), server-side apply refuses it; with \
             x-kubernetes-preserve-unknown-fields: true in that schema both would keep it"
                .to_owned(),
        );
    } else if !library.is_forced() {
        notes.push(
            "a plain create would drop this field with a warning at most; server-side apply refuses it".to_owned(),
        );
    }
    finding
}

/// Where the schema of the value at these steps is.
fn declared(known: &Known<'_>, steps: &[String], what: &str) -> Option<String> {
    let (text, node) = known.origin.schema(known.type_name, steps)?;
    let pointer = node.pointer();
    let pointer = if pointer.is_empty() { String::new() } else { format!(", {pointer}") };
    Some(format!("{what} in {}{pointer}", text.place(node)))
}

/// Tells that the managed fields of an object cannot be read.
pub(crate) fn managed_fields<'a>(object: &Object<'a>, error: &DecodeError, session: &mut Session<'a>) {
    let (entry, field) = match error {
        DecodeError::Operation { entry } => (entry, "operation"),
        DecodeError::ApiVersion { entry } => (entry, "apiVersion"),
        DecodeError::MissingFieldsType { entry } | DecodeError::FieldsType { entry, .. } => (entry, "fieldsType"),
        DecodeError::Fields { entry, .. } => (entry, "fieldsV1"),
    };
    let found = object.at_pointer(&format!("/metadata/managedFields/{entry}/{field}"));
    let finding = object.text.about(Code::ManagedFields, found.shown(), error.to_string());
    session.tell(&about(finding, object));
}

/// Tells something about an object.
pub(crate) fn tell<'a>(
    object: &Object<'a>,
    code: Code,
    at: Node<'_>,
    detail: impl Into<String>,
    session: &mut Session<'a>,
) {
    let finding = object.text.about(code, at, detail);
    session.tell(&about(finding, object));
}

/// The finding with the name of the object.
pub(crate) fn about(finding: Finding, object: &Object<'_>) -> Finding {
    let (_, kind, namespace, name) = object.identity();
    let resource = match (kind, namespace, name) {
        ("", _, _) => String::new(),
        (kind, _, "") => kind.to_owned(),
        (kind, "", name) => format!("{kind} {name}"),
        (kind, namespace, name) => format!("{kind} {namespace}/{name}"),
    };
    finding.of_resource(resource)
}
