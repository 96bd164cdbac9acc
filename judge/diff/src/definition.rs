//! Changes of a whole definition.

use crate::change::{Change, Class, Consumer, MarkedIn};
use crate::findings::Findings;
use crate::implication::Memo;
use crate::{pruning, schema};
use kubeshape_schema::{Code, Flags, Schema};
use kubeshape_structural::{Crd, Version};
use std::collections::{HashMap, HashSet};

use Class::{Breaking, Compatible, Cosmetic, Risky};
use Consumer::{Meta, Readers, Storage, Writers};

/// Finds the changes and the values they are about.
pub(crate) fn find<'a>(old: &Crd<'a>, new: &Crd<'a>) -> Findings<'a> {
    let mut out = Findings::default();
    names(old, new, &mut out);
    versions(old, new, &mut out);
    let by_name = by_name(new);
    let mut memo = Memo::default();
    for was in firsts(old) {
        let Some(is) = by_name.get(was.name) else { continue };
        version(was, is, &mut out);
        match (was.schema, is.schema) {
            (Some(before), Some(after)) => {
                let api_version = format!("{}/{}", old.group, was.name);
                let keeps = (old.preserve_unknown_fields, new.preserve_unknown_fields);
                let of = schema::Of::Definition { api_version: &api_version, kind: old.names.kind, keeps };
                if keeps.0 != keeps.1 {
                    pruning::report(was.name, before, after, keeps.1, &mut out);
                }
                schema::compare(was.name, before, after, of, &mut memo, &mut out);
            }
            (None, Some(_)) => {
                let effects = [(Storage, Risky), (Writers, Risky)];
                push(&mut out, Code::DiffLogic, was.name, (was.at, is.at), "schema added", &effects);
                out.part(&["schema"]);
            }
            (Some(_), None) => {
                let effects = [(Writers, Compatible), (Readers, Risky)];
                push(&mut out, Code::DiffTypeWider, was.name, (was.at, is.at), "schema removed", &effects);
                out.part(&["schema"]);
            }
            (None, None) => {}
        }
    }
    out
}

/// Returns the versions. Of several with one name, the first is used: a server rejects such a definition.
fn firsts<'v, 'a>(crd: &'v Crd<'a>) -> impl Iterator<Item = &'v Version<'a>> {
    let mut names = HashSet::new();
    crd.versions.iter().filter(move |version| names.insert(version.name))
}

fn by_name<'v, 'a>(crd: &'v Crd<'a>) -> HashMap<&'a str, &'v Version<'a>> {
    firsts(crd).map(|version| (version.name, version)).collect()
}

fn push(
    out: &mut Findings<'_>,
    code: Code,
    version: &str,
    (old, new): (u32, u32),
    detail: impl Into<String>,
    effects: &[(Consumer, Class)],
) {
    let change = Change {
        code,
        version: version.to_owned(),
        path: String::new(),
        old,
        new,
        part: Vec::new(),
        marked_in: MarkedIn::Both,
        detail: detail.into(),
        effects: effects.to_vec(),
    };
    out.push(change, None);
}

fn names(old: &Crd<'_>, new: &Crd<'_>, out: &mut Findings<'_>) {
    let at = (old.names_at, new.names_at);
    for (what, was, is) in [
        ("group", old.group, new.group),
        ("kind", old.names.kind, new.names.kind),
        ("plural", old.names.plural, new.names.plural),
        ("listKind", old.names.list_kind, new.names.list_kind),
    ] {
        if was != is {
            // Objects name their group and their kind.
            let effects = [(Writers, Breaking), (Meta, Breaking)];
            let effects = if matches!(what, "group" | "kind") { &effects[..] } else { &effects[1..] };
            push(out, Code::DiffNames, "", at, format!("{what} changed from {was:?} to {is:?}"), effects);
            if what == "group" {
                at_spec(out, (old, new), what);
            } else {
                out.part(&[what]);
            }
        }
    }
    if old.scope != new.scope {
        let detail = format!("scope changed from {:?} to {:?}", old.scope, new.scope);
        push(out, Code::DiffNames, "", at, detail, &[(Meta, Breaking)]);
        at_spec(out, (old, new), "scope");
    }
    if old.names.singular != new.names.singular {
        let detail = format!("singular changed from {:?} to {:?}", old.names.singular, new.names.singular);
        push(out, Code::DiffNamesLess, "", at, detail, &[(Meta, Risky)]);
        out.part(&["singular"]);
    }
    for (keyword, what, was, is) in [
        ("shortNames", "short name", old.names.short_names, new.names.short_names),
        ("categories", "category", old.names.categories, new.names.categories),
    ] {
        let is: HashSet<&str> = is.iter().copied().collect();
        for (index, gone) in was.iter().enumerate().filter(|(_, name)| !is.contains(**name)) {
            push(out, Code::DiffNamesLess, "", at, format!("{what} {gone:?} removed"), &[(Meta, Risky)]);
            out.removed(&[keyword, &index.to_string()]);
        }
    }
}

