//! Objects, lists and statuses as bodies.

use super::Reply;
use super::convert::Read;
use super::served::Served;
use crate::accept::{Form, TargetKind};
use crate::form::{self, AUTOSCALING, ColumnOptions, Exported, IncludeObject, ListMeta, Room, Rows, Scale, Table};
use crate::status::Status;
use crate::store::Stored;
use crate::{cbor, proto, value, wire};
use bytes::Bytes;
use kubeshape_smd::Bump;
use kubeshape_smd::managed::Time;
use kubeshape_smd::value::Stop;
use kubeshape_yaml::Tape;
use std::borrow::Cow;
use std::sync::Arc;

/// The most bytes that decoding may add to the objects of a list.
pub const MAX_LIST_GROWTH: usize = 64 << 20;

/// How a client wants objects.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) served: Arc<Served>,
    /// Converts objects to rows; `None` if no table is wanted.
    pub(super) rows: Option<Arc<Rows>>,
    /// The columns that the client wants.
    pub(super) columns: ColumnOptions,
    pub(super) form: Form,
    /// The kind that objects are converted to, and its group version.
    pub(super) target: Option<(TargetKind, String)>,
    /// What each row of a table contains in addition to its cells.
    pub(super) include: Result<IncludeObject, Status>,
    /// How to export objects, if at all.
    pub(super) export: Option<Exported>,
    /// The version of `meta.k8s.io` of generic responses.
    pub(super) server_version: Option<String>,
    /// The parameters of the `Content-Type`.
    pub(super) parameters: String,
    pub(super) now: Time,
}

/// Returns the group version of a status, for a requested version of `meta.k8s.io`.
pub(super) fn status_version(version: Option<&str>) -> Cow<'static, str> {
    version.map_or(Cow::Borrowed("v1"), |version| Cow::Owned(format!("meta.k8s.io/{version}")))
}

/// Returns a status as a reply, in a version of `meta.k8s.io` if requested.
pub(super) fn status(status: &Status, form: Form, version: Option<&str>) -> Reply {
    let api_version = status_version(version);
    let body = match form {
        Form::Protobuf => status.protobuf_as(&api_version),
        Form::Cbor => cbor::document(status.value_as(&api_version, &Bump::new())),
        form => {
            let json = status.json_as(&api_version);
            // It nests so little that there is room.
            let room = Room::of(json.len(), Stop::NEVER);
            let made = match form {
                Form::Yaml => form::yaml(status.value_as(&api_version, &Bump::new()), room),
                form => form::encode(json, form, room),
            };
            made.unwrap_or_default()
        }
    };
    Reply { retry_after_seconds: status.retry_after_seconds(), ..Reply::new(status.code, form, body) }
}

impl Shown {
    /// Returns a status in the form of the response. It is never a table row.
    pub(super) fn status(&self, of: &Status) -> Reply {
        let form = if self.form == Form::Csv { Form::Json } else { self.form };
        let parameters = self.server_version.as_ref().map(|version| format!(";sv={version}")).unwrap_or_default();
        Reply { parameters, ..status(of, form, self.server_version.as_deref()) }
    }

