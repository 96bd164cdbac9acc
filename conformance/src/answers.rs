//! Compares with answers in the format of the Go program: the recorded ones for the project's own corpus, and those for
//! generated manifests.

use crate::cluster::Cluster;
use crate::golden;
use crate::input::{Answer, OurCrd, OurVersion};
use crate::table::{Table, Verdict};
use crate::verdict::{bytes_and_etag, equal, escaped_bytes, json};
use kubeshape_corpus::{CrdAnswer, FileAnswer, Merged, MergedV2, MergedV3, VersionAnswer};
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// Compares all answers for the manifests of one stream.
pub fn compare_file(theirs: &FileAnswer, ours: &[Answer], table: &mut Table) {
    for (i, theirs) in theirs.crds.iter().enumerate().map(|(i, crd)| (i, (crd, &theirs.id))) {
        let (crd, id) = theirs;
        let label = if i == 0 { id.clone() } else { format!("{id} {i}") };
        let verdict = match (&crd.error, ours.get(i)) {
            (Some(_), Some(Answer::Unreadable(_))) => Verdict::Equal,
            (Some(error), Some(Answer::Crd(_))) => Verdict::Differing(format!("read by us, theirs: {error}")),
            (None, Some(Answer::Unreadable(why))) => Verdict::Differing(format!("not read by us: {why}")),
            (None, Some(Answer::Crd(ours))) => {
                compare_crd(crd, ours, &label, table);
                let facts = (ours.name.as_str(), ours.api_version, ours.preserve_unknown_fields, ours.versions.len());
                equal(
                    &facts,
                    &(crd.name.as_str(), crd.api_version.as_str(), crd.preserve_unknown_fields, crd.versions.len()),
                )
            }
            (_, None) => Verdict::Missing("no manifest at this place".to_owned()),
        };
        table.add("reading", &label, verdict);
    }
    for (i, ours) in ours.iter().enumerate().skip(theirs.crds.len()) {
        let what = match ours {
            Answer::Crd(crd) => format!("only ours: {}", crd.name),
            Answer::Unreadable(why) => format!("only ours: {why}"),
        };
        table.add("reading", &format!("{} {i}", theirs.id), Verdict::Differing(what));
    }
}

fn compare_crd(theirs: &CrdAnswer, ours: &OurCrd, label: &str, table: &mut Table) {
    let verdict = match (&ours.smd, &theirs.smd, &theirs.smd_error) {
        (Ok(ours), Some(theirs), _) => json(ours, theirs),
        (Err(_), None, Some(error)) if !error.starts_with("panic") => Verdict::Equal,
        (Ok(_), None, error) => {
            Verdict::Differing(format!("no error, theirs: {}", error.as_deref().unwrap_or_default()))
        }
        (Err(ours), _, _) => Verdict::Differing(format!("error: {ours}")),
    };
    table.add("smd", label, verdict);
    for (i, (theirs, ours)) in theirs.versions.iter().zip(&ours.versions).enumerate() {
        let label = if i == 0 { label.to_owned() } else { format!("{label} version {i}") };
        compare_version(theirs, ours, &label, table);
    }
}

fn compare_version(theirs: &VersionAnswer, ours: &OurVersion, label: &str, table: &mut Table) {
    let facts = (ours.name.as_str(), ours.served, ours.storage, ours.has_schema);
    table.add(
        "version",
        label,
        equal(&facts, &(theirs.version.as_str(), theirs.served, theirs.storage, theirs.has_schema)),
    );
    if theirs.has_schema {
        table.add("structural conversion", label, conversion(theirs, ours));
    }
    table.add(
        "v3",
        label,
        document(&ours.v3, theirs.v3.as_deref(), theirs.v3_error.as_deref(), |ours, theirs| {
            crate::verdict::bytes(ours, theirs.get().as_bytes())
        }),
    );
    table.add("v2", label, document(&ours.v2, theirs.v2.as_deref(), theirs.v2_error.as_deref(), escaped_bytes));
}

/// Upstream's message has no location; ours ends with one. If several keywords are not allowed, upstream reports a
/// random one.
fn conversion(theirs: &VersionAnswer, ours: &OurVersion) -> Verdict {
    match (&ours.not_convertible, &theirs.new_structural_error) {
        (None, None) | (Some(_), Some(_)) => Verdict::Equal,
        (ours, theirs) => Verdict::Differing(format!("{ours:?}, theirs {theirs:?}")),
    }
}

fn document(
    ours: &[u8],
    theirs: Option<&RawValue>,
    error: Option<&str>,
    compare: fn(&[u8], &RawValue) -> Verdict,
) -> Verdict {
    match theirs {
        Some(theirs) => compare(ours, theirs),
        None => Verdict::Differing(format!("a document, theirs: {}", error.unwrap_or("nothing"))),
    }
}

/// Compares the merged documents of the manifests of one or several streams. CustomResourceDefinitions that exclude
/// each other are left out of v2 if `leave_out` is set, because upstream chooses one at random.
pub fn compare_merged(
    theirs: &Merged,
    ours: Vec<OurCrd>,
    leave_out: bool,
    publisher: &kubeshape_publish::Publisher,
    id: &str,
    table: &mut Table,
) {
    let label = |path: &str| if id.is_empty() { path.to_owned() } else { format!("{id} {path}") };
    let mut clashing: BTreeSet<&str> = BTreeSet::new();
    let cluster = Cluster::new(ours.clone(), publisher);
    for theirs in &theirs.v3 {
        if theirs.error.is_some() {
            clashing.extend(theirs.crds.iter().map(String::as_str));
        }
        table.add("merged v3", &label(&theirs.path), merged_v3(theirs, &cluster));
    }
    let paths: BTreeSet<&str> = theirs.v3.iter().map(|document| document.path.as_str()).collect();
    for path in cluster.v3.keys().filter(|path| !paths.contains(path.as_str())) {
        table.add("merged v3", &label(path), Verdict::Differing("only ours".to_owned()));
    }
    let Some(theirs) = &theirs.v2 else { return };
    let verdict = if clashing.is_empty() || !leave_out {
        merged_v2(theirs, &cluster)
    } else {
        let rest = ours.into_iter().filter(|crd| !clashing.contains(crd.name.as_str())).collect();
        merged_v2(theirs, &Cluster::new(rest, publisher))
    };
    table.add("merged v2", &label("openapi/v2"), verdict);
}

fn merged_v3(theirs: &MergedV3, cluster: &Cluster) -> Verdict {
    match (cluster.v3.get(&theirs.path), &theirs.doc) {
        (None, _) => Verdict::Missing("no such document".to_owned()),
        (Some(Ok(ours)), Some(doc)) => bytes_and_etag(ours, doc.get().as_bytes(), &golden::etag(ours), &theirs.etag),
        (Some(Err(_)), None) if theirs.error.is_some() => Verdict::Equal,
        (Some(Err(ours)), _) => Verdict::Differing(format!("error: {ours}")),
        (Some(Ok(_)), None) => {
            Verdict::Differing(format!("a document, theirs: {}", theirs.error.as_deref().unwrap_or("nothing")))
        }
    }
}

fn merged_v2(theirs: &MergedV2, cluster: &Cluster) -> Verdict {
    match &theirs.doc {
        Some(doc) => bytes_and_etag(&cluster.v2, doc.get().as_bytes(), &golden::etag(&cluster.v2), &theirs.etag),
        None => Verdict::Differing(format!("a document, theirs: {}", theirs.error.as_deref().unwrap_or("nothing"))),
    }
}
