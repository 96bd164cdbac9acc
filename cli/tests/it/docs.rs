//! `kubeshape docs`.

use crate::common::{Folder, crd};
use kubeshape::{Api, Kind};
use kubeshape_schema::Bump;
use kubeshape_show::explain::{Field, RULE, fields, is_about_rule};
use kubeshape_yaml::percent;
use pulldown_cmark::{Event, Options, Parser};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Texts that would be markup somewhere.
const HOSTILE: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bads.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: bads, kind: Bad, shortNames: ["<b>x</b>"]}
  versions:
  - name: v1
    served: true
    storage: true
    deprecated: true
    deprecationWarning: "<script>alert(1)</script> `a` | b"
    schema:
      openAPIV3Schema:
        type: object
        description: |
          <script>alert(1)</script> # no heading

          # no heading
          {{#include /etc/passwd}} {{ x }} {% x %}

          - <img src=x onerror=alert(2)> [a](javascript:alert(3))
          - https://example.com/"onclick="x

              ```
              </pre><script>alert(4)</script> {{#include /etc/passwd}}

          ````
          </code></pre><script>alert(5)</script>
        x-kubernetes-validations:
        - {rule: "self.spec == '</code><script>` ``` | {{#include /etc/passwd}}'", message: "<b>`x`</b> *y*"}
        properties:
          spec:
            type: object
            required: ["</a><script>alert(6)</script>", "a|b"]
            properties:
              "</a><script>alert(6)</script>": {type: string, description: "\u202e <i>x</i>"}
              "a|b": {type: string, default: "a|b \\| ` <c>", enum: ["a|b \\| ` <c>", "</td><script>"]}
              '" onclick="x': {type: string, pattern: "^<script>.*`|\\|$"}
              "a.b":
                type: array
                items: {type: string, maxLength: 3, x-kubernetes-validations: [{rule: "self != ''"}]}
"#;

fn kinds_of(api: &Api) -> Vec<&Kind> {
    api.kinds().filter(|kind| kind.resource().is_some()).collect()
}

fn fields_of(kind: &Kind) -> Vec<Field> {
    let arena = Bump::new();
    let resource = kind.resource_name();
    kind.openapi(&arena).map(|document| fields(document, kind.gvr(&resource), &[]).expect("fields")).unwrap_or_default()
}

/// The visible characters that matter: white space, and marks of prose, are laid out differently.
fn marks(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric() || (c.is_ascii_punctuation() && !"`-*:".contains(*c))).collect()
}

fn words(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim().starts_with("```"));
    lines.flat_map(str::chars).filter(|c| c.is_alphanumeric()).collect()
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let (name, after) = after.split_once(';').expect("a reference");
        out.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            number => {
                let number = number.strip_prefix('#').and_then(|number| number.parse().ok());
                number.and_then(char::from_u32).expect("a number")
            }
        });
        rest = after;
    }
    out + rest
}

fn without_tags(text: &str) -> String {
    let mut parts = text.split('<');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, after) = part.split_once('>').expect("the end of a tag");
        out.push_str(after);
    }
    unescaped(&out)
}

const DIALECT: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_GFM);

/// Returns the visible texts of a page in Markdown: its beginning, and each field. Fails on HTML that is not ours.
fn sections_of_markdown(page: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut is_code = false;
    for event in Parser::new_ext(page, DIALECT) {
        let last = out.last_mut().expect("a section");
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                let tag = html.trim();
                is_code |= tag.starts_with("<pre>");
                if is_code {
                    last.push_str(&without_tags(tag));
                    is_code &= !tag.ends_with("</pre>");
                } else if tag.starts_with("<a id=\"") {
                    assert!(!tag[1..].trim_end_matches("</a>").contains('<'), "{tag}");
                    out.push(String::new());
                } else {
                    let is_ours =
                        ["<code>", "</code>", "</a>", ""].contains(&tag) || tag.starts_with("<!-- markdownlint");
                    assert!(is_ours, "{tag}");
                }
            }
            Event::Text(text) | Event::Code(text) => last.push_str(&text),
            Event::SoftBreak | Event::HardBreak | Event::End(_) => last.push('\n'),
            Event::Start(pulldown_cmark::Tag::Link { dest_url, .. }) => {
                let is_safe =
                    dest_url.starts_with("https://") || dest_url.starts_with("http://") || !dest_url.contains(':');
                assert!(is_safe, "{dest_url}");
            }
            Event::Start(pulldown_cmark::Tag::Image { .. }) => panic!("an image"),
            _ => {}
        }
    }
    out
}

