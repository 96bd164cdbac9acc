//! Says formulas in English.

use super::claim::{Claim, Claimed, Mood, Order, Root, Term, list};
use super::formula::{Elements, Formula};
use std::fmt::Write;

/// How words can be joined with others, from the easiest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    /// One claim.
    Single,
    /// Claims joined with "and".
    And,
    /// Claims joined with "or".
    Or,
    /// Words that everything behind them seems to belong to: nothing may follow.
    Open,
    /// More than a main clause: it is a sentence of its own.
    Whole,
}

struct Said {
    words: String,
    shape: Shape,
}

impl Said {
    fn new(words: impl Into<String>, shape: Shape) -> Said {
        Said { words: words.into(), shape }
    }
}

/// Returns what a rule demands, in sentences.
pub(super) fn sentences(formula: &Formula) -> Option<String> {
    let parts = match formula {
        Formula::All(parts) if set_alike(parts).is_none() => parts.as_slice(),
        formula => std::slice::from_ref(formula),
    };
    let mut out = String::new();
    for part in parts {
        let words = must(part)?.words;
        if !out.is_empty() {
            out.push(' ');
        }
        let mut letters = words.chars();
        out.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        out.push_str(letters.as_str());
        out.push('.');
    }
    Some(out)
}

fn names(fields: &[Term]) -> Vec<String> {
    fields.iter().map(|field| field.words.clone()).collect()
}

/// The fields of parts that are all "is set" or all "is not set", if there are several.
fn set_alike(parts: &[Formula]) -> Option<(Vec<Term>, bool)> {
    let claims = parts.iter().map(Formula::claim).collect::<Option<Vec<_>>>()?;
    let is_not = claims.first()?.is_not;
    let is_alike = |claim: &&Claim| claim.claimed == Claimed::Set && claim.is_not == is_not;
    (claims.len() > 1 && claims.iter().all(is_alike))
        .then(|| (claims.iter().map(|claim| claim.about.clone()).collect(), is_not))
}

/// Says that a formula must be true.
fn must(formula: &Formula) -> Option<Said> {
    match formula {
        Formula::Always | Formula::Never => None,
        Formula::One(claim) => Some(Said::new(claim.say(Mood::Must), Shape::Single)),
        Formula::All(parts) => {
            if let Some((fields, is_not)) = set_alike(parts) {
                let not = if is_not { "not " } else { "" };
                return Some(Said::new(format!("{} must {not}be set", list(&names(&fields), "and")), Shape::Single));
            }
            let all = parts.iter().map(must).collect::<Option<Vec<_>>>()?;
            joined(&all, "and", Shape::And)
        }
        Formula::Any(parts) => must_any(parts),
        Formula::Same(a, b) => must_same(a, b),
        Formula::If(parts) => {
            let [condition, then, otherwise] = &**parts;
            let (condition, then, otherwise) = (is(condition)?, must(then)?, must(otherwise)?);
            let is_clear = condition.shape <= Shape::Or && then.shape < Shape::Open && otherwise.shape < Shape::Whole;
            let words = format!("if {}, {}; otherwise, {}", condition.words, then.words, otherwise.words);
            is_clear.then(|| Some(Said::new(words, Shape::Whole))).flatten()
        }
        Formula::Count(order, count, fields) => {
            Some(Said::new(count_words(*order, *count, fields, Mood::Must)?, Shape::Single))
        }
        Formula::Each(elements) => {
            let Elements { variable, of, are } = &**elements;
            let are = must(are)?;
            let words = format!("for each `{variable}` in {}, {}", of.words, are.words);
            Some(Said::new(words, if are.shape == Shape::Whole { Shape::Whole } else { Shape::Open }))
        }
        Formula::Such(order, count, elements) => such(*order, *count, elements, Mood::Must),
    }
}

/// Says that a formula is true.
fn is(formula: &Formula) -> Option<Said> {
    match formula {
        Formula::Always | Formula::Never | Formula::Same(..) | Formula::If(_) => None,
        Formula::One(claim) => Some(Said::new(claim.say(Mood::Is), Shape::Single)),
        Formula::All(parts) => {
            if let Some((fields, is_not)) = set_alike(parts) {
                let not = if is_not { "not " } else { "" };
                return Some(Said::new(format!("{} are {not}set", list(&names(&fields), "and")), Shape::Single));
            }
            let all = parts.iter().map(is).collect::<Option<Vec<_>>>()?;
            joined(&all, "and", Shape::And)
        }
        Formula::Any(parts) => {
            if let Some((fields, false)) = set_alike(parts) {
                return Some(Said::new(format!("{} is set", list(&names(&fields), "or")), Shape::Single));
            }
            let all = parts.iter().map(is).collect::<Option<Vec<_>>>()?;
            joined(&all, "or", Shape::Or)
        }
        Formula::Count(order, count, fields) => {
            Some(Said::new(count_words(*order, *count, fields, Mood::Is)?, Shape::Single))
        }
        Formula::Each(elements) => {
            let Elements { variable, of, are } = &**elements;
            let are = is(are)?;
            let words = format!("for each `{variable}` in {}, {}", of.words, are.words);
            (are.shape < Shape::Open).then(|| Said::new(words, Shape::Open))
        }
        Formula::Such(order, count, elements) => such(*order, *count, elements, Mood::Is),
    }
}

