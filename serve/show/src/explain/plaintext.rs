//! kubectl's page (upstream: `kubectl/pkg/explain/v2/templates/plaintext.tmpl`).

use super::document::{Document, Gvr, additional, is_true, items, member, text};
use super::wrap::{indent, wrap};
use super::{Error, facts};
use crate::jsonpath::Item;
use kubeshape_value::Value;

/// The maximum number of enum values in a list of fields.
const ENUM_LIMIT: usize = 4;

/// Returns facts about the field at a JSON pointer into an object, each with its name.
pub type More<'o> = &'o dyn Fn(&str) -> Vec<(String, String)>;

/// The contents of a page.
#[derive(Clone, Copy, Default)]
pub struct Options<'o> {
    /// All fields below the resource or field, without descriptions.
    pub recursive: bool,
    /// Also shows what kubectl does not: [`facts`] about every field, and the results of this function for the field at
    /// a JSON pointer into an object, such as its location in the source. List items have the pointer of the first
    /// item, map values the key `*`.
    pub more: Option<More<'o>>,
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("recursive", &self.recursive).field("more", &self.more.is_some()).finish()
    }
}

/// Appends the page of a resource or of one of its fields.
///
/// # Errors
/// There is no such resource or field. The part written until then is kept, as in kubectl.
///
/// # Example
/// ```
/// use kubeshape_show::explain::{Gvr, Options, plaintext};
/// use kubeshape_value::{Bump, ToValue};
///
/// let gvk = serde_json::json!({"group": "example.com", "version": "v1", "kind": "Tab"});
/// let document = serde_json::json!({
///     "paths": {"/apis/example.com/v1/tabs": {"get": {"x-kubernetes-group-version-kind": gvk}}},
///     "components": {"schemas": {"com.example.v1.Tab": {
///         "type": "object",
///         "description": "A tab.",
///         "properties": {"size": {"type": "integer", "description": "How large it is."}},
///         "x-kubernetes-group-version-kind": [gvk],
///     }}},
/// });
/// let arena = Bump::new();
/// let gvr = Gvr { group: "example.com", version: "v1", resource: "tabs" };
/// let mut page = String::new();
/// plaintext(document.to_value(&arena), gvr, &["size"], Options::default(), &mut page)?;
/// assert!(page.ends_with("FIELD: size <integer>\n\n\nDESCRIPTION:\n    How large it is.\n    \n\n"));
/// # Ok::<(), kubeshape_show::explain::Error>(())
/// ```
pub fn plaintext(
    document: Value<'_>,
    gvr: Gvr<'_>,
    path: &[&str],
    options: Options<'_>,
    out: &mut String,
) -> Result<(), Error> {
    let document = Document::new(document);
    let gvk = document.gvk(gvr).ok_or_else(|| Error::NoResource(gvr.to_string()))?;
    let part = |name| gvk.get(name).map_or_else(|| "<no value>".to_owned(), plain);
    if member(gvk, "group").is_some() {
        out.push_str(&format_line("GROUP:      ", &part("group")));
    }
    out.push_str(&format_line("KIND:       ", &part("kind")));
    out.push_str(&format_line("VERSION:    ", &part("version")));
    out.push('\n');
    let schema = document.schema_of(gvk).ok_or_else(|| Error::NoKind(plain(gvk)))?;
    let mut page = Page { document: &document, options, at: String::new() };
    let body = page.output(schema, path, &mut Vec::new(), 0)?;
    if body.is_empty() {
        return Err(Error::NoField(path.last().copied().unwrap_or_default().to_owned()));
    }
    out.push_str(&body);
    out.push('\n');
    Ok(())
}

fn format_line(head: &str, text: &str) -> String {
    format!("{head}{text}\n")
}

/// Prints a value like a template, which reads every number as a float.
fn plain(value: Value<'_>) -> String {
    match value {
        Value::Null => "<no value>".to_owned(),
        #[expect(clippy::cast_precision_loss, reason = "as kubectl reads JSON")]
        Value::Int(n) => Item::Value(Value::Float(n as f64)).to_string(),
        other => Item::Value(other).to_string(),
    }
}

struct Page<'d, 'a> {
    document: &'d Document<'a>,
    options: Options<'d>,
    /// The JSON pointer of the current value.
    at: String,
}

