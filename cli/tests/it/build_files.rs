//! Tests of folders with files from which kustomize and Helm build manifests.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, Run, crd, ssa};
use std::process::Command;

const HEAD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: NAME}\n";

/// Returns the folder `config/crd` of kubebuilder. In its kustomization, one of the patches is commented out.
fn kubebuilder() -> Folder {
    let folder = Folder::new();
    folder
        .write("config/crd/bases/a.yaml", crd("widgets", &["v1"]))
        .write(
            "config/crd/kustomization.yaml",
            "resources:\n- bases/a.yaml\npatches:\n- path: patches/webhook_in_widgets.yaml\n#- path: patches/cainjection_in_widgets.yaml\nconfigurations:\n- kustomizeconfig.yaml\n",
        )
        .write(
            "config/crd/kustomizeconfig.yaml",
            "# for kustomize\nnameReference:\n- kind: Service\n  fieldSpecs:\n  - kind: CustomResourceDefinition\n    path: spec/conversion/webhook/clientConfig/service/name\nnamespace:\n- kind: CustomResourceDefinition\n  path: spec/x\nvarReference:\n- path: metadata/annotations\n",
        )
        .write(
            "config/crd/patches/webhook_in_widgets.yaml",
            HEAD.replace("NAME", "widgets.example.com") + "spec: {conversion: {strategy: Webhook}}\n",
        )
        .write("config/crd/patches/cainjection_in_widgets.yaml", HEAD.replace("NAME", "widgets.example.com"));
    folder
}

/// Returns the output of a run, without the line breaks of long messages.
fn words(run: &Run) -> String {
    format!("{} {}", run.out, run.err).split_whitespace().collect::<Vec<_>>().join(" ")
}

const NOTE: &str = "1 kustomization, 1 file of settings and 2 patches";

#[test]
fn the_kubebuilder_layout_is_checked() {
    let folder = kubebuilder();
    let run = folder.run("check config/crd");
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert!(words(&run).contains("1 CustomResourceDefinition checked"), "{}", run.out);
    assert_eq!(run.out.matches("KS1033").count(), 1, "{}", run.out);
    assert!(words(&run).contains(NOTE), "{}", run.out);
    // A folder without such files gives no note, and the note does not make a run fail.
    assert!(!folder.run("check config/crd/bases").out.contains("KS1033"));
    assert_eq!(folder.run("check config/crd --deny warning").code, Some(0));
    assert_eq!(folder.run("check config/crd --deny KS1033").code, Some(1));
}

/// The definitions are those that kustomize builds.
#[test]
fn what_kustomize_builds_is_read() {
    let folder = kubebuilder();
    // The patch asks for a webhook without saying where it is.
    let run = folder.run("check kustomize:config/crd");
    assert_eq!(run.code, Some(1), "{}", run.out);
    assert!(run.out.contains("kustomize:config/crd/bases/a.yaml:"), "{}", run.out);
    assert!(words(&run).contains("spec.conversion.webhookClientConfig: Required value"), "{}", run.out);
    let service = "{clientConfig: {service: {namespace: a, name: b}}, conversionReviewVersions: [v1]}";
    let patch = format!("spec: {{conversion: {{strategy: Webhook, webhook: {service}}}}}\n");
    folder.write("config/crd/patches/webhook_in_widgets.yaml", HEAD.replace("NAME", "widgets.example.com") + &patch);
    folder.write("widget.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 1}\n");
    for line in [
        "check kustomize:config/crd",
        "convert kustomize:config/crd --to v3 -o out",
        "validate --schemas kustomize:config/crd widget.yaml",
        "upgrade config/crd kustomize:config/crd",
        "explain --schemas kustomize:config/crd widgets",
    ] {
        let run = folder.run(line);
        assert_eq!(run.code, Some(0), "{line}: {}{}", run.out, run.err);
    }
    // What is not known is said, and nothing is read.
    folder.write("config/crd/kustomization.yaml", "resources: [bases/a.yaml]\nnamePrefix: x-\n");
    let run = folder.run("check kustomize:config/crd");
    assert_ne!(run.code, Some(0), "{}", run.out);
    assert!(
        words(&run).contains("config/crd/kustomization.yaml:2:1: `namePrefix` is not known here"),
        "{}",
        words(&run)
    );
    let run = folder.run("serve --watch kustomize:config/crd");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(words(&run).contains("cannot be watched"), "{}", run.err);
}

