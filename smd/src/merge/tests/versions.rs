//! Managers at several versions.

use super::*;
use std::cell::RefCell;

/// `v1` has a label `one`, which is `two` in `v2`; there are no other versions. Records the requested conversions.
struct Renaming {
    asked: RefCell<Vec<String>>,
    gone: &'static str,
    broken: &'static str,
}

impl Renaming {
    fn new() -> Self {
        Renaming { asked: RefCell::default(), gone: "v0", broken: "none" }
    }
}

impl Converter for Renaming {
    fn convert<'a>(
        &'a self,
        object: TypedValue<'a>,
        version: &str,
        arena: &'a Bump,
    ) -> Result<TypedValue<'a>, ConvertError> {
        let show = object.value().map_or(String::new(), |value| value.to_serde().to_string());
        self.asked.borrow_mut().push(format!("{version} {show}"));
        if version == self.gone {
            return Err(ConvertError::MissingVersion(format!("no {version}")));
        }
        if version == self.broken {
            return Err(ConvertError::Failed(format!("{version} is broken")));
        }
        let (from, to) = if version == "v1" { ("two", "one") } else { ("one", "two") };
        let (Some(Value::Map(root)), Some(Value::Map(labels))) =
            (object.value(), object.value().and_then(|value| value.get("labels")))
        else {
            return Ok(object);
        };
        let Some(label) = labels.get(from) else { return Ok(object) };
        let labels = labels.with(from, None, arena).with(to, Some(label), arena);
        Ok(TypedValue::unvalidated(Some(Value::Map(root.with("labels", Some(Value::Map(labels)), arena))), object.ty()))
    }
}

fn with_versions(converter: Renaming, test: impl FnOnce(&mut Live<'_, Renaming>)) {
    let (types, arena) = (types(SCHEMA), Bump::new());
    let updater = Updater { converter, ignored: Ignored::Nothing, return_input_on_noop: false, emptied: Emptied::Null };
    test(&mut Live::new(&types, &updater, &arena));
}

#[test]
fn fields_are_compared_in_the_version_of_their_manager() {
    with_versions(Renaming::new(), |live| {
        assert_eq!(live.call("m1", "v1", r#"{"labels":{"one":"1"}}"#, Some(false)), Ok(true));
        // The test's object has no version: it is treated as having that of the call.
        live.object = live.typed(r#"{"labels":{"two":"1"}}"#, Duplicates::Refused);
        assert_eq!(
            live.call("m2", "v2", r#"{"labels":{"two":"2"}}"#, Some(false)),
            Err(r#"conflict with "m1": .labels.one"#.into())
        );
    });
}

#[test]
fn what_was_applied_in_another_version_is_pruned_there() {
    with_versions(Renaming::new(), |live| {
        assert_eq!(live.call("m", "v1", r#"{"labels":{"one":"1","k":"v"}}"#, Some(false)), Ok(true));
        live.object = live.typed(r#"{"labels":{"two":"1","k":"v"}}"#, Duplicates::Refused);
        assert_eq!(live.call("m", "v2", r#"{"labels":{"k":"v"}}"#, Some(false)), Ok(true));
        assert_eq!(
            (live.object(), live.owners()),
            (r#"{"labels":{"k":"v"}}"#.into(), vec![r#"m appliedv2 {"f:labels":{"f:k":{}}}"#.into()])
        );
    });
}

#[test]
fn an_object_is_converted_to_a_version_at_most_once() {
    with_versions(Renaming::new(), |live| {
        for manager in ["a", "b", "c"] {
            assert_eq!(live.call(manager, "v1", r#"{"labels":{"one":"1"}}"#, Some(false)), Ok(manager == "a"));
        }
        live.updater.converter.asked.borrow_mut().clear();
        assert_eq!(live.call("u", "v1", r#"{"labels":{"one":"2"}}"#, None), Ok(true));
        assert_eq!(*live.updater.converter.asked.borrow(), [r#"v1 {"labels":{"one":"1"}}"#]);
    });
    with_versions(Renaming::new(), |live| {
        assert_eq!(live.call("u", "v1", r#"{"labels":{"one":"2"}}"#, None), Ok(true));
        assert!(live.updater.converter.asked.borrow().is_empty(), "no manager is at a version");
    });
}

#[test]
fn managers_of_a_removed_version_are_dropped_and_their_fields_stay() {
    with_versions(Renaming::new(), |live| {
        assert_eq!(live.call("old", "v1", r#"{"labels":{"k":"v"}}"#, Some(false)), Ok(true));
        live.managers.retain(|_, fields| {
            fields.api_version = "v0";
            true
        });
        assert_eq!(live.call("old", "v1", r#"{"s":{"x":1}}"#, Some(false)), Ok(true));
        assert_eq!(
            (live.object(), live.owners()),
            (r#"{"labels":{"k":"v"},"s":{"x":1}}"#.into(), vec![r#"old applied {"f:s":{"f:x":{}}}"#.into()])
        );
    });
}

#[test]
fn a_failing_conversion_ends_the_operation() {
    with_versions(Renaming { broken: "v2", ..Renaming::new() }, |live| {
        assert_eq!(live.call("old", "v1", r#"{"labels":{"k":"v"}}"#, Some(false)), Ok(true));
        live.managers.retain(|_, fields| {
            fields.api_version = "v2";
            true
        });
        assert_eq!(live.call("m", "v1", r#"{"s":{"x":1}}"#, Some(false)), Err("v2 is broken".into()));
    });
}

#[test]
fn errors_of_pruning_name_the_step_and_the_version() {
    let error = |step, version: &str, cause| PruneError { step, version: version.to_owned(), cause }.to_string();
    let failed = || PruneCause::Convert(ConvertError::Failed("no".to_owned()));
    assert_eq!(error(PruneStep::Remove, "v1", failed()), "failed to convert merged object to last applied version: no");
    assert_eq!(
        error(PruneStep::OwnedOfPruned, "v2", failed()),
        "failed add back owned items: failed to convert pruned object at version v2: no"
    );
    assert_eq!(
        error(PruneStep::DanglingOfPruned, "v1", failed()),
        "failed add back dangling items: failed to convert pruned object to last applied version: no"
    );
    assert_eq!(error(PruneStep::Return, "v1", failed()), "no");
}
