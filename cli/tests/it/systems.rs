//! Definitions of Crossplane and kro as inputs of commands.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::Folder;

const XRD: &str = "\
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xtabs.example.org}
spec:
  group: example.org
  names: {kind: XTab, plural: xtabs}
  claimNames: {kind: Tab, plural: tabs}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties: {size: {type: integer, description: How large it is.}}
";
const RGD: &str = "\
apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: box}
spec:
  schema:
    apiVersion: v1alpha1
    kind: Box
    spec: {size: integer | required=true minimum=1}
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("defs/xrd.yaml", XRD).write("defs/rgd.yaml", RGD);
    folder.write("good.yaml", "apiVersion: example.org/v1\nkind: Tab\nmetadata: {name: a}\nspec: {size: 1}\n---\napiVersion: kro.run/v1alpha1\nkind: Box\nmetadata: {name: a}\nspec: {size: 1}\n");
    folder.write("bad.yaml", "apiVersion: example.org/v1\nkind: Tab\nmetadata: {name: a}\nspec: {compositeDeletePolicy: Soon}\n---\napiVersion: kro.run/v1alpha1\nkind: Box\nmetadata: {name: a}\nspec: {size: 0}\n");
    folder
}

#[test]
fn they_are_read_where_definitions_are_read() {
    let folder = folder();
    let run = folder.run("check defs --kubernetes all --level info");
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert!(run.words_out().contains("3 CustomResourceDefinitions checked"), "{}", run.out);
    assert!(run.words_out().contains("CompositeResourceDefinition xtabs.example.org is read as the 2"), "{}", run.out);
    assert!(!folder.run("check defs").out.contains("KS1018"));
    folder.run("validate --schemas defs good.yaml").says(0, &[]);
    let run = folder.run("validate --schemas defs bad.yaml");
    assert_eq!(run.code, Some(1));
    let words = format!("{}{}", run.words_out(), run.words());
    for part in ["spec.size: Required value", "Unsupported value: \"Soon\"", "should be greater than or equal to 1"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let run = folder.run("convert defs --to v3 -o out");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let names = folder.names("out");
    assert!(names.iter().any(|name| name == "apis__example.org__v1_openapi.json"), "{names:?}");
    assert!(
        folder.read("out/apis__example.org__v1_openapi.json").contains("com.example.org.v1.XTab")
            || folder.read("out/apis__example.org__v1_openapi.json").contains("org.example.v1.XTab")
    );
    let run = folder.run("explain --schemas defs tabs.spec.size");
    assert!(run.out.contains("How large it is."), "{}{}", run.out, run.err);
    folder.run("sample --schemas defs boxes").says(0, &[]);
    folder.write("new/xrd.yaml", XRD.replace("type: integer", "type: string")).write("new/rgd.yaml", RGD);
    let run = folder.run("diff defs new");
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    assert!(run.words_out().contains("xtabs.example.org") && run.words_out().contains("tabs.example.org"));
}

#[test]
fn edits_and_mistakes_are_in_the_source() {
    let folder = folder();
    // Nothing of a result is edited in the source.
    folder.write("untyped.yaml", XRD.replace("            type: object\n            required", "            required"));
    let run = folder.run("check untyped.yaml --fix --diff");
    assert!(!run.out.contains("+++"), "{}", run.out);
    folder.write("wrong.yaml", RGD.replace("minimum", "minimal"));
    let run = folder.run("check wrong.yaml");
    assert_eq!(run.code, Some(1));
    assert!(run.words_out().contains("wrong.yaml:8:18") && run.words_out().contains("KS1019"), "{}", run.out);
    let run = folder.run("trim defs/xrd.yaml --descriptions none");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(!run.out.contains("How large") && run.out.contains("CompositeResourceDefinition"));
}

#[test]
fn what_the_systems_make_is_written() {
    let folder = folder();
    let run = folder.run("convert defs --to crd -o out");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let expected = ["boxes.kro.run/crd.yaml", "tabs.example.org/crd.yaml", "xtabs.example.org/crd.yaml"];
    assert_eq!(folder.names("out"), expected);
    assert!(folder.read("out/boxes.kro.run/crd.yaml").contains("kind: CustomResourceDefinition"));
    let run = folder.run("check out --kubernetes all");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let run = folder.run("diff defs out");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
}
