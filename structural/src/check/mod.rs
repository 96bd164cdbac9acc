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
    let mut checker = Checker { errors: field::Errors::default(), patterns: [""; CACHED_PATTERNS] };
    let path = Path::Base(base);
    checker.invariants(schema, invariants::Level::Root, &path);
    checker.completeness(schema, &path);
    let mut errors = checker.errors.into_vec();
    if errors.len() > 1 {
        errors.sort_by_cached_key(ToString::to_string);
    }
    errors
}

/// How many valid patterns are cached. Patterns repeat often within a document.
const CACHED_PATTERNS: usize = 64;

struct Checker<'a> {
    errors: field::Errors,
    patterns: [&'a str; CACHED_PATTERNS],
}

impl<'a> Checker<'a> {
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

/// Returns whether these branches are exactly `[{type: integer}, {type: string}]`, in this order.
pub(crate) fn is_int_or_string(branches: &[Schema<'_>]) -> bool {
    match branches {
        [a, b] => is_bare(a, Type::Integer) && is_bare(b, Type::String),
        _ => false,
    }
}

/// Returns whether a branch has nothing but its type. Keywords that conversion drops are ignored
/// (`additionalProperties: false`, empty lists of values); `required: []` and `properties: {}` are not.
fn is_bare(branch: &Schema<'_>, ty: Type) -> bool {
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
        && says_nothing(branch)
}

/// Returns whether a schema has no value validation, default, documentation, list or map type, rule or title. The
/// caller checks the description, the type, the flags, and keywords other than junctors that contain schemas.
fn says_nothing(schema: &Schema<'_>) -> bool {
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
            && e.external_docs.is_none()
            && e.example.is_none()
            && e.list_type.is_none()
            && e.map_type.is_none()
            && e.list_map_keys.is_empty()
            && !e.list_map_keys_written
            && !e.validations_written
            && e.validations.is_empty()
    })
}
