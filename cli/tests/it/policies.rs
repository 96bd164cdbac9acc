//! Tests of admission policies: `validate --policies`, `check`.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::Folder;
use std::fmt::Write as _;

const POLICY: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: small}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [example.com], apiVersions: [v1], operations: ['*'], resources: [tabs]}
  validations:
  - expression: request.operation == 'DELETE' || object.size < 5
    message: too large
  - expression: request.operation != 'DELETE' || request.userInfo.username == 'alice'
    message: only alice deletes
    reason: Forbidden
  auditAnnotations:
  - {key: user, valueExpression: request.userInfo.username}
";

const BINDING: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: everywhere}
spec: {policyName: small, validationActions: [Deny]}
";

const MUTATION: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: sized}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [tabs]}
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: \"[JSONPatch{op: 'add', path: '/size', value: 7}]\"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: sized}
spec: {policyName: sized}
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write(
        "crds/tabs.yaml",
        "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, singular: tab, kind: Tab, listKind: TabList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer, maximum: 9, default: 6}}}}
",
    );
    folder.write("policies/small.yaml", format!("{POLICY}---\n{BINDING}"));
    folder.write("a.yaml", "apiVersion: example.com/v1\nkind: Tab\nmetadata: {name: a}\nsize: 1\n");
    folder.write("b.yaml", "apiVersion: example.com/v1\nkind: Tab\nmetadata: {name: b}\n");
    folder
}

#[test]
fn validating_policies_see_objects_with_defaults_and_refuse_them_as_a_server_does() {
    let folder = folder();
    let run = folder.run("validate --schemas crds --policies policies a.yaml b.yaml");
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    let text = "tabs.example.com \"b\" is forbidden: ValidatingAdmissionPolicy 'small' with binding 'everywhere' denied \
                request: too large";
    assert!(run.out.contains("error[KS8111]"), "{}", run.out);
    assert!(run.out.split_whitespace().collect::<Vec<_>>().join(" ").contains(text), "{}", run.out);
    assert!(!run.out.contains("KS8113"), "{}", run.out);
    assert!(run.out.contains("the policy: policies/small.yaml:9:17"), "{}", run.out);
    assert!(run.out.contains("2 objects: 1 accepted by Kubernetes 1.37, 1 refused"), "{}", run.out);
}

#[test]
fn deletion_is_judged_by_policies_and_not_by_schemas() {
    let folder = folder();
    folder.write("c.yaml", "apiVersion: example.com/v1\nkind: Tab\nmetadata: {name: c}\nsize: 100\n");
    let of = |user: &str| {
        folder.run(&format!(
            "validate --schemas crds --policies policies c.yaml --operation delete --user {user} --output-format short"
        ))
    };
    let run = of("alice");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let run = of("bob");
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    assert!(run.out.contains("denied request: only alice deletes"), "{}", run.out);
}

#[test]
fn mutating_policies_come_before_the_rules_of_the_kind_and_are_printed() {
    let folder = folder();
    folder.write("policies/sized.yaml", MUTATION);
    let run = folder.run("validate --schemas crds --policies policies/sized.yaml b.yaml --print stored -v");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("size: 7"), "{}", run.out);
    assert!(run.err.contains("KS8114") && run.err.contains("size: 6 became 7"), "{}", run.err);
    // The object that a policy produces is judged by the schema.
    folder.write("policies/sized.yaml", MUTATION.replace("value: 7", "value: 70"));
    let run = folder.run("validate --schemas crds --policies policies/sized.yaml b.yaml --output-format short");
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    assert!(run.out.contains("should be less than or equal to 9"), "{}", run.out);
}