#[test]
fn every_command_that_searches_folders_skips_build_files() {
    let folder = kubebuilder();
    folder.write("widget.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 1}\n");
    folder.write("objects/values-prod.yaml", "a: 1\n").write("objects/a.yaml", folder.bytes("widget.yaml"));
    folder.write("objects/patch.json", "[{\"op\": \"remove\", \"path\": \"/spec\"}]");
    for line in [
        "convert config/crd --to v3 -o out -v",
        "diff config/crd config/crd",
        "upgrade config/crd config/crd",
        "check config/crd --against config/crd",
        "validate --schemas config/crd widget.yaml",
        "validate --schemas config/crd/bases objects",
        "table --schemas config/crd objects",
        "explain --schemas config/crd widgets",
        "sample --schemas config/crd widgets",
        "apply --schemas config/crd --field-manager ci widget.yaml",
        "lifecycle warn --schemas config/crd objects",
    ] {
        let run = folder.run(line);
        assert_eq!(run.code, Some(0), "{line}: {}{}", run.out, run.err);
        let all = run.out + &run.err;
        assert!(all.contains("KS1033"), "{line}: {all}");
        assert!(!all.contains("error") && !all.contains("already defined"), "{line}: {all}");
    }
    // A file that is named is read, whatever it is.
    folder.run("check config/crd/patches/cainjection_in_widgets.yaml").fits();
    assert_eq!(folder.run("check config/crd/patches/cainjection_in_widgets.yaml").code, Some(1));
}

#[test]
fn build_files_in_a_git_folder_are_skipped_too() {
    let folder = kubebuilder();
    // The content does not show that this is a patch, but the kustomization does.
    folder.write(
        "config/crd/kustomization.yaml",
        "resources: [bases/a.yaml]\npatchesStrategicMerge: [patches/names.yaml, ./patches/webhook_in_widgets.yaml]\n",
    );
    let patch = HEAD.replace("NAME", "widgets.example.com") + "spec: {names: {shortNames: [w]}}\n";
    folder.write("config/crd/patches/names.yaml", patch);
    let git = |arguments: &[&str]| {
        let user = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let mut command = Command::new("git");
        command.current_dir(folder.path("")).args(user).args(arguments);
        command.output().is_ok_and(|output| output.status.success())
    };
    if !git(&["init", "-q"]) {
        return;
    }
    assert!(git(&["add", "."]) && git(&["commit", "-q", "-m", "a"]));
    let run = folder.run("diff git:HEAD:config/crd config/crd");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(words(&run).contains("1 CustomResourceDefinition compared: nothing changed"), "{}", run.out);
    assert_eq!(words(&run).matches("1 kustomization, 1 file of settings and 3 patches").count(), 2, "{}", run.out);
    let run = folder.run("check config/crd --against git:HEAD:config/crd");
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    // A single file is read as it is.
    let run = folder.run("diff git:HEAD:config/crd/patches/names.yaml config/crd/bases");
    assert_ne!(run.code, Some(0), "{}", run.out);
}

#[test]
fn charts_and_values_are_skipped() {
    let folder = Folder::new();
    folder
        .write("chart/Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n")
        .write("chart/values.yaml", "replicas: 1\n")
        .write("chart/ci/test-values.yaml", "replicas: 2\n")
        .write("chart/crds/a.yaml", crd("widgets", &["v1"]));
    let run = folder.run("check chart");
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert!(words(&run).contains("1 chart and 2 files of values"), "{}", run.out);
    // A values file is a file without a kind. Other files without a kind are still reported.
    folder.write("chart/values.yaml", ssa::config("size: 1")).write("chart/other.yaml", "replicas: 1\n");
    let run = folder.run("validate --schemas chart/crds chart");
    assert!(words(&run).contains("1 chart and 1 file of values"), "{}", run.out);
    assert!(words(&run).contains("chart/other.yaml:1:1"), "{}", run.out);
    // `convert` reports what it skips only if requested.
    assert!(!words(&folder.run("convert chart/crds chart --to v2")).contains("KS1033"));
    assert!(words(&folder.run("convert chart/crds chart --to v2 -v")).contains("KS1033"));
}

#[test]
fn a_broken_definition_is_not_a_patch() {
    let folder = kubebuilder();
    // It has a part of what a definition needs.
    folder.write("config/crd/bases/b.yaml", HEAD.replace("NAME", "bs.example.com") + "spec: {group: example.com}\n");
    let run = folder.run("check config/crd");
    assert_eq!(run.code, Some(1), "{}", run.out);
    assert!(words(&run).contains("config/crd/bases/b.yaml") && words(&run).contains(NOTE), "{}", run.out);
    // A resource that is also listed as a patch is a resource.
    folder.write(
        "config/crd/kustomization.yaml",
        "resources: [bases/a.yaml, ./bases/b.yaml]\npatches: [{path: bases/b.yaml}]\n",
    );
    assert_eq!(folder.run("check config/crd").code, Some(1));
    // There are only patches, so there is nothing to check.
    let run = folder.run("check config/crd/patches");
    assert_eq!(run.code, Some(1), "{}", run.out);
    assert!(
        words(&run).contains("2 patches") && words(&run).contains("no CustomResourceDefinition found"),
        "{}",
        run.out
    );
}
