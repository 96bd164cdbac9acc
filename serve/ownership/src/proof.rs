//! Proves a patch by simulation: what the next applies of all managers do after it.

use crate::engine::{self, Change};
use crate::hand_over::Goal;
use crate::value::{managed_fields, with_managed_fields, with_metadata};
use kubeshape_policy::json_patch::json_patch;
use kubeshape_registry::{Error, Locations, Object, Operation, Registry, Time, Verb, WriteOptions};
use kubeshape_smd::managed::{self, entries};
use kubeshape_smd::{Bump, ToValue, Value};
use serde_json::Value as Json;

/// The manager of the simulated patch. It owns nothing afterwards.
const PATCHER: &str = "kubeshape-hand-over";

/// What the next apply of a manager does after the patch.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The manager.
    pub manager: String,
    /// Whether its configuration is given. Otherwise it is what the manager applied last, as far as it is still there;
    /// for the new owner, it is everything that it owns then.
    pub configured: bool,
    /// What happens.
    pub result: CheckResult,
    /// Fields that the manager owns again, because its last configuration still has them.
    pub regained: Vec<String>,
}

/// What an apply does.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckResult {
    /// It succeeds, and changes nothing.
    Unchanged,
    /// It succeeds, and changes what the configuration asks for.
    Changes(Vec<Change>),
    /// It succeeds, but it changes what should stay, or leaves what should go.
    Differs(Vec<Change>),
    /// It is refused.
    Refused(String),
}

impl Check {
    /// Returns whether the apply does what it should.
    pub fn is_fine(&self) -> bool {
        matches!(self.result, CheckResult::Unchanged | CheckResult::Changes(_))
    }
}

/// Patches the live object, and applies everything again.
pub(crate) fn prove(
    registry: &Registry,
    live: &Object,
    config: Option<&Object>,
    goal: &Goal,
    operations: &[Json],
    expected: &Json,
    now: Time,
) -> Result<(Vec<Check>, Object), Error> {
    let arena = Bump::new();
    let before = live.to_value(&arena);
    let options = WriteOptions::new(PATCHER, now);
    let refused = |message: String, code| Error::Refused { message, code };
    let patch: Json = operations.into();
    let patched = json_patch(before, patch.to_value(&arena), &arena).map_err(|e| refused(e.message, e.code))?;
    let nowhere = Locations::default();
    let after = engine::write(registry, Verb::Update, Some(before), patched, &options, nowhere, &arena)?;
    if !is_as_expected(registry, after, expected, &arena) {
        // The server reads the list as the patch meant it, or the patch is wrong.
        return Err(refused("the patch does not lead to the owners that it should".to_owned(), 500));
    }
    let checks = next_applies(registry, (before, after), config, goal, now, &arena)?;
    Ok((checks, Object::of(after)))
}

/// Applies everything again: `after` is the object after the hand-over of `before`.
pub(crate) fn next_applies<'a>(
    registry: &'a Registry,
    (before, after): (Value<'a>, Value<'a>),
    config: Option<&Object>,
    goal: &Goal,
    now: Time,
    arena: &'a Bump,
) -> Result<Vec<Check>, Error> {
    let nowhere = Locations::default();
    let mut checks = Vec::new();
    for owner in appliers(registry, after, arena) {
        let (manager, version) = (owner.0.as_str(), owner.1.as_str());
        let configured = config.filter(|_| goal.to() == Some(manager));
        let next = if let Some(config) = configured {
            Some(config.to_value(arena).copy_into(arena))
        } else {
            // The new owner is expected to set what it gets. The others set what they set before.
            let source = if goal.to() == Some(manager) { after } else { before };
            engine::last_of(registry, source, manager, version, arena)
        };
        let Some(next) = next else { continue };
        let options = WriteOptions::new(manager, now);
        let applied = engine::write(registry, Verb::Apply, Some(after), next, &options, nowhere, arena);
        let result = match applied {
            Err(error) => CheckResult::Refused(error.to_string()),
            Ok(applied) if configured.is_some() => {
                // A forced apply of the object as it was sets the same values. What differs was left over there.
                let forced = options.clone().force(true);
                let forced = engine::write(registry, Verb::Apply, Some(before), next, &forced, nowhere, arena)?;
                let differing = engine::changes(registry, Some(forced), applied, arena);
                let goes = |change: &Change| change.after.as_ref().is_none_or(Json::is_null);
                let wrong = !differing.iter().all(goes);
                let changes = engine::changes(registry, Some(before), applied, arena);
                match (wrong, changes.is_empty()) {
                    (true, _) => CheckResult::Differs(differing),
                    (false, true) => CheckResult::Unchanged,
                    (false, false) => CheckResult::Changes(changes),
                }
            }
            Ok(applied) => {
                let changes = engine::changes(registry, Some(after), applied, arena);
                if changes.is_empty() { CheckResult::Unchanged } else { CheckResult::Differs(changes) }
            }
        };
        let regained = match (configured, goal) {
            (None, Goal::Give { .. } | Goal::Release { .. } | Goal::Resolve { .. }) if goal.to() != Some(manager) => {
                regained(registry, after, next, manager, arena)
            }
            _ => Vec::new(),
        };
        checks.push(Check { manager: manager.to_owned(), configured: configured.is_some(), result, regained });
    }
    // An owner that gave everything away is no longer there, but may apply again.
    checks.extend(gone(registry, before, after, now, arena));
    Ok(checks)
}

