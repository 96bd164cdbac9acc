//! Walks over documents that visit or replace every schema and reference.

use kubeshape_schema::{Additional, Bump, Dependency, Extra, Items, Property, Schema};

/// Where a value is in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Site {
    /// A named schema of the document: of `definitions` or `components.schemas`.
    Definition,
    /// `properties` of a schema.
    Property,
    /// `items` of a schema.
    Items,
    /// `additionalProperties`, `patternProperties` or `additionalItems` of a schema.
    Additional,
    /// `allOf` of a schema.
    AllOf,
    /// `anyOf` of a schema.
    AnyOf,
    /// `oneOf` of a schema.
    OneOf,
    /// `not` of a schema.
    Not,
    /// `dependencies` of a schema.
    Dependency,
    /// `definitions` of a schema.
    Inner,
    /// A parameter.
    Parameter,
    /// A request body.
    RequestBody,
    /// A response.
    Response,
    /// A header.
    Header,
    /// A media type.
    MediaType,
    /// An example.
    Example,
    /// A link.
    Link,
    /// A callback.
    Callback,
    /// A security scheme.
    SecurityScheme,
    /// A path item.
    PathItem,
}

/// Visits the schemas and references of a document in printed order.
pub trait Visitor<'a> {
    /// Visits a schema of the document. Use [`visit_schema`] for the schemas below it. `name` is the name of a
    /// definition and empty for other schemas.
    fn schema(&mut self, site: Site, name: &'a str, schema: &Schema<'a>);

    /// Visits a `$ref` outside of schemas, in the object that begins at `at` in the tape.
    fn reference(&mut self, site: Site, at: u32, reference: &'a str) {
        let _ = (site, at, reference);
    }
}

/// Replaces the schemas and references of a document.
pub trait Mapper<'a> {
    /// Returns the arena for changed copies.
    fn arena(&self) -> &'a Bump;

    /// Replaces a schema of the document. Use [`map_schema`] for the schemas below it.
    fn schema(&mut self, site: Site, schema: &Schema<'a>) -> Schema<'a>;

    /// Replaces a `$ref` outside of schemas.
    fn reference(&mut self, site: Site, reference: &'a str) -> &'a str {
        let _ = site;
        reference
    }
}

/// Calls `f` for every schema directly below a schema, in printed order.
pub fn visit_schema<'a>(schema: &Schema<'a>, f: &mut impl FnMut(Site, &'a Schema<'a>)) {
    match schema.items {
        Some(Items::One(item)) => f(Site::Items, item),
        Some(Items::Many(items)) => items.iter().for_each(|item| f(Site::Items, item)),
        None => {}
    }
    let extra = schema.extra();
    extra.all_of.iter().for_each(|branch| f(Site::AllOf, branch));
    extra.one_of.iter().for_each(|branch| f(Site::OneOf, branch));
    extra.any_of.iter().for_each(|branch| f(Site::AnyOf, branch));
    if let Some(not) = extra.not {
        f(Site::Not, not);
    }
    schema.properties.iter().for_each(|property| f(Site::Property, &property.schema));
    if let Some(Additional::Schema(inner)) = schema.additional {
        f(Site::Additional, inner);
    }
    extra.pattern_properties.iter().for_each(|property| f(Site::Additional, &property.schema));
    for (_, dependency) in extra.dependencies {
        if let Dependency::Schema(inner) = dependency {
            f(Site::Dependency, inner);
        }
    }
    if let Some(Additional::Schema(inner)) = extra.additional_items {
        f(Site::Additional, inner);
    }
    extra.definitions.iter().for_each(|property| f(Site::Inner, &property.schema));
}

