//! The rules of structural schemas, as `schema.ValidateStructural` of `k8s.io/apiextensions-apiserver` checks them.
//!
//! The spine of a schema is the part that `properties`, `items` and `additionalProperties` reach. The schemas below
//! `allOf`, `anyOf`, `oneOf` and `not` are branches. There are three sets of rules. Nodes of the spine have invariants
//! (`invariants`). Branches must not use certain keywords (`junctors`). A branch of the root must not mention a field
//! that the spine does not declare (`completeness`).
//!
//! Paths are built only for errors. The flags of a subtree show whether anything in it can break a rule; if not, the
//! check does not enter it.

mod completeness;

mod invariants;
mod junctors;

use kubeshape_schema::field;
use kubeshape_schema::field::{BadValue, ErrorType};

use crate::regex;
use kubeshape_schema::field::Path;
use kubeshape_schema::{Flags, Schema, Type};

/// Checks a schema that converts against the rules of structural schemas. If there is no error, the schema is
/// structural.
///
/// All paths begin with `base`, which is usually empty. The errors are sorted by their message, as upstream sorts them.
///
/// # Example: a property without a type
/// ```
/// use kubeshape_schema::{Property, Schema, Type};
/// let properties = [Property { name: "a", at: 0, schema: Schema::default() }];
/// let schema = Schema { ty: Type::Object, properties: &properties, ..Schema::default() };
/// let errors = kubeshape_structural::validate(&schema, "");
/// let [error] = errors.as_slice() else { panic!() };
/// assert_eq!(
///     error.to_string(),
///     "properties[a].type: Required value: must not be empty for specified object fields"
/// );
/// ```
pub fn validate(schema: &Schema<'_>, base: &str) -> Vec<field::Error> {
    Checker::new(true).validate(schema, base)
}

/// Checks a schema as [`validate`] does, by the rules of releases before 1.36. Their conversion drops `externalDocs`
/// and `example`, so the alternatives of int-or-string, and the metadata of a resource, may have them.
///
/// # Example
/// ```
/// use kubeshape_schema::{ExternalDocs, Extra, Flags, Schema, Type};
/// let documented = Extra { external_docs: Some(ExternalDocs::default()), ..Extra::default() };
/// let either = [
///     Schema { ty: Type::Integer, extra: Some(&documented), ..Schema::default() },
///     Schema { ty: Type::String, ..Schema::default() },
/// ];
/// let extra = Extra { any_of: &either, ..Extra::default() };
/// let flags = Flags::JUNCTOR;
/// let schema = Schema { ty: Type::Object, flags, subtree: flags, extra: Some(&extra), ..Schema::default() };
/// assert_eq!(kubeshape_structural::validate(&schema, "").len(), 2);
/// assert!(kubeshape_structural::validate_undocumented(&schema, "").is_empty());
/// ```
pub fn validate_undocumented(schema: &Schema<'_>, base: &str) -> Vec<field::Error> {
    Checker::new(false).validate(schema, base)
}

/// How many valid patterns are cached. Patterns repeat often within a document.
const CACHED_PATTERNS: usize = 64;

struct Checker<'a> {
    errors: field::Errors,
    patterns: [&'a str; CACHED_PATTERNS],
    /// Whether conversion keeps `externalDocs` and `example`.
    documented: bool,
}

