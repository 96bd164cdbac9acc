//! Error recovery for expressions that do not follow the grammar. Reports every error as the parser that ANTLR
//! generates from cel-go's grammar reports it and recovers from it (`DefaultErrorStrategy` of its Go runtime, with
//! cel-go's limits).

mod grammar;
mod network;
mod predict;
mod tree;

use super::dialect::{Macros, Quoted};
use super::lexer::{Lexeme, Token, Unrecognized};
use super::syntax::Syntax;
use crate::limits::MAX_DEPTH;
use grammar::{Label, Rule, TokenSet};
use network::{EPSILON, Edge, Kind, Network, StateId};
use predict::{Cache, EMPTY, MAX_WORK, NoViable, Predictor, Stack, Stacks};

/// The maximum number of reported syntax errors, as upstream.
const MAX_ERRORS: usize = 100;
/// The maximum number of recoveries, as upstream.
const MAX_RECOVERIES: usize = 30;
/// The maximum number of tokens that one recovery may skip, as upstream.
const MAX_SKIPPED: usize = 256;

/// An error and its position in characters; without a position it concerns the whole expression.
pub(super) type Report = (Option<u32>, String);

/// Parses a string that does not follow the grammar. Returns the tree of everything that could be read, or `None` if a
/// limit was exceeded.
pub(super) fn recover(
    source: &[char],
    tokens: &[Lexeme],
    unrecognized: &[Unrecognized],
    macros: Macros<'_>,
) -> (Vec<Report>, Option<Syntax>) {
    let mut walker = Walker::new(source, tokens, unrecognized, macros);
    let tree = match walker.walk() {
        Ok(()) => Some(tree::syntax(&walker.nodes)),
        Err(Stop) => None,
    };
    (walker.reports, tree)
}

/// A rule that was read.
#[derive(Debug)]
struct Node {
    rule: Rule,
    /// The alternative of the rule, from 1; 0 if none was found.
    alt: usize,
    start: u32,
    children: Vec<(Label, Child)>,
}

#[derive(Clone, Copy, Debug)]
enum Child {
    Token(Lexeme),
    Node(usize),
}

/// A rule that is being read.
struct Frame {
    node: usize,
    rule: Rule,
    precedence: u8,
    /// The state from which the rule was called.
    invoking: StateId,
    label: Label,
    /// The states to which the rule and its callers return.
    stack: Stack,
}

/// Why a rule ends early.
enum Raised {
    Mismatch,
    /// No alternative fits: the first token, and the one that does not fit.
    NoViable(usize, usize),
    Stop,
}

/// A limit was exceeded.
struct Stop;

impl From<Stop> for Raised {
    fn from(_: Stop) -> Raised {
        Raised::Stop
    }
}

struct Walker<'a> {
    source: &'a [char],
    tokens: &'a [Lexeme],
    unrecognized: &'a [Unrecognized],
    macros: Macros<'a>,
    network: &'static Network,
    reports: Vec<Report>,
    errors: usize,
    nodes: Vec<Node>,
    frames: Vec<Frame>,
    /// How deeply each rule nests.
    depth: [usize; 17],
    /// The index of the next token.
    at: usize,
    /// The number of reported entries of `unrecognized`.
    reported: usize,
    state: StateId,
    recovering: bool,
    recoveries: usize,
    last_error: Option<(usize, Vec<StateId>)>,
    stacks: Stacks,
    cache: Cache,
}

