//! Definitions that fit.

use kubeshape_check::trim::{Descriptions, Fit, Options, Plan, Saving, What, is_made, plan};
use kubeshape_yaml::edit::apply;
use kubeshape_yaml::{Limits, Stream, Tape};

const HEAD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  versions:
  - name: v1
    storage: true
    schema:
      openAPIV3Schema:
";

fn tape(text: &str) -> Tape {
    let mut tape = Tape::new();
    let next = Stream::new(text.as_bytes(), Limits::default()).expect("a text").next(&mut tape);
    next.expect("a document").unwrap_or_else(|error| panic!("{error}\n{text}"));
    tape
}

/// Returns a document after the edits, and the plan. The result is the planned one, and the same edits find nothing in
/// it again.
fn trimmed(text: &str, options: &Options) -> (String, Plan) {
    let before = tape(text);
    let root = before.document(text).node(0);
    let made = plan(root, options);
    let out = apply(text, &made.edits);
    let after = tape(&out);
    let new = after.document(&out).node(0);
    assert!(is_made(root, new, &made), "{out}");
    let again = plan(new, options);
    assert_eq!(again.edits, [], "{out}");
    for (was, is) in made.definitions.iter().zip(&again.definitions) {
        assert_eq!(was.after, is.before, "{out}");
    }
    (out, made)
}

/// Returns the schema after the edits.
fn schema(schema: &str, options: &Options) -> String {
    let (out, _) = trimmed(&format!("{HEAD}{schema}"), options);
    out.strip_prefix(HEAD).unwrap_or(&out).to_owned()
}

fn only(descriptions: Descriptions) -> Options {
    Options { descriptions, ..Options::default() }
}

const TABS: &str = "\
        # Of the type.
        description: |-
          A tab: \"wide\". It has
          a size.
        type: object # stays
        properties:
          description: {type: string, description: Ours. Or not., title: T}
          size:
            description: >
              Is it
              large? Yes.
            type: integer
          list:
            type: array
            items:
              description: 'An item, e.g. Large. It''s new.'
          note: {description: A note}
          value:
            type: object
            default: {description: a default. It stays.}
            enum: [{description: One. It stays.}]
";

#[test]
fn only_texts_for_people_are_removed() {
    let expected = "\
        # Of the type.
        type: object # stays
        properties:
          description: {type: string, title: T}
          size:
            type: integer
          list:
            type: array
            items:
              {}
          note: {}
          value:
            type: object
            default: {description: a default. It stays.}
            enum: [{description: One. It stays.}]
";
    assert_eq!(schema(TABS, &only(Descriptions::None)), expected);
}

#[test]
fn first_sentences_stay() {
    let expected = "\
        # Of the type.
        description: \"A tab: \\\"wide\\\".\"
        type: object # stays
        properties:
          description: {type: string, description: Ours., title: T}
          size:
            description: \"Is it large?\"
            type: integer
          list:
            type: array
            items:
              description: \"An item, e.g. Large.\"
          note: {description: A note}
";
    let out = schema(TABS, &only(Descriptions::FirstSentence));
    assert!(out.starts_with(expected), "{out}");
}

#[test]
fn descriptions_are_removed_below_a_depth_and_cut_at_a_length() {
    let out = schema(TABS, &only(Descriptions::Depth(0)));
    assert!(out.contains("A tab") && !out.contains("Ours") && !out.contains("An item"));
    let out = schema(TABS, &Options { longest: Some(12), ..Options::default() });
    assert!(out.contains("description: \"Ours. Or…\""), "{out}");
}

#[test]
fn titles_examples_and_links_are_removed_if_wanted() {
    let source = "        title: T\n        example: {a: [1]}\n        externalDocs: {url: u}\n        type: object\n";
    let removed = vec![What::Title, What::Example, What::Link];
    assert_eq!(schema(source, &Options { removed, ..Options::default() }), "        type: object\n");
}