impl<'a> Page<'_, 'a> {
    /// Calls `then` with a step added to the pointer.
    fn below<T>(&mut self, step: &str, then: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.at.len();
        self.at.push('/');
        self.at.push_str(&step.replace('~', "~0").replace('/', "~1"));
        let answer = then(self);
        self.at.truncate(length);
        answer
    }

    /// Prints the facts about the current value that kubectl's page lacks.
    fn more(&self, schema: Value<'a>, amount: usize, out: &mut String) {
        let Some(more) = self.options.more else { return };
        let resolved = self.document.resolve(alone(schema));
        let mut all = facts(schema);
        if resolved != schema {
            all.extend(facts(resolved).into_iter().filter(|(name, _)| name != "required fields"));
        }
        all.extend(more(&self.at));
        for (name, text) in all {
            out.push_str(&indent(&wrap(&format!("{name}: {text}"), 78usize.saturating_sub(amount)), amount));
            out.push('\n');
        }
    }

    /// Follows the path, and prints the description and the list of fields at its end. Prints nothing if there is no
    /// such field.
    fn output(
        &mut self,
        schema: Value<'a>,
        path: &[&str],
        history: &mut Vec<&'a str>,
        depth: usize,
    ) -> Result<String, Error> {
        self.document.visit(depth)?;
        let reference = text(schema, "$ref");
        let resolved = self.document.resolve(schema);
        let mut out = String::new();
        let Some((first, rest)) = path.split_first() else {
            out.push_str("DESCRIPTION:\n");
            let mut description = String::new();
            self.description(resolved, &mut description, depth)?;
            let description = if description.is_empty() { "<empty>" } else { &description };
            out.push_str(&indent(&wrap(description, 76), 4));
            out.push('\n');
            if let Some(docs) = member(resolved, "externalDocs") {
                out.push_str("\nEXTERNAL DOCS:\n");
                external(docs, 76, 4, &mut out);
            }
            let mut fields = String::new();
            self.fields(resolved, 1, &mut Vec::new(), &mut fields, depth)?;
            if !fields.is_empty() {
                out.push_str("FIELDS:\n");
                out.push_str(&fields);
            }
            return Ok(out);
        };
        if !reference.is_empty() && history.contains(&reference) {
            return Ok(out);
        }
        if let Some(field) = member(resolved, "properties").and_then(|properties| member(properties, first)) {
            if rest.is_empty() {
                out.push_str("FIELD: ");
                out.push_str(first);
                out.push_str(" <");
                type_of(self.document, field, &mut out, depth)?;
                out.push_str(">\n");
                if let Some(Value::List(values)) = member(field, "enum") {
                    out.push_str("ENUM:");
                    for value in values {
                        out.push_str("\n    ");
                        out.push_str(&enumerated(*value));
                    }
                }
                out.push_str("\n\n");
                let mut facts = String::new();
                self.below(first, |page| page.more(field, 4, &mut facts));
                if !facts.is_empty() {
                    out.push_str("MORE:\n");
                    out.push_str(&facts);
                    out.push('\n');
                }
            }
            let below = self.below(first, |page| page.output(field, rest, &mut Vec::new(), depth + 1))?;
            out.push_str(&below);
            return Ok(out);
        }
        history.push(reference);
        let below = match (member(resolved, "items"), additional(resolved)) {
            (Some(below), _) => self.below("0", |page| page.output(below, path, history, depth + 1))?,
            (None, Some(below)) => self.below("*", |page| page.output(below, path, history, depth + 1))?,
            (None, None) => {
                let mut found = String::new();
                for branch in items(resolved, "allOf") {
                    found = self.output(*branch, path, history, depth + 1)?;
                    if !found.is_empty() {
                        break;
                    }
                }
                found
            }
        };
        history.pop();
        Ok(below)
    }

    /// Prints the fields of a schema.
    fn fields(
        &mut self,
        schema: Value<'a>,
        level: usize,
        history: &mut Vec<&'a str>,
        out: &mut String,
        depth: usize,
    ) -> Result<(), Error> {
        self.document.visit(depth)?;
        let reference = text(schema, "$ref");
        if !reference.is_empty() && history.contains(&reference) {
            return Ok(());
        }
        let resolved = self.document.resolve(schema);
        history.push(reference);
        if let Some(Value::Map(properties)) = resolved.get("properties") {
            for (name, field) in properties.entries() {
                self.below(name, |page| {
                    page.field(name, *field, items(resolved, "required"), level, out, depth)?;
                    if page.options.recursive {
                        page.fields(*field, level + 1, history, out, depth + 1)?;
                    }
                    Ok(())
                })?;
            }
        }
        for branch in items(resolved, "allOf") {
            self.fields(*branch, level, history, out, depth + 1)?;
        }
        if let Some(below) = member(resolved, "items") {
            self.below("0", |page| page.fields(below, level, history, out, depth + 1))?;
        }
        if let Some(below) = additional(resolved) {
            self.below("*", |page| page.fields(below, level, history, out, depth + 1))?;
        }
        history.pop();
        Ok(())
    }

    /// Prints one field; in a recursive list only its name and type.
    fn field(
        &mut self,
        name: &str,
        schema: Value<'a>,
        required: &[Value<'_>],
        level: usize,
        out: &mut String,
        depth: usize,
    ) -> Result<(), Error> {
        let amount = 2 * level;
        out.push_str(&indent(name, amount));
        out.push_str("\t<");
        type_of(self.document, schema, out, depth)?;
        out.push('>');
        if required.iter().any(|required| required.as_str() == Some(name)) {
            out.push_str(" -required-");
        }
        if let Some(Value::List(values)) = member(schema, "enum") {
            out.push('\n');
            out.push_str(&indent("", amount));
            out.push_str("enum: ");
            let shown: Vec<String> = values.iter().take(ENUM_LIMIT).map(|value| enumerated(*value)).collect();
            out.push_str(&shown.join(", "));
            if values.len() > ENUM_LIMIT {
                out.push_str(", ....");
            }
        }
        out.push('\n');
        if self.options.recursive {
            self.more(schema, amount + 2, out);
            return Ok(());
        }
        let description = member(schema, "description").map_or_else(|| "<no description>".to_owned(), plain);
        out.push_str(&indent(&wrap(&description, 78usize.saturating_sub(amount)), amount + 2));
        out.push('\n');
        if let Some(docs) = member(schema, "externalDocs") {
            out.push('\n');
            out.push_str(&indent("EXTERNAL DOCS:", amount + 2));
            out.push('\n');
            external(docs, 76usize.saturating_sub(amount), amount + 4, out);
        }
        self.more(schema, amount + 2, out);
        out.push('\n');
        Ok(())
    }

    /// Prints the descriptions of a schema and of its parts, each on a line.
    fn description(&self, schema: Value<'a>, out: &mut String, depth: usize) -> Result<(), Error> {
        self.document.visit(depth)?;
        let schema = self.document.resolve(schema);
        if let Some(description) = member(schema, "description") {
            out.push_str(&plain(description));
            out.push('\n');
        }
        for branch in items(schema, "allOf") {
            self.description(*branch, out, depth + 1)?;
        }
        for below in member(schema, "items").into_iter().chain(additional(schema)) {
            self.description(below, out, depth + 1)?;
        }
        Ok(())
    }
}

