//! The command line of `kubeshape trim`.

use super::{FilenameArgs, FindingArgs, WalkArgs, size};
use clap::{Args, ValueEnum, ValueHint};
use kubeshape_check::trim::{Descriptions, Fit, What, is_known, known};
use std::path::PathBuf;

/// Make definitions small enough for `kubectl apply` or etcd
///
/// Removes texts for people from the schemas of CustomResourceDefinitions, the least valuable first, until each
/// definition fits: descriptions inside copies of Kubernetes' own types such as a pod template, then the rest of long
/// descriptions, then examples, titles and links, then all descriptions. No object is accepted, refused, defaulted or
/// pruned differently. Layout and comments stay.
///
/// Crossplane's CompositeResourceDefinitions, which have the same limits, are trimmed in the same way.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubeshape trim config/crd/bases --in-place
  kubeshape trim big.yaml | kubectl apply -f -
  kubeshape trim crds/ --fit etcd -o out/
  kubeshape trim crds/ --fit 200KiB --diff
  kubeshape trim crds/ --descriptions first-sentence --only-if-needed -o out/
  kubeshape trim crds/ --descriptions none --inside PodSpec --in-place

Exit codes: 0 if every definition has the wanted size, 1 if one has not, if an
input is wrong or if --diff shows an edit, 2 if something could not be read or
written.")]
pub(crate) struct TrimArgs {
    /// Files and folders to read; `-` is standard input, and the default
    #[arg(value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) filenames: FilenameArgs,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,

    /// What a definition must fit into: annotation, etcd, or a size such as 200KiB [default: annotation, without
    /// --descriptions, --longest and --remove]
    ///
    /// `annotation` is what `kubectl apply` writes: the manifest as kubectl prints it, and the other annotations, have
    /// at most 262144 bytes together. `etcd` is 1.5 MiB, with 16 KiB for what the server adds. A size is that of the
    /// definition as compact JSON.
    #[arg(long, value_name = "INTO", value_parser = fit)]
    pub(crate) fit: Option<Fit>,

    /// Which descriptions stay, whatever the size: none, first-sentence, or those of fields up to a depth
    ///
    /// With 2, the descriptions of `spec` and `spec.size` stay, and that of `spec.size.min` goes. 0 is only that of the
    /// schema itself.
    #[arg(long, value_name = "WHICH", value_parser = descriptions)]
    pub(crate) descriptions: Option<Descriptions>,

    /// Cut descriptions after this number of bytes, whatever the size
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(16..))]
    pub(crate) longest: Option<u32>,

    /// Remove these texts, whatever the size (repeatable)
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) remove: Vec<Removed>,

    /// Limit --descriptions, --longest and --remove to copies of this type of Kubernetes, or of all types of this
    /// package (repeatable): PodSpec, k8s.io/api/core/v1
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = inside)]
    pub(crate) inside: Vec<String>,

    /// Leave definitions alone that have the wanted size
    ///
    /// Without --fit, this is that of an annotation.
    #[arg(long)]
    pub(crate) only_if_needed: bool,

    /// File for the result, or folder for several [default: standard output]
    ///
    /// A folder gets all files that were read, those without definitions unchanged.
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,

    /// Edit the files
    #[arg(long, conflicts_with = "output")]
    pub(crate) in_place: bool,

    /// Show the edits as a diff, and write nothing
    #[arg(long, conflicts_with_all = ["output", "in_place"])]
    pub(crate) diff: bool,

    #[command(flatten)]
    pub(crate) findings: FindingArgs,

    /// Show errors only, and no summary
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// `--remove`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Removed {
    /// `example`
    Examples,
    /// `title`
    Titles,
    /// `externalDocs`
    Links,
}

impl Removed {
    /// Returns the kind of text.
    pub(crate) fn what(self) -> What {
        match self {
            Removed::Examples => What::Example,
            Removed::Titles => What::Title,
            Removed::Links => What::Link,
        }
    }
}

fn fit(text: &str) -> Result<Fit, String> {
    match text {
        "annotation" => Ok(Fit::Annotation),
        "etcd" => Ok(Fit::Etcd),
        _ => match size(text).map(usize::try_from) {
            Ok(Ok(bytes)) => Ok(Fit::Bytes(bytes)),
            _ => Err("\n  expected annotation, etcd, or a number of bytes, such as 200000 or 200KiB".to_owned()),
        },
    }
}

fn descriptions(text: &str) -> Result<Descriptions, String> {
    match text {
        "none" => Ok(Descriptions::None),
        "first-sentence" => Ok(Descriptions::FirstSentence),
        _ => match text.parse() {
            Ok(depth) => Ok(Descriptions::Depth(depth)),
            Err(_) => Err("\n  expected none, first-sentence, or a depth such as 2".to_owned()),
        },
    }
}

fn inside(text: &str) -> Result<String, String> {
    if is_known(text) {
        return Ok(text.to_owned());
    }
    Err(format!("\n  expected a type or a package of Kubernetes; the types are {}", known().join(", ")))
}
