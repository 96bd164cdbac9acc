//! Prediction of the alternative if one token does not decide: ANTLR's algorithm, first without the callers of the rule
//! (SLL) and, if that is ambiguous, with them (LL).

use super::grammar::Rule;
use super::network::{Edge, Kind, Network, StateId};
use crate::parse::lexer::Token;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A list of states to return to, as its number in [`Stacks`].
pub(super) type Stack = u32;

/// No state to return to: any caller in SLL, the end of the source in LL.
pub(super) const EMPTY: Stack = 0;

/// Interned lists of states to return to.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    entries: Vec<(Stack, StateId)>,
    numbers: HashMap<(Stack, StateId), Stack>,
}

impl Stacks {
    pub(super) fn push(&mut self, below: Stack, state: StateId) -> Stack {
        let entries = &mut self.entries;
        *self.numbers.entry((below, state)).or_insert_with(|| {
            entries.push((below, state));
            entries.len() as Stack
        })
    }

    fn pop(&self, stack: Stack) -> Option<(Stack, StateId)> {
        self.entries.get((stack as usize).checked_sub(1)?).copied()
    }

    /// Returns whether `short` is the top of `long`.
    fn covers(&self, mut short: Stack, mut long: Stack) -> bool {
        while short != long
            && let Some((below, state)) = self.pop(short)
        {
            match self.pop(long) {
                Some((rest, top)) if top == state => (short, long) = (below, rest),
                _ => return false,
            }
        }
        true
    }
}

/// The position of an alternative in the network.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Config {
    state: StateId,
    alt: usize,
    /// Sorted.
    stacks: Vec<Stack>,
    /// Whether it left the rule of the decision.
    outside: bool,
    /// Whether it left the rule towards a caller that accepts any precedence.
    suppressed: bool,
}

type Configs = BTreeMap<(StateId, usize), Config>;

/// The result of reading the next token.
#[derive(Clone, Debug)]
enum Next {
    State(usize),
    /// A set that is not kept.
    Own(Configs),
    Alt(usize),
    /// SLL cannot decide.
    Conflict,
    /// No configuration reads the token. The alternative is one that may end before it.
    Dead(Option<usize>),
}

/// Computed sets of configurations, and their transitions.
#[derive(Debug, Default)]
pub(super) struct Cache {
    without_callers: Known,
    with_callers: Known,
    /// The number of visited configurations and tokens.
    pub(super) work: u64,
}

/// The maximum work for one expression. ANTLR has no such bound: if it needs callers, it reads to the end of the source
/// for each decision.
pub(super) const MAX_WORK: u64 = 20_000_000;

/// Sets are no longer kept when all kept sets have more configurations together.
const MAX_KEPT: usize = 200_000;

#[derive(Debug, Default)]
struct Known {
    starts: HashMap<(StateId, u8, Stack), usize>,
    numbers: HashMap<Vec<Config>, usize>,
    states: Vec<Configs>,
    edges: HashMap<(usize, Token), Next>,
    kept: usize,
}

impl Known {
    /// Returns the number of a set, or the set itself if there is no room for it.
    fn add(&mut self, configs: Configs) -> Result<usize, Configs> {
        let key: Vec<Config> = configs.values().cloned().collect();
        if let Some(number) = self.numbers.get(&key) {
            return Ok(*number);
        }
        if self.kept > MAX_KEPT {
            return Err(configs);
        }
        self.kept += key.len();
        self.numbers.insert(key, self.states.len());
        self.states.push(configs);
        Ok(self.states.len() - 1)
    }
}

/// A set of configurations, by its number if it is kept.
enum Place {
    Kept(usize),
    Own(Configs),
}

/// One decision.
pub(super) struct Predictor<'a> {
    pub(super) network: &'static Network,
    pub(super) stacks: &'a mut Stacks,
    pub(super) cache: &'a mut Cache,
    pub(super) decision: StateId,
    /// The precedence with which the rule was called.
    pub(super) precedence: u8,
    /// Whether all callers are known (LL).
    pub(super) full: bool,
}

/// A configuration to explore.
struct Work {
    state: StateId,
    alt: usize,
    stack: Stack,
    outside: bool,
    suppressed: bool,
    depth: i32,
}

/// No alternative fits. The number is the distance of the token that does not fit from the first one.
pub(super) struct NoViable(pub(super) usize);

