//! kubectl's views of a kind: tables, documentation, samples.

use crate::definition::Form;
use crate::kind::Kind;
use kubeshape_convert::document::Document;
use kubeshape_convert::v2::from_v3::{self, Scratch};
use kubeshape_convert::v3::{self, later::is_later};
use kubeshape_publish::Shape;
use kubeshape_sample::{Problem, sample, sample_of_document};
use kubeshape_schema::Profile;
use kubeshape_schema::{Bump, Dialect, Note};
use kubeshape_show::explain::Gvr;
use kubeshape_show::table::{Column, Convertor, Unrecognized};
use kubeshape_smd::Value;
use kubeshape_smd::value::Compat;
use kubeshape_validate::Release;
use kubeshape_validate::builtin::{Assigned, Constraints, Strategy};
use kubeshape_validate::object::Resource;

impl Kind {
    /// Returns the convertor that creates the rows of `kubectl get`. Kinds that are neither built in nor defined by a
    /// CustomResourceDefinition have only name and age.
    ///
    /// # Errors
    /// The path of a column is not a valid JSONPath.
    ///
    /// # Example
    /// ```
    /// use kubeshape_registry::{Registry, Time};
    /// use kubeshape_smd::{Bump, ToValue, managed::Gvk};
    ///
    /// let crd = "
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata: {name: tabs.example.com}
    /// spec:
    ///   group: example.com
    ///   scope: Namespaced
    ///   names: {plural: tabs, kind: Tab}
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    ///     additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    /// ";
    /// let mut registry = Registry::default();
    /// registry.set_input("tabs", kubeshape_input::read("tabs.yaml", crd.as_bytes(), Default::default()));
    /// let convertor = registry.kind(Gvk::new("example.com/v1", "Tab")).unwrap().convertor().unwrap();
    /// let object = serde_json::json!({"metadata": {"name": "a"}, "spec": {"size": 3}});
    /// let row = convertor.row(object.to_value(&Bump::new()), Time(0));
    /// assert_eq!(format!("{row:?}"), r#"[Text("a"), Int(3)]"#);
    /// ```
    pub fn convertor(&self) -> Result<Convertor, Unrecognized> {
        if !self.definition().is_custom_resource()
            && let Some(convertor) = Convertor::built_in(self.group(), self.kind(), self.definition().release())
        {
            return Ok(convertor);
        }
        let columns = self.version().map(|version| version.columns.as_slice()).unwrap_or_default();
        let columns: Vec<Column<&str>> = columns.iter().map(|column| column.map(|text| text)).collect();
        Convertor::new(&columns)
    }

    /// Like [`openapi`](Self::openapi), with the constraints that a server checks of built-in kinds in Go code: enums,
    /// bounds, patterns, rules in CEL (see [`Constraints`]).
    ///
    /// # Example
    /// ```
    /// use kubeshape_registry::{Gvk, Registry};
    /// use kubeshape_schema::Bump;
    ///
    /// let api = kubeshape_builtin::BuiltInDocuments::newest().api();
    /// let mut registry = Registry::default();
    /// let document = api.openapi_v3("api/v1").unwrap();
    /// registry.set_built_in("v1", kubeshape_input::read("v1", document.as_bytes(), Default::default()));
    /// let arena = Bump::new();
    /// let document = registry.kind(Gvk::new("v1", "Pod")).unwrap().constrained_openapi(&arena).unwrap();
    /// let schemas = document.get("components").and_then(|components| components.get("schemas")).unwrap();
    /// let port = schemas.get("io.k8s.api.core.v1.ContainerPort").and_then(|schema| schema.get("properties")).unwrap();
    /// let number = port.get("containerPort").unwrap();
    /// assert_eq!(number.get("maximum").unwrap().to_string(), "65535");
    /// ```
    pub fn constrained_openapi<'a>(&'a self, arena: &'a Bump) -> Option<Value<'a>> {
        let definition = self.definition();
        if definition.form() != Form::OpenApi(Dialect::V3) {
            return self.openapi(arena);
        }
        let published = Constraints::new(definition.release()).add(definition.location().node())?;
        let text = arena.alloc_str(&published.document);
        Value::read_json(text, arena, Compat::default()).ok()
    }

    /// Returns the resource in URL paths. If unknown, it is guessed from the kind as Kubernetes does.
    pub fn resource_name(&self) -> String {
        self.resource().map_or_else(
            || crate::name::guessed_plural(&self.kind().to_lowercase()),
            |resource| resource.plural.to_string(),
        )
    }