#[test]
fn warnings_audit_annotations_and_unknown_permissions_are_reported() {
    let folder = folder();
    let asks = "  - expression: authorizer.group('example.com').resource('tabs').check('use').allowed()\n";
    let policy = POLICY.replace("  auditAnnotations", &format!("{asks}  auditAnnotations"));
    folder.write("policies/small.yaml", format!("{policy}---\n{}", BINDING.replace("[Deny]", "[Warn]")));
    let base = "validate --schemas crds --policies policies b.yaml --output-format short -v";
    let run = folder.run(&format!("{base} --user bob --group devs"));
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let warning = "Validation failed for ValidatingAdmissionPolicy 'small' with binding 'everywhere': ";
    assert!(run.out.contains(&format!("{warning}too large")), "{}", run.out);
    assert!(run.out.contains(&format!("{warning}failed expression: authorizer.group")), "{}", run.out);
    assert!(run.out.contains("small/user: bob"), "{}", run.out);
    assert!(run.out.contains("warning[KS8115]") && run.out.contains("bob:use:tabs.example.com"), "{}", run.out);
    let run = folder.run(&format!("{base} --user bob --group devs --can devs:use:tabs.example.com"));
    assert!(!run.out.contains("KS8115") && !run.out.contains("failed expression"), "{}", run.out);
}

#[test]
fn check_reports_what_a_server_refuses_of_policies_types_and_what_is_unused() {
    let folder = folder();
    folder.write("policies/small.yaml", POLICY.replace("object.size < 5", "object.width < 5"));
    folder.write("policies/binding.yaml", BINDING.replace("policyName: small", "policyName: smal"));
    let run = folder.run("check crds policies --output-format short");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("policies/small.yaml:9:57: warning[KS8122]"), "{}", run.out);
    assert!(run.out.contains("undefined field 'width'"), "{}", run.out);
    assert!(run.out.contains("warning[KS8123]") && run.out.contains("\"smal\" is not among the inputs"), "{}", run.out);
    folder.write("policies/small.yaml", POLICY.replace("object.size < 5", "objct.size < 5"));
    let run = folder.run("check crds policies --output-format short");
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    let text = "policies/small.yaml:9:50: error[KS8121]: The API server refuses the admission policy: \
                spec.validations[0].expression: undeclared reference to 'objct' (in container '')";
    assert!(run.out.contains(text), "{}", run.out);
}

#[test]
fn kinds_of_policies_depend_on_the_release() {
    let folder = folder();
    folder.write("sized.yaml", MUTATION);
    let run = folder.run("check sized.yaml --kubernetes 1.35..1.36 --output-format short");
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    assert!(run.out.contains("error[KS8124]"), "{}", run.out);
    let run = folder.run("check sized.yaml --kubernetes 1.36");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
}

const SUITE: &str = "\
name: small
policies: [small]
tests:
  onCreate:
  - name: a small tab
    initial: |
      apiVersion: example.com/v1
      kind: Tab
      size: 1
    expected: |
      size: 1
  - name: the default is too large
    initial: |
      apiVersion: example.com/v1
      kind: Tab
    expectedError: too large
  onDelete:
  - name: bob
    user: bob
    initial: |
      apiVersion: example.com/v1
      kind: Tab
    expectedError: only alice deletes
  - name: alice
    user: alice
    initial: |
      apiVersion: example.com/v1
      kind: Tab
";

#[test]
fn suites_expect_decisions_of_policies() {
    let folder = folder();
    folder.write("tests/small.yaml", SUITE);
    let run = folder.run("test --schemas crds --policies policies tests -v");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("1 suite, 4 cases: 0 failed"), "{}", run.out);
    folder.write(
        "tests/small.yaml",
        SUITE.replace("user: alice", "user: carol").replace("size: 1\n    exp", "size: 9\n    exp"),
    );
    let run = folder.run("test --schemas crds --policies policies tests");
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    assert!(run.out.contains("1 suite, 4 cases: 2 failed"), "{}", run.out);
    assert!(run.out.contains("onDelete: alice") && run.out.contains("the server refuses the object"), "{}", run.out);
    folder.write("tests/small.yaml", SUITE.replace("[small]", "[smal]"));
    let run = folder.run("test --schemas crds --policies policies tests");
    assert!(run.err.contains("no admission policy \"smal\" is known"), "{}{}", run.out, run.err);
}

