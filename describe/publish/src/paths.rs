//! Prints path items in both dialects, as templates, and the shared parameters of v2.

use crate::base::release::Published;
use crate::operations::{
    self, ALTERNATES, In, Model, Operation, PRODUCES, Parameter, PathItem, Place, response_description,
};
use crate::template::{Fill, Slot, Template};
use crate::texts::Texts;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kubeshape_schema::Release;
use kubeshape_schema::escape::{Escape, string};
use std::collections::BTreeMap;

/// One path: its key, raw for sorting, and the templates of its item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathTemplate {
    pub(crate) place: Place,
    pub(crate) key: Template,
    pub(crate) item: Template,
}

/// All paths of one scope, printed for one form of document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paths {
    pub(crate) paths: Vec<PathTemplate>,
    /// Shared parameters (v2 only): name and JSON, sorted.
    pub(crate) parameters: Vec<(String, Vec<u8>)>,
}

/// The form of document for which paths are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    V3,
    /// v2 as upstream's builder prints it.
    V2,
    /// v2 as a server sends it: extension values are sorted.
    V2Served,
}

impl Form {
    pub(crate) fn escape(self) -> Escape {
        match self {
            Form::V3 => Escape::Html,
            Form::V2 | Form::V2Served => Escape::Plain,
        }
    }
}

/// Appends a comma if needed, the key and a colon.
pub(crate) fn write_member(first: bool, key: &str, form: Form, out: &mut Vec<u8>) {
    if !first {
        out.push(b',');
    }
    string(out, key, form.escape());
    out.push(b':');
}

/// Returns all paths by form, then cluster-scoped and namespaced. With `alternates`, operations that read also describe
/// the representations with which a server responds, which upstream's do not.
pub(crate) fn all(texts: &Texts, alternates: bool, release: Release) -> [[Paths; 2]; 3] {
    let forms = [Form::V3, Form::V2, Form::V2Served];
    forms.map(|form| [false, true].map(|namespaced| Paths::new(namespaced, texts, form, alternates, release)))
}

impl Paths {
    fn new(namespaced: bool, texts: &Texts, form: Form, alternates: bool, release: Release) -> Paths {
        let required_bodies = Published::RequiredBodies.by(release);
        let mut printer = Printer { out: Vec::new(), form, shared: Shared::default(), alternates, required_bodies };
        let mut paths = Vec::new();
        for item in operations::path_items(namespaced, texts) {
            printer.out.clear();
            printer.item(&item);
            let text = String::from_utf8_lossy(&printer.out).into_owned();
            paths.push(PathTemplate {
                place: item.place,
                key: Template::parse(&item.path),
                item: Template::parse(&text),
            });
        }
        Paths { paths, parameters: printer.shared.by_name.into_iter().collect() }
    }

    /// Returns the paths that `wanted` selects, sorted by their keys.
    pub(crate) fn sorted(&self, raw: &Fill, wanted: impl Fn(Place) -> bool) -> Vec<(String, &PathTemplate)> {
        let mut out: Vec<(String, &PathTemplate)> = self
            .paths
            .iter()
            .filter(|path| wanted(path.place))
            .map(|path| {
                let mut key = Vec::new();
                path.key.write(&mut key, raw);
                (String::from_utf8_lossy(&key).into_owned(), path)
            })
            .collect();
        out.sort_by(|a, b| kubeshape_schema::order::utf16(&a.0, &b.0));
        out
    }
}

/// Shared parameters of v2 by name.
#[derive(Default)]
struct Shared {
    by_name: BTreeMap<String, Vec<u8>>,
}

impl Shared {
    /// Returns the name under which a parameter is shared: its own name and a hash of its content, and a number if
    /// another content already has that name (upstream: `collectSharedParameters` in `pkg/builder/parameters.go` of
    /// kube-openapi).
    fn name(&mut self, name: &str, hashed: &[u8], printed: Vec<u8>) -> String {
        let base = format!("{name}-{}", short_hash(hashed));
        let mut candidate = base.clone();
        let mut n = 0;
        loop {
            match self.by_name.get(&candidate) {
                Some(same) if *same == printed => return candidate,
                Some(_) => {
                    n += 1;
                    candidate = format!("{base}-{n}");
                }
                None => {
                    self.by_name.insert(candidate.clone(), printed);
                    return candidate;
                }
            }
        }
    }
}