    /// Returns a reply with the objects that a collection delete removes. They are not converted.
    ///
    /// # Errors
    /// The list cannot be written.
    pub(super) fn deleted(&self, objects: &[Read<'_>], revision: u64, stop: Stop<'_>) -> Result<Reply, Status> {
        let form = match self.form {
            Form::Csv => Form::Json,
            Form::Protobuf if !wire::knows(&self.served.api_version, &self.served.kind) => Form::Json,
            form => form,
        };
        let shown = Shown { form, target: None, export: None, parameters: String::new(), ..self.clone() };
        shown.list(objects, &ListMeta { revision: revision.to_string(), ..ListMeta::default() }, stop)
    }

    /// Returns a reply with a body in the form of the response.
    pub(super) fn made(&self, code: u16, body: impl Into<Bytes>) -> Reply {
        Reply { parameters: self.parameters.clone(), ..Reply::new(code, self.form, body) }
    }

    /// Returns a reply with JSON, converted to the form of the response.
    ///
    /// # Errors
    /// There is no room for it.
    pub(super) fn encoded(&self, code: u16, json: Vec<u8>, room: Room<'_>) -> Result<Reply, Status> {
        Ok(self.made(code, form::encode(json, self.form, room)?))
    }

    /// Returns whether objects are shown as stored.
    pub(super) fn is_plain(&self) -> bool {
        self.target.is_none() && self.export.is_none()
    }

    /// Returns a stored object in the version of the response.
    ///
    /// # Errors
    /// It is stored in a version that the definition no longer has.
    pub(super) fn read<'s>(&self, stored: &'s Arc<Stored>) -> Result<Read<'s>, Status> {
        self.served.read(stored)
    }

    /// Returns stored objects in the version of the response.
    ///
    /// # Errors
    /// One is stored in a version that the definition no longer has, or decoding makes them too large.
    pub(super) fn read_all<'s>(
        &self,
        stored: impl IntoIterator<Item = &'s Arc<Stored>>,
        stop: Stop<'_>,
    ) -> Result<Vec<Read<'s>>, Status> {
        let mut grown = 0_usize;
        let mut objects = Vec::new();
        let stored: Vec<&Arc<Stored>> = stored.into_iter().collect();
        self.served.convert_all(stored.iter().copied(), stop)?;
        for object in stored {
            if stop.is_set() {
                break;
            }
            let read = self.read(object)?;
            grown = grown.saturating_add(read.json().len().saturating_sub(object.json().len()));
            if grown > MAX_LIST_GROWTH {
                return Err(Status::internal(format!(
                    "the defaults of the definition add more than {MAX_LIST_GROWTH} bytes to the list; \
                     request fewer objects with the parameter limit"
                )));
            }
            objects.push(read);
        }
        Ok(objects)
    }

    /// Returns a reply with a stored object.
    ///
    /// # Errors
    /// The object cannot be converted.
    pub(super) fn object(&self, code: u16, stored: &Arc<Stored>) -> Result<Reply, Status> {
        let object = self.read(stored)?;
        if self.is_plain() && self.form == Form::Json {
            return Ok(self.made(code, object.line()));
        }
        self.one(code, &object, self.rows.as_deref())
    }

    /// A reply with an object in the version of the answer, or with what stands in its place, whose rows are these.
    ///
    /// # Errors
    /// The object cannot be converted.
    pub(super) fn one(&self, code: u16, object: &Stored, rows: Option<&Rows>) -> Result<Reply, Status> {
        let body = self.converted(object, rows, true)?;
        match self.form {
            Form::Protobuf | Form::Csv => Ok(self.made(code, body)),
            _ => self.encoded(code, body, room_of(object)),
        }
    }

    /// An object as what is wanted, in JSON; in protobuf or as comma-separated values if the answer is. `columns` says
    /// whether a table tells its columns.
    ///
    /// # Errors
    /// The object cannot be converted.
    pub(super) fn converted(&self, object: &Stored, rows: Option<&Rows>, columns: bool) -> Result<Vec<u8>, Status> {
        if let Some(how) = self.export {
            let exported = self.exported(object, how)?;
            return Shown { export: None, ..self.clone() }.converted(&exported, rows, columns);
        }
        let Some((kind, api_version)) = &self.target else {
            return match self.form {
                Form::Protobuf => self.protobuf(wire::json_to_protobuf(
                    &self.served.api_version,
                    &self.served.kind,
                    object.as_json(),
                    self.served.release(),
                )),
                _ => Ok(object.as_json().to_vec()),
            };
        };
        let meta = || ListMeta { revision: object.said_revision(), ..ListMeta::default() };
        let no_rows = || Status::internal("a table has rows");
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
                form::partial(&form::partial_head(api_version), object, &mut out);
                out
            }
            TargetKind::ObjectMeta => form::object_meta(object),
            TargetKind::Description => {
                let text = object.json();
                form::description(value::parsed(&text, &mut tape, &arena).map_err(Status::internal)?)
            }
            TargetKind::Scale => self.scale(&object.json())?,
            TargetKind::TabularOutput => {
                let (rows, objects) = (rows.ok_or_else(no_rows)?, std::iter::once(object));
                match self.form {
                    Form::Csv => form::csv(rows, objects, self.now, room_of(object))?,
                    _ => form::tabular(rows, columns, objects, self.now, &meta(), room_of(object))?,
                }
            }
            TargetKind::Table => {
                let rows = rows.ok_or_else(no_rows)?;
                let include = self.include.clone()?;
                let table = Table { api_version, rows, columns, include, now: self.now };
                table.json(std::iter::once(object), &meta(), room_of(object))?
            }
        })
    }

    /// Returns a body in protobuf. Stored objects can be written in it.
    fn protobuf(&self, body: Result<Vec<u8>, String>) -> Result<Vec<u8>, Status> {
        body.map_err(|why| Status::internal(format!("{}: {why}", self.served.kind)))
    }

    /// Drops the fields that the server set.
    fn exported(&self, object: &Stored, how: Exported) -> Result<Stored, Status> {
        let (text, mut tape, arena) = (object.json(), Tape::new(), Bump::new());
        let read = value::parsed(&text, &mut tape, &arena).map_err(Status::internal)?;
        Ok(Stored::of_json(&self.served.printed(self.served.exported(read, how, &arena))))
    }

    /// Returns the scale of an object as JSON, in the requested group version.
    ///
    /// # Errors
    /// The object has no replicas.
    pub(super) fn scale(&self, json: &[u8]) -> Result<Vec<u8>, Status> {
        let Some(paths) = self.served.scale() else { return Err(Status::internal("the resource has no scale")) };
        let (mut tape, arena) = (Tape::new(), Bump::new());
        let object = value::parsed(json, &mut tape, &arena).map_err(Status::internal)?;
        let path = &paths.spec_replicas_path;
        if value::at_path(object, path).is_none() {
            return Err(Status::internal_error(&format!("the spec replicas field \"{path}\" does not exist")));
        }
        let api_version = match &self.target {
            Some((TargetKind::Scale, api_version)) => api_version,
            _ => AUTOSCALING,
        };
        Ok(Scale::of(object, paths, &arena).json(api_version))
    }

    /// Returns a reply with a list of objects in the version of the response.
    ///
    /// # Errors
    /// The list cannot be converted.
    pub(super) fn list(&self, objects: &[Read<'_>], meta: &ListMeta, stop: Stop<'_>) -> Result<Reply, Status> {
        let served = &self.served;
        let room = Room::of(objects.iter().map(|object| object.as_json().len()).sum(), stop);
        if let Some(how) = self.export {
            let exported = objects.iter().map(|object| Ok(Read::Owned(Arc::new(self.exported(object, how)?))));
            let exported = exported.collect::<Result<Vec<_>, Status>>()?;
            return Shown { export: None, ..self.clone() }.list(&exported, meta, stop);
        }
        let texts = || objects.iter().map(|object| object.as_json()).collect::<Vec<&[u8]>>();
        let Some((kind, api_version)) = &self.target else {
            let texts = texts();
            if self.form == Form::Protobuf {
                let kinds = [&*served.list_kind, &*served.kind];
                let list = wire::list_to_protobuf(&served.api_version, kinds, &texts, meta, served.release());
                return Ok(self.made(200, self.protobuf(list)?));
            }
            let list = if served.is_built_in() {
                form::typed_list(&served.api_version, &served.list_kind, &served.kind, &texts, meta)
            } else {
                form::list(&served.api_version, &served.list_kind, &texts, meta)
            };
            return self.encoded(200, list, room);
        };
        let rows = || self.rows.as_deref().ok_or_else(|| Status::internal("a table has rows"));
        match kind {
            TargetKind::PartialObjectMetadata => Err(Status::no_such_form(&format!(
                "you requested PartialObjectMetadata, but the requested object is a list ({})",
                served.go_type(true)
            ))),
            TargetKind::Scale | TargetKind::ObjectMeta => Err(Status::internal("content is a list")),
            TargetKind::List => self.encoded(200, form::generic_list(api_version, &texts(), meta), room),
            TargetKind::ListMeta => self.encoded(200, form::list_meta(meta), room),
            TargetKind::Description => self.encoded(200, form::descriptions(&texts(), meta, room)?, room),
            TargetKind::TabularOutput => {
                let (rows, objects) = (rows()?, objects.iter().map(|object| &***object));
                match self.form {
                    Form::Csv => {
                        let csv = self.made(200, form::csv(rows, objects, self.now, room)?);
                        Ok(Reply { token: meta.token.clone(), ..csv })
                    }
                    _ => self.encoded(200, form::tabular(rows, true, objects, self.now, meta, room)?, room),
                }
            }
            TargetKind::Table => {
                let include = self.include.clone()?;
                let table = Table { api_version, rows: rows()?, columns: true, include, now: self.now };
                self.encoded(200, table.json(objects.iter().map(|object| &***object), meta, room)?, room)
            }
            TargetKind::PartialObjectMetadataList if self.form == Form::Protobuf => {
                let list = form::partial_list_protobuf(objects.iter().map(|object| &***object), meta);
                Ok(self.made(200, proto::unknown(api_version, "PartialObjectMetadataList", &list)))
            }
            TargetKind::PartialObjectMetadataList => {
                let list = form::partial_list(api_version, objects.iter().map(|object| &***object), meta);
                self.encoded(200, list, room)
            }
        }
    }
}

/// The room for a response with one object.
fn room_of(object: &Stored) -> Room<'static> {
    Room::of(object.as_json().len(), Stop::NEVER)
}
