//! The admission policies of `--policies`.

use crate::args::{OperationArg, PolicyArgs};
use kubeshape_input::Finding;
use kubeshape_policy::{Kinds, Operation, Permissions, Release, User};
use kubeshape_registry::policy::{Admission, Checked, Client, Others};
use kubeshape_registry::{Location, locate};
use kubeshape_schema::Bump;
use kubeshape_smd::Value;
use std::sync::Arc;

/// Policies, and the client that sends the requests.
#[derive(Debug)]
pub(super) struct Policies<'a> {
    pub(super) admission: Admission<'a>,
    /// The objects of `--policies` and `--params`.
    objects: &'a [Location],
    user: Client,
    permissions: Vec<kubeshape_policy::Permission>,
    operation: Option<OperationArg>,
}

impl<'a> Policies<'a> {
    /// Reads policies. Returns what is wrong with them, too.
    pub(super) fn new(
        args: &PolicyArgs,
        objects: &'a [Location],
        kinds: &dyn Kinds,
        release: Release,
        arena: &'a Bump,
    ) -> (Policies<'a>, Vec<Finding>) {
        let mut findings = Checked::of(objects, &Others::default(), kinds, release).findings;
        findings.retain(Finding::is_error);
        let values = objects.iter().map(|location| Value::from_node(location.node(), arena));
        let admission = Admission::read(values, kinds, release, arena);
        let mut user = Client { is_dry_run: args.dry_run, ..Client::default() };
        if let Some(name) = &args.user {
            user.user = Arc::new(User { name: name.clone(), groups: args.group.clone(), ..User::default() });
        }
        let (permissions, operation) = (args.can.clone(), args.operation);
        (Policies { admission, objects, user, permissions, operation }, findings)
    }

    /// Returns the client that sends a request, and the permissions, which remember what was asked.
    pub(super) fn client(&self) -> (Client, Arc<Permissions>) {
        let permissions = Arc::new(Permissions::new(self.permissions.clone()));
        (Client { authorizer: permissions.clone(), ..self.user.clone() }, permissions)
    }

    /// Returns the operation of a request with an object.
    pub(super) fn operation(&self, has_old: bool) -> Operation {
        match self.operation {
            None if has_old => Operation::Update,
            None | Some(OperationArg::Create) => Operation::Create,
            Some(OperationArg::Update) => Operation::Update,
            Some(OperationArg::Delete) => Operation::Delete,
        }
    }

    /// Returns the position of a validation, or of the policy.
    pub(super) fn place(&self, kind: &str, policy: &str, expression: Option<usize>) -> Option<String> {
        let is_meant = |location: &&Location| {
            let text = |key: &str| location.node().get(key);
            let name = text("metadata").and_then(|metadata| metadata.get("name")?.as_str());
            text("kind").and_then(kubeshape_yaml::Node::as_str) == Some(kind) && name == Some(policy)
        };
        let location = self.objects.iter().find(is_meant)?;
        let path = expression.map_or_else(
            || "metadata.name".to_owned(),
            |expression| format!("spec.validations[{expression}].expression"),
        );
        Some(location.at(locate::at_field(location.node(), &path).value).to_string())
    }
}