/// Joins words, if it stays clear what belongs together.
fn joined(parts: &[Said], word: &str, shape: Shape) -> Option<Said> {
    let last = parts.len().checked_sub(1)?;
    let mut out = String::new();
    let mut is_open = false;
    for (at, part) in parts.iter().enumerate() {
        let is_clear = match part.shape {
            Shape::Single => true,
            Shape::And => shape == Shape::Or,
            Shape::Open => at == last,
            Shape::Or | Shape::Whole => false,
        };
        if !is_clear {
            return None;
        }
        is_open |= part.shape == Shape::Open;
        let has_and = parts.iter().any(|part| part.shape == Shape::And);
        match at {
            0 => {}
            at if at < last => out.push_str(if has_and { "; " } else { ", " }),
            _ => {
                let _ = write!(out, "{} {word} ", if has_and { ";" } else { "," });
            }
        }
        out.push_str(&part.words);
    }
    // Two short claims need no comma, if no other "or" is near.
    if let [a, b] = parts
        && [a, b].iter().all(|part| part.shape == Shape::Single && !part.words.contains(" or "))
    {
        out = format!("{} {word} {}", a.words, b.words);
    }
    Some(Said::new(out, if is_open { Shape::Open } else { shape }))
}

/// Says that one of several formulas must be true: those that say what is not so are conditions.
fn must_any(parts: &[Formula]) -> Option<Said> {
    match set_alike(parts) {
        Some((fields, false)) => return Some(Said::new(at_least_one(&fields), Shape::Single)),
        Some((fields, true)) => {
            let how = if fields.len() == 2 { "both" } else { "all" };
            return Some(Said::new(format!("{} cannot {how} be set", list(&names(&fields), "and")), Shape::Single));
        }
        None => {}
    }
    if let Some(words) = removal(parts) {
        return Some(Said::new(words, Shape::Single));
    }
    let mut conditions: Vec<&Formula> = Vec::new();
    let mut demands: Vec<&Formula> = Vec::new();
    let is_condition = |part: &&Formula| part.is_negative() || part.is_past();
    for part in parts {
        if is_condition(&part) { conditions.push(part) } else { demands.push(part) }
    }
    if demands.is_empty() {
        demands.extend(conditions.pop());
    }
    let opposites = conditions.into_iter().map(|part| part.clone().opposite()).collect::<Option<Vec<_>>>()?;
    // What is a condition need not be demanded.
    let owned: Vec<Formula> = demands.into_iter().map(|demand| without(demand, &opposites)).collect();
    let demand = match owned.as_slice() {
        [only] => must(only)?,
        several => one_of(several)?,
    };
    if opposites.is_empty() {
        return Some(demand);
    }
    let condition = is(&Formula::All(opposites).simplified())?;
    if condition.shape == Shape::Whole || demand.shape == Shape::Whole {
        return None;
    }
    let shape = if demand.shape == Shape::Open { Shape::Whole } else { Shape::Open };
    Some(Said::new(format!("if {}, {}", condition.words, demand.words), shape))
}

/// Returns a formula without its parts that are known to be true.
fn without(formula: &Formula, known: &[Formula]) -> Formula {
    match formula {
        Formula::All(parts) => {
            Formula::All(parts.iter().filter(|part| !known.contains(part)).cloned().collect()).simplified()
        }
        other => other.clone(),
    }
}

/// Says that one of several formulas must be true. None of them is a condition.
fn one_of(parts: &[Formula]) -> Option<Said> {
    if let Some((fields, false)) = set_alike(parts) {
        return Some(Said::new(at_least_one(&fields), Shape::Single));
    }
    if let [Formula::One(a), Formula::One(b)] = parts
        && a.claimed != Claimed::Unchanged
        && b.claimed != Claimed::Unchanged
    {
        return Some(Said::new(format!("{} or {}", a.say(Mood::Must), b.say(Mood::Must)), Shape::Or));
    }
    let parts = parts.iter().map(is).collect::<Option<Vec<_>>>()?;
    if parts.iter().any(|part| part.shape >= Shape::Open) {
        return None;
    }
    let words: Vec<String> = parts.into_iter().map(|part| part.words).collect();
    Some(Said::new(format!("one of these must be true: {}", words.join("; ")), Shape::Open))
}

fn at_least_one(fields: &[Term]) -> String {
    format!("at least one of {} must be set", list(&names(fields), "and"))
}

