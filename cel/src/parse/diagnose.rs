//! The errors of text that does not follow the grammar, worded as ANTLR words them.

use super::lexer::{Lexeme, Unrecognized};
use super::syntax::Syntax;

/// Reports every error of the text.
pub(super) fn diagnose(
    source: &[char],
    tokens: &[Lexeme],
    errors: &[Unrecognized],
    report: &mut dyn FnMut(Option<u32>, String),
) -> Option<Syntax> {
    let _ = tokens;
    for error in errors {
        let text: String = source[error.start as usize..error.end as usize].iter().collect();
        report(Some(error.start), format!("Syntax error: token recognition error at: '{text}'"));
    }
    report(Some(0), "Syntax error".to_owned());
    None
}
