//! The rules in force: all of them for a new definition; for an update, those that the old definition satisfied.

use super::ca_bundle;
use super::kept::Kept;
use super::list_items::{map_list_items, set_of_other_than_atomic};
use super::model::{ByVersion, Definition, same_validation, schemas};
use super::subschemas::any;
use super::unpruned::has_unpruned;
use crate::release::AskedRelease;
use kubeshape_schema::field::{Errors, Path};
use kubeshape_schema::{Flags, Schema};
use kubeshape_structural::written::{Spec, Version};
use kubeshape_structural::{convert, validate};
use kubeshape_value::Stop;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The maximum number of selectable fields of a version.
pub const MAX_SELECTABLE_FIELDS: usize = 8;

/// `validationOptions`
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Schemas may have defaults.
    pub allow_defaults: bool,
    /// One of the review versions of a conversion webhook must be known to the server.
    pub require_recognized_review_version: bool,
    /// `scope` and `names.kind` must not change.
    pub require_immutable_names: bool,
    /// Every version must have a schema.
    pub require_schema: bool,
    /// `type` must be one of the six.
    pub require_valid_type: bool,
    /// Schemas must be structural.
    pub require_structural: bool,
    /// Defaults must have no unknown fields.
    pub require_pruned_defaults: bool,
    /// The items of sets must be atomic.
    pub require_atomic_set_type: bool,
    /// Keys of map lists must be required or have a default; items of map lists and sets must not be nullable.
    pub require_map_list_keys: bool,
    /// The CA bundle of a conversion webhook may be invalid.
    pub allow_invalid_ca_bundle: bool,
    /// The versions that may have too many selectable fields; the empty name means all versions.
    pub allow_too_many_selectable_fields: HashSet<&'a str>,
    /// The versions whose schemas did not change: the cost of their single rules is not limited.
    pub unchanged_schemas: HashSet<&'a str>,
    /// The cost of single expressions is not limited.
    pub suppress_rule_cost: bool,
    /// Expressions that are already stored. They may use functions of the release itself.
    pub old_expressions: Arc<Expressions<'a>>,
    /// The release whose rules apply.
    pub release: AskedRelease,
    /// Stops the check early. The errors are then incomplete.
    pub stop: Stop<'a>,
    /// Shared results of other releases for the same definitions.
    pub kept: Arc<Kept>,
}

/// Expressions by their source.
#[derive(Clone, Debug, Default)]
pub struct Expressions<'a> {
    /// Those of `rule`.
    pub rules: HashSet<&'a str>,
    /// Those of `messageExpression`.
    pub messages: HashSet<&'a str>,
}

impl<'a> Expressions<'a> {
    /// Returns the expressions of all versions of a definition: `findPreexistingExpressions`.
    fn of(spec: &Spec<'a>) -> Expressions<'a> {
        let mut out = Expressions::default();
        for schema in schemas(spec).filter(|schema| schema.subtree.any(Flags::VALIDATIONS)) {
            let found = RefCell::new(&mut out);
            any(schema, &|schema| {
                let mut out = found.borrow_mut();
                for rule in schema.extra().validations {
                    out.rules.insert(rule.rule);
                    out.messages.insert(rule.message_expression);
                }
                false
            });
        }
        out
    }
}

impl<'a> Options<'a> {
    /// Returns the options for a new definition.
    pub fn create(release: impl Into<AskedRelease>) -> Options<'a> {
        Options {
            allow_defaults: true,
            require_recognized_review_version: true,
            require_immutable_names: false,
            require_schema: true,
            require_valid_type: true,
            require_structural: true,
            require_pruned_defaults: true,
            require_atomic_set_type: true,
            require_map_list_keys: true,
            // The definition is not established yet.
            allow_invalid_ca_bundle: true,
            allow_too_many_selectable_fields: HashSet::new(),
            unchanged_schemas: HashSet::new(),
            suppress_rule_cost: false,
            old_expressions: Arc::default(),
            release: release.into(),
            stop: Stop::NEVER,
            kept: Arc::default(),
        }
    }

    /// Returns the same options with a stop flag.
    #[must_use]
    pub fn until(self, stop: Stop<'a>) -> Options<'a> {
        Options { stop, ..self }
    }

    /// Returns the same options with results of other releases for the same definitions.
    #[must_use]
    pub fn keeping(self, kept: &Arc<Kept>) -> Options<'a> {
        Options { kept: kept.clone(), ..self }
    }