impl<'a> Walker<'a> {
    fn new(
        source: &'a [char],
        tokens: &'a [Lexeme],
        unrecognized: &'a [Unrecognized],
        macros: Macros<'a>,
    ) -> Walker<'a> {
        Walker {
            source,
            macros,
            tokens,
            unrecognized,
            network: Network::get(),
            reports: Vec::new(),
            errors: 0,
            nodes: Vec::new(),
            frames: Vec::new(),
            depth: [0; 17],
            at: 0,
            reported: 0,
            state: 0,
            recovering: false,
            recoveries: 0,
            last_error: None,
            stacks: Stacks::default(),
            cache: Cache::default(),
        }
    }

    fn walk(&mut self) -> Result<(), Stop> {
        self.fetch(0)?;
        self.enter(Rule::Start, 0, 0, Label::None, EMPTY)?;
        let (mut at, mut from) = (self.network.start(Rule::Start), None);
        loop {
            match self.step(at, from) {
                Ok(next) => (from, at) = (Some(at), next),
                Err(Raised::Stop) => return Err(Stop),
                Err(raised) => {
                    self.report_raised(&raised)?;
                    self.recover_rule()?;
                    (from, at) = (None, self.network.stop(self.frame().rule));
                }
            }
            if self.network.states[at].kind == Kind::RuleStop {
                let Some(next) = self.exit() else { return Ok(()) };
                (from, at) = (None, next);
                // Rules that end at the same token end one after the other.
                while self.network.states[at].kind == Kind::RuleStop {
                    let Some(next) = self.exit() else { return Ok(()) };
                    at = next;
                }
            }
        }
    }

    fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    fn enter(&mut self, rule: Rule, precedence: u8, invoking: StateId, label: Label, stack: Stack) -> Result<(), Stop> {
        self.nodes.push(Node { rule, alt: 0, start: self.token(0).start, children: Vec::new() });
        let node = self.nodes.len() - 1;
        if let Some(parent) = self.frames.last() {
            let parent = parent.node;
            self.nodes[parent].children.push((label, Child::Node(node)));
        }
        self.frames.push(Frame { node, rule, precedence, invoking, label, stack });
        self.count(rule)
    }

    fn count(&mut self, rule: Rule) -> Result<(), Stop> {
        self.depth[rule as usize] += 1;
        if self.depth[rule as usize] > MAX_DEPTH {
            self.reports.push((None, format!("expression recursion limit exceeded: {MAX_DEPTH}")));
            return Err(Stop);
        }
        Ok(())
    }

    fn uncount(&mut self, rule: Rule) {
        let depth = &mut self.depth[rule as usize];
        *depth = depth.saturating_sub(1);
    }

    /// Ends the rule. Returns the state of the caller to continue with.
    fn exit(&mut self) -> Option<StateId> {
        let frame = self.frames.pop()?;
        self.uncount(frame.rule);
        (!self.frames.is_empty()).then(|| self.network.follow(frame.invoking))
    }

    /// Turns the part of a left-recursive rule that was read into the operand of the next link.
    fn link(&mut self, alt: usize) -> Result<(), Stop> {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let (operand, rule, label) = (frame.node, frame.rule, frame.label);
        let start = self.nodes[operand].start;
        self.nodes.push(Node { rule, alt: alt + 1, start, children: vec![(Label::E, Child::Node(operand))] });
        let node = self.nodes.len() - 1;
        let below = self.frames.len().checked_sub(2).map(|i| self.frames[i].node);
        if let Some(parent) = below
            && let Some(last) = self.nodes[parent].children.last_mut()
        {
            *last = (label, Child::Node(node));
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.node = node;
        }
        self.count(rule)
    }

    /// Runs one state of the network. Returns the next state.
    fn step(&mut self, at: StateId, from: Option<StateId>) -> Result<StateId, Raised> {
        let network = self.network;
        let node = &network.states[at];
        match node.kind {
            Kind::StarLoopEntry => {
                let back = from.filter(|from| network.states[*from].kind == Kind::StarLoopBack);
                self.state = back.unwrap_or(at);
                self.sync()?;
                let alt = self.decide(at)?;
                if node.precedence && alt == 1 {
                    self.uncount(node.rule);
                }
                return Ok(target(node.edges[alt - 1]));
            }
            Kind::PlusBlockStart if from.is_none_or(|from| network.states[from].kind != Kind::PlusLoopBack) => {
                self.state = at;
                self.sync()?;
            }
            Kind::BlockStart if node.edges.len() > 1 => {
                self.state = at;
                self.sync()?;
                let alt = self.decide(at)?;
                if node.outer {
                    let node = self.frame().node;
                    self.nodes[node].alt = alt;
                }
                return Ok(target(node.edges[alt - 1]));
            }
            Kind::PlusLoopBack => {
                self.state = at;
                self.sync()?;
                let alt = self.decide(at)?;
                return Ok(target(node.edges[alt - 1]));
            }
            _ => {}
        }
        match node.edges[0] {
            Edge::Epsilon { to, .. } => Ok(to),
            Edge::Token { set, to, label } => {
                self.state = at;
                self.match_token(set, to, label)?;
                Ok(to)
            }
            Edge::Rule { rule, precedence, follow, label } => {
                self.state = at;
                let stack = self.stacks.push(self.frame().stack, follow);
                self.enter(rule, precedence, at, label, stack)?;
                Ok(network.start(rule))
            }
            Edge::Precedence { to, .. } => {
                // The number of the link, counted from its block.
                let alt = from.and_then(|from| network.states[from].edges.iter().position(|edge| target(*edge) == at));
                self.link(alt.unwrap_or(0))?;
                Ok(to)
            }
        }
    }

    fn decide(&mut self, decision: StateId) -> Result<usize, Raised> {
        let node = &self.network.states[decision];
        let next = 1 << self.token(0).token as TokenSet;
        if let Some(first) = &node.first {
            return match first.iter().position(|set| set & next != 0) {
                Some(i) if i + 1 < first.len() || node.outer => Ok(i + 1),
                None if node.outer => Err(Raised::NoViable(self.at, self.at)),
                _ => Ok(first.len()),
            };
        }
        let (precedence, callers) = (self.frame().precedence, self.frame().stack);
        let (tokens, at) = (self.tokens, self.at);
        let mut furthest = 0;
        let mut look = |ahead: usize| {
            furthest = furthest.max(ahead);
            tokens[(at + ahead).min(tokens.len() - 1)].token
        };
        let (stacks, cache) = (&mut self.stacks, &mut self.cache);
        let mut predictor = Predictor { network: self.network, stacks, cache, decision, precedence, full: false };
        let predicted = predictor.predict(callers, &mut look);
        if self.cache.work > MAX_WORK {
            let text = format!("the errors are found with more than {MAX_WORK} steps; mend some of them first");
            self.reports.push((None, text));
            return Err(Raised::Stop);
        }
        self.fetch(at + furthest)?;
        predicted.map_err(|NoViable(ahead)| Raised::NoViable(at, at + ahead))
    }

    /// Returns the token after the next `ahead` ones.
    fn token(&self, ahead: usize) -> Lexeme {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    /// Fetches a token. Invalid characters are reported at this moment, as in a lexer that runs on demand.
    fn fetch(&mut self, index: usize) -> Result<(), Stop> {
        while let Some(next) = self.unrecognized.get(self.reported).filter(|next| next.before <= index) {
            self.reported += 1;
            let text: String = self.source[next.start as usize..next.end as usize].iter().collect();
            self.report(next.start, &format!("token recognition error at: '{text}'"))?;
        }
        Ok(())
    }

    fn consume(&mut self, label: Label) -> Result<(), Stop> {
        if label != Label::None {
            let (lexeme, node) = (self.token(0), self.frame().node);
            self.nodes[node].children.push((label, Child::Token(lexeme)));
        }
        self.skip()
    }

    fn skip(&mut self) -> Result<(), Stop> {
        if self.token(0).token == Token::Eof {
            return Ok(());
        }
        self.at += 1;
        self.fetch(self.at)
    }

    /// Notes that an expected token was read: the next error is reported again.
    fn matched(&mut self) {
        self.recovering = false;
        self.last_error = None;
    }

    fn match_token(&mut self, set: TokenSet, to: StateId, label: Label) -> Result<(), Raised> {
        if set & (1 << self.token(0).token as TokenSet) != 0 {
            self.matched();
            self.consume(label)?;
            return Ok(());
        }
        self.attempt()?;
        if self.delete_token()? {
            self.consume(label)?;
            return Ok(());
        }
        let follow = self.expected_at(to);
        if follow & (1 << self.token(0).token as TokenSet) == 0 {
            return Err(Raised::Mismatch);
        }
        let expected = self.expected();
        self.report_once(|walker| format!("missing {} at {}", names(expected), walker.shown(walker.at)))?;
        let (found, node) = (self.token(0), self.frame().node);
        let start = match self.at.checked_sub(1) {
            Some(before) if found.token == Token::Eof => self.tokens[before].start,
            _ => found.start,
        };
        let missing = Lexeme { token: first(expected), start, end: start };
        if label != Label::None {
            self.nodes[node].children.push((label, Child::Token(missing)));
        }
        Ok(())
    }

    fn attempt(&mut self) -> Result<(), Stop> {
        if self.recoveries == MAX_RECOVERIES {
            let text = format!("error recovery attempt limit exceeded: {MAX_RECOVERIES}");
            self.report(self.token(0).start, &text)?;
            return Err(Stop);
        }
        self.recoveries += 1;
        Ok(())
    }

    /// Skips the next token if the one after it is expected.
    fn delete_token(&mut self) -> Result<bool, Stop> {
        self.fetch(self.at + 1)?;
        if self.expected() & (1 << self.token(1).token as TokenSet) == 0 {
            return Ok(false);
        }
        self.report_unwanted()?;
        self.skip()?;
        self.matched();
        Ok(true)
    }

    /// Runs before a decision: the next token must be one that the rule can read, or that may follow it.
    fn sync(&mut self) -> Result<(), Raised> {
        if self.recovering {
            return Ok(());
        }
        let node = &self.network.states[self.state];
        if node.next & (EPSILON | 1 << self.token(0).token as TokenSet) != 0 {
            return Ok(());
        }
        match node.kind {
            Kind::BlockStart | Kind::PlusBlockStart | Kind::StarLoopEntry => {
                if self.delete_token()? {
                    Ok(())
                } else {
                    Err(Raised::Mismatch)
                }
            }
            Kind::PlusLoopBack | Kind::StarLoopBack => {
                self.report_unwanted()?;
                let set = self.expected() | self.recovery_set();
                Ok(self.skip_until(set, None)?)
            }
            _ => Ok(()),
        }
    }

    fn recover_rule(&mut self) -> Result<(), Stop> {
        self.attempt()?;
        let mut skipped = 0;
        if let Some((at, states)) = &self.last_error
            && *at == self.at
            && states.contains(&self.state)
        {
            self.skip()?;
            skipped = 1;
        }
        let mut states = self.last_error.take().map(|(_, states)| states).unwrap_or_default();
        if !states.contains(&self.state) {
            states.push(self.state);
        }
        self.last_error = Some((self.at, states));
        self.skip_until(self.recovery_set(), Some(skipped))
    }

    fn skip_until(&mut self, set: TokenSet, mut skipped: Option<usize>) -> Result<(), Stop> {
        loop {
            let token = self.token(0).token;
            if token == Token::Eof || set & (1 << token as TokenSet) != 0 {
                return Ok(());
            }
            if let Some(count) = &mut skipped {
                if *count >= MAX_SKIPPED {
                    let text = format!("error recovery token lookahead limit exceeded: {MAX_SKIPPED}");
                    self.reports.push((None, text));
                    return Err(Stop);
                }
                *count += 1;
            }
            self.skip()?;
        }
    }

    /// Returns the tokens that may follow the open rules.
    fn recovery_set(&self) -> TokenSet {
        let follows =
            self.frames[1..].iter().map(|frame| self.network.states[self.network.follow(frame.invoking)].next);
        follows.fold(0, |all, set| all | set) & !EPSILON
    }

    fn expected(&self) -> TokenSet {
        self.expected_at(self.state)
    }

    /// Returns the tokens that may be read at a state, and after the rules that may end there.
    fn expected_at(&self, state: StateId) -> TokenSet {
        let mut out = self.network.states[state].next;
        for frame in self.frames[1..].iter().rev() {
            if out & EPSILON == 0 {
                return out;
            }
            out = out & !EPSILON | self.network.states[self.network.follow(frame.invoking)].next;
        }
        if out & EPSILON == 0 { out } else { out & !EPSILON | 1 << Token::Eof as TokenSet }
    }

    fn report_raised(&mut self, raised: &Raised) -> Result<(), Stop> {
        match *raised {
            Raised::Mismatch => self.report_once(|walker| {
                format!("mismatched input {} expecting {}", walker.shown(walker.at), walker.names(walker.expected()))
            }),
            Raised::NoViable(start, offending) => {
                if self.recovering {
                    return Ok(());
                }
                self.recovering = true;
                let place = self.tokens[offending.min(self.tokens.len() - 1)].start;
                self.report(place, &self.no_viable(start, offending))
            }
            Raised::Stop => Err(Stop),
        }
    }

    /// Returns the names of tokens that the release has.
    fn names(&self, set: TokenSet) -> String {
        const QUOTED: TokenSet = 1 << Token::EscapedIdentifier as TokenSet;
        let is_older = set & QUOTED != 0 && self.macros.quoted() == Quoted::Unknown;
        names(if is_older { set & !QUOTED } else { set })
    }

    fn no_viable(&self, start: usize, offending: usize) -> String {
        let eof = self.tokens[start].token == Token::Eof;
        let text = if eof { "<EOF>".to_owned() } else { escape(&self.text(start, offending)) };
        // cel-go's message about a reserved word after one other character is that of its parser before ANTLR.
        let mut rest = text.chars();
        if rest.next().is_some()
            && let word @ ("true" | "false" | "null") = rest.as_str()
        {
            return format!("mismatched input '{word}' expecting IDENTIFIER");
        }
        format!("no viable alternative at input '{text}'")
    }

    fn report_unwanted(&mut self) -> Result<(), Stop> {
        self.report_once(|walker| {
            format!("extraneous input {} expecting {}", walker.shown(walker.at), walker.names(walker.expected()))
        })
    }

    /// Reports an error at the next token, unless the parser is recovering from a reported error.
    fn report_once(&mut self, text: impl Fn(&Self) -> String) -> Result<(), Stop> {
        if self.recovering {
            return Ok(());
        }
        self.recovering = true;
        self.report(self.token(0).start, &text(self))
    }

    fn report(&mut self, at: u32, text: &str) -> Result<(), Stop> {
        if self.errors == MAX_ERRORS {
            self.reports.push((Some(at), format!("Syntax error: More than {MAX_ERRORS} syntax errors")));
            return Err(Stop);
        }
        self.errors += 1;
        self.reports.push((Some(at), format!("Syntax error: {text}")));
        Ok(())
    }

    /// Returns a token in quotes.
    fn shown(&self, index: usize) -> String {
        let lexeme = self.tokens[index.min(self.tokens.len() - 1)];
        if lexeme.token == Token::Eof {
            return "'<EOF>'".to_owned();
        }
        let text: String = self.source[lexeme.start as usize..lexeme.end as usize].iter().collect();
        format!("'{}'", escape(&text))
    }

    /// Returns the source between two tokens, with white space.
    fn text(&self, first: usize, last: usize) -> String {
        let last = self.tokens[last.min(self.tokens.len() - 1)];
        let from = self.tokens[first].start as usize;
        let to = if last.token == Token::Eof { last.start } else { last.end } as usize;
        let skipped = self.unrecognized.iter().filter(|text| (from..to).contains(&(text.start as usize)));
        let (mut out, mut at) = (String::new(), from);
        for text in skipped {
            out.extend(&self.source[at..text.start as usize]);
            at = text.end as usize;
        }
        out.extend(&self.source[at..to.max(at)]);
        out
    }
}

