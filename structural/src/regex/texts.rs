//! Finds strings that some expressions match and others do not.
//!
//! The expressions become automata over bytes, which are built only as far as a search needs them. The search runs all
//! of them in parallel over the bytes of UTF-8, from shorter strings to longer ones. It visits each state at most once,
//! so it decides whether there is such a string. Limits bound the number of states, since an automaton can have
//! exponentially many.

use super::compile::{NESTING, translate};
use super::{RegexError, check, compiled_size};
use regex_automata::Anchored;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::{start, syntax};
use std::collections::{HashMap, HashSet};

/// The maximum number of states that a search visits.
pub const STATES: usize = 20_000;
/// The maximum size of an automaton in bytes, and of what it is built from.
const BYTES: usize = 2 << 20;
/// Building an automaton takes one step for this many bytes of what it is built from.
const BYTES_PER_STEP: u64 = 16;

/// Describes strings that all expressions in `matched` match, and none in `unmatched`.
///
/// # Example: what one pattern accepts and another one refuses
/// ```
/// use kubeshape_structural::regex::Texts;
/// let texts = Texts { matched: &["^[a-z-]+$"], unmatched: &["^[a-z]([a-z-]*[a-z])?$"], ..Texts::default() };
/// assert_eq!(texts.shortest(), Ok(Some("-".to_owned())));
/// let texts = Texts { matched: &["^[a-c]{2}$"], unmatched: &["^[a-z]+$"], ..Texts::default() };
/// assert_eq!(texts.shortest(), Ok(None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Texts<'p> {
    /// Patterns of Go that must match.
    pub matched: &'p [&'p str],
    /// Patterns of Go that must not match.
    pub unmatched: &'p [&'p str],
    /// The minimum length in characters.
    pub least: u64,
    /// The maximum length in characters.
    pub most: Option<u64>,
}

/// Why the search could not decide whether there is a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// Go rejects a pattern.
    Invalid(RegexError),
    /// The automata have more states than [`STATES`], or take too much memory.
    TooLarge,
    /// A pattern has `\B`, which matches where there is no word boundary. An automaton over bytes also finds such
    /// positions inside characters.
    NoBoundary,
}

impl std::fmt::Display for Undecided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Undecided::Invalid(error) => error.fmt(f),
            Undecided::TooLarge => f.write_str("the patterns have too many states"),
            Undecided::NoBoundary => f.write_str("a pattern holds \\B"),
        }
    }
}

impl std::error::Error for Undecided {}

impl Texts<'_> {
    /// Returns the shortest of these strings, by characters, or `None` if there is none.
    ///
    /// # Errors
    /// A pattern is invalid, or the limits are too small.
    pub fn shortest(&self) -> Result<Option<String>, Undecided> {
        let mut unlimited = u64::MAX;
        self.shortest_within(&mut unlimited)
    }

    /// Does the same as [`shortest`](Self::shortest), within a number of steps that several searches share. A step
    /// takes less than a microsecond. The steps that it takes are subtracted.
    ///
    /// # Errors
    /// As for [`shortest`](Self::shortest).
    pub fn shortest_within(&self, steps: &mut u64) -> Result<Option<String>, Undecided> {
        if self.most.is_some_and(|most| most < self.least) {
            return Ok(None);
        }
        let mut automata = Vec::new();
        for (patterns, is_matched) in [(self.matched, true), (self.unmatched, false)] {
            for pattern in patterns {
                spend(steps, compiled_size(pattern) as u64 / BYTES_PER_STEP)?;
                automata.push(Automaton::new(pattern, is_matched)?);
            }
        }
        if automata.is_empty() {
            let Some(length) = usize::try_from(self.least).ok().filter(|least| *least <= BYTES) else {
                return Err(Undecided::TooLarge);
            };
            return Ok(Some("a".repeat(length)));
        }
        let (bytes, seen) = (bytes(&automata), HashSet::new());
        Search { texts: self, bytes, automata, seen, nodes: Vec::new(), steps }.run()
    }
}

/// Subtracts steps.
fn spend(left: &mut u64, steps: u64) -> Result<(), Undecided> {
    let after = left.checked_sub(steps);
    *left = after.unwrap_or_default();
    after.map(|_| ()).ok_or(Undecided::TooLarge)
}

/// The state of an automaton.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum State {
    At(LazyStateID),
    /// The rest of the string does not matter: the expression has matched, or never will.
    Settled,
}