fn sections_of_html(page: &str) -> Vec<String> {
    let parts: Vec<&str> = page.split("<section id=\"").collect();
    parts
        .iter()
        .enumerate()
        .map(|(at, part)| without_tags(if at == 0 { part } else { part.split_once('>').expect("a tag").1 }))
        .collect()
}

/// Checks that a section says everything that `explain --index` knows of a field, and returns what is missing.
fn missing(section: &str, field: &Field, kind: &Kind) -> Vec<String> {
    let (shown, shown_words) = (marks(section), words(section));
    let mut out = Vec::new();
    let mut expect = |what: &str, text: &str| {
        if !shown.contains(&marks(text)) {
            out.push(format!("{} {}: {what} {text}", kind.gvk(), field.path));
        }
    };
    expect("path", &field.path);
    expect("type", &field.type_name);
    if field.required {
        expect("required", "required");
    }
    for (name, value) in field.facts.iter().filter(|(name, _)| !is_about_rule(name)) {
        expect("fact", &format!("{name}: {value}"));
    }
    for (name, value) in &field.each {
        expect("fact", &format!("{name}: {value}"));
    }
    assert_eq!(field.rules.len(), field.facts.iter().filter(|(name, _)| name == RULE).count());
    for rule in field.rules.iter().chain(&field.each_rules) {
        expect("rule", &rule.rule);
        expect("words", &rule.words);
        expect("message", &rule.message);
        expect("message expression", &rule.message_expression);
    }
    if !shown_words.contains(&words(&field.description)) {
        out.push(format!("{} {}: description", kind.gvk(), field.path));
    }
    out
}

/// Returns the anchors of a page in Markdown.
fn anchors_of(page: &str) -> Vec<&str> {
    page.split("<a id=\"").skip(1).filter_map(|part| Some(part.split_once('"')?.0)).collect()
}

/// Returns the files of a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|end| end == "yaml" || end == "json") {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// Writes pages of files, and checks that they have everything. Returns the number of fields.
fn check(paths: &[PathBuf]) -> usize {
    let folder = Folder::new();
    let mut api = Api::default();
    for (at, path) in paths.iter().enumerate() {
        let text = std::fs::read(path).expect("a file");
        // Inputs of different files may define the same kind: the first name is used in both.
        let name = format!("in/{at:04}.yaml");
        folder.write(&name, &text);
        api.set(&name, &text);
    }
    folder.run("docs in -o md -q");
    folder.run("docs in -o html --to html -q");
    folder.run("docs in -o linked -q --nested linked");
    let (mut count, mut gone, mut taken) = (0, Vec::new(), BTreeSet::new());
    for kind in kinds_of(&api) {
        let own = fields_of(kind);
        if own.is_empty() {
            continue;
        }
        let group = if kind.group().is_empty() { "core" } else { kind.group() };
        let name = [group, kind.version_name(), kind.kind()].map(|part| percent::encode(part, percent::FILE_NAME));
        let name = format!("{}.{}/{}", name[0], name[1], name[2]);
        // Some file systems do not tell capital letters from small ones.
        if !taken.insert(name.to_lowercase()) {
            continue;
        }
        let page = std::fs::read_to_string(folder.path(&format!("md/{name}.md")));
        let Ok(page) = page else {
            gone.push(format!("{} has no page", kind.gvk()));
            continue;
        };
        for sections in [sections_of_markdown(&page), sections_of_html(&folder.read(&format!("html/{name}.html")))] {
            assert_eq!(sections.len(), own.len() + 1, "{name}");
            for (field, section) in own.iter().zip(&sections[1..]) {
                gone.extend(missing(section, field, kind));
            }
        }
        // Objects have sections of their own; each field is in one of them.
        let linked = folder.read(&format!("linked/{name}.md"));
        let sections: BTreeMap<&str, &str> =
            linked.split("<a id=\"").skip(1).filter_map(|part| part.split_once("\"></a>")).collect();
        let anchors: Vec<&str> = anchors_of(&page);
        assert_eq!(anchors.len(), own.len(), "{name}");
        for (field, anchor) in own.iter().zip(anchors) {
            let section = sections.get(anchor).copied().unwrap_or_default();
            let shown = sections_of_markdown(section).concat();
            gone.extend(missing(&shown, field, kind));
        }
        count += own.len();
    }
    assert!(gone.is_empty(), "{} missing:\n{}", gone.len(), gone[..gone.len().min(20)].join("\n"));
    count
}

