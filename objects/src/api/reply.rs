//! Objects, lists and statuses as bodies.

use super::Reply;
use super::served::Served;
use crate::accept::{Form, TargetKind};
use crate::form::{self, ColumnOptions, Exported, IncludeObject, ListMeta, Rows, Table};
use crate::status::Status;
use crate::store::Stored;
use crate::{cbor, proto, value};
use bytes::Bytes;
use kubeshape_smd::Bump;
use kubeshape_smd::managed::Time;
use kubeshape_yaml::Tape;
use std::borrow::Cow;
use std::sync::Arc;

/// How a client wants objects.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) served: Arc<Served>,
    /// What makes the rows of a table; none if no table is wanted.
    pub(super) rows: Option<Arc<Rows>>,
    /// The columns that the client wants.
    pub(super) columns: ColumnOptions,
    pub(super) form: Form,
    /// The kind that objects become, and its group version.
    pub(super) target: Option<(TargetKind, String)>,
    /// What stands beside the rows of a table.
    pub(super) include: Result<IncludeObject, Status>,
    /// How objects are exported, if they are.
    pub(super) export: Option<Exported>,
    /// The version of `meta.k8s.io` of generic answers.
    pub(super) server_version: Option<String>,
    /// What the `Content-Type` says behind the media type.
    pub(super) parameters: String,
    pub(super) now: Time,
}

/// The group version of a status, for a version of `meta.k8s.io` that is wanted.
pub(super) fn status_version(version: Option<&str>) -> Cow<'static, str> {
    version.map_or(Cow::Borrowed("v1"), |version| Cow::Owned(format!("meta.k8s.io/{version}")))
}

/// A status as a reply, in a version of `meta.k8s.io` if one is wanted.
pub(super) fn status(status: &Status, form: Form, version: Option<&str>) -> Reply {
    let api_version = status_version(version);
    let body = match form {
        Form::Protobuf => status.protobuf_as(&api_version),
        Form::Yaml => form::yaml(status.value_as(&api_version, &Bump::new())),
        Form::Cbor => cbor::document(status.value_as(&api_version, &Bump::new())),
        form => form::encode(status.json_as(&api_version), form),
    };
    Reply::new(status.code, form, body)
}

impl Shown {
    /// A status, in the form of the answer. It is no row.
    pub(super) fn status(&self, of: &Status) -> Reply {
        let form = if self.form == Form::Csv { Form::Json } else { self.form };
        let parameters = self.server_version.as_ref().map(|version| format!(";sv={version}")).unwrap_or_default();
        Reply { parameters, ..status(of, form, self.server_version.as_deref()) }
    }

    /// The list of a deletion, as it is.
    pub(super) fn deleted(&self, list: &Bytes) -> Reply {
        let form = match self.form {
            // These are for other kinds.
            Form::Csv | Form::Protobuf => Form::Json,
            form => form,
        };
        Reply::new(200, form, form::encode(list.to_vec(), form))
    }

    /// A reply with a body in the form of the answer.
    pub(super) fn made(&self, code: u16, body: impl Into<Bytes>) -> Reply {
        Reply { parameters: self.parameters.clone(), ..Reply::new(code, self.form, body) }
    }

    /// A reply with JSON, brought into the form of the answer.
    pub(super) fn encoded(&self, code: u16, json: Vec<u8>) -> Reply {
        self.made(code, form::encode(json, self.form))
    }

    /// Whether objects are shown as they are stored.
    pub(super) fn is_plain(&self) -> bool {
        self.target.is_none() && self.export.is_none()
    }

    /// The object in the version of the request.
    ///
    /// # Errors
    /// It is stored in a version that the definition does not have any more.
    pub(super) fn in_version(&self, text: &Bytes) -> Result<Bytes, Status> {
        // What is printed in the order of Go's structs is no custom resource: a scale of one, for example.
        if self.served.is_built_in() || self.served.is_in_version(text) || text.starts_with(b"{\"kind\":") {
            return Ok(text.clone());
        }
        let (mut tape, arena) = (Tape::new(), Bump::new());
        let Ok(object) = value::parsed(text, &mut tape, &arena) else { return Ok(text.clone()) };
        let mut out = Vec::new();
        self.served.of_storage(object, &arena)?.write_go_json(&mut out);
        Ok(out.into())
    }

