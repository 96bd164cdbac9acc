//! Names of character classes.

/// Names within `[:…:]`.
pub(super) fn is_posix(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
        "word", "xdigit",
    ];
    NAMES.binary_search(&name).is_ok()
}

/// Returns whether a name is one within `\p{…}`: categories, their long names, and scripts. Go ignores case, blanks,
/// `-` and `_` in the name that it looks up, so it does not find scripts whose names in its tables have an underscore.
pub(super) fn is_unicode(name: &str) -> bool {
    let mut plain = [0; LONGEST];
    let mut length = 0;
    for byte in name.bytes().filter(|b| !matches!(b, b'_' | b'-' | b' ')) {
        match plain.get_mut(length) {
            Some(slot) => *slot = byte.to_ascii_lowercase(),
            None => return false,
        }
        length += 1;
    }
    UNICODE.binary_search_by(|known| known.as_bytes().cmp(&plain[..length])).is_ok()
}

const LONGEST: usize = 20;

/// The names that Go 1.26 knows (Unicode 15), in lower case, without blanks, sorted.
#[rustfmt::skip]
const UNICODE: [&str; 200] = [
    "adlam", "ahom", "any", "arabic", "armenian", "ascii", "assigned", "avestan", "balinese", "bamum",
    "batak", "bengali", "bhaiksuki", "bopomofo", "brahmi", "braille", "buginese", "buhid", "c", "carian",
    "casedletter", "cc", "cf", "chakma", "cham", "cherokee", "chorasmian", "closepunctuation", "cn", "cntrl",
    "co", "combiningmark", "common", "connectorpunctuation", "control", "coptic", "cs", "cuneiform",
    "currencysymbol", "cypriot", "cyrillic", "dashpunctuation", "decimalnumber", "deseret", "devanagari",
    "digit", "dogra", "duployan", "elbasan", "elymaic", "enclosingmark", "ethiopic", "finalpunctuation",
    "format", "georgian", "glagolitic", "gothic", "grantha", "greek", "gujarati", "gurmukhi", "han", "hangul",
    "hanunoo", "hatran", "hebrew", "hiragana", "inherited", "initialpunctuation", "javanese", "kaithi",
    "kannada", "katakana", "kawi", "kharoshthi", "khmer", "khojki", "khudawadi", "l", "lao", "latin", "lc",
    "lepcha", "letter", "letternumber", "limbu", "lineseparator", "lisu", "ll", "lm", "lo", "lowercaseletter",
    "lt", "lu", "lycian", "lydian", "m", "mahajani", "makasar", "malayalam", "mandaic", "manichaean",
    "marchen", "mark", "mathsymbol", "mc", "me", "medefaidrin", "miao", "mn", "modi", "modifierletter",
    "modifiersymbol", "mongolian", "mro", "multani", "myanmar", "n", "nabataean", "nandinagari", "nd", "newa",
    "nko", "nl", "no", "nonspacingmark", "number", "nushu", "ogham", "openpunctuation", "oriya", "osage",
    "osmanya", "other", "otherletter", "othernumber", "otherpunctuation", "othersymbol", "p", "palmyrene",
    "paragraphseparator", "pc", "pd", "pe", "pf", "phoenician", "pi", "po", "privateuse", "ps", "punct",
    "punctuation", "rejang", "runic", "s", "samaritan", "saurashtra", "sc", "separator", "sharada", "shavian",
    "siddham", "sinhala", "sk", "sm", "so", "sogdian", "soyombo", "spaceseparator", "spacingmark",
    "sundanese", "surrogate", "symbol", "syriac", "tagalog", "tagbanwa", "takri", "tamil", "tangsa", "tangut",
    "telugu", "thaana", "thai", "tibetan", "tifinagh", "tirhuta", "titlecaseletter", "toto", "ugaritic",
    "unassigned", "uppercaseletter", "vai", "vithkuqi", "wancho", "yezidi", "yi", "z", "zl", "zp", "zs",
];

#[cfg(test)]
mod tests {
    use super::{LONGEST, UNICODE, is_unicode};

    #[test]
    fn the_table_is_sorted_and_fits() {
        assert!(UNICODE.is_sorted());
        assert!(UNICODE.iter().all(|name| name.len() <= LONGEST));
    }

    #[test]
    fn case_and_separators_are_ignored() {
        assert!(is_unicode("greek") && is_unicode("_L u") && is_unicode("Uppercase-Letter"));
        assert!(!is_unicode("") && !is_unicode("Linear_A") && !is_unicode("^Lu"));
    }
}
