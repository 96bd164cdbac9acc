//! `fieldset`, `compare`, `merge`, `extract`: what needs one or two objects and no stack.

use super::Session;
use super::diagnose;
use super::library::{Known, Library};
use super::object::{Object, only};
use super::print::Output;
use super::text::{Text, check_stdin, read_path};
use crate::args::{CompareArgs, ExtractArgs, FieldsetArgs, MergeArgs, SmdCompat, TypeArgs};
use crate::error::Fatal;
use kubeshape_schema::Code;
use kubeshape_smd::Value;
use kubeshape_smd::fieldpath::{Set, SetError};
use kubeshape_smd::managed::{self, DecodeError, ExtractError, Managed};
use kubeshape_smd::typed::{CompareError, Duplicates, TypedValue};
use kubeshape_smd::value::Compat;
use kubeshape_yaml::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// An object and its type.
#[derive(Clone, Copy)]
struct Typed<'a> {
    object: Object<'a>,
    known: Known<'a>,
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
    let list = object.value.get("metadata").and_then(|metadata| metadata.get("managedFields"));
    managed::entries::decode_as(list, compat.of_fields(), session.arena)
}

/// The object with the managed fields that only the older release reads as the newer one writes them: extraction
/// follows the newer one.
fn strict<'a>(object: Value<'a>, session: &Session<'a>) -> Value<'a> {
    let arena = session.arena;
    let written = |entry: Value<'a>| -> Option<Value<'a>> {
        let fields = entry.get("fieldsV1")?;
        if Set::from_fields_v1_as(fields, Compat::V64, arena).is_ok() {
            return None;
        }
        let fields = Set::from_fields_v1_as(fields, Compat::V63, arena).ok()?.to_fields_v1(arena).ok()?;
        Some(Value::Map(entry.as_map()?.with("fieldsV1", Some(fields), arena)))
    };
    let anew = || {
        let metadata = object.get("metadata")?.as_map()?;
        let Value::List(entries) = metadata.get("managedFields")? else { return None };
        let entries = entries.iter().map(|entry| written(*entry).unwrap_or(*entry));
        let list = Value::List(arena.alloc_slice_copy(&entries.collect::<Vec<_>>()));
        let metadata = metadata.with("managedFields", Some(list), arena);
        Some(Value::Map(object.as_map()?.with("metadata", Some(Value::Map(metadata)), arena)))
    };
    anew().unwrap_or(object)
}

/// Reads the types that are needed.
fn library<'a>(args: &TypeArgs, objects: &[&PathBuf], session: &mut Session<'a>) -> Result<Library<'a>, Fatal> {
    check_stdin(args.schemas.iter().chain(objects.iter().copied()))?;
    if args.schemas.is_empty() {
        return Err(Fatal::Usage("the types of objects are needed: name what holds them with --schemas".to_owned()));
    }
    Library::new(args, session)
}

/// The type of an object's kind.
fn known<'a>(object: &Object<'a>, library: &Library<'a>, session: &mut Session<'a>) -> Option<Known<'a>> {
    let known = library.find(object.gvk()).copied();
    match known {
        Some(_) => library.check_repeated(object.gvk(), session),
        None => library.unknown(object.gvk(), object.text, object.node, session),
    }
    known
}

