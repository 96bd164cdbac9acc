//! The grammar as a network of states, as ANTLR builds it, with the tokens that each state may read.

use super::grammar::{GRAMMAR, Item, Label, Rule, TokenSet};
use std::sync::OnceLock;

pub(super) type StateId = usize;

/// The bit for: the rule may end here.
pub(super) const EPSILON: TokenSet = 1 << 63;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Basic,
    RuleStop,
    /// Before alternatives. An optional part is a block of one alternative and an empty one.
    BlockStart,
    PlusBlockStart,
    PlusLoopBack,
    StarLoopEntry,
    StarLoopBack,
    BlockEnd,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Edge {
    /// `outermost` is the rule that ends here, if it is left-recursive and its caller accepts any precedence.
    Epsilon {
        to: StateId,
        outermost: Option<Rule>,
    },
    Token {
        set: TokenSet,
        to: StateId,
        label: Label,
    },
    Rule {
        rule: Rule,
        precedence: u8,
        follow: StateId,
        label: Label,
    },
    /// Passes only if the rule was called with at most this precedence.
    Precedence {
        precedence: u8,
        to: StateId,
    },
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) kind: Kind,
    pub(super) rule: Rule,
    pub(super) edges: Vec<Edge>,
    /// The tokens that may be read here, up to the end of the rule.
    pub(super) next: TokenSet,
    /// The first tokens of each alternative, if one token decides between them.
    pub(super) first: Option<Vec<TokenSet>>,
    /// Whether the alternatives are those of the whole rule.
    pub(super) outer: bool,
    /// Whether this is the loop of a left-recursive rule.
    pub(super) precedence: bool,
}

impl State {
    pub(super) fn only_epsilon(&self) -> bool {
        !self.edges.is_empty() && !self.edges.iter().any(|edge| matches!(edge, Edge::Token { .. }))
    }
}

#[derive(Debug)]
pub(super) struct Network {
    pub(super) states: Vec<State>,
    starts: Vec<StateId>,
    stops: Vec<StateId>,
}

