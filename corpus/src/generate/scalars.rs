//! Strings, numbers and free values.

use super::tree::Tree;
use proptest::prelude::*;
use proptest::sample::select;

/// Names and strings that some code treats specially.
const ODD_TEXTS: &[&str] = &[
    "",
    " ",
    "y",
    "n",
    "on",
    "off",
    "yes",
    "No",
    "TRUE",
    "null",
    "~",
    "1",
    "010",
    "1.5",
    "1e3",
    "0x1F",
    "1_000",
    "2001-01-01",
    "<a&b>",
    "a: b",
    "#c",
    "a #c",
    "é",
    "ﬁ",
    "\u{2028}",
    "\u{FFFD}",
    "\u{E000}",
    "😀",
    "\u{10FFFF}",
    "a/b",
    "~0",
    "a.b",
    "a\tb",
    "a\nb\n",
    "a\n\n  b",
    "it's",
    "\"q\"",
    "\\",
    "%",
    "@a",
    "`b",
    "- a",
    "{a}",
    "[a]",
    "a,b",
    "!t",
    "&a",
    "*a",
    "|",
    ">",
    "?",
    ":",
    "-",
    "---",
    "...",
    "=",
    "<<",
    ".inf",
    ".nan",
    "\u{7f}",
    "\u{85}",
    "\u{FEFF}",
    "12:30:45",
    "0o17",
    "+1",
    "-0",
    " x ",
    "a & b < c > d",
    "metadata",
    "kind",
    "\u{1}",
];

/// Numbers and similar scalars, as written.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "5",
    "10",
    "-1",
    "100",
    "1.0",
    "1.5",
    "-0",
    "-0.0",
    "0.1",
    "1e3",
    "1E3",
    "1e21",
    "1e20",
    "1e-6",
    "1e-7",
    "123456789.123456789",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "12345678901234567890123",
    "1e308",
    "4.9e-324",
    "2147483648",
    "0x1F",
    "010",
    "0o17",
    "0b11",
    "1_000",
    "+1",
    ".5",
    "5.",
    "1.",
    "0.30000000000000004",
    "1e400",
    "3.0e0",
    "100000000000000000000",
    "1.7976931348623157e308",
    "6.0221e+23",
];

const SIMPLE_NAMES: &[&str] =
    &["a", "b", "c", "spec", "status", "name", "type", "items", "replicas", "template", "value", "Z", "a1", "fooBar"];

/// Strings without special characters.
pub(super) fn simple_text() -> BoxedStrategy<String> {
    select(SIMPLE_NAMES).prop_map(str::to_owned).boxed()
}

/// Any string.
pub(super) fn text() -> BoxedStrategy<String> {
    prop_oneof![
        6 => simple_text(),
        2 => select(ODD_TEXTS).prop_map(str::to_owned),
        1 => "[ -~]{0,20}",
        1 => "[a-z<>&é😀\u{E000}\u{2028} \n:#'\"]{0,12}",
    ]
    .boxed()
}

/// Names of properties.
pub(super) fn name() -> BoxedStrategy<String> {
    prop_oneof![
        12 => simple_text(),
        2 => select(ODD_TEXTS).prop_map(str::to_owned),
        1 => select(&["apiVersion", "kind", "metadata", "é", "😀", "\u{E000}", "\u{FFFD}"][..]).prop_map(str::to_owned),
    ]
    .boxed()
}

/// Keys of free mappings.
pub(super) fn key() -> BoxedStrategy<String> {
    prop_oneof![4 => simple_text(), 1 => text()].boxed()
}

/// Any number as written.
pub(super) fn number() -> BoxedStrategy<Tree> {
    prop_oneof![
        4 => select(&NUMBERS[..8]).prop_map(Tree::plain),
        2 => select(NUMBERS).prop_map(Tree::plain),
        1 => any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| Tree::Plain(format!("{n:e}"))),
        1 => any::<i64>().prop_map(|n| Tree::Plain(n.to_string())),
        1 => (-1_000_000i32..1_000_000, 0i32..8).prop_map(|(n, e)| Tree::Plain(format!("{}", f64::from(n) / 10f64.powi(e)))),
    ]
    .boxed()
}

/// An integer of 64 bits as the API accepts it; sometimes not.
pub(super) fn integer() -> BoxedStrategy<Tree> {
    prop_oneof![
        12 => (0i64..20).prop_map(|n| Tree::Plain(n.to_string())),
        1 => any::<i64>().prop_map(|n| Tree::Plain(n.to_string())),
    ]
    .boxed()
}

/// Any scalar.
pub(super) fn any_value() -> BoxedStrategy<Tree> {
    prop_oneof![
        4 => text().prop_map(Tree::Text),
        3 => number(),
        1 => any::<bool>().prop_map(Tree::boolean),
        1 => select(&["null", "~", "", "yes", "Off", "2001-01-01", "2001-12-14t21:59:43.10-05:00", ".inf", "-.INF", ".nan", "y", "[]", "{}"][..]).prop_map(Tree::plain),
    ]
    .boxed()
}

/// Values of `default`, `enum` and `example`.
pub(super) fn json() -> BoxedStrategy<Tree> {
    let leaf = prop_oneof![
        3 => text().prop_map(Tree::Text),
        3 => number(),
        1 => any::<bool>().prop_map(Tree::boolean),
        1 => Just(Tree::plain("null")),
        1 => select(&["[]", "{}"][..]).prop_map(Tree::plain),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::Seq),
            prop::collection::vec((key(), inner), 0..4).prop_map(Tree::map),
        ]
    })
    .boxed()
}