/// A definition with rules in all places, or with the same schema without rules.
fn ruled(has_rules: bool) -> String {
    let rules = |list: &str| {
        if has_rules { format!("x-kubernetes-validations: [{list}]") } else { "description: no rules".to_owned() }
    };
    format!(
        "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: rules.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: rules, singular: rule, kind: Rule, listKind: RuleList}}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {{status: {{}}}}
    schema:
      openAPIV3Schema:
        type: object
        {root}
        properties:
          spec:
            type: object
            required: [min]
            properties:
              min: {{type: integer}}
              max:
                type: integer
                {max}
              ratio: {{type: number}}
              my-name:
                type: string
                {name}
              none:
                type: string
                nullable: true
                {none}
              ports:
                type: array
                maxItems: 10
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {{name: {{type: string, maxLength: 9}}, port: {{type: integer}}}}
                  {port}
              labels:
                type: object
                maxProperties: 10
                additionalProperties:
                  type: string
                  maxLength: 9
                  {label}
",
        root = rules(
            "{rule: '!has(self.spec) || !has(self.spec.max) || self.spec.min <= self.spec.max', message: min is above max}, \
             {rule: '!has(self.spec) || !has(self.spec.ratio) || self.spec.ratio < 0.5'}"
        ),
        max = rules(
            "{rule: self < 100, messageExpression: \"'at most 100, found ' + string(self)\"}, {rule: self >= oldSelf}"
        ),
        name = rules("{rule: \"self != 'x' // a comment\"}"),
        none = rules("{rule: size(self) > 1}"),
        port =
            rules("{rule: '!has(self.port) || self.port > 0'}, {rule: '!has(self.port) || self.port == oldSelf.port'}"),
        label = rules("{rule: \"self.startsWith('a')\"}, {rule: size(self) >= size(oldSelf)}"),
    )
}

/// A policy about Deployments with a variable, and loops over containers.
const COSTLY: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: costly}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: ['*'], resources: [deployments]}
  variables:
  - {name: all, expression: object.spec.template.spec.containers}
  validations:
  - expression: object.spec.replicas <= 5
  - expression: variables.all.all(a, variables.all.all(b, variables.all.all(c, variables.all.exists(d, a == d || b == c))))
    messageExpression: \"'found ' + object.metadata.name\"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: costly}
spec: {policyName: costly, validationActions: [Deny]}
";

#[test]
fn check_shows_what_expressions_cost_and_warns_if_ordinary_objects_cost_too_much() {
    let folder = Folder::new();
    folder.write("costly.yaml", COSTLY);
    let title = "An expression of an admission policy costs too much for ordinary objects";
    let warning = format!(
        "costly.yaml:12:17: warning[KS8129]: {title}: spec.validations[1].expression: costs at most the limit of 1,000,000 \
         only while lists, maps and strings have at most 16 entries (in ValidatingAdmissionPolicy costly)\n"
    );
    let run = folder.run("check costly.yaml --output-format short");
    assert_eq!((run.code, &run.out), (Some(0), &warning), "{}", run.err);
    let run = folder.run("check costly.yaml -v --output-format short");
    let costs: Vec<&str> =
        run.out.lines().filter_map(|line| line.split_once(" policy can cost: ")).map(|(_, cost)| cost).collect();
    let within = |path: &str, most: &str| {
        format!("{path}: costs at most {most}, and the limit is 1,000,000 (in ValidatingAdmissionPolicy costly)")
    };
    // The warning has the cost of the other one.
    let expected = [
        within("spec.variables[0].expression", "5"),
        within("spec.validations[0].expression", "4"),
        within("spec.validations[1].messageExpression", "314,577"),
        "spec.validations: together, the expressions cost at most the limit of 10,000,000 only while lists, maps and \
         strings have at most 28 entries (in ValidatingAdmissionPolicy costly)"
            .to_owned(),
    ];
    assert_eq!(costs, expected);
    let run = folder.run("check costly.yaml --kubernetes 1.35..1.36 --output-format json");
    let costs = run.out.lines().find(|line| line.contains("\"costs\"")).unwrap();
    let costs: serde_json::Value = serde_json::from_str(costs).unwrap();
    assert_eq!(costs["resource"], "ValidatingAdmissionPolicy costly");
    assert_eq!(costs["costs"][0]["releases"], serde_json::json!(["1.35", "1.36"]));
    let expected = serde_json::json!({
        "path": "spec.validations[1].expression", "line": 12, "column": 17, "kind": "apps/v1, Kind=Deployment",
        "least": 3, "most": null, "limit": 1_000_000, "size": 16,
    });
    assert_eq!(costs["costs"][0]["expressions"][2], expected);
}

