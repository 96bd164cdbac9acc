//! Example controllers in Go against `kubeshape serve --objects`: one on client-go's informers, and a manager of
//! controller-runtime.

use super::go;
use super::serve::Serve;
use crate::table::{Table, Verdict};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Number of objects that each of them reconciles.
const COUNT: usize = 1000;

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, kind: Tab}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}, note: {type: string}}}
          status: {type: object, properties: {observedGeneration: {type: integer}}}
";

/// Runs both, each with its own server.
///
/// # Errors
/// Go or the command is missing.
pub(super) fn compare(program: &Path, scratch: &Path, table: &mut Table) -> Result<(), String> {
    let controllers = go::build("controllers", "go.mod", &[], "kubeshape-controllers")?;
    let folder = scratch.join("controllers");
    let write = |name: &str, text: &[u8]| super::write(&folder.join(name), text);
    write("tabs.yaml", DEFINITION.as_bytes())?;
    write("objects/.keep", b"")?;
    let expected = [
        (
            "informers",
            json!({"reconciled": COUNT, "resumed": true, "relisted": true, "deleted": true, "same": true, "bookmarks": true}),
        ),
        (
            "manager",
            json!({"leader": true, "reconciled": COUNT, "owned": COUNT, "restored": true, "finalized": true, "errors": 0}),
        ),
    ];
    for (what, expected) in expected {
        let arguments = [folder.join("tabs.yaml"), "--objects".into(), folder.join("objects")];
        let server = Serve::run(program, &arguments, "off", scratch)?;
        let output = Command::new(&controllers)
            .args([what, "-server", server.url(), "-count", &COUNT.to_string()])
            .output()
            .map_err(|error| format!("{}: {error}", controllers.display()))?;
        let found: Result<Value, _> = serde_json::from_slice(&output.stdout);
        for (member, expected) in expected.as_object().into_iter().flatten() {
            let verdict = match &found {
                Ok(found) if found[member] == *expected => Verdict::Equal,
                Ok(found) => Verdict::Differing(format!("found {}, expected {expected}", found[member])),
                Err(_) => Verdict::Missing(String::from_utf8_lossy(&output.stderr).into_owned()),
            };
            table.add(&format!("controllers, {what}"), member, verdict);
        }
    }
    Ok(())
}
