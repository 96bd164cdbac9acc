//! Tests the graduation list of the proposal "Publish CRD OpenAPI", and everyday tasks, with a real kubectl. Without
//! one, these tests print that and do nothing. `KUBESHAPE_KUBECTL` names a kubectl other than that in PATH.

use crate::common::client::Kubectl;
use crate::common::{Folder, Run};
use crate::serve::Server;
use std::time::{Duration, Instant};

/// Returns a definition with a version for each pair of a name and a schema.
fn definition(group: &str, plural: &str, kind: &str, versions: &[(&str, &str)]) -> String {
    let mut out = format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.{group}}}
spec:
  group: {group}
  scope: Namespaced
  names: {{plural: {plural}, kind: {kind}}}
  versions:
"
    );
    for (at, (name, schema)) in versions.iter().enumerate() {
        let version = format!(
            "  - name: {name}
    served: true
    storage: {}
    subresources: {{status: {{}}, scale: {{specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}}}
    additionalPrinterColumns:
    - {{name: Replicas, type: integer, jsonPath: .spec.replicas}}
    - {{name: Image, type: string, jsonPath: .spec.image, priority: 1}}
    schema: {{openAPIV3Schema: {schema}}}
",
            at == 0
        );
        out += &version;
    }
    out + "---\n"
}

/// The definitions: Foos with required and optional properties, Loose without a schema, and Bars in two versions and
/// another group.
const SCHEMA: &str = "{type: object, description: Foo is a foo., properties: {spec: {type: object, description: What is wanted., \
                      required: [image], properties: {image: {type: string, description: What runs.}, replicas: {type: integer}, parts: {type: \
                      array, items: {type: object, properties: {size: {type: integer}}}}}}, status: {type: object, properties: {replicas: {type: \
                      integer}}}}}";
const NONE: &str = "{type: object, x-kubernetes-preserve-unknown-fields: true}";
const OTHER: &str =
    "{type: object, properties: {spec: {type: object, properties: {image: {type: string}, color: {type: string}}}}}";

struct World {
    folder: Folder,
    server: Server,
}

impl World {
    /// Starts a server with the definitions. Returns `None` without a kubectl.
    fn new() -> Option<World> {
        let folder = Folder::new();
        let all = definition("example.com", "foos", "Foo", &[("v1", SCHEMA)])
            + &definition("example.com", "loose", "Loose", &[("v1", NONE)])
            + &definition("example.org", "bars", "Bar", &[("v1", SCHEMA), ("v2", OTHER)]);
        folder.write("crds.yaml", all);
        std::fs::create_dir(folder.path("objects")).expect("a folder");
        let server = Server::start(&folder, "crds.yaml --objects objects --log-level error");
        Kubectl::find(&folder, &server.address)?;
        Some(World { folder, server })
    }

    fn kubectl(&self) -> Kubectl<'_> {
        Kubectl::find(&self.folder, &self.server.address).expect("kubectl")
    }

    fn run(&self, line: &str) -> Run {
        self.kubectl().run(line)
    }

    fn pipe(&self, line: &str, input: &str) -> Run {
        self.kubectl().pipe(line, input)
    }

    /// Returns standard output of a command that succeeds.
    #[track_caller]
    fn ok(&self, line: &str) -> String {
        let run = self.run(line);
        assert_eq!(run.code, Some(0), "{line}: {}{}", run.out, run.err);
        run.out
    }

    #[track_caller]
    fn sent(&self, line: &str, input: &str) -> String {
        let run = self.pipe(line, input);
        assert_eq!(run.code, Some(0), "{line}: {}{}", run.out, run.err);
        run.out
    }

    /// Returns the minor release of kubectl.
    fn minor(&self) -> u32 {
        let version = self.ok("version --client -o json");
        let version = serde_json::from_str::<serde_json::Value>(&version).expect("JSON");
        let minor = version["clientVersion"]["minor"].as_str().unwrap_or_default();
        // If its build has no release, there is only the git version: v1.24.17.
        let of_git = version["clientVersion"]["gitVersion"].as_str().and_then(|version| version.split('.').nth(1));
        let minor = Some(minor).filter(|minor| !minor.is_empty()).or(of_git).unwrap_or_default();
        minor.trim_end_matches('+').parse().expect("a minor release")
    }

    /// Returns how the pages of `explain` begin. Before 1.27, they come from OpenAPI v2 and do not name the group.
    fn page(&self, group: &str, version: &str, kind: &str) -> String {
        if self.minor() >= 27 {
            format!("GROUP:      {group}\nKIND:       {kind}\nVERSION:    {version}\n")
        } else {
            format!("KIND:     {kind}\nVERSION:  {group}/{version}\n")
        }
    }

    /// Checks standard error of a command that fails.
    #[track_caller]
    fn refused(&self, line: &str, input: &str, part: &str) {
        let run = self.pipe(line, input);
        assert_eq!(run.code, Some(1), "{line}: {}{}", run.out, run.err);
        assert!(run.err.contains(part), "{line}: {part:?} is not in {:?}", run.err);
    }
}