#[test]
fn checks_of_permissions_that_cost_too_much_are_found() {
    let folder = Folder::new();
    let check = |verb: &str| format!("authorizer.group('').resource('pods').check('{verb}').allowed()");
    let expression = ["get", "list", "watch"].map(check).join(" && ");
    let policy = COSTLY.replace("object.spec.replicas <= 5", &format!("\"({expression}) == true\""));
    folder.write("costly.yaml", policy);
    let run = folder.run("check costly.yaml --output-format short");
    assert!(run.out.contains("spec.validations[0].expression: costs at most the limit"), "{}", run.out);
}

#[test]
fn a_policy_made_of_rules_decides_as_the_rules() {
    let folder = Folder::new();
    folder.write("ruled.yaml", ruled(true));
    folder.write("plain.yaml", ruled(false));
    let run = folder.run("convert ruled.yaml --to policy -o policies");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let check = folder.run("check policies plain.yaml");
    assert_eq!(check.code, Some(0), "{}{}", check.out, check.err);
    let object = |spec: &str| {
        format!("apiVersion: example.com/v1\nkind: Rule\nmetadata: {{name: a, namespace: default}}\nspec: {spec}\n")
    };
    // The object, that before the change, and whether the change is accepted.
    let cases = [
        ("{min: 1}", "", true),
        ("{min: 1, max: 0}", "", false),
        ("{min: 1, max: 100}", "", false),
        ("{min: 1, max: 4}", "{min: 1, max: 5}", false),
        ("{min: 1, max: 6}", "{min: 1, max: 5}", true),
        ("{min: 1, max: 4}", "{min: 1}", true),
        ("{min: 1, ratio: 1}", "", false),
        ("{min: 1, ratio: 0}", "", true),
        ("{min: 1, my-name: x}", "", false),
        ("{min: 1, my-name: z}", "", true),
        ("{min: 1, none: null}", "", true),
        ("{min: 1, none: a}", "", false),
        ("{min: 1, ports: [{name: a, port: 1}, {name: b, port: 0}]}", "", false),
        (
            "{min: 1, ports: [{name: a, port: 1}, {name: b}]}",
            "{min: 1, ports: [{name: b, port: 2}, {name: a, port: 1}]}",
            true,
        ),
        ("{min: 1, ports: [{name: a, port: 1}]}", "{min: 1, ports: [{name: b, port: 3}, {name: a, port: 2}]}", false),
        ("{min: 1, labels: {k: ab, l: ac}}", "", true),
        ("{min: 1, labels: {k: ab, l: b}}", "", false),
        ("{min: 1, labels: {k: a}}", "{min: 1, labels: {k: ab}}", false),
        ("{min: 1, labels: {k: a}}", "{min: 1, labels: {l: ab}}", true),
    ];
    for (new, old, is_accepted) in cases {
        folder.write("new.yaml", object(new));
        let mut arguments = String::from("new.yaml");
        if !old.is_empty() {
            folder.write("old.yaml", object(old));
            arguments.push_str(" --old old.yaml");
        }
        let by_rules = folder.run(&format!("validate --schemas ruled.yaml {arguments}"));
        let by_policy = folder.run(&format!("validate --schemas plain.yaml --policies policies {arguments}"));
        let expected = Some(i32::from(!is_accepted));
        assert_eq!(by_rules.code, expected, "{new} {old}: {}{}", by_rules.out, by_rules.err);
        assert_eq!(by_policy.code, expected, "{new} {old}: {}{}", by_policy.out, by_policy.err);
    }
    folder.write("new.yaml", object("{min: 1, max: 200}"));
    let run = folder.run("validate --schemas plain.yaml --policies policies new.yaml");
    let message = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(message.contains("spec.max: at most 100, found 200"), "{message}");
}

