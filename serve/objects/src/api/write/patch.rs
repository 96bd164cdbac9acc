//! Patches and server-side apply.

use super::strict::{lines_of_yaml_error, strict_of_json};
use super::{APPLY_CBOR, MAX_DEPTH, is_deeper, twice};
use crate::api::{Call, Outcome, Shown, Then};
use crate::options::{FieldValidation, WriteParameters};
use crate::status::{Cause, Details, Status};
use crate::value::{self, meta_text, with_meta};
use kubeshape_policy::json_patch::{PatchError, json_patch};
use kubeshape_registry::{duplicate_fields, strict_yaml_error};
use kubeshape_registry::{merge_patch, strategic};
use kubeshape_schema::field::{BadValue, Error, Path};
use kubeshape_smd::managed;
use kubeshape_smd::value::{GoText, Map};
use kubeshape_smd::{Bump, Value};
use kubeshape_validate::Change as ReleaseChange;
use kubeshape_validate::object::uid_without_object;
use kubeshape_validate::strict::Fields;
use kubeshape_yaml::{Node, Tape};

/// Media types of patches of custom resources.
const PATCHES: &str = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
/// Media types of patches of built-in resources.
const BUILT_IN_PATCHES: &str = "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
/// The members of an operation of a JSON patch.
const OPERATION: [&str; 4] = ["op", "path", "from", "value"];

/// Returns the findings of strict validation in a JSON patch.
fn strict_of_operations(patch: Node<'_>) -> Vec<String> {
    let members = patch.items().enumerate().flat_map(|(at, operation)| {
        operation.pairs().map(move |(key, _)| (at, key.text())).filter(|(_, key)| !OPERATION.contains(key))
    });
    let unknown: Vec<String> = members.map(|(at, key)| format!("[{at}].{key}")).collect();
    strict_of_json(patch, &unknown, Fields::Decoded)
        .into_iter()
        .map(|finding| format!("json patch {finding}"))
        .collect()
}

