//! The parameters of requests (upstream: `ListOptions`, `CreateOptions`, `UpdateOptions`, `PatchOptions`, `DeleteOptions` of
//! `meta.k8s.io/v1`).

use crate::form::IncludeObject;
use crate::select::{FieldSelector, LabelSelector};
use crate::status::Status;
use crate::target::{parameter, parameters};
use kubeshape_schema::field::{Error, Path};

/// What a field that the schema does not know does to a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

/// The longest name of a field manager (upstream `FieldManagerMaxLength`).
const LONGEST_MANAGER: usize = 128;

/// Options of a request that writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteParameters {
    pub(crate) dry_run: bool,
    pub(crate) manager: String,
    pub(crate) force: Option<bool>,
    pub(crate) validation: FieldValidation,
}

impl WriteParameters {
    /// The options of `kind`: `CreateOptions`, `UpdateOptions`, `PatchOptions`.
    ///
    /// # Errors
    /// An option has a value that it cannot have: 422.
    pub(crate) fn read(query: &str, kind: &str, is_apply: bool) -> Result<WriteParameters, Status> {
        let mut out = WriteParameters { dry_run: dry_run(query, kind)?, ..WriteParameters::default() };
        let mut errors = Vec::new();
        let given = |name: &str| parameter(query, name).map(std::borrow::Cow::into_owned);
        out.manager = given("fieldManager").unwrap_or_default();
        out.force = given("force").map(|value| is_true(&value));
        if is_apply && out.manager.is_empty() {
            errors.push(Error::required(&Path::Base("fieldManager"), "is required for apply patch", 0));
        }
        if kind == "PatchOptions" && !is_apply && out.force.is_some() {
            errors.push(Error::forbidden(&Path::Base("force"), "may not be specified for non-apply patch", 0));
        }
        if out.manager.len() > LONGEST_MANAGER {
            errors.push(Error::too_long(&Path::Base("fieldManager"), LONGEST_MANAGER, 0));
        }
        match given("fieldValidation").as_deref() {
            None | Some("" | "Warn") => {}
            Some("Ignore") => out.validation = FieldValidation::Ignore,
            Some("Strict") => out.validation = FieldValidation::Strict,
            Some(other) => {
                let supported = ["Ignore", "Strict", "Warn"];
                errors.push(Error::not_supported(&Path::Base("fieldValidation"), other, &supported, 0));
            }
        }
        if errors.is_empty() { Ok(out) } else { Err(Status::invalid("meta.k8s.io", kind, "", &errors)) }
    }

    /// The name of the manager: the parameter, or the program before the slash in `User-Agent`.
    pub(crate) fn manager(&self, user_agent: &str) -> String {
        if !self.manager.is_empty() {
            return self.manager.clone();
        }
        let program = user_agent.split('/').next().unwrap_or_default();
        let name: String = program.chars().filter(|c| !c.is_control()).collect();
        let end = (0..=LONGEST_MANAGER.min(name.len())).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
        match name.get(..end) {
            None | Some("") => "unknown".to_owned(),
            Some(name) => name.to_owned(),
        }
    }
}

/// Whether a request changes nothing.
///
/// # Errors
/// `dryRun` has a value that is not `All`: 422.
pub(crate) fn dry_run(query: &str, kind: &str) -> Result<bool, Status> {
    let values: Vec<String> = parameters(query, "dryRun").map(std::borrow::Cow::into_owned).collect();
    if let Some(other) = values.iter().find(|value| *value != "All") {
        let error = Error::not_supported(&Path::Base("dryRun"), other.as_str(), &["All"], 0);
        return Err(Status::invalid("meta.k8s.io", kind, "", &[error]));
    }
    Ok(!values.is_empty())
}