/// A definition without rules.
const SIZES: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, singular: tab, kind: Tab, listKind: TabList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
              min: {type: integer}
              name: {type: string, maxLength: 20}
              when: {type: string, format: date-time}
";

/// A policy for that definition, with its operations, a condition, and expressions.
fn policy(name: &str, operations: &str, condition: &str, expressions: &[&str]) -> String {
    let mut out = format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: {name}}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: [example.com], apiVersions: [v1], operations: {operations}, resources: [tabs]}}
  variables:
  - {{name: size, expression: 'has(object.spec.size) ? object.spec.size : 0'}}
  - {{name: big, expression: 'variables.size > 9'}}
  matchConditions: {condition}
  validations:
"
    );
    for expression in expressions {
        let _ = writeln!(out, "  - {{expression: \"{expression}\"}}");
    }
    let _ = write!(
        out,
        "---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: {name}}}
spec: {{policyName: {name}, validationActions: [Deny]}}
"
    );
    out
}

#[test]
fn rules_made_of_policies_decide_as_the_policies() {
    let folder = Folder::new();
    folder.write("plain.yaml", SIZES);
    let named = "[{name: named, expression: has(object.spec.name)}]";
    let grows = "oldObject == null || !has(oldObject.spec.min) || object.spec.?min.orValue(0) >= oldObject.spec.min";
    let policies = [
        policy("both", "[CREATE, UPDATE]", "[]", &["!variables.big", grows]),
        policy("named", "['*']", named, &["object.spec.name != 'wrong'"]),
        policy("create", "[CREATE]", "[]", &["!has(object.spec.min) || object.spec.min > 1"]),
        policy(
            "update",
            "[UPDATE]",
            "[]",
            &["has(oldObject.spec.name) == has(object.spec.name)", "variables.size != 3"],
        ),
    ];
    folder.write("policies.yaml", policies.join("---\n"));
    let run = folder.run("convert plain.yaml --rules-from policies.yaml --to crd -o ruled.yaml");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let check = folder.run("check ruled.yaml");
    assert_eq!(check.code, Some(0), "{}{}", check.out, check.err);
    let object = |spec: &str| {
        format!("apiVersion: example.com/v1\nkind: Tab\nmetadata: {{name: a, namespace: default}}\nspec: {spec}\n")
    };
    // The object, that before the change, and whether the change is accepted.
    let cases = [
        ("{size: 9}", "", true),
        ("{size: 10}", "", false),
        ("{name: wrong}", "", false),
        ("{name: right}", "", true),
        ("{min: 1}", "", false),
        ("{min: 2}", "", true),
        ("{min: 2}", "{min: 2, size: 1}", true),
        ("{min: 1}", "{min: 2}", false),
        ("{min: 1, size: 2}", "{min: 1, size: 1}", true),
        ("{size: 3}", "", true),
        ("{size: 3}", "{size: 2}", false),
        ("{name: right}", "{name: other}", true),
        ("{name: right}", "{size: 1}", false),
        ("{name: wrong}", "{name: other}", false),
    ];
    for (new, old, is_accepted) in cases {
        folder.write("new.yaml", object(new));
        let mut arguments = String::from("new.yaml");
        if !old.is_empty() {
            folder.write("old.yaml", object(old));
            arguments.push_str(" --old old.yaml");
        }
        let by_policy = folder.run(&format!("validate --schemas plain.yaml --policies policies.yaml {arguments}"));
        let by_rules = folder.run(&format!("validate --schemas ruled.yaml {arguments}"));
        let expected = Some(i32::from(!is_accepted));
        assert_eq!(by_policy.code, expected, "{new} {old}: {}{}", by_policy.out, by_policy.err);
        assert_eq!(by_rules.code, expected, "{new} {old}: {}{}", by_rules.out, by_rules.err);
    }
}

