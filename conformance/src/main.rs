//! `cargo run --release -p kubeshape-conformance [-- AREA…] [--json]`
#![allow(clippy::print_stdout, clippy::print_stderr)]

use kubeshape_conformance::known::Known;
use kubeshape_conformance::oracle::Other;
use kubeshape_conformance::plan::Plan;
use kubeshape_conformance::table::Table;
use kubeshape_conformance::{
    AREAS, BaseFolder, admission, changes, clients, compare, generated, has_records, judged, mutated, operators,
    oracle, own, smd, types, written,
};
use kubeshape_validate::Release;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: kubeshape-conformance [AREA…] [--json] [--all]
       kubeshape-conformance generated [--count N] [--seed S] [--json] [--all]
       kubeshape-conformance smd-7 [--count N] [--seed S] [--json] [--all]
       kubeshape-conformance judged [--kubernetes RELEASE] [--count N] [--seed S] [--json] [--all]
       kubeshape-conformance mutated [--kubernetes RELEASE] [--count N] [--seed S] [--json] [--all]
       kubeshape-conformance changes [--count N] [--seed S] [--json] [--all]
       kubeshape-conformance types [--kubernetes RELEASE] [--json] [--all]
       kubeshape-conformance members
       kubeshape-conformance clients [--newest] [--program KUBESHAPE] [--json] [--all]
       kubeshape-conformance kubectl [--program KUBESHAPE] [--json] [--all]
       kubeshape-conformance operators [--only TEXT] [--program KUBESHAPE] [--json] [--all]
       kubeshape-conformance admission [--only TEXT] [--program KUBESHAPE] [--json] [--all]

Compares kubeshape's answers with recorded answers of Kubernetes and its libraries, and prints a table per area.
Exits with 1 if an answer differs or is missing, unless KNOWN.md names it.
`members` prints the members of Go's types of built-in kinds since 1.36: base/gotypes/src/members.txt (needs Go).

areas:
  crds        the libraries' answers for every CustomResourceDefinition
  apiserver   a real server's documents, and its answers to requests that are sent again over loopback
  openapi     the libraries' answers for every OpenAPI document
  smd         structured-merge-diff's and managed fields' answers: upstream's own tests, and generated sequences
  show        tables, JSONPath and explained fields
  strategic   strategic merge patches of built-in kinds: applied, made of two objects, and made as by kubectl apply
  builtins    what kube-apiserver's own code makes of requests with objects of built-in kinds
  structural  the errors and warnings of requests with CustomResourceDefinitions
  versions    the same in ten releases of Kubernetes, with the costs of rules
  objects     what custom resources become in requests, their errors, and what their rules in CEL cost
  objects-versions  requests with custom resources in ten releases: errors, warnings, stored objects, costs
  cel         expressions: messages, types, estimated and used costs, values
  publish-versions  the documents that ten releases publish for CustomResourceDefinitions
  suites      test suites of APIs: what their authors get from an API server
  policies    what admission policies and match conditions make of requests, and what is said of them
  corpus      the libraries' answers for the project's own corpus (needs no folder)
  written     OpenAPI 3.1 that comes back, and trimmed definitions (needs no folder)
  generated   the libraries' answers for generated manifests, documents and sequences (needs Go, and no folder)
  smd-7       the answers of structured-merge-diff 7, which Kubernetes 1.38 will use, for generated sets and sequences
              (needs Go and its module proxy, and no folder)
  judged      the libraries' verdicts on generated expressions, definitions and objects (needs Go, and no folder)
  mutated     what kube-apiserver's own code makes of changed objects of built-in kinds (needs Go, and recorded answers)
  changes     what is said of changed definitions, held against what the libraries accept (needs Go; without folders
              generated definitions only)
  types       Go's types of built-in kinds, and their objects in protobuf (needs Go, and no folder)
  clients     kubectl and client-go of two minors against `kubeshape serve` (needs Go; without folders the own corpus)
  kubectl     recorded commands about objects, run again by the kubectl of this machine against `kubeshape serve
              --objects`
  operators   suites of controller-runtime and of operators over `kubeshape envtest` (needs Go and its module proxy)
  admission   upstream's integration tests of admission policies over `kubeshape envtest` (needs Go and its module proxy)