/// Returns the managers that apply the object, with the version of their entries.
fn appliers(registry: &Registry, object: Value<'_>, arena: &Bump) -> Vec<(String, String)> {
    let list = managed_fields(object);
    let Ok(managed) = entries::decode_as(list, registry.settings().compat, arena) else { return Vec::new() };
    let ownership = managed::Ownership::new(&managed);
    let all = ownership.all().iter().map(|(owner, _)| owner);
    let applied = all.filter(|owner| owner.operation == Operation::Apply && owner.subresource.is_empty());
    applied.map(|owner| (owner.manager.to_owned(), owner.api_version.to_owned())).collect()
}

/// Applies again what managers applied that own nothing any more.
fn gone<'a>(registry: &'a Registry, before: Value<'a>, after: Value<'a>, now: Time, arena: &'a Bump) -> Vec<Check> {
    let left = appliers(registry, after, arena);
    let mut out = Vec::new();
    for (manager, version) in appliers(registry, before, arena) {
        if left.iter().any(|(name, _)| *name == manager) {
            continue;
        }
        let Some(next) = engine::last_of(registry, before, &manager, &version, arena) else { continue };
        let options = WriteOptions::new(manager.as_str(), now);
        let nowhere = Locations::default();
        let result = match engine::write(registry, Verb::Apply, Some(after), next, &options, nowhere, arena) {
            Err(error) => CheckResult::Refused(error.to_string()),
            Ok(applied) => {
                let changes = engine::changes(registry, Some(after), applied, arena);
                if changes.is_empty() { CheckResult::Unchanged } else { CheckResult::Differs(changes) }
            }
        };
        let regained = regained(registry, after, next, &manager, arena);
        out.push(Check { manager, configured: false, result, regained });
    }
    out
}

/// Returns the fields of a configuration that its manager does not own.
fn regained(registry: &Registry, after: Value<'_>, config: Value<'_>, manager: &str, arena: &Bump) -> Vec<String> {
    let (after, config) = (after.copy_into(arena), config.copy_into(arena));
    let bare = with_managed_fields(config, None, arena);
    let bare = with_metadata(with_metadata(bare, "name", None, arena), "namespace", None, arena);
    let Some(set) = crate::report::fields_of(registry, bare, arena) else { return Vec::new() };
    let Ok(managed) = entries::decode_as(managed_fields(after), registry.settings().compat, arena) else {
        return Vec::new();
    };
    let ownership = managed::Ownership::new(&managed);
    let own = ownership.all().iter().find(|(owner, _)| {
        owner.manager == manager && owner.operation == Operation::Apply && owner.subresource.is_empty()
    });
    let own = own.map_or(kubeshape_smd::fieldpath::Set::EMPTY, |(_, set)| *set);
    let lost = set.difference(own, arena);
    let paths = crate::value::leaves(lost, arena);
    paths.into_iter().filter(|path| !matches!(path.as_str(), ".apiVersion" | ".kind" | ".metadata")).collect()
}

/// Returns whether an object has the owners of a list.
fn is_as_expected(registry: &Registry, object: Value<'_>, expected: &Json, arena: &Bump) -> bool {
    let compat = registry.settings().compat;
    let expected = expected.to_value(arena).copy_into(arena);
    let found = entries::decode_as(managed_fields(object), compat, arena);
    let (Ok(found), Ok(expected)) = (found, entries::decode_as(Some(expected), compat, arena)) else { return false };
    let mut all = found.fields.iter().zip(expected.fields.iter());
    found.fields.len() == expected.fields.len()
        && all.all(|((a, left), (b, right))| a == b && left.set == right.set && left.api_version == right.api_version)
}
