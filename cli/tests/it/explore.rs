//! `kubeshape explore` and `kubeshape graph`.

use crate::common::{Folder, crd};

#[test]
fn a_site_is_written_completely() {
    let folder = Folder::new();
    folder.write("in/a.yaml", crd("widgets", &["v1"]));
    folder.run("explore in -o site").says(0, &["wrote site"]);
    let names = folder.names("site");
    for name in ["app.css", "app.js", "editor.js", "index.html", "kubeshape.wasm.gz", "worker.js"] {
        assert!(names.iter().any(|own| own == name), "{names:?}");
    }
    assert!(folder.read("site/data/index.json").contains(r#""kind":"Widget""#));
    assert!(folder.read("site/index.html").contains("default-src 'none'"));
}

#[test]
fn a_site_without_content_is_refused() {
    let folder = Folder::new();
    folder.write("a.yaml", "a: 1\n");
    let run = folder.run("explore a.yaml -o site");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert_eq!(folder.names("."), ["a.yaml"]);
}

#[test]
fn a_graph_has_three_formats() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    assert!(folder.run("graph a.yaml").out.starts_with("<svg "));
    assert!(folder.run("graph a.yaml --to dot").out.starts_with("digraph {\n"));
    assert_eq!(folder.run("graph a.yaml --to mermaid").out, "graph LR\n  n0[\"Widget\"]\n");
    folder.run("graph a.yaml --around Wodget").says(2, &["there is no node Wodget", "Widget"]);
}
