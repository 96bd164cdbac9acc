//! Conversion between the versions of a definition: `validateCustomResourceConversion` and the functions that it calls.

use super::check::Checker;
use super::options::is_accepted_review_version;
use super::{ca_bundle, go_json};
use crate::metadata::place;
use crate::{names, webhook};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubeshape_schema::field::{BadValue, Error, Path};
use kubeshape_structural::written::{ClientConfig, Conversion, Spec};
use kubeshape_yaml::Node;
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
            (Some(url), None) => webhook::url(url, &path.child("url"), place(node, "url"), self.errors),
            (None, Some(service)) => {
                let node = node.get("service").unwrap_or(node);
                let at = |member: &str| place(node, member);
                webhook::service(&service, &path.child("service"), &at, self.errors);
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