impl Predictor<'_> {
    /// Returns the alternative, from 1. `callers` are the states to which the open rules return.
    pub(super) fn predict(&mut self, callers: Stack, look: &mut impl FnMut(usize) -> Token) -> Result<usize, NoViable> {
        let from = if self.full { callers } else { EMPTY };
        let mut place = self.first(from);
        let mut ahead = 0;
        // The caller reports when the limit is exceeded.
        while self.cache.work <= MAX_WORK {
            let token = look(ahead);
            self.cache.work += 1;
            match self.after(&place, token) {
                Next::State(next) => place = Place::Kept(next),
                Next::Own(configs) => place = Place::Own(configs),
                Next::Alt(alt) => return Ok(alt),
                Next::Conflict => {
                    self.full = true;
                    return self.predict(callers, look);
                }
                // With callers, the Go runtime reports the first token here, not the one that does not fit.
                Next::Dead(alt) => return alt.ok_or(NoViable(if self.full { 0 } else { ahead })),
            }
            ahead += usize::from(self.full || token != Token::Eof);
        }
        Err(NoViable(0))
    }

    fn known(&mut self) -> &mut Known {
        if self.full { &mut self.cache.with_callers } else { &mut self.cache.without_callers }
    }

    fn first(&mut self, stack: Stack) -> Place {
        let key = (self.decision, self.precedence, stack);
        if let Some(state) = self.known().starts.get(&key) {
            return Place::Kept(*state);
        }
        let configs = self.start(stack);
        match self.known().add(configs) {
            Ok(state) => {
                self.known().starts.insert(key, state);
                Place::Kept(state)
            }
            Err(configs) => Place::Own(configs),
        }
    }

    fn after(&mut self, place: &Place, token: Token) -> Next {
        let state = match place {
            Place::Own(configs) => return self.next(configs, token),
            Place::Kept(state) => *state,
        };
        if let Some(next) = self.known().edges.get(&(state, token)) {
            return next.clone();
        }
        let configs = self.known().states[state].clone();
        let next = self.next(&configs, token);
        if !matches!(next, Next::Own(_)) {
            self.known().edges.insert((state, token), next.clone());
        }
        next
    }

    fn next(&mut self, previous: &Configs, token: Token) -> Next {
        let Some(reach) = self.reach(previous, token) else { return Next::Dead(finished(self.network, previous)) };
        if self.full {
            let Some(least) = reach.keys().map(|(_, alt)| *alt).min() else { return Next::Dead(None) };
            if unique(&reach).is_some()
                || token == Token::Eof
                || subsets(&reach).values().all(|alts| alts.first() == Some(&least))
            {
                return Next::Alt(least);
            }
        } else {
            if let Some(alt) = unique(&reach) {
                return Next::Alt(alt);
            }
            if self.all_stopped(&reach) || conflicts(&reach) {
                return Next::Conflict;
            }
        }
        match self.known().add(reach) {
            Ok(state) => Next::State(state),
            Err(configs) => Next::Own(configs),
        }
    }

    fn start(&mut self, stack: Stack) -> Configs {
        let mut out = Configs::new();
        for (i, edge) in self.network.states[self.decision].edges.iter().enumerate() {
            if let Edge::Epsilon { to, .. } = *edge {
                let work = Work { state: to, alt: i + 1, stack, outside: false, suppressed: false, depth: 0 };
                self.close(vec![work], &mut out, true, false);
            }
        }
        if self.network.states[self.decision].precedence && !self.full {
            // Tokens that the loop reads are not also read after it.
            let entered: HashMap<StateId, Vec<Stack>> = out
                .values()
                .filter(|config| config.alt == 1)
                .map(|config| (config.state, config.stacks.clone()))
                .collect();
            out.retain(|(state, alt), config| {
                *alt == 1 || config.suppressed || entered.get(state).is_none_or(|stacks| *stacks != config.stacks)
            });
        }
        out
    }

    fn stopped(&self, state: StateId) -> bool {
        self.network.states[state].kind == Kind::RuleStop
    }

    fn all_stopped(&self, configs: &Configs) -> bool {
        configs.keys().all(|(state, _)| self.stopped(*state))
    }

    /// Returns the configurations after a token, or `None`.
    fn reach(&mut self, previous: &Configs, token: Token) -> Option<Configs> {
        let end = token == Token::Eof;
        let mut skipped = Vec::new();
        let mut read: Vec<Config> = Vec::new();
        for config in previous.values() {
            if self.stopped(config.state) {
                if self.full || end {
                    skipped.push(config.clone());
                }
                continue;
            }
            for edge in &self.network.states[config.state].edges {
                if let Edge::Token { set, to, .. } = *edge
                    && set & (1 << token as u64) != 0
                {
                    read.push(Config { state: to, ..config.clone() });
                }
            }
        }
        let mut out = Configs::new();
        let one = read.first().is_some_and(|first| read.iter().all(|config| config.alt == first.alt));
        if skipped.is_empty() && !end && one {
            for config in read {
                self.add(&mut out, config);
            }
        } else {
            let work = |config: &Config| {
                let Config { state, alt, outside, suppressed, .. } = *config;
                let stacks = config.stacks.clone();
                stacks.into_iter().map(move |stack| Work { state, alt, stack, outside, suppressed, depth: 0 })
            };
            let work = read.iter().flat_map(work).collect();
            self.close(work, &mut out, false, end);
            if end {
                out.retain(|(state, _), _| self.stopped(*state));
            }
            if !self.full || !out.keys().any(|(state, _)| self.stopped(*state)) {
                for config in skipped {
                    self.add(&mut out, config);
                }
            }
        }
        (!out.is_empty()).then_some(out)
    }

    fn add(&self, configs: &mut Configs, config: Config) {
        let Some(own) = configs.get_mut(&(config.state, config.alt)) else {
            configs.insert((config.state, config.alt), config);
            return;
        };
        own.outside |= config.outside;
        own.suppressed |= config.suppressed;
        for stack in config.stacks {
            if self.full {
                if let Err(at) = own.stacks.binary_search(&stack) {
                    own.stacks.insert(at, stack);
                }
            } else if !own.stacks.iter().any(|short| self.stacks.covers(*short, stack)) {
                // A stack that stands for any caller replaces more specific ones.
                own.stacks.retain(|long| !self.stacks.covers(stack, *long));
                own.stacks.push(stack);
                own.stacks.sort_unstable();
            }
        }
    }

    /// Follows all transitions that read no token. `first` says that precedences decide here; `end`, that the end of
    /// the source was read.
    fn close(&mut self, mut todo: Vec<Work>, out: &mut Configs, first: bool, end: bool) {
        let network = self.network;
        let mut seen = HashSet::new();
        while let Some(work) = todo.pop() {
            self.cache.work += 1;
            let Work { state, alt, stack, outside, suppressed, depth } = work;
            if !seen.insert((state, alt, stack, outside, suppressed, depth.signum())) {
                continue;
            }
            let stop = self.stopped(state);
            let here = |stack| Config { state, alt, stacks: vec![stack], outside, suppressed };
            if stop {
                if let Some((below, to)) = self.stacks.pop(stack) {
                    todo.push(Work { state: to, stack: below, suppressed: false, ..work });
                    continue;
                }
                if self.full {
                    self.add(out, here(EMPTY));
                    continue;
                }
            }
            let node = &network.states[state];
            if !node.only_epsilon() {
                self.add(out, here(stack));
            }
            for (i, edge) in node.edges.iter().enumerate() {
                if i == 0 && self.returns_to_loop(state, stack) {
                    continue;
                }
                match *edge {
                    Edge::Epsilon { to, outermost } if stop => {
                        let rule: Rule = network.states[self.decision].rule;
                        let leaves = network.states[self.decision].precedence && outermost == Some(rule);
                        let suppressed = suppressed || leaves;
                        todo.push(Work { state: to, outside: true, suppressed, depth: depth - 1, ..work });
                    }
                    Edge::Epsilon { to, .. } => todo.push(Work { state: to, ..work }),
                    Edge::Rule { rule, follow, .. } => {
                        let stack = self.stacks.push(stack, follow);
                        let depth = if depth < 0 { depth } else { depth + 1 };
                        todo.push(Work { state: network.start(rule), stack, depth, ..work });
                    }
                    Edge::Precedence { precedence, to } => {
                        if !first || depth != 0 || precedence >= self.precedence {
                            todo.push(Work { state: to, ..work });
                        }
                    }
                    Edge::Token { set, to, .. } if end && set & (1 << Token::Eof as u64) != 0 => {
                        todo.push(Work { state: to, ..work });
                    }
                    Edge::Token { .. } => {}
                }
            }
        }
    }

    /// Returns whether the loop of a left-recursive rule can be skipped because the caller is the same loop.
    fn returns_to_loop(&self, state: StateId, stack: Stack) -> bool {
        let node = &self.network.states[state];
        node.precedence
            && self.stacks.pop(stack).is_some_and(|(_, to)| {
                let to = &self.network.states[to];
                to.rule == node.rule && to.kind == Kind::BlockEnd
            })
    }
}

