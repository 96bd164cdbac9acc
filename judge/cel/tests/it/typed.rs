//! Values that are not of their declared types: rules see them in objects that nothing has validated yet. The answers
//! and costs are those of apiserver 0.36.

use kubeshape_cel::{Data, Release, RuleEnv, Value};
use kubeshape_schema::read::{Reader, Rules};
use kubeshape_schema::{Bump, Schema};
use kubeshape_yaml::{Limits, Stream, Tape};

const SCHEMA: &str = r"
type: object
properties:
  s: {type: array, items: {type: string}}
  t: {type: array, items: {type: string}}
  set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  set2: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  nset: {type: array, x-kubernetes-list-type: set, items: {type: number}}
  bset: {type: array, x-kubernetes-list-type: set, items: {type: string, format: byte}}
  ints: {type: array, items: {type: integer}}
  m: {type: object, additionalProperties: {type: string}}
  o: {type: object, properties: {name: {type: string}}}
  ml:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [k]
    items: {type: object, properties: {k: {type: string}, v: {type: integer}}}
";

/// A rule, its cost, and its value or error.
const RULES: &[(&str, u64, &str)] = &[
    ("'*' in self.s", 5, "invalid data, expected string, got int64"),
    ("'a' in self.s", 5, "true"),
    ("!('*' in self.s) || has(self.t)", 7, "true"),
    ("'*' in (['b'] + self.s)", 7, "invalid data, expected string, got int64"),
    ("'*' in (self.s + ['b'])", 7, "invalid data, expected string, got int64"),
    ("'*' in (self.s + self.t)", 10, "invalid data, expected string, got int64"),
    ("(self.t + self.s)[1] == 'x'", 8, "true"),
    ("self.s == self.s", 5, "invalid data, expected string, got int64"),
    ("['a', 'b'] == self.s", 3, "false"),
    ("(['a'] + self.s) == ['a', 'a', 'b', 'c']", 4, "invalid data, expected string, got int64"),
    ("['a', 'a', 'b', 'c'] == (['a'] + self.s)", 4, "false"),
    ("self.s.exists(x, x == '*')", 21, "invalid data, expected string, got int64"),
    ("self.s.all(x, x == 'a')", 18, "false"),
    ("self.s[1] == 'a'", 4, "invalid data, expected string, got int64"),
    ("self.s.indexOf('c') == 2", 4, "true"),
    ("self.s.isSorted()", 3, "invalid data, expected string, got int64"),
    ("self.s.max() == 'a'", 4, "invalid data, expected string, got int64"),
    ("self.s.join() == 'a'", 4, "join: invalid input: invalid data, expected string, got int64"),
    ("sets.contains(self.s, ['*'])", 6, "invalid data, expected string, got int64"),
    ("sets.contains(['*'], self.s)", 6, "false"),
    ("sets.intersects(self.s, ['*'])", 6, "false"),
    ("sets.equivalent(self.s, self.s)", 23, "invalid data, expected string, got int64"),
    ("self.s.map(x, x) == ['a']", 43, "invalid data, expected string, got int64"),
    ("self.s.filter(x, x != 'c').size() == 1", 24, "invalid data, expected string, got int64"),
    ("self.s.sort() == ['a']", 32, "list elements must have the same type"),
    ("self.s.distinct() == ['a']", 32, "false"),
    ("self.s.reverse() == ['c', 'b', 'a']", 17, "true"),
    ("'*' in self.s.reverse()", 19, "false"),
    ("self.s.slice(0, 1) == ['a']", 15, "true"),
    ("self.s.slice(1, 2) == ['a']", 15, "true"),
    ("self.set == self.set", 5, "false"),
    ("self.set == self.set2", 5, "false"),
    ("self.set + self.set2 == self.set", 8, "false"),
    ("(self.set2 + self.set)[3] == 'x'", 8, "invalid data, expected string, got *errors.errorString"),
    ("self.nset == self.nset", 5, "false"),
    ("(self.nset + self.nset).size() == 2", 7, "false"),
    ("self.bset == self.bset", 4, "internal error: runtime error: hash of unhashable type []uint8"),
    ("self.bset + self.bset == self.bset", 4, "internal error: runtime error: hash of unhashable type []uint8"),
    ("(self.ints + self.ints)[4] == 1", 8, "invalid data, expected int, got *errors.errorString"),
    ("self.ints.sum() == 3", 6, "invalid data, expected int, got string"),
    ("3 in self.ints", 5, "true"),
    ("'k' in self.m", 3, "false"),
    ("'b' in self.m", 3, "invalid data, expected string, got int64"),
    ("self.m['b'] == 'x'", 4, "invalid data, expected string, got int64"),
    ("self.m.exists(k, self.m[k] == 'zz')", 19, "invalid data, expected string, got int64"),
    ("self.m.all(k, v, v == 'x')", 13, "invalid data, expected string, got int64"),
    ("self.m == self.m", 5, "invalid data, expected string, got int64"),
    ("self.m.size() == 2", 4, "true"),
    ("self.ml == self.ml", 5, "invalid data, expected string, got int64"),
    ("self.ml + self.ml == self.ml", 8, "false"),
    ("self.ml.exists(e, e.k == 'zz')", 23, "invalid data, expected string, got int64"),
    ("self.s.first().value() == 'a'", 5, "true"),
    ("self.s.last().value() == 'c'", 5, "true"),
    ("self.s[?1].orValue('z') == 'z'", 4, "invalid data, expected string, got int64"),
    ("self.m[?'b'].orValue('z') == 'z'", 3, "invalid data, expected string, got int64"),
    ("self.s.transformList(i, x, x) == ['a']", 43, "invalid data, expected string, got int64"),
    ("self.s.transformMap(i, x, x) == {0: 'a'}", 13, "invalid data, expected string, got int64"),
    ("'%s'.format([self.s]) == 'a'", 14, "error during formatting: no formatting function for error"),
    ("self.s.exists_one(x, x == 'a')", 12, "invalid data, expected string, got int64"),
    ("type(self.s[1]) == string", 5, "invalid data, expected string, got int64"),
    ("'*' in self.set", 5, "invalid data, expected string, got int64"),
    ("self.set + self.s == self.s", 8, "false"),
    ("(self.s + self.set)[4] == 'x'", 8, "invalid data, expected string, got *errors.errorString"),
    ("self.bset.exists(b, b == b'a')", 9, "true"),
    ("self.nset + self.nset == self.nset", 8, "false"),
    ("2.5 in self.nset", 4, "true"),
    ("1.0 in self.nset", 4, "true"),
    ("self.nset.indexOf(1.0) == 0", 5, "true"),
    ("(self.ml + self.ml).size() == 6", 7, "false"),
    ("self.ml[0] == self.ml[0]", 7, "true"),
    ("self.ml[1] == self.ml[1]", 7, "invalid data, expected string, got int64"),
    ("{'a': 'x', 'b': 'y'} == self.m", 3, "false"),
    ("self.m == {'a': 'x', 'b': 'y'}", 3, "invalid data, expected string, got int64"),
    ("self.m.map(k, self.m[k]) == ['x', 'y']", 34, "invalid data, expected string, got int64"),
    ("has(self.m.b)", 2, "invalid data, expected string, got int64"),
    ("has(self.m.b) && self.m.b == 'x'", 6, "invalid data, expected string, got int64"),
    ("[self.s[0]] + self.s == ['a', 'a']", 17, "false"),
    ("(['*'] + self.s).exists(x, x == '*')", 13, "true"),
    ("self.ints.min() == 1", 6, "invalid data, expected int, got string"),
    ("self.ints.isSorted()", 5, "invalid data, expected int, got string"),
    ("self.ints.sort() == [1]", 32, "list elements must have the same type"),
    ("[self.s, self.t].flatten() == ['a']", 28, "false"),
    ("[self.s, self.t].exists(l, 'x' in l)", 30, "true"),
    ("self.s in [self.t]", 15, "false"),
    ("self.s in [self.s]", 15, "false"),
    ("self.s != self.s", 5, "true"),
    ("self.s == self.t", 5, "false"),
    ("'a' in self.s.map(x, x)", 43, "invalid data, expected string, got int64"),
    ("optional.of(self.s[1]).hasValue()", 5, "invalid data, expected string, got int64"),
    ("self.t == self.t", 5, "invalid data, expected string, got bool"),
    ("sets.contains(self.s, self.t)", 11, "invalid data, expected string, got bool"),
    ("sets.intersects(self.t, self.s)", 11, "false"),
    ("sets.contains(['a'] + self.s, ['zz'])", 8, "invalid data, expected string, got int64"),
    (
        "self.s.sortBy(x, x) == ['a']",
        44,
        "internal error: interface conversion: *types.Err is not traits.Lister: missing method Add",
    ),
    ("self.ml.map(e, e.v).sum() == 2", 46, "invalid data, expected int, got string"),
    ("self.ml.all(e, e.v > 0)", 20, "invalid data, expected int, got string"),
    ("self.ml.exists(e, e.v == 1)", 13, "true"),
    // The object has a field that the schema does not know.
    ("dyn(self.o).map(k, k).size() == 99", 32, "false"),
    ("dyn(self.o).all(k, k == 'name')", 14, "false"),
    ("dyn(self.o).exists(k, k == null)", 16, "true"),
    ("dyn(self.o).all(k, v, true)", 10, "true"),
    ("dyn(self.o).transformList(k, v, v).size() == 99", 32, "no such overload"),
    ("dyn(self.o).filter(k, k != 'name').size() == 99", 23, "false"),
    (
        "'%s'.format([dyn(self.o)]) == '' || true",
        13,
        "internal error: runtime error: invalid memory address or nil pointer dereference",
    ),
    (
        "self.ml.filter(e, has(e.v)).size() == 3",
        20,
        "invalid data, expected a map for the provided schema with type=object",
    ),
];