    /// An object that is stored in another version, in the version of the request.
    ///
    /// # Errors
    /// It is stored in a version that the definition does not have any more.
    fn versioned(&self, object: &Stored) -> Result<Option<Stored>, Status> {
        let text = object.json();
        let versioned = self.in_version(&text)?;
        // A text that is in the version is not copied.
        Ok((versioned.as_ptr() != text.as_ptr()).then(|| Stored::of_json(&versioned)))
    }

    /// A reply with an object, as compact JSON.
    ///
    /// # Errors
    /// The object cannot become what is wanted.
    pub(super) fn object(&self, code: u16, json: &Bytes) -> Result<Reply, Status> {
        if self.is_plain() {
            return Ok(self.encoded(code, self.in_version(json)?.to_vec()));
        }
        self.one(code, &Stored::of_json(json), self.rows.as_deref())
    }

    /// A reply with a stored object, or what stands in its place, whose rows are these.
    ///
    /// # Errors
    /// The object cannot become what is wanted.
    pub(super) fn one(&self, code: u16, object: &Stored, rows: Option<&Rows>) -> Result<Reply, Status> {
        let body = self.converted(object, rows, true)?;
        Ok(match self.form {
            Form::Protobuf | Form::Csv => self.made(code, body),
            _ => self.encoded(code, body),
        })
    }

    /// An object as what is wanted, in JSON; in protobuf or as comma-separated values if the answer is. `columns` says whether a table
    /// tells its columns.
    ///
    /// # Errors
    /// The object cannot become what is wanted.
    pub(super) fn converted(&self, object: &Stored, rows: Option<&Rows>, columns: bool) -> Result<Vec<u8>, Status> {
        if let Some(how) = self.export {
            let exported = self.exported(object, how)?;
            return Shown { export: None, ..self.clone() }.converted(&exported, rows, columns);
        }
        let Some((kind, api_version)) = &self.target else { return Ok(self.in_version(&object.json())?.to_vec()) };
        let versioned = self.versioned(object)?;
        let object = versioned.as_ref().unwrap_or(object);
        let meta = || ListMeta { revision: object.said_revision(), ..ListMeta::default() };
        let no_rows = || Status::internal("a table has rows");
        let text = || self.in_version(&object.json());
        let (mut tape, arena) = (Tape::new(), Bump::new());
        Ok(match kind {
            TargetKind::PartialObjectMetadataList if self.served.is_built_in() => {
                return Err(Status::no_such_form(&format!(
                    "you requested PartialObjectMetadataList, but the requested object is not a list ({})",
                    self.served.go_type(false)
                )));
            }
            TargetKind::PartialObjectMetadataList | TargetKind::List | TargetKind::ListMeta => {
                return Err(Status::internal("content is not a list"));
            }
            TargetKind::PartialObjectMetadata if self.form == Form::Protobuf => {
                proto::unknown(api_version, "PartialObjectMetadata", &form::partial_protobuf(object))
            }
            TargetKind::PartialObjectMetadata => {
                let mut out = Vec::new();
                form::partial(api_version, object, &mut out);
                out
            }
            TargetKind::ObjectMeta => form::object_meta(object),
            TargetKind::Description => {
                let text = text()?;
                form::description(value::parsed(&text, &mut tape, &arena).map_err(Status::internal)?)
            }
            TargetKind::Scale => super::scale::converted(self, &object.json())?,
            TargetKind::TabularOutput => {
                let (rows, objects) = (rows.ok_or_else(no_rows)?, std::iter::once(object));
                match self.form {
                    Form::Csv => form::csv(rows, objects, self.now),
                    _ => form::tabular(rows, columns, objects, self.now, &meta()),
                }
            }
            TargetKind::Table => {
                let rows = rows.ok_or_else(no_rows)?;
                let include = self.include.clone()?;
                let table = Table { api_version, rows, columns, include, now: self.now };
                table.json(std::iter::once((object, text()?)), &meta())
            }
        })
    }