fn object(api_version: &str, kind: &str, name: &str, spec: &str) -> String {
    format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}

fn foo(name: &str, spec: &str) -> String {
    object("example.com/v1", "Foo", name, spec)
}

#[test]
fn create_and_apply_allow_known_and_required_properties() {
    let Some(world) = World::new() else { return };
    let text = foo("a", "{image: x, replicas: 1, parts: [{size: 1}]}");
    assert_eq!(world.sent("create -f -", &text), "foo.example.com/a created\n");
    let text = foo("b", "{image: x}");
    assert_eq!(world.sent("apply -f -", &text), "foo.example.com/b created\n");
    assert_eq!(world.sent("apply -f -", &text), "foo.example.com/b unchanged\n");
    let text = foo("b", "{image: two}");
    assert_eq!(world.sent("apply -f -", &text), "foo.example.com/b configured\n");
    assert_eq!(world.ok("get foo b -o jsonpath={.spec.image}"), "two");
}

#[test]
fn create_and_apply_refuse_unknown_properties() {
    let Some(world) = World::new() else { return };
    for line in ["create -f -", "apply -f -", "create --validate=strict -f -", "apply --server-side -f -"] {
        let text = foo("a", "{image: x, colour: red}");
        let part =
            if line.contains("server-side") { "field not declared in schema" } else { "unknown field \"spec.colour\"" };
        world.refused(line, &text, part);
    }
    let run = world.pipe("create --validate=warn -f -", &foo("a", "{image: x, colour: red}"));
    assert_eq!((run.code, run.out.as_str()), (Some(0), "foo.example.com/a created\n"));
    assert_eq!(run.err, "Warning: unknown field \"spec.colour\"\n");
    assert_eq!(world.ok("get foo a -o jsonpath={.spec}"), "{\"image\":\"x\"}");
    assert_eq!(
        world.sent("create --validate=false -f -", &foo("b", "{image: x, colour: red}")),
        "foo.example.com/b created\n"
    );
}

#[test]
fn create_and_apply_refuse_objects_without_required_properties() {
    let Some(world) = World::new() else { return };
    for line in ["create -f -", "apply -f -", "apply --server-side -f -", "create --validate=false -f -"] {
        world.refused(line, &foo("a", "{replicas: 1}"), "spec.image");
    }
    world.refused("create -f -", &foo("a", "{image: 1}"), "spec.image");
}

#[test]
fn explain_shows_properties_also_recursively_and_rejects_others() {
    let Some(world) = World::new() else { return };
    let page = world.ok("explain foos");
    assert!(page.starts_with(&world.page("example.com", "v1", "Foo")), "{page}");
    for part in ["Foo is a foo.", "spec\t<Object>"] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    let page = world.ok("explain foos.spec.image");
    assert!(page.starts_with(&world.page("example.com", "v1", "Foo")), "{page}");
    let field = if world.minor() >= 27 { "FIELD: image <string>" } else { "FIELD:    image <string>" };
    assert!(page.contains(field) && page.contains("What runs."), "{page}");
    let page = world.ok("explain foos --recursive");
    // A recursive page of v2 does not say what is required.
    let image = if world.minor() >= 27 { "image\t<string> -required-\n" } else { "image\t<string>\n" };
    assert!(page.contains(image) && page.contains("      size\t<integer>"), "{page}");
    world.refused("explain foos.spec.nothing", "", "field \"nothing\" does not exist");
    let page = world.ok("explain bars --api-version=example.org/v2 --recursive");
    assert!(page.starts_with(&world.page("example.org", "v2", "Bar")), "{page}");
    assert!(page.contains("color\t<string>") && !page.contains("replicas"), "{page}");
}