fn object() -> Data<'static> {
    let text = |text: &'static str| Data::String(text.into());
    let list = |items: &[Data<'static>]| Data::List(items.to_vec());
    let (a, five, c) = (text("a"), Data::Int(5), text("c"));
    let items = [
        Data::map([("k", text("a")), ("v", Data::Int(1))]),
        Data::map([("k", Data::Int(5)), ("v", text("q"))]),
        Data::Int(3),
    ];
    Data::map([
        ("o", Data::map([("name", text("a")), ("other", text("b"))])),
        ("s", list(&[a.clone(), five.clone(), c.clone()])),
        ("t", list(&[Data::Bool(true), text("x")])),
        ("set", list(&[a.clone(), five.clone(), c.clone()])),
        ("set2", list(&[c, five, a])),
        ("nset", list(&[Data::Int(1), Data::Float(2.5)])),
        ("bset", list(&[text("YQ==")])),
        ("ints", list(&[Data::Int(1), text("x"), Data::Int(3)])),
        ("m", Data::map([("a", text("x")), ("b", Data::Int(7))])),
        ("ml", list(&items)),
    ])
}

fn with_schema(text: &str, test: impl FnOnce(&Schema<'_>)) {
    let mut tape = Tape::new();
    Stream::new(text.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
    let arena = Bump::new();
    test(&Reader::new(&arena, Rules::Crd).schema(tape.document(text).root().unwrap()));
}

#[test]
fn rules_see_values_of_other_types() {
    with_schema(SCHEMA, |schema| {
        let env = RuleEnv::new(schema, true, Release::NEWEST, "selfType1").unwrap();
        let object = object();
        for (source, cost, expected) in RULES {
            let rule = env.rule(source, false).unwrap();
            let outcome = rule.program.evaluate([("self", Value::of_resource(&object, schema))], 1_000_000);
            let result = match outcome.result {
                Ok(Value::Bool(value)) => value.to_string(),
                other => other.unwrap_err(),
            };
            assert_eq!((result.as_str(), outcome.cost), (*expected, *cost), "{source}");
        }
    });
}

#[test]
fn values_outside_the_schema_are_compared_as_go_values() {
    let schema = "{type: object, properties: {u: {x-kubernetes-preserve-unknown-fields: true}}}";
    with_schema(schema, |schema| {
        let env = RuleEnv::new(schema, false, Release::NEWEST, "selfType1").unwrap();
        let rule = env.rule("self == oldSelf", false).unwrap();
        let equal = |a: Data<'static>, b: Data<'static>| {
            let (a, b) = (Data::map([("u", a)]), Data::map([("u", b)]));
            let variables = [("self", Value::of(&a, schema)), ("oldSelf", Value::of(&b, schema))];
            matches!(rule.program.evaluate(variables, 1000).result, Ok(Value::Bool(true)))
        };
        assert!(equal(Data::Int(1), Data::Int(1)));
        assert!(!equal(Data::Int(1), Data::Float(1.0)));
        assert!(!equal(Data::List(vec![Data::Int(1)]), Data::List(vec![Data::Float(1.0)])));
        assert!(equal(Data::List(vec![Data::Int(1)]), Data::List(vec![Data::Int(1)])));
    });
}
