//! Plurals of kinds, as kro forms them (`flect.Pluralize`).

const WORDS: &str = include_str!("plurals.txt");

/// A line of the table about a word.
struct Word<'t> {
    singular: &'t str,
    plural: &'t str,
    other: &'t str,
    is_whole: bool,
    is_oneway: bool,
}

fn words() -> impl DoubleEndedIterator<Item = Word<'static>> {
    lines().filter_map(|line| {
        let mut parts = line.split(' ');
        let (word, plural, other) = (parts.next()?, parts.next()?, parts.next()?);
        let has = |flag: &str| line.split(' ').skip(3).any(|part| part == flag);
        (word != "~").then(|| Word { singular: word, plural, other, is_whole: has("whole"), is_oneway: has("oneway") })
    })
}

/// Returns endings with their plurals: first the words from the last line to the first, then the other endings in
/// order.
fn endings() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_words = words().rev().filter(|word| !word.is_whole).map(|word| (word.singular, word.plural));
    of_words.chain(lines().filter_map(|line| line.strip_prefix("~ ")?.split_once(' ')))
}

fn lines() -> impl DoubleEndedIterator<Item = &'static str> {
    WORDS.lines().filter(|line| !line.starts_with('#'))
}

/// Returns the plural of a word in lower case.
pub(super) fn plural(text: &str) -> String {
    if let Some(word) = words().find(|word| word.singular == text) {
        return word.plural.to_owned();
    }
    if words().any(|word| !word.is_oneway && (word.plural == text || word.other == text)) {
        return text.to_owned();
    }
    for (ending, plural) in endings() {
        if text.ends_with(plural) {
            return text.to_owned();
        }
        if let Some(stem) = text.strip_suffix(ending) {
            return format!("{stem}{plural}");
        }
    }
    if text.ends_with('s') { text.to_owned() } else { format!("{text}s") }
}

#[cfg(test)]
mod tests {
    #[test]
    fn plurals_are_those_of_flect() {
        for (one, several) in [
            ("application", "applications"),
            ("policy", "policies"),
            ("gateway", "gateways"),
            ("cache", "caches"),
            ("index", "indices"),
            ("database", "databases"),
            ("series", "series"),
            ("proxy", "proxies"),
            ("status", "statuses"),
            ("webapps", "webapps"),
            ("mouse", "mice"),
            ("replica", "replicas"),
            ("shelf", "shelves"),
            ("medium", "media"),
            ("box", "boxes"),
            ("quiz", "quizzes"),
            ("hero", "heroes"),
            ("", "s"),
        ] {
            assert_eq!(super::plural(one), several, "{one}");
        }
    }
}
