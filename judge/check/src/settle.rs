//! Definitions that were converted from schemas, without what a server refuses.

use crate::{Check, Problem, Releases};
use kubeshape_convert::crd::Definition;
use kubeshape_schema::{Bump, Code, Note};
use kubeshape_structural::read::manifests;
use kubeshape_yaml::{Limits, Stream, Tape};

/// The most checks of a definition. Each round removes all parts that were refused in the one before.
const ROUNDS: usize = 24;

/// What [`settle`] removed, and what is left.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// What was removed, with the number of the version and the location in its source.
    pub notes: Vec<(usize, Note<'static>)>,
    /// The errors that remain, because they are not about a part of a schema. If there are none, all releases accept
    /// the definition.
    pub left: Vec<Problem>,
}

/// Removes the parts of schemas that one of the releases refuses or does not know: defaults that do not fit, rules that
/// may cost too much, formats that are not checked. Afterwards the releases accept the definition, unless an error is
/// about its names or versions.
///
/// # Example
/// ```
/// use kubeshape_check::{Releases, settle};
/// use kubeshape_convert::crd::{Names, Options, Source, definition};
/// use kubeshape_schema::Bump;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"type": "object", "properties": {"a": {"type": "string", "default": 1}}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let root = tape.document(source).node(0);
/// let arena = Bump::new();
/// let sources = [Source { version: "v1", root, schema: root }];
/// let made = definition(Names::new("example.com", "Box", &arena), &sources, Options::default(), &arena);
/// let mut made = made.definition.unwrap();
/// let settled = settle(&mut made, Releases::ALL, &arena);
/// assert!(settled.left.is_empty());
/// assert_eq!(settled.notes[0].1.code.to_string(), "KS2313");
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn settle<'a>(definition: &mut Definition<'a>, releases: Releases, arena: &'a Bump) -> Settled {
    let mut settled = Settled::default();
    for _ in 0..ROUNDS {
        let (problems, pointers) = refused(definition, releases);
        if problems.is_empty() {
            return settled;
        }
        let mut removed = false;
        // Later parts first, so that the numbers of the others stay the same.
        for (problem, pointer) in problems.iter().zip(pointers).rev() {
            let Some((version, at)) = definition.remove(&pointer, keyword(problem), arena) else { continue };
            removed = true;
            let code = if problem.note.code == Code::CrdFormat { Code::ToCrdFormat } else { Code::ToCrdRefused };
            settled.notes.push((version, Note::new(code, at, problem.note.detail.clone().into_owned())));
        }
        if !removed {
            break;
        }
    }
    settled.left = refused(definition, releases).0;
    settled.left.retain(Problem::is_error);
    settled
}

/// Returns the problems of a definition, each location once, and the locations as pointers, in the order of the
/// document.
fn refused(definition: &Definition<'_>, releases: Releases) -> (Vec<Problem>, Vec<String>) {
    let mut json = Vec::new();
    definition.print(&mut json);
    let mut tape = Tape::new();
    let source = Stream::new(&json, Limits::PRINTED).ok().and_then(|mut stream| {
        let source = stream.source();
        stream.next(&mut tape)?.ok()?;
        Some(source)
    });
    let Some(root) = source.and_then(|source| tape.document(source).root()) else { return Default::default() };
    let arena = Bump::new();
    let Some(manifest) = manifests(root).0.first().copied() else { return Default::default() };
    let mut problems = Check::new(releases).definition(manifest, &arena).problems;
    problems.retain(|problem| problem.is_error() || matches!(problem.note.code, Code::CrdFormat | Code::CrdSet));
    problems.dedup_by_key(|problem| problem.note.at);
    let parents = kubeshape_yaml::Parents::of(root.document());
    let pointers = problems.iter().map(|problem| parents.pointer(root.document(), problem.note.at)).collect();
    (problems, pointers)
}

/// Returns the keyword that a problem is about, if its location is a schema.
fn keyword(problem: &Problem) -> &str {
    match problem.note.code {
        Code::CrdFormat => "format",
        Code::CrdSet => "x-kubernetes-list-type",
        _ => {
            let path = problem.error.as_ref().map_or("", |error| error.path.as_str());
            let path = path.rsplit('.').next().unwrap_or_default();
            path.split('[').next().unwrap_or_default()
        }
    }
}
