//! Tests of `kubeshape serve --objects` where two definitions of a group claim the same name.

use crate::common::Folder;
use crate::common::client::send;
use crate::serve::Server;

fn definition(plural: &str, kind: &str, short: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: {plural}, kind: {kind}, shortNames: [{short}]}}
  versions:
  - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}
"
    )
}

/// Returns the resource that discovery lists, and the one that has objects.
fn served(server: &Server) -> [Vec<&'static str>; 2] {
    // The answer for an unserved path is not JSON.
    let get = |path: &str| send(&server.address, "GET", path, "", "");
    let plurals = ["alphas", "betas", "zeds"];
    let listed = get("/apis/example.com/v1").expect("a list of resources").body.to_string();
    let is_listed = |plural: &&str| listed.contains(&format!("\"name\":\"{plural}\""));
    let has_objects = |plural: &&str| get(&format!("/apis/example.com/v1/{plural}")).is_some();
    [plurals.into_iter().filter(is_listed).collect(), plurals.into_iter().filter(has_objects).collect()]
}

#[test]
fn the_first_definition_of_the_files_gets_the_name_everywhere() {
    let folder = Folder::new();
    let zeds = definition("zeds", "Zed", "zz");
    for (files, expected) in [
        (vec![("a.yaml", format!("{zeds}---\n{}", definition("alphas", "Alpha", "zz")))], "zeds"),
        (vec![("a.yaml", zeds.clone()), ("b.yaml", definition("alphas", "Zed", "aa"))], "zeds"),
        (vec![("a.yaml", definition("betas", "Beta", "zeds")), ("b.yaml", zeds.clone())], "betas"),
    ] {
        let inputs: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        for (name, text) in &files {
            folder.write(name, text);
        }
        std::fs::create_dir_all(folder.path("objects")).expect("a folder");
        let server = Server::start(&folder, &format!("{} --objects objects", inputs.join(" ")));
        let [listed, stored] = served(&server);
        assert_eq!(listed, [expected]);
        assert_eq!(stored, [expected]);
    }
}
