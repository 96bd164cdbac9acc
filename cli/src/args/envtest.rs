//! The command line of `kubeshape envtest`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Write a folder with kube-apiserver, etcd and kubectl for tests that start them
///
/// The programs are links to this one: kube-apiserver is the server of `kubeshape serve --objects` with the command line
/// of the real one, and etcd only answers that it is healthy. Test libraries that start both from the folder of
/// KUBEBUILDER_ASSETS need no change: controller-runtime's envtest, jenvtest and others. kubectl is a link to the one in
/// PATH, if there is one.
///
/// Prints the variable for a shell. Files of others in the folder are never replaced.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape envtest -o bin/envtest
  KUBEBUILDER_ASSETS=$PWD/bin/envtest go test ./...
  eval \"$(kubeshape envtest -o bin/envtest)\" && make test

docs/envtest.md is the guide.")]
pub(crate) struct EnvtestArgs {
    /// Folder for the programs; it is created if it does not exist
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,

    /// Copy this program instead of linking to it
    #[arg(long)]
    pub(crate) copy: bool,
}
