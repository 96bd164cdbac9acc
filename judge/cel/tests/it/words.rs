//! Rules and their words.

use kubeshape_cel::words;
use proptest::prelude::*;

/// Rules with their words. A rule without words has `-`.
const RULES: &[(&str, &str)] = &[
    // Changes.
    ("self == oldSelf", "The value cannot be changed."),
    ("self.a == oldSelf.a", "`a` cannot be changed."),
    ("oldSelf.a.b == self.a.b", "`a.b` cannot be changed."),
    ("!has(oldSelf.a) || has(self.a)", "`a` cannot be removed once set."),
    ("has(self.a) || !has(oldSelf.a)", "`a` cannot be removed once set."),
    ("has(oldSelf.a) || !has(self.a)", "`a` cannot be added by an update."),
    ("has(self.a) == has(oldSelf.a)", "`a` cannot be added or removed."),
    ("self >= oldSelf", "The value must be at least the old value."),
    ("oldSelf == '' || self == oldSelf", "If the old value is not empty, the value cannot be changed."),
    (
        "self == '' || oldSelf == '' || self == oldSelf",
        "If the old value is not empty, one of these must be true: the value is empty; the value is unchanged.",
    ),
    (
        "!has(oldSelf.uid) || (has(self.uid) && self.uid == oldSelf.uid)",
        "If the old `uid` is set, `uid` must be set and `uid` cannot be changed.",
    ),
    // What is set.
    ("has(self.a)", "`a` must be set."),
    ("!has(self.a)", "`a` must not be set."),
    ("has(self.a) == false || has(self.b)", "If `a` is set, `b` must be set."),
    ("has(self.a) && has(self.b)", "`a` and `b` must be set."),
    ("has(self.a) || has(self.b)", "At least one of `a` and `b` must be set."),
    ("has(self.a) || has(self.b) || has(self.c)", "At least one of `a`, `b` and `c` must be set."),
    ("has(self.a) != has(self.b)", "Exactly one of `a` and `b` must be set."),
    ("has(self.a) == has(self.b)", "`a` and `b` must both be set or both not be set."),
    ("(has(self.a) && !has(self.b)) || (!has(self.a) && has(self.b))", "Exactly one of `a` and `b` must be set."),
    ("!(has(self.a) && has(self.b))", "`a` and `b` cannot both be set."),
    ("!has(self.a) || !has(self.b) || !has(self.c)", "`a`, `b` and `c` cannot all be set."),
    ("[has(self.a), has(self.b)].filter(x, x == true).size() == 1", "Exactly one of `a` and `b` must be set."),
    ("[has(self.a), has(self.b)].exists_one(x, x)", "Exactly one of `a` and `b` must be set."),
    ("(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) <= 1", "At most one of `a` and `b` may be set."),
    ("(self.type == 'A') == has(self.a)", "`a` must be set if `type` is `\"A\"`, and only then."),
    // Comparisons.
    ("self.a__dash__b.min <= self.max", "`a-b.min` must be at most `max`."),
    ("3 > self.a", "`a` must be less than 3."),
    ("!(self.a > 3)", "`a` must be at most 3."),
    ("self.a != self.b", "`a` must not be the same as `b`."),
    ("self.a in ['x', 'y', 'z']", "`a` must be one of `\"x\"`, `\"y\"` and `\"z\"`."),
    ("self.a == 'x' || self.a == 'y'", "`a` must be `\"x\"` or `\"y\"`."),
    ("!self.enabled", "`enabled` must be false."),
    ("self.size() > 0", "The value must not be empty."),
    ("size(self.a) <= 3", "The size of `a` must be at most 3."),
    ("self.a.matches('^[a-z]+$')", "`a` must match the regular expression `^[a-z]+$`."),
    ("!self.startsWith('-')", "The value must not start with `\"-\"`."),
    ("'x' in self.a", "`a` must contain `\"x\"`."),
    ("isURL(self.a)", "`a` must be a URL."),
    ("duration(self.a) >= duration('1s')", "`a` as a duration must be at least the duration `\"1s\"`."),
    ("quantity(self.a).isGreaterThan(quantity('0'))", "`a` as a quantity must be more than the quantity `\"0\"`."),
    // Conditions.
    ("!has(self.a) || self.a > 3", "If `a` is set, `a` must be more than 3."),
    ("self.a != 'x' || !has(self.b)", "If `a` is `\"x\"`, `b` must not be set."),
    ("!(has(self.a) && self.a == 'x') || has(self.b)", "If `a` is `\"x\"`, `b` must be set."),
    ("self.a == 'x' ? has(self.b) : true", "If `a` is `\"x\"`, `b` must be set."),
    (
        "self.a == 'x' ? has(self.b) : !has(self.b)",
        "If `a` is `\"x\"`, `b` must be set; otherwise, `b` must not be set.",
    ),
    (
        "!('*' in self.p || 'Create' in self.p) || has(self.a.b) || (has(self.c) && has(self.c.b))",
        "If `p` contains `\"*\"` or `\"Create\"`, at least one of `a.b` and `c.b` must be set.",
    ),
    ("has(self.a) && (!has(self.b) || self.b > 1)", "`a` must be set. If `b` is set, `b` must be more than 1."),
    ("!has(self.a) || (has(self.a) && self.a.size() > 0)", "If `a` is set, `a` must not be empty."),
    (
        "!((self.a == 'x' || self.a == 'y') && has(self.b)) || self.b == ''",
        "If `a` is `\"x\"` or `\"y\"`, and `b` is set, `b` must be empty.",
    ),
    // Elements.
    ("self.all(x, x.size() > 0)", "For each `x` in the value, `x` must not be empty."),
    ("self.a.all(x, !has(x.b) || x.b > 0)", "For each `x` in `a`, if `x.b` is set, `x.b` must be more than 0."),
    (
        "self.all(x, self.exists_one(y, x.name == y.name))",
        "For each `x` in the value, there must be exactly one `y` in the value for which `x.name` is the same as `y.name`.",
    ),
    (
        "self.filter(f, f.type == 'A').size() <= 1",
        "There must be at most one `f` in the value for which `f.type` is `\"A\"`.",
    ),
    ("!self.exists(f, f == 'a')", "There must be no `f` in the value for which `f` is `\"a\"`."),
    ("self.labels.all(k, self.labels[k] != '')", "For each `k` in `labels`, `labels[k]` must not be empty."),
    // What has no sure words.
    ("true", "-"),
    ("self.a +", "-"),
    ("object.a == 1", "-"),
    ("self.a.orValue(1) > 0", "-"),
    ("self.a == 1 && self.b.format([1]) == ''", "-"),
    ("self.a == 'a`b'", "-"),
    ("self.a == 'a\\nb'", "-"),
    ("self.all(self, self > 1)", "-"),
    ("self.all(x, x.all(x, x > 1))", "-"),
    ("self.all(a, self.a > a)", "-"),
    ("self.all(x, x > 1) || has(self.a)", "-"),
    ("self.x.map(y, y + 1).all(z, z > 0)", "-"),
];

