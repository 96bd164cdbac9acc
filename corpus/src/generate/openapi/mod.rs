//! OpenAPI documents as Kubernetes servers publish them, mixed with features that other APIs use.

mod choices;
mod names;
mod schema;
mod v2;
mod v3;
mod values;
mod weird;

use super::tree::Tree;
use choices::Choices;
use names::{GROUP_VERSIONS, GroupVersion};
use proptest::prelude::*;

/// How much documents differ from those that servers publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Documents that follow the specifications. Every library accepts nearly all of them.
    Usual,
    /// Unusual strings, numbers and keywords; empty, null and unknown members; other orders; references without a
    /// target. The typed documents of Kubernetes read most of them, but few have a protobuf form.
    Weird,
}

/// Documents of Swagger 2.0, as JSON.
///
/// # Example
/// ```
/// use kubeshape_corpus::generate::{Level, Seeded, openapi_v2_document};
/// let document = Seeded::new(1).next(&openapi_v2_document(Level::Usual));
/// assert!(document.contains(r#""swagger""#));
/// ```
pub fn openapi_v2_document(level: Level) -> BoxedStrategy<String> {
    written(level, 1500, |choices, odd| {
        let group_versions = some_group_versions(choices);
        v2::document(choices, odd, &group_versions, true)
    })
}

/// Documents of OpenAPI 3.0, as JSON.
///
/// # Example
/// ```
/// use kubeshape_corpus::generate::{Level, Seeded, openapi_v3_document};
/// let document = Seeded::new(1).next(&openapi_v3_document(Level::Usual));
/// assert!(document.contains(r#""openapi""#));
/// ```
pub fn openapi_v3_document(level: Level) -> BoxedStrategy<String> {
    written(level, 1500, |choices, odd| {
        let group_versions = some_group_versions(choices);
        v3::document(choices, odd, &group_versions)
    })
}

/// Documents of Swagger 2.0 that can be aggregated: no two have the same path, but definitions and parameters with the
/// same name may differ.
pub fn openapi_v2_documents() -> BoxedStrategy<Vec<String>> {
    let parts: Vec<_> = GROUP_VERSIONS
        .iter()
        .enumerate()
        .map(|(i, gv)| written(Level::Usual, 600, move |choices, odd| v2::document(choices, odd, &[*gv], i == 0)))
        .collect();
    (2..=parts.len()).prop_flat_map(move |n| parts[..n].to_vec()).boxed()
}

/// Returns the group versions of a document, at least one.
fn some_group_versions(choices: &mut Choices<'_>) -> Vec<GroupVersion> {
    let mut some = choices.some(GROUP_VERSIONS, 30);
    if some.is_empty() {
        some.push(choices.pick(GROUP_VERSIONS));
    }
    some
}

fn written(
    level: Level,
    most: usize,
    document: impl Fn(&mut Choices<'_>, bool) -> Tree + 'static,
) -> BoxedStrategy<String> {
    prop::collection::vec(any::<u16>(), 0..most)
        .prop_map(move |drawn| {
            let mut choices = Choices::new(&drawn);
            let (spaced, escaped) = (choices.chance(10), choices.chance(4));
            let odd = level == Level::Weird && choices.chance(50);
            let mut tree = document(&mut choices, odd);
            // The other half of the weird documents are usual ones with edits.
            if level == Level::Weird {
                weird::edit(&mut tree, &mut Choices::new(&drawn[drawn.len() / 2..]));
            }
            values::json(&tree, spaced, escaped)
        })
        .boxed()
}
