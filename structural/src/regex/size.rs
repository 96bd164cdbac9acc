//! Estimates the memory of a compiled expression before it is compiled.

use super::compile::{COMPILED_SIZE, NESTING, translate};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The size of a state in bytes.
const STATE: usize = 32;
/// The maximum size of a character of an expression in bytes, if it is not repeated and not a Unicode class.
const CHARACTER: usize = 512;

/// Estimates the memory that [`compile`](super::compile) takes for a pattern, in bytes. The estimate is rather too high
/// than too low, and at most [`COMPILED_SIZE`], because a larger expression is not compiled. The time is linear in the
/// length of the pattern.
///
/// # Example
/// ```
/// use kubeshape_structural::regex;
/// assert!(regex::compiled_size("^[a-z]+$") < 8 << 10);
/// assert!(regex::compiled_size(r"^\pL{1000}$") > 8 << 20);
/// ```
pub fn compiled_size(pattern: &str) -> usize {
    let plain = pattern.len().saturating_mul(CHARACTER);
    let is_plain = !pattern.contains('{') && !pattern.contains("\\p") && !pattern.contains("\\P");
    if is_plain {
        return plain.min(COMPILED_SIZE);
    }
    let parsed = ParserBuilder::new().nest_limit(NESTING).build().parse(&translate(pattern));
    // Invalid patterns are not compiled.
    parsed.map_or(0, |hir| states(&hir).saturating_mul(STATE).min(COMPILED_SIZE))
}

/// Returns the number of states. The parser bounds the nesting of expressions.
fn states(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Unicode(class)) => class.ranges().len(),
        HirKind::Class(Class::Bytes(class)) => class.ranges().len(),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
            states(&repetition.sub).saturating_add(1).saturating_mul(times as usize)
        }
        HirKind::Capture(capture) => states(&capture.sub).saturating_add(2),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(states).fold(parts.len(), usize::saturating_add)
        }
    }
}