#[test]
fn pages_have_everything_that_explain_has() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/crds");
    let count = check(&files(&corpus));
    assert!(count > 2_000, "{count}");
}

#[test]
fn pages_of_real_definitions_have_everything_that_explain_has() {
    let Some(folder) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return };
    // Istio's, and every 40th of the others; with KUBESHAPE_ALL every second one.
    let all = files(&folder.join("crds"));
    let every = if std::env::var_os("KUBESHAPE_ALL").is_some() { 2 } else { 40 };
    let is_small = |path: &Path| std::fs::metadata(path).is_ok_and(|file| file.len() < 300_000);
    let is_wanted = |(at, path): &(usize, PathBuf)| {
        path.components().any(|part| part.as_os_str() == "istio") || at % every == 0 && (every == 2 || is_small(path))
    };
    let paths: Vec<PathBuf> = all.into_iter().enumerate().filter(is_wanted).map(|(_, path)| path).collect();
    assert!(check(&paths) > 1_000);
}

#[test]
fn texts_of_definitions_do_not_act_as_markup() {
    let folder = Folder::new();
    folder.write("in/a.yaml", HOSTILE);
    folder.run("docs in -o md").says(0, &["wrote 1 page to md"]);
    folder.run("docs in -o html --to html").says(0, &[]);
    folder.run("docs in -o book --to mdbook").says(0, &[]);
    let page = folder.read("md/example.com.v1/Bad.md");
    assert_eq!(page, folder.read("book/src/example.com.v1/Bad.md"));
    assert!(!page.contains("{{"), "{page}");
    let sections = sections_of_markdown(&page);
    for text in ["<script>alert(1)</script> `a` | b", "# no heading", "{{#include /etc/passwd}} {{ x }} {% x %}"] {
        assert!(marks(&sections[0]).contains(&marks(text)), "{text}\n{}", sections[0]);
    }
    let headings = Parser::new_ext(&page, DIALECT)
        .filter(|event| matches!(event, Event::Start(pulldown_cmark::Tag::Heading { .. })));
    let mut api = Api::default();
    api.set("a.yaml", HOSTILE);
    let kind = api.kind("example.com/v1", "Bad").expect("a kind");
    let own = fields_of(kind);
    assert_eq!(headings.count(), own.len() + 3);
    let html = folder.read("html/example.com.v1/Bad.html");
    for sections in [sections, sections_of_html(&html)] {
        let gone: Vec<String> =
            own.iter().zip(&sections[1..]).flat_map(|(field, section)| missing(section, field, kind)).collect();
        assert_eq!(gone, Vec::<String>::new());
    }
    assert_eq!(html.matches("<script").count(), 1, "{html}");
    assert!(!html.contains("<img") && !html.contains("javascript:alert(3)\""), "{html}");
    // Attributes have no quotes of the definition.
    assert!(html.split('<').all(|tag| !tag.split('>').next().unwrap_or_default().contains("onclick=\"")), "{html}");
    let tables = page.lines().filter(|line| line.starts_with("| ")).count();
    assert_eq!(tables, own.len() + 2);
}

