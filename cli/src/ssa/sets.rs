//! `fieldset`, `merge`, `extract`: commands that need objects but no API server stack.

use crate::args::{ExtractArgs, FieldsetArgs, MergeArgs};
use crate::error::Fatal;
use crate::report::clean::clean;
use crate::session::object::{Object, only, read_objects};
use crate::session::print::Output;
use crate::session::text::read_path;
use crate::session::types::registry;
use crate::session::{Command, Common, Session, diagnose, types};
use kubeshape_input::Code;
use kubeshape_registry::{Kind, Registry, extract_applied};
use kubeshape_smd::Value;
use kubeshape_smd::fieldpath::{DisplayPath, SetError};
use kubeshape_smd::managed::{DecodeError, ExtractError, Managed, Owner, Ownership, ignored};
use kubeshape_smd::typed::{CompareError, Duplicates, TypedValue};
use kubeshape_smd::value::Compat;
use std::collections::BTreeSet;
use std::io::Write;

/// An object and its type.
#[derive(Clone, Copy)]
pub(super) struct Typed<'a> {
    pub(super) object: Object<'a>,
    pub(super) kind: &'a Kind,
    pub(super) value: TypedValue<'a>,
}

/// Reads the managed fields of an object in the way a release does.
pub(super) fn managed<'a>(
    object: &Object<'a>,
    compat: Compat,
    session: &Session<'a>,
) -> Result<Managed<'a>, DecodeError> {
    kubeshape_registry::managed(object.value, compat, session.arena)
}

/// Reports what a server ignores in the managed fields of an object.
pub(super) fn tell_ignored<'a>(object: &Object<'a>, session: &mut Session<'a>) {
    let list = object.value.get("metadata").and_then(|metadata| metadata.get("managedFields"));
    for found in list.map(ignored).unwrap_or_default() {
        let at = object.at_pointer(&format!("/metadata/managedFields{}", found.pointer)).shown();
        diagnose::tell(object, Code::ManagedFieldsIgnored, at, found.message, session);
    }
}

/// Finds the type of an object by its kind.
pub(super) fn typed<'a>(
    object: Object<'a>,
    duplicates: Duplicates,
    registry: &'a Registry,
    session: &mut Session<'a>,
) -> Option<Typed<'a>> {
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
    let inputs = args.filenames.and(&args.objects);
    let registry = registry(&args.types, &inputs, session)?;
    let objects = read_objects(&inputs, session);
    let mut out = Vec::new();
    for object in &objects.all {
        let Some(typed) = typed(*object, Duplicates::Refused, registry, session) else { continue };
        let set = match typed.value.to_field_set(session.arena) {
            Ok(set) => set,
            Err(errors) => {
                diagnose::invalid(&typed.object, &errors, typed.kind, registry, session);
                continue;
            }
        };
        if args.paths {
            let name = if objects.is_one { String::new() } else { object.name() + "\t" };
            for path in set {
                let _ = writeln!(out, "{name}{}", clean(&DisplayPath(&path).to_string()));
            }
            continue;
        }
        let mut line = Vec::new();
        if !objects.is_one {
            line = object.begin_json();
            line.extend_from_slice(b",\"fields\":");
        }
        if let Err(error) = set.write_json_as(registry.settings().compat, &mut line) {
            unwritable(object, &error, session);
            continue;
        }
        line.extend_from_slice(if objects.is_one { b"\n" } else { b"}\n" });
        out.extend(line);
    }
    output.bytes(&out).map(|()| true)
}

pub(super) fn unwritable<'a>(object: &Object<'a>, error: &SetError, session: &mut Session<'a>) {
    let detail = format!("the object has a key that JSON cannot hold: {}", error.message);
    session.report(&object.finding_of_all(Code::NotApplied, detail));
}

