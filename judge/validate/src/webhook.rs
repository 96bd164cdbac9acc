//! How a server reaches a webhook: `pkg/util/webhook` of `k8s.io/apiserver`.

use crate::names;
use kubeshape_schema::field::{Error, Errors, Path};
use kubeshape_structural::written::Service;
use kubeshape_yaml::go::Url;

/// Checks an URL: `ValidateWebhookURL`. `at` is its location.
pub(crate) fn url(text: &str, path: &Path<'_>, at: u32, errors: &mut Errors) {
    const FORM: &str = "; desired format: https://host[/path]";
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(error) => {
            let detail = format!("url must be a valid URL: {error}{FORM}");
            errors.push(Error::required(path, detail, at));
            return;
        }
    };
    if url.scheme() != "https" {
        let detail = format!("'https' is the only allowed URL scheme{FORM}");
        errors.push(Error::invalid(path, url.scheme(), detail, at));
    }
    if url.host().is_empty() {
        errors.push(Error::invalid(path, "", format!("host must be specified{FORM}"), at));
    }
    if let Some(user) = url.user() {
        errors.push(Error::invalid(path, &*user, "user information is not permitted in the URL", at));
    }
    if !url.fragment().is_empty() {
        errors.push(Error::invalid(path, &*url.fragment(), "fragments are not permitted in the URL", at));
    }
    if !url.raw_query().is_empty() {
        errors.push(Error::invalid(path, url.raw_query(), "query parameters are not permitted in the URL", at));
    }
}

/// Checks a reference to a service: `ValidateWebhookService`. Its callers swap name and namespace. `at` returns the
/// location of a member.
pub(crate) fn service(service: &Service<'_>, path: &Path<'_>, at: &dyn Fn(&str) -> u32, errors: &mut Errors) {
    for (field, value) in [("name", service.namespace), ("namespace", service.name)] {
        if value.is_empty() {
            errors.push(Error::required(&path.child(field), "", at(field)));
        }
    }
    let port = service.port.unwrap_or(0);
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(Error::invalid(&path.child("port"), i64::from(port), detail, at("port")));
    }
    if let Some(text) = service.path.filter(|path| !matches!(*path, "" | "/")) {
        service_path(text, &path.child("path"), at("path"), errors);
    }
}

fn service_path(text: &str, path: &Path<'_>, at: u32, errors: &mut Errors) {
    let mut invalid = |detail: String| errors.push(Error::invalid(path, text, detail, at));
    if text == "//" {
        return invalid("segment[0] may not be empty".to_owned());
    }
    if !text.starts_with('/') {
        invalid("must start with a '/'".to_owned());
    }
    // Upstream drops the first byte, whatever it is.
    let rest = String::from_utf8_lossy(text.as_bytes().get(1..).unwrap_or_default());
    let rest = rest.strip_suffix('/').unwrap_or(&rest);
    for (i, step) in rest.split('/').enumerate() {
        if step.is_empty() {
            invalid(format!("segment[{i}] may not be empty"));
            continue;
        }
        for message in names::dns1123_subdomain(step) {
            invalid(format!("segment[{i}]: {message}"));
        }
    }
}