/// The rules of the definitions in `corpus/`, with their words.
const CORPUS: &[(&str, &str)] = &[
    (
        "!(has(self.inherit) && self.inherit) || !has(self.accessKey)",
        "If `inherit` is true, `accessKey` must not be set.",
    ),
    (
        "!(has(self.loadBalancer) && self.loadBalancer.type == 'ConsistentHash') || has(self.loadBalancer.consistentHash)",
        "If `loadBalancer.type` is `\"ConsistentHash\"`, `loadBalancer.consistentHash` must be set.",
    ),
    ("!(has(self.subPath) && has(self.subPathExpr))", "`subPath` and `subPathExpr` cannot both be set."),
    ("!(has(self.value) && has(self.valueFrom))", "`value` and `valueFrom` cannot both be set."),
    (
        "!has(oldSelf.storageClassName) || has(self.storageClassName) && self.storageClassName == oldSelf.storageClassName",
        "If the old `storageClassName` is set, `storageClassName` must be set and `storageClassName` cannot be changed.",
    ),
    (
        "!has(self.bootstrap) || [has(self.bootstrap.init), has(self.bootstrap.restore), has(self.bootstrap.clone)].filter(x, x).size() == 1",
        "If `bootstrap` is set, exactly one of `bootstrap.init`, `bootstrap.restore` and `bootstrap.clone` must be set.",
    ),
    (
        "!has(self.min) || !has(self.max) || self.min <= self.max",
        "If `min` and `max` are set, `min` must be at most `max`.",
    ),
    (
        "!has(self.rateLimit) || self.rateLimit.type != 'Global' || has(self.rateLimit.global)",
        "If `rateLimit.type` is `\"Global\"`, `rateLimit.global` must be set.",
    ),
    (
        "[has(self.exact), has(self.prefix), has(self.regex)].filter(x, x).size() == 1",
        "Exactly one of `exact`, `prefix` and `regex` must be set.",
    ),
    (
        "[has(self.time), has(self.lsn), has(self.name), has(self.transaction)].filter(x, x).size() <= 1",
        "At most one of `time`, `lsn`, `name` and `transaction` may be set.",
    ),
    ("has(self.a)", "`a` must be set."),
    ("has(self.grpc) != has(self.http)", "Exactly one of `grpc` and `http` must be set."),
    ("has(self.http) != has(self.image)", "Exactly one of `http` and `image` must be set."),
    ("has(self.http) != has(self.tcp) || has(self.grpc)", "-"),
    ("has(self.httpStatus) != has(self.grpcStatus)", "Exactly one of `httpStatus` and `grpcStatus` must be set."),
    ("has(self.remoteJWKS) != has(self.localJWKS)", "Exactly one of `remoteJWKS` and `localJWKS` must be set."),
    ("quantity(string(self.size)).compareTo(quantity(string(oldSelf.size))) >= 0", "-"),
    ("self == oldSelf", "The value cannot be changed."),
    ("self > 0", "The value must be more than 0."),
    ("self.a == oldSelf.orValue(self).a && self.a < \"<&>\"", "-"),
    ("self.end > self.start", "`end` must be more than `start`."),
    ("self.engine.version >= oldSelf.engine.version", "`engine.version` must be at least the old `engine.version`."),
    ("self.from < self.to", "`from` must be less than `to`."),
    ("self.instances % 2 == 1 || self.arbiter.enabled", "-"),
    ("self.metadata.name.startsWith('r')", "`metadata.name` must start with `\"r\"`."),
    ("self.numerator <= self.denominator", "`numerator` must be at most `denominator`."),
    (
        "self.provider == 'S3' ? has(self.region) || has(self.endpoint) : true",
        "If `provider` is `\"S3\"`, at least one of `region` and `endpoint` must be set.",
    ),
    (
        "self.targetRefs.all(r, r.group == 'gateway.corpus.example.com')",
        "For each `r` in `targetRefs`, `r.group` must be `\"gateway.corpus.example.com\"`.",
    ),
    ("self.type != 'Literal' || has(self.literal)", "If `type` is `\"Literal\"`, `literal` must be set."),
    (
        "self.type == 'File' ? has(self.file) : has(self.otlp)",
        "If `type` is `\"File\"`, `file` must be set; otherwise, `otlp` must be set.",
    ),
    (
        "self.type == 'Hostname' ? has(self.hostname) && !has(self.uri) : has(self.uri) && !has(self.hostname)",
        "If `type` is `\"Hostname\"`, `hostname` must be set and `uri` must not be set; otherwise, `uri` must be set and `hostname` must not be set.",
    ),
    (
        "self.type == 'Localhost' ? has(self.localhostProfile) : !has(self.localhostProfile)",
        "If `type` is `\"Localhost\"`, `localhostProfile` must be set; otherwise, `localhostProfile` must not be set.",
    ),
    (
        "self.type == 'Value' ? has(self.value) : has(self.range)",
        "If `type` is `\"Value\"`, `value` must be set; otherwise, `range` must be set.",
    ),
    ("size(self.a) > 0", "`a` must not be empty."),
    ("true", "-"),
];

