//! A served resource.

use super::conversion::Converter;
use super::selectable::Selectable;
use super::strategy::{Documented, Strategy};
use super::webhooks::Hooks;
use crate::form::{self, Exported};
use crate::status::GroupResource;
use crate::store::{Draft, Reading};
use crate::value;
use kubeshape_registry::kind::{Kind, Scale, Scope};
use kubeshape_registry::{DocumentSchema, Family, Registry};
use kubeshape_show::table::Convertor;
use kubeshape_smd::managed::Gvk;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_validate::Release;
use kubeshape_validate::builtin::BuiltInKind;
use kubeshape_validate::object::Resource;
use std::sync::{Arc, OnceLock};

/// The resource of CustomResourceDefinitions.
const DEFINITIONS: (&str, &str) = ("apiextensions.k8s.io", "customresourcedefinitions");

/// A resource in one version.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) plural: Arc<str>,
    /// The storage key: `widgets.example.com`, for built-in resources with the version in front.
    pub(super) id: Arc<str>,
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) list_kind: String,
    pub(super) namespaced: bool,
    /// The `apiVersion` in which objects are stored.
    pub(super) storage: String,
    /// The webhook that converts between versions, if there is one.
    pub(super) webhook: Option<Converter>,
    /// The warning that the version of a custom resource is deprecated.
    pub(super) warning: Option<String>,
    /// Prepared at the first use.
    definition: Kind,
    /// The strategy of a built-in resource.
    built_in: Option<Strategy>,
    /// The registry that knows the types of a built-in resource.
    registry: Option<Arc<Registry>>,
    /// The selectable fields.
    pub(super) selectable: Selectable,
    scale: Option<Scale>,
    subresources: Vec<Arc<str>>,
    /// Converts objects to rows; created at the first use.
    convertor: OnceLock<Arc<Convertor>>,
    /// Identifies this version as a reader of stored objects.
    as_stored: Arc<Reading>,
}

impl Served {
    /// Returns the resource of a kind, if its definition serves it.
    pub(super) fn of(kind: &Kind, family: Family<'_>) -> Option<Served> {
        let (resource, version) = (kind.resource()?, kind.version()?);
        if !version.served || !kind.definition().is_custom_resource() {
            return None;
        }
        let storage = family.storage().unwrap_or(kind);
        Some(Served {
            group: kind.group().to_owned(),
            version: kind.version_name().to_owned(),
            plural: Arc::clone(&resource.plural),
            id: format!("{}.{}", resource.plural, kind.group()).into(),
            api_version: kind.api_version().to_owned(),
            kind: kind.kind().to_owned(),
            list_kind: resource.list_kind.as_ref().map_or_else(|| format!("{}List", kind.kind()), ToString::to_string),
            namespaced: resource.scope == Scope::Namespaced,
            storage: storage.api_version().to_owned(),
            webhook: Converter::of(kind),
            warning: family.deprecation(kind),
            definition: kind.clone(),
            built_in: None,
            registry: None,
            selectable: Selectable::Custom(version.selectable_fields.clone()),
            scale: version.scale.clone(),
            subresources: resource.subresources.clone(),
            convertor: OnceLock::new(),
            as_stored: Reading::as_stored(),
        })
    }

