//! Claims about one term, and how they are said.

/// What a value is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    /// The words.
    pub(super) words: String,
    /// The path, if it is a field or the value itself.
    pub(super) path: Option<Path>,
}

/// A variable with its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) root: Root,
    /// The fields as `.a.b`, with indexes.
    pub(super) steps: String,
}

/// The variable of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// `self`
    New,
    /// `oldSelf`
    Old,
    /// The variable of a macro.
    Variable(String),
}

impl Path {
    /// Returns whether a value can have this path only if it has the other one.
    pub(super) fn needs(&self, other: &Path) -> bool {
        let rest = self.steps.strip_prefix(other.steps.as_str());
        self.root == other.root && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }
}

/// An order of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Equal,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Order {
    /// The order that is true when this one is not; `None` for equality.
    pub(super) fn opposite(self) -> Option<Order> {
        Some(match self {
            Order::Equal => return None,
            Order::Less => Order::AtLeast,
            Order::AtMost => Order::More,
            Order::More => Order::AtMost,
            Order::AtLeast => Order::Less,
        })
    }

    /// The order of the values in the other sequence.
    pub(super) fn turned(self) -> Order {
        match self {
            Order::Equal => Order::Equal,
            Order::Less => Order::More,
            Order::AtMost => Order::AtLeast,
            Order::More => Order::Less,
            Order::AtLeast => Order::AtMost,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Order::Equal => "",
            Order::Less => "less than ",
            Order::AtMost => "at most ",
            Order::More => "more than ",
            Order::AtLeast => "at least ",
        }
    }
}

/// What is claimed of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Claimed {
    /// It exists.
    Set,
    /// It has the value that it had before.
    Unchanged,
    /// A boolean is true.
    True,
    /// A string, list or map has no elements.
    Empty,
    /// It compares to a value.
    Compared(Order, String),
    /// It is one of these values.
    OneOf(Vec<String>),
    /// A list, map or string contains one of these.
    Contains(Vec<String>),
    /// A verb and its object, such as "start" and "with `"a"`".
    Does(&'static str, String),
    /// It is such a thing, such as "a URL".
    A(&'static str),
}

/// A claim, or its opposite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) about: Term,
    pub(super) claimed: Claimed,
    pub(super) is_not: bool,
}

/// Whether a claim is demanded, or is a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    /// "must be"
    Must,
    /// "is"
    Is,
}

impl Claim {
    pub(super) fn is_set(&self) -> bool {
        self.claimed == Claimed::Set && !self.is_not
    }

    pub(super) fn is_unset(&self) -> bool {
        self.claimed == Claimed::Set && self.is_not
    }

    /// Returns whether the claim can only be true if the term exists.
    pub(super) fn needs_term(&self) -> bool {
        let is_equal = matches!(self.claimed, Claimed::OneOf(_) | Claimed::Compared(..) | Claimed::True);
        !self.is_not && (is_equal || self.claimed == Claimed::Set)
            || matches!(&self.claimed, Claimed::Compared(order, _) if *order != Order::Equal)
    }

    pub(super) fn say(&self, mood: Mood) -> String {
        let (name, is_not) = (&self.about.words, self.is_not);
        let be = |rest: &str, is_not: bool| match mood {
            Mood::Must => format!("{name} must {}be {rest}", if is_not { "not " } else { "" }),
            Mood::Is => format!("{name} is {}{rest}", if is_not { "not " } else { "" }),
        };
        let act = |verb: &str, rest: &str| match (mood, is_not) {
            (Mood::Must, false) => format!("{name} must {verb} {rest}"),
            (Mood::Must, true) => format!("{name} must not {verb} {rest}"),
            (Mood::Is, false) => format!("{name} {verb}{} {rest}", if verb.ends_with("ch") { "es" } else { "s" }),
            (Mood::Is, true) => format!("{name} does not {verb} {rest}"),
        };
        match &self.claimed {
            Claimed::Set => be("set", is_not),
            Claimed::Unchanged => match (mood, is_not) {
                (Mood::Must, false) => format!("{name} cannot be changed"),
                (Mood::Must, true) => format!("{name} must change"),
                (Mood::Is, false) => format!("{name} is unchanged"),
                (Mood::Is, true) => format!("{name} changes"),
            },
            Claimed::True => be(if is_not { "false" } else { "true" }, false),
            Claimed::Empty => be("empty", is_not),
            Claimed::Compared(order, value) => match order.opposite().filter(|_| is_not) {
                Some(opposite) => be(&format!("{}{value}", opposite.words()), false),
                None => be(&format!("{}{value}", order.words()), is_not),
            },
            Claimed::OneOf(values) => match values.as_slice() {
                [_] | [_, _] => be(&list(values, "or"), is_not),
                _ => be(&format!("one of {}", list(values, "and")), is_not),
            },
            Claimed::Contains(values) => act("contain", &list(values, "or")),
            Claimed::Does(verb, rest) => act(verb, rest),
            Claimed::A(thing) => be(thing, is_not),
        }
    }
}

/// Returns words in a list: "a, b and c".
pub(super) fn list(words: &[String], last: &str) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}
