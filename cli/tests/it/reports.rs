//! `--output-format html`: one page for readers.

use crate::common::{Folder, crd};

const OLD: &str = r"
apiVersion: apiextensions.k8s.io/v1
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
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, minimum: 1, description: old}
              name: {type: string}
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("old.yaml", OLD);
    let new = OLD.replace("minimum: 1, description: old", "minimum: 3, description: \"<b>new</b>\"");
    folder.write("new.yaml", new.replace("              name: {type: string}\n", ""));
    let spec = "{size: 0, \"<img src=x onerror=alert(1)>\": 1}";
    let tab = format!("apiVersion: example.com/v1\nkind: Tab\nmetadata: {{name: a}}\nspec: {spec}\n");
    folder.write("tab.yaml", tab);
    folder.write("crds/broken.yaml", OLD.replace("type: integer", "type: \"<script>alert(1)</script>\""));
    folder.write(
        "suite/suite.yaml",
        "name: \"<b>Tab</b>\"\ncrdName: tabs.example.com\nversion: v1\ntests:\n  onCreate:\n  - name: \
         \"<i>is refused</i>\"\n    initial: \"{apiVersion: example.com/v1, kind: Tab, spec: {size: 1}}\"\n    expectedError: nothing\n",
    );
    folder
}

/// Checks what all pages promise, and returns what is between the tags of the body.
#[track_caller]
fn body(page: &str) -> &str {
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">\n"), "{page}");
    // The page loads nothing and runs nothing.
    for part in ["<script", "src=", "<img", "http-equiv=\"refresh\"", "@import", "url(", "onerror=\"", "style=\""] {
        assert!(!page.contains(part) || part == "src=" && page.contains("&lt;img src="), "{part}: {page}");
    }
    let (head, body) = page.split_once("</head>").expect("a body");
    assert!(head.contains("content=\"default-src 'none'; style-src 'sha256-"), "{head}");
    // Every element is closed.
    let mut open: Vec<&str> = Vec::new();
    for part in body.split('<').skip(1) {
        let (tag, _) = part.split_once('>').expect("the end of a tag");
        let name = tag.split([' ', '\n']).next().unwrap_or_default();
        match name.strip_prefix('/') {
            Some(name) if open.is_empty() => assert_eq!(name, "html"),
            Some(name) => assert_eq!(open.pop(), Some(name), "{body}"),
            None if name == "input" => {}
            None => open.push(name),
        }
    }
    assert_eq!(open, Vec::<&str>::new());
    body
}

/// Compares a page with the recorded one. With UPDATE_EXPECT, it is recorded.
#[track_caller]
fn is_recorded(name: &str, page: &str) {
    let path = format!("{}/tests/it/reports/{name}.html", env!("CARGO_MANIFEST_DIR"));
    let page = format!("{}\n", page.trim());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &page).expect("a file");
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(page == recorded, "{path} is not up to date (UPDATE_EXPECT=1 records it):\n{page}");
}

#[test]
fn pages_are_as_recorded() {
    let folder = folder();
    for (name, line) in [
        ("diff", "diff old.yaml new.yaml --witness"),
        ("validate", "validate --schemas old.yaml tab.yaml"),
        ("check", "check crds --kubernetes 1.34"),
        ("upgrade", "upgrade old.yaml new.yaml"),
        ("test", "test --schemas old.yaml suite"),
    ] {
        let run = folder.run(&format!("{line} --output-format html"));
        is_recorded(name, body(&run.out));
    }
}

#[test]
fn changes_are_a_tree_with_a_verdict() {
    let folder = folder();
    let run = folder.run("diff old.yaml new.yaml --witness --output-format html");
    assert_eq!(run.code, Some(1), "{}", run.err);
    let body = body(&run.out);
    let order = ["<p class=\"verdict bad\">", "<h2>Changes</h2>", "<h2>Findings</h2>"].map(|part| body.find(part));
    assert!(order.is_sorted() && order[0].is_some(), "{body}");
    assert!(body.contains("<summary><code>tabs.example.com, version v1</code></summary>"), "{body}");
    assert!(body.contains("<summary><code>spec</code></summary>"), "{body}");
    assert!(
        body.contains("<li><code>size</code>\n<ul>\n<li><span class=\"badge breaking\">breaking</span> "),
        "{body}"
    );
    assert!(body.contains("<span class=\"badge cosmetic\">cosmetic</span>"), "{body}");
    // Links of the tree lead to findings.
    let (_, after) = body.split_once("<a href=\"#").expect("a link");
    let (id, _) = after.split_once('"').expect("a name");
    assert!(body.contains(&format!("<article id=\"{id}\"")), "{id} {body}");
    assert!(body.contains("<mark>minimum</mark>: 3"), "{body}");
    assert!(body.contains("<summary>An object that it breaks ("), "{body}");
}

