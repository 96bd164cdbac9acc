//! A release is evaluated only if its answer can differ from one that is known. The verdicts are those of evaluating
//! each.

use kubeshape_check::{Check, Problem, Releases, Report};
use kubeshape_corpus::generate::{Draw, definition};
use kubeshape_schema::Bump;
use kubeshape_schema::field::Error;
use kubeshape_structural::read::{Manifest, manifests};
use kubeshape_validate::crd::{Defaults, Definition, Warning, validate, validate_update, warnings, warnings_of_update};
use kubeshape_validate::{AskedRelease, Release};
use kubeshape_yaml::{Limits, Stream, Tape};
use std::fs;
use std::path::Path;

type Answers = (Vec<Error>, Vec<Warning>);

fn create<'a>(definition: &Definition<'a>, release: &AskedRelease, arena: &'a Bump) -> Answers {
    let new = definition.prepare_for_create(release, arena);
    (validate(&new, release), warnings(&new, release))
}

fn update<'a>(old: &Definition<'a>, new: &Definition<'a>, release: &AskedRelease, arena: &'a Bump) -> Answers {
    let old = old.prepare_for_create(release, arena);
    let new = new.prepare_for_update(&old, release, arena);
    (validate_update(&new, &old, release), warnings_of_update(&new, &old, release))
}

/// Evaluates every release. Returns how many must be evaluated to know all answers.
fn each_release(name: &str, ask: &dyn Fn(&AskedRelease) -> Answers) -> usize {
    let all: Vec<(Release, AskedRelease, Answers)> = Release::all()
        .map(|release| {
            let asked = AskedRelease::from(release);
            let answers = ask(&asked);
            assert!(asked.same(release), "{name}: {release} does not answer as itself");
            (release, asked, answers)
        })
        .collect();
    for (_, asked, answers) in &all {
        for (release, _, other) in all.iter().filter(|(release, ..)| asked.same(*release)) {
            assert_eq!(answers, other, "{name}: {release} does not answer as {asked:?}");
        }
    }
    let mut count = 0;
    let mut last: Option<&AskedRelease> = None;
    for (release, asked, _) in all.iter().rev() {
        if last.is_none_or(|last| !last.same(*release)) {
            count += 1;
            last = Some(asked);
        }
    }
    count
}

/// Returns the answers of a release in a report, without the wording, which is that of the newest release.
fn said(report: &Report, release: Release) -> Vec<String> {
    let mut out: Vec<String> = report
        .problems
        .iter()
        .filter(|problem| problem.is_of(release))
        .map(|problem| {
            let error = problem.error.as_ref().map(|error| (error.error_type, &error.path));
            format!("{:?} {} {error:?}", problem.note.code.kind(), problem.note.at)
        })
        .collect();
    out.sort_unstable();
    out
}

fn reports(name: &str, manifest: Manifest<'_>, old: Option<Manifest<'_>>) {
    let ask = |releases: Releases| {
        let arena = Bump::new();
        match old {
            Some(old) => Check::new(releases).replacement(manifest, old, &arena),
            None => Check::new(releases).definition(manifest, &arena),
        }
    };
    let all = ask(Releases::ALL);
    for (release, answer) in Release::all().zip(&all.answers) {
        let one = ask(Releases::one(release));
        assert_eq!(one.answers, [*answer], "{name}");
        assert_eq!(said(&one, release), said(&all, release), "{name}, {release}");
        // The wording of a problem is that of the newest release.
        let worded = |problem: &&Problem| problem.releases.last() == Some(&release);
        for problem in all.problems.iter().filter(worded) {
            let is_same = |own: &Problem| own.note == problem.note && own.error == problem.error;
            assert!(one.problems.iter().any(is_same), "{name}, {release}: {problem:?}");
        }
    }
}

/// Checks the definitions of a stream, and that each may replace the one before it. Returns the number of definitions,
/// and of the releases evaluated for their creation.
fn holds(name: &str, text: &[u8]) -> (usize, usize) {
    let mut stream = Stream::new(text, Limits::default()).unwrap();
    let source = stream.source();
    let mut tapes = Vec::new();
    loop {
        let mut tape = Tape::new();
        match stream.next(&mut tape) {
            None => break,
            Some(result) => tapes.extend(result.ok().map(|()| tape)),
        }
    }
    let arena = Bump::new();
    let (mut count, mut asked) = (0, 0);
    let mut last: Option<(Manifest<'_>, Definition<'_>)> = None;
    for root in tapes.iter().filter_map(|tape| tape.document(source).root()) {
        for manifest in manifests(root).0 {
            reports(name, manifest, None);
            let Some(new) = Definition::read(manifest, Defaults::Set, &arena).value else { continue };
            count += 1;
            asked += each_release(name, &|release| create(&new, release, &arena));
            if let Some((written, old)) = &last {
                each_release(name, &|release| update(old, &new, release, &arena));
                reports(name, manifest, Some(*written));
            }
            last = Some((manifest, new));
        }
    }
    (count, asked)
}

fn files(folder: &Path, visit: &mut dyn FnMut(&str, &[u8])) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, visit);
        } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "json") {
            visit(&path.display().to_string(), &fs::read(&path).unwrap());
        }
    }
}

#[test]
fn skipped_releases_answer_as_the_evaluated_one() {
    files(&kubeshape_corpus::folder().join("crds"), &mut |name, text| {
        holds(name, text);
    });
}

#[test]
fn generated_definitions_are_judged_as_by_each_release() {
    for seed in (0..400).step_by(kubeshape_corpus::one_in(3)) {
        let draw = &mut Draw::new(seed);
        let old = definition::definition(draw);
        let new = definition::changed(draw, &old);
        let mut costly = new.clone();
        definition::drop_bounds(&mut costly);
        let text = [old, new, costly].map(|definition| definition.to_string()).join("\n---\n");
        holds(&format!("seed {seed}"), text.as_bytes());
    }
}

#[test]
fn definitions_of_the_corpus_are_judged_as_by_each_release() {
    let Some(corpus) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return };
    let (mut count, mut asked) = (0, 0);
    let (step, mut seen) = (kubeshape_corpus::one_in(4), 0);
    for folder in ["crds", "crds-versions"] {
        files(&corpus.join(folder), &mut |name, text| {
            seen += 1;
            if seen % step > 0 {
                return;
            }
            let (definitions, releases) = holds(name, text);
            count += definitions;
            asked += releases;
        });
    }
    assert!(count > 700 / step, "only {count} definitions");
    // Ten releases cost less than two evaluations.
    assert!(asked < 2 * count, "{asked} releases were asked about {count} definitions");
}
