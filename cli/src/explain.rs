//! `kubeshape explain-code`.

use crate::args::ExplainArgs;
use crate::error::Fatal;
use crate::report;
use kubeshape_schema::Code;
use std::fmt::Write;

/// Prints the page of a code, or the list of all codes.
///
/// # Errors
/// The code does not exist, or standard output is closed.
pub(crate) fn run(args: &ExplainArgs) -> Result<(), Fatal> {
    let Some(name) = args.code.as_deref().filter(|_| !args.list) else {
        let mut out = String::new();
        for code in Code::ALL {
            let _ = writeln!(out, "{code}  {:<12}  {}", code.kind().name(), code.title());
        }
        return report::print(out.as_bytes());
    };
    match Code::parse(name) {
        Some(code) => report::print(code.page().as_bytes()),
        None => {
            Err(Fatal::Usage(format!("there is no code {name}; `kubeshape explain-code --list` lists all of them")))
        }
    }
}