/// Reads an object and gives it the type of its kind.
fn typed<'a>(
    path: &Path,
    duplicates: Duplicates,
    library: &Library<'a>,
    session: &mut Session<'a>,
) -> Option<Typed<'a>> {
    let object = read_object(path, session)?;
    let known = known(&object, library, session)?;
    match known.ty.validate(object.value, duplicates) {
        Ok(value) => Some(Typed { object, known, value }),
        Err(errors) => {
            diagnose::invalid(&object, &errors, &known, library, session);
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
    let library = library(&args.types, &[&args.object], session)?;
    let Some(typed) = typed(&args.object, Duplicates::Refused, &library, session) else { return Ok(false) };
    let set = match typed.value.to_field_set(session.arena) {
        Ok(set) => set,
        Err(errors) => {
            diagnose::invalid(&typed.object, &errors, &typed.known, &library, session);
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
    diagnose::tell(object, Code::NotApplied, object.node, detail, session);
    false
}

/// `kubeshape compare`
///
/// # Errors
/// There is no answer.
pub(crate) fn compare(args: &CompareArgs, session: &mut Session<'_>) -> Result<bool, Fatal> {
    let output = Output::new(&args.result)?;
    let library = library(&args.types, &[&args.a, &args.b], session)?;
    let a = typed(&args.a, Duplicates::Allowed, &library, session);
    let b = typed(&args.b, Duplicates::Allowed, &library, session);
    let (Some(a), Some(b)) = (a, b) else { return Ok(false) };
    let comparison = match a.value.compare(b.value, session.arena) {
        Ok(comparison) => comparison,
        Err(error) => {
            failed(&error, &a, &b, &library, session);
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
    let library = library(&args.types, &[&args.a, &args.b], session)?;
    let a = typed(&args.a, Duplicates::Allowed, &library, session);
    let b = typed(&args.b, Duplicates::Refused, &library, session);
    let (Some(a), Some(b)) = (a, b) else { return Ok(false) };
    match a.value.merge(b.value, session.arena) {
        Ok(merged) => output.objects(&[merged.value().unwrap_or(Value::Null)]).map(|()| true),
        Err(error) => {
            failed(&error, &a, &b, &library, session);
            Ok(false)
        }
    }
}

/// Two objects that cannot be compared or merged.
fn failed<'a>(error: &CompareError, a: &Typed<'a>, b: &Typed<'a>, library: &Library<'a>, session: &mut Session<'a>) {
    match error {
        CompareError::Invalid(errors) => diagnose::invalid(&b.object, errors, &b.known, library, session),
        CompareError::OtherSchema | CompareError::OtherType(..) => {
            let at = b.object.node.get("kind").unwrap_or(b.object.node);
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
    let library = library(&args.types, &[&args.object], session)?;
    let Some(object) = read_object(&args.object, session) else { return Ok(false) };
    let Some(known) = known(&object, &library, session) else { return Ok(false) };
    if let Err(error) = managed(&object, args.types.smd_compat, session) {
        diagnose::managed_fields(&object, &error, session);
        return Ok(false);
    }
    let arena = session.arena;
    match managed::extract(strict(object.value, session), known.ty, &args.field_manager, &args.subresource, arena) {
        Ok(Some(value)) => output.objects(&[named(value, object.value, session)]).map(|()| true),
        Ok(None) => {
            let at = object.at_pointer("/metadata/managedFields");
            let through = if args.subresource.is_empty() { String::new() } else { format!(" to {}", args.subresource) };
            let detail = format!("found no entry of {:?} that was applied{through}", args.field_manager);
            diagnose::tell(&object, Code::NothingApplied, at.shown(), detail, session);
            Ok(true)
        }
        Err(ExtractError::Invalid(errors)) => {
            diagnose::invalid(&object, &errors, &known, &library, session);
            Ok(false)
        }
        Err(error @ (ExtractError::Fields(_) | ExtractError::Nothing { .. })) => {
            let at = object.at_pointer("/metadata/managedFields");
            diagnose::tell(&object, Code::NotApplied, at.shown(), error.to_string(), session);
            Ok(false)
        }
    }
}

/// The extracted configuration with the name and the namespace of its object, which nobody owns: client-go's generated
/// functions set them after extraction.
fn named<'a>(config: Value<'a>, object: Value<'a>, session: &Session<'a>) -> Value<'a> {
    let (Value::Map(map), Some(from)) = (config, object.get("metadata")) else { return config };
    let mut metadata = map.get("metadata").and_then(Value::as_map).unwrap_or_default();
    for key in ["name", "namespace"] {
        if let Some(text) = from.get(key).filter(|text| text.as_str().is_some_and(|text| !text.is_empty())) {
            metadata = metadata.with(key, Some(text), session.arena);
        }
    }
    Value::Map(map.with("metadata", Some(Value::Map(metadata)), session.arena))
}
