//! What may change when a definition replaces another one.

use crate::compare;
use kubeshape_check::{Check, Releases, Report};

const MOVER: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: movers.cases.example.com}
spec:
  group: cases.example.com
  scope: Namespaced
  names: {plural: movers, singular: mover, kind: Mover, listKind: MoverList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
";
const ESTABLISHED: &str = "status: {conditions: [{type: Established, status: 'True'}], storedVersions: [v1]}\n";
const PENDING: &str = "status: {conditions: [{type: Established, status: 'False'}], storedVersions: [v1]}\n";
/// The status that old generators write.
const EMPTY: &str = "status: {acceptedNames: {kind: '', plural: ''}, conditions: [], storedVersions: []}\n";

/// Returns the fields of the errors when `new` replaces a definition with this status.
fn fields(new: &str, status: &str, check: Check) -> Vec<String> {
    let report: Report = compare(&format!("{MOVER}{status}---\n{new}"), check);
    let path = |problem: &kubeshape_check::Problem| problem.error.as_ref().map(|error| error.path.clone());
    report.problems.iter().filter_map(path).collect()
}

#[test]
fn scope_and_kind_of_an_installed_definition_stay() {
    let check = Check::new(Releases::ALL);
    let cluster = MOVER.replace("Namespaced", "Cluster");
    let kind = MOVER.replace("kind: Mover,", "kind: Runner,");
    for status in ["", EMPTY, ESTABLISHED] {
        assert_eq!(fields(MOVER, status, check), [""; 0]);
        assert_eq!(fields(&cluster, status, check), ["spec.scope"], "{status}");
        assert_eq!(fields(&kind, status, check), ["spec.names.kind"], "{status}");
    }
}

#[test]
fn scope_and_kind_can_change_before_a_definition_is_established() {
    let cluster = MOVER.replace("Namespaced", "Cluster");
    assert_eq!(fields(&cluster, PENDING, Check::new(Releases::ALL)), [""; 0]);
    let check = Check::new(Releases::ALL).with_established(false);
    assert_eq!(fields(&cluster, "", check), [""; 0]);
    assert_eq!(fields(&cluster, EMPTY, check), [""; 0]);
    assert_eq!(fields(&cluster, ESTABLISHED, check), ["spec.scope"]);
}

#[test]
fn group_and_plural_never_change() {
    let plural = MOVER.replace("plural: movers", "plural: runners");
    let check = Check::new(Releases::ALL).with_established(false);
    assert!(fields(&plural, "", check).contains(&"spec.names.plural".to_owned()));
}

#[test]
fn a_status_without_stored_versions_is_ignored() {
    let v2 = MOVER.replace("name: v1,", "name: v2,");
    for status in ["", EMPTY, ESTABLISHED] {
        assert!(
            fields(&v2, status, Check::new(Releases::ALL)).contains(&"status.storedVersions[0]".to_owned()),
            "{status}"
        );
    }
}
