//! Reads one object or many.

use super::served::Served;
use super::{Call, Outcome, Reply};
use crate::form::ListMeta;
use crate::options::ListParameters;
use crate::status::Status;
use crate::store::{Key, Store, Stored};
use crate::{select, value};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kubeshape_smd::value::Stop;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Tape;
use std::sync::Arc;

/// A selection of objects of a resource: a path prefix and selectors.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    /// `"default/"` for a namespace, `""` for all.
    pub(super) prefix: String,
    labels: select::LabelSelector,
    fields: select::FieldSelector,
}

impl Selection {
    /// Returns whether there are no selectors.
    pub(super) fn takes_all(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Lets a webhook convert the objects among which is selected, many at once.
    ///
    /// # Errors
    /// The webhook fails.
    pub(super) fn convert(&self, store: &Store, of: &Served, stop: Stop<'_>) -> Result<(), Status> {
        of.convert_all(store.list(&of.id, &self.prefix, "").map(|(_, stored)| stored), stop)
    }

    /// Returns whether a stored object of a resource is selected.
    pub(super) fn takes(&self, key: &Key, stored: &Arc<Stored>, of: &Served) -> bool {
        if self.takes_all() {
            return true;
        }
        // The code that shows it reports why it cannot be read.
        let Ok(read) = of.read(stored) else { return true };
        let (mut tape, arena) = (Tape::new(), Bump::new());
        let Ok(object) = value::parsed(read.as_json(), &mut tape, &arena) else { return false };
        let labels = value::metadata(object).get("labels");
        self.labels.matches(|name| labels.and_then(|labels| labels.get(name)?.as_str()))
            && self.fields.matches(|field| match field {
                "metadata.name" => key.name().to_owned(),
                "metadata.namespace" => key.namespace().to_owned(),
                field => of.selectable.value(object, field),
            })
    }
}

impl Call<'_> {
    pub(super) fn get(&self) -> Result<Outcome, Status> {
        let shown = self.shown()?;
        if !self.request.alternates {
            crate::options::no_export(self.request.query)?;
        }
        let stored = self.store.get(&self.key()).ok_or_else(|| self.not_found())?;
        Ok(Outcome::Reply(Reply { warnings: self.warnings(), ..shown.object(200, stored)? }))
    }

    /// Returns the key of the object in the path.
    pub(super) fn key(&self) -> Key {
        Key::new(&self.served.id, self.path.namespace, self.path.name)
    }

    /// Returns the selection of the path and the parameters.
    ///
    /// # Errors
    /// A field is not selectable: 400.
    pub(super) fn selection(&self, options: &ListParameters) -> Result<Selection, Status> {
        let namespace = self.path.namespace;
        let served = self.served;
        let gvk = || format!("{}, Kind={}", served.api_version, served.kind);
        for field in options.fields.fields() {
            served.selectable.check(field, gvk).map_err(Status::bad_request)?;
        }
        Ok(Selection {
            prefix: if namespace.is_empty() { String::new() } else { format!("{namespace}/") },
            labels: options.labels.clone(),
            fields: options.fields.clone(),
        })
    }

    pub(super) fn list(&self) -> Result<Outcome, Status> {
        let shown = self.shown()?;
        let options = ListParameters::read(self.request.query)?;
        let selection = self.selection(&options)?;
        let (revision, from) = match options.token.as_str() {
            "" => (self.revision_of_list(&options)?, String::new()),
            token => {
                let token = Token::read(token)?;
                (Some(token.revision), format!("{}{}", selection.prefix, token.start))
            }
        };
        let old: Store;
        let store = match revision {
            Some(revision) => {
                old = self.store.at(revision).map_err(|_| expired(revision))?;
                &old
            }
            None => self.store,
        };
        if !selection.takes_all() {
            selection.convert(store, self.served, self.moment.stop)?;
        }
        let (objects, meta) = page(store, self.served, &selection, &from, options.limit, self.moment.stop);
        let objects = shown.read_all(objects, self.moment.stop)?;
        let reply = shown.list(&objects, &meta, self.moment.stop)?;
        Ok(Outcome::Reply(Reply { warnings: self.warnings(), ..reply }))
    }

