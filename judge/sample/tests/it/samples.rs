//! Samples are accepted by the checks of a server.

use kubeshape_sample::sample;
use kubeshape_schema::Bump;
use kubeshape_structural::read::manifests;
use kubeshape_structural::{Crd, Version};
use kubeshape_validate::Release;
use kubeshape_validate::crd::{self, Defaults, Definition};
use kubeshape_validate::object::Resource;
use kubeshape_yaml::{Limits, Stream, Tape};

/// Calls `with` for every version that a server accepts, prepared for the newest release.
pub(crate) fn each(source: &[u8], mut with: impl for<'a> FnMut(&str, &Resource<'a>, &'a Bump)) {
    each_version(source, |crd, version, arena| {
        let resource = Resource::new(crd, version, Release::NEWEST, arena);
        with(&format!("{} {}", crd.name, version.name), &resource, arena);
    });
}

/// Calls `with` for every version that a server accepts.
pub(crate) fn each_version(source: &[u8], mut with: impl for<'a> FnMut(&Crd<'_>, &Version<'_>, &'a Bump)) {
    let Ok(mut stream) = Stream::new(source, Limits::default()) else { return };
    let text = stream.source();
    let mut tape = Tape::new();
    while let Some(Ok(())) = stream.next(&mut tape) {
        let Some(root) = tape.document(text).root() else { continue };
        for manifest in manifests(root).0 {
            let arena = Bump::new();
            let Some(crd) = manifest.read(&arena).value else { continue };
            let definition = Definition::read(manifest, Defaults::Set, &arena).value;
            let valid = definition.is_some_and(|definition| {
                crd::validate(&definition.prepare_for_create(Release::NEWEST, &arena), Release::NEWEST).is_empty()
            });
            if !valid {
                continue;
            }
            for version in crd.versions.iter().filter(|version| version.served) {
                with(&crd, version, &arena);
            }
        }
    }
}

/// Definitions of the corpus for which no sample is found: two have a rule that a sample would have to solve, one
/// accepts no objects.
const UNSOLVED: [&str; 3] = [
    "realistic/trafficpolicies.yaml trafficpolicies.gateway.corpus.example.com v1beta1",
    "rules/intorstring-at-root.yaml atroots.intorstring.rules.example.com v1",
    "rules/root-validations.yaml validations.root.rules.example.com v1",
];

#[test]
fn the_server_accepts_samples_of_the_corpus() {
    let (mut made, mut refused) = (0, Vec::new());
    for file in kubeshape_corpus::files().unwrap() {
        each(&file.bytes, |name, resource, arena| {
            for maximal in [false, true] {
                made += 1;
                let sample = sample(resource, maximal, arena);
                let label = format!("{} {name}", file.id);
                if sample.problems.is_empty() == UNSOLVED.contains(&label.as_str()) {
                    refused.push(format!("{label} {maximal} {:?}", sample.problems));
                }
            }
        });
    }
    assert!(made > 100, "{made} samples");
    assert!(refused.is_empty(), "{} of {made}:\n{}", refused.len(), refused.join("\n"));
}

const RULES: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: plans.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: plans, singular: plan, kind: Plan, listKind: PlanList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [code, steps]
            oneOf: [{required: [file]}, {required: [url]}]
            x-kubernetes-validations: [{rule: "has(self.owner) || has(self.team)"}]
            properties:
              code: {type: string, pattern: "^[A-Z]{2}-[0-9]{3}$"}
              file: {type: string, minLength: 3, maxLength: 4}
              url: {type: string, format: uri}
              owner: {type: string}
              team: {type: string, enum: [red, blue]}
              share: {type: number, minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true}
              steps:
                type: array
                minItems: 3
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [id]
                items:
                  type: object
                  required: [id]
                  properties: {id: {type: integer, multipleOf: 5, minimum: 7}}
"#;

#[test]
fn constraints_are_solved_and_rules_are_kept() {
    let mut found = Vec::new();
    each(RULES.as_bytes(), |_, resource, arena| {
        for maximal in [false, true] {
            let sample = sample(resource, maximal, arena);
            assert_eq!(sample.problems, [], "{maximal}");
            let mut json = Vec::new();
            sample.value.get("spec").unwrap().write_go_json(&mut json);
            found.push(String::from_utf8(json).unwrap());
        }
    });
    let steps = r#""steps":[{"id":10},{"id":15},{"id":20}]"#;
    let least = format!(r#"{{"code":"AA-000","file":"mple","owner":"example",{steps}}}"#);
    let most = format!(r#"{{"code":"AA-000","file":"mple","owner":"example","share":0.5,{steps},"team":"red"}}"#);
    assert_eq!(found, [least, most]);
}
