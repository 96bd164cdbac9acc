//! Builds the same tree from damaged strings as from strings without errors.

use super::grammar::{Label, Rule};
use super::{Child, Node};
use crate::limits::MAX_DEPTH;
use crate::parse::lexer::{Lexeme, Token};
use crate::parse::syntax::Syntax;

/// Returns the tree of an expression.
pub(super) fn syntax(nodes: &[Node]) -> Syntax {
    Tree { nodes }.node(0, 0)
}

struct Tree<'a> {
    nodes: &'a [Node],
}

impl Tree<'_> {
    fn token(&self, id: usize, label: Label) -> Option<Lexeme> {
        self.tokens(id, label).next()
    }

    fn tokens(&self, id: usize, label: Label) -> impl Iterator<Item = Lexeme> {
        self.nodes[id].children.iter().filter_map(move |(own, child)| match child {
            Child::Token(lexeme) if *own == label => Some(*lexeme),
            _ => None,
        })
    }

    fn children(&self, id: usize, label: Label) -> impl Iterator<Item = usize> {
        self.nodes[id].children.iter().filter_map(move |(own, child)| match child {
            Child::Node(node) if *own == label => Some(*node),
            _ => None,
        })
    }

    fn child(&self, id: usize, label: Label, depth: usize) -> Syntax {
        self.children(id, label).next().map_or(Syntax::Missing, |child| self.node(child, depth))
    }

    fn all(&self, id: usize, label: Label, depth: usize) -> Vec<Syntax> {
        self.children(id, label).map(|child| self.node(child, depth)).collect()
    }

    /// Converts a rule at a depth of operators.
    fn node(&self, mut id: usize, depth: usize) -> Syntax {
        loop {
            let node = &self.nodes[id];
            let passes = match node.rule {
                Rule::Start => true,
                Rule::Expr | Rule::ConditionalOr | Rule::ConditionalAnd => self.token(id, Label::Op).is_none(),
                Rule::Relation | Rule::Calc | Rule::Member => node.alt == 0,
                Rule::Unary => node.alt == 1,
                Rule::Primary => node.alt == 3 || node.alt == 7,
                _ => false,
            };
            if !passes {
                break;
            }
            let Some(child) = self.children(id, Label::E).next() else { return Syntax::Missing };
            id = child;
        }
        let node = &self.nodes[id];
        if depth >= MAX_DEPTH && matches!(node.rule, Rule::Expr | Rule::Relation | Rule::Calc | Rule::Member) {
            return Syntax::TooDeep;
        }
        let op = self.token(id, Label::Op).map_or(node.start, |op| op.start);
        match node.rule {
            Rule::Expr => {
                let part = |label| self.child(id, label, depth + 1);
                Syntax::Conditional(Box::new([part(Label::E), part(Label::E1), part(Label::E2)]), op)
            }
            Rule::ConditionalOr | Rule::ConditionalAnd => {
                let ops: Vec<u32> = self.tokens(id, Label::Op).map(|op| op.start).collect();
                let mut terms = vec![self.child(id, Label::E, depth)];
                terms.extend(self.all(id, Label::E1, depth));
                terms.resize_with(ops.len() + 1, || Syntax::Missing);
                Syntax::Logic { or: node.rule == Rule::ConditionalOr, terms, ops }
            }
            Rule::Relation | Rule::Calc => {
                let sides = Box::new([self.child(id, Label::E, depth + 1), self.child(id, Label::E1, depth + 1)]);
                let token = self.token(id, Label::Op).map_or(Token::Eof, |op| op.token);
                Syntax::Binary { op: token, pos: op, sides }
            }
            Rule::Unary if node.alt == 0 => Syntax::Unreadable(node.start),
            Rule::Unary => {
                let count = self.tokens(id, Label::Op).count();
                let token = if node.alt == 2 { Token::Exclamation } else { Token::Minus };
                let operand = Box::new(self.child(id, Label::E, depth));
                Syntax::Prefix { op: token, pos: op, count, operand }
            }
            Rule::Member => self.member(id, op, depth + 1),
            Rule::Primary => self.primary(id, op, depth),
            Rule::Literal => match self.token(id, Label::Tok) {
                Some(token) => {
                    let negative = self.token(id, Label::Sign).is_some();
                    Syntax::Literal { negative, start: node.start, token }
                }
                None => Syntax::Missing,
            },
            Rule::OptExpr => self.child(id, Label::E, depth),
            _ => Syntax::Missing,
        }
    }

    fn member(&self, id: usize, op: u32, depth: usize) -> Syntax {
        let operand = Box::new(self.child(id, Label::E, depth));
        let optional = self.token(id, Label::Opt).is_some();
        match self.nodes[id].alt {
            1 => {
                let name = self.children(id, Label::Id).next().map(|name| (self.nodes[name].start, self.name(name)));
                Syntax::Select { operand, pos: op, optional, name }
            }
            2 => match self.token(id, Label::Id) {
                Some(name) => Syntax::MemberCall { operand, open: op, name, args: self.arguments(id, depth) },
                None => Syntax::Select { operand, pos: op, optional, name: None },
            },
            _ => Syntax::Index { operand, pos: op, optional, index: Box::new(self.child(id, Label::Inner, depth)) },
        }
    }

    /// Reads the rule `escapeIdent`. Returns a token of the kind `Eof` if there is no name.
    fn name(&self, id: usize) -> Lexeme {
        let start = self.nodes[id].start;
        self.token(id, Label::Id).unwrap_or(Lexeme { token: Token::Eof, start, end: start })
    }

    fn arguments(&self, id: usize, depth: usize) -> Vec<Syntax> {
        self.children(id, Label::Inner).next().map_or_else(Vec::new, |list| self.all(list, Label::E, depth))
    }

    fn primary(&self, id: usize, op: u32, depth: usize) -> Syntax {
        let (start, alt) = (self.nodes[id].start, self.nodes[id].alt);
        let dot = self.token(id, Label::LeadingDot).is_some();
        let name = self.token(id, Label::Id);
        let list = self.children(id, Label::Inner).next();
        match (alt, name) {
            (1, Some(name)) => Syntax::Ident { dot, start, name },
            (2, Some(name)) => Syntax::GlobalCall { dot, start, name, open: op, args: self.arguments(id, depth) },
            (4, _) => {
                let elements = list.into_iter().flat_map(|list| self.children(list, Label::E));
                let element = |id| (self.token(id, Label::Opt).is_some(), self.node(id, depth));
                Syntax::List { pos: op, elements: elements.map(element).collect() }
            }
            (5, _) => {
                let entries = list.into_iter().flat_map(|list| self.entries(list));
                let entry = |(key, col, value): (usize, u32, usize)| {
                    (self.token(key, Label::Opt).is_some(), self.node(key, depth), col, self.node(value, depth))
                };
                Syntax::Map { pos: op, entries: entries.map(entry).collect() }
            }
            (6, _) => {
                let fields = list.into_iter().flat_map(|list| self.entries(list));
                let field = |(key, col, value): (usize, u32, usize)| {
                    let start = self.nodes[key].start;
                    let none = Lexeme { token: Token::Eof, start, end: start };
                    let name = self.children(key, Label::Id).next().map_or(none, |name| self.name(name));
                    (self.token(key, Label::Opt).is_some(), name, col, self.node(value, depth))
                };
                let names = self.tokens(id, Label::Id).collect();
                let list = list.map_or(op, |list| self.nodes[list].start);
                Syntax::Message { dot, names, pos: op, list, fields: fields.map(field).collect() }
            }
            _ => Syntax::Missing,
        }
    }

    /// Returns the keys, colons and values of a list of entries.
    fn entries(&self, id: usize) -> impl Iterator<Item = (usize, u32, usize)> {
        let cols = self.tokens(id, Label::Col).map(|col| col.start);
        let keys = self.children(id, Label::Key);
        keys.zip(cols).zip(self.children(id, Label::Value)).map(|((key, col), value)| (key, col, value))
    }
}
