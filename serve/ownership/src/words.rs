//! Conflicts in the words of tools.

use crate::name::Name;
use crate::tools::tool_of;

/// Whose words are used, and whose way to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Style {
    /// The message of the API server.
    #[default]
    Server,
    /// `kubectl apply --server-side`, which takes over the fields of client-side apply.
    Kubectl,
    /// Helm 4.
    Helm,
    /// Argo CD with ServerSideApply=true, which takes over what it sets.
    ArgoCd,
    /// Flux, which takes over what it sets.
    Flux,
}

impl Style {
    /// Returns the style of the tool that uses this name of a manager.
    pub fn of(manager: &str) -> Style {
        match tool_of(manager).id {
            "kubectl" => Style::Kubectl,
            "helm" => Style::Helm,
            "argocd" => Style::ArgoCd,
            "flux" => Style::Flux,
            _ => Style::Server,
        }
    }

    /// Returns whether the tool takes over the fields of others without asking.
    pub fn forces(self) -> bool {
        matches!(self, Style::ArgoCd | Style::Flux)
    }

    /// Returns the message of a conflict as the tool prints it for one object.
    ///
    /// - kubectl (`apply.go`): `error: `, the server's message, and how to go on;
    /// - Helm (`patchResourceServerSide`): `conflict occurred while applying object NAMESPACE/NAME KIND: `, and the
    ///   server's message; [`failure`](Self::failure) joins the messages of all objects;
    /// - others: the server's message.
    ///
    /// # Example
    /// ```
    /// use kubeshape_ownership::{Name, Style};
    ///
    /// let web = Name {
    ///     api_version: "apps/v1".into(), kind: "Deployment".into(), namespace: "shop".into(), name: "web".into(),
    /// };
    /// assert_eq!(
    ///     Style::Helm.conflict(&web, "Apply failed with 1 conflict: …"),
    ///     "conflict occurred while applying object shop/web apps/v1, Kind=Deployment: Apply failed with 1 conflict: …",
    /// );
    /// ```
    pub fn conflict(self, object: &Name, message: &str) -> String {
        match self {
            Style::Kubectl => format!("error: {message}\n{KUBECTL}"),
            Style::Helm => {
                // Go prints the core group as `/v1, Kind=ConfigMap`.
                let (gvk, Name { kind, namespace, name, .. }) = (object.gvk(), object);
                let (group, version) = (gvk.group(), gvk.version());
                format!(
                    "conflict occurred while applying object {namespace}/{name} {group}/{version}, Kind={kind}: {message}"
                )
            }
            Style::Server | Style::ArgoCd | Style::Flux => message.to_owned(),
        }
    }

    /// Returns what the tool prints at the end if these objects conflicted; `None` if it prints nothing. `installs`
    /// says that the release of Helm is new.
    pub fn failure(self, conflicts: &[String], installs: bool) -> Option<String> {
        let what = if installs { "INSTALLATION" } else { "UPGRADE" };
        (self == Style::Helm && !conflicts.is_empty())
            .then(|| format!("Error: {what} FAILED: {}", conflicts.join(" && ")))
    }
}

/// How kubectl goes on after the server's message.
const KUBECTL: &str = "\
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts";