/// Returns a copy of a schema in which `f` has replaced every schema directly below it. Lists of schemas are copied;
/// everything else is shared with the original.
pub fn map_schema<'a>(
    schema: &Schema<'a>,
    arena: &'a Bump,
    f: &mut impl FnMut(Site, &'a Schema<'a>) -> Schema<'a>,
) -> Schema<'a> {
    let mut out = *schema;
    map_items(&mut out, arena, f);
    if !schema.properties.is_empty() {
        out.properties = map_properties(schema.properties, arena, &mut |inner| f(Site::Property, inner));
    }
    out.additional = schema.additional.map(|inner| map_additional(inner, arena, f));
    if let Some(extra) = schema.extra.filter(|extra| has_schemas(extra)) {
        out.extra = Some(map_extra(extra, arena, f));
    }
    out
}

// Separate functions keep the stack frames of this recursion small even without optimisation.
fn map_items<'a>(out: &mut Schema<'a>, arena: &'a Bump, f: &mut impl FnMut(Site, &'a Schema<'a>) -> Schema<'a>) {
    match out.items {
        Some(Items::One(item)) => out.items = Some(Items::One(arena.alloc(f(Site::Items, item)))),
        Some(Items::Many(items)) => {
            out.items = Some(Items::Many(map_slice(items, arena, |item| f(Site::Items, item))));
        }
        None => {}
    }
}

fn map_extra<'a>(
    extra: &'a Extra<'a>,
    arena: &'a Bump,
    f: &mut impl FnMut(Site, &'a Schema<'a>) -> Schema<'a>,
) -> &'a Extra<'a> {
    let mut copy = *extra;
    copy.all_of = map_slice(extra.all_of, arena, |branch| f(Site::AllOf, branch));
    copy.one_of = map_slice(extra.one_of, arena, |branch| f(Site::OneOf, branch));
    copy.any_of = map_slice(extra.any_of, arena, |branch| f(Site::AnyOf, branch));
    copy.not = extra.not.map(|not| &*arena.alloc(f(Site::Not, not)));
    copy.pattern_properties = map_properties(extra.pattern_properties, arena, &mut |inner| f(Site::Additional, inner));
    copy.dependencies = arena.alloc_slice_fill_iter(extra.dependencies.iter().map(|(name, dependency)| {
        let dependency = match dependency {
            Dependency::Schema(inner) => Dependency::Schema(arena.alloc(f(Site::Dependency, inner))),
            names @ Dependency::Names(_) => *names,
        };
        (*name, dependency)
    }));
    copy.additional_items = extra.additional_items.map(|inner| map_additional(inner, arena, f));
    copy.definitions = map_properties(extra.definitions, arena, &mut |inner| f(Site::Inner, inner));
    arena.alloc(copy)
}

fn has_schemas(extra: &Extra<'_>) -> bool {
    !(extra.all_of.is_empty()
        && extra.one_of.is_empty()
        && extra.any_of.is_empty()
        && extra.not.is_none()
        && extra.pattern_properties.is_empty()
        && extra.dependencies.is_empty()
        && extra.additional_items.is_none()
        && extra.definitions.is_empty())
}

fn map_additional<'a>(
    additional: Additional<'a>,
    arena: &'a Bump,
    f: &mut impl FnMut(Site, &'a Schema<'a>) -> Schema<'a>,
) -> Additional<'a> {
    match additional {
        Additional::Schema(inner) => Additional::Schema(arena.alloc(f(Site::Additional, inner))),
        allowed @ Additional::Allowed(_) => allowed,
    }
}

pub(crate) fn map_properties<'a>(
    properties: &'a [Property<'a>],
    arena: &'a Bump,
    f: &mut impl FnMut(&'a Schema<'a>) -> Schema<'a>,
) -> &'a [Property<'a>] {
    map_slice(properties, arena, |property| Property { schema: f(&property.schema), ..*property })
}

pub(crate) fn map_slice<'a, T: Copy>(items: &'a [T], arena: &'a Bump, mut f: impl FnMut(&'a T) -> T) -> &'a [T] {
    if items.is_empty() {
        return items;
    }
    arena.alloc_slice_fill_iter(items.iter().map(&mut f))
}
