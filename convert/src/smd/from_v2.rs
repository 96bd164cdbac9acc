//! Types from OpenAPI v2 definitions, as clients make them (upstream: `proto.NewOpenAPIData` and
//! `ToSchemaWithPreserveUnknownFields`).
//!
//! Upstream first reads the document with gnostic and makes models of its definitions. Models are
//! records, maps, lists, scalars, references and "anything"; what they cannot say is lost or refused:
//! - A record is what has `properties`, if only as `{}`; its `additionalProperties` do not count.
//!   Unknown fields are kept where it preserves them itself, or a record around it does.
//! - `additionalProperties: false` is as good as none: the map takes any values.
//! - `allOf` is not seen; without type and properties a value is anything.
//! - A reference must be `#/definitions/` and the name of a definition, nothing unescaped, and have
//!   neither type nor properties beside it. RawExtension is replaced where it is referred to.
//! - An array needs `items`, a list of types or one beyond the usual six is refused.
//!
//! # What [`Profile::Faithful`] does otherwise
//! The definitions are converted like those of v3, with everything that stands at
//! [`from_v3`](super::from_v3): `additionalProperties` count beside `properties`, `false` among them,
//! references beside other members and in `allOf` are references, `$ref`s of other documents are any
//! value. Still v2's own are records without a type, `x-kubernetes-unions`, `x-nullable` and
//! `type: file`.

use super::direct;
use super::{Built, Options, Profile, models};
use kubeshape_schema::read::{Reader, Rules};
use kubeshape_schema::{Bump, Dialect, Property, Schema};
use kubeshape_smd::schema::{Builder, add_untyped_types};
use kubeshape_yaml::Node;

/// The types of OpenAPI v2 definitions and the two built-in ones, sorted by name.
///
/// `definitions` is the mapping of that name in the source, because models are made of what is written
/// there: whether `properties` is there at all, the fields in their order, the letters of references.
/// Fields stand in document order; a YAML document is sorted first, as upstream makes JSON of it.
///
/// Upstream refuses documents that gnostic cannot read, for reasons anywhere in the document. This is not
/// checked here: for upstream's verdict, ask [`proto::v2::check`](crate::proto::v2::check) about the
/// document first. What it would refuse inside the definitions is taken here as if it were not there.
///
/// # Errors
/// If no models can be made, for every definition what is wrong with it in document order (upstream stops
/// at the first). Else list types, map types, patch strategies and unions that are not understood. With
/// [`Profile::Faithful`] the errors of [`from_v3`](super::from_v3::convert).
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

/// The types of OpenAPI v2 definitions that were read already, always as [`Profile::Faithful`] has it:
/// for documents that do not stand as text anywhere.
///
/// # Errors
/// As [`convert`].
pub fn faithful(definitions: &[Property<'_>], options: Options) -> Built {
    let mut builder = Builder::new();
    add_untyped_types(&mut builder);
    from_schemas(builder, definitions, options)
}

fn from_schemas(builder: Builder, definitions: &[Property<'_>], options: Options) -> Built {
    let models: Vec<(&str, &Schema<'_>)> = definitions.iter().map(|p| (p.name, &p.schema)).collect();
    direct::convert(builder, &models, Options { profile: Profile::Faithful, ..options }, Dialect::V2)
}