#[test]
fn rules_have_their_words() {
    let mut wrong = Vec::new();
    for (rule, expected) in RULES.iter().chain(CORPUS) {
        let said = words(rule).unwrap_or_else(|| "-".to_owned());
        if said != *expected {
            wrong.push(format!("{rule}\n  expected {expected}\n  found    {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn words_are_bounded_and_deep_rules_have_none() {
    let many = vec!["has(self.abcdefghijklmnopqrstuvwxyz)"; 50].join(" || ");
    assert_eq!(words(&many).as_deref(), Some("`abcdefghijklmnopqrstuvwxyz` must be set."));
    let fields: Vec<String> = (0..100).map(|at| format!("has(self.field{at:04})")).collect();
    assert_eq!(words(&fields.join(" || ")), None);
    assert!(words(&fields[..50].join(" || ")).is_some_and(|said| said.len() < 1_000));
    let mut nested = "has(self.a)".to_owned();
    for at in 0..30 {
        nested = format!("(self.b{at} == {at} ? {nested} : true)");
    }
    assert_eq!(words(&nested), None);
    assert_eq!(words(&format!("{}has(self.a){}", "!(".repeat(30), ")".repeat(30))), None);
    // Each of these macros copies what is before it.
    assert_eq!(words(&format!("self{}.hasValue()", ".optMap(x, x)".repeat(100))), None);
}

proptest! {
    #[test]
    fn words_of_generated_rules_are_bounded_and_the_same(
        rule in r"(!|\(|\)|has\(self\.[ab]\)|self\.[ab]|oldSelf\.a| == | != | && | \|\| | <= |'x'|1|true| \? | : |\.all\(x, |x|\.size\(\)| in ){1,12}"
    ) {
        let said = words(&rule);
        prop_assert_eq!(words(&rule), said.clone());
        if let Some(said) = said {
            prop_assert!(said.len() <= 1_000 && said.ends_with('.') && !said.contains('\n'), "{}", said);
        }
    }
}
