//! Claims that are joined.

use super::claim::{Claim, Claimed, Order, Root, Term};

/// What a rule demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Formula {
    Always,
    Never,
    One(Claim),
    All(Vec<Formula>),
    Any(Vec<Formula>),
    /// Both are true, or both are false.
    Same(Box<Formula>, Box<Formula>),
    /// If the first is true, the second is, and otherwise the third.
    If(Box<[Formula; 3]>),
    /// So many of these fields are set.
    Count(Order, i64, Vec<Term>),
    /// For each element of a list or key of a map.
    Each(Box<Elements>),
    /// So many elements or keys are such.
    Such(Order, i64, Box<Elements>),
}

/// The elements of a list or the keys of a map, and what is claimed of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Elements {
    pub(super) variable: String,
    pub(super) of: Term,
    pub(super) are: Formula,
}

impl Formula {
    /// Returns the formula that is true when this one is false; `None` if it has no words.
    pub(super) fn opposite(self) -> Option<Formula> {
        let all = |parts: Vec<Formula>| parts.into_iter().map(Formula::opposite).collect::<Option<Vec<_>>>();
        Some(match self {
            Formula::Always => Formula::Never,
            Formula::Never => Formula::Always,
            Formula::One(claim) => Formula::One(Claim { is_not: !claim.is_not, ..claim }),
            Formula::All(parts) => Formula::Any(all(parts)?),
            Formula::Any(parts) => Formula::All(all(parts)?),
            Formula::Same(a, b) => Formula::Same(a, Box::new(b.opposite()?)),
            Formula::If(parts) => {
                let [condition, then, otherwise] = *parts;
                Formula::If(Box::new([condition, then.opposite()?, otherwise.opposite()?]))
            }
            Formula::Count(order, count, fields) => Formula::Count(order.opposite()?, count, fields),
            Formula::Each(elements) => {
                let Elements { variable, of, are } = *elements;
                let are = are.opposite()?;
                Formula::Such(Order::AtLeast, 1, Box::new(Elements { variable, of, are }))
            }
            Formula::Such(order, count, elements) => Formula::Such(order.opposite()?, count, elements),
        })
    }

    /// Returns the same with fewer parts: joined parts are not nested, and what others imply is left out.
    pub(super) fn simplified(self) -> Formula {
        match self {
            Formula::All(parts) => {
                let mut flat = Vec::new();
                for part in parts {
                    match part.simplified() {
                        Formula::All(inner) => flat.extend(inner),
                        Formula::Always => {}
                        Formula::Never => return Formula::Never,
                        part => flat.push(part),
                    }
                }
                without_repeated(&mut flat);
                without_implied(&mut flat);
                joined(flat, Formula::Always, Formula::All)
            }
            Formula::Any(parts) => {
                let mut flat = Vec::new();
                for part in parts {
                    match part.simplified() {
                        Formula::Any(inner) => flat.extend(inner),
                        Formula::Never => {}
                        Formula::Always => return Formula::Always,
                        part => flat.push(part),
                    }
                }
                without_repeated(&mut flat);
                merge(&mut flat);
                either_or(&flat).unwrap_or_else(|| joined(flat, Formula::Never, Formula::Any))
            }
            Formula::Same(a, b) => match (a.simplified(), b.simplified()) {
                (Formula::Always, other) | (other, Formula::Always) => other,
                (Formula::Never, other) | (other, Formula::Never) => match other.clone().opposite() {
                    Some(opposite) => opposite.simplified(),
                    None => Formula::Same(Box::new(Formula::Never), Box::new(other)),
                },
                (a, b) => Formula::Same(Box::new(a), Box::new(b)),
            },
            Formula::If(parts) => {
                let [condition, then, otherwise] = (*parts).map(Formula::simplified);
                let Some(not) = condition.clone().opposite() else {
                    return Formula::If(Box::new([condition, then, otherwise]));
                };
                match (then, otherwise) {
                    (then, Formula::Always) => Formula::Any(vec![not, then]).simplified(),
                    (Formula::Always, otherwise) => Formula::Any(vec![condition, otherwise]).simplified(),
                    (Formula::Never, otherwise) => Formula::All(vec![not, otherwise]).simplified(),
                    (then, Formula::Never) => Formula::All(vec![condition, then]).simplified(),
                    (then, otherwise) => Formula::If(Box::new([condition, then, otherwise])),
                }
            }
            Formula::Each(elements) => match elements.are.simplified() {
                Formula::Always => Formula::Always,
                are => Formula::Each(Box::new(Elements { are, ..*elements })),
            },
            Formula::Such(order, count, elements) => {
                let are = elements.are.simplified();
                Formula::Such(order, count, Box::new(Elements { are, ..*elements }))
            }
            other => other,
        }
    }