#[test]
fn the_same_input_gives_the_same_pages_and_anchors() {
    let folder = Folder::new();
    folder.write("in/a.yaml", crd("widgets", &["v1", "v1beta1"]));
    folder.write("in/b.yaml", crd("gadgets", &["v1"]));
    for format in ["markdown", "html", "mdbook"] {
        folder.run(&format!("docs in -o a-{format} --to {format}")).says(0, &["wrote 3 pages"]);
        folder.run(&format!("docs in/b.yaml in/a.yaml -o b-{format} --to {format}")).says(0, &[]);
        assert_eq!(folder.tree(&format!("a-{format}")), folder.tree(&format!("b-{format}")));
    }
    let page = folder.read("a-markdown/example.com.v1/Widget.md");
    assert!(page.contains("<a id=\".spec\"></a>\n\n### .spec\n"), "{page}");
    assert!(page.contains("[v1beta1](<../example.com.v1beta1/Widget.md>)"), "{page}");
    assert!(page.contains("### Widget v1 and v1beta1\n\nThe fields are the same.\n"), "{page}");
    let index = folder.read("a-markdown/index.md");
    assert!(
        index.contains("| Widget | [v1](<example.com.v1/Widget.md>), [v1beta1](<example.com.v1beta1/Widget.md>) |"),
        "{index}"
    );
    let names = folder.names("a-mdbook");
    assert!(names.contains(&"book.toml".to_owned()) && names.contains(&"src/SUMMARY.md".to_owned()), "{names:?}");
    let html = folder.read("a-html/example.com.v1/Widget.html");
    assert!(html.contains("<link rel=\"stylesheet\" href=\"../style.css\">"), "{html}");
    assert!(html.contains("default-src &#39;none&#39;"), "{html}");
}

#[test]
fn differences_of_versions_are_listed() {
    let folder = Folder::new();
    let version = |name: &str, storage: bool, properties: &str| {
        format!(
            "  - name: {name}\n    served: true\n    storage: {storage}\n    schema: {{openAPIV3Schema: {{type: object, \
             properties: {{spec: {{type: object, properties: {{{properties}}}}}}}}}}}\n"
        )
    };
    let added = "new: {type: object, properties: {a: {type: string}}}";
    let new = version("v1", true, &format!("size: {{type: integer, minimum: 2}}, {added}"));
    let old = version("v1beta1", false, "size: {type: integer, minimum: 1, default: 3}, old: {type: string}");
    folder.write(
        "a.yaml",
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: \
             tabs.example.com}}\nspec:\n  group: example.com\n  scope: Cluster\n  names: {{plural: tabs, kind: Tab}}\n  versions:\n{new}{old}"
        ),
    );
    folder.run("docs a.yaml -o out").says(0, &["wrote 2 pages"]);
    let page = folder.read("out/example.com.v1/Tab.md");
    let expected = "\
### Tab v1 and v1beta1

- only in v1: [`.spec.new`](<#.spec.new>)
- only in v1beta1: `.spec.old`
- differs: [`.spec.size`](<#.spec.size>)
  - v1: `minimum: 2`
  - v1beta1: `default: 3`
  - v1beta1: `minimum: 1`
";
    assert!(page.contains(expected), "{page}");
    assert!(
        page.contains(
            "## Example\n\nA server accepts this object, which has all fields.\n\n```yaml\napiVersion: example.com/v1\n"
        ),
        "{page}"
    );
}

#[test]
fn templates_can_be_printed_and_replaced() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    let page = folder.run("docs --print-template page.md");
    assert!(page.out.contains("## Fields") && page.code == Some(0), "{}", page.err);
    folder.write("own/page.md", "# {{ kind }}\n\n{% include 'part.md' %}\n");
    folder.write("own/part.md", "{% for field in fields %}- {{ field.path }}\n{% endfor %}\n");
    folder.run("docs a.yaml -o out --template own").says(0, &["wrote 1 page"]);
    assert!(folder.read("out/example.com.v1/Widget.md").starts_with("# Widget\n\n- .apiVersion\n"));
    assert!(folder.read("out/index.md").contains("# API reference\n"));
    folder.write("own/page.md", "# {{ kind }}\n{{ kimd.x }}\n");
    folder.run("docs a.yaml -o out2 --template own").says(2, &["--template: page.md:2: undefined value"]);
    folder.write("own/page.md", "# {{ kind }}\n{% fi %}\n");
    folder.run("docs a.yaml -o out2 --template own").says(2, &["--template: page.md:2: syntax error"]);
    folder.write("none/pages.md", "");
    folder.run("docs a.yaml -o out2 --template none").says(2, &["none of the templates page.md, index.md"]);
    folder.run("docs --print-template pages.md").says(2, &["there is no template pages.md; did you mean `page.md`?"]);
    assert!(folder.names("out2").is_empty());
}