struct Automaton {
    dfa: DFA,
    cache: Cache,
    is_matched: bool,
}

impl Automaton {
    fn new(pattern: &str, is_matched: bool) -> Result<Automaton, Undecided> {
        check(pattern).map_err(Undecided::Invalid)?;
        let pattern = translate(pattern);
        if pattern.contains("\\B") {
            return Err(Undecided::NoBoundary);
        }
        let too_large = |_| Undecided::TooLarge;
        let config = DFA::config().cache_capacity(BYTES).minimum_cache_clear_count(Some(0));
        let nfa = thompson::Config::new().nfa_size_limit(Some(BYTES)).which_captures(WhichCaptures::None);
        let dfa = DFA::builder()
            .syntax(syntax::Config::new().nest_limit(NESTING))
            .thompson(nfa)
            .configure(config)
            .build(&pattern)
            .map_err(too_large)?;
        let cache = dfa.create_cache();
        Ok(Automaton { dfa, cache, is_matched })
    }

    /// Returns the state before the first byte, or `None` if there is no such string.
    fn start(&mut self) -> Result<Option<State>, Undecided> {
        let config = start::Config::new().anchored(Anchored::No);
        let id = self.dfa.start_state(&mut self.cache, &config).map_err(|_| Undecided::TooLarge)?;
        Ok(self.state(id))
    }

    fn next(&mut self, state: State, byte: u8) -> Result<Option<State>, Undecided> {
        let State::At(id) = state else { return Ok(Some(state)) };
        let id = self.dfa.next_state(&mut self.cache, id, byte).map_err(|_| Undecided::TooLarge)?;
        Ok(self.state(id))
    }

    /// Returns `None` if no string with this prefix is one of those searched for.
    fn state(&self, id: LazyStateID) -> Option<State> {
        if id.is_match() {
            return self.is_matched.then_some(State::Settled);
        }
        if id.is_dead() {
            return (!self.is_matched).then_some(State::Settled);
        }
        Some(State::At(id))
    }

    /// Returns whether a string that ends here is one of those searched for.
    fn ends(&mut self, state: State) -> Result<bool, Undecided> {
        let State::At(id) = state else { return Ok(true) };
        let id = self.dfa.next_eoi_state(&mut self.cache, id).map_err(|_| Undecided::TooLarge)?;
        Ok(id.is_match() == self.is_matched)
    }
}

/// Returns one byte of each class of bytes, letters and digits first.
fn bytes(automata: &[Automaton]) -> Vec<u8> {
    let plain = (b'a'..=b'z').chain(b'0'..=b'9').chain(b'A'..=b'Z').chain(*b"-._/ ");
    let mut classes = HashMap::new();
    for byte in plain.chain(b'!'..=b'~').chain(0..=255) {
        let class: Vec<u8> = automata.iter().map(|automaton| automaton.dfa.byte_classes().get(byte)).collect();
        let number = classes.len();
        classes.entry((class, utf8_class(byte))).or_insert((number, byte));
    }
    let mut bytes: Vec<(usize, u8)> = classes.into_values().collect();
    bytes.sort_unstable();
    bytes.into_iter().map(|(_, byte)| byte).collect()
}

/// Returns the class of a byte in UTF-8.
fn utf8_class(byte: u8) -> u8 {
    match byte {
        0..=0x7f => 0,
        0x80..=0x8f => 1,
        0x90..=0x9f => 2,
        0xa0..=0xbf => 3,
        0xc2..=0xdf => 4,
        0xe0 => 5,
        0xe1..=0xec | 0xee..=0xef => 6,
        0xed => 7,
        0xf0 => 8,
        0xf1..=0xf3 => 9,
        0xf4 => 10,
        0xc0 | 0xc1 | 0xf5..=0xff => 11,
    }
}

/// A position in a UTF-8 character.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// Between characters.
    Between,
    /// This many bytes are missing. The first must be in a range.
    Within(u8, u8, u8),
}