/// Returns the fields of `has(self.a)` and `has(oldSelf.a)`.
fn before_and_after<'c>(a: &'c Claim, b: &'c Claim) -> Option<(&'c Claim, &'c Claim)> {
    let (x, y) = (a.about.path.as_ref()?, b.about.path.as_ref()?);
    if a.claimed != Claimed::Set || b.claimed != Claimed::Set || x.steps != y.steps {
        return None;
    }
    match (&x.root, &y.root) {
        (Root::New, Root::Old) => Some((a, b)),
        (Root::Old, Root::New) => Some((b, a)),
        _ => None,
    }
}

/// Says `!has(oldSelf.a) || has(self.a)`, and the same with "not" in the other place.
fn removal(parts: &[Formula]) -> Option<String> {
    let [Formula::One(a), Formula::One(b)] = parts else { return None };
    let (new, old) = before_and_after(a, b)?;
    match (new.is_not, old.is_not) {
        (false, true) => Some(format!("{} cannot be removed once set", new.about.words)),
        (true, false) => Some(format!("{} cannot be added by an update", new.about.words)),
        _ => None,
    }
}

/// Says that two formulas must be both true or both false.
fn must_same(a: &Formula, b: &Formula) -> Option<Said> {
    if let (Formula::One(x), Formula::One(y)) = (a, b)
        && x.claimed == Claimed::Set
        && y.claimed == Claimed::Set
    {
        if let Some((new, _)) = before_and_after(x, y) {
            let is_same = x.is_not == y.is_not;
            return is_same
                .then(|| Some(Said::new(format!("{} cannot be added or removed", new.about.words), Shape::Single)))?;
        }
        let fields = list(&names(&[x.about.clone(), y.about.clone()]), "and");
        return if x.is_not == y.is_not {
            Some(Said::new(format!("{fields} must both be set or both not be set"), Shape::Or))
        } else {
            Some(Said::new(format!("exactly one of {fields} must be set"), Shape::Single))
        };
    }
    // What is set depends on the value, and not the reverse.
    let is_set = |formula: &Formula| formula.claim().is_some_and(|claim| claim.is_set() || claim.is_unset());
    let (demand, condition) = if is_set(b) { (b, a) } else { (a, b) };
    let (demand, condition) = match demand {
        Formula::One(claim) if claim.is_not => (demand.clone().opposite()?, condition.clone().opposite()?),
        _ => (demand.clone(), condition.clone()),
    };
    let (demand, condition) = (must(&demand)?, is(&condition)?);
    let is_clear = demand.shape == Shape::Single && condition.shape <= Shape::And;
    let words = format!("{} if {}, and only then", demand.words, condition.words);
    is_clear.then(|| Some(Said::new(words, Shape::Open))).flatten()
}

/// Says a number of things with an order: "at most 2".
fn number(order: Order, count: i64) -> Option<String> {
    Some(match (order, count) {
        (Order::Equal | Order::AtMost, 0) | (Order::Less, 1) => "no".to_owned(),
        (Order::Equal, 1) => "exactly one".to_owned(),
        (Order::Equal, count) => format!("exactly {count}"),
        (Order::AtMost, 1) | (Order::Less, 2) => "at most one".to_owned(),
        (Order::AtMost, count) => format!("at most {count}"),
        (Order::Less, count) => format!("at most {}", count.checked_sub(1)?),
        (Order::AtLeast, 1) | (Order::More, 0) => "at least one".to_owned(),
        (Order::AtLeast, count) => format!("at least {count}"),
        (Order::More, count) => format!("at least {}", count.checked_add(1)?),
    })
}

fn count_words(order: Order, count: i64, fields: &[Term], mood: Mood) -> Option<String> {
    let fields = list(&names(fields), "and");
    let number = match number(order, count)?.as_str() {
        "no" => "none".to_owned(),
        number => number.to_owned(),
    };
    let is_one = number.ends_with("one");
    Some(match mood {
        Mood::Must if number.starts_with("at most") => format!("{number} of {fields} may be set"),
        Mood::Must => format!("{number} of {fields} must be set"),
        Mood::Is => format!("{number} of {fields} {} set", if is_one { "is" } else { "are" }),
    })
}

/// Says how many elements have to fulfil a formula.
fn such(order: Order, count: i64, elements: &Elements, mood: Mood) -> Option<Said> {
    let Elements { variable, of, are } = elements;
    let number = number(order, count)?;
    let is_one = number.ends_with("one") || number == "no";
    let be = match mood {
        Mood::Must => "must be",
        Mood::Is if is_one => "is",
        Mood::Is => "are",
    };
    let are = is(are)?;
    let words = format!("there {be} {number} `{variable}` in {} for which {}", of.words, are.words);
    (are.shape < Shape::Open).then(|| Said::new(words, Shape::Open))
}
