//! The error that ends a command.

use super::clean;
use super::render::{self, Appearance};
use super::wrap::{width_of_messages, wrap};
use crate::error::Fatal;
use kubeshape_schema::Level;
use std::io::{self, Write};

/// Returns `error: TEXT`.
pub(super) fn labelled(text: &str, look: Appearance) -> String {
    let text = &*clean::lines(text);
    let label = if look.styled { "\u{1b}[1;31merror\u{1b}[0m" } else { "error" };
    // Further lines are lists, which are already indented.
    let (first, rest) = text.split_once('\n').map_or((text, None), |(first, rest)| (first, Some(rest)));
    let first = wrap(&format!("{label}: {first}"), look.width, 0, "       ");
    rest.map_or_else(|| first.clone(), |rest| format!("{first}\n{rest}"))
}

/// Prints the error that ends a command.
pub(crate) fn fatal(error: &Fatal, coloured: bool) {
    let look = Appearance { styled: coloured, width: width_of_messages() };
    let text = match error {
        Fatal::Config(findings) => {
            let shown: Vec<String> = findings.iter().map(|finding| render::full(finding, Level::Error, look)).collect();
            shown.join("\n\n")
        }
        Fatal::Usage(_) => format!("{}\n\nFor more, try `kubeshape --help`.", labelled(&error.to_string(), look)),
        _ => labelled(&error.to_string(), look),
    };
    let _ = writeln!(io::stderr().lock(), "{text}");
}
