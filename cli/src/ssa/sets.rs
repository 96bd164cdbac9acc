//! `fieldset`, `compare`, `merge`, `extract`: what needs one or two objects and no stack.

use super::object::{Object, only};
use super::print::Output;
use super::text::{Text, check_stdin, read_path};
use super::types::BuiltIn;
use super::{Session, diagnose, types};
use crate::args::{CompareArgs, ExtractArgs, FieldsetArgs, MergeArgs, SmdCompat, TypeArgs};
use crate::error::Fatal;
use kubeshape_input::Code;
use kubeshape_registry::{Kind, Registry, extract_applied};
use kubeshape_smd::Value;
use kubeshape_smd::fieldpath::SetError;
use kubeshape_smd::managed::{DecodeError, ExtractError, Managed};
use kubeshape_smd::typed::{CompareError, Duplicates, TypedValue};
use kubeshape_yaml::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// An object and its type.
#[derive(Clone, Copy)]
struct Typed<'a> {
    object: Object<'a>,
    kind: &'a Kind,
    value: TypedValue<'a>,
}

/// Reads the one object of a file.
pub(super) fn read_object<'a>(path: &Path, session: &mut Session<'a>) -> Option<Object<'a>> {
    let text: &'a Text<'a> = read_path(path, session)?;
    only(text, session)
}

/// Reads the managed fields of an object as a release does.
pub(super) fn managed<'a>(
    object: &Object<'a>,
    compat: SmdCompat,
    session: &Session<'a>,
) -> Result<Managed<'a>, DecodeError> {
    kubeshape_registry::managed(object.value, compat.of_fields(), session.arena)
}

/// Reads the types that are needed.
fn registry<'a>(args: &TypeArgs, objects: &[&PathBuf], session: &mut Session<'a>) -> Result<&'a Registry, Fatal> {
    check_stdin(args.schemas.iter().chain(objects.iter().copied()))?;
    let mut registry = types::read(args, session)?;
    if let Some(built_in) = BuiltIn::of(args) {
        built_in.add(&mut registry, session);
    }
    Ok(session.arena.alloc(registry))
}

/// Reads an object and gives it the type of its kind.
fn typed<'a>(
    path: &Path,
    duplicates: Duplicates,
    registry: &'a Registry,
    session: &mut Session<'a>,
) -> Option<Typed<'a>> {
    let object = read_object(path, session)?;
    let kind = types::kind(&object, registry, session)?;
    match kind.merge_type()?.validate(object.value, duplicates) {
        Ok(value) => Some(Typed { object, kind, value }),
        Err(errors) => {
            diagnose::invalid(&object, &errors, kind, registry, session);
            None
        }
    }
}

/// `kubeshape fieldset`
///
/// # Errors
/// There is no answer.
pub(crate) fn fieldset(args: &FieldsetArgs, session: &mut Session<'_>) -> Result<bool, Fatal> {
    let output = Output::new(&args.result)?;
    let registry = registry(&args.types, &[&args.object], session)?;
    let Some(typed) = typed(&args.object, Duplicates::Refused, registry, session) else { return Ok(false) };
    let set = match typed.value.to_field_set(session.arena) {
        Ok(set) => set,
        Err(errors) => {
            diagnose::invalid(&typed.object, &errors, typed.kind, registry, session);
            return Ok(false);
        }
    };
    let text = match args.paths {
        true if set.is_empty() => Ok(String::new()),
        true => Ok(format!("{set}\n")),
        false => set.to_json().map(|json| json + "\n"),
    };
    match text {
        Ok(text) => output.bytes(text.as_bytes()).map(|()| true),
        Err(error) => Ok(unwritable(&typed.object, &error, session)),
    }
}

fn unwritable<'a>(object: &Object<'a>, error: &SetError, session: &mut Session<'a>) -> bool {
    let detail = format!("the object has a key that JSON cannot hold: {}", error.message);
    session.tell(&object.finding_of_all(Code::NotApplied, detail));
    false
}