    /// Returns the revision at which a list is read, if not the current one.
    fn revision_of_list(&self, options: &ListParameters) -> Result<Option<u64>, Status> {
        let Some(revision) = revision(&options.revision)? else { return Ok(None) };
        if revision > self.store.revision() {
            return Err(Status::too_large_revision(revision, self.store.revision()));
        }
        Ok((options.revision_match == "Exact").then_some(revision))
    }
}

/// Reads a revision parameter; `None` if it is missing or 0 (any).
///
/// # Errors
/// It is not a number: 422.
pub(super) fn revision(text: &str) -> Result<Option<u64>, Status> {
    use kubeshape_schema::field::{Error, Path};
    match text {
        "" | "0" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            let quoted = kubeshape_yaml::go::escape::GoQuoted(text).to_string();
            let detail = format!("strconv.ParseUint: parsing {quoted}: invalid syntax");
            let error = Error::invalid(&Path::Base("resourceVersion"), text, detail, 0);
            Status::invalid("", "", "", &[error])
        }),
    }
}

fn expired(revision: u64) -> Status {
    Status::expired(format!(
        "The provided continue parameter is too old to display a consistent list result. The revision {revision} is not \
         kept any more. You can start a new list without the continue parameter."
    ))
}

/// Returns the objects of a page and the list's metadata.
fn page<'s>(
    store: &'s Store,
    served: &Served,
    selection: &'s Selection,
    from: &str,
    limit: usize,
    stop: Stop<'_>,
) -> (Vec<&'s Arc<Stored>>, ListMeta) {
    let mut meta = ListMeta { revision: store.revision().to_string(), ..ListMeta::default() };
    let all = store.list(&served.id, &selection.prefix, from).take_while(|_| !stop.is_set());
    let selected = all.filter(|(key, stored)| selection.takes(key, stored, served));
    let mut objects = Vec::new();
    let mut last: Option<&Key> = None;
    let mut left = 0_i64;
    for (key, stored) in selected {
        if limit > 0 && objects.len() == limit {
            left += 1;
            // With a selector, the remaining count is unset.
            if !selection.takes_all() {
                break;
            }
            continue;
        }
        objects.push(stored);
        last = Some(key);
    }
    if left > 0
        && let Some(last) = last
    {
        let start = last.path.strip_prefix(selection.prefix.as_str()).unwrap_or(&last.path);
        meta.token = Token { revision: store.revision(), start: format!("{start}\0") }.to_string();
        meta.remaining = selection.takes_all().then_some(left);
    }
    (objects, meta)
}

/// Where the next page of a list begins (upstream: `storage.EncodeContinue`).
struct Token {
    revision: u64,
    start: String,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut json = format!("{{\"v\":\"meta.k8s.io/v1\",\"rv\":{},\"start\":", self.revision).into_bytes();
        Value::String(&format!("/{}", self.start)).write_go_json(&mut json);
        json.push(b'}');
        f.write_str(&URL_SAFE_NO_PAD.encode(json))
    }
}

impl Token {
    /// Reads a token.
    ///
    /// # Errors
    /// The token is invalid: 400.
    fn read(text: &str) -> Result<Token, Status> {
        let invalid = || Status::bad_request("continue key is not valid: it was not made by this server");
        let json = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|_| invalid())?;
        let (mut tape, arena) = (Tape::new(), Bump::new());
        value::read(&json, &mut tape).map_err(|_| invalid())?;
        let source = std::str::from_utf8(&json).map_err(|_| invalid())?;
        let token = tape.document(source).root().map_or(Value::Null, |root| Value::from_node(root, &arena));
        let revision = match token.get("rv") {
            Some(Value::Int(n)) => u64::try_from(n).map_err(|_| invalid())?,
            _ => return Err(invalid()),
        };
        let start = token.get("start").and_then(Value::as_str).and_then(|start| start.strip_prefix('/'));
        Ok(Token { revision, start: start.ok_or_else(invalid)?.to_owned() })
    }
}

/// Returns the selected objects of a resource, with their keys.
pub(super) fn selected(
    store: &Store,
    served: &Served,
    selection: &Selection,
    stop: Stop<'_>,
) -> Vec<(Key, Arc<Stored>)> {
    let all = store.list(&served.id, &selection.prefix, "").take_while(|_| !stop.is_set());
    all.filter(|(key, stored)| selection.takes(key, stored, served))
        .map(|(key, stored)| (key.clone(), Arc::clone(stored)))
        .collect()
}