/// Options of a request that reads several objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListParameters {
    pub(crate) labels: LabelSelector,
    pub(crate) fields: FieldSelector,
    pub(crate) limit: usize,
    pub(crate) token: String,
    pub(crate) revision: String,
    pub(crate) revision_match: String,
    pub(crate) watch: bool,
    pub(crate) bookmarks: bool,
    pub(crate) initial_events: bool,
    /// After how many seconds a watch ends.
    pub(crate) timeout_seconds: Option<u64>,
}

impl ListParameters {
    /// Reads the options.
    ///
    /// # Errors
    /// A selector or a number cannot be read (400), or options do not fit each other (422).
    pub(crate) fn read(query: &str) -> Result<ListParameters, Status> {
        let text = |name: &str| parameter(query, name).unwrap_or_default().into_owned();
        let number = |name: &str| match text(name).as_str() {
            "" => Ok(None),
            digits => digits.parse::<i64>().map(Some).map_err(|_| {
                let quoted = kubeshape_yaml::go::escape::GoQuoted(digits).to_string();
                Status::bad_request(format!("strconv.ParseInt: parsing {quoted}: invalid syntax"))
            }),
        };
        let limit = number("limit")?.unwrap_or(0);
        let out = ListParameters {
            labels: LabelSelector::parse(&text("labelSelector"))
                .map_err(|error| Status::bad_request(error.to_string()))?,
            fields: FieldSelector::parse(&text("fieldSelector")).map_err(Status::bad_request)?,
            limit: usize::try_from(limit).unwrap_or(0),
            token: text("continue"),
            revision: text("resourceVersion"),
            revision_match: text("resourceVersionMatch"),
            watch: is_true_parameter(query, "watch"),
            bookmarks: is_true_parameter(query, "allowWatchBookmarks"),
            initial_events: is_true_parameter(query, "sendInitialEvents"),
            timeout_seconds: number("timeoutSeconds")?.and_then(|seconds| u64::try_from(seconds).ok()),
        };
        let mut errors = Vec::new();
        let path = Path::Base("resourceVersionMatch");
        if !out.watch && !out.revision_match.is_empty() {
            if out.revision.is_empty() {
                let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                errors.push(Error::forbidden(&path, detail, 0));
            }
            if !out.token.is_empty() {
                errors.push(Error::forbidden(&path, "resourceVersionMatch is forbidden when continue is provided", 0));
            }
            if !["Exact", "NotOlderThan"].contains(&out.revision_match.as_str()) {
                let supported = ["Exact", "NotOlderThan"];
                errors.push(Error::not_supported(&path, out.revision_match.as_str(), &supported, 0));
            }
            if out.revision_match == "Exact" && out.revision == "0" {
                let detail = r#"resourceVersionMatch "exact" is forbidden for resourceVersion "0""#;
                errors.push(Error::forbidden(&path, detail, 0));
            }
        }
        if errors.is_empty() { Ok(out) } else { Err(Status::invalid("meta.k8s.io", "ListOptions", "", &errors)) }
    }
}

/// What stands beside the rows of a table.
///
/// # Errors
/// The value is none of those that exist: 400.
pub(crate) fn include_object(query: &str) -> Result<IncludeObject, Status> {
    match &*parameter(query, "includeObject").unwrap_or_default() {
        "" | "Metadata" => Ok(IncludeObject::Metadata),
        "None" => Ok(IncludeObject::None),
        "Object" => Ok(IncludeObject::Object),
        other => {
            let quoted = kubeshape_yaml::go::escape::GoQuoted(other).to_string();
            Err(Status::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {quoted}: must be 'Metadata', \
                 'Object', 'None', or empty"
            )))
        }
    }
}

/// A boolean as Go reads it from a query: everything but `false` and `0` is true, also an empty text
/// (upstream: `runtime.Convert_Slice_string_To_bool`).
fn is_true(value: &str) -> bool {
    !matches!(value, "0") && !value.eq_ignore_ascii_case("false")
}

fn is_true_parameter(query: &str, name: &str) -> bool {
    parameter(query, name).is_some_and(|value| is_true(&value))
}
