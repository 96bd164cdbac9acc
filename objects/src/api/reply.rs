//! Objects, lists and statuses as bodies.

use super::Reply;
use super::served::Served;
use crate::accept::{Form, TargetKind};
use crate::form::{self, IncludeObject, ListMeta, Table};
use crate::status::Status;
use crate::{proto, value};
use bytes::Bytes;
use kubeshape_show::table::Convertor;
use kubeshape_smd::managed::Time;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Tape;
use std::sync::Arc;

/// How a client wants objects.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) served: Arc<Served>,
    /// What makes the rows of a table.
    pub(super) convertor: Convertor,
    pub(super) form: Form,
    /// The kind that objects become, and its version.
    pub(super) target: Option<(TargetKind, String)>,
    /// What stands beside the rows of a table.
    pub(super) include: Result<IncludeObject, Status>,
    pub(super) now: Time,
}

/// A status as a reply.
pub(super) fn status(status: &Status, form: Form) -> Reply {
    let body = match form {
        Form::Protobuf => status.to_protobuf(),
        Form::Yaml => form::yaml(status.to_value(&Bump::new())),
        form => form::encode(status.to_json(), form),
    };
    Reply { code: status.code, form, body: body.into(), warnings: Vec::new() }
}

impl Shown {
    /// The version of `meta.k8s.io` and the kind, if objects become another one.
    fn target(&self) -> Option<(TargetKind, &str)> {
        self.target.as_ref().map(|(kind, version)| (*kind, version.as_str()))
    }

    /// The object in the version of the request.
    ///
    /// # Errors
    /// It is stored in a version that the definition does not have any more.
    pub(super) fn in_version(&self, text: &Bytes) -> Result<Bytes, Status> {
        if self.served.is_built_in() {
            return Ok(text.clone());
        }
        let expected = format!("{{\"apiVersion\":\"{}\",", self.served.api_version);
        if text.starts_with(expected.as_bytes()) {
            return Ok(text.clone());
        }
        let (mut tape, arena) = (Tape::new(), Bump::new());
        if value::read(text, &mut tape).is_err() {
            return Ok(text.clone());
        }
        let source = std::str::from_utf8(text).unwrap_or_default();
        let object = tape.document(source).root().map_or(Value::Null, |root| Value::from_node(root, &arena));
        let mut out = Vec::new();
        self.served.of_storage(object, &arena)?.write_go_json(&mut out);
        Ok(out.into())
    }

    /// A reply with an object.
    ///
    /// # Errors
    /// The object cannot become what is wanted.
    pub(super) fn object(&self, code: u16, json: &[u8]) -> Result<Reply, Status> {
        let json = self.in_version(&Bytes::copy_from_slice(json))?;
        self.one(code, &json, None)
    }

    /// A reply with JSON in place of an object; `rows` makes another table of it.
    ///
    /// # Errors
    /// The object cannot become what is wanted.
    pub(super) fn one(&self, code: u16, json: &Bytes, convertor: Option<&Convertor>) -> Result<Reply, Status> {
        let made = |body: Vec<u8>| Reply { code, form: self.form, body: body.into(), warnings: Vec::new() };
        let Some((kind, version)) = self.target() else {
            return Ok(made(form::encode(json.to_vec(), self.form)));
        };
        let (mut tape, arena) = (Tape::new(), Bump::new());
        value::read(json, &mut tape).map_err(Status::internal)?;
        let source = std::str::from_utf8(json).unwrap_or_default();
        let object = tape.document(source).root().map_or(Value::Null, |root| Value::from_node(root, &arena));
        match kind {
            TargetKind::PartialObjectMetadataList if self.served.is_built_in() => Err(Status::no_such_form(&format!(
                "you requested PartialObjectMetadataList, but the requested object is not a list ({})",
                self.served.go_type(false)
            ))),
            TargetKind::PartialObjectMetadataList => Err(Status::internal("content is not a list")),
            TargetKind::PartialObjectMetadata if self.form == Form::Protobuf => Ok(made(proto::unknown(
                &format!("meta.k8s.io/{version}"),
                "PartialObjectMetadata",
                &form::partial_protobuf(object),
            ))),
            TargetKind::PartialObjectMetadata => {
                let mut out = Vec::new();
                form::partial(version, object, &mut out);
                Ok(made(form::encode(out, self.form)))
            }
            TargetKind::Table => {
                let table = Table {
                    version,
                    convertor: convertor.unwrap_or(&self.convertor),
                    columns: true,
                    include: self.include.clone()?,
                    now: self.now,
                };
                let revision = value::meta_text(object, "resourceVersion").to_owned();
                let meta = ListMeta { revision, ..ListMeta::default() };
                Ok(made(form::encode(table.json(&[(object, json)], &meta), self.form)))
            }
        }
    }

    /// A reply with a list of objects.
    ///
    /// # Errors
    /// The list cannot become what is wanted.
    pub(super) fn list(&self, objects: &[Bytes], meta: &ListMeta) -> Result<Reply, Status> {
        let made = |body: Vec<u8>| Reply { code: 200, form: self.form, body: body.into(), warnings: Vec::new() };
        let objects: Vec<Bytes> = objects.iter().map(|text| self.in_version(text)).collect::<Result<_, _>>()?;
        let Some((kind, version)) = self.target() else {
            let served = &self.served;
            let list = if served.is_built_in() {
                form::typed_list(&served.api_version, &served.list_kind, &served.kind, &objects, meta)
            } else {
                form::list(&served.api_version, &served.list_kind, &objects, meta)
            };
            return Ok(made(form::encode(list, self.form)));
        };
        if kind == TargetKind::PartialObjectMetadata {
            return Err(Status::no_such_form(&format!(
                "you requested PartialObjectMetadata, but the requested object is a list ({})",
                self.served.go_type(true)
            )));
        }
        let include = self.include.clone();
        let (mut tapes, arena): (Vec<Tape>, Bump) = (Vec::with_capacity(objects.len()), Bump::new());
        for object in &objects {
            let mut tape = Tape::new();
            value::read(object, &mut tape).map_err(Status::internal)?;
            tapes.push(tape);
        }
        let values: Vec<Value<'_>> = tapes
            .iter()
            .zip(&objects)
            .map(|(tape, text)| {
                let source = std::str::from_utf8(text).unwrap_or_default();
                tape.document(source).root().map_or(Value::Null, |root| Value::from_node(root, &arena))
            })
            .collect();
        if kind == TargetKind::PartialObjectMetadataList {
            return Ok(made(if self.form == Form::Protobuf {
                let list = form::partial_list_protobuf(&values, meta);
                proto::unknown(&format!("meta.k8s.io/{version}"), "PartialObjectMetadataList", &list)
            } else {
                form::encode(form::partial_list(version, &values, meta), self.form)
            }));
        }
        let table = Table { version, convertor: &self.convertor, columns: true, include: include?, now: self.now };
        let rows: Vec<(Value<'_>, &[u8])> =
            values.iter().zip(&objects).map(|(value, text)| (*value, text.as_ref())).collect();
        Ok(made(form::encode(table.json(&rows, meta), self.form)))
    }
}
