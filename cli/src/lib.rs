//! The `kubeshape` command as a library: [`run`] is the command, and [`rows`] does its work on inputs in memory.
//!
//! `args` is the command line, and `config` completes it from the configuration file. Each command has a module:
//! `convert`, `check`, `trim`, `diff`, `upgrade`, `conversions`, `validate`, `lifecycle`, `serve`, `envtest`, `cluster`
//! (`pull` and `cache`), `explain` (pages of codes), `lsp` (editors), `mcp` (programs that write manifests). Commands
//! about objects implement `session::Command`: `ssa` (server-side apply), `show` (kubectl's views), `testing` (suites
//! and scenarios). All commands read inputs with `input`, write results with `output`, and show findings with `report`.
//!
//! Every command has the same exit codes: 0 for success; 1 for errors in the inputs, conflicts, differences, and failed
//! expectations; 2 if the command line is invalid or something cannot be read or written; 130 after an interrupt. If
//! the reader of standard output stops early, as `head` does, the command ends with 0.

#![cfg_attr(
    not(feature = "serve"),
    allow(dead_code, unused_imports, reason = "the server uses more of what reads inputs and reports")
)]

mod args;
mod check;
mod cluster;
mod config;
mod conversions;
mod convert;
mod definitions;
mod diff;
mod docs;
#[cfg(feature = "serve")]
mod envtest;
mod error;
mod explain;
mod explore;
mod input;
mod krm;
mod lifecycle;
mod lsp;
mod manual;
mod mcp;
mod output;
mod ownership;
mod report;
pub mod rows;
#[cfg(feature = "serve")]
mod serve;
mod session;
mod show;
mod ssa;
mod stream;
mod testing;
mod tips;
mod trim;
mod upgrade;
mod validate;

use args::{Cli, Command, When};
use clap::{CommandFactory, FromArgMatches};
use config::Configured;
use error::Fatal;
use report::Setup;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Runs the command with these arguments, of which the first is the name of the program. Returns the exit code.
///
/// It is for programs that are the command: it prints, and it handles signals.
pub fn run(arguments: Vec<OsString>) -> u8 {
    #[cfg(feature = "serve")]
    if let Some(program) = envtest::Program::of(&arguments) {
        return match program.run(arguments.get(1..).unwrap_or_default()) {
            Ok(is_good) => u8::from(!is_good),
            Err(error) => ended(&error, When::Auto),
        };
    }
    let (arguments, name) = named(arguments);
    let (arguments, configured) = match config::configured(arguments.clone()) {
        Ok(Configured { arguments, rules }) => (arguments, Ok(rules)),
        // Help is available even if the configuration is invalid.
        Err(error) => (arguments, Err(error)),
    };
    let parsed = Cli::command().bin_name(name).try_get_matches_from(arguments);
    let cli = match parsed.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)) {
        Ok(cli) => cli,
        Err(mut message) if configured.is_ok() || !message.use_stderr() => {
            tips::correct(&mut message);
            // Help and version go to standard output.
            let answered = !message.use_stderr();
            if !answered {
                report::refuse(&message);
                return 2;
            }
            return match message.print().map_err(Fatal::Stdout) {
                Ok(()) => 0,
                Err(error) => ended(&error, When::Auto),
            };
        }
        // The command line may be valid once the file is.
        Err(_) => return configured.err().map_or(2, |error| ended(&error, When::Auto)),
    };
    let setup = match configured {
        Ok(rules) => Setup { color: cli.color, rules },
        Err(error) => return ended(&error, cli.color),
    };
    let answer = match &cli.command {
        Command::Convert(args) => convert::run(args, &setup),
        Command::Check(args) => check::run(args, &setup),
        Command::Trim(args) => trim::run(args, &setup),
        Command::Diff(args) => diff::run(args, &setup),
        Command::Upgrade(args) => upgrade::run(args, &setup),
        Command::Conversions(args) => conversions::run(args, &setup),
        Command::Validate(args) => validate::run(args, &setup),
        Command::Stream(args) => stream::run(args, &setup),
        Command::Krm => krm::run(&setup),
        Command::Apply(args) => session::run(args, &setup),
        Command::Update(args) => session::run(args, &setup),
        Command::Blame(args) => session::run(args, &setup),
        Command::Ownership(args) => ownership::run(args, &setup),
        Command::Extract(args) => session::run(args, &setup),
        Command::Compare(args) => session::run(args, &setup),
        Command::Merge(args) => session::run(args, &setup),
        Command::Fieldset(args) => session::run(args, &setup),
        Command::Lsp(args) => lsp::run(args),
        Command::Mcp(args) => mcp::run(args),
        Command::Test(args) => session::run(args, &setup),
        Command::Table(args) => session::run(args, &setup),
        Command::Explain(args) => session::run(args, &setup),
        Command::Sample(args) => session::run(args, &setup),
        Command::Explore(args) => session::run(args, &setup),
        Command::Graph(args) => session::run(args, &setup),
        Command::Docs(args) => session::run(args, &setup),
        Command::Lifecycle(args) => lifecycle::run(args, &setup),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args, &setup),
        #[cfg(feature = "serve")]
        Command::Envtest(args) => envtest::run(args).map(|()| true),
        #[cfg(feature = "cluster")]
        Command::Pull(args) => cluster::pull(args, &setup),
        #[cfg(feature = "cluster")]
        Command::Cache(args) => cluster::cache(args, &setup),
        Command::ExplainCode(args) => explain::run(args, cli.color).map(|()| true),
        Command::Config(args) => config::run(args, cli.config.clone(), cli.no_config).map(|()| true),
        Command::Completions { shell } => manual::completions(*shell).map(|()| true),
        Command::Man(args) => manual::man(args).map(|()| true),
        Command::Version => report::print(Cli::command().render_version().as_bytes()).map(|()| true),
    };
    match answer {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => ended(&error, cli.color),
    }
}

/// Returns the arguments, and the name in help. A plugin of kubectl is called `kubectl-shape`, and a function of
/// kustomize, which gets no arguments, `kubeshape-krm`.
fn named(mut arguments: Vec<OsString>) -> (Vec<OsString>, &'static str) {
    let program = arguments.first().map(Path::new).and_then(Path::file_stem).and_then(OsStr::to_str);
    match program.unwrap_or_default() {
        "kubectl-shape" => (arguments, "kubectl shape"),
        "kubeshape-krm" if arguments.len() == 1 => {
            arguments.push("krm".into());
            (arguments, "kubeshape")
        }
        _ => (arguments, "kubeshape"),
    }
}

/// Shows why a command ended, and returns its exit code.
fn ended(error: &Fatal, color: When) -> u8 {
    if !error.is_quiet() {
        report::fatal(error, report::is_coloured(color));
    }
    error.exit_code()
}
