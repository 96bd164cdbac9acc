//! Validation rules for built-in kinds: the checks of Go's `Validate…` functions, as data.

pub(in crate::builtin::overlay) mod form;
mod metadata;
pub(super) mod native;
pub(super) mod read;
mod run;

use super::Condition;
use crate::builtin::BuiltInKind;
use form::Form;
use kubeshape_schema::field::{BadValue, Error, ErrorType, Errors, Path};
use kubeshape_value::Value;
use native::Check;
pub use native::{MAX_ANNOTATION_EXPRESSION, admission_errors};

/// The rules of a struct, in the order of their errors.
#[derive(Debug, Default)]
pub(in crate::builtin::overlay) struct Rules {
    /// For every value of the struct.
    pub(super) always: Vec<Rule>,
    /// For the object itself.
    pub(super) create: Vec<Rule>,
    /// For updates; if `None`, only metadata is checked.
    pub(super) update: Option<Vec<Rule>>,
    pub(super) status: Option<Vec<Rule>>,
}

impl Rules {
    pub(super) fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    /// Returns the conditions of all rules.
    #[cfg(test)]
    pub(super) fn conditions(&self) -> Vec<&Condition> {
        let mut open: Vec<&Rule> = self.all().collect();
        let mut out = Vec::new();
        while let Some(rule) = open.pop() {
            out.extend(rule.guards.iter().filter_map(|guard| match guard {
                Guard::When(condition) => Some(&**condition),
                _ => None,
            }));
            if let Test::Group(rules) = &rule.test {
                open.extend(rules);
            }
        }
        out
    }

    /// Returns all rules.
    pub(super) fn all(&self) -> impl Iterator<Item = &Rule> {
        let optional = self.update.iter().chain(&self.status).flatten();
        self.always.iter().chain(&self.create).chain(optional)
    }
}

/// A rule: a test of a field, and its conditions.
#[derive(Debug)]
pub(in crate::builtin::overlay) struct Rule {
    /// Members, and `[]` for the items of a list, `{}` for the values of a map.
    pub(super) path: Vec<String>,
    pub(super) test: Test,
    pub(super) detail: Option<String>,
    /// How an empty field is handled.
    pub(super) empty: Empty,
    pub(super) guards: Vec<Guard>,
    /// Whether an error ends the rules of the struct.
    pub(super) stops: bool,
    /// The name of a native rule.
    pub(super) native: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Empty {
    /// It is not tested.
    #[default]
    Skipped,
    /// It is an error: the field is required.
    Required,
    /// It is tested like any other value.
    Tested,
}

/// A condition of a rule.
#[derive(Debug)]
pub(in crate::builtin::overlay) enum Guard {
    If(Vec<String>),
    Unless(Vec<String>),
    /// The string of the field is one of these.
    Is(Vec<String>, Vec<String>),
    When(Box<Condition>),
}

#[derive(Debug)]
pub(in crate::builtin::overlay) enum Test {
    Required,
    Forbidden,
    Invalid,
    Enum(Vec<String>),
    Range(Option<i64>, Option<i64>),
    Form(Form),
    /// Items, or a member of them, are unique.
    Unique(Option<String>),
    Immutable,
    /// Exactly one of the members is set; the message if none is.
    OneOf(Vec<String>, Option<String>),
    MaxItems(usize),
    MaxBytes(usize),
    Native(Check),
    /// Runs the rules of the structs in the field.
    In,
    /// Does not check the structs in the field.
    Skip,
    Group(Vec<Rule>),
    /// In rules of updates: runs the rules for every value of the struct, which otherwise come last.
    Always,
    Warn(String),
}

/// The context of a request.
#[derive(Clone, Copy)]
pub(in crate::builtin) struct Scope<'a> {
    pub(in crate::builtin) root: Value<'a>,
    /// The replaced object.
    pub(in crate::builtin) old: Option<Value<'a>>,
    pub(in crate::builtin) kind: &'a str,
    pub(in crate::builtin) metadata: &'a BuiltInKind,
    pub(in crate::builtin) namespaced: bool,
}

/// A value in an object.
#[derive(Clone, Copy)]
pub(in crate::builtin) struct At<'p, 'a> {
    /// `Null` if it is missing.
    pub(in crate::builtin) value: Value<'a>,
    pub(in crate::builtin) path: &'p Path<'p>,
    pub(in crate::builtin) scope: &'p Scope<'a>,
}

