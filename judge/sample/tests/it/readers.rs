//! Samples show what readers want to see.

use crate::samples::each;
use kubeshape_sample::sample;

/// Returns a definition with these fields next to `spec`, and this schema of `spec`.
fn definition(beside: &str, spec: &str) -> String {
    let head = "\
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
    schema: {openAPIV3Schema: {type: object, ";
    format!("{head}{beside} properties: {{spec: {spec}}}}}}}\n")
}

/// Returns the spec of the smallest and of the largest sample as JSON. Both are accepted.
fn specs(definition: &str) -> Vec<String> {
    let mut out = Vec::new();
    each(definition.as_bytes(), |_, resource, arena| {
        for maximal in [false, true] {
            let sample = sample(resource, maximal, arena);
            assert_eq!(sample.problems, [], "{maximal}");
            let mut json = Vec::new();
            if let Some(spec) = sample.value.get("spec") {
                spec.write_go_json(&mut json);
            }
            out.push(String::from_utf8(json).unwrap());
        }
    });
    out
}

fn of_spec(spec: &str) -> Vec<String> {
    specs(&definition("", spec))
}

#[test]
fn an_optional_spec_is_shown() {
    let found = of_spec("{type: object, required: [size], properties: {size: {type: integer}, note: {type: string}}}");
    assert_eq!(found, [r#"{"size":1}"#, r#"{"note":"example","size":1}"#]);
    // Nothing is required, or the spec is a list or a string.
    assert_eq!(of_spec("{type: object, properties: {size: {type: integer}}}"), ["{}", r#"{"size":1}"#]);
    assert_eq!(of_spec("{type: array, items: {type: string}}"), ["[]", r#"["example"]"#]);
    assert_eq!(of_spec("{type: string, enum: [big, small]}"), [r#""big""#, r#""big""#]);
    // Only the root has a spec that is always shown.
    let inner = "{type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}";
    assert_eq!(of_spec(inner), ["{}", r#"{"spec":{"size":1}}"#]);
}

#[test]
fn a_forbidden_spec_is_left_out() {
    assert_eq!(
        specs(&definition("x-kubernetes-validations: [{rule: '!has(self.spec)'}],", "{type: string}")),
        ["", ""]
    );
    assert_eq!(specs(&definition("maxProperties: 3,", "{type: string}")), ["", ""]);
}

#[test]
fn objects_have_the_contents_of_their_default() {
    // The default of the spec has precedence over that of its field.
    let spec = "{type: object, default: {mode: fast, retries: 3}, properties: {mode: {type: string}, \
        retries: {type: integer, default: 1}, note: {type: string}}}";
    assert_eq!(of_spec(spec), [r#"{"mode":"fast","retries":3}"#, r#"{"mode":"fast","note":"example","retries":3}"#]);
    // Below the spec; a default in a default; a field that the default lacks.
    let spec = "{type: object, properties: {probe: {type: object, default: {http: {port: 80}}, properties: {\
        http: {type: object, properties: {port: {type: integer}, path: {type: string}}}}}}}";
    assert_eq!(of_spec(spec), ["{}", r#"{"probe":{"http":{"path":"example","port":80}}}"#]);
}

#[test]
fn maps_and_lists_have_the_contents_of_their_default() {
    let spec = "{type: object, properties: {\
        labels: {type: object, default: {tier: web, app: shop}, additionalProperties: {type: string}},\
        ports: {type: array, default: [{port: 80}, {port: 443}], items: {type: object, properties: {\
          port: {type: integer}, name: {type: string, default: main}}}},\
        open: {type: object, default: {a: [1]}, x-kubernetes-preserve-unknown-fields: true},\
        none: {type: array, default: [], items: {type: string}}}}";
    let ports = r#"[{"name":"main","port":80},{"name":"main","port":443}]"#;
    let most =
        format!(r#"{{"labels":{{"app":"shop","tier":"web"}},"none":["example"],"open":{{"a":[1]}},"ports":{ports}}}"#);
    assert_eq!(of_spec(spec), ["{}", &most]);
}

/// Returns the fields of the largest spec of a schema with these fields, all strings, and these rules.
fn kept(fields: &[&str], rules: &[&str]) -> Vec<String> {
    let rules: Vec<String> = rules.iter().map(|rule| format!("{{rule: {rule:?}}}")).collect();
    let fields: Vec<String> = fields.iter().map(|field| format!("{field}: {{type: string}}")).collect();
    let (rules, fields) = (rules.join(", "), fields.join(", "));
    let spec = format!("{{type: object, x-kubernetes-validations: [{rules}], properties: {{{fields}}}}}");
    let found: serde_json::Value = serde_json::from_str(&of_spec(&spec)[1]).unwrap();
    found.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn the_largest_object_gives_up_the_smallest_part() {
    assert_eq!(kept(&["a", "b", "c"], &["!(has(self.a) && has(self.b))"]), ["b", "c"]);
    // Three rules of one object; a rule that no single field satisfies; a rule that names no field.
    let rules = ["!has(self.a)", "!has(self.b)", "!(has(self.c) && has(self.d))"];
    assert_eq!(kept(&["a", "b", "c", "d", "e"], &rules), ["d", "e"]);
    assert_eq!(kept(&["a", "b", "c"], &["!has(self.a) && !has(self.b)"]), ["c"]);
    let many: Vec<String> = (0..100).map(|n| format!("f{n:02}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(kept(&many, &["!(has(self.f97) && has(self.f98))"]).len(), 99);
}

#[test]
fn of_two_parts_the_smaller_one_is_given_up() {
    let spec = "{type: object, x-kubernetes-validations: [{rule: '!(has(self.a) && has(self.b))'}], properties: {\
        a: {type: object, properties: {x: {type: string}, w: {type: string}}}, b: {type: string}}}";
    assert_eq!(of_spec(spec)[1], r#"{"a":{"w":"example","x":"example"}}"#);
    // The rule names a field deeper down, or in the items of a list.
    let spec = "{type: object, x-kubernetes-validations: [{rule: '!(has(self.a.x) && has(self.b))'}], properties: {\
        a: {type: object, properties: {x: {type: string}, w: {type: string}}}, \
        b: {type: object, properties: {z: {type: string}}}}}";
    assert_eq!(of_spec(spec)[1], r#"{"a":{"w":"example"},"b":{"z":"example"}}"#);
    let spec = "{type: object, x-kubernetes-validations: [{rule: 'self.list.all(i, !has(i.x))'}], properties: {\
        list: {type: array, maxItems: 3, items: {type: object, properties: {x: {type: string}, w: {type: string}}}}}}";
    assert_eq!(of_spec(spec)[1], r#"{"list":[{"w":"example"}]}"#);
}