fn unique(configs: &Configs) -> Option<usize> {
    let mut alts = configs.keys().map(|(_, alt)| *alt);
    let first = alts.next()?;
    alts.all(|alt| alt == first).then_some(first)
}

/// Groups alternatives by their position.
fn subsets(configs: &Configs) -> BTreeMap<(StateId, &[Stack]), BTreeSet<usize>> {
    let mut out: BTreeMap<_, BTreeSet<usize>> = BTreeMap::new();
    for config in configs.values() {
        out.entry((config.state, config.stacks.as_slice())).or_default().insert(config.alt);
    }
    out
}

/// Returns whether more tokens would not help SLL.
fn conflicts(configs: &Configs) -> bool {
    let mut by_state: BTreeMap<StateId, usize> = BTreeMap::new();
    for (state, _) in configs.keys() {
        *by_state.entry(*state).or_default() += 1;
    }
    subsets(configs).values().any(|alts| alts.len() > 1) && by_state.values().all(|alts| *alts > 1)
}

/// Returns the first alternative that may have ended its rule.
fn finished(network: &Network, configs: &Configs) -> Option<usize> {
    let ended = |config: &&Config| {
        config.outside || network.states[config.state].kind == Kind::RuleStop && config.stacks.contains(&EMPTY)
    };
    configs.values().filter(ended).map(|config| config.alt).min()
}