#[test]
fn texts_of_copied_types_go_first() {
    let source = format!(
        "        description: Tabs. More.\n        properties:\n          template:\n            description: The pod.\n            properties:\n              containers: {{description: {0}}}\n              nodeSelector: {{description: Where. {0}}}\n              tolerations: {{description: Why}}\n          deep: {{properties: {{er: {{description: Own.}}}}}}\n",
        "X".repeat(200)
    );
    let text = format!("{HEAD}{source}");
    let size = Fit::Bytes(0).size(tape(&text).document(&text).node(0));
    let fit = |less: usize| Options { fit: Some(Fit::Bytes(size - less)), ..Options::default() };
    let (out, made) = trimmed(&text, &fit(100));
    assert!(out.contains("nodeSelector: {description: Where.}"), "{out}");
    let saved: Vec<_> = made.definitions[0].saved.iter().map(|(what, saved)| (*what, saved.texts)).collect();
    assert_eq!(saved, [(Saving::ShortenedInside, 1)]);
    let (out, made) = trimmed(&text, &fit(300));
    assert!(out.contains("The pod.") && out.contains("Own.") && out.contains("Tabs. More."), "{out}");
    assert!(made.definitions[0].fits());
    assert_eq!(made.definitions[0].after, Fit::Bytes(0).size(tape(&out).document(&out).node(0)));
    let (out, made) = trimmed(&text, &fit(size));
    assert!(!out.contains("description") && !made.definitions[0].fits());
    // Only those inside the types.
    let inside = vec!["k8s.io/api/core/v1.PodSpec".to_owned()];
    let (out, _) = trimmed(&text, &Options { inside, ..only(Descriptions::None) });
    assert!(out.contains("Own.") && !out.contains("Where"));
}

#[test]
fn equal_schemas_of_versions_stay_equal() {
    let version = |name: &str| {
        format!(
            "  - name: {name}\n    schema: {{openAPIV3Schema: {{description: A tab. More., properties: {{a: {{description: An a}}}}}}}}\n"
        )
    };
    let text = format!("kind: CustomResourceDefinition\nspec:\n  versions:\n{}{}", version("v1"), version("v2"));
    let size = Fit::Bytes(0).size(tape(&text).document(&text).node(0));
    for less in [1, 20, 40] {
        let (out, _) = trimmed(&text, &Options { fit: Some(Fit::Bytes(size - less)), ..Options::default() });
        let (first, second) = out.split_once("- name: v2").expect("two versions");
        assert!(first.trim_end().ends_with(second.trim_end()), "{out}");
    }
}

#[test]
fn what_an_alias_repeats_stays() {
    let source = "        properties:\n          a: &a {description: A. B.}\n          b: *a\n          c: {description: C. D.}\n";
    let (out, made) = trimmed(&format!("{HEAD}{source}"), &only(Descriptions::None));
    assert!(out.contains("A. B.") && !out.contains("C. D."));
    assert_eq!(made.definitions[0].stuck, 2);
}