impl Call<'_> {
    /// Returns whether the request is a server-side apply.
    pub(in crate::api) fn applies(&self) -> bool {
        let media = self.media_type();
        media == "application/apply-patch+yaml" || (media == APPLY_CBOR && self.request.has_cbor())
    }

    pub(in crate::api) fn patch(&self) -> Result<Outcome, Status> {
        let shown = self.shown()?;
        let is_apply = self.applies();
        let is_json_patch = match self.media_type() {
            "application/json-patch+json" => true,
            "application/merge-patch+json" => false,
            STRATEGIC if self.served.is_built_in() => false,
            _ if is_apply => false,
            _ => {
                let known = if self.served.is_built_in() { BUILT_IN_PATCHES } else { PATCHES };
                return Err(Status::unsupported_media_type(&self.media(known, APPLY_CBOR)));
            }
        };
        let parameters = WriteParameters::read(self.request.query, "PatchOptions", is_apply)?;
        if is_apply {
            return self.apply(&parameters, shown);
        }
        let (mut tape, arena) = (Tape::new(), Bump::new());
        // Upstream: `validateAndTranscodePatch`.
        if self.has(ReleaseChange::PatchesReadFirst) && !value::is_json(self.body()?) {
            return Err(Status::bad_request("invalid JSON patch"));
        }
        let old = self.store.get(&self.key()).ok_or_else(|| self.not_found())?;
        let text = self.body()?;
        let syntax = |why: &str| Status::bad_request(format!("error decoding patch: {why}"));
        value::read_body(text, &mut tape).map_err(|why| syntax(&why))?;
        let source = std::str::from_utf8(text).map_err(|why| syntax(&why.to_string()))?;
        let node = tape.document(source).root().ok_or_else(|| syntax("unexpected end of JSON input"))?;
        let patch = Value::from_node(node, &arena);
        let mut memory = Tape::new();
        let live = self.live(old, &mut memory, &arena)?;
        let patched = if is_json_patch {
            json_patch(live, patch, &arena).map_err(|error| self.unpatched(error))?
        } else if self.media_type() == STRATEGIC {
            self.strategic(live, patch, &arena)?
        } else {
            merge_patch::apply(live, patch, &arena)
        };
        if is_deeper(patched, MAX_DEPTH) {
            return Err(Status::bad_request(format!("the object nests deeper than {MAX_DEPTH} levels")));
        }
        let twice = if is_json_patch { strict_of_operations(node) } else { twice(node) };
        // Upstream: `jsonPatcher` and `applyPatchToObject`.
        let sent = || if self.media_type() == STRATEGIC { GoText(patch).to_string() } else { patched.to_string() };
        let unreadable = |why: &str| {
            let error = Error::invalid(&Path::Base("patch"), BadValue::Text(sent()), why.to_owned(), 0);
            Status::invalid("", "", "", &[error])
        };
        let decoded = self.decode(patched, None, twice, &unreadable, &arena)?;
        self.tell(&decoded.strict, parameters.validation, &unreadable)?;
        self.advise_of(patched);
        let object = self.patched_fits_path(decoded.value, &arena)?;
        let endpoint = self.endpoint(&arena)?;
        let options = self.options(&parameters);
        let object = endpoint.update_no_errors(Some(live), object, &options, &arena);
        let change = self.replaced(object, live, old, parameters.dry_run, &arena)?;
        self.written(change, parameters.dry_run, Then::Object(200), shown)
    }

    /// Applies a strategic merge patch. `null` changes nothing.
    fn strategic<'a>(&self, live: Value<'a>, patch: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, Status> {
        let patch = match patch {
            Value::Map(patch) => patch,
            Value::Null => return Ok(live),
            other => {
                let found = value::json_name(other);
                let message = format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}");
                return Err(Status::bad_request(message));
            }
        };
        let live = live.as_map().unwrap_or(Map::EMPTY);
        let patched = strategic::apply(live, patch, self.served.schema(), arena);
        patched.map(Value::Map).map_err(|error| Status::of_strategic_patch(&error))
    }

    fn unpatched(&self, error: PatchError) -> Status {
        let PatchError { code, message, .. } = error;
        match code {
            413 => Status { code, reason: "RequestEntityTooLarge".into(), message, details: None },
            400 => Status::bad_request(message),
            // Upstream: `errors.NewGenericServerResponse` of 422.
            code => {
                let details = Details {
                    name: self.path.name.to_owned(),
                    group: self.served.group.clone(),
                    kind: self.served.plural.to_string(),
                    causes: vec![Cause { reason: "UnexpectedServerResponse".into(), message, field: String::new() }],
                    ..Details::default()
                };
                let message = "the server rejected our request due to an error in our request".to_owned();
                Status { code, reason: "Invalid".into(), message, details: Some(details.into()) }
            }
        }
    }

    /// Handles server-side apply.
    fn apply(&self, parameters: &WriteParameters, shown: Shown) -> Result<Outcome, Status> {
        let (mut tape, arena) = (Tape::new(), Bump::new());
        let text = &*self.transcoded()?;
        let reads_first = self.has(ReleaseChange::PatchesReadFirst);
        let subject = if reads_first { "patch" } else { "YAML" };
        let undecoded = |why: &str| Status::bad_request(format!("error decoding {subject}: {why}"));
        value::read_body(text, &mut tape).map_err(|why| match why.strip_prefix("error converting YAML to JSON: ") {
            Some(why) if reads_first => Status::bad_request(format!("error encoding patch: {why}")),
            _ => undecoded(&why),
        })?;
        let source = std::str::from_utf8(text).map_err(|why| undecoded(&why.to_string()))?;
        let node = tape.document(source).root().ok_or_else(|| undecoded("EOF"))?;
        let config = Value::from_node(node, &arena);
        if config.as_map().is_none() {
            return Err(undecoded("the configuration is no object"));
        }
        self.advise(node);
        let config = self.patched_fits_path(config, &arena)?;
        let old = self.store.get(&self.key());
        let mut memory = Tape::new();
        let live = match old {
            Some(old) => Some(self.live(old, &mut memory, &arena)?),
            None if self.path.subresource.is_empty() => None,
            None => return Err(self.not_found()),
        };
        let endpoint = self.endpoint(&arena)?;
        let options = self.options(parameters);
        let object = endpoint.apply(live, config, &options, &arena).map_err(|error| refused(&error))?;
        if let Some(why) = strict_yaml_error(duplicate_fields(node)) {
            let why = format!("error converting YAML to JSON: {why}");
            match parameters.validation {
                FieldValidation::Strict => {
                    return Err(Status::bad_request(format!("error strict decoding {subject}: {why}")));
                }
                FieldValidation::Warn => self.warn(lines_of_yaml_error(&why)),
                FieldValidation::Ignore => {}
            }
        }
        let object = self.strategy.decode_applied(object, &arena).map_err(|why| self.unreadable(&why))?.value;
        let (change, code) = if let (Some(old), Some(live)) = (old, live) {
            let revision = Value::String(meta_text(live, "resourceVersion"));
            let object = match meta_text(object, "resourceVersion") {
                "" => with_meta(object, "resourceVersion", Some(revision), &arena),
                _ => object,
            };
            (self.replaced(object, live, old, parameters.dry_run, &arena)?, 200)
        } else {
            if let Some(why) = uid_without_object(object) {
                return Err(Status::conflict(self.group_resource(), self.path.name, &why));
            }
            (self.created(object, parameters.dry_run, &arena)?, 201)
        };
        self.written(change, parameters.dry_run, Then::Object(code), shown)
    }
}

/// Returns the status for an error of the field manager.
pub(in crate::api) fn refused(error: &managed::Error<'_>) -> Status {
    let managed::Status { code, reason, causes } = error.status();
    let causes: Vec<Cause> = causes
        .into_iter()
        .map(|cause| Cause { reason: cause.reason.into(), message: cause.message, field: cause.field })
        .collect();
    let details = (!causes.is_empty()).then(|| Box::new(Details { causes, ..Details::default() }));
    Status { code, reason: reason.into(), message: error.to_string(), details }
}
