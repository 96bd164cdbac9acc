//! The recording in the README: two commands and their output, as an SVG.

use crate::run::{Result, cargo, metadata, run};
use anstyle_svg::Term;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// The image in the README.
const FILE: &str = "docs/recording.svg";

/// The commands, run in the root of the workspace.
const COMMANDS: [&str; 2] = [
    "kubeshape check docs/demo/backups.yaml",
    "kubeshape validate --schemas docs/demo/widgets.yaml docs/demo/mistyped.yaml",
];

/// Builds the command, runs it, and writes the image.
pub(crate) fn write() -> Result {
    run(cargo("build").args(["--quiet", "-p", "kubeshape-cli"]))?;
    let program = metadata()?.target().join("debug/kubeshape");
    let mut screen = String::new();
    for command in COMMANDS {
        let arguments = command.split(' ').skip(1);
        let output = Command::new(&program).args(arguments).args(["--color", "always"]).output()?;
        if !screen.is_empty() {
            screen.push('\n');
        }
        writeln!(screen, "\u{1b}[1;32m$\u{1b}[0m {command}")?;
        screen += &String::from_utf8(output.stdout)?;
        screen += &String::from_utf8(output.stderr)?;
    }
    fs::write(FILE, Term::new().min_width_px(720).render_svg(&screen))?;
    Ok(())
}
