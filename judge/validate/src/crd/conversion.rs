//! Conversion between the versions of a definition: `validateCustomResourceConversion` and the functions that it calls.

use super::check::Checker;
use super::options::is_accepted_review_version;
use super::{ca_bundle, go_json};
use crate::metadata::place;
use crate::names;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubeshape_schema::field::{BadValue, Error, Path};
use kubeshape_structural::written::{ClientConfig, Conversion, Service, Spec};
use kubeshape_yaml::Node;
use kubeshape_yaml::go::Url;
use std::collections::HashSet;

impl Checker<'_> {
    /// `validateCustomResourceConversion`
    pub(super) fn conversion(&mut self, conversion: &Conversion<'_>, spec: &Spec<'_>, path: &Path<'_>) {
        let node = spec.member("conversion").unwrap_or(spec.node);
        let webhook = node.get("webhook").unwrap_or(node);
        self.one_of(&path.child("strategy"), conversion.strategy, &["None", "Webhook"], place(node, "strategy"));
        let config_path = path.child("webhookClientConfig");
        let config_at = place(webhook, "clientConfig");
        let versions_path = path.child("conversionReviewVersions");
        let versions_at = place(webhook, "conversionReviewVersions");
        if conversion.strategy != "Webhook" {
            let detail = "should not be set when strategy is not set to Webhook";
            if conversion.client_config.is_some() {
                self.errors.push(Error::forbidden(&config_path, detail, config_at));
            }
            if !conversion.review_versions.is_empty() {
                self.errors.push(Error::forbidden(&versions_path, detail, versions_at));
            }
            return;
        }
        match &conversion.client_config {
            None => {
                let detail = "required when strategy is set to Webhook";
                self.errors.push(Error::required(&config_path, detail, config_at));
            }
            Some(config) => self.client_config(config, webhook.get("clientConfig").unwrap_or(webhook), &config_path),
        }
        self.review_versions(conversion.review_versions, &versions_path, versions_at);
    }

    fn client_config(&mut self, config: &ClientConfig<'_>, node: Node<'_>, path: &Path<'_>) {
        match (config.url, config.service) {
            (Some(url), None) => self.webhook_url(url, &path.child("url"), place(node, "url")),
            (None, Some(service)) => {
                self.webhook_service(&service, node.get("service").unwrap_or(node), &path.child("service"));
            }
            _ => self.errors.push(Error::required(path, "exactly one of url or service is required", node.index())),
        }
        if !config.ca_bundle.is_empty()
            && !self.options.allow_invalid_ca_bundle
            && let Err(detail) = ca_bundle::check(config.ca_bundle)
        {
            let value = BadValue::Json(format!("\"{}\"", STANDARD.encode(config.ca_bundle)));
            self.errors.push(Error::invalid(&path.child("caBundle"), value, detail, place(node, "caBundle")));
        }
    }

    /// `webhook.ValidateWebhookURL`
    fn webhook_url(&mut self, text: &str, path: &Path<'_>, at: u32) {
        const FORM: &str = "; desired format: https://host[/path]";
        let url = match Url::parse(text) {
            Ok(url) => url,
            Err(error) => {
                let detail = format!("url must be a valid URL: {error}{FORM}");
                self.errors.push(Error::required(path, detail, at));
                return;
            }
        };
        if url.scheme() != "https" {
            let detail = format!("'https' is the only allowed URL scheme{FORM}");
            self.errors.push(Error::invalid(path, url.scheme(), detail, at));
        }
        if url.host().is_empty() {
            self.errors.push(Error::invalid(path, "", format!("host must be specified{FORM}"), at));
        }
        if let Some(user) = url.user() {
            self.errors.push(Error::invalid(path, &*user, "user information is not permitted in the URL", at));
        }
        if !url.fragment().is_empty() {
            self.errors.push(Error::invalid(path, &*url.fragment(), "fragments are not permitted in the URL", at));
        }
        if !url.raw_query().is_empty() {
            self.errors.push(Error::invalid(
                path,
                url.raw_query(),
                "query parameters are not permitted in the URL",
                at,
            ));
        }
    }

    /// `webhook.ValidateWebhookService`. Its caller swaps name and namespace.
    fn webhook_service(&mut self, service: &Service<'_>, node: Node<'_>, path: &Path<'_>) {
        for (field, value) in [("name", service.namespace), ("namespace", service.name)] {
            if value.is_empty() {
                self.errors.push(Error::required(&path.child(field), "", place(node, field)));
            }
        }
        let port = service.port.unwrap_or(0);
        if !(1..=65535).contains(&port) {
            let detail = "port is not valid: must be between 1 and 65535, inclusive";
            let at = place(node, "port");
            self.errors.push(Error::invalid(&path.child("port"), i64::from(port), detail, at));
        }
        let Some(text) = service.path.filter(|path| !matches!(*path, "" | "/")) else { return };
        let at = place(node, "path");
        let path = path.child("path");
        let mut invalid = |detail: String| self.errors.push(Error::invalid(&path, text, detail, at));
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

    /// `validateConversionReviewVersions`
    fn review_versions(&mut self, versions: &[&str], path: &Path<'_>, at: u32) {
        if versions.is_empty() {
            self.errors.push(Error::required(path, "", at));
            return;
        }
        let mut seen = HashSet::with_capacity(versions.len());
        for (i, version) in versions.iter().enumerate() {
            if !seen.insert(*version) {
                self.errors.push(Error::invalid(&path.index(i), *version, "duplicate version", at));
                continue;
            }
            for message in names::dns1035_label(version) {
                self.errors.push(Error::invalid(&path.index(i), *version, message, at));
            }
        }
        if self.options.require_recognized_review_version
            && !versions.iter().any(|version| is_accepted_review_version(version))
        {
            let detail = "must include at least one of v1, v1beta1";
            self.errors.push(Error::invalid(path, go_json::texts(versions), detail, at));
        }
    }
}