    /// Returns the OpenAPI v3 document of the kind: the published form of its CustomResourceDefinition, or the document
    /// that defines it, converted if it is v2. `None` if there is neither, or the document cannot be read.
    pub fn openapi<'a>(&'a self, arena: &'a Bump) -> Option<Value<'a>> {
        let definition = self.definition();
        let mut out = Vec::new();
        match definition.form() {
            Form::Smd => return None,
            Form::OpenApi(Dialect::V3) if is_later(definition.location().node()) => {
                let memory = Bump::new();
                let document = v3::read(definition.location().node(), &memory, Profile::Faithful).value?;
                document.print(&mut out, Profile::Faithful);
            }
            Form::OpenApi(Dialect::V3) => return Some(Value::from_node(definition.location().node(), arena)),
            Form::OpenApi(Dialect::V2) => {
                let memory = Bump::new();
                let node = definition.location().node();
                let document = Document::read(node, Dialect::V2, &memory, Profile::Kube).value?;
                let source = definition.location().document().source().text();
                let options = from_v3::Options::default();
                document.print_in(Dialect::V3, source, &options, &mut Scratch::default(), &mut out);
            }
            Form::CustomResource(implied) => {
                definition.with_version(implied, self.version_at, |crd, memory| {
                    let resource = definition.publisher().resource(crd, memory);
                    let mut versions = resource.versions().iter();
                    let found = versions.find(|version| version.version().name == self.version_name());
                    if let Some(version) = found {
                        version.v3(&mut out);
                    }
                })?;
            }
        }
        let text = arena.alloc_str(std::str::from_utf8(&out).ok()?);
        Value::read_json(text, arena, Compat::default()).ok()
    }

    /// Returns group, version and resource, given the name of the resource (see
    /// [`resource_name`](Self::resource_name)).
    pub fn gvr<'a>(&'a self, resource: &'a str) -> Gvr<'a> {
        Gvr { group: self.group(), version: self.version_name(), resource }
    }
}

impl Kind {
    /// Returns the losses in the OpenAPI v2 document of the version: the JSON pointer of each place in the definition,
    /// and the loss, ordered by pointer. Empty for kinds without a CustomResourceDefinition.
    pub fn losses(&self) -> Vec<(String, String)> {
        let definition = self.definition();
        let Form::CustomResource(implied) = definition.form() else { return Vec::new() };
        let found = definition.with_version(implied, self.version_at, |crd, memory| {
            let resource = definition.publisher().resource(crd, memory);
            let mut notes = Vec::new();
            if let Some(version) =
                resource.versions().iter().find(|version| version.version().name == self.version_name())
            {
                version.losses(Shape::V2, &mut notes);
            }
            let document = definition.location().document();
            let text = |note: &Note<'_>| {
                let title = note.code.title().trim_end_matches('.');
                let detail = if note.detail.is_empty() { String::new() } else { format!(": {}", note.detail) };
                format!("{title}{detail} ({})", note.code)
            };
            notes.iter().map(|note| (document.pointer(note.at), text(note))).collect()
        });
        let mut found: Vec<(String, String)> = found.unwrap_or_default();
        found.sort();
        found
    }
}

/// A sample object of a kind.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The object, as a user would write it.
    pub object: serde_json::Value,
    /// The server's errors for it; empty if it is accepted.
    pub problems: Vec<Problem>,
    /// Whether an OpenAPI document defines the kind.
    pub is_typed: bool,
    /// Whether all rules of the kind were checked that are known. If not, a server may have more rules, in Go code.
    pub is_judged: bool,
}

impl Kind {
    /// Returns a sample that a server accepts: the smallest one, or one with every field if `maximal` (see [`sample`],
    /// and [`sample_of_document`] for a kind that an OpenAPI document defines). `None` if neither defines the kind. The
    /// smallest sample of a built-in kind is judged as a server judges its creation.
    pub fn sample(&self, maximal: bool, release: Release) -> Option<Sampled> {
        if let Some((root, name)) = self.in_document() {
            let arena = Bump::new();
            let made = sample_of_document(root, name, (self.api_version(), self.kind()), maximal, &arena)?;
            let mut problems = made.problems;
            let strategy = self.strategy().filter(|_| !maximal && problems.is_empty());
            if let Some(strategy) = strategy {
                problems.extend(refusals(strategy, made.value, &arena));
            }
            let is_judged = strategy.is_some();
            return Some(Sampled { object: made.value.to_serde(), problems, is_typed: true, is_judged });
        }
        let definition = self.definition();
        let Form::CustomResource(implied) = definition.form() else { return None };
        let made = definition.with_version(implied, self.version_at, |crd, memory| {
            let version = crd.versions.iter().find(|version| version.name == self.version_name())?;
            let resource = Resource::new(crd, version, release, memory);
            let made = sample(&resource, maximal, memory);
            let (object, problems) = (made.value.to_serde(), made.problems);
            Some(Sampled { object, problems, is_typed: false, is_judged: true })
        });
        made.flatten()
    }
}

/// Returns why a server refuses to create an object of a built-in kind.
fn refusals(strategy: &Strategy, object: Value<'_>, arena: &Bump) -> Vec<Problem> {
    let decoded = match strategy.decode(object, arena) {
        Ok(decoded) => decoded.value,
        Err(text) => return vec![Problem { path: String::new(), text }],
    };
    let errors = strategy.create(decoded, Assigned::default(), arena).errors;
    errors.into_iter().map(|error| Problem { path: error.path.clone(), text: error.to_string() }).collect()
}