    /// Returns the resource of a kind in an OpenAPI document, if any.
    pub(super) fn of_document(kind: &Kind, registry: &Arc<Registry>) -> Option<Served> {
        let resource = kind.resource()?;
        let (group, plural) = (kind.group(), &resource.plural);
        let has_status = resource.subresources.iter().any(|name| **name == *"status");
        let is_definition = (group, &**plural) == DEFINITIONS;
        let namespaced = resource.scope == Scope::Namespaced;
        let release = registry.settings().release;
        let strategy = match kind.strategy() {
            _ if is_definition => Strategy::Definition(Arc::new(kind.typed()?), release),
            Some(strategy) => Strategy::BuiltIn(Arc::clone(strategy)),
            None => {
                let (types, metadata) = (kind.typed()?, BuiltInKind::other(release));
                Strategy::Documented(Arc::new(Documented { types, namespaced, has_status, metadata, release }))
            }
        };
        let has_scale = resource.subresources.iter().any(|name| **name == *"scale");
        let scale = has_scale.then(|| Scale {
            spec_replicas_path: ".spec.replicas".into(),
            status_replicas_path: ".status.replicas".into(),
            label_selector_path: None,
        });
        let id = if is_definition { format!("{plural}.{group}") } else { format!("{} {plural}", kind.api_version()) };
        Some(Served {
            group: group.to_owned(),
            version: kind.version_name().to_owned(),
            plural: Arc::clone(plural),
            id: id.into(),
            api_version: kind.api_version().to_owned(),
            kind: kind.kind().to_owned(),
            list_kind: format!("{}List", kind.kind()),
            namespaced,
            storage: kind.api_version().to_owned(),
            webhook: None,
            warning: None,
            definition: kind.clone(),
            built_in: Some(strategy),
            registry: Some(Arc::clone(registry)),
            selectable: Selectable::of_built_in(group, kind.kind(), release),
            scale,
            subresources: resource.subresources.clone(),
            convertor: OnceLock::new(),
            as_stored: Reading::as_stored(),
        })
    }

    /// The release whose rules the resource has.
    pub(super) fn release(&self) -> Release {
        self.definition.definition().release()
    }

    /// Calls the webhook that converts between versions, if there is one.
    pub(super) fn call_with(&self, hooks: &Arc<dyn Hooks>) {
        self.webhook.iter().for_each(|webhook| webhook.call_with(hooks));
    }

    /// Returns the webhook that is called to convert between versions, if there is one.
    pub(super) fn converter(&self) -> Option<&Converter> {
        self.webhook.as_ref().filter(|webhook| webhook.is_called())
    }

    /// Marks objects that it reads as stored.
    pub(super) fn as_stored(&self) -> &Arc<Reading> {
        &self.as_stored
    }

    /// Returns the strategy for its objects. `None` if the definition cannot be used.
    pub(super) fn strategy(&self) -> Option<Strategy> {
        self.built_in.clone().or_else(|| self.definition.requests().map(Strategy::Custom))
    }

    /// Returns all versions of a custom resource, served or not. `None` for built-in resources, or if the definition
    /// cannot be used.
    pub(super) fn versions(&self) -> Option<&[Resource<'_>]> {
        self.definition.resources()
    }

    /// Returns the registry that knows the types of a built-in resource; `None` for custom resources.
    pub(super) fn registry(&self) -> Option<&Registry> {
        self.registry.as_deref()
    }

