//! The parser.

// Lengths and sizes are far below the largest int.
#![allow(clippy::cast_possible_wrap)]

mod build;
mod dialect;
mod lexer;
mod percent;
mod recovery;
mod syntax;
mod unescape;

use crate::ast::{Expr, Id, Kind};
use crate::issue::{Issues, Reports};
use crate::limits::MAX_SOURCE;
use crate::release::{Change, Language};
use dialect::Macros;
pub(crate) use lexer::RESERVED;
use syntax::Reader;

/// The error about a tree that is too deep.
const TOO_DEEP: &str = "max recursion depth exceeded";

/// The offset of a node that stands for a missing part.
const NOWHERE: u32 = u32::MAX - 1;

/// A parsed expression with the positions of its nodes.
#[derive(Clone, Debug)]
pub(crate) struct Parsed {
    pub(crate) expr: Expr,
    pub(crate) places: Places,
}

/// The start positions of nodes, by their number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// By number; `u32::MAX` if the node has no position.
    offsets: Vec<u32>,
    /// The offsets at which lines begin.
    lines: Vec<u32>,
}

impl Places {
    fn new(source: &[char]) -> Places {
        let lines = std::iter::once(0)
            .chain(source.iter().enumerate().filter(|(_, c)| **c == '\n').map(|(i, _)| i as u32 + 1))
            .collect();
        // Number 0 is not used.
        Places { offsets: vec![u32::MAX], lines }
    }

    /// Adds a node, and returns its number.
    pub(crate) fn add(&mut self, offset: u32) -> Id {
        self.offsets.push(offset);
        self.offsets.len() as Id - 1
    }

    /// Returns the number of entries, including the unused 0.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len()
    }

    fn offset(&self, id: Id) -> u32 {
        self.offsets.get(id as usize).copied().unwrap_or(u32::MAX)
    }

    fn remove(&mut self, id: Id) {
        if id as usize + 1 == self.offsets.len() {
            self.offsets.pop();
        } else if let Some(offset) = self.offsets.get_mut(id as usize) {
            *offset = u32::MAX;
        }
    }

    /// Returns the line (from 1) and the column (from 0) of a node.
    pub(crate) fn of(&self, id: Id) -> (i32, i32) {
        self.of_offset(self.offset(id))
    }

    fn of_offset(&self, offset: u32) -> (i32, i32) {
        if offset == u32::MAX {
            return (-1, -1);
        }
        if offset == NOWHERE {
            return (1, -1);
        }
        let line = self.lines.partition_point(|start| *start <= offset);
        (line as i32, (offset - self.lines[line - 1]) as i32)
    }
}

/// Parses an expression.
pub(crate) fn parse(text: &str, language: &Language) -> Result<Parsed, Issues> {
    let source: Vec<char> = text.chars().collect();
    let mut issues = Reports::default();
    if source.len() > MAX_SOURCE {
        issues.report(
            (-1, -1),
            format!("expression code point size exceeds limit: size: {}, limit {MAX_SOURCE}", source.len()),
        );
        return Err(issues.of(text));
    }
    let mut places = Places::new(&source);
    let macros = Macros(language);
    let (tokens, unrecognized) = lexer::lex(&source, macros);
    let read = if unrecognized.is_empty() { Reader::read(&tokens).ok() } else { None };
    let syntax = read.or_else(|| {
        let (reports, syntax) = recovery::recover(&source, &tokens, &unrecognized, macros);
        for (at, message) in reports {
            // Upstream's lexer puts the end of an empty source before its beginning.
            let at = if source.is_empty() && language.has(Change::PlaceOfNothing) { Some(NOWHERE) } else { at };
            let is_plain = !message.contains('%') || language.has(Change::PlainSyntaxErrors);
            let message = if is_plain { message } else { percent::without_arguments(&message) };
            issues.report(at.map_or((-1, -1), |at| places.of_offset(at)), message);
        }
        syntax
    });
    let expr = match syntax {
        Some(syntax) => {
            let mut builder = build::Builder::new(text, &source, macros, &mut places, &mut issues);
            builder.build(&syntax).unwrap_or(Expr::new(0, Kind::Unspecified))
        }
        None => Expr::new(0, Kind::Unspecified),
    };
    if issues.is_empty() {
        return Ok(Parsed { expr, places });
    }
    Err(issues.of(text))
}
