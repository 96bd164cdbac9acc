//! The argument of the command: `deployments.apps.spec.replicas`.

use crate::jsonpath::{Node, ParseError, Template};

/// A resource with the name in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// The plural name.
    pub resource: &'a str,
    /// The group, empty for the core one.
    pub group: &'a str,
}

/// A resource and the path of a field (upstream: `SplitAndParseResourceRequestWithMatchingPrefix`).
///
/// # Example
/// ```
/// use kubeshape_show::explain::{Candidate, Request};
/// let request = Request::parse("events.events.k8s.io.series.count")?;
/// assert_eq!(request.resource(), "events");
/// let candidates = [("events", "events.k8s.io"), ("events", "")].map(|(resource, group)| Candidate { resource, group });
/// let (chosen, path) = request.choose(&candidates)?;
/// assert_eq!((chosen, path.as_slice()), (Some(0), &["series".to_owned(), "count".to_owned()][..]));
/// # Ok::<(), kubeshape_show::explain::RequestError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'t> {
    text: &'t str,
    fields: Vec<String>,
}

/// Why a string does not name a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// It is not a JSONPath.
    #[error(transparent)]
    Path(#[from] ParseError),
    /// It has braces.
    #[error("must pass in 1 jsonpath string")]
    Several,
    /// It does not begin with a name.
    #[error("invalid jsonpath syntax, first node must be field node")]
    First,
    /// Something in it is not a name.
    #[error("invalid jsonpath syntax, all nodes must be field nodes")]
    NotField,
}

impl<'t> Request<'t> {
    /// Parses a request.
    ///
    /// # Errors
    /// It is not a path of names.
    pub fn parse(text: &'t str) -> Result<Request<'t>, RequestError> {
        let fields = fields(text)?;
        if fields.first().is_none_or(String::is_empty) {
            return Err(RequestError::First);
        }
        Ok(Request { text, fields })
    }

    /// Returns the name of the resource: the part before the first dot.
    pub fn resource(&self) -> &str {
        self.fields.first().map_or("", String::as_str)
    }

    /// Returns the path if the resource is given only by its name.
    pub fn path(&self) -> &[String] {
        self.fields.get(1..).unwrap_or_default()
    }

    /// Returns the index of the requested resource and the path in it: the first candidate whose name with its group
    /// begins the request, or else the first one. `None` if there are no candidates.
    ///
    /// # Errors
    /// The part after the group is not a path of names.
    pub fn choose(&self, candidates: &[Candidate<'_>]) -> Result<(Option<usize>, Vec<String>), RequestError> {
        for (at, Candidate { resource, group }) in candidates.iter().enumerate() {
            let name = if group.is_empty() { (*resource).to_owned() } else { format!("{resource}.{group}") };
            let Some(rest) = self.text.strip_prefix(&name) else { continue };
            let path = if rest.is_empty() { Vec::new() } else { fields(rest)?.into_iter().skip(1).collect() };
            return Ok((Some(at), path));
        }
        Ok(((!candidates.is_empty()).then_some(0), self.path().to_vec()))
    }
}

fn fields(text: &str) -> Result<Vec<String>, RequestError> {
    let text = text.strip_suffix('.').unwrap_or(text);
    let template = Template::parse(&format!("{{.{text}}}"))?;
    let [Node::List(nodes)] = template.nodes() else { return Err(RequestError::Several) };
    let mut out = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        match node {
            Node::Field(name) => out.push(name.clone()),
            // A second dot follows the name of a resource.
            Node::Recursive if at == 0 && text.starts_with('.') => out.push(String::new()),
            _ if at == 0 => return Err(RequestError::First),
            _ => return Err(RequestError::NotField),
        }
    }
    Ok(out)
}
