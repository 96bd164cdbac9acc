//! `cargo run --release -p kubeshape-conformance [-- AREA…] [--json]`
#![allow(clippy::print_stdout, clippy::print_stderr)]

use kubeshape_conformance::known::Known;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut json = false;
    let mut areas: Vec<String> = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--json" => json = true,
            "--help" | "-h" => {
                println!("usage: kubeshape-conformance [AREA…] [--json]\nareas: crds\nreads KUBESHAPE_CORPUS, KUBESHAPE_GOLDEN and KUBESHAPE_BASE (else $KUBESHAPE_GOLDEN/apiserver/empty)");
                return ExitCode::SUCCESS;
            }
            "crds" => areas.push(argument),
            other => {
                eprintln!("unknown area {other:?}; areas: crds");
                return ExitCode::from(2);
            }
        }
    }
    if areas.is_empty() {
        areas.push("crds".to_owned());
    }
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let (Some(corpus), Some(golden)) = (folder("KUBESHAPE_CORPUS"), folder("KUBESHAPE_GOLDEN")) else {
        eprintln!("set KUBESHAPE_CORPUS and KUBESHAPE_GOLDEN to the folders of inputs and of recorded answers");
        return ExitCode::from(2);
    };
    let base = folder("KUBESHAPE_BASE").unwrap_or_else(|| golden.join("apiserver").join("empty"));
    let publisher = match kubeshape_conformance::publisher(&base) {
        Ok(publisher) => publisher,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let mut passed = true;
    for _ in &areas {
        let table = kubeshape_conformance::crds::compare(&golden, &corpus, publisher.as_ref(), Known::of_checkout());
        if json {
            println!("{}", table.to_json());
            println!("{}", table.closing_line());
        } else {
            println!("{}", table.to_text());
        }
        passed &= table.passed();
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