/// `kubeshape merge`
///
/// # Errors
/// There is no answer.
pub(crate) fn merge(args: &MergeArgs, session: &mut Session<'_>) -> Result<bool, Fatal> {
    let output = Output::of_objects(&args.result)?;
    let inputs = args.two()?;
    let registry = registry(&args.types, &inputs, session)?;
    let [a, b] = inputs.each_ref().map(|path| read_path(path, session).and_then(|text| only(text, session)));
    let a = a.and_then(|a| typed(a, Duplicates::Allowed, registry, session));
    let b = b.and_then(|b| typed(b, Duplicates::Refused, registry, session));
    let (Some(a), Some(b)) = (a, b) else { return Ok(false) };
    match a.value.merge(b.value, session.arena) {
        Ok(merged) => output.objects(&[merged.value().unwrap_or(Value::Null)]).map(|()| true),
        Err(error) => {
            failed(&error, &a, &b, registry, session);
            Ok(false)
        }
    }
}

/// Reports two objects that cannot be compared or merged.
pub(super) fn failed<'a>(
    error: &CompareError,
    a: &Typed<'a>,
    b: &Typed<'a>,
    registry: &Registry,
    session: &mut Session<'a>,
) {
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
    let inputs = args.filenames.and(&args.objects);
    let registry = registry(&args.types, &inputs, session)?;
    let mut out = Vec::new();
    for object in read_objects(&inputs, session).all {
        out.extend(extracted(&object, args, registry, session));
    }
    output.objects(&out).map(|()| true)
}

/// Returns the names of managers that applied something, as the end of a message.
fn others(names: &BTreeSet<&str>) -> String {
    /// If there are more, the rest is only counted.
    const MOST: usize = 5;
    let shown: Vec<String> = names.iter().take(MOST).map(|name| format!("{name:?}")).collect();
    match names.len() {
        0 => "; no manager applied anything".to_owned(),
        all if all > MOST => format!("; {} and {} more did", shown.join(", "), all - MOST),
        _ => format!("; {} did", shown.join(", ")),
    }
}

/// Returns what the manager applied to an object. Reports what there is to say about it.
fn extracted<'a>(
    object: &Object<'a>,
    args: &ExtractArgs,
    registry: &'a Registry,
    session: &mut Session<'a>,
) -> Option<Value<'a>> {
    let kind = types::kind(object, registry, session)?;
    let compat = registry.settings().compat;
    let managed = match managed(object, compat, session) {
        Ok(managed) => managed,
        Err(error) => {
            diagnose::managed_fields(object, &error, session);
            return None;
        }
    };
    tell_ignored(object, session);
    let at = || object.at_pointer("/metadata/managedFields").shown();
    let ty = kind.merge_type()?;
    match extract_applied(object.value, ty, &args.field_manager, &args.subresource, compat, session.arena) {
        Ok(Some(value)) => return Some(value),
        Ok(None) => {
            let through = if args.subresource.is_empty() { String::new() } else { format!(" to {}", args.subresource) };
            let ownership = Ownership::new(&managed);
            let applied =
                |owner: &&Owner<'_>| owner.operation.as_str() == "Apply" && owner.subresource == args.subresource;
            let names: BTreeSet<&str> =
                ownership.all().iter().map(|(owner, _)| owner).filter(applied).map(|owner| owner.manager).collect();
            let detail =
                format!("found no entry of {:?} that was applied{through}{}", args.field_manager, others(&names));
            diagnose::tell(object, Code::NothingApplied, at(), detail, session);
        }
        Err(ExtractError::Invalid(errors)) => diagnose::invalid(object, &errors, kind, registry, session),
        Err(error @ (ExtractError::Fields(_) | ExtractError::Nothing { .. })) => {
            diagnose::tell(object, Code::NotApplied, at(), error.to_string(), session);
        }
    }
    None
}

impl Command for ExtractArgs {
    fn common(&self) -> Common<'_> {
        Common { findings: &self.result.findings, walk: &self.types.walk, quiet: self.result.quiet, is_report: false }
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        extract(self, session)
    }
}

impl Command for MergeArgs {
    fn common(&self) -> Common<'_> {
        Common { findings: &self.result.findings, walk: &self.types.walk, quiet: self.result.quiet, is_report: false }
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        merge(self, session)
    }
}

impl Command for FieldsetArgs {
    fn common(&self) -> Common<'_> {
        Common { findings: &self.result.findings, walk: &self.types.walk, quiet: self.result.quiet, is_report: false }
    }

    fn run<'a>(&'a self, session: &mut Session<'a>) -> Result<bool, Fatal> {
        fieldset(self, session)
    }
}
