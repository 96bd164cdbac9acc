//! The command lines about clusters: `pull`, `cache`.

use super::duration::duration;
use super::walk::CLUSTERS;
use super::{LevelArgs, OutputFormat, ReportArgs};
use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;
use std::time::Duration;

const FOLDER: &str = "Options for the output folder";

/// Which cluster is meant, and where its documents are kept.
#[derive(Args, Clone, Debug)]
pub(crate) struct ClusterArgs {
    /// Kubeconfig file [default: $KUBECONFIG, ~/.kube/config, or the service account of the pod]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = CLUSTERS)]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig [default: the current one]
    #[arg(long, value_name = "CONTEXT", help_heading = CLUSTERS)]
    pub(crate) context: Option<String>,

    /// Address of the server, such as http://127.0.0.1:8080
    ///
    /// With --kubeconfig or --context, it replaces the address in the kubeconfig. Without them, no kubeconfig is read,
    /// and no credentials are sent.
    #[arg(long, value_name = "URL", help_heading = CLUSTERS)]
    pub(crate) server: Option<String>,

    /// The longest time that a request may take
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, help_heading = CLUSTERS)]
    pub(crate) request_timeout: Duration,

    #[command(flatten)]
    pub(crate) folder: CacheFolderArgs,

    /// Read and write no cache
    #[arg(long, conflicts_with_all = ["cache", "offline"], help_heading = CLUSTERS)]
    pub(crate) no_cache: bool,

    /// Take everything from the cache, and send no request
    #[arg(long, help_heading = CLUSTERS)]
    pub(crate) offline: bool,
}

/// Where the cache is.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct CacheFolderArgs {
    /// Folder of the cache [default: $KUBESHAPE_CACHE, or the user's folder for caches]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = CLUSTERS)]
    pub(crate) cache: Option<PathBuf>,
}

/// Fetch the OpenAPI documents and the discovery of a cluster
///
/// Documents are kept in a cache by their hashes. What the cluster still has is not downloaded again, so a second pull
/// takes one round trip. Servers that have only OpenAPI v2 are read through it. Without -o the documents go to the
/// cache only, where `cluster:CONTEXT` finds them: every command takes that for a folder of definitions.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape pull -o cluster/
  kubeshape pull --context prod --crds -o prod/
  kubeshape pull --group-version apps/v1 --group-version v1 -o docs/
  kubeshape pull --single -o docs/
  kubeshape pull && kubeshape validate --schemas cluster: --offline app.yaml
  kubeshape pull --openapi-v2 -o cluster/ && kubeshape serve --base cluster/

Files in DIR: apis__GROUP__VERSION_openapi.json and api__v1_openapi.json with the
bytes that the server sent, discovery/*.json, with --openapi-v2 swagger.json, and
with --crds crds/NAME.yaml. Files that did not change stay untouched.

Exit codes: 0 if everything was fetched, 1 if something was not, 2 if the command
line is wrong, the server cannot be reached, or a file cannot be written.")]
pub(crate) struct PullArgs {
    /// Folder to write to; it is created if it does not exist
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: Option<PathBuf>,

    /// Fetch the document of this group version only: apps/v1, or v1 for the core group (repeatable)
    #[arg(long, value_name = "G/V")]
    pub(crate) group_version: Vec<String>,

    /// Write one OpenAPI v3 document of all group versions, openapi.json
    #[arg(long, requires = "output")]
    pub(crate) single: bool,

    /// Also fetch the CustomResourceDefinitions
    #[arg(long)]
    pub(crate) crds: bool,

    /// Also fetch the OpenAPI v2 document, swagger.json, which `serve --base` publishes again
    ///
    /// It is as large as all others together. Other commands take one of the two: leave it out with
    /// `--exclude swagger.json` where they read the folder.
    #[arg(long, requires = "output")]
    pub(crate) openapi_v2: bool,

    /// Go on, and fetch again what changes
    ///
    /// The cluster is asked every --refresh. Where the user may list CustomResourceDefinitions, a change of one is seen
    /// at once.
    #[arg(long, conflicts_with = "offline")]
    pub(crate) watch: bool,

    /// How often --watch asks
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, requires = "watch")]
    pub(crate) refresh: Duration,

    /// Delete OpenAPI and discovery documents that the cluster has no more, with --crds also definitions
    ///
    /// Only files that .kubeshape.json names and that did not change since are deleted, and only if there were no
    /// errors.
    #[arg(long, requires = "output", conflicts_with = "group_version", help_heading = FOLDER)]
    pub(crate) prune: bool,

    /// Say what would be written and deleted, and do not do it
    #[arg(long, requires = "output", conflicts_with = "watch", help_heading = FOLDER)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,

    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) levels: LevelArgs,

    /// Format of errors and warnings, which go to standard error
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) output_format: OutputFormat,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// Look at the cache of documents of clusters, and tidy it up
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape cache stat
  kubeshape cache compact --max-size 100
  kubeshape cache clear")]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

/// `kubeshape cache …`
#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Print where the cache is and what it holds
    Stat(CacheFolderArgs),
    /// Delete what was used longest ago
    ///
    /// This happens by itself while the cache is written. An entry that was not used for 30 days is deleted, and so are
    /// the oldest ones of more than 512 MiB or 50,000 entries.
    Compact {
        #[command(flatten)]
        folder: CacheFolderArgs,

        /// Largest size that is left, in MiB
        #[arg(long, value_name = "MIB", default_value_t = 512)]
        max_size: u64,

        /// Days after which an entry that is not used is deleted
        #[arg(long, value_name = "DAYS", default_value_t = 30)]
        max_age: u32,
    },
    /// Delete everything
    Clear(CacheFolderArgs),
    /// Read every entry, and delete those that are damaged
    ///
    /// The exit code is 1 if one was. Damaged entries are never used: they are found when they are read.
    Verify(CacheFolderArgs),
}