#[test]
fn without_a_schema_any_property_is_allowed_and_explain_is_understandable() {
    let Some(world) = World::new() else { return };
    let text = object("example.com/v1", "Loose", "a", "{anything: [1, {b: c}]}");
    assert_eq!(world.sent("create -f -", &text), "loose.example.com/a created\n");
    assert_eq!(world.sent("apply -f -", &text.replace("[1, {b: c}]", "else")), "loose.example.com/a configured\n");
    assert_eq!(
        world.sent("apply --server-side --force-conflicts -f -", &text),
        "loose.example.com/a serverside-applied\n"
    );
    assert_eq!(world.ok("get loose a -o jsonpath={.spec}"), "{\"anything\":[1,{\"b\":\"c\"}]}");
    let page = world.ok("explain loose");
    assert!(page.starts_with(&world.page("example.com", "v1", "Loose")) && page.contains("DESCRIPTION:"), "{page}");
    if world.minor() >= 27 {
        world.refused("explain loose.spec", "", "field \"spec\" does not exist");
    } else {
        // In v2, such a kind allows anything, so it has any field.
        let page = world.ok("explain loose.spec");
        assert!(page.starts_with(&world.page("example.com", "v1", "Loose")) && page.contains("<empty>"), "{page}");
    }
}

#[test]
fn two_groups_two_versions_and_two_kinds_coexist() {
    let Some(world) = World::new() else { return };
    let mut all = foo("a", "{image: x}") + "---\n" + &object("example.com/v1", "Loose", "a", "{b: c}");
    for version in ["v1", "v2"] {
        all += "---\n";
        all += &object(&format!("example.org/{version}"), "Bar", version, "{image: x}");
    }
    let expected = "foo.example.com/a created\nloose.example.com/a created\nbar.example.org/v1 created\nbar.example.org/v2 created\n";
    assert_eq!(world.sent("apply -f -", &all), expected);
    let names = world.ok("get foos,loose,bars -o name");
    assert_eq!(names, "foo.example.com/a\nloose.example.com/a\nbar.example.org/v1\nbar.example.org/v2\n");
    for version in ["v1", "v2"] {
        let found = world.ok(&format!("get bars.{version}.example.org v1 -o jsonpath={{.apiVersion}}"));
        assert_eq!(found, format!("example.org/{version}"));
    }
    let resources = world.ok("api-resources --api-group=example.org");
    assert!(resources.lines().any(|line| line.starts_with("bars ") && line.ends_with(" Bar")), "{resources}");
}

