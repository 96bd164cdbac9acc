//! What a program knows about kinds and fields beyond their schemas, for the warnings that clients get.

use super::{Api, Call};
use crate::value;
use kubeshape_smd::Value;
use kubeshape_yaml::{Node, Tape};
use std::fmt;
use std::sync::Arc;

/// A source of further warnings for clients. It is called for every request, so it must be fast.
pub trait Advisor: fmt::Debug + Send + Sync {
    /// The warning of every request for objects of a built-in kind: that the kind is deprecated.
    fn kind(&self, api_version: &str, kind: &str) -> Option<String>;

    /// Returns whether there may be warnings about fields of such objects.
    fn has_fields(&self, api_version: &str, kind: &str) -> bool;

    /// The warnings about the fields of an object that a client writes.
    fn fields(&self, object: Node<'_>) -> Vec<String>;
}

impl Api {
    /// Adds a source of warnings.
    ///
    /// # Example
    /// ```
    /// use kubeshape_objects::{Advisor, Api};
    /// use std::sync::Arc;
    ///
    /// #[derive(Debug)]
    /// struct Widths;
    ///
    /// impl Advisor for Widths {
    ///     fn kind(&self, _: &str, _: &str) -> Option<String> {
    ///         None
    ///     }
    ///     fn has_fields(&self, _: &str, kind: &str) -> bool {
    ///         kind == "Tab"
    ///     }
    ///     fn fields(&self, object: kubeshape_yaml::Node<'_>) -> Vec<String> {
    ///         object.get("width").map(|_| "width: deprecated".to_owned()).into_iter().collect()
    ///     }
    /// }
    ///
    /// let api = Api::default().with_advisor(Arc::new(Widths));
    /// ```
    #[must_use]
    pub fn with_advisor(self, advisor: Arc<dyn Advisor>) -> Api {
        Api { advisor: Some(advisor), ..self }
    }
}

impl Call<'_> {
    /// Warns that the version of the resource is deprecated, whatever the request.
    pub(super) fn warn_of_version(&self) {
        let served = self.served;
        let advisor = self.api.advisor.as_ref().filter(|_| served.is_built_in());
        let deprecated = advisor.and_then(|advisor| advisor.kind(&served.api_version, &served.kind));
        self.warn(served.warning.iter().cloned().chain(deprecated));
    }

    /// Adds warnings for the client, which gets them whether or not the request succeeds. Repeated ones are left out
    /// (upstream: the recorder of `WithWarningRecorder`).
    pub(super) fn warn(&self, warnings: impl IntoIterator<Item = String>) {
        self.warnings.borrow_mut().extend(warnings);
    }

    /// Returns the warnings until now.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.warnings.borrow().iter().cloned().collect()
    }

    fn advisor(&self) -> Option<&dyn Advisor> {
        let advisor = self.api.advisor.as_deref()?;
        // Controllers write the status, and their warnings are not read (upstream: the strategies of statuses).
        let is_told = self.path.subresource.is_empty();
        (is_told && advisor.has_fields(&self.served.api_version, &self.served.kind)).then_some(advisor)
    }

    /// Warns of the fields of an object as the client sent it.
    pub(super) fn advise(&self, sent: Node<'_>) {
        if let Some(advisor) = self.advisor() {
            self.warn(advisor.fields(sent));
        }
    }

    /// Warns of the fields of an object that a patch made.
    pub(super) fn advise_of(&self, patched: Value<'_>) {
        let Some(advisor) = self.advisor() else { return };
        let (mut text, mut tape) = (Vec::new(), Tape::new());
        patched.write_go_json(&mut text);
        if value::read(&text, &mut tape).is_err() {
            return;
        }
        let source = std::str::from_utf8(&text).unwrap_or_default();
        if let Some(node) = tape.document(source).root() {
            self.warn(advisor.fields(node));
        }
    }
}