impl<'a> Checker<'a> {
    fn new(documented: bool) -> Checker<'a> {
        Checker { errors: field::Errors::default(), patterns: [""; CACHED_PATTERNS], documented }
    }

    fn validate(mut self, schema: &Schema<'a>, base: &str) -> Vec<field::Error> {
        let path = Path::Base(base);
        self.invariants(schema, invariants::Level::Root, &path);
        self.completeness(schema, &path);
        let mut errors = self.errors.into_vec();
        if errors.len() > 1 {
            errors.sort_by_cached_key(ToString::to_string);
        }
        errors
    }

    #[cold]
    fn error(&mut self, error_type: ErrorType, path: String, value: BadValue, detail: impl Into<String>, at: u32) {
        self.errors.push(field::Error { error_type, path, value, detail: detail.into(), at });
    }

    #[cold]
    fn required(&mut self, path: &Path<'_>, field: &'static str, detail: &str, at: u32) {
        self.error(ErrorType::Required, path.child(field).to_string(), BadValue::Omitted, detail, at);
    }

    #[cold]
    fn forbidden(&mut self, path: &Path<'_>, field: &'static str, detail: &str, at: u32) {
        self.error(ErrorType::Forbidden, path.child(field).to_string(), BadValue::Omitted, detail, at);
    }

    #[cold]
    fn invalid(&mut self, path: &Path<'_>, field: &'static str, value: BadValue, detail: &str, at: u32) {
        self.error(ErrorType::Invalid, path.child(field).to_string(), value, detail, at);
    }

    /// Checks the pattern of a node of the spine or of a branch.
    fn pattern(&mut self, schema: &Schema<'a>, path: &Path<'_>) {
        if !schema.flags.any(Flags::PATTERN) {
            return;
        }
        let pattern = schema.extra().pattern;
        let slot = slot(pattern);
        if self.patterns[slot] == pattern {
            return;
        }
        match regex::check(pattern) {
            Ok(()) => self.patterns[slot] = pattern,
            Err(error) => {
                let detail = format!("must be a valid regular expression, but isn't: {error}");
                self.invalid(path, "pattern", BadValue::Text(pattern.to_owned()), &detail, schema.at);
            }
        }
    }
}

/// The slot of a pattern in the cache.
fn slot(pattern: &str) -> usize {
    let bytes = pattern.as_bytes();
    let middle = bytes.get(bytes.len() / 2).copied().unwrap_or(0) as usize;
    let late = bytes.get(bytes.len().wrapping_sub(3)).copied().unwrap_or(0) as usize;
    (bytes.len() + middle * 7 + late * 13) % CACHED_PATTERNS
}

/// Returns whether these branches are exactly `[{type: integer}, {type: string}]`, in this order. `documented` says
/// whether conversion keeps `externalDocs` and `example`.
pub(crate) fn is_int_or_string(branches: &[Schema<'_>], documented: bool) -> bool {
    match branches {
        [a, b] => is_bare(a, Type::Integer, documented) && is_bare(b, Type::String, documented),
        _ => false,
    }
}

/// Returns whether a branch has nothing but its type. Keywords that conversion drops are ignored
/// (`additionalProperties: false`, empty lists of values); `required: []` and `properties: {}` are not.
fn is_bare(branch: &Schema<'_>, ty: Type, documented: bool) -> bool {
    const ANY: Flags = Flags::NULLABLE
        .with(Flags::PRESERVE_UNKNOWN)
        .with(Flags::EMBEDDED_RESOURCE)
        .with(Flags::INT_OR_STRING)
        .with(Flags::PROPERTIES_WRITTEN);
    branch.ty == ty
        && branch.description.is_empty()
        && !branch.flags.any(ANY)
        && branch.properties.is_empty()
        && branch.items.is_none()
        && !matches!(
            branch.additional,
            Some(kubeshape_schema::Additional::Allowed(true) | kubeshape_schema::Additional::Schema(_))
        )
        && says_nothing(branch, documented)
}

/// Returns whether a schema has no value validation, default, documentation, list or map type, rule or title. The
/// caller checks the description, the type, the flags, and keywords other than junctors that contain schemas.
fn says_nothing(schema: &Schema<'_>, documented: bool) -> bool {
    const ANY: Flags = Flags::UNIQUE_ITEMS
        .with(Flags::EXCLUSIVE_MAXIMUM)
        .with(Flags::EXCLUSIVE_MINIMUM)
        .with(Flags::REQUIRED_WRITTEN)
        .with(Flags::JUNCTOR)
        .with(Flags::DEFAULT);
    let own = schema.format.is_empty()
        && !schema.flags.any(ANY)
        && schema.required.is_empty()
        && schema.enumeration.is_empty()
        && schema.default.is_none();
    own && schema.extra.is_none_or(|e| {
        e.title.is_empty()
            && e.maximum.is_none()
            && e.minimum.is_none()
            && e.multiple_of.is_none()
            && e.max_length.is_none()
            && e.min_length.is_none()
            && e.max_items.is_none()
            && e.min_items.is_none()
            && e.max_properties.is_none()
            && e.min_properties.is_none()
            && e.pattern.is_empty()
            && (!documented || e.external_docs.is_none() && e.example.is_none())
            && e.list_type.is_none()
            && e.map_type.is_none()
            && e.list_map_keys.is_empty()
            && !e.list_map_keys_written
            && !e.validations_written
            && e.validations.is_empty()
    })
}
