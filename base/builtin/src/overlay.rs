//! Files with what Kubernetes' Go code adds to the API of its documents.

/// The files of the overlay by API group, each with its name: YAML whose members are definitions, such as
/// `core.v1.Container`. `kubeshape-validate` reads and documents them.
pub const OVERLAY: [(&str, &str); 8] = [
    ("apps.yaml", include_str!("../overlay/apps.yaml")),
    ("autoscaling.yaml", include_str!("../overlay/autoscaling.yaml")),
    ("batch.yaml", include_str!("../overlay/batch.yaml")),
    ("core.yaml", include_str!("../overlay/core.yaml")),
    ("networking.yaml", include_str!("../overlay/networking.yaml")),
    ("others.yaml", include_str!("../overlay/others.yaml")),
    ("rbac.yaml", include_str!("../overlay/rbac.yaml")),
    ("storage.yaml", include_str!("../overlay/storage.yaml")),
];

/// The files with what a schema can say of the server's checks, in the form of [`OVERLAY`]. `kubeshape-validate` reads
/// and documents them (`builtin::Constraints`).
pub const CONSTRAINTS: [(&str, &str); 4] = [
    ("core.yaml", include_str!("../constraints/core.yaml")),
    ("network.yaml", include_str!("../constraints/network.yaml")),
    ("others.yaml", include_str!("../constraints/others.yaml")),
    ("workloads.yaml", include_str!("../constraints/workloads.yaml")),
];
