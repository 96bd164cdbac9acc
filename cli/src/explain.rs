//! `explain-code`: what a code of a report means and what to do.

use crate::args::ExplainArgs;
use crate::error::Fatal;
use crate::ui;
use kubeshape_schema::Code;
use std::fmt::Write;

/// `kubeshape explain-code`
///
/// # Errors
/// There is no such code, or standard output is closed.
pub(crate) fn run(args: &ExplainArgs) -> Result<(), Fatal> {
    let Some(name) = args.code.as_deref().filter(|_| !args.list) else {
        let mut out = String::new();
        for code in Code::ALL {
            let _ = writeln!(out, "{code}  {:<12}  {}", code.kind().name(), code.title());
        }
        return ui::print(out.as_bytes());
    };
    match Code::parse(name) {
        Some(code) => ui::print(code.page().as_bytes()),
        None => {
            Err(Fatal::Usage(format!("there is no code {name}; `kubeshape explain-code --list` lists all of them")))
        }
    }
}
