//! The structured-merge-diff schema of a resource (upstream: `buildOpenAPIModelsForApply` in
//! `pkg/apiserver/customresource_handler.go` of apiextensions-apiserver).
//!
//! It is built from the definitions in the OpenAPI v3 documents of all versions. The definitions that all resources
//! share are converted once, as [`MetaTypes`].

use crate::names::AUTOSCALING;
use kubeshape_convert::smd::{Built, Options, from_v3};
use kubeshape_schema::Schema;
use kubeshape_smd::schema::{self as smd, Builder};

pub(crate) use kubeshape_convert::smd::losses::of_structural as losses;
pub use kubeshape_convert::smd::{SmdCompat, SmdError};

/// The types of the shared definitions, and the two built-in types.
#[derive(Clone, Debug)]
pub(crate) struct MetaTypes {
    plain: Variants,
    /// With the definitions of the scale subresource.
    scale: Variants,
}

/// The types of a resource that does not preserve unknown fields, and of one that does.
#[derive(Clone, Debug)]
struct Variants {
    strict: Built,
    preserving: Built,
}

impl MetaTypes {
    /// Converts the shared definitions, including those of the scale subresource. None of them is nullable, so their
    /// types are the same for every [`SmdCompat`].
    pub(crate) fn new(definitions: &[(&str, Schema<'_>)]) -> Self {
        let models: Vec<(&str, &Schema<'_>)> = definitions.iter().map(|(name, schema)| (*name, schema)).collect();
        let without: Vec<_> = models.iter().copied().filter(|(name, _)| !name.starts_with(AUTOSCALING)).collect();
        MetaTypes { plain: Variants::new(&without), scale: Variants::new(&models) }
    }

    fn get(&self, scale: bool, preserve_unknown_fields: bool) -> &Built {
        let variants = if scale { &self.scale } else { &self.plain };
        if preserve_unknown_fields { &variants.preserving } else { &variants.strict }
    }
}

impl Variants {
    fn new(models: &[(&str, &Schema<'_>)]) -> Self {
        let convert = |preserve: bool| {
            let mut builder = Builder::new();
            smd::add_untyped_types(&mut builder);
            from_v3::extend(builder, models, Options { preserve_unknown: preserve, ..Options::default() })
        };
        Variants { strict: convert(false), preserving: convert(true) }
    }
}

/// Converts the published definitions of a resource's versions and adds them to the shared ones, sorted by name.
///
/// # Errors
/// All errors of all definitions; upstream joins their messages with line breaks.
pub(crate) fn build(
    models: &[(&str, &Schema<'_>)],
    meta: &MetaTypes,
    scale: bool,
    preserve_unknown_fields: bool,
    compat: SmdCompat,
) -> Built {
    let base = meta.get(scale, preserve_unknown_fields).as_ref().map_err(Clone::clone)?;
    let options = Options { preserve_unknown: preserve_unknown_fields, compat, ..Options::default() };
    from_v3::extend(Builder::extending(base), models, options)
}

/// Returns the schema of a resource without versions: only the built-in types.
pub(crate) fn without_versions() -> Built {
    from_v3::convert(&[], Options::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_schema::{Property, Type};
    use kubeshape_smd::schema::{UNTYPED_ATOMIC, UNTYPED_DEDUCED};

    #[test]
    fn the_shared_types_preserve_unknown_fields_with_the_resource() {
        let inner = [Property { name: "p", at: 0, schema: Schema { ty: Type::String, ..Schema::default() } }];
        let schema = Schema { ty: Type::Object, properties: &inner, ..Schema::default() };
        let scale = format!("{AUTOSCALING}Scale");
        let meta = MetaTypes::new(&[("m", schema), (&scale, schema)]);
        let names = |scale, preserve| {
            let built = build(&[("a", &schema)], &meta, scale, preserve, SmdCompat::V63).expect("it converts");
            let element =
                |name| built.find_type(name).and_then(|def| def.atom().map()).map(|map| !map.element_type().is_empty());
            assert_eq!(element("m"), Some(preserve));
            built.types().map(|def| def.name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(false, false), [UNTYPED_ATOMIC, UNTYPED_DEDUCED, "a", "m"]);
        assert_eq!(names(true, true), [UNTYPED_ATOMIC, UNTYPED_DEDUCED, "a", scale.as_str(), "m"]);
    }
}
