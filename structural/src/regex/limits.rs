//! Limits of expressions: nesting, repetition and size.

use super::RegexErrorKind;

/// The maximum depth of nested operators.
const MAX_HEIGHT: u32 = 1000;
/// The maximum product of nested repetition counts.
pub(super) const MAX_REPEAT: u32 = 1000;
/// The maximum number of instructions: 128 MiB at 40 bytes each.
const MAX_SIZE: u64 = (128 << 20) / 40;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Characters, which merge with adjacent characters.
    Literal,
    /// A sequence. It is merged into a surrounding sequence.
    Sequence,
    /// Alternatives. They are merged into surrounding alternatives.
    Alternatives,
    Other,
}

/// Measurements of a part of the expression.
#[derive(Clone, Copy)]
pub(super) struct Part {
    form: Form,
    /// Levels of operators.
    height: u32,
    /// Instructions.
    size: u64,
    /// Largest product of nested repetition counts.
    repeat: u32,
}

impl Part {
    pub(super) const LITERAL: Part = Part { form: Form::Literal, height: 1, size: 1, repeat: 1 };
    /// A class, an assertion, or the empty expression.
    pub(super) const SINGLE: Part = Part { form: Form::Other, height: 1, size: 1, repeat: 1 };

    /// `(part)`
    pub(super) fn captured(self) -> Part {
        Part { form: Form::Other, height: self.height + 1, size: self.size + 2, repeat: self.repeat }
    }

    /// `part*`, `part+` or `part?`
    pub(super) fn starred(self, operator: char) -> Part {
        let more = if operator == '*' { 2 } else { 1 };
        Part { form: Form::Other, height: self.height + 1, size: self.size + more, repeat: self.repeat }
    }

    /// `part{min,max}`; without `max` there is no upper bound.
    pub(super) fn repeated(self, min: u32, max: Option<u32>) -> Part {
        let size = match max {
            None if min == 0 => self.size + 2,
            None => u64::from(min).saturating_mul(self.size) + 1,
            Some(max) => u64::from(max).saturating_mul(self.size) + u64::from(max.saturating_sub(min)),
        };
        let repeat = match max.unwrap_or(min) {
            // A repetition by zero is treated as one.
            0 if max.is_some() => 1,
            count => self.repeat.saturating_mul(count.max(1)),
        };
        Part { form: Form::Other, height: self.height + 1, size: size.max(1), repeat }
    }

    /// The product of nested repetition counts.
    pub(super) fn repeat_product(self) -> u32 {
        self.repeat
    }

    /// Checks the limits.
    pub(super) fn check(self) -> Result<Part, RegexErrorKind> {
        if self.size > MAX_SIZE {
            Err(RegexErrorKind::Large)
        } else if self.height > MAX_HEIGHT {
            Err(RegexErrorKind::NestingDepth)
        } else {
            Ok(self)
        }
    }
}

/// Parts that are being combined in a sequence or as alternatives.
#[derive(Clone, Copy)]
pub(super) struct Group {
    form: Form,
    count: u64,
    /// All parts together. A single part stays as it is.
    sum: Part,
    last_literal: bool,
}

impl Group {
    pub(super) const SEQUENCE: Group =
        Group { form: Form::Sequence, count: 0, sum: Part { size: 0, ..Part::SINGLE }, last_literal: false };
    pub(super) const ALTERNATIVES: Group = Group { form: Form::Alternatives, ..Group::SEQUENCE };

    pub(super) fn add(&mut self, part: Part) {
        let literal = self.form == Form::Sequence && part.form == Form::Literal;
        if self.count == 0 {
            self.sum = part;
            self.count = 1;
        } else if literal && self.last_literal {
            self.sum.size += part.size;
        } else {
            // One part is kept as it is; two make a group, whose height is counted without its own level.
            let inner = |part: Part| if part.form == self.form { part.height - 1 } else { part.height };
            let before = if self.count == 1 { inner(self.sum) } else { self.sum.height };
            self.sum.height = before.max(inner(part));
            self.sum.size = self.sum.size.saturating_add(part.size);
            self.sum.repeat = self.sum.repeat.max(part.repeat);
            self.count += 1;
        }
        self.last_literal = literal;
    }

    pub(super) fn finish(self) -> Part {
        match self.count {
            0 => Part::SINGLE,
            1 => self.sum,
            count => {
                let branches = if self.form == Form::Alternatives { count - 1 } else { 0 };
                let size = self.sum.size.saturating_add(branches);
                Part { form: self.form, height: self.sum.height + 1, size, repeat: self.sum.repeat }
            }
        }
    }
}
