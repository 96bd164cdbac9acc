//! client-go's dialect of JSONPath (`k8s.io/client-go/util/jsonpath`): templates of `kubectl get -o jsonpath` and paths
//! of printer columns.
//!
//! A template is text with actions in braces. An action names fields (`.spec.replicas`, `['a','b']`), items (`[0]`,
//! `[1:-1]`, `[*]`), everything below (`..`), items that satisfy a condition (`[?(@.type=="Ready")]`), or repeats the
//! following part for each item (`{range .items[*]}…{end}`).
//!
//! Go visits the entries of a map in random order; this module visits them in the order of their keys.

mod compare;
mod error;
mod execute;
mod item;
mod parse;
mod unquote;

pub use error::{Error, MAX_OUTPUT, MAX_STEPS};
pub use execute::Options;
pub(crate) use execute::print;
pub use item::Item;
pub use parse::ParseError;

/// A parsed template.
///
/// # Example
/// ```
/// use kubeshape_show::jsonpath::{Options, Template};
/// use kubeshape_value::{Bump, ToValue};
///
/// let template = Template::parse("{range .items[*]}{.name}={.ports[?(@.open==true)].port} {end}")?;
/// let arena = Bump::new();
/// let object = serde_json::json!({"items": [
///     {"name": "a", "ports": [{"port": 80, "open": true}, {"port": 81, "open": false}]},
///     {"name": "b", "ports": [{"port": 90, "open": true}]},
/// ]});
/// let mut out = Vec::new();
/// template.execute(object.to_value(&arena), Options::default(), &mut out)?;
/// assert_eq!(out, b"a=80 b=90 ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub(crate) root: Vec<Node>,
}

impl Template {
    /// Parses a template (upstream: `jsonpath.Parse`).
    ///
    /// # Errors
    /// It is not a template. The message is upstream's.
    pub fn parse(text: &str) -> Result<Template, ParseError> {
        parse::parse(text, 0).map(|root| Template { root })
    }

    /// Returns the texts and actions in order. Each action is a [`Node::List`].
    pub fn nodes(&self) -> &[Node] {
        &self.root
    }
}

/// A step of a template.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Text between actions, or quoted text in an action.
    Text(String),
    /// Steps one after the other.
    List(Vec<Node>),
    /// A field of a map.
    Field(String),
    /// Items of a list: start, end, step.
    Array([Param; 3]),
    /// Items of a list for which a condition holds.
    Filter {
        /// The left operand.
        left: Vec<Node>,
        /// `==`, `<` and so on; `exists` if there is only a left side.
        operator: String,
        /// The right operand.
        right: Vec<Node>,
    },
    /// An integer.
    Int(i64),
    /// Another number.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// All values of a map or a list.
    Wildcard,
    /// The value and everything below it.
    Recursive,
    /// The results of several steps.
    Union(Vec<Vec<Node>>),
    /// `range` or `end`.
    Identifier(String),
}

/// A bound of [`Node::Array`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Param {
    /// The number.
    pub value: i64,
    /// Whether the template contains it.
    pub known: bool,
    /// Whether it follows from the start, as the end of `[3]` does.
    pub derived: bool,
}
