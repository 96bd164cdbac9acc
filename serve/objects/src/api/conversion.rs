//! Conversion webhooks: calls the webhook of a definition. `kubeshape-conversions` has the reviews, and says what a
//! response may change.

use super::webhooks::{HookCall, Hooks};
use crate::status::Status;
use crate::value;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubeshape_conversions::{Review, review_version};
use kubeshape_registry::kind::Kind;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::{Node, Tape};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The time until a webhook has converted objects.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The webhook of a definition.
#[derive(Debug)]
pub(super) struct Converter {
    url: Option<String>,
    service: Option<(String, String)>,
    authorities: Vec<u8>,
    /// The version of reviews; `None` if the webhook supports none that is known.
    version: Option<&'static str>,
    hooks: OnceLock<Arc<dyn Hooks>>,
    /// The number of reviews, for their uids.
    reviews: AtomicU64,
}

impl Converter {
    /// Reads the webhook of the definition of a kind. `None` if no webhook converts its objects.
    pub(super) fn of(kind: &Kind) -> Option<Converter> {
        let conversion = kind.definition().location().node().get("spec")?.get("conversion")?;
        if conversion.get("strategy")?.as_str() != Some("Webhook") {
            return None;
        }
        // The second place is that of v1beta1.
        let webhook = conversion.get("webhook").unwrap_or(conversion);
        let client = webhook.get("clientConfig").or_else(|| webhook.get("webhookClientConfig"));
        let text = |node: Option<Node<'_>>| Some(node?.as_str()?.to_owned());
        let service = client.and_then(|client| client.get("service")).filter(|service| !service.is_null());
        let authorities = text(client.and_then(|client| client.get("caBundle"))).unwrap_or_default();
        let authorities = STANDARD.decode(authorities.trim()).unwrap_or_default();
        let versions = webhook.get("conversionReviewVersions");
        Some(Converter {
            url: text(client.and_then(|client| client.get("url"))),
            service: service.map(|service| {
                (text(service.get("namespace")).unwrap_or_default(), text(service.get("name")).unwrap_or_default())
            }),
            authorities: if authorities.trim_ascii().is_empty() { Vec::new() } else { authorities },
            version: versions.and_then(|all| review_version(all.items().filter_map(kubeshape_yaml::Node::as_str))),
            hooks: OnceLock::new(),
            reviews: AtomicU64::new(0),
        })
    }

    /// Calls the webhook from now on.
    pub(super) fn call_with(&self, hooks: &Arc<dyn Hooks>) {
        let _ = self.hooks.set(Arc::clone(hooks));
    }

    /// Returns whether the webhook is called.
    pub(super) fn is_called(&self) -> bool {
        self.hooks.get().is_some()
    }

    /// Converts objects of one kind in one review.
    ///
    /// # Errors
    /// The webhook cannot be reached or is too slow, or it changed what it may not change: 500.
    pub(super) fn convert<'a>(
        &self,
        objects: &[Value<'a>],
        api_version: &str,
        arena: &'a Bump,
    ) -> Result<Vec<Value<'a>>, Status> {
        let (Some(first), Some(hooks)) = (objects.first(), self.hooks.get()) else { return Ok(objects.to_vec()) };
        let text = |key: &str| first.get(key).and_then(Value::as_str).unwrap_or_default();
        let of = format!("conversion webhook for {}, Kind={} ", text("apiVersion"), text("kind"));
        let wrong = |why: String| Status::internal(format!("{of}{why}"));
        let version = self.version.ok_or_else(|| Status::internal("no supported conversion review versions"))?;
        let uid = format!("00000000-0000-4000-8000-{:012x}", self.reviews.fetch_add(1, Relaxed) & 0xffff_ffff_ffff);
        let review = Review { objects, version, api_version, uid: &uid };
        let call = HookCall {
            url: self.url.clone(),
            service: self.service.clone(),
            authorities: self.authorities.clone(),
            timeout: TIMEOUT,
            body: review.body(),
        };
        let body = hooks.call(&call).map_err(|why| wrong(format!("failed: {why}")))?;
        let mut tape = Tape::new();
        value::read_body(&body, &mut tape)
            .map_err(|why| wrong(format!("failed: couldn't get version/kind; json parse error: {why}")))?;
        let memory = Bump::new();
        let answer = value::of_tape(&body, &tape, &memory);
        let made = review.converted(answer, &memory).map_err(wrong)?;
        let made = made.into_iter().map(|made| match made {
            Ok(made) => Ok(made.copy_into(arena)),
            Err(why) => Err(wrong(format!("returned {why}"))),
        });
        made.collect()
    }
}
