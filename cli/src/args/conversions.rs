//! The command line of `kubeshape conversions`.

use super::duration::duration;
use super::{FindingArgs, WalkArgs, size};
use clap::{Args, ValueHint};
use std::path::PathBuf;
use std::time::Duration;

const BUDGETS: &str = "Options for budgets";

/// Prove that a conversion webhook loses nothing
///
/// Sends objects of every version of a definition to the webhook, converts them to every other version and back, and
/// checks what a server checks: kind, API version, name, uid and other metadata. Each converted object must be valid in
/// its version, no field may be pruned, and the way back must lead to the same object. The objects are made from the
/// schemas: each field, each value of an enumeration, lists of different lengths, nulls, and unknown fields that are
/// kept. For each fault, the smallest object that shows it is printed.
///
/// INPUTS are CustomResourceDefinitions. The webhook is a URL, or a command that reads a ConversionReview from standard
/// input and writes it to standard output.
#[derive(Args, Debug)]
#[command(
    after_help = "\
Examples:
  kubeshape conversions config/crd/bases --exec 'go run ./hack/convert'
  kubeshape conversions crd.yaml --webhook https://localhost:9443/convert --certificate-authority ca.crt
  kubeshape conversions crd.yaml --exec ./convert --sample config/samples
  kubeshape conversions crd.yaml --exec ./convert --objects 5000 --seed 7 --time 10m

Exit codes: 0 if no fault was found, 1 if one was found or an input is wrong, 2
if something could not be read, or the webhook could not be called.

Run `kubeshape explain-code KS8504` to learn what a code means.",
    group = clap::ArgGroup::new("through").required(true)
)]
pub(crate) struct ConversionsArgs {
    /// Definitions: files, folders, `-` for standard input, or git:REV:PATH
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<String>,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,

    /// URL of the webhook: http or https, on any machine
    #[cfg(feature = "serve")]
    #[arg(long, value_name = "URL", group = "through", value_hint = ValueHint::Url)]
    pub(crate) webhook: Option<String>,

    /// Command that converts: it is run by the shell once for each review
    ///
    /// It reads a ConversionReview (JSON) from standard input, and writes one with a response to standard output. Its
    /// standard error is shown if it fails.
    #[arg(long, value_name = "COMMAND", group = "through", value_hint = ValueHint::CommandString)]
    pub(crate) exec: Option<String>,

    /// Certificates (PEM) of the authorities of the webhook [default: those of the system]
    #[cfg(feature = "serve")]
    #[arg(long, value_name = "FILE", requires = "webhook", value_hint = ValueHint::FilePath)]
    pub(crate) certificate_authority: Option<PathBuf>,

    /// File or folder with own objects, which are converted, too (repeatable)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) sample: Vec<PathBuf>,

    /// Release of the server, such as 1.33 [default: the newest one]
    #[arg(long, value_name = "RELEASE", value_parser = super::known_release)]
    pub(crate) kubernetes: Option<kubeshape_validate::Release>,

    /// Which values are tried if a schema has more of them than --objects
    ///
    /// Half of the objects are always for the values nearest to the root. The same seed gives the same objects.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = BUDGETS)]
    pub(crate) seed: u64,

    /// Maximum number of objects of each version
    #[arg(long, value_name = "N", default_value_t = 1_000, help_heading = BUDGETS,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) objects: u32,

    /// Maximum number of reviews for each definition
    #[arg(long, value_name = "N", default_value_t = 10_000, help_heading = BUDGETS,
        value_parser = clap::value_parser!(u32).range(5..=10_000_000))]
    pub(crate) reviews: u32,

    /// Objects of a review
    #[arg(long, value_name = "N", default_value_t = 50, help_heading = BUDGETS,
        value_parser = clap::value_parser!(u16).range(1..=500))]
    pub(crate) batch: u16,

    /// Maximum size of an object
    #[arg(long, value_name = "BYTES", default_value = "1MiB", value_parser = size, help_heading = BUDGETS)]
    pub(crate) size: u64,

    /// Maximum time for all definitions
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration, help_heading = BUDGETS)]
    pub(crate) time: Duration,

    /// Maximum time until a review is answered
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration, help_heading = BUDGETS)]
    pub(crate) timeout: Duration,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,

    /// Show errors only, and no summary
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Show notes, too, and the object of each finding
    #[arg(short, long)]
    pub(crate) verbose: bool,
}