/// Moves the last change to a member of `spec`.
fn at_spec(out: &mut Findings<'_>, (old, new): (&Crd<'_>, &Crd<'_>), member: &str) {
    if let Some(change) = out.changes.last_mut() {
        (change.old, change.new) = (old.at, new.at);
    }
    out.part(&["spec", member]);
}

fn versions(old: &Crd<'_>, new: &Crd<'_>, out: &mut Findings<'_>) {
    let (before, after) = (by_name(old), by_name(new));
    for was in firsts(old) {
        let is = after.get(was.name);
        let at = (was.at, is.map_or(new.at, |is| is.at));
        match is {
            None if was.storage => {
                let detail = "storage version removed; store the objects in another version first";
                push(out, Code::DiffVersionGone, was.name, at, detail, &[(Storage, Breaking), (Meta, Breaking)]);
                out.removed(&[]);
            }
            None => {
                let class = if was.served { Breaking } else { Compatible };
                push(out, Code::DiffVersionGone, was.name, at, "version removed", &[(Storage, Risky), (Meta, class)]);
                out.removed(&[]);
            }
            Some(is) if was.served && !is.served => {
                push(out, Code::DiffVersionGone, was.name, at, "version no longer served", &[(Meta, Breaking)]);
                out.part(&["served"]);
            }
            Some(is) if !was.served && is.served => {
                push(out, Code::DiffVersionNew, was.name, at, "version now served", &[(Meta, Compatible)]);
                out.part(&["served"]);
            }
            Some(_) => {}
        }
    }
    for is in firsts(new).filter(|is| !before.contains_key(is.name)) {
        push(out, Code::DiffVersionNew, is.name, (old.at, is.at), "version added", &[(Meta, Compatible)]);
    }
    let storage = |crd: &Crd<'_>| {
        crd.versions.iter().find(|version| version.storage).map(|version| (version.name.to_owned(), version.at))
    };
    if let (Some((was, old)), Some((is, new))) = (storage(old), storage(new))
        && was != is
    {
        let detail = format!("storage version changed from {was} to {is}");
        push(out, Code::DiffStorage, "", (old, new), detail, &[(Storage, Risky)]);
        out.part(&["storage"]);
    }
}

fn version(was: &Version<'_>, is: &Version<'_>, out: &mut Findings<'_>) {
    let at = (was.at, is.at);
    // A client that writes a status has one to write.
    let has_status = |schema: Option<&Schema<'_>>| {
        schema.is_none_or(|schema| {
            schema.property("status").is_some()
                || schema.flags.any(Flags::PRESERVE_UNKNOWN)
                || schema.additional.is_some()
        })
    };
    let class = if has_status(was.schema) { Breaking } else { Compatible };
    match (was.status, is.status) {
        (true, false) => {
            let detail = "/status removed; the status is written with the object";
            push(out, Code::DiffSubresource, was.name, at, detail, &[(Writers, class), (Meta, Breaking)]);
            out.part(&["subresources", "status"]);
        }
        (false, true) => {
            let detail = "/status added; requests to the object no longer change the status";
            push(out, Code::DiffSubresource, was.name, at, detail, &[(Writers, class), (Meta, Compatible)]);
            out.part(&["subresources", "status"]);
        }
        _ => {}
    }
    match (was.scale, is.scale) {
        (Some(_), None) => {
            push(out, Code::DiffSubresource, was.name, at, "/scale removed", &[(Meta, Breaking)]);
            out.part(&["subresources", "scale"]);
        }
        (Some(old), Some(new)) if old != new => {
            push(out, Code::DiffSubresource, was.name, at, "paths of /scale changed", &[(Meta, Risky)]);
            out.part(&["subresources", "scale"]);
        }
        _ => {}
    }
    if was.columns != is.columns {
        push(out, Code::DiffShown, was.name, at, "printer columns changed", &[(Meta, Cosmetic)]);
        out.part(&["additionalPrinterColumns"]);
    }
    let selectable: HashSet<&str> = is.selectable_fields.iter().copied().collect();
    for (index, gone) in was.selectable_fields.iter().enumerate().filter(|(_, path)| !selectable.contains(**path)) {
        let detail = format!("{gone} can no longer be used in field selectors");
        push(out, Code::DiffSelector, was.name, at, detail, &[(Readers, Breaking), (Meta, Breaking)]);
        out.removed(&["selectableFields", &index.to_string()]);
    }
    if !was.deprecated && is.deprecated {
        push(out, Code::DiffDescription, was.name, at, "version deprecated", &[(Meta, Compatible)]);
        out.part(&["deprecated"]);
    }
}