Without areas: all but the last twelve, as far as the folders hold them.

--all      print every difference, not only the first of every row
--count N  how many streams of manifests, and as many YAML documents, are generated (2000); of sequences of
           server-side apply five for every two. In the area `smd-7`: how many sequences. In the area `judged`: how
           many expressions, half as many objects, and a quarter as many generated and changed definitions. In the area `mutated`: how many requests. In the area `changes`: how many generated pairs, half
           as many changed real definitions, and with fewer than 2000 that share of the real pairs
--seed S   where generating begins (1)
--kubernetes RELEASE  in the areas `judged`, `mutated` and `types`: another release, from 1.31 on; its modules are
           downloaded, and the program is built in the target folder
--oracle PROGRAM  the program of `conformance/oracle` (`judged`), `conformance/builtins-oracle` (`mutated`) or
           `conformance/types` (`types`) that was built with these modules
--newest   only the clients of the newest minor are built and asked
--only TEXT  only suites whose module or package contains it (`operators`, `admission`)
--program  the `kubeshape` command that serves (the one built beside this program)

KUBESHAPE_CORPUS  folder of inputs
KUBESHAPE_GOLDEN  folder of recorded answers
KUBESHAPE_BASE    folder of base documents; if not set, $KUBESHAPE_GOLDEN/apiserver/empty";

#[derive(Default)]
struct Arguments {
    areas: Vec<String>,
    json: bool,
    all: bool,
    generated: Plan,
    program: Option<PathBuf>,
    newest: bool,
    only: String,
    oracle: Option<PathBuf>,
    kubernetes: Option<Release>,
    members: bool,
}

impl Arguments {
    /// Returns the program of another release with which an area compares. It is built if it is not named.
    fn other(&self, folder: &str) -> Result<Option<Other>, String> {
        match (&self.oracle, self.kubernetes) {
            (Some(program), Some(release)) => Ok(Some(Other { program: program.clone(), release })),
            (None, Some(release)) => Other::build(folder, release).map(Some),
            (None, None) => Ok(None),
            (Some(_), None) => Err("--oracle needs --kubernetes".to_owned()),
        }
    }
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => return no_answer(&error),
    };
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => no_answer(&error),
    }
}

fn no_answer(error: &str) -> ExitCode {
    eprintln!("{error}");
    ExitCode::from(2)
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
    let mut out = Arguments::default();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => out.json = true,
            "--all" => out.all = true,
            "--count" => out.generated.count = number(&mut arguments, "--count")?,
            "--seed" => out.generated.seed = number(&mut arguments, "--seed")?,
            "--oracle" => out.oracle = arguments.next().map(PathBuf::from),
            "--kubernetes" => out.kubernetes = Some(number(&mut arguments, "--kubernetes")?),
            "--newest" => out.newest = true,
            "--only" => out.only = arguments.next().unwrap_or_default(),
            "--program" => out.program = arguments.next().map(PathBuf::from),
            "--help" | "-h" => return Ok(None),
            "members" => out.members = true,
            area if AREAS.contains(&area)
                || [
                    "corpus",
                    "written",
                    "generated",
                    "smd-7",
                    "judged",
                    "mutated",
                    "changes",
                    "types",
                    "clients",
                    "kubectl",
                    "operators",
                    "admission",
                ]
                .contains(&area) =>
            {
                out.areas.push(argument);
            }
            other => return Err(format!("unknown area {other:?}\n\n{USAGE}")),
        }
    }
    Ok(Some(out))
}

fn number<T: std::str::FromStr>(arguments: &mut impl Iterator<Item = String>, option: &str) -> Result<T, String> {
    let text = arguments.next().unwrap_or_default();
    text.parse().map_err(|_| format!("{option}: found {text:?}, expected a number"))
}

