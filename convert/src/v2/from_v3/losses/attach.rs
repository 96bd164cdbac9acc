//! Adds recorded losses to a document.

use super::LOSS;
use super::json::{copy, find, is_same, items};
use crate::model::{Entry, Extensions, Map};
use crate::v2;
use kubeshape_schema::{Additional, Bump, Dependency, Extra, Items, Json, Property, Schema, order};

/// A value before and after entries were added.
#[derive(Clone, Copy)]
pub(super) struct Step<'j> {
    pub(super) before: Option<&'j Json<'j>>,
    pub(super) after: Option<&'j Json<'j>>,
}

impl<'j> Step<'j> {
    fn member(self, name: &str) -> Step<'j> {
        Step { before: find(self.before, name), after: find(self.after, name) }
    }

    fn item(self, at: usize) -> Step<'j> {
        let item = |list: Option<&'j Json<'j>>| items(list?).get(at);
        Step { before: item(self.before), after: item(self.after) }
    }

    /// Returns whether there is nothing to add.
    fn is_done(self) -> bool {
        match (self.before, self.after) {
            (Some(before), Some(after)) => is_same(before, after),
            _ => true,
        }
    }
}

/// Adds entries to typed objects.
pub(super) struct Attach<'a> {
    pub(super) arena: &'a Bump,
}