    /// The claim, if it is only one.
    pub(super) fn claim(&self) -> Option<&Claim> {
        match self {
            Formula::One(claim) => Some(claim),
            _ => None,
        }
    }

    /// Returns whether the formula says what is not so.
    pub(super) fn is_negative(&self) -> bool {
        match self {
            Formula::One(claim) => claim.is_not,
            Formula::All(parts) => parts.iter().all(Formula::is_negative),
            Formula::Such(order, count, _) => (*order, *count) == (Order::Less, 1),
            _ => false,
        }
    }

    /// Returns whether the formula is only about the object before an update.
    pub(super) fn is_past(&self) -> bool {
        self.claim().is_some_and(|claim| {
            claim.claimed != Claimed::Unchanged && claim.about.path.as_ref().is_some_and(|path| path.root == Root::Old)
        })
    }
}

fn joined(mut parts: Vec<Formula>, none: Formula, many: impl FnOnce(Vec<Formula>) -> Formula) -> Formula {
    match parts.len() {
        0 => none,
        1 => parts.pop().unwrap_or(none),
        _ => many(parts),
    }
}

fn without_repeated(parts: &mut Vec<Formula>) {
    let mut at = 0;
    while at < parts.len() {
        if parts[..at].contains(&parts[at]) {
            parts.remove(at);
        } else {
            at += 1;
        }
    }
}

/// Removes "`a` is set" next to claims that can only be true if it is.
fn without_implied(parts: &mut Vec<Formula>) {
    let mut at = 0;
    while at < parts.len() {
        let is_implied = parts[at].claim().filter(|claim| claim.is_set()).is_some_and(|set| {
            parts.iter().enumerate().any(|(other, part)| {
                let Some(claim) = part.claim().filter(|claim| other != at && claim.needs_term()) else { return false };
                let paths = claim.about.path.as_ref().zip(set.about.path.as_ref());
                paths.is_some_and(|(path, set)| path.needs(set))
            })
        });
        if is_implied {
            parts.remove(at);
        } else {
            at += 1;
        }
    }
}

/// Makes one claim of several about the same term: it is one of some values, or contains one of them.
fn merge(parts: &mut Vec<Formula>) {
    let mut at = 0;
    while at < parts.len() {
        let (before, rest) = parts.split_at_mut(at);
        let Some(Formula::One(claim)) = rest.first() else {
            at += 1;
            continue;
        };
        let mut is_merged = false;
        for part in before {
            let Formula::One(known) = part else { continue };
            if known.about != claim.about || known.is_not || claim.is_not {
                continue;
            }
            if let Some(merged) = of_both(&known.claimed, &claim.claimed) {
                known.claimed = merged;
                is_merged = true;
                break;
            }
        }
        if is_merged {
            parts.remove(at);
        } else {
            at += 1;
        }
    }
}

fn of_both(a: &Claimed, b: &Claimed) -> Option<Claimed> {
    let both = |a: &[String], b: &[String]| a.iter().chain(b).cloned().collect();
    match (a, b) {
        (Claimed::OneOf(a), Claimed::OneOf(b)) => Some(Claimed::OneOf(both(a, b))),
        (Claimed::Contains(a), Claimed::Contains(b)) => Some(Claimed::Contains(both(a, b))),
        _ => None,
    }
}

/// Returns `(a and not b) or (not a and b)` as "a is the opposite of b".
fn either_or(parts: &[Formula]) -> Option<Formula> {
    let [Formula::All(one), Formula::All(other)] = parts else { return None };
    let ([a, b], [c, d]) = (one.as_slice(), other.as_slice()) else { return None };
    let are_opposite = |x: &Formula, y: &Formula| {
        x.claim()
            .zip(y.claim())
            .is_some_and(|(x, y)| (&x.about, &x.claimed, x.is_not) == (&y.about, &y.claimed, !y.is_not))
    };
    let is_it = are_opposite(a, c) && are_opposite(b, d) || are_opposite(a, d) && are_opposite(b, c);
    is_it.then(|| Formula::Same(Box::new(a.clone()), Box::new(b.clone())))
}