#[test]
fn what_rules_cannot_say_of_a_policy_is_reported() {
    let folder = Folder::new();
    folder.write("crd.yaml", SIZES);
    let expressions = [
        "request.userInfo.username == 'admin'",
        "object.metadata.labels.size() > 0",
        "object.spec.when < '2030'",
        "variables.unknown",
        "object == oldObject",
        "[1].all(self, self > 0)",
    ];
    let selective = policy("some", "[UPDATE]", "[]", &["true"])
        .replace("  matchConstraints:\n", "  matchConstraints:\n    objectSelector: {matchLabels: {a: b}}\n");
    let policies = [
        policy("all", "[CREATE, UPDATE, DELETE]", "[]", &expressions),
        policy("warns", "[CREATE]", "[]", &["true"]).replace("[Deny]", "[Warn]"),
        selective,
    ];
    folder.write("policies.yaml", policies.join("---\n"));
    let run = folder.run("convert crd.yaml --rules-from policies.yaml --to crd -o out --report losses.jsonl");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let details: Vec<String> = folder
        .read("losses.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a finding"))
        .map(|finding| format!("{} {}", finding["code"], finding["detail"]).replace(['"', '\\'], ""))
        .map(|line| line.replace("ValidatingAdmissionPolicy ", ""))
        .collect();
    let expected = [
        "KS8123 no policy gives a rule to tabs.example.com",
        "KS8125 all: rules do not see that an object is deleted",
        "KS8125 all: validations[0]: the expression reads request: request.userInfo.username == 'admin'",
        "KS8125 all: validations[1]: the rule does not compile: undefined field 'labels': object.metadata.labels.size() > 0",
        "KS8125 all: validations[2]: the rule does not compile: found no matching overload for '_<_' applied to '(timestamp, string)': object.spec.when < '2030'",
        "KS8125 all: validations[3]: the expression does not compile: variables.unknown",
        "KS8125 all: validations[4]: the rule compares objects of which a schema shows a part only: object == oldObject",
        "KS8125 all: validations[5]: a macro of the expression declares a variable with the name of a rule's: [1].all(self, self > 0)",
        "KS8126 warns: none of its bindings denies requests",
        "KS8126 some: it selects objects or namespaces by labels",
    ];
    assert_eq!(details, expected);
}

#[test]
fn a_policy_about_another_kind_gives_a_warning_and_no_definition() {
    let folder = Folder::new();
    folder.write("crd.yaml", SIZES);
    folder.write("policies.yaml", policy("all", "[CREATE]", "[]", &["true"]).replace("[tabs]", "[tab]"));
    let run = folder.run("convert crd.yaml --rules-from policies.yaml --to crd -o out --report report.jsonl");
    assert!(folder.read("report.jsonl").contains("no policy gives a rule to tabs.example.com"), "{}", run.err);
    assert!(run.err.contains("KS8123"), "{}", run.err);
}

#[test]
fn rules_of_the_definition_that_are_null_are_replaced() {
    let folder = Folder::new();
    let rules = "        type: object\n        x-kubernetes-validations: null\n        properties:\n          spec:";
    folder.write("crd.yaml", SIZES.replacen("        type: object\n        properties:\n          spec:", rules, 1));
    folder.write("policies.yaml", policy("all", "[CREATE, UPDATE]", "[]", &["!variables.big"]));
    let run = folder.run("convert crd.yaml --rules-from policies.yaml --to crd -o ruled.yaml");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(folder.read("ruled.yaml").contains("- rule:"), "{}", folder.read("ruled.yaml"));
}

