//! The `kubeshape` command.
//!
//! Entry points: [`args`] is the command line, [`convert`] the main job, [`explain`] the pages of codes. Exit codes are
//! those of every command: 0 done and nothing to object, 1 the answer is no, 2 no answer.
#![allow(unreachable_pub)]

mod args;
mod convert;
mod error;
mod explain;
mod input;
mod output;
mod render;
mod ui;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use error::Fatal;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(message) => {
            // Help and version are answers, and go to standard output.
            let answered = !message.use_stderr();
            let printed = message.print().is_ok();
            return if answered && printed { ExitCode::SUCCESS } else { ExitCode::from(2) };
        }
    };
    let answer = match &cli.command {
        Command::Convert(args) => convert::run(args, cli.color),
        Command::ExplainCode(args) => explain::run(args).map(|()| true),
        Command::Completions { shell } => completions(*shell).map(|()| true),
        Command::Man => man().map(|()| true),
    };
    match answer {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            ui::fatal(&error, ui::is_coloured(cli.color));
            ExitCode::from(2)
        }
    }
}

fn completions(shell: clap_complete::Shell) -> Result<(), Fatal> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "kubeshape", &mut out);
    ui::print(&out)
}

/// One page with all commands.
fn man() -> Result<(), Fatal> {
    let mut out = Vec::new();
    let mut command = Cli::command().term_width(0);
    command.build();
    let render = |command: clap::Command, out: &mut Vec<u8>| clap_mangen::Man::new(command).render(out);
    render(command.clone(), &mut out).map_err(Fatal::Stdout)?;
    ui::print(&out)
}