impl Place {
    fn next(self, byte: u8) -> Option<Place> {
        match self {
            Place::Between => Some(match byte {
                0..=0x7f => Place::Between,
                0xc2..=0xdf => Place::Within(1, 0x80, 0xbf),
                0xe0 => Place::Within(2, 0xa0, 0xbf),
                0xe1..=0xec | 0xee..=0xef => Place::Within(2, 0x80, 0xbf),
                0xed => Place::Within(2, 0x80, 0x9f),
                0xf0 => Place::Within(3, 0x90, 0xbf),
                0xf1..=0xf3 => Place::Within(3, 0x80, 0xbf),
                0xf4 => Place::Within(3, 0x80, 0x8f),
                _ => return None,
            }),
            Place::Within(missing, first, last) if (first..=last).contains(&byte) => {
                Some(if missing == 1 { Place::Between } else { Place::Within(missing - 1, 0x80, 0xbf) })
            }
            Place::Within(..) => None,
        }
    }
}

/// The facts on which the possible continuations of a string depend.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    states: Vec<State>,
    place: Place,
    /// The number of characters so far, up to the minimum length.
    count: u64,
}

struct Search<'t> {
    texts: &'t Texts<'t>,
    automata: Vec<Automaton>,
    bytes: Vec<u8>,
    seen: HashSet<Key>,
    /// The byte before a state, and the previous node. The first node has none.
    nodes: Vec<(usize, u8)>,
    steps: &'t mut u64,
}

