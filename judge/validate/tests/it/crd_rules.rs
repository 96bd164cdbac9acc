//! Rules of definitions: which compile, what they cost, and the bounds that lower the cost.

use crate::crd::{TAB, create, update, with};
use kubeshape_validate::Release;
use kubeshape_validate::crd::{self, Bound, Keyword};
use proptest::prelude::*;

/// Returns a definition whose field `size` has this schema.
fn sized(schema: &str) -> String {
    TAB.replace("{type: integer, maximum: 3}", schema)
}

fn release(minor: u8) -> Release {
    Release::new(minor).unwrap()
}

fn has(errors: &[String], expected: &str) -> bool {
    errors.iter().any(|error| error.contains(expected))
}

#[test]
fn a_rule_is_checked_against_the_type_of_its_schema() {
    let source = sized("{type: integer, x-kubernetes-validations: [{rule: self.size() > 1}]}");
    let errors = create(&source, Release::DEFAULT);
    assert_eq!(errors.len(), 1);
    assert!(has(&errors, "found no matching overload for 'size' applied to 'int.()'"), "{errors:?}");
    let source = sized("{type: integer, x-kubernetes-validations: [{rule: self > 1, messageExpression: '1'}]}");
    assert!(has(&create(&source, Release::DEFAULT), "messageExpression must evaluate to a string"));
}

#[test]
fn the_old_value_is_known_if_it_can_be_correlated() {
    let list = "{type: array, maxItems: 5, items: {type: string, maxLength: 5, x-kubernetes-validations: \
                [{rule: self == oldSelf}]}}";
    let expected = "oldSelf cannot be used on the uncorrelatable portion of the schema within";
    assert!(has(&create(&sized(list), Release::DEFAULT), expected));
    let value = "{type: string, maxLength: 5, x-kubernetes-validations: [{rule: self != '', optionalOldSelf: true}]}";
    assert!(has(&create(&sized(value), Release::DEFAULT), "may not be set if oldSelf is not used in rule"));
}

#[test]
fn functions_are_new_for_one_release() {
    let source = sized("{type: string, maxLength: 20, x-kubernetes-validations: [{rule: isIP(self)}]}");
    assert!(has(&create(&source, release(30)), "undeclared reference to 'isIP'"));
    assert_eq!(create(&source, release(31)), [""; 0]);
}

#[test]
fn a_default_must_obey_the_rules() {
    let source = sized("{type: integer, default: 1, x-kubernetes-validations: [{rule: self > 1, message: too small}]}");
    let errors = create(&source, Release::DEFAULT);
    assert!(has(&errors, ".properties[size].default: Invalid value: 1: too small"), "{errors:?}");
}

#[test]
fn expensive_rules_are_refused_unless_they_existed() {
    let source = sized("{type: array, items: {type: string, x-kubernetes-validations: [{rule: self.contains('x')}]}}");
    let errors = create(&source, Release::DEFAULT);
    assert!(has(&errors, "estimated rule cost exceeds budget by factor of more than 100x"), "{errors:?}");
    assert!(has(&errors, "contributed to estimated rule cost total"));
    let kept = update(&source, &source);
    assert!(!has(&kept, "estimated rule cost exceeds"), "{kept:?}");
}

fn diagnose(source: &str) -> Vec<crd::Diagnosis> {
    with(source, |definition, arena| {
        crd::diagnose_costs(&definition.prepare_for_create(Release::DEFAULT, arena), Release::DEFAULT)
    })
}

#[test]
fn the_missing_bound_is_named() {
    let source = sized("{type: array, items: {type: string, x-kubernetes-validations: [{rule: self.contains('x')}]}}");
    let found = diagnose(&source);
    let driver = found[0].expensive[0].driver.as_ref().unwrap();
    let last = driver.path.rsplit('.').next();
    assert!(matches!(last, Some("properties[size]" | "items")), "{driver:?}");
    assert_eq!(diagnose(TAB), []);
}

#[test]
fn no_bounds_are_searched_for_if_there_is_too_much_to_try() {
    // Each field can have a bound, and each bound changes the cost of the whole rule.
    let definition = |fields: usize| {
        let names: Vec<String> = (0..fields).map(|number| format!("field{number}")).collect();
        let rule: Vec<String> = names.iter().map(|name| format!("self.{name}.contains('x')")).collect();
        let properties: Vec<String> = names.iter().map(|name| format!("{name}: {{type: string}}")).collect();
        sized(&format!(
            "{{type: array, items: {{type: object, x-kubernetes-validations: [{{rule: \"{}\"}}], properties: {{{}}}}}}}",
            rule.join(" && "),
            properties.join(", "),
        ))
    };
    assert!(diagnose(&definition(20))[0].bounds.is_some());
    let large = &diagnose(&definition(400))[0];
    assert_eq!(large.expensive.len(), 1);
    assert_eq!(large.bounds, None);
}

/// Nested lists, each with a bound or without, around a string with a rule.
#[derive(Clone, Debug)]
struct Nested {
    lists: Vec<Option<i64>>,
    text: Option<i64>,
    rule: &'static str,
}

impl Nested {
    fn source(&self, bounds: &[&Bound]) -> String {
        let bound = |level: usize, keyword: Keyword, own: Option<i64>| {
            let proposed = bounds
                .iter()
                .find(|bound| bound.path.matches(".items").count() == level && bound.keyword == keyword)
                .map(|bound| bound.value);
            let value = proposed.or(own);
            value.map(|value| format!(", {}: {value}", keyword.name())).unwrap_or_default()
        };
        let text = bound(self.lists.len(), Keyword::MaxLength, self.text);
        let rules = format!("x-kubernetes-validations: [{{rule: \"{}\"}}]", self.rule);
        let mut schema = format!("{{type: string{text}, {rules}}}");
        for (level, own) in self.lists.iter().enumerate().rev() {
            schema = format!("{{type: array{}, items: {schema}}}", bound(level, Keyword::MaxItems, *own));
        }
        sized(&schema)
    }

    fn is_over(&self, bounds: &[&Bound]) -> bool {
        has(&create(&self.source(bounds), Release::DEFAULT), "exceeds budget")
    }
}

fn nested() -> impl Strategy<Value = Nested> {
    let bound = || prop::option::weighted(0.3, prop::sample::select(vec![2i64, 30, 1000, 100_000]));
    let rules = ["self.contains('x')", "self == 'x'", "self.matches('^(a|b)+$')", "self.split('').all(x, x != self)"];
    (prop::collection::vec(bound(), 0..4), bound(), prop::sample::select(rules.to_vec()))
        .prop_map(|(lists, text, rule)| Nested { lists, text, rule })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn proposed_bounds_suffice_and_are_all_needed(nested in nested()) {
        let found = diagnose(&nested.source(&[]));
        prop_assert_eq!(!found.is_empty(), nested.is_over(&[]));
        for diagnosis in &found {
            let bounds: Vec<&Bound> = diagnosis.bounds.iter().flatten().collect();
            prop_assert!(!bounds.is_empty());
            prop_assert!(!nested.is_over(&bounds));
            for spare in 0..bounds.len() {
                let mut fewer = bounds.clone();
                fewer.remove(spare);
                prop_assert!(nested.is_over(&fewer), "{:?} is spare", bounds[spare]);
            }
        }
    }
}
