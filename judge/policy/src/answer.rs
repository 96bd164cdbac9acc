//! The response to a request.

use crate::kinds::Gvr;
use crate::request::Request;

/// A refusal (`metav1.Status`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The HTTP status code.
    pub code: u16,
    /// `Forbidden`
    pub reason: String,
    /// The message.
    pub message: String,
    /// The object that it is about.
    pub details: Option<Details>,
}

/// The object that a refusal is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// The name of the object.
    pub name: String,
    /// The group of the resource.
    pub group: String,
    /// The resource.
    pub kind: String,
    /// The messages of the causes.
    pub causes: Vec<String>,
}

impl Status {
    /// Returns `admission.NewForbidden`.
    pub(crate) fn forbidden(request: &Request<'_>, text: &str) -> Status {
        let name = request.shown_name();
        let resource = request.resource.group_resource();
        let message = if name.is_empty() {
            format!("{resource} is forbidden: {text}")
        } else {
            format!("{resource} \"{name}\" is forbidden: {text}")
        };
        Status::new(403, "Forbidden", message, Some(details(&request.resource, name)))
    }

    /// Returns `errors.NewForbidden`, which leaves out an empty name.
    pub(crate) fn forbidden_resource(resource: &Gvr, name: &str, text: &str) -> Status {
        let shown = resource.group_resource();
        let message = if name.is_empty() {
            format!("{shown} is forbidden: {text}")
        } else {
            format!("{shown} \"{name}\" is forbidden: {text}")
        };
        Status::new(403, "Forbidden", message, Some(details(resource, name.to_owned())))
    }

    /// Returns `errors.NewNotFound` of a namespace.
    pub(crate) fn no_namespace(name: &str) -> Status {
        let details = Details { name: name.to_owned(), kind: "namespaces".to_owned(), ..Details::default() };
        Status::new(404, "NotFound", format!("namespaces \"{name}\" not found"), Some(details))
    }

    /// Returns `errors.NewInternalError`.
    pub(crate) fn internal(text: &str) -> Status {
        let details = Details { causes: vec![text.to_owned()], ..Details::default() };
        Status::new(500, "InternalError", format!("Internal error occurred: {text}"), Some(details))
    }

    /// Returns `errors.NewServiceUnavailable`.
    pub(crate) fn unavailable(text: &str) -> Status {
        Status::new(503, "ServiceUnavailable", text.to_owned(), None)
    }

    pub(crate) fn new(code: u16, reason: &str, message: String, details: Option<Details>) -> Status {
        Status { code, reason: reason.to_owned(), message, details }
    }

    pub(crate) fn with_cause(mut self, message: &str) -> Status {
        self.details.get_or_insert_default().causes.push(message.to_owned());
        self
    }
}

fn details(resource: &Gvr, name: String) -> Details {
    Details { name, group: resource.group.clone(), kind: resource.resource.clone(), causes: Vec::new() }
}

/// Returns the code of a reason (`reasonToCode` of validating policies).
pub(crate) fn code_of(reason: &str) -> u16 {
    match reason {
        "Forbidden" => 403,
        "Unauthorized" => 401,
        "RequestEntityTooLarge" => 413,
        _ => 422,
    }
}
