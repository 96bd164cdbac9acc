//! `convert --to crd`.

use clap::{Args, ValueEnum};

const HEADING: &str = "Options for CustomResourceDefinitions of schemas";

/// Names and limits of definitions that are converted from schemas.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DefinitionArgs {
    /// Group of the definitions [default: that of the kind]
    ///
    /// Schemas that are not marked as Kubernetes kinds need it. Groups of Kubernetes without a dot get `.k8s.io`,
    /// because a server accepts no definitions in them.
    #[arg(long, value_name = "GROUP", help_heading = HEADING)]
    pub(crate) group: Option<String>,

    /// Version of definitions of schemas that are not marked as Kubernetes kinds [default: v1]
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    pub(crate) crd_version: Option<String>,

    /// Scope of the objects [default: that in the paths of the document, else namespaced]
    #[arg(long, value_name = "SCOPE", help_heading = HEADING)]
    pub(crate) scope: Option<ScopeArg>,

    /// Plural name of the resource, for one definition [default: that in the paths of the document, else guessed]
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    pub(crate) plural: Option<String>,

    /// Bytes that a definition may have as JSON, such as 256KiB [default: 1MiB]
    ///
    /// A definition has no references. If it would have more bytes, references that are nested deeper than a certain
    /// depth are replaced by any value.
    #[arg(long, value_name = "SIZE", value_parser = super::size, help_heading = HEADING)]
    pub(crate) crd_size: Option<u64>,
}

impl DefinitionArgs {
    /// Returns the first option that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        [
            (self.group.is_some(), "--group"),
            (self.crd_version.is_some(), "--crd-version"),
            (self.scope.is_some(), "--scope"),
            (self.plural.is_some(), "--plural"),
            (self.crd_size.is_some(), "--crd-size"),
        ]
        .into_iter()
        .find_map(|(is_given, name)| is_given.then_some(name))
    }
}

/// `--scope`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// In namespaces
    Namespaced,
    /// In the whole cluster
    Cluster,
}
