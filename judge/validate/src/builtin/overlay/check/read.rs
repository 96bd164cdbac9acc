//! Reads rules.

use super::form::Form;
use super::native;
use super::{Condition, Empty, Guard, Rule, Rules, Test};
use crate::Release;
use kubeshape_yaml::Node;

/// Members that every rule may have.
const COMMON: [&str; 11] = ["detail", "empty", "when", "if", "unless", "is", "stop", "since", "until", "at", "value"];

/// Reads the rules of a definition.
pub(in crate::builtin::overlay) fn rules(node: Node<'_>, release: Release, problems: &mut Vec<String>) -> Rules {
    let mut of = |key: &str| node.get(key).map(|node| list(Some(node), release, problems));
    Rules {
        always: of("rules").unwrap_or_default(),
        create: of("create rules").unwrap_or_default(),
        update: of("update rules"),
        status: of("status rules"),
    }
}

fn list(node: Option<Node<'_>>, release: Release, problems: &mut Vec<String>) -> Vec<Rule> {
    node.into_iter().flat_map(Node::items).filter_map(|item| rule(item, release, problems)).collect()
}

fn rule(node: Node<'_>, release: Release, problems: &mut Vec<String>) -> Option<Rule> {
    let minor = |key: &str| node.get(key)?.text().strip_prefix("1.")?.parse::<u8>().ok();
    let is_before = minor("since").is_some_and(|since| release.minor() < since);
    if is_before || minor("until").is_some_and(|until| release.minor() > until) {
        return None;
    }
    let text = |key: &str| node.get(key).map(Node::text);
    let number = |key: &str| node.get(key)?.text().parse::<i64>().ok();
    let size = |key: &str| usize::try_from(number(key)?).ok();
    let texts = |key: &str| node.get(key).into_iter().flat_map(Node::items).map(|item| item.text().to_owned());
    let verb = node.pairs().map(|(key, _)| key.text()).find(|key| !COMMON.contains(key)).unwrap_or_default();
    let target = text(verb).unwrap_or_default();
    let (path, test) = match verb {
        "required" => (target, Some(Test::Required)),
        "forbidden" => (target, Some(Test::Forbidden)),
        "invalid" => (target, Some(Test::Invalid)),
        "immutable" => (target, Some(Test::Immutable)),
        "in" => (target, Some(Test::In)),
        "always" => ("", Some(Test::Always)),
        "skip" => (target, Some(Test::Skip)),
        "enum" => (target, node.get("of").map(|_| Test::Enum(texts("of").collect()))),
        "range" => {
            let (min, max) = (number("min"), number("max"));
            (target, (min.is_some() || max.is_some()).then_some(Test::Range(min, max)))
        }
        "format" => (target, text("as").and_then(Form::named).map(Test::Form)),
        "unique" => (target, Some(Test::Unique(text("key").map(str::to_owned)))),
        "items" => (target, size("most").map(Test::MaxItems)),
        "bytes" => (target, size("most").map(Test::MaxBytes)),
        "one of" => {
            (text("at").unwrap_or_default(), Some(Test::OneOf(texts(verb).collect(), text("none").map(str::to_owned))))
        }
        "by" => (text("at").unwrap_or_default(), native::named(target).map(Test::Native)),
        "warn" => (text("at").unwrap_or_default(), Some(Test::Warn(target.to_owned()))),
        "rules" => (text("at").unwrap_or_default(), Some(Test::Group(list(node.get(verb), release, problems)))),
        _ => ("", None),
    };
    let Some(test) = test else {
        problems.push(format!("a rule without a meaning: {verb}: {target}"));
        return None;
    };
    let empty = match text("empty") {
        None => Empty::Skipped,
        Some("required") => Empty::Required,
        Some("tested") => Empty::Tested,
        Some(other) => {
            problems.push(format!("empty: {other}"));
            Empty::Skipped
        }
    };
    let mut guards = Vec::new();
    if let Some(field) = text("if") {
        guards.push(if node.get("is").is_some() {
            let one = node.get("is").and_then(Node::as_str).map(str::to_owned);
            Guard::Is(split(field), texts("is").chain(one).collect())
        } else {
            Guard::If(split(field))
        });
    }
    guards.extend(text("unless").map(|field| Guard::Unless(split(field))));
    guards.extend(text("when").map(|source| Guard::When(Box::new(Condition::new(source)))));
    let detail = text("detail").map(str::to_owned);
    let native = (verb == "by").then(|| target.to_owned());
    Some(Rule { path: split(path), test, detail, empty, guards, stops: text("stop") == Some("true"), native })
}

/// Splits a path: `a.b[].c` has the parts `a`, `b`, `[]` and `c`.
pub(in crate::builtin::overlay) fn split(path: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let mut rest = part;
        let mut tail = Vec::new();
        while let Some((head, mark)) =
            rest.strip_suffix("[]").map(|head| (head, "[]")).or_else(|| Some((rest.strip_suffix("{}")?, "{}")))
        {
            rest = head;
            tail.push(mark.to_owned());
        }
        if !rest.is_empty() {
            parts.push(rest.to_owned());
        }
        parts.extend(tail.into_iter().rev());
    }
    parts
}
