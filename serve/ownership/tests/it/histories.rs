//! The histories in `corpus/ownership`: what the plan predicts is what the apply does, and after the hand-over the same
//! apply succeeds without force, and changes what a forced one would have changed.

use crate::common::{assert_minimal, at, bare, built_in, client_side, merged, patched, write};
use kubeshape_ownership::{Goal, Ownership, Plan, PlanOptions, Style, hand_over};
use kubeshape_registry::{Object, Verb, WriteOptions};
use serde_json::{Value as Json, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Returns the files with histories.
fn files() -> Vec<PathBuf> {
    let folder = kubeshape_corpus::folder().join("ownership");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "yaml"));
    files.sort();
    files
}

fn text<'j>(value: &'j Json, key: &str) -> &'j str {
    value[key].as_str().unwrap_or_default()
}

/// Returns the live object after the steps.
fn after(steps: &[Json]) -> Object {
    let registry = built_in();
    let mut live: Option<Object> = None;
    for (step, request) in steps.iter().enumerate() {
        let options = WriteOptions::new(text(request, "manager"), at(step));
        let options = options.subresource(text(request, "subresource")).force(request["force"] == true);
        let is = |key: &str| !request[key].is_null();
        let new = if is("set") {
            Ok(Object::from(request["set"].clone()))
        } else if is("clientSide") {
            Ok(client_side(registry, live.as_ref(), &Object::from(request["clientSide"].clone()), step))
        } else if is("apply") {
            write(registry, Verb::Apply, live.as_ref(), &Object::from(request["apply"].clone()), &options)
        } else {
            let new = live
                .as_ref()
                .map_or_else(|| Object::from(request["patch"].clone()), |live| merged(live, &request["patch"]));
            write(registry, Verb::Update, live.as_ref(), &new, &options)
        };
        let new = new.unwrap_or_else(|error| panic!("step {step}: {error}"));
        let mut new = new.into_value();
        new["metadata"]["resourceVersion"] = json!(format!("{}", step + 1));
        live = Some(Object::from(new));
    }
    live.expect("a step")
}

fn goal(wanted: &Json, to: &str) -> Goal {
    let strings = |key: &str| -> Vec<String> {
        let list = wanted[key].as_array().cloned().unwrap_or_default();
        list.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let own = |key: &str| wanted[key].as_str().unwrap_or(to).to_owned();
    if wanted["resolve"] == true {
        Goal::Resolve { to: own("to"), from: strings("from") }
    } else if wanted["migrate"] == true {
        Goal::MigrateClientSide { from: strings("from"), to: own("to") }
    } else if wanted["release"] == true {
        Goal::Release { from: strings("from"), fields: strings("fields") }
    } else {
        Goal::Give { from: strings("from"), to: own("to"), fields: strings("fields") }
    }
}

/// Tells the history of a file. The checks that hold for every history are made here.
fn told(history: &Json) -> String {
    let registry = built_in();
    let mut out = String::new();
    let steps = history["steps"].as_array().expect("steps");
    let live = after(steps);
    let next = Object::from(history["next"]["apply"].clone());
    let manager = text(&history["next"], "manager");
    let mut options = PlanOptions::new(manager, at(500));
    if history["next"]["tool"] == "kubectl" {
        options.style = Style::Kubectl;
    }
    options.was_client_side = history["next"]["clientSideRelease"] == true;
    let plan = Plan::new(registry, std::slice::from_ref(&live), std::slice::from_ref(&next), &options);
    let planned = &plan.objects[0];
    // The prediction is what the apply does.
    let plain = WriteOptions::new(manager, at(500));
    if options.style == Style::Helm && !options.was_client_side {
        let applied = registry.apply(Some(&live), &next, &plain);
        assert_eq!(planned.error.as_ref().map(ToString::to_string), applied.err().map(|error| error.to_string()));
    }
    writeln!(out, "{}: {}", planned.object, planned.outcome.word()).unwrap();
    if let Some(words) = planned.words.as_ref() {
        // How kubectl goes on is the same every time.
        writeln!(out, "  {}", words.split("\nPlease review").next().unwrap_or_default()).unwrap();
    }
    for change in &planned.changes {
        writeln!(out, "  {:?} {}", change.kind, change.path).unwrap();
    }
    for kept in &planned.kept {
        writeln!(out, "  stays: {} {:?}", kept.path, kept.owners).unwrap();
    }
    for taken in &planned.taken {
        writeln!(out, "  taken over: {taken}").unwrap();
    }
    for next in &planned.next {
        let does = if next.conflicts { "conflicts" } else { "sets back" };
        writeln!(out, "  next: {} {does} {:?}", next.manager, next.paths).unwrap();
    }
    let report = Ownership::of(&live).expect("owners");
    for stale in &report.stale {
        writeln!(out, "  stale: {} {}", report.owners[stale.owner].manager, stale.reason.id()).unwrap();
    }
    for field in &report.leftovers {
        writeln!(out, "  left over: {}", field.path).unwrap();
    }
    let goal = goal(&history["handOver"], manager);
    let found = match hand_over(registry, &live, Some(&next), &goal, at(600)) {
        Ok(Some(found)) => found,
        Ok(None) => {
            writeln!(out, "hand-over: nothing to do").unwrap();
            return out;
        }
        Err(error) => {
            writeln!(out, "hand-over: {error}").unwrap();
            return out;
        }
    };
    for operation in &found.operations {
        writeln!(out, "hand-over: {operation}").unwrap();
    }
    for check in &found.checks {
        writeln!(out, "  {}: {}", check.manager, if check.is_fine() { "fine" } else { "not fine" }).unwrap();
        if !check.regained.is_empty() {
            writeln!(out, "    owns again: {:?}", check.regained).unwrap();
        }
    }
    assert_minimal(registry, &live, &found, text(history, "history"));
    let handed = patched(registry, &live, &found.operations).expect("the patch is accepted");
    assert_eq!(bare(&handed), bare(&live), "a patch of owners changes nothing else");
    if goal.to() == Some(manager) {
        let applied = registry.apply(Some(&handed), &next, &plain);
        assert_eq!(found.is_proven(), applied.is_ok(), "{applied:?}");
        if let Ok(applied) = applied {
            let changed = registry.compare(&Object::from(bare(&live)), &Object::from(bare(&applied))).unwrap();
            for (word, set) in [("adds", &changed.added), ("changes", &changed.modified), ("removes", &changed.removed)]
            {
                if !set.is_empty() {
                    writeln!(out, "then {manager} {word} {}", set.paths().join(", ")).unwrap();
                }
            }
        }
    }
    out
}

fn read(path: &Path) -> Json {
    let name = path.to_string_lossy().into_owned();
    Object::read(name, std::fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{error:?}")).into_value()
}

#[test]
fn every_history_ends_as_recorded() {
    let files = files();
    assert!(files.len() >= 40, "{}", files.len());
    let mut wrong = Vec::new();
    for path in files {
        let found = told(&read(&path));
        let recorded = path.with_extension("txt");
        let expected = std::fs::read_to_string(&recorded).unwrap_or_default();
        if found != expected {
            if std::env::var_os("UPDATE_EXPECT").is_some() {
                std::fs::write(recorded, found).unwrap();
            } else {
                wrong.push(format!("{}:\n{found}\nexpected:\n{expected}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "with UPDATE_EXPECT=1 the results are recorded:\n{}", wrong.join("\n"));
}