#[test]
fn versions_and_validations_multiply_only_up_to_a_budget() {
    let folder = Folder::new();
    let (head, version) = SIZES.split_once("  - name: v1\n").expect("a version");
    let mut versions = String::from(head);
    for n in 1..400 {
        let own = if n == 1 { version.to_owned() } else { version.replace("storage: true", "storage: false") };
        let _ = write!(versions, "  - name: v{n}\n{own}");
    }
    folder.write("crd.yaml", versions);
    let long = format!("object.spec.name != '{}'", "x".repeat(500));
    let expressions = vec![long.as_str(); 400];
    let policy =
        policy("all", "[CREATE, UPDATE]", "[]", &expressions).replace("apiVersions: [v1]", "apiVersions: ['*']");
    folder.write("policies.yaml", policy);
    let run = folder.run("convert crd.yaml --rules-from policies.yaml --to crd -o ruled.yaml --report report.jsonl");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(folder.read("report.jsonl").contains("the definition would be too large"), "{}", run.err);
    // Printed YAML repeats an expression in its message.
    assert!(folder.read("ruled.yaml").len() < 16 << 20);
}

#[test]
fn variables_that_double_make_no_long_rule() {
    let folder = Folder::new();
    folder.write("crd.yaml", SIZES);
    let mut doubling = String::from("  - {name: v0, expression: 'object.spec.size'}\n");
    for n in 1..60 {
        let before = n - 1;
        let _ = writeln!(doubling, "  - {{name: v{n}, expression: 'variables.v{before} + variables.v{before}'}}");
    }
    let policy = policy("doubling", "[CREATE]", "[]", &["variables.v59 > 0"])
        .replace("  variables:\n", &format!("  variables:\n{doubling}"));
    folder.write("policies.yaml", policy);
    let run = folder.run("convert crd.yaml --rules-from policies.yaml --to crd -o out --report losses.jsonl");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(folder.read("losses.jsonl").contains("the rule would be too long"), "{}", folder.read("losses.jsonl"));
}

#[test]
fn rules_that_need_the_schema_are_left_out_and_reported() {
    let folder = Folder::new();
    folder.write(
        "crd.yaml",
        "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: dates.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: dates, singular: date, kind: Date, listKind: DateList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          at: {type: string, format: date-time}
          a-b: {type: integer}
          set: {type: array, maxItems: 9, x-kubernetes-list-type: set, items: {type: string, maxLength: 9}}
          any: {type: object, x-kubernetes-preserve-unknown-fields: true}
        x-kubernetes-validations:
        - rule: \"!has(self.at) || self.at > timestamp('2020-01-01T00:00:00Z')\"
        - rule: '!has(self.a__dash__b) || self.a__dash__b > 0'
        - rule: '!has(self.set) || self.set == oldSelf.set'
        - {rule: 'oldSelf.hasValue() || true', optionalOldSelf: true}
        - {rule: '!has(self.set) || self.set.all(object, object.size() > 1)'}
",
    );
    let run = folder.run("convert crd.yaml --to policy -o out --report report.ndjson");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let report = folder.read("report.ndjson");
    for reason in [
        "the rule reads a value that has another type without the schema: !has(self.at)",
        "the rule reads a field whose name must be escaped: !has(self.a__dash__b)",
        "the rule compares lists whose order means nothing: !has(self.set) || self.set == oldSelf.set",
        "oldSelf is optional: oldSelf.hasValue()",
        "the rule declares a variable with the name of one of the policy: !has(self.set) || self.set.all(object",
    ] {
        assert!(report.contains(reason), "{reason}\n{report}");
    }
    assert!(report.contains("KS8119"), "{report}");
}