    /// The schema of a built-in kind in its document.
    pub(super) fn schema(&self) -> Option<DocumentSchema<'_>> {
        self.definition.document_schema()
    }

    /// Returns whether its objects are Go structs: these have another field order, and no kind and version in lists.
    pub(super) fn is_built_in(&self) -> bool {
        self.built_in.is_some()
    }

    /// Whether its objects are CustomResourceDefinitions.
    pub(super) fn is_definition(&self) -> bool {
        matches!(self.built_in, Some(Strategy::Definition(..)))
    }

    /// Whether its objects are Pods.
    pub(super) fn is_pod(&self) -> bool {
        self.is_built_in() && self.group.is_empty() && self.kind == "Pod"
    }

    /// Whether its objects are approved through a subresource.
    pub(super) fn has_approval(&self) -> bool {
        self.is_built_in() && self.group == "certificates.k8s.io" && self.has_subresource("approval")
    }

    /// Whether its objects are namespaces.
    pub(super) fn is_namespace(&self) -> bool {
        self.is_built_in() && self.group.is_empty() && self.kind == "Namespace"
    }

    /// Returns the first word of the message that a precondition of a deletion failed (upstream: `Preconditions.Check`,
    /// and for definitions apiextensions-apiserver's `REST.Delete`, which 1.37 changed).
    pub(super) fn precondition(&self) -> &'static str {
        match self.built_in {
            Some(Strategy::Definition(_, release)) if release >= Release::nearest(37) => "precondition",
            _ => "Precondition",
        }
    }

    /// Returns the Go name of its lists or objects in errors.
    pub(super) fn go_type(&self, is_list: bool) -> String {
        match (&self.built_in, is_list) {
            (None, true) => "*unstructured.UnstructuredList".to_owned(),
            (None, false) => "*unstructured.Unstructured".to_owned(),
            (Some(_), is_list) => {
                let package = self.group.split('.').next().filter(|name| !name.is_empty()).unwrap_or("core");
                format!("*{package}.{}{}", self.kind, if is_list { "List" } else { "" })
            }
        }
    }

    /// Returns the convertor to table rows.
    pub(super) fn convertor(&self) -> &Arc<Convertor> {
        self.convertor.get_or_init(|| {
            Arc::new(match &self.registry {
                Some(registry) => {
                    let release = registry.settings().release;
                    Convertor::built_in(&self.group, &self.kind, release).unwrap_or_else(Convertor::created)
                }
                None => self.definition.convertor().unwrap_or_else(|_| Convertor::names()),
            })
        })
    }

    /// Returns an exported object: without fields that the server set and without defaults.
    pub(super) fn exported<'a>(&self, object: Value<'a>, how: Exported, arena: &'a Bump) -> Value<'a> {
        let object = form::exported_metadata(object, how, arena);
        let object = if self.has_status() { value::with(object, "status", None, arena) } else { object };
        match (self.schema(), self.strategy()) {
            (Some(schema), Some(Strategy::BuiltIn(kind))) => {
                form::without_defaults(kind.without_defaults(object, arena), schema, arena)
            }
            (Some(schema), _) => form::without_defaults(object, schema, arena),
            (None, Some(Strategy::Custom(requests))) => requests.resource().without_defaults(object, arena),
            (None, _) => object,
        }
    }

    /// Returns an object as compact JSON.
    pub(super) fn printed(&self, object: Value<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        match &self.built_in {
            Some(strategy) => strategy.write(object, &mut out),
            None => object.write_go_json(&mut out),
        }
        out
    }

    /// Returns the JSON of an object with a placeholder for its revision.
    pub(super) fn draft(&self, object: Value<'_>, arena: &Bump) -> Draft {
        match &self.built_in {
            None => Draft::of(object, arena),
            Some(strategy) => Draft::printed_by(object, arena, |object, out| strategy.write(object, out)),
        }
    }

    /// Returns a bookmark: an object with only a revision, and optionally an annotation.
    pub(super) fn bookmark(&self, revision: &str, annotation: Option<&str>) -> Vec<u8> {
        let arena = Bump::new();
        let mut metadata = vec![("resourceVersion", Value::String(arena.alloc_str(revision)))];
        if let Some(name) = annotation {
            let annotations = vec![(&*arena.alloc_str(name), Value::String("true"))];
            metadata.push(("annotations", Value::Map(Map::from_entries(annotations, &arena))));
        }
        let members = vec![
            ("apiVersion", Value::String(arena.alloc_str(&self.api_version))),
            ("kind", Value::String(arena.alloc_str(&self.kind))),
            ("metadata", Value::Map(Map::from_entries(metadata, &arena))),
        ];
        let object = Value::Map(Map::from_entries(members, &arena));
        self.printed(self.built_in.as_ref().map_or(object, |strategy| strategy.empty(object, &arena)))
    }

    pub(super) fn group_resource(&self) -> GroupResource<'_> {
        GroupResource { group: &self.group, resource: &self.plural }
    }

    pub(super) fn gvk(&self) -> Gvk<'_> {
        Gvk::new(&self.api_version, &self.kind)
    }

    pub(super) fn has_status(&self) -> bool {
        self.subresources.iter().any(|name| **name == *"status")
    }

    /// Returns whether a subresource is known, but not served.
    pub(super) fn has_subresource(&self, name: &str) -> bool {
        self.subresources.iter().any(|known| **known == *name)
    }

    pub(super) fn scale(&self) -> Option<&Scale> {
        self.scale.as_ref()
    }
}