fn target(edge: Edge) -> StateId {
    match edge {
        Edge::Epsilon { to, .. } | Edge::Token { to, .. } | Edge::Precedence { to, .. } => to,
        Edge::Rule { follow, .. } => follow,
    }
}

fn escape(text: &str) -> String {
    text.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn first(set: TokenSet) -> Token {
    Token::ALL.into_iter().find(|token| set & (1 << *token as TokenSet) != 0).unwrap_or(Token::Eof)
}

/// Returns the names of tokens in ANTLR's format.
fn names(set: TokenSet) -> String {
    let names: Vec<&str> =
        Token::ALL.into_iter().filter(|token| set & (1 << *token as TokenSet) != 0).map(Token::name).collect();
    if let [name] = names[..] { name.to_owned() } else { format!("{{{}}}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::predict::MAX_WORK;
    use super::{Stop, Walker};
    use crate::parse::dialect::Macros;
    use crate::parse::lexer;
    use kubeshape_schema::Release;

    /// Returns the number of tokens, the steps of predictions, and the last error if a limit was exceeded.
    fn work(text: &str) -> (u64, u64, Option<String>) {
        let source: Vec<char> = text.chars().collect();
        let language = Release::NEWEST.into();
        let (tokens, unrecognized) = lexer::lex(&source, Macros(&language));
        let mut walker = Walker::new(&source, &tokens, &unrecognized, Macros(&language));
        let stopped = matches!(walker.walk(), Err(Stop));
        let last = walker.reports.last().filter(|_| stopped).map(|(_, text)| text.clone());
        (tokens.len() as u64, walker.cache.work, last)
    }

    #[test]
    fn work_on_damaged_sources_grows_linearly() {
        let nested = |count: usize, inner: &str| format!("{}{inner}{}", "-1[".repeat(count), "]".repeat(count));
        let forms: [(&str, &dyn Fn(usize) -> String); 12] = [
            ("names", &|n| format!("a{} }}", ".b".repeat(n))),
            ("a list", &|n| format!("[1{} }}", ", 2".repeat(n))),
            ("a map", &|n| format!("{{1: 2{}", ", 1: 2".repeat(n))),
            ("arguments", &|n| format!("f(a{}]", ", -1".repeat(n))),
            ("parentheses", &|n| "(".repeat(n)),
            ("calls", &|n| "f(x, ".repeat(n)),
            ("a sum", &|n| format!("1{} )", " + -1".repeat(n))),
            ("conditions", &|n| "a ? b : ".repeat(n)),
            ("signs", &|n| format!("{}x)", "-".repeat(n))),
            ("junctions", &|n| format!("a{} )", " && -1[0] == b".repeat(n))),
            ("indices", &|n| format!("{} )", nested(40, &format!("[1{}]", ", -1".repeat(n))))),
            ("brackets after a sign", &|n| format!("-1[{}{}] )", "[".repeat(n), "]".repeat(n))),
        ];
        for (name, form) in forms {
            let ((few, small, _), (many, large, _)) = (work(&form(1_000)), work(&form(10_000)));
            // At most 50 % more steps per token, plus ten.
            let (before, after) = (small * 100 / few, large * 100 / many);
            assert!(after < before * 3 / 2 + 1_000, "{name}: {before} and {after} hundredths a token");
        }
    }

    #[test]
    fn too_much_work_ends_with_an_error() {
        let source = format!("{}{}{}{} )", "-1[".repeat(240), "[".repeat(40_000), "]".repeat(40_000), "]".repeat(240));
        let (_, work, error) = work(&source);
        assert!(work <= MAX_WORK + 100_000, "{work}");
        assert!(error.is_some());
    }
}