fn folder(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

/// Returns whether every area passed.
fn run(arguments: &Arguments) -> Result<bool, String> {
    if arguments.members {
        print!("{}", types::members()?);
        return Ok(true);
    }
    let golden = folder("KUBESHAPE_GOLDEN");
    let mut areas = arguments.areas.clone();
    if areas.is_empty() {
        let golden = golden.as_ref().ok_or_else(missing_folders)?;
        let inputs = folder("KUBESHAPE_CORPUS").unwrap_or_default();
        areas.extend(AREAS.iter().filter(|area| has_records(area, golden, &inputs)).map(|area| (*area).to_owned()));
        if areas.is_empty() {
            areas.extend(AREAS.map(str::to_owned));
        }
    }
    let base = match folder("KUBESHAPE_BASE").or_else(|| Some(golden.as_ref()?.join("apiserver").join("empty"))) {
        Some(base) => BaseFolder::read(&base).map_err(|error| error.to_string())?,
        None => None,
    };
    let table_of = |area: &String| table_of(area, arguments, golden.as_deref(), base.as_ref());
    // Areas of records are independent of each other.
    let tables: Vec<_> = if areas.iter().all(|area| AREAS.contains(&area.as_str())) {
        areas.par_iter().map(table_of).collect()
    } else {
        areas.iter().map(table_of).collect()
    };
    let mut passed = true;
    for table in tables {
        let table = table?;
        if arguments.all {
            print!("{}", table.differences());
        }
        show(&table, arguments.json);
        passed &= table.passed();
    }
    Ok(passed)
}

/// Compares an area.
fn table_of(
    area: &str,
    arguments: &Arguments,
    golden: Option<&Path>,
    base: Option<&BaseFolder>,
) -> Result<Table, String> {
    let known = Known::of_checkout();
    match area {
        "corpus" => own::compare(base.map(|base| &base.publisher), known).map_err(|error| error.to_string()),
        "written" => written::compare(folder("KUBESHAPE_CORPUS").as_deref(), known).map_err(|error| error.to_string()),
        "mutated" => match golden {
            Some(golden) => {
                mutated::compare(&arguments.generated, arguments.other("builtins-oracle")?.as_ref(), golden, known)
            }
            None => Err(missing_folders()),
        },
        "generated" => generated::compare(&arguments.generated, known),
        "smd-7" => smd::compare_7(&arguments.generated, &oracle::target(), known),
        "judged" => judged::compare(&arguments.generated, arguments.other("oracle")?.as_ref(), known),
        "types" => types::compare(arguments.other(types::FOLDER)?, known),
        "changes" => changes::compare(&arguments.generated, known),
        "operators" => {
            let program = arguments.program.clone().unwrap_or_else(clients::program_of_this_build);
            operators::compare(&program, &arguments.only, known)
        }
        "admission" => {
            let program = arguments.program.clone().unwrap_or_else(clients::program_of_this_build);
            admission::compare(&program, &arguments.only, known)
        }
        "clients" | "kubectl" => {
            let program = arguments.program.clone().unwrap_or_else(clients::program_of_this_build);
            let recorded = folder("KUBESHAPE_CORPUS").zip(golden.map(Path::to_owned));
            let plan = clients::Plan { program, recorded, newest: arguments.newest };
            if area == "kubectl" { clients::compare_commands(&plan, known) } else { clients::compare(&plan, known) }
        }
        area => match (folder("KUBESHAPE_CORPUS"), golden) {
            (Some(corpus), Some(golden)) => Ok(compare(area, golden, &corpus, base, known)),
            _ => Err(missing_folders()),
        },
    }
}

fn missing_folders() -> String {
    "set KUBESHAPE_CORPUS and KUBESHAPE_GOLDEN to the folders of inputs and of recorded answers".to_owned()
}

fn show(table: &Table, json: bool) {
    if json {
        println!("{}\n{}", table.to_json(), table.closing_line());
    } else {
        println!("{}", table.to_text());
    }
}
