//! The parameters of requests (upstream: `ListOptions`, `CreateOptions`, `UpdateOptions`, `PatchOptions`,
//! `DeleteOptions` of `meta.k8s.io/v1`).

use crate::form::{ColumnOptions, IncludeObject};
use crate::select::{FieldSelector, LabelSelector};
use crate::status::Status;
use crate::target::{parameter, parameters};
use kubeshape_schema::field::{Error, Path};

/// How a request treats unknown fields.
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
    /// Reads the options of `kind`: `CreateOptions`, `UpdateOptions`, `PatchOptions`.
    ///
    /// # Errors
    /// An option has an invalid value: 422.
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

    /// Returns the name of the manager: the parameter, or the program before the slash in `User-Agent`.
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

/// Returns whether a request is a dry run.
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
    /// The number of seconds after which a watch ends.
    pub(crate) timeout_seconds: Option<u64>,
}

impl ListParameters {
    /// Reads the options.
    ///
    /// # Errors
    /// A selector or a number is invalid (400), or options contradict each other (422).
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

/// The maximum number of labels shown as columns.
const MAX_LABEL_COLUMNS: usize = 64;
/// Versions of the options. Upstream registers them in every group; the proposal gives them their own group.
const OPTION_VERSIONS: [&str; 2] = ["meta.k8s.io/v1", "v1"];

/// Reads the columns that a client wants: the options of `kubectl get` as parameters.
///
/// # Errors
/// There are too many, or a value is not a boolean: 400.
pub(crate) fn columns(query: &str) -> Result<ColumnOptions, Status> {
    let labels: Vec<String> = parameters(query, "labelColumns")
        .flat_map(|value| value.split(',').map(|label| label.trim().to_owned()).collect::<Vec<_>>())
        .filter(|label| !label.is_empty())
        .collect();
    if labels.len() > MAX_LABEL_COLUMNS {
        let found = labels.len();
        return Err(Status::bad_request(format!(
            "labelColumns: found {found} labels, expected at most {MAX_LABEL_COLUMNS}"
        )));
    }
    Ok(ColumnOptions { wide: flag(query, "wide")?, labels, all_labels: flag(query, "showLabels")?.unwrap_or_default() })
}

/// Returns whether to drop fields that the server set, and whether to keep the names of the object.
///
/// # Errors
/// A value is not a boolean: 400.
pub(crate) fn export(query: &str) -> Result<(Option<bool>, bool), Status> {
    Ok((flag(query, "export")?, flag(query, "exact")?.unwrap_or_default()))
}

/// Checks the kind and version of `DeleteOptions` in a body. Each group has them, too.
///
/// # Errors
/// They are unknown: 400.
pub(crate) fn kind_of_options(api_version: &str, kind: &str, of_resource: &str) -> Result<(), Status> {
    let is_known = api_version.is_empty() || api_version == of_resource || OPTION_VERSIONS.contains(&api_version);
    if is_known && ["", "DeleteOptions"].contains(&kind) {
        return Ok(());
    }
    let found = kubeshape_yaml::go::escape::GoQuoted(&format!("{api_version} {kind}")).to_string();
    let expected = OPTION_VERSIONS.join(" or ");
    Err(Status::bad_request(format!("the body is no DeleteOptions: found {found}, expected {expected} DeleteOptions")))
}

/// Reads a boolean parameter of the proposal: `1` or `0`, or their usual equivalents.
fn flag(query: &str, name: &str) -> Result<Option<bool>, Status> {
    match parameter(query, name).as_deref() {
        None => Ok(None),
        Some("" | "1" | "true") => Ok(Some(true)),
        Some("0" | "false") => Ok(Some(false)),
        Some(other) => {
            let quoted = kubeshape_yaml::go::escape::GoQuoted(other).to_string();
            Err(Status::bad_request(format!("{name}: found {quoted}, expected 0 or 1")))
        }
    }
}

/// Refuses requests for exports, which are no longer supported (upstream: `GetResource`).
///
/// # Errors
/// The request asks for an export: 400.
pub(crate) fn no_export(query: &str) -> Result<(), Status> {
    if is_true_parameter(query, "export") {
        return Err(Status::bad_request("the export parameter, deprecated since v1.14, is no longer supported"));
    }
    Ok(())
}

/// Checks the kind and version of the options, if the query names them. `kind` is the expected kind.
///
/// # Errors
/// They are unknown: 400.
pub(crate) fn versions(query: &str, kind: &str) -> Result<(), Status> {
    let quoted = |text: &str| kubeshape_yaml::go::escape::GoQuoted(text).to_string();
    for found in parameters(query, "kind") {
        // The options for reading one object have two names.
        let fits = found == kind || (kind == "GetOptions" && ["ListOptions", "ExportOptions"].contains(&&*found));
        if !fits {
            let found = quoted(&found);
            return Err(Status::bad_request(format!("kind: found options of kind {found}, expected {kind}")));
        }
    }
    for name in ["apiVersion", "queryVersion"] {
        for found in parameters(query, name) {
            if !OPTION_VERSIONS.contains(&&*found) {
                let (found, expected) = (quoted(&found), OPTION_VERSIONS.join(" or "));
                let message = format!("{name}: found {found}, which is no version of {kind} here, expected {expected}");
                return Err(Status::bad_request(message));
            }
        }
    }
    Ok(())
}

/// Reads what each row of a table contains in addition to its cells.
///
/// # Errors
/// The value is unknown: 400.
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

/// Reads a boolean from a query as Go does: everything but `false` and `0` is true, even an empty string
/// (upstream: `runtime.Convert_Slice_string_To_bool`).
pub(crate) fn is_true(value: &str) -> bool {
    !matches!(value, "0") && !value.eq_ignore_ascii_case("false")
}

fn is_true_parameter(query: &str, name: &str) -> bool {
    parameter(query, name).is_some_and(|value| is_true(&value))
}