#[test]
fn get_prints_tables_and_watches() {
    let Some(world) = World::new() else { return };
    world.sent("create -f -", &foo("a", "{image: x, replicas: 3}"));
    let first = |text: &str| text.lines().next().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    assert_eq!(first(&world.ok("get foos")).as_deref(), Some("NAME REPLICAS"));
    assert_eq!(first(&world.ok("get foos -o wide")).as_deref(), Some("NAME REPLICAS IMAGE"));
    assert!(world.ok("get foos -o wide").contains("a      3          x"), "{}", world.ok("get foos -o wide"));
    assert!(world.ok("get foo a -o yaml").contains("\nspec:\n  image: x\n  replicas: 3\n"));
    assert_eq!(world.ok("get foos -l a=b -o name"), "");

    let path = world.folder.path("watched");
    let file = std::fs::File::create(&path).expect("a file");
    let server = format!("http://{}", world.server.address);
    let mut watch = std::process::Command::new(Kubectl::program());
    watch.args(["--server", &server, "get", "foos", "--watch", "--no-headers"]).stdout(file);
    let mut watch = watch.env("HOME", world.folder.path("")).env("KUBECONFIG", "").spawn().expect("kubectl runs");
    let until = |part: &str| {
        let began = Instant::now();
        loop {
            let text = std::fs::read_to_string(&path).expect("the file");
            if text
                .lines()
                .any(|line| line.split_whitespace().collect::<Vec<_>>() == part.split(' ').collect::<Vec<_>>())
            {
                break;
            }
            assert!(began.elapsed() < Duration::from_mins(1), "{part:?} is not in {text:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    until("a 3");
    world.ok("patch foo a --type=merge -p {\"spec\":{\"replicas\":4}}");
    until("a 4");
    watch.kill().expect("kubectl ends");
    watch.wait().expect("kubectl ended");
}

#[test]
fn describe_scale_and_delete() {
    let Some(world) = World::new() else { return };
    world.sent("create -f -", &foo("a", "{image: x, replicas: 3}"));
    let page = world.ok("describe foo a");
    for part in
        ["Name:         a", "API Version:  example.com/v1", "Kind:         Foo", "  Image:     x", "  Replicas:  3"]
    {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    assert_eq!(world.ok("scale foo a --replicas=5"), "foo.example.com/a scaled\n");
    assert_eq!(world.ok("get foo a -o jsonpath={.spec.replicas}"), "5");
    world.refused("scale foo a --current-replicas=1 --replicas=2", "", "Expected replicas to be 1, was 5");
    assert_eq!(world.ok("delete foo a"), "foo.example.com \"a\" deleted\n".replace(" deleted", deleted(&world)));
    world.refused("get foo a", "", "Error from server (NotFound): foos.example.com \"a\" not found");
    assert_eq!(world.ok("delete foos --all"), "No resources found\n");
}

/// Newer releases name the namespace of what they deleted.
fn deleted(world: &World) -> &'static str {
    if world.minor() >= 34 { " deleted from default namespace" } else { " deleted" }
}

#[test]
fn server_side_apply_reports_conflicts() {
    let Some(world) = World::new() else { return };
    let one = "apply --server-side --field-manager=one -f -";
    let two = "apply --server-side --field-manager=two -f -";
    world.sent(one, &foo("a", "{image: x, replicas: 1}"));
    world.refused(two, &foo("a", "{image: two}"), "conflict with \"one\": .spec.image");
    let forced = world.sent(&format!("{two} --force-conflicts"), &foo("a", "{image: two}"));
    assert_eq!(forced, "foo.example.com/a serverside-applied\n");
    assert_eq!(world.ok("get foo a -o jsonpath={.spec}"), "{\"image\":\"two\",\"replicas\":1}");
    world.refused(one, &foo("a", "{image: x, replicas: 1}"), "conflict with \"two\": .spec.image");
}

#[test]
fn diff_edit_and_dry_runs() {
    let Some(world) = World::new() else { return };
    world.sent("apply -f -", &foo("a", "{image: x, replicas: 1}"));
    let run = world.pipe("diff -f -", &foo("a", "{image: two, replicas: 1}"));
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.out.contains("\n-  image: x\n+  image: two\n"), "{run:?}");
    assert_eq!(world.pipe("diff -f -", &foo("a", "{image: x, replicas: 1}")).code, Some(0));
    assert_eq!(
        world.sent("apply --dry-run=server -f -", &foo("a", "{image: two}")),
        "foo.example.com/a configured (server dry run)\n"
    );
    world.refused("apply --dry-run=server -f -", &foo("b", "{}"), "spec.image");
    assert_eq!(
        world.ok("delete foo a --dry-run=server"),
        format!("foo.example.com \"a\"{} (server dry run)\n", deleted(&world))
    );
    assert_eq!(world.ok("get foo a -o jsonpath={.spec}"), "{\"image\":\"x\",\"replicas\":1}");

    world.folder.write("editor.sh", "#!/bin/sh\nsed -i 's/image: x/image: z/' \"$1\"\n");
    let edited = std::process::Command::new(Kubectl::program())
        .args(["--server", &format!("http://{}", world.server.address), "edit", "foo", "a"])
        .env("KUBE_EDITOR", format!("sh {}", world.folder.path("editor.sh").display()))
        .env("HOME", world.folder.path(""))
        .env("KUBECONFIG", "")
        .output()
        .expect("kubectl runs");
    let edited = Run::of(&edited);
    assert_eq!((edited.code, edited.out.as_str()), (Some(0), "foo.example.com/a edited\n"), "{}", edited.err);
    assert_eq!(world.ok("get foo a -o jsonpath={.spec.image}"), "z");
}

#[test]
fn a_definition_that_is_too_large_for_apply_is_applied_after_it_is_trimmed() {
    let Some(world) = World::new() else { return };
    let words = "What it is for. ".repeat(20_000);
    let schema = format!("{{type: object, properties: {{spec: {{type: object, description: \"{words}\"}}}}}}");
    let definition = definition("example.net", "bulks", "Bulk", &[("v1", &schema)]);
    world.folder.write("bulks.yaml", &definition);
    let too_long = "metadata.annotations: Too long: may not be more than 262144 bytes";
    world.refused("apply -f -", &definition, too_long);
    let trimmed = world.folder.run("trim bulks.yaml");
    assert_eq!(trimmed.code, Some(0), "{}", trimmed.err);
    let created = "customresourcedefinition.apiextensions.k8s.io/bulks.example.net created\n";
    assert_eq!(world.sent("apply -f -", &trimmed.out), created);
    // A byte more or less decides.
    let sized = |bytes: usize| {
        let text = format!("{{type: object, description: \"{}\"}}", "x".repeat(bytes));
        self::definition("example.net", "edges", "Edge", &[("v1", &text)])
    };
    let measured = world.folder.pipe("trim - --fit annotation --output-format json", sized(1000)).err;
    let measured: serde_json::Value = serde_json::from_str(measured.lines().next().expect("a line")).expect("JSON");
    let others = measured["before"].as_u64().expect("a number") as usize - 1000;
    world.refused("apply -f -", &sized(262_145 - others), too_long);
    let created = "customresourcedefinition.apiextensions.k8s.io/edges.example.net created\n";
    assert_eq!(world.sent("apply -f -", &sized(262_144 - others)), created);
}
