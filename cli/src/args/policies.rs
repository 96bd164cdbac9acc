//! The options of commands that judge requests with admission policies.

use clap::{Args, ValueEnum, ValueHint};
use kubeshape_policy::Permission;
use std::path::PathBuf;

/// The heading of these options.
const HEADING: &str = "Options for admission policies";

/// Admission policies, and who sends the requests.
#[derive(Args, Clone, Debug)]
pub(crate) struct PolicyArgs {
    /// Admission policies and bindings: files and folders (repeatable)
    ///
    /// ValidatingAdmissionPolicies, MutatingAdmissionPolicies and their bindings, in the order in which they are used.
    /// Namespaces and the parameters of policies may be among them. The built-in kinds are known then, as with
    /// --kubernetes.
    #[arg(long, help_heading = HEADING, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) policies: Vec<PathBuf>,

    /// Parameters of policies, and Namespaces: files and folders (repeatable)
    ///
    /// A Namespace that is not given exists, with its name as the only label.
    #[arg(long, help_heading = HEADING, value_name = "INPUT", value_hint = ValueHint::AnyPath, requires = "policies")]
    pub(crate) params: Vec<PathBuf>,

    /// User who sends the requests [default: kubernetes-admin, in the groups system:masters and system:authenticated]
    #[arg(long, help_heading = HEADING, value_name = "NAME", requires = "policies")]
    pub(crate) user: Option<String>,

    /// Group of the user (repeatable)
    #[arg(long, help_heading = HEADING, value_name = "NAME", requires = "user")]
    pub(crate) group: Vec<String>,

    /// What a user may do, for policies that ask: USER:VERB:RESOURCE, such as alice:get:deployments.apps (repeatable)
    ///
    /// USER may be a group, each part may be `*`. Members of system:masters may do everything. Anything else is not
    /// allowed, and a warning says what was asked.
    #[arg(long, help_heading = HEADING, value_name = "PERMISSION", requires = "policies")]
    pub(crate) can: Vec<Permission>,

    /// What the requests do [default: create, or update if --old has the object]
    #[arg(long, help_heading = HEADING, value_name = "OPERATION", requires = "policies")]
    pub(crate) operation: Option<OperationArg>,

    /// Requests are dry runs: `request.dryRun` is true
    #[arg(long, help_heading = HEADING, requires = "policies")]
    pub(crate) dry_run: bool,
}

/// `--operation`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OperationArg {
    /// The objects are created
    Create,
    /// The objects replace those of --old, or are the same as before
    Update,
    /// The objects are deleted
    Delete,
}