impl<'a> At<'_, 'a> {
    /// Returns a member of the value; `Null` if it is missing.
    pub(in crate::builtin) fn get(&self, key: &str) -> Value<'a> {
        self.value.get(key).unwrap_or(Value::Null)
    }
}

/// The errors and warnings found.
#[derive(Default)]
pub(in crate::builtin) struct Found {
    pub(in crate::builtin) errors: Errors,
    pub(in crate::builtin) warnings: Warnings,
}

/// Warnings, limited to the same number of bytes as errors.
#[derive(Debug, Default)]
pub(in crate::builtin) struct Warnings {
    all: Vec<String>,
    bytes: usize,
    dropped: usize,
}

impl Warnings {
    /// Returns whether warnings were dropped, so that further ones need not be created.
    pub(super) fn is_full(&self) -> bool {
        self.dropped > 0
    }

    fn push(&mut self, warning: String) {
        if self.is_full() || self.bytes + warning.len() > Errors::MOST {
            self.dropped += 1;
        } else {
            self.bytes += warning.len();
            self.all.push(warning);
        }
    }

    /// Returns the warnings, and one more if some were dropped.
    pub(in crate::builtin) fn into_vec(mut self) -> Vec<String> {
        if self.is_full() {
            self.all.push(format!("more warnings: all have more than {} bytes together", Errors::MOST));
        }
        self.all
    }
}

impl Found {
    /// Adds an error. After too many errors, it is only counted: errors can show values as large as the object.
    fn add(&mut self, error: impl FnOnce() -> Error) {
        if self.errors.is_full() {
            return self.errors.skip();
        }
        self.errors.push(error());
    }

    pub(super) fn required(&mut self, path: &Path<'_>, detail: impl Into<String>) {
        self.add(|| Error::required(path, detail, 0));
    }

    pub(super) fn forbidden(&mut self, path: &Path<'_>, detail: impl Into<String>) {
        self.add(|| Error::forbidden(path, detail, 0));
    }

    pub(super) fn invalid(&mut self, path: &Path<'_>, value: Value<'_>, detail: impl Into<String>) {
        self.add(|| Error::invalid(path, bad(value), detail, 0));
    }

    pub(super) fn duplicate(&mut self, path: &Path<'_>, value: Value<'_>) {
        self.add(|| Error::duplicate(path, bad(value), 0));
    }

    /// Adds the same error several times. If they are dropped, they count as one: their number can be quadratic.
    pub(super) fn duplicates(&mut self, path: &Path<'_>, value: Value<'_>, count: usize) {
        for _ in 0..count {
            self.duplicate(path, value);
            if self.errors.is_full() {
                return;
            }
        }
    }

    /// `supported` is in the order of the message.
    pub(super) fn not_supported(&mut self, path: &Path<'_>, value: Value<'_>, supported: &[&str]) {
        self.add(|| Error::not_supported(path, bad(value), supported, 0));
    }

    pub(super) fn not_found(&mut self, path: &Path<'_>, value: Value<'_>) {
        self.not_found_with(path, value, "");
    }

    pub(super) fn not_found_with(&mut self, path: &Path<'_>, value: Value<'_>, detail: impl Into<String>) {
        self.add(|| {
            let error = Error::invalid(path, bad(value), detail, 0);
            Error { error_type: ErrorType::NotFound, ..error }
        });
    }

    pub(super) fn too_long(&mut self, path: &Path<'_>, most: usize) {
        self.add(|| Error::too_long(path, most, 0));
    }

    pub(super) fn too_many(&mut self, path: &Path<'_>, found: usize, most: usize) {
        self.add(|| Error::too_many(path, found, most, 0));
    }

    /// Adds each message as an error about the value.
    pub(super) fn messages(&mut self, path: &Path<'_>, value: Value<'_>, messages: impl IntoIterator<Item = String>) {
        for message in messages {
            self.invalid(path, value, message);
        }
    }

    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }
}

/// Returns a value as errors show it.
pub(super) fn bad(value: Value<'_>) -> BadValue {
    match value {
        Value::String(text) => BadValue::Text(text.to_owned()),
        other => {
            let mut out = Vec::new();
            other.write_go_json(&mut out);
            BadValue::Json(String::from_utf8_lossy(&out).into_owned())
        }
    }
}