    /// An object without what the server set.
    fn exported(&self, object: &Stored, how: Exported) -> Result<Stored, Status> {
        let (text, mut tape, arena) = (self.in_version(&object.json())?, Tape::new(), Bump::new());
        let read = value::parsed(&text, &mut tape, &arena).map_err(Status::internal)?;
        Ok(Stored::of_json(&self.served.printed(self.served.exported(read, how, &arena))))
    }

    /// A reply with a list of objects.
    ///
    /// # Errors
    /// The list cannot become what is wanted.
    pub(super) fn list(&self, objects: &[Arc<Stored>], meta: &ListMeta) -> Result<Reply, Status> {
        let served = &self.served;
        if let Some(how) = self.export {
            let exported = objects.iter().map(|object| self.exported(object, how).map(Arc::new));
            let exported = exported.collect::<Result<Vec<_>, _>>()?;
            return Shown { export: None, ..self.clone() }.list(&exported, meta);
        }
        let texts = || objects.iter().map(|object| self.in_version(&object.json())).collect::<Result<Vec<_>, _>>();
        let Some((kind, api_version)) = &self.target else {
            let texts: Vec<Bytes> = texts()?;
            let list = if served.is_built_in() {
                form::typed_list(&served.api_version, &served.list_kind, &served.kind, &texts, meta)
            } else {
                form::list(&served.api_version, &served.list_kind, &texts, meta)
            };
            return Ok(self.encoded(200, list));
        };
        let rows = || self.rows.as_deref().ok_or_else(|| Status::internal("a table has rows"));
        let versioned =
            objects.iter().map(|object| Ok(self.versioned(object)?.map_or_else(|| Arc::clone(object), Arc::new)));
        let objects: &[Arc<Stored>] = &versioned.collect::<Result<Vec<_>, Status>>()?;
        Ok(match kind {
            TargetKind::PartialObjectMetadata => {
                return Err(Status::no_such_form(&format!(
                    "you requested PartialObjectMetadata, but the requested object is a list ({})",
                    served.go_type(true)
                )));
            }
            TargetKind::Scale | TargetKind::ObjectMeta => return Err(Status::internal("content is a list")),
            TargetKind::List => self.encoded(200, form::generic_list(api_version, &texts()?, meta)),
            TargetKind::ListMeta => self.encoded(200, form::list_meta(meta)),
            TargetKind::Description => self.encoded(200, form::descriptions(texts()?.into_iter(), meta)),
            TargetKind::TabularOutput => {
                let (rows, objects) = (rows()?, objects.iter().map(|object| &**object));
                match self.form {
                    Form::Csv => self.made(200, form::csv(rows, objects, self.now)),
                    _ => self.encoded(200, form::tabular(rows, true, objects, self.now, meta)),
                }
            }
            TargetKind::Table => {
                let include = self.include.clone()?;
                let table = Table { api_version, rows: rows()?, columns: true, include, now: self.now };
                // Of other tables, texts are not looked at.
                let text = |object: &Stored| match include {
                    // They are in the version of the request.
                    IncludeObject::Object => object.json(),
                    _ => Bytes::new(),
                };
                self.encoded(200, table.json(objects.iter().map(|object| (&**object, text(object))), meta))
            }
            TargetKind::PartialObjectMetadataList if self.form == Form::Protobuf => {
                let list = form::partial_list_protobuf(objects, meta);
                self.made(200, proto::unknown(api_version, "PartialObjectMetadataList", &list))
            }
            TargetKind::PartialObjectMetadataList => self.encoded(200, form::partial_list(api_version, objects, meta)),
        })
    }
}
