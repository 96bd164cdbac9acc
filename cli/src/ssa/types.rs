//! The registry of what `--schemas` names: which type an object has.

use super::Session;
use super::object::Object;
use super::text::{Missing, nowhere, read_all};
use crate::args::{SmdCompat, TypeArgs};
use crate::error::Fatal;
use kubeshape_input::{Code, Finding};
use kubeshape_registry::{Gvk, Kind, Location, Registry, Settings};

/// A registry that follows this release of structured-merge-diff.
pub(super) fn empty(compat: SmdCompat) -> Registry {
    Registry::new(Settings { smd_compat: compat.of_schemas(), compat: compat.of_fields(), ..Settings::default() })
}

/// Takes in parts of documents, and shows what is wrong with them. Returns whether they define anything.
pub(super) fn add(
    registry: &mut Registry,
    parts: impl IntoIterator<Item = Location>,
    session: &mut Session<'_>,
) -> bool {
    // Inputs count in the order in which they are given.
    let name = format!("{:09}", registry.inputs().count());
    let is_used = registry.set(name.as_str(), parts, Vec::new());
    registry.findings(&name).for_each(|finding| session.tell(finding));
    is_used
}

/// Reads what `--schemas` names. What cannot be used is told.
///
/// # Errors
/// The command line asks for a type that no schema has.
pub(super) fn read<'a>(args: &TypeArgs, session: &mut Session<'a>) -> Result<&'a Registry, Fatal> {
    let mut registry = empty(args.smd_compat);
    for path in &args.schemas {
        let before = session.errors();
        let mut is_used = false;
        // In folders, everything else is passed over.
        for text in read_all(std::slice::from_ref(path), Missing::Error, session) {
            is_used |= add(&mut registry, text.locations(), session);
        }
        if !is_used && session.errors() == before {
            let detail = "neither a CustomResourceDefinition, an OpenAPI document nor a structured-merge-diff schema \
                          was found in it";
            session.tell(&nowhere(Code::Nothing, &path.to_string_lossy(), detail));
        }
    }
    if let Some(name) = &args.type_name {
        registry.give_all_type(name).map_err(|error| Fatal::Usage(error.to_string()))?;
    }
    Ok(session.arena.alloc(registry))
}

/// The kind of an object. What there is to say about it is told.
pub(super) fn kind<'a>(object: &Object<'a>, registry: &'a Registry, session: &mut Session<'a>) -> Option<&'a Kind> {
    let gvk = object.gvk();
    let kind = registry.kind(gvk);
    if kind.is_none() {
        unknown_of(object, registry, session);
    } else if let Some((first, second)) = registry.repeated(gvk) {
        let at = second.definition().location();
        let place = first.definition().location();
        let detail = format!("{gvk} is defined in {place}, too; that definition counts");
        session.tell(&at.finding(Code::RepeatedKind, detail));
    }
    kind
}

/// Tells that there is no kind for an object.
pub(super) fn unknown_of(object: &Object<'_>, registry: &Registry, session: &mut Session<'_>) {
    session.tell(&object.named(unknown_finding(object.gvk(), object.location, registry)));
}

/// Tells that there is no kind for an object, which stands there.
pub(super) fn unknown(gvk: Gvk<'_>, object: &Location, registry: &Registry, session: &mut Session<'_>) {
    session.tell(&unknown_finding(gvk, object, registry));
}

fn unknown_finding(gvk: Gvk<'_>, object: &Location, registry: &Registry) -> Finding {
    let error = registry.unknown(gvk);
    let node = object.node();
    let at = node.get(if error.versions.is_empty() { "kind" } else { "apiVersion" }).unwrap_or(node);
    object.at(at).finding(Code::UnknownKind, error.to_string())
}
