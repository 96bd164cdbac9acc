//! Types from OpenAPI v2 definitions, as clients build them (kube-openapi's `proto.NewOpenAPIData` and
//! `ToSchemaWithPreserveUnknownFields`).
//!
//! Upstream reads the document with gnostic and converts its definitions to models. A model is a record, a map, a list,
//! a scalar, a reference, or any value. Everything else is lost or rejected:
//! - A schema with `properties`, even `{}`, is a record, and its `additionalProperties` are ignored. Unknown fields are
//!   kept if the record or a record around it preserves them.
//! - `additionalProperties: false` is ignored, so the map accepts any values.
//! - `allOf` is ignored. A schema without type and properties is any value.
//! - A reference must be `#/definitions/` followed by the name of a definition, without escapes, and have neither type
//!   nor properties as siblings. A reference to RawExtension is replaced.
//! - An array needs `items`. A list of types is rejected, and so is a type other than the usual six.
//!
//! # Differences with [`Profile::Faithful`]
//! The definitions are converted like those of v3, with all differences that [`from_v3`](super::from_v3) lists:
//! `additionalProperties` are used together with `properties`, even `false`; references with siblings and in `allOf`
//! are references; a `$ref` to another document is any value. These keep their meaning in v2: records without a type,
//! `x-kubernetes-unions`, `x-nullable` and `type: file`.

use super::direct;
use super::{Built, Options, Profile, models};
use kubeshape_schema::read::{Reader, Rules};
use kubeshape_schema::{Bump, Dialect, Property, Schema};
use kubeshape_smd::schema::{Builder, add_untyped_types};
use kubeshape_yaml::Node;

/// Converts OpenAPI v2 definitions to types. Returns these and the two built-in ones, sorted by name.
///
/// `definitions` is the mapping with that name in the source, because models depend on the source: on whether
/// `properties` is present, on the order of fields, and on the spelling of references. Fields are in document order. A
/// YAML document is sorted first, because upstream converts it to JSON.
///
/// Upstream rejects a document that gnostic cannot read, for a mistake anywhere in it. This function does not check
/// that; call [`proto::v2::check`](crate::proto::v2::check) first to get upstream's verdict. A member of a definition
/// that gnostic would reject is ignored here.
///
/// # Errors
/// If no models can be built, the problems of every definition in document order (upstream stops at the first).
/// Otherwise unknown list types, map types and patch strategies, and wrong unions. With [`Profile::Faithful`], the
/// errors of [`from_v3`](super::from_v3::convert).
///
/// # Example
/// ```
/// use kubeshape_convert::smd::{Options, from_v2};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = "definitions: {pod: {properties: {spec: {$ref: '#/definitions/spec'}}}}";
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let root = tape.document(source).root().unwrap();
///
/// let errors = from_v2::convert(root.get("definitions"), Options::default()).unwrap_err();
/// assert_eq!(errors[0].text, r#"SchemaError(pod.spec): unknown model in reference: "spec""#);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn convert(definitions: Option<Node<'_>>, options: Options) -> Built {
    let mut builder = Builder::new();
    add_untyped_types(&mut builder);
    match options.profile {
        Profile::Kube => models::convert(builder, definitions, options),
        Profile::Faithful => {
            let arena = Bump::new();
            let mut reader = Reader::new(&arena, Rules::Document(Profile::Faithful));
            let definitions = definitions.map_or(&[][..], |node| reader.properties(node));
            from_schemas(builder, definitions, options)
        }
    }
}

/// Converts OpenAPI v2 definitions that were read already. They are always converted with [`Profile::Faithful`].
///
/// # Errors
/// The errors of [`convert`] with [`Profile::Faithful`].
pub fn faithful(definitions: &[Property<'_>], options: Options) -> Built {
    let mut builder = Builder::new();
    add_untyped_types(&mut builder);
    from_schemas(builder, definitions, options)
}

fn from_schemas(builder: Builder, definitions: &[Property<'_>], options: Options) -> Built {
    let models: Vec<(&str, &Schema<'_>)> = definitions.iter().map(|p| (p.name, &p.schema)).collect();
    direct::convert(builder, &models, Options { profile: Profile::Faithful, ..options }, Dialect::V2)
}
