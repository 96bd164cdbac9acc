//! Character classes.

use super::{Readers, escape, has_case, hex, visible};
use std::str::Chars;

const LAST: u32 = char::MAX as u32;

/// Reads a class whose opening bracket has been read, and writes it.
pub(super) fn bracket(rest: &mut Chars<'_>, fold: bool, readers: Readers, out: &mut String) -> Option<()> {
    out.push('[');
    if eat(rest, "^") {
        out.push('^');
    }
    let mut first = true;
    loop {
        let text = rest.as_str();
        if text.starts_with(']') && !first {
            rest.next();
            out.push(']');
            return Some(());
        }
        first = false;
        if let Some((name, after)) = text.strip_prefix("[:").and_then(|inner| inner.split_once(":]")) {
            *rest = after.chars();
            let (name, negated) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
            ranges(posix(name)?, negated, fold, out)?;
        } else if text.starts_with("\\p") || text.starts_with("\\P") {
            rest.next();
            unicode(rest, fold, readers, out)?;
        } else if let Some(after) =
            text.strip_prefix('\\').filter(|after| after.starts_with(['d', 'D', 's', 'S', 'w', 'W']))
        {
            let mut after = after.chars();
            match after.next()? {
                'd' => out.push_str("\\d"),
                'D' => out.push_str("\\D"),
                's' => out.push_str("\\t\\n\\f\\r "),
                'S' => ranges(&[(9, 10), (12, 13), (32, 32)], true, false, out)?,
                'w' if fold => out.push_str("\\w\u{17f}\u{212a}"),
                'w' => out.push_str("\\w"),
                _ if fold => return None,
                _ => out.push_str("\\W"),
            }
            *rest = after;
        } else {
            let low = character(rest)?;
            let mut high = low;
            let text = rest.as_str();
            // A - before the closing ] is a literal.
            if text.starts_with('-') && !text.starts_with("-]") {
                rest.next();
                high = character(rest)?;
            }
            if high < low {
                return None;
            }
            range(u32::from(low), u32::from(high), fold, out)?;
        }
    }
}

fn eat(rest: &mut Chars<'_>, prefix: &str) -> bool {
    rest.as_str().strip_prefix(prefix).is_some_and(|after| {
        *rest = after.chars();
        true
    })
}

fn character(rest: &mut Chars<'_>) -> Option<char> {
    match rest.next()? {
        '\\' => escape(rest),
        c => Some(c),
    }
}

/// Writes an ASCII letter in both cases. Two letters have a third form beyond ASCII.
pub(super) fn folded_letter(c: char, out: &mut String) {
    let (lower, upper) = (c.to_ascii_lowercase(), c.to_ascii_uppercase());
    out.push(lower);
    out.push(upper);
    out.push_str(match lower {
        's' => "\u{17f}",
        'k' => "\u{212a}",
        _ => "",
    });
}

fn ranges(ranges: &[(u32, u32)], negated: bool, fold: bool, out: &mut String) -> Option<()> {
    let mut from = 0;
    for (low, high) in ranges {
        if !negated {
            range(*low, *high, fold, out)?;
        } else if from < *low {
            range(from, low - 1, fold, out)?;
        }
        from = high + 1;
    }
    if negated { range(from, LAST, fold, out) } else { Some(()) }
}