impl<'a> Attach<'a> {
    pub(super) fn document(&self, document: &v2::Document<'a>, step: Step<'_>) -> v2::Document<'a> {
        let mut out = *document;
        out.extensions = self.extensions(out.extensions, step);
        out.definitions = self.properties(out.definitions, step.member("definitions"));
        out.parameters = self.map(out.parameters, step.member("parameters"), Self::parameter);
        out.responses = self.map(out.responses, step.member("responses"), Self::response);
        out.security_definitions =
            self.map(out.security_definitions, step.member("securityDefinitions"), |attach, scheme, step| {
                v2::SecurityScheme { extensions: attach.extensions(scheme.extensions, step), ..*scheme }
            });
        let paths = step.member("paths");
        out.paths = out.paths.map(|object| {
            let items = self.map(object.items, paths, Self::path_item);
            &*self.arena.alloc(v2::Paths { items, ..*object })
        });
        out
    }

    fn extensions(&self, extensions: Extensions<'a>, step: Step<'_>) -> Extensions<'a> {
        let entry = find(step.after, LOSS);
        if entry.is_none() && !extensions.iter().any(|(name, _)| *name == LOSS) {
            return extensions;
        }
        let mut all: Vec<(&'a str, Json<'a>)> = extensions.iter().copied().filter(|(name, _)| *name != LOSS).collect();
        if let Some(entry) = entry {
            let at = all.partition_point(|(name, _)| order::utf16(name, LOSS).is_lt());
            all.insert(at, (LOSS, copy(entry, self.arena)));
        }
        self.arena.alloc_slice_copy(&all)
    }

    fn map<T: Copy>(&self, map: Map<'a, T>, step: Step<'_>, f: impl Fn(&Self, &T, Step<'_>) -> T) -> Map<'a, T> {
        if step.is_done() {
            return map;
        }
        let entries = map.iter().map(|entry| {
            let inner = step.member(entry.name);
            let value = if inner.is_done() { entry.value } else { f(self, &entry.value, inner) };
            Entry { value, ..*entry }
        });
        Map { entries: self.arena.alloc_slice_fill_iter(entries), ..map }
    }

    fn path_item(&self, item: &v2::PathItem<'a>, step: Step<'_>) -> v2::PathItem<'a> {
        let mut out = *item;
        out.extensions = self.extensions(out.extensions, step);
        out.parameters = self.parameters(out.parameters, step.member("parameters"));
        for (name, operation) in [
            ("get", &mut out.get),
            ("put", &mut out.put),
            ("post", &mut out.post),
            ("delete", &mut out.delete),
            ("options", &mut out.options),
            ("head", &mut out.head),
            ("patch", &mut out.patch),
        ] {
            let inner = step.member(name);
            if !inner.is_done() {
                *operation = operation.map(|operation| &*self.arena.alloc(self.operation(operation, inner)));
            }
        }
        out
    }

    fn operation(&self, operation: &v2::Operation<'a>, step: Step<'_>) -> v2::Operation<'a> {
        let mut out = *operation;
        out.extensions = self.extensions(out.extensions, step);
        out.parameters = self.parameters(out.parameters, step.member("parameters"));
        let responses = step.member("responses");
        if !responses.is_done() {
            out.responses = out.responses.map(|object| {
                let codes = self.map(object.codes, responses, Self::response);
                let inner = responses.member("default");
                let default = object.default.map(|response| &*self.arena.alloc(self.response(response, inner)));
                &*self.arena.alloc(v2::Responses { default, codes, ..*object })
            });
        }
        out
    }

    fn parameters(&self, parameters: &'a [v2::Parameter<'a>], step: Step<'_>) -> &'a [v2::Parameter<'a>] {
        if step.is_done() {
            return parameters;
        }
        let changed = parameters.iter().enumerate().map(|(at, parameter)| self.parameter(parameter, step.item(at)));
        self.arena.alloc_slice_fill_iter(changed)
    }

    fn parameter(&self, parameter: &v2::Parameter<'a>, step: Step<'_>) -> v2::Parameter<'a> {
        let mut out = *parameter;
        out.extensions = self.extensions(out.extensions, step);
        out.schema = self.inner(out.schema, step.member("schema"));
        out
    }

    fn response(&self, response: &v2::Response<'a>, step: Step<'_>) -> v2::Response<'a> {
        let mut out = *response;
        out.extensions = self.extensions(out.extensions, step);
        out.schema = self.inner(out.schema, step.member("schema"));
        out.headers = self.map(out.headers, step.member("headers"), |attach, header, step| v2::Header {
            extensions: attach.extensions(header.extensions, step),
            ..*header
        });
        out
    }

    fn inner(&self, schema: Option<&'a Schema<'a>>, step: Step<'_>) -> Option<&'a Schema<'a>> {
        if step.is_done() {
            return schema;
        }
        schema.map(|schema| &*self.arena.alloc(self.schema(schema, step)))
    }

    fn properties(&self, properties: &'a [Property<'a>], step: Step<'_>) -> &'a [Property<'a>] {
        if step.is_done() {
            return properties;
        }
        let changed = properties.iter().map(|property| Property {
            schema: self.schema(&property.schema, step.member(property.name)),
            ..*property
        });
        self.arena.alloc_slice_fill_iter(changed)
    }

    fn schema(&self, schema: &Schema<'a>, step: Step<'_>) -> Schema<'a> {
        if step.is_done() {
            return *schema;
        }
        let mut out = *schema;
        out.items = match schema.items {
            Some(Items::One(item)) => Some(Items::One(self.arena.alloc(self.schema(item, step.member("items"))))),
            Some(Items::Many(list)) => Some(Items::Many(self.schemas(list, step.member("items")))),
            None => None,
        };
        out.properties = self.properties(schema.properties, step.member("properties"));
        out.additional = self.additional(schema.additional, step.member("additionalProperties"));
        let extra = schema.extra();
        let extensions = self.extensions(extra.extensions, step);
        if schema.extra.is_some() || !extensions.is_empty() {
            let mut changed = Extra { extensions, ..*extra };
            changed.all_of = self.schemas(extra.all_of, step.member("allOf"));
            changed.pattern_properties = self.properties(extra.pattern_properties, step.member("patternProperties"));
            changed.definitions = self.properties(extra.definitions, step.member("definitions"));
            changed.additional_items = self.additional(extra.additional_items, step.member("additionalItems"));
            changed.dependencies = self.dependencies(extra.dependencies, step.member("dependencies"));
            out.extra = Some(self.arena.alloc(changed));
        }
        out
    }

    fn schemas(&self, list: &'a [Schema<'a>], step: Step<'_>) -> &'a [Schema<'a>] {
        if step.is_done() {
            return list;
        }
        let changed = list.iter().enumerate().map(|(at, schema)| self.schema(schema, step.item(at)));
        self.arena.alloc_slice_fill_iter(changed)
    }

    fn additional(&self, additional: Option<Additional<'a>>, step: Step<'_>) -> Option<Additional<'a>> {
        match additional {
            Some(Additional::Schema(inner)) => Some(Additional::Schema(self.arena.alloc(self.schema(inner, step)))),
            other => other,
        }
    }

    fn dependencies(
        &self,
        dependencies: &'a [(&'a str, Dependency<'a>)],
        step: Step<'_>,
    ) -> &'a [(&'a str, Dependency<'a>)] {
        if step.is_done() {
            return dependencies;
        }
        let changed = dependencies.iter().map(|(name, dependency)| match dependency {
            Dependency::Schema(inner) => {
                (*name, Dependency::Schema(&*self.arena.alloc(self.schema(inner, step.member(name)))))
            }
            names @ Dependency::Names(_) => (*name, *names),
        });
        self.arena.alloc_slice_fill_iter(changed)
    }
}
