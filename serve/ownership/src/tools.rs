//! The tools behind the names of field managers.

/// What a tool does with fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It applies configurations.
    Applies,
    /// It is a controller, which writes single fields.
    Controls,
    /// A person uses it for single changes.
    ByHand,
    /// No program writes under this name.
    Nobody,
    /// The name says only which HTTP library a program uses.
    Unnamed,
    /// The name is not known.
    Unknown,
}

/// A tool, by the names under which it owns fields.
#[derive(Debug, PartialEq, Eq)]
pub struct Tool {
    /// A short name for programs: `helm`.
    pub id: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// Names of managers. A `*` at the end stands for any rest.
    pub managers: &'static [&'static str],
    /// What it does with fields.
    pub role: Role,
    /// Whether its applies take over the fields of others without asking.
    pub forces: bool,
    /// What an entry with this name means.
    pub meaning: &'static str,
    /// The section of `docs/ownership.md`.
    pub page: &'static str,
}

/// The tools. The first pattern that fits is used.
pub static TOOLS: &[Tool] = &[
    Tool {
        id: "before-first-apply",
        name: "before the first apply",
        managers: &["before-first-apply"],
        role: Role::Nobody,
        forces: false,
        meaning: "The object had no owners when it was first applied, so the server recorded all of its fields under this name.",
        page: "before-first-apply",
    },
    Tool {
        id: "kubectl-client-side-apply",
        name: "kubectl apply, client-side",
        managers: &["kubectl-client-side-apply"],
        role: Role::Applies,
        forces: true,
        meaning: "`kubectl apply` without `--server-side`. Its last configuration is an annotation of the object.",
        page: "conflict-with-kubectl-client-side-apply",
    },
    Tool {
        id: "kubectl-last-applied",
        name: "kubectl apply, the annotation",
        managers: &["kubectl-last-applied"],
        role: Role::Applies,
        forces: false,
        meaning: "`kubectl apply --server-side` records the owner of the annotation with the last configuration here.",
        page: "conflict-with-kubectl-client-side-apply",
    },
    Tool {
        id: "kubectl",
        name: "kubectl",
        managers: &["kubectl"],
        role: Role::Applies,
        forces: false,
        meaning: "As Apply, `kubectl apply --server-side`. As Update, a command such as `kubectl scale`.",
        page: "helm-4-fails-after-kubectl-scale",
    },
    Tool {
        id: "kubectl-by-hand",
        name: "kubectl, by hand",
        managers: &["kubectl-*"],
        role: Role::ByHand,
        forces: true,
        meaning: "A change by hand, with the command after the dash: `kubectl edit`, `kubectl patch`, `kubectl set`.",
        page: "helm-4-fails-after-kubectl-scale",
    },
    Tool {
        id: "helm",
        name: "Helm",
        managers: &["helm", "Helm"],
        role: Role::Applies,
        forces: false,
        meaning: "As Apply, Helm 4. As Update, Helm 3, or Helm 4 with `--server-side=false`.",
        page: "helm-4-fails-after-kubectl-scale",
    },
    Tool {
        id: "argocd",
        name: "Argo CD",
        managers: &["argocd-controller", "argocd-application-controller", "argocd-server"],
        role: Role::Applies,
        forces: true,
        meaning: "Argo CD. With ServerSideApply=true it applies as argocd-controller, and takes over what it sets.",
        page: "two-controllers-fight",
    },
    Tool {
        id: "flux",
        name: "Flux",
        managers: &["kustomize-controller", "flux", "flux-*"],
        role: Role::Applies,
        forces: true,
        meaning: "Flux. It applies with force, and takes over what it sets.",
        page: "two-controllers-fight",
    },
    Tool {
        id: "flux-helm",
        name: "Flux, Helm releases",
        managers: &["helm-controller"],
        role: Role::Applies,
        forces: true,
        meaning: "Helm releases of Flux.",
        page: "two-controllers-fight",
    },
    Tool {
        id: "terraform",
        name: "Terraform",
        managers: &["Terraform", "HashiCorp", "terraform-*"],
        role: Role::Applies,
        forces: false,
        meaning: "Terraform's provider for Kubernetes.",
        page: "two-controllers-fight",
    },
    Tool {
        id: "pulumi",
        name: "Pulumi",
        managers: &["pulumi-*"],
        role: Role::Applies,
        forces: false,
        meaning: "Pulumi. Each resource has a manager of its own unless the program names one.",
        page: "two-controllers-fight",
    },
    Tool {
        id: "crossplane",
        name: "Crossplane",
        managers: &["crossplane*", "apiextensions.crossplane.io/*"],
        role: Role::Controls,
        forces: true,
        meaning: "Crossplane composes objects.",
        page: "two-controllers-fight",
    },
    Tool {
        id: "kubernetes",
        name: "Kubernetes' own controllers",
        managers: &[
            "kube-controller-manager",
            "kube-scheduler",
            "kubelet",
            "kube-apiserver",
            "apiserver",
            "cloud-controller-manager",
            "kube-proxy",
        ],
        role: Role::Controls,
        forces: true,
        meaning: "A part of Kubernetes: status, and for kube-controller-manager also replicas by an autoscaler.",
        page: "two-controllers-fight",
    },
    Tool {
        id: "autoscaler",
        name: "an autoscaler",
        managers: &["keda*", "vpa-*", "cluster-autoscaler", "karpenter"],
        role: Role::Controls,
        forces: true,
        meaning: "It changes replicas or resources of workloads.",
        page: "two-controllers-fight",
    },
    Tool {
        id: "cert-manager",
        name: "cert-manager",
        managers: &["cert-manager*"],
        role: Role::Controls,
        forces: true,
        meaning: "cert-manager, for example with CA bundles of webhooks.",
        page: "two-controllers-fight",
    },
    Tool {
        id: "controller",
        name: "a controller",
        managers: &["manager", "controller", "controller-manager", "operator"],
        role: Role::Controls,
        forces: true,
        meaning: "A controller that names no manager: this is the name of its program.",
        page: "two-controllers-fight",
    },
    Tool {
        id: "http-library",
        name: "a program without a manager's name",
        managers: &[
            "Go-http-client",
            "OpenAPI-Generator",
            "Mozilla",
            "node-fetch",
            "python-requests",
            "curl",
            "unknown",
            "__debug_bin*",
        ],
        role: Role::Unnamed,
        forces: true,
        meaning: "A program that names no manager: this is the start of its User-Agent.",
        page: "two-controllers-fight",
    },
];

/// The tool of all other names.
pub static OTHER: Tool = Tool {
    id: "other",
    name: "another program",
    managers: &[],
    role: Role::Unknown,
    forces: false,
    meaning: "A program that calls itself so.",
    page: "two-controllers-fight",
};

/// Returns the tool of a manager.
///
/// # Example
/// ```
/// use kubeshape_ownership::tool_of;
///
/// assert_eq!(tool_of("kubectl-edit").id, "kubectl-by-hand");
/// assert_eq!(tool_of("my-operator").id, "other");
/// ```
pub fn tool_of(manager: &str) -> &'static Tool {
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => manager.starts_with(start),
        None => manager == pattern,
    };
    TOOLS.iter().find(|tool| tool.managers.iter().any(|pattern| fits(pattern))).unwrap_or(&OTHER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_the_table_finds_its_tool() {
        for tool in TOOLS {
            for name in tool.managers {
                assert_eq!(tool_of(name.trim_end_matches('*')).id, tool.id, "{name}");
            }
        }
    }
}