impl Search<'_> {
    fn run(&mut self) -> Result<Option<String>, Undecided> {
        let mut states = Vec::with_capacity(self.automata.len());
        for automaton in &mut self.automata {
            let Some(state) = automaton.start()? else { return Ok(None) };
            states.push(state);
        }
        self.nodes.push((0, 0));
        // The strings of one length, each with its state.
        let mut level = vec![(0, Key { states, place: Place::Between, count: 0 })];
        let mut length = 0;
        while !level.is_empty() {
            if length >= self.texts.least {
                for (node, key) in &level {
                    if self.ends(key)? {
                        return Ok(Some(self.text(*node)));
                    }
                }
            }
            if self.texts.most == Some(length) {
                return Ok(None);
            }
            length += 1;
            let mut next = Vec::new();
            for (node, key) in level {
                self.step(node, key, length.min(self.texts.least), &mut next)?;
            }
            level = next;
        }
        Ok(None)
    }

    fn ends(&mut self, key: &Key) -> Result<bool, Undecided> {
        for (automaton, state) in self.automata.iter_mut().zip(&key.states) {
            if !automaton.ends(*state)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds the states after one more character.
    fn step(&mut self, node: usize, key: Key, count: u64, next: &mut Vec<(usize, Key)>) -> Result<(), Undecided> {
        let mut within = vec![(node, key)];
        while let Some((node, key)) = within.pop() {
            for at in 0..self.bytes.len() {
                let byte = self.bytes[at];
                let Some(place) = key.place.next(byte) else { continue };
                let Some(states) = self.all(&key.states, byte)? else { continue };
                let key = Key { states, place, count };
                if self.seen.contains(&key) {
                    continue;
                }
                if self.nodes.len() >= STATES {
                    return Err(Undecided::TooLarge);
                }
                self.seen.insert(key.clone());
                self.nodes.push((node, byte));
                let list = if place == Place::Between { &mut *next } else { &mut within };
                list.push((self.nodes.len() - 1, key));
            }
        }
        Ok(())
    }

    fn all(&mut self, states: &[State], byte: u8) -> Result<Option<Vec<State>>, Undecided> {
        spend(self.steps, 1)?;
        let mut out = Vec::with_capacity(states.len());
        for (automaton, state) in self.automata.iter_mut().zip(states) {
            let Some(state) = automaton.next(*state, byte)? else { return Ok(None) };
            out.push(state);
        }
        Ok(Some(out))
    }

    fn text(&self, node: usize) -> String {
        let (mut out, mut at) = (Vec::new(), node);
        while at != 0 {
            let (before, byte) = self.nodes[at];
            out.push(byte);
            at = before;
        }
        out.reverse();
        String::from_utf8_lossy(&out).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{Texts, Undecided};
    use crate::regex::compile;

    fn shortest(matched: &[&str], unmatched: &[&str]) -> Option<String> {
        let text = Texts { matched, unmatched, ..Texts::default() }.shortest().expect("it is decided");
        if let Some(text) = &text {
            let is_match = |pattern: &str| compile(pattern).expect("a pattern").is_match(text);
            assert!(matched.iter().all(|pattern| is_match(pattern)), "{matched:?} {text:?}");
            assert!(!unmatched.iter().any(|pattern| is_match(pattern)), "{unmatched:?} {text:?}");
        }
        text
    }

    #[test]
    fn searches_share_their_steps() {
        let mut steps = 100_000;
        let mut search = |n: usize| {
            let matched = [&*format!(r"^\pL{{1,20}}x{n}$")];
            let texts = Texts { matched: &matched, unmatched: &[r"^\pN+$"], ..Texts::default() };
            texts.shortest_within(&mut steps)
        };
        assert!(search(0).is_ok_and(|text| text.is_some()));
        assert!((1..100).any(|n| search(n) == Err(Undecided::TooLarge)));
        assert_eq!(search(100), Err(Undecided::TooLarge));
        assert_eq!(steps, 0);
    }

    #[test]
    fn the_shortest_string_is_found() {
        for (matched, unmatched, expected) in [
            ("", "", None),
            ("", "x", Some("")),
            ("x", "z", Some("x")),
            ("^x$", "x", None),
            ("x", "^x", Some("ax")),
            ("^a{3,}$", "^a{3,5}$", Some("aaaaaa")),
            ("^a{3,5}$", "^a{3,}$", None),
            ("^[a-z]+$", "^[a-z0-9]+$", None),
            ("^[a-z0-9]+$", "^[a-z]+$", Some("0")),
            ("^(a|b)+$", "^(b|a)(a|b)*$", None),
            // A dot does not match a line break, and `$` matches only at the end.
            ("", "^.*$", Some("\n")),
            ("", "(?s)^.*$", None),
            (".*", ".", Some("")),
            ("(?m)^a$", "^a$", Some("a\n")),
            ("^.$", "^[[:ascii:]]$", Some("\u{80}")),
            ("^[à-é]$", "^[à-è]$", Some("é")),
            ("^\\pL$", "^[\\pL\\pN]$", None),
            (r"a\b", "a$", Some("a-")),
            ("(?i)^k$", "^[kK]$", Some("\u{212a}")),
            // An expression that never matches.
            ("a^", "", None),
            ("", "a^", Some("")),
        ] {
            let found = shortest(&[matched], &[unmatched]);
            assert_eq!(found.as_deref(), expected, "{matched} without {unmatched}");
        }
        assert_eq!(shortest(&["a", "b"], &["ab"]).as_deref(), Some("ba"));
        assert_eq!(shortest(&["^[a-z]*$", "^[m-p]*$"], &["^[n-z]*$"]).as_deref(), Some("m"));
    }

    #[test]
    fn lengths_count_characters() {
        let texts = Texts { matched: &["^é*$"], ..Texts::default() };
        assert_eq!(Texts { least: 3, ..texts }.shortest(), Ok(Some("ééé".to_owned())));
        assert_eq!(Texts { least: 3, most: Some(2), ..texts }.shortest(), Ok(None));
        let texts = Texts { matched: &["^(ab)+$"], ..Texts::default() };
        assert_eq!(Texts { least: 3, most: Some(3), ..texts }.shortest(), Ok(None));
        assert_eq!(Texts { least: 3, most: Some(4), ..texts }.shortest(), Ok(Some("abab".to_owned())));
        assert_eq!(Texts { least: 2, ..Texts::default() }.shortest(), Ok(Some("aa".to_owned())));
    }

    #[test]
    fn large_automata_are_undecided() {
        let texts = |matched| Texts { matched, ..Texts::default() }.shortest();
        // An automaton that remembers whether the letter before the last thousand is an `a` has 2^1000 states.
        assert_eq!(
            Texts { matched: &["a[ab]{1000}$"], unmatched: &["b[ab]{999}$"], ..Texts::default() }.shortest(),
            Err(Undecided::TooLarge)
        );
        assert_eq!(texts(&[r"(\pL{30}){33}(\pL{30}){33}(\pN\pL\pS){333}"]), Err(Undecided::TooLarge));
        assert_eq!(texts(&[r"\B"]), Err(Undecided::NoBoundary));
        assert!(matches!(texts(&["("]), Err(Undecided::Invalid(_))));
        let least = Texts { matched: &["^a*$"], least: 1 << 40, ..Texts::default() };
        assert_eq!(least.shortest(), Err(Undecided::TooLarge));
        assert_eq!(Texts { least: u64::MAX, ..Texts::default() }.shortest(), Err(Undecided::TooLarge));
    }
}