fn range(low: u32, high: u32, fold: bool, out: &mut String) -> Option<()> {
    let first = char::from_u32(low)?;
    let last = char::from_u32(high)?;
    if fold && low == high && first.is_ascii_alphabetic() {
        folded_letter(first, out);
        return Some(());
    }
    inside_class(first, out);
    if low != high {
        if low + 1 < high {
            out.push('-');
        }
        inside_class(last, out);
    }
    if !fold {
        return Some(());
    }
    if high >= 0x80 && high != LAST && (low != high || has_case(first)) || low >= 0x80 && low != high {
        return None;
    }
    // The letters of the range in the other case.
    let mut special = [false; 2];
    for (a, z, shift) in [(b'a', b'z', -32i32), (b'A', b'Z', 32)] {
        let (from, to) = (low.max(u32::from(a)), high.min(u32::from(z)));
        if from > to {
            continue;
        }
        let shifted = |n: u32| n.checked_add_signed(shift).and_then(char::from_u32);
        inside_class(shifted(from)?, out);
        if from < to {
            if from + 1 < to {
                out.push('-');
            }
            inside_class(shifted(to)?, out);
        }
        let holds = |c: u8| (from..=to).contains(&u32::from(c)) || (from..=to).contains(&u32::from(c & !32));
        special[0] |= holds(b's');
        special[1] |= holds(b'k');
    }
    if high == LAST {
        // Both third forms are in the range, so their letters are added.
        out.push_str("sSkK");
    } else {
        out.push_str(if special[0] { "\u{17f}" } else { "" });
        out.push_str(if special[1] { "\u{212a}" } else { "" });
    }
    Some(())
}

fn inside_class(c: char, out: &mut String) {
    match c {
        '\\' | ']' | '[' | '^' | '-' => {
            out.push('\\');
            out.push(c);
        }
        // Doubled, they are operators in some engines.
        '&' | '~' => hex(c, out),
        c => visible(c, out),
    }
}

/// Reads `pL`, `p{Greek}` or the like, and writes it.
pub(super) fn unicode(rest: &mut Chars<'_>, fold: bool, readers: Readers, out: &mut String) -> Option<()> {
    let negated = rest.next()? == 'P';
    let text = rest.as_str();
    let (name, after) = match text.strip_prefix('{') {
        Some(inner) => inner.split_once('}')?,
        None => text.split_at(text.chars().next()?.len_utf8()),
    };
    let (name, inverted) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
    if fold {
        return None;
    }
    *rest = after.chars();
    out.push_str(if negated == inverted { "\\p{" } else { "\\P{" });
    if SCRIPTS.contains(&name) {
        // Go has the script name alone, and ECMA does not.
        if readers == Readers::Both {
            return None;
        }
        out.push_str("Script=");
    } else if !CATEGORIES.contains(&name) {
        return None;
    }
    out.push_str(name);
    out.push('}');
    Some(())
}

const CATEGORIES: [&str; 38] = [
    "Any", "C", "Cc", "Cf", "Co", "Cs", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl",
    "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs", "LC",
];

/// Scripts that authors use; both languages have the same names for them.
const SCRIPTS: [&str; 31] = [
    "Arabic",
    "Armenian",
    "Bengali",
    "Common",
    "Cyrillic",
    "Devanagari",
    "Ethiopic",
    "Georgian",
    "Greek",
    "Gujarati",
    "Gurmukhi",
    "Han",
    "Hangul",
    "Hebrew",
    "Hiragana",
    "Inherited",
    "Kannada",
    "Katakana",
    "Khmer",
    "Lao",
    "Latin",
    "Malayalam",
    "Mongolian",
    "Myanmar",
    "Oriya",
    "Sinhala",
    "Tamil",
    "Telugu",
    "Thaana",
    "Thai",
    "Tibetan",
];

fn posix(name: &str) -> Option<&'static [(u32, u32)]> {
    Some(match name {
        "alnum" => &[(48, 57), (65, 90), (97, 122)],
        "alpha" => &[(65, 90), (97, 122)],
        "ascii" => &[(0, 127)],
        "blank" => &[(9, 9), (32, 32)],
        "cntrl" => &[(0, 31), (127, 127)],
        "digit" => &[(48, 57)],
        "graph" => &[(33, 126)],
        "lower" => &[(97, 122)],
        "print" => &[(32, 126)],
        "punct" => &[(33, 47), (58, 64), (91, 96), (123, 126)],
        "space" => &[(9, 13), (32, 32)],
        "upper" => &[(65, 90)],
        "word" => &[(48, 57), (65, 90), (95, 95), (97, 122)],
        "xdigit" => &[(48, 57), (65, 70), (97, 102)],
        _ => return None,
    })
}