/// `kubeshape compare`
///
/// # Errors
/// There is no answer.
pub(crate) fn compare(args: &CompareArgs, session: &mut Session<'_>) -> Result<bool, Fatal> {
    let output = Output::new(&args.result)?;
    let registry = registry(&args.types, &[&args.a, &args.b], session)?;
    let a = typed(&args.a, Duplicates::Allowed, registry, session);
    let b = typed(&args.b, Duplicates::Allowed, registry, session);
    let (Some(a), Some(b)) = (a, b) else { return Ok(false) };
    let comparison = match a.value.compare(b.value, session.arena) {
        Ok(comparison) => comparison,
        Err(error) => {
            failed(&error, &a, &b, registry, session);
            return Ok(false);
        }
    };
    let sections = [("added", comparison.added), ("modified", comparison.modified), ("removed", comparison.removed)];
    let mut out = Vec::new();
    if output.is_json() {
        let mut compact = b"{".to_vec();
        for (at, (name, set)) in sections.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            compact.extend_from_slice(format!("{comma}\"{name}\":").as_bytes());
            if let Err(error) = set.write_json(&mut compact) {
                return Ok(unwritable(&a.object, &error, session));
            }
        }
        compact.push(b'}');
        json::indent(&compact, &mut out);
        out.push(b'\n');
    } else {
        let mut text = String::new();
        for (name, set) in sections.iter().filter(|(_, set)| !set.is_empty()) {
            let _ = writeln!(text, "{name}:");
            for path in set.to_string().lines() {
                let _ = writeln!(text, "  {path}");
            }
        }
        out = text.into_bytes();
    }
    output.bytes(&out)?;
    Ok(comparison.is_same())
}

/// `kubeshape merge`
///
/// # Errors
/// There is no answer.
pub(crate) fn merge(args: &MergeArgs, session: &mut Session<'_>) -> Result<bool, Fatal> {
    let output = Output::of_objects(&args.result)?;
    let registry = registry(&args.types, &[&args.a, &args.b], session)?;
    let a = typed(&args.a, Duplicates::Allowed, registry, session);
    let b = typed(&args.b, Duplicates::Refused, registry, session);
    let (Some(a), Some(b)) = (a, b) else { return Ok(false) };
    match a.value.merge(b.value, session.arena) {
        Ok(merged) => output.objects(&[merged.value().unwrap_or(Value::Null)]).map(|()| true),
        Err(error) => {
            failed(&error, &a, &b, registry, session);
            Ok(false)
        }
    }
}

/// Two objects that cannot be compared or merged.
fn failed<'a>(error: &CompareError, a: &Typed<'a>, b: &Typed<'a>, registry: &Registry, session: &mut Session<'a>) {
    match error {
        CompareError::Invalid(errors) => diagnose::invalid(&b.object, errors, b.kind, registry, session),
        CompareError::OtherSchema | CompareError::OtherType(..) => {
            let node = b.object.location.node();
            let at = node.get("kind").unwrap_or(node);
            let detail = format!(
                "expected two objects of one version and kind, found {} and {}",
                a.object.gvk(),
                b.object.gvk()
            );
            diagnose::tell(&b.object, Code::NotApplied, at, detail, session);
        }
    }
}

/// `kubeshape extract`
///
/// # Errors
/// There is no answer.
pub(crate) fn extract(args: &ExtractArgs, session: &mut Session<'_>) -> Result<bool, Fatal> {
    let output = Output::of_objects(&args.result)?;
    let registry = registry(&args.types, &[&args.object], session)?;
    let Some(object) = read_object(&args.object, session) else { return Ok(false) };
    let Some(kind) = types::kind(&object, registry, session) else { return Ok(false) };
    if let Err(error) = managed(&object, args.types.smd_compat, session) {
        diagnose::managed_fields(&object, &error, session);
        return Ok(false);
    }
    let Some(ty) = kind.merge_type() else { return Ok(false) };
    match extract_applied(object.value, ty, &args.field_manager, &args.subresource, session.arena) {
        Ok(Some(value)) => output.objects(&[value]).map(|()| true),
        Ok(None) => {
            let at = object.at_pointer("/metadata/managedFields");
            let through = if args.subresource.is_empty() { String::new() } else { format!(" to {}", args.subresource) };
            let detail = format!("found no entry of {:?} that was applied{through}", args.field_manager);
            diagnose::tell(&object, Code::NothingApplied, at.shown(), detail, session);
            Ok(true)
        }
        Err(ExtractError::Invalid(errors)) => {
            diagnose::invalid(&object, &errors, kind, registry, session);
            Ok(false)
        }
        Err(error @ (ExtractError::Fields(_) | ExtractError::Nothing { .. })) => {
            let at = object.at_pointer("/metadata/managedFields");
            diagnose::tell(&object, Code::NotApplied, at.shown(), error.to_string(), session);
            Ok(false)
        }
    }
}