    /// Returns the options for a definition that replaces another one.
    pub fn update(new: &Definition<'a>, old: &Definition<'a>, release: impl Into<AskedRelease>) -> Options<'a> {
        let spec = &old.spec;
        let has = |test: &dyn Fn(&Schema<'_>) -> bool| schemas(spec).any(|schema| any(schema, test));
        let review_versions = spec.conversion.map_or(&[][..], |conversion| conversion.review_versions);
        let is_established = old.status.established == Some(true);
        let no_schema = spec.versions.iter().any(|version| version.schema.is_none_or(|v| v.schema.is_none()));
        Options {
            require_recognized_review_version: review_versions.is_empty()
                || review_versions.iter().any(|version| is_accepted_review_version(version)),
            require_immutable_names: is_established,
            require_schema: spec.validation.is_some_and(|v| v.schema.is_some()) || !no_schema,
            require_valid_type: !schemas(spec).any(|schema| schema.subtree.any(Flags::OTHER_TYPE)),
            require_structural: !schemas(spec).any(is_not_structural),
            require_pruned_defaults: !schemas(spec).any(has_unpruned),
            require_atomic_set_type: !has(&|schema| set_of_other_than_atomic(schema).is_some()),
            require_map_list_keys: !has(&|schema| {
                map_list_items(schema, &Path::Root, schema.at, &mut Errors::default())
            }),
            allow_invalid_ca_bundle: !is_established
                || spec
                    .conversion
                    .and_then(|conversion| conversion.client_config)
                    .is_some_and(|config| !config.ca_bundle.is_empty() && ca_bundle::check(config.ca_bundle).is_err()),
            allow_too_many_selectable_fields: too_many_selectable_fields(&new.spec, spec),
            unchanged_schemas: unchanged_schemas(&new.spec, spec),
            old_expressions: Arc::new(Expressions::of(spec)),
            ..Options::create(release)
        }
    }
}

impl<'a> Options<'a> {
    /// Returns the options for the schema of a version: `suppressExpressionCostForUnchangedSchema`.
    pub(super) fn of_version(&self, version: &str) -> Cow<'_, Options<'a>> {
        if self.suppress_rule_cost || !self.unchanged_schemas.contains(&version) {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Options { suppress_rule_cost: true, ..self.clone() })
    }
}

/// Returns whether the server knows this version of ConversionReview.
pub(super) fn is_accepted_review_version(version: &str) -> bool {
    matches!(version, "v1" | "v1beta1")
}

/// `schemaIsNonStructural`
fn is_not_structural(schema: &Schema<'_>) -> bool {
    convert(schema).is_err() || !validate(schema, "").is_empty()
}

/// `findTooManySelectableFieldsAllowed`
fn too_many_selectable_fields<'a>(new: &Spec<'a>, old: &Spec<'a>) -> HashSet<&'a str> {
    let kept = |new: Option<&[&'a str]>, old: Option<&[&'a str]>| {
        let old = old.unwrap_or_default();
        old.len() > MAX_SELECTABLE_FIELDS && new.unwrap_or_default() == old
    };
    let mut out = HashSet::new();
    if kept(new.selectable_fields, old.selectable_fields) {
        out.insert("");
    }
    // If two old versions have the same name, the last one is used.
    let before: HashMap<&str, &Version<'_>> = old.versions.iter().map(|version| (version.name, version)).collect();
    for version in new.versions {
        let before = before.get(version.name);
        if before.is_some_and(|before| kept(version.selectable_fields, before.selectable_fields)) {
            out.insert(version.name);
        }
    }
    out
}

/// `findVersionsWithUnchangedSchemas`
fn unchanged_schemas<'a>(new: &Spec<'a>, old: &Spec<'a>) -> HashSet<&'a str> {
    let (by_version, old) = (ByVersion::new(new), ByVersion::new(old));
    let unchanged = |name: &str| match (by_version.schema_of(name), old.schema_of(name)) {
        (Some(new), Some(old)) => same_validation(new, old),
        _ => false,
    };
    new.versions.iter().map(|version| version.name).filter(|name| unchanged(name)).collect()
}