#[test]
fn nested_objects_have_sections_with_links() {
    let folder = Folder::new();
    let spec = "{type: object, properties: {size: {type: integer}, ports: {type: array, items: {type: object, properties: \
                {number: {type: integer}}}}}}";
    let schema = format!("{{openAPIV3Schema: {{type: object, properties: {{spec: {spec}}}}}}}");
    folder.write(
        "a.yaml",
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: \
             tabs.example.com}}\nspec:\n  group: example.com\n  scope: Cluster\n  names: {{plural: tabs, kind: Tab}}\n  \
             versions:\n  - {{name: v1, served: true, storage: true, schema: {schema}}}\n"
        ),
    );
    folder.run("docs a.yaml -o md --nested linked").says(0, &["wrote 1 page"]);
    let page = folder.read("md/example.com.v1/Tab.md");
    let headings: Vec<&str> = page.lines().filter(|line| line.starts_with("### Fields of ")).collect();
    assert_eq!(headings[0], "### Fields of the object");
    assert!(
        headings.contains(&"### Fields of .spec") && headings.contains(&"### Fields of .spec.ports"),
        "{headings:?}"
    );
    assert!(page.contains("`[]Object`: [its fields](<#fields.spec.ports>)\n"), "{page}");
    assert!(page.contains("<a id=\"fields.spec.ports\"></a>\n\n### Fields of .spec.ports\n"), "{page}");
    assert!(page.contains("#### .spec.ports\\[\\].number\n"), "{page}");
    folder.run("docs a.yaml -o html --to html --nested linked").says(0, &[]);
    let html = folder.read("html/example.com.v1/Tab.html");
    assert!(html.contains("<h3 class=\"of\" id=\"fields.spec\">Fields of <a href=\"#.spec\">.spec</a></h3>"), "{html}");
    // The anchors of fields do not depend on where they are.
    folder.run("docs a.yaml -o inline").says(0, &[]);
    let mut inline = folder.read("inline/example.com.v1/Tab.md");
    inline = anchors_of(&inline).join("\n");
    let mut linked: Vec<&str> = anchors_of(&page).into_iter().filter(|anchor| anchor.starts_with('.')).collect();
    linked.sort_unstable();
    let mut inline: Vec<&str> = inline.lines().collect();
    inline.sort_unstable();
    assert_eq!(linked, inline);
}

#[test]
fn templates_have_a_budget() {
    let folder = Folder::new();
    folder.write("a.yaml", crd("widgets", &["v1"]));
    let endless = "{% for a in range(9000) %}{% for b in range(9000) %}{{ b }}{% endfor %}{% endfor %}";
    folder.write("own/page.md", format!("# {{{{ kind }}}}\n\n{endless}\n"));
    folder.run("docs a.yaml -o out --template own").says(2, &["--template: page.md:3: the template runs for too long"]);
    folder.write("own/page.md", "{% include 'part.md' %}").write("own/part.md", format!("\n{endless}"));
    folder.run("docs a.yaml -o out --template own").says(2, &["--template: part.md:2: the template runs for too long"]);
    // Large files that are no templates of the format are named, others are refused.
    folder.write("own/page.md", "x").write("own/part.md", "x".repeat((4 << 20) + 1)).write("own/a.png", [0xff, 0xfe]);
    folder.run("docs a.yaml -o out --template own").says(
        0,
        &[
            "--template own: a.png is not used: it is not UTF-8",
            "--template own: part.md is not used: it has 4194305 bytes, and a template has at most 4194304",
            "wrote 1 page to out",
        ],
    );
    folder.write("own/page.md", "x".repeat((4 << 20) + 1));
    folder.run("docs a.yaml -o out2 --template own").says(2, &["page.md is not used: it has 4194305 bytes"]);
    assert!(folder.names("out2").is_empty());
}

#[test]
fn inputs_without_kinds_are_an_error() {
    let folder = Folder::new();
    folder.write("a.yaml", "a: 1\n");
    folder.run("docs a.yaml -o out").says(1, &["found neither a CustomResourceDefinition nor"]);
    folder.run("docs a.yaml").says(2, &["--output"]);
    folder.run("docs a.yaml -o -").says(2, &["the pages need a folder"]);
    assert!(folder.names("out").is_empty());
}