/// Returns the type in a word, such as `[]Container`. kubectl fails on a schema without members; here it is an object.
pub(super) fn type_of<'a>(
    document: &Document<'a>,
    mut schema: Value<'a>,
    out: &mut String,
    mut depth: usize,
) -> Result<(), Error> {
    loop {
        depth += 1;
        document.visit(depth)?;
        if let Some(below) = member(schema, "items") {
            out.push_str("[]");
            schema = below;
        } else if let Some(below) = additional(schema) {
            out.push_str("map[string]");
            schema = below;
        } else if let ([only], None) = (items(schema, "allOf"), member(schema, "properties")) {
            schema = *only;
        } else {
            break;
        }
    }
    let reference = text(schema, "$ref");
    let named = |schema: Value<'a>| member(schema, "type").map_or_else(|| "Object".to_owned(), plain);
    if reference.is_empty() {
        let name = named(schema);
        out.push_str(if name == "object" { "Object" } else { &name });
        return Ok(());
    }
    match document.target(reference).filter(|target| is_true(*target)) {
        Some(target) if !matches!(text(target, "type"), "" | "object") => out.push_str(&named(target)),
        _ => {
            let name = reference.rsplit('/').next().and_then(|name| name.rsplit('.').next()).unwrap_or_default();
            out.push_str(if name.is_empty() { "Object" } else { name });
        }
    }
    Ok(())
}

/// Returns the only schema in `allOf`, or the schema itself.
pub(super) fn alone(schema: Value<'_>) -> Value<'_> {
    match items(schema, "allOf") {
        [only] => *only,
        _ => schema,
    }
}

/// Prints the description and the address of external documentation.
fn external(docs: Value<'_>, width: usize, amount: usize, out: &mut String) {
    if let Some(description) = member(docs, "description") {
        out.push_str(&indent(&wrap(&plain(description), width), amount));
        out.push('\n');
    }
    if let Some(url) = member(docs, "url") {
        out.push_str(&indent(&format!("URL: {}", plain(url)), amount));
        out.push('\n');
    }
}

/// Prints an enum value.
fn enumerated(value: Value<'_>) -> String {
    match value {
        Value::String("") => "\"\"".to_owned(),
        value => plain(value),
    }
}
