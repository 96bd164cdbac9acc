//! The patterns of a definition.

use kubeshape_structural::regex::{CompileError, Room, compile, compiled_size};
use regex::Regex;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// The maximum bytes of all compiled patterns of a definition, as [`compiled_size`] estimates them. It bounds the
/// memory of a definition, and the time for its first object.
pub const MAX_PATTERNS: usize = 256 << 20;

/// A pattern, compiled at its first use, and kept if there is room.
#[derive(Debug)]
pub(super) struct Pattern {
    compiled: OnceLock<(Result<Regex, CompileError>, Room)>,
    /// Whether it is among the first patterns that fit into [`MAX_PATTERNS`] together.
    fits: bool,
}

impl Pattern {
    /// Returns whether a string matches. `text` is the pattern, `left` the bytes of patterns that may be compiled
    /// without being kept: without room, the pattern is compiled for each string.
    ///
    /// # Errors
    /// The pattern does not compile.
    pub(super) fn is_match(&self, text: &str, searched: &str, left: &mut usize) -> Result<bool, CompileError> {
        let is_match = |compiled: &Result<Regex, CompileError>| match compiled {
            Ok(regex) => Ok(regex.is_match(searched)),
            Err(error) => Err(error.clone()),
        };
        if !self.fits {
            return Err(CompileError::TooMany);
        }
        if let Some((compiled, _)) = self.compiled.get() {
            return is_match(compiled);
        }
        let Some(room) = Room::of(text) else {
            *left = left.checked_sub(compiled_size(text)).ok_or(CompileError::TooMany)?;
            return is_match(&compile(text));
        };
        // If another thread was first, its room is kept, and this one is released.
        is_match(&self.compiled.get_or_init(|| (compile(text), room)).0)
    }
}

/// Patterns shared by several validators: each is compiled once, and they share one limit of size.
#[derive(Debug)]
pub struct Patterns<'a> {
    known: HashMap<&'a str, Arc<Pattern>>,
    left: usize,
}

impl Default for Patterns<'_> {
    fn default() -> Self {
        Patterns { known: HashMap::new(), left: MAX_PATTERNS }
    }
}

impl<'a> Patterns<'a> {
    /// Returns a pattern. Equal ones are compiled once.
    pub(super) fn add(&mut self, text: &'a str) -> Arc<Pattern> {
        let left = &mut self.left;
        let pattern = self.known.entry(text).or_insert_with(|| {
            let after = left.checked_sub(compiled_size(text));
            *left = after.unwrap_or(*left);
            Arc::new(Pattern { compiled: OnceLock::new(), fits: after.is_some() })
        });
        Arc::clone(pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patterns_of_a_definition_have_a_limit_together() {
        let texts: Vec<String> = (0..100).map(|n| format!("\\pL{{900}}x{n}")).collect();
        let mut patterns = Patterns::default();
        let fit = texts.iter().filter(|text| patterns.add(text).fits).count();
        assert!((20..30).contains(&fit), "{fit}");
        // Small ones still fit, and known ones are not counted again.
        assert!(patterns.add("^[a-z]+$").fits && patterns.add(&texts[0]).fits);
        assert!(!patterns.add(&texts[99]).fits);
        let refused = patterns.add(&texts[99]);
        assert_eq!(refused.is_match(&texts[99], "a", &mut { MAX_PATTERNS }), Err(CompileError::TooMany));
    }

    #[test]
    fn without_room_a_request_compiles_no_more_than_a_definition_may_have() {
        let _taken: Vec<Room> = std::iter::from_fn(|| Room::of("\\pL{100}")).collect();
        let (text, mut patterns) = ("\\pL{100}y", Patterns::default());
        let pattern = patterns.add(text);
        let mut left = 3 * compiled_size(text);
        for _ in 0..3 {
            assert_eq!(pattern.is_match(text, "a", &mut left), Ok(false));
        }
        assert_eq!(pattern.is_match(text, "a", &mut left), Err(CompileError::TooMany));
    }

    #[test]
    fn ordinary_patterns_fit() {
        let mut patterns = Patterns::default();
        let texts: Vec<String> = (0..5_000)
            .map(|n| format!("^[a-z0-9]([-a-z0-9]{{0,61}}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/.{{1,63}}/{n}$"))
            .collect();
        assert!(texts.iter().all(|text| patterns.add(text).fits));
    }
}