#[test]
fn json_and_lists_are_trimmed_and_other_objects_stay() {
    let definition = |name: &str, kind: &str| {
        format!(
            r#"{{"apiVersion":"x/v1","kind":"{kind}","metadata":{{"name":"{name}"}},"spec":{{"versions":[{{"schema":{{"openAPIV3Schema":{{"description":"A. <B>","type":"object"}}}}}}]}}}}"#
        )
    };
    let all = [
        definition("a", "CustomResourceDefinition"),
        definition("b", "Other"),
        definition("c", "CompositeResourceDefinition"),
    ];
    let text = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#, all.join(","));
    let (out, made) = trimmed(&text, &only(Descriptions::None));
    let names: Vec<_> = made.definitions.iter().map(|definition| definition.name.as_str()).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(out.matches("A. <B>").count(), 1);
    // `<` and `>` are six bytes each for kubectl.
    assert_eq!(made.definitions[0].before - made.definitions[0].after, r#""description":"A. <B>","#.len() + 10);
}

#[test]
fn the_size_is_that_of_kubectls_annotations() {
    let size = |metadata: &str| {
        let text = format!("kind: A\nmetadata: {metadata}\n");
        Fit::Annotation.size(tape(&text).document(&text).node(0))
    };
    let key = "kubectl.kubernetes.io/last-applied-configuration";
    let expected = |json: &str| key.len() + json.len() + 1;
    let plain = expected(r#"{"kind":"A","metadata":{"annotations":{},"name":"a"}}"#);
    assert_eq!(size("{name: a}"), plain);
    assert_eq!(size("{name: a, annotations: {}}"), plain);
    assert_eq!(size("{name: a, annotations: }"), plain);
    assert_eq!(size(&format!("{{name: a, annotations: {{{key}: \"<old>\"}}}}")), plain);
    let two = r#"{"kind":"A","metadata":{"annotations":{"b":"cd"}}}"#;
    assert_eq!(size("{annotations: {b: cd}}"), expected(two) + 3);
    assert_eq!(size(&format!("{{annotations: {{b: cd, {key}: x}}}}")), expected(two) + 3);
    assert_eq!(size("{}"), expected(r#"{"kind":"A","metadata":{"annotations":{}}}"#));
}

/// Every definition of the corpus that `kubectl apply` refuses is accepted afterwards, if it has texts at all.
#[test]
fn large_definitions_of_the_corpus_fit() -> std::io::Result<()> {
    let Some(corpus) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return Ok(()) };
    let mut folders = vec![corpus.join("crds")];
    let (mut large, mut bare) = (0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
                continue;
            }
            // A smaller file has no definition that is too large.
            if entry.metadata()?.len() < 100_000 {
                continue;
            }
            let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
            large += all_fit(&text, &mut bare);
        }
    }
    // Without texts there is nothing to trim.
    assert!(large > bare.len(), "{large} definitions were too large, and fit; without any text: {}", bare.join(", "));
    Ok(())
}

/// Returns what a server says about the definitions of a document.
fn problems(root: kubeshape_yaml::Node<'_>) -> Vec<String> {
    let arena = kubeshape_schema::Bump::new();
    let check = kubeshape_check::Check::new(kubeshape_check::Releases::default());
    let all = kubeshape_structural::read::manifests(root).0;
    let all = all.into_iter().flat_map(|manifest| check.definition(manifest, &arena).problems);
    all.map(|problem| problem.note.detail.to_string()).collect()
}

/// Trims the documents of a file. Returns the number of definitions that were too large.
fn all_fit(text: &str, bare: &mut Vec<String>) -> usize {
    let options = Options { fit: Some(Fit::Annotation), ..Options::default() };
    let Ok(mut stream) = Stream::new(text.as_bytes(), Limits::default()) else { return 0 };
    let (mut tape, mut edits, mut plans, mut large) = (Tape::new(), Vec::new(), Vec::new(), 0);
    while let Some(next) = stream.next(&mut tape) {
        let Some(root) = next.ok().and_then(|()| tape.document(text).root()) else { continue };
        let made = plan(root, &options);
        for definition in &made.definitions {
            if !definition.fits() {
                // It has no texts at all.
                assert!(definition.saved.is_empty() && definition.stuck == 0, "{}", definition.name);
                bare.push(definition.name.clone());
            }
            large += usize::from(definition.before > definition.after);
        }
        edits.extend(made.edits.iter().cloned());
        plans.push((tape.clone(), made));
    }
    if large > 0 {
        let out = apply(text, &edits);
        let mut plans = plans.into_iter();
        let mut stream = Stream::new(out.as_bytes(), Limits::default()).expect("a text");
        while let Some(next) = stream.next(&mut tape) {
            next.expect("a document");
            let root = tape.document(&out).node(0);
            let (before, plan) = plans.next().expect("as many documents");
            assert!(is_made(before.document(text).node(0), root, &plan));
            assert_eq!(problems(before.document(text).node(0)), problems(root));
            for object in kubeshape_structural::read::expand_list(root) {
                assert!(object.get("kind").is_none() || Fit::Annotation.size(object) <= Fit::Annotation.limit());
            }
        }
    }
    large
}

#[test]
fn a_key_that_is_repeated_is_one_text_that_stays() {
    let schema = format!("        type: object\n{}", "        description: A tab. It has a size.\n".repeat(50_000));
    let (out, made) = trimmed(&format!("{HEAD}{schema}"), &only(Descriptions::None));
    assert_eq!(out, format!("{HEAD}{schema}"));
    assert_eq!(made.definitions[0].stuck, 1);
}