impl Network {
    /// Returns the network of the grammar, built once.
    pub(super) fn get() -> &'static Network {
        static NETWORK: OnceLock<Network> = OnceLock::new();
        NETWORK.get_or_init(Network::build)
    }

    pub(super) fn start(&self, rule: Rule) -> StateId {
        self.starts[rule as usize]
    }

    pub(super) fn stop(&self, rule: Rule) -> StateId {
        self.stops[rule as usize]
    }

    /// Returns the state in which the caller continues after the rule that it calls at `invoking`.
    pub(super) fn follow(&self, invoking: StateId) -> StateId {
        match self.states[invoking].edges.first() {
            Some(Edge::Rule { follow, .. }) => *follow,
            _ => invoking,
        }
    }

    fn build() -> Network {
        let mut network = Network { states: Vec::new(), starts: Vec::new(), stops: Vec::new() };
        for (rule, _) in GRAMMAR {
            let stop = network.add(Kind::RuleStop, rule);
            network.stops.push(stop);
        }
        for (rule, items) in GRAMMAR {
            let stop = network.stops[rule as usize];
            let start = network.sequence(rule, items, stop);
            if let [Item::Choice(_)] = items {
                network.states[start].outer = true;
            }
            network.starts.push(start);
        }
        network.link_ends();
        network.look();
        network
    }

    fn add(&mut self, kind: Kind, rule: Rule) -> StateId {
        let (next, first) = (0, None);
        self.states.push(State { kind, rule, edges: Vec::new(), next, first, outer: false, precedence: false });
        self.states.len() - 1
    }

    fn join(&mut self, from: StateId, to: StateId) {
        self.states[from].edges.push(Edge::Epsilon { to, outermost: None });
    }

    fn sequence(&mut self, rule: Rule, items: &[Item], end: StateId) -> StateId {
        items.iter().rev().fold(end, |end, item| self.item(rule, item, end))
    }

    fn item(&mut self, rule: Rule, item: &Item, end: StateId) -> StateId {
        match *item {
            Item::Token(set, label) => {
                let state = self.add(Kind::Basic, rule);
                self.states[state].edges.push(Edge::Token { set, to: end, label });
                state
            }
            Item::Rule(called, precedence, label) => {
                let state = self.add(Kind::Basic, rule);
                self.states[state].edges.push(Edge::Rule { rule: called, precedence, follow: end, label });
                state
            }
            Item::Optional(items) => self.block(Kind::BlockStart, rule, &[(None, items), (None, &[])], end),
            Item::Choice(alternatives) => {
                let alternatives: Vec<_> = alternatives.iter().map(|items| (None, *items)).collect();
                self.block(Kind::BlockStart, rule, &alternatives, end)
            }
            Item::Star(items) => self.star(rule, &[(None, items)], end),
            Item::Links(links) => {
                let links: Vec<_> = links.iter().map(|(precedence, items)| (Some(*precedence), *items)).collect();
                let entry = self.star(rule, &links, end);
                self.states[entry].precedence = true;
                entry
            }
            Item::Plus(items) => {
                let back = self.add(Kind::PlusLoopBack, rule);
                let start = self.block(Kind::PlusBlockStart, rule, &[(None, items)], back);
                self.join(back, start);
                self.join(back, end);
                start
            }
        }
    }

    fn star(&mut self, rule: Rule, alternatives: &[(Option<u8>, &[Item])], end: StateId) -> StateId {
        let entry = self.add(Kind::StarLoopEntry, rule);
        let back = self.add(Kind::StarLoopBack, rule);
        let start = self.block(Kind::BlockStart, rule, alternatives, back);
        self.join(back, entry);
        self.join(entry, start);
        self.join(entry, end);
        entry
    }

    /// Adds alternatives with the precedence that each needs.
    fn block(&mut self, kind: Kind, rule: Rule, alternatives: &[(Option<u8>, &[Item])], end: StateId) -> StateId {
        let start = self.add(kind, rule);
        let block_end = self.add(Kind::BlockEnd, rule);
        self.join(block_end, end);
        for (precedence, items) in alternatives {
            let mut to = self.sequence(rule, items, block_end);
            if let Some(precedence) = *precedence {
                let state = self.add(Kind::Basic, rule);
                self.states[state].edges.push(Edge::Precedence { precedence, to });
                to = state;
            }
            self.join(start, to);
        }
        start
    }

    /// Links the ends of rules to the states after each call of the rule.
    fn link_ends(&mut self) {
        let recursive: Vec<Rule> =
            self.states.iter().filter(|state| state.precedence).map(|state| state.rule).collect();
        for state in 0..self.states.len() {
            if let Some(&Edge::Rule { rule, precedence, follow, .. }) = self.states[state].edges.first() {
                let outermost = (recursive.contains(&rule) && precedence == 0).then_some(rule);
                self.states[self.stops[rule as usize]].edges.push(Edge::Epsilon { to: follow, outermost });
            }
        }
    }

    fn look(&mut self) {
        for state in 0..self.states.len() {
            let next = self.next(state, false).unwrap_or(0);
            self.states[state].next = next;
        }
        for state in 0..self.states.len() {
            let edges = &self.states[state].edges;
            if edges.len() < 2 || self.states[state].kind == Kind::RuleStop {
                continue;
            }
            let first: Option<Vec<TokenSet>> = edges
                .iter()
                .map(|edge| match edge {
                    Edge::Epsilon { to, .. } => self.next(*to, true),
                    _ => None,
                })
                .collect();
            let first = first
                .filter(|sets| sets.iter().enumerate().all(|(i, set)| sets[..i].iter().all(|other| set & other == 0)));
            self.states[state].first = first;
        }
    }

    /// Returns the tokens that may be read at a state, up to the end of the rule or, if `beyond`, also after it.
    /// Returns `None` if `beyond` and a precedence decides.
    fn next(&self, state: StateId, beyond: bool) -> Option<TokenSet> {
        let mut seen = vec![false; self.states.len()];
        let (mut todo, mut out) = (vec![state], 0);
        while let Some(state) = todo.pop() {
            if std::mem::replace(&mut seen[state], true) {
                continue;
            }
            if self.states[state].kind == Kind::RuleStop && !beyond {
                out |= EPSILON;
                continue;
            }
            for edge in &self.states[state].edges {
                match *edge {
                    Edge::Token { set, .. } => out |= set,
                    // No rule of the grammar can be empty, so the states after it are not reached.
                    Edge::Rule { rule, .. } => todo.push(self.starts[rule as usize]),
                    Edge::Precedence { .. } if beyond => return None,
                    Edge::Epsilon { to, .. } | Edge::Precedence { to, .. } => todo.push(to),
                }
            }
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// cel-go's generated parser predicts twelve decisions with more than one token.
    #[test]
    fn one_token_decides_the_other_decisions() {
        let network = Network::get();
        let decisions = network.states.iter().filter(|state| state.edges.len() > 1 && state.kind != Kind::RuleStop);
        assert_eq!(decisions.clone().count(), 36);
        assert_eq!(decisions.filter(|state| state.first.is_none()).count(), 12);
    }
}