#[test]
fn objects_and_definitions_are_judged_on_a_page() {
    let folder = folder();
    let run = folder.run("validate --schemas old.yaml tab.yaml --output-format html");
    assert_eq!(run.code, Some(1), "{}", run.err);
    let page = body(&run.out);
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;") && page.contains("<mark>"), "{page}");
    assert!(page.contains("<li>1 object: 0 accepted, 1 refused</li>"), "{page}");
    let run = folder.run("check crds --output-format html");
    assert_eq!(run.code, Some(1), "{}", run.err);
    let page = body(&run.out);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    assert!(page.contains("<li>1 CustomResourceDefinition checked for Kubernetes "), "{page}");
    let run = folder.run("check old.yaml --output-format html");
    assert!(body(&run.out).contains("<p class=\"verdict good\">"), "{}", run.out);
}

#[test]
fn several_releases_are_a_matrix() {
    let folder = folder();
    let odd = OLD.replace("tabs", "odds").replace("Tab", "Odd").replace(
        "type: object\n            properties",
        "type: object\n            x-kubernetes-validations: [{rule: \"quantity('1').isInteger() || self.size > 0\"}]\n            properties",
    );
    folder.write("both/a.yaml", odd).write("both/b.yaml", OLD);
    let run = folder.run("check both --kubernetes 1.28..1.30 --output-format html");
    let page = body(&run.out);
    let head = "<tr><td></td><th scope=\"col\">1.28</th><th scope=\"col\">1.29</th><th scope=\"col\">1.30</th></tr>";
    assert!(page.contains(head), "{page}");
    let row = "<th scope=\"row\"><code>tabs.example.com</code></th><td class=\"good\">✓</td><td class=\"good\">✓</td>";
    assert!(page.contains(row), "{page}");
    let row = "<th scope=\"row\"><code>odds.example.com</code></th><td class=\"bad\">✗ 1</td><td class=\"good\">✓</td>";
    assert!(page.contains(row), "{page}");
    // The finding that only one release has follows its definition, and leads to its details.
    let row = "<code>both/a.yaml:19:48</code></a></th><td class=\"bad\">✗</td><td class=\"none\"></td>";
    assert!(page.contains("<tr class=\"of\"><th scope=\"row\"><a href=\"#f0\">") && page.contains(row), "{page}");
    let run = folder.run("check both --kubernetes 1.28..1.30 --output-format markdown");
    let table = "| | 1.28 | 1.29 | 1.30 |\n| --- | :-: | :-: | :-: |\n| `odds.example.com` | ✗ 1 | ✓ | ✓ |\n";
    assert!(run.out.contains(table), "{}", run.out);
    assert!(run.out.contains("`both/a.yaml:19:48` | ✗ | | |\n| `tabs.example.com` | ✓ | ✓ | ✓ |\n"), "{}", run.out);
    // One release needs no matrix.
    let run = folder.run("check both --kubernetes 1.30 --output-format html");
    assert!(!body(&run.out).contains("<table"), "{}", run.out);
}

#[test]
fn steps_of_an_upgrade_are_a_list() {
    let folder = folder();
    let run = folder.run("upgrade old.yaml new.yaml --output-format html");
    let page = body(&run.out);
    assert!(page.contains("<h2>tabs.example.com</h2>\n<p>"), "{page}");
    folder.write("a.yaml", crd("widgets", &["v1"])).write("b.yaml", crd("widgets", &["v2"]));
    let run = folder.run("upgrade a.yaml b.yaml --output-format html");
    let page = body(&run.out);
    assert!(page.contains("<ol>\n<li><strong>") && page.contains("<pre><code>kubectl apply -f "), "{page}");
}

#[test]
fn failed_tests_are_on_a_page() {
    let folder = folder();
    let run = folder.run("test --schemas old.yaml suite --output-format html");
    assert_eq!(run.code, Some(1), "{}", run.err);
    let page = body(&run.out);
    assert!(page.contains("<p class=\"verdict bad\">") && page.contains("&lt;i&gt;is refused&lt;/i&gt;"), "{page}");
    assert!(page.contains("1 case"), "{page}");
}

#[test]
fn filters_are_there_for_several_findings() {
    let folder = folder();
    let more = "apiVersion: example.com/v1\nkind: Tab\nmetadata: {name: b}\nspec: {size: 0}\n---\n";
    folder.write("more.yaml", format!("{more}apiVersion: v1\nkind: Unknown\nmetadata: {{name: x}}\n"));
    let run = folder.run("validate --schemas old.yaml tab.yaml more.yaml --output-format html");
    let page = body(&run.out);
    assert!(page.contains("<label><input type=\"checkbox\" id=\"show-error\" checked>"), "{page}");
    assert!(page.contains("<option value=\"k0\">"), "{page}");
    assert!(
        run.out.contains("body:has(#kind option[value=\"k0\"]:checked) [data-kind]:not([data-kind=\"k0\"])"),
        "{page}"
    );
    // The report has the same page.
    let other = folder.run("validate --schemas old.yaml tab.yaml more.yaml --report out.html");
    assert_eq!(other.code, Some(1));
    assert_eq!(folder.read("out.html").trim_end(), run.out.trim_end());
}
