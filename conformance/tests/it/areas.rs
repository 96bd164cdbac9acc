//! The areas that need folders of inputs and recorded answers, as far as the environment names them.

use kubeshape_conformance::known::Known;
use kubeshape_conformance::{AREAS, BaseFolder, compare, has_records};
use std::path::PathBuf;

fn folder(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

fn check(area: &str) {
    let (Some(corpus), Some(golden)) = (folder("KUBESHAPE_CORPUS"), folder("KUBESHAPE_GOLDEN")) else { return };
    if !has_records(area, &golden) {
        return;
    }
    let base = folder("KUBESHAPE_BASE").unwrap_or_else(|| golden.join("apiserver").join("empty"));
    let base = BaseFolder::read(&base).expect("base documents");
    let table = compare(area, &golden, &corpus, base.as_ref(), Known::of_checkout());
    assert!(table.passed(), "{}", table.to_text());
}

#[test]
fn the_libraries_answers_for_every_definition_are_ours() {
    check(AREAS[0]);
}

#[test]
fn a_real_servers_documents_are_ours() {
    check(AREAS[1]);
}

#[test]
fn what_server_side_apply_answers_is_ours() {
    check(AREAS[3]);
}
