//! Generated inputs: CustomResourceDefinitions that are valid, odd or broken, as YAML in varied styles, OpenAPI
//! documents, and YAML documents of any content. Everything is determined by a seed.
//!
//! # Example
//! ```
//! use kubeshape_corpus::generate::{Seeded, manifests};
//! let mut seeded = Seeded::new(7);
//! let (first, second) = (seeded.next(&manifests()), seeded.next(&manifests()));
//! assert_ne!(first, second);
//! assert_eq!(Seeded::new(7).next(&manifests()), first);
//! ```

mod broken;
pub mod definition;
mod draw;
pub mod expression;
mod manifest;
mod openapi;
mod print;
mod scalars;
mod schema;
mod tree;

pub use draw::Draw;
pub use manifest::{manifests, structural_manifests};
pub use openapi::{Level, openapi_v2_document, openapi_v2_documents, openapi_v3_document};
pub use tree::{Style, Tree};

use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Draws values in a sequence that the seed determines.
#[derive(Debug)]
pub struct Seeded {
    runner: TestRunner,
}

impl Seeded {
    /// Creates the sequence of a seed.
    pub fn new(seed: u64) -> Seeded {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        Seeded { runner: TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng) }
    }

    /// The next value.
    pub fn next<T>(&mut self, strategy: &BoxedStrategy<T>) -> T
    where
        T: std::fmt::Debug,
    {
        self.next_tree(strategy).current()
    }

    /// The next value with its simpler variants.
    pub fn next_tree<T>(&mut self, strategy: &BoxedStrategy<T>) -> Box<dyn ValueTree<Value = T>>
    where
        T: std::fmt::Debug,
    {
        loop {
            // A strategy may reject its result; then the next one is used.
            if let Ok(tree) = strategy.new_tree(&mut self.runner) {
                return tree;
            }
        }
    }
}

/// Makes a failing input simpler as long as it keeps failing, in at most `steps` trials.
pub fn simplify<T>(tree: &mut dyn ValueTree<Value = T>, steps: usize, mut fails: impl FnMut(&T) -> bool) -> T
where
    T: std::fmt::Debug,
{
    let mut smallest = tree.current();
    for _ in 0..steps {
        let value = tree.current();
        let moved = if fails(&value) {
            smallest = value;
            tree.simplify()
        } else {
            tree.complicate()
        };
        if !moved {
            break;
        }
    }
    smallest
}

/// YAML documents of any content, most of them mappings, some of them damaged.
pub fn documents() -> BoxedStrategy<String> {
    use proptest::prelude::*;
    let tree = scalars::any_value().prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            3 => prop::collection::vec((scalars::key(), inner.clone()), 0..5).prop_map(Tree::map),
            2 => prop::collection::vec(inner, 0..5).prop_map(Tree::Seq),
        ]
    });
    (tree, Style::any(), prop::option::weighted(0.3, broken::damage()))
        .prop_map(|(tree, style, damage)| {
            let text = print::document(&tree, style);
            damage.map_or_else(|| text.clone(), |damage| damage.apply(&text))
        })
        .boxed()
}

/// Single documents of manifests.
pub fn documents_of(manifests: &BoxedStrategy<Tree>) -> BoxedStrategy<String> {
    (manifests.clone(), Style::any()).prop_map(|(tree, style)| print::document(&tree, style)).boxed()
}

/// Streams of manifests.
pub fn streams(manifests: &BoxedStrategy<Tree>) -> BoxedStrategy<String> {
    use proptest::prelude::*;
    prop::collection::vec((manifests.clone(), Style::any()), 1..4)
        .prop_map(|documents| {
            // Only the first document of a stream can be JSON: kubectl reads everything after a `---` as YAML.
            let style = |n: usize, style: Style| Style { json: style.json && n == 0, ..style };
            let texts: Vec<String> =
                documents.iter().enumerate().map(|(n, (tree, own))| print::document(tree, style(n, *own))).collect();
            texts.join("---\n")
        })
        .boxed()
}