/// Returns the first six bytes of the 64-bit FNV-1 hash in base64url.
fn short_hash(bytes: &[u8]) -> String {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| hash.wrapping_mul(0x0000_0100_0000_01b3) ^ u64::from(*byte));
    URL_SAFE_NO_PAD.encode(&hash.to_be_bytes()[..6])
}

struct Printer {
    out: Vec<u8>,
    form: Form,
    shared: Shared,
    /// Whether operations describe alternate representations.
    alternates: bool,
    /// Whether bodies of v3 are required.
    required_bodies: bool,
}

impl Printer {
    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn text(&mut self, text: &str) {
        string(&mut self.out, text, self.form.escape());
    }

    fn item(&mut self, item: &PathItem) {
        self.raw("{");
        for (i, operation) in item.operations.iter().enumerate() {
            if i > 0 {
                self.raw(",");
            }
            self.raw(&format!("\"{}\":", operation.method.name()));
            if self.form == Form::V3 { self.v3_operation(operation) } else { self.v2_operation(operation) }
        }
        if !item.parameters.is_empty() {
            self.raw(",\"parameters\":[");
            self.parameters(&item.parameters, None);
            self.raw("]");
        }
        self.raw("}");
    }

    /// Returns the media types of other representations.
    fn alternates(&self, operation: &Operation) -> &'static [&'static str] {
        if self.alternates { operation.alternates() } else { &[] }
    }

    fn description(&mut self, operation: &Operation) {
        match self.alternates(operation) {
            [] => self.text(&operation.description),
            _ => self.text(&format!("{}. {ALTERNATES}", operation.description)),
        }
    }

    fn v3_operation(&mut self, operation: &Operation) {
        self.raw(&format!("{{\"tags\":[\"{}\"],\"description\":", Slot::Tag.mark()));
        self.description(operation);
        self.raw(",\"operationId\":");
        self.text(&operation.id);
        if !operation.parameters.is_empty() {
            self.raw(",\"parameters\":[");
            self.parameters(&operation.parameters, None);
            self.raw("]");
        }
        if let Some((model, required)) = operation.body {
            self.raw(",\"requestBody\":{");
            self.content(operation.consumes(), &[], model);
            if required && self.required_bodies {
                self.raw(",\"required\":true");
            }
            self.raw("}");
        }
        self.raw(",\"responses\":{");
        for (code, model) in &operation.responses {
            self.raw(&format!("\"{code}\":{{\"description\":\"{}\",", response_description(*code)));
            self.content(PRODUCES, self.alternates(operation), *model);
            self.raw("},");
        }
        self.raw(&format!("\"401\":{{\"description\":\"{}\"}}}}", response_description(401)));
        self.end_operation(operation);
    }

    /// Prints `content` with the same schema for every media type in `types`, and no schema for those in `others`.
    fn content(&mut self, types: &[&str], others: &[&str], model: Model) {
        let mut types = [types, others].concat();
        types.sort_unstable();
        self.raw("\"content\":{");
        for (i, media_type) in types.iter().enumerate() {
            if i > 0 {
                self.raw(",");
            }
            self.raw(&format!("\"{media_type}\":{{"));
            if !others.contains(media_type) {
                self.raw("\"schema\":");
                self.reference(model);
            }
            self.raw("}");
        }
        self.raw("}");
    }

    fn reference(&mut self, model: Model) {
        let prefix = if self.form == Form::V3 { "components/schemas" } else { "definitions" };
        self.raw(&format!("{{\"$ref\":\"#/{prefix}/{}\"}}", model.definition()));
    }

    fn v2_operation(&mut self, operation: &Operation) {
        self.raw("{\"description\":");
        self.description(operation);
        self.raw(",\"consumes\":[");
        self.list(operation.consumes());
        self.raw("],\"produces\":[");
        self.list(&[PRODUCES, self.alternates(operation)].concat());
        self.raw(&format!("],\"schemes\":[\"https\"],\"tags\":[\"{}\"],\"operationId\":", Slot::Tag.mark()));
        self.text(&operation.id);
        if !operation.parameters.is_empty() || operation.body.is_some() {
            self.raw(",\"parameters\":[");
            self.parameters(&operation.parameters, operation.body);
            self.raw("]");
        }
        self.raw(",\"responses\":{");
        for (code, model) in &operation.responses {
            self.raw(&format!("\"{code}\":{{\"description\":\"{}\",\"schema\":", response_description(*code)));
            self.reference(*model);
            self.raw("},");
        }
        self.raw(&format!("\"401\":{{\"description\":\"{}\"}}}}", response_description(401)));
        self.end_operation(operation);
    }

    /// Prints the extensions of an operation and its closing brace.
    fn end_operation(&mut self, operation: &Operation) {
        let (group, version, kind) = (Slot::Group.mark(), Slot::Version.mark(), Slot::Kind.mark());
        self.raw(&format!(",\"x-kubernetes-action\":\"{}\",\"x-kubernetes-group-version-kind\":", operation.action));
        if self.form == Form::V2Served {
            self.raw(&format!("{{\"group\":\"{group}\",\"kind\":\"{kind}\",\"version\":\"{version}\"}}}}"));
        } else {
            self.raw(&format!("{{\"group\":\"{group}\",\"version\":\"{version}\",\"kind\":\"{kind}\"}}}}"));
        }
    }

    fn list(&mut self, texts: &[&str]) {
        for (i, text) in texts.iter().enumerate() {
            if i > 0 {
                self.raw(",");
            }
            self.text(text);
        }
    }

    /// Prints the parameters, including the body (v2), sorted by name. In v2, shared ones are references.
    fn parameters(&mut self, parameters: &[Parameter], body: Option<(Model, bool)>) {
        let mut body = body;
        for (i, parameter) in parameters.iter().enumerate() {
            if i > 0 {
                self.raw(",");
            }
            if parameter.name > "body"
                && let Some(body) = body.take()
            {
                self.body_parameter(body);
                self.raw(",");
            }
            self.parameter(parameter);
        }
        if let Some(body) = body {
            if !parameters.is_empty() {
                self.raw(",");
            }
            self.body_parameter(body);
        }
    }

    fn parameter(&mut self, parameter: &Parameter) {
        if self.form == Form::V3 {
            self.raw(&format!(
                "{{\"name\":\"{}\",\"in\":\"{}\",\"description\":",
                parameter.name,
                parameter.location.name()
            ));
            self.text(&parameter.description);
            if parameter.location == In::Path {
                self.raw(",\"required\":true");
            }
            self.raw(&format!(",\"schema\":{{\"type\":\"{}\",\"uniqueItems\":true}}}}", parameter.ty));
            return;
        }
        let printed = v2_parameter(parameter, Escape::Plain);
        // These are not shared: `name` differs by kind, and clients look for the other two in the operation itself.
        if matches!(parameter.name, "name" | "fieldValidation" | "dryRun") {
            self.out.extend_from_slice(&printed);
        } else {
            self.shared_parameter(parameter.name, &v2_parameter(parameter, Escape::Html), printed);
        }
    }

    fn body_parameter(&mut self, (model, required): (Model, bool)) {
        let definition = model.definition();
        let required = if required { ",\"required\":true" } else { "" };
        let printed = format!(
            "{{\"name\":\"body\",\"in\":\"body\"{required},\"schema\":{{\"$ref\":\"#/definitions/{definition}\"}}}}"
        );
        if definition.starts_with("io.k8s.apimachinery") {
            self.shared_parameter("body", printed.as_bytes(), printed.clone().into_bytes());
        } else {
            self.raw(&printed);
        }
    }

    fn shared_parameter(&mut self, name: &str, hashed: &[u8], printed: Vec<u8>) {
        let shared = self.shared.name(name, hashed, printed);
        self.raw(&format!("{{\"$ref\":\"#/parameters/{shared}\"}}"));
    }
}

fn v2_parameter(parameter: &Parameter, escape: Escape) -> Vec<u8> {
    let mut out = format!("{{\"uniqueItems\":true,\"type\":\"{}\",\"description\":", parameter.ty).into_bytes();
    string(&mut out, &parameter.description, escape);
    out.extend_from_slice(
        format!(",\"name\":\"{}\",\"in\":\"{}\"", parameter.name, parameter.location.name()).as_bytes(),
    );
    if parameter.location == In::Path {
        out.extend_from_slice(b",\"required\":true");
    }
    out.push(b'}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_hash_is_fnv_1_in_base64url() {
        // The empty input leaves the offset basis cbf29ce484222325.
        assert_eq!(short_hash(b""), "y_Kc5IQi");
    }
}
