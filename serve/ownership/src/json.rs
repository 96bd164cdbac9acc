//! Results as JSON.

use crate::applies::Apply;
use crate::engine::{Change, ChangeKind};
use crate::hand_over::HandOver;
use crate::name::Name;
use crate::plan::{Plan, Planned};
use crate::proof::CheckResult;
use crate::report::{Field, OwnerOf, Ownership};
use kubeshape_registry::{Conflict, Operation};
use serde_json::{Map, Value as Json, json};

fn object(name: &Name) -> Map<String, Json> {
    let mut out = Map::new();
    let members =
        [("apiVersion", &name.api_version), ("kind", &name.kind), ("namespace", &name.namespace), ("name", &name.name)];
    for (key, text) in members {
        if !text.is_empty() {
            out.insert(key.to_owned(), Json::String(text.clone()));
        }
    }
    out
}

fn owner(owner: &OwnerOf) -> Json {
    json!({
        "manager": owner.manager,
        "operation": owner.operation.as_str(),
        "apiVersion": owner.api_version,
        "subresource": owner.subresource,
        "time": owner.time.as_ref().map(ToString::to_string),
        "tool": owner.tool.id,
        "fields": owner.fields,
    })
}

impl Ownership {
    /// Returns the report as JSON: the members of the object's name, `owners`, `shared`, `stale`, `leftovers`. Owners
    /// of fields are indices of `owners`.
    pub fn to_json(&self) -> Json {
        let fields = |fields: &[Field]| -> Vec<Json> {
            fields.iter().map(|field| json!({"path": field.path, "owners": field.owners})).collect()
        };
        let stale = self
            .stale
            .iter()
            .map(|stale| json!({"owner": stale.owner, "reason": stale.reason.id(), "message": stale.reason.text()}));
        let mut out = object(&self.object);
        out.insert("owners".to_owned(), self.owners.iter().map(owner).collect());
        out.insert("shared".to_owned(), fields(&self.shared).into());
        out.insert("stale".to_owned(), stale.collect());
        out.insert("leftovers".to_owned(), fields(&self.leftovers).into());
        Json::Object(out)
    }
}

fn change(change: &Change) -> Json {
    let kind = match change.kind {
        ChangeKind::Added => "added",
        ChangeKind::Changed => "changed",
        ChangeKind::Removed => "removed",
    };
    let mut out = Map::new();
    out.insert("path".to_owned(), change.path.clone().into());
    out.insert("kind".to_owned(), kind.into());
    for (key, value) in [("before", &change.before), ("after", &change.after)] {
        if let Some(value) = value {
            out.insert(key.to_owned(), value.clone());
        }
    }
    Json::Object(out)
}

fn conflict(conflict: &Conflict) -> Json {
    json!({
        "manager": conflict.manager,
        "operation": conflict.operation.map(Operation::as_str),
        "apiVersion": conflict.api_version,
        "subresource": conflict.subresource,
        "path": conflict.path,
        "message": conflict.message,
        "live": conflict.live,
        "new": conflict.new,
        "place": conflict.location.as_ref().map(ToString::to_string),
        "livePlace": conflict.live_location.as_ref().map(ToString::to_string),
    })
}

impl Planned {
    /// Returns the result for one object as JSON.
    pub fn to_json(&self) -> Json {
        let mut out = object(&self.object);
        let mut put = |key: &str, value: Json| out.insert(key.to_owned(), value);
        put("outcome", self.outcome.word().into());
        if let Some(error) = &self.error {
            put("message", error.to_string().into());
        }
        if let Some(words) = &self.words {
            put("words", words.clone().into());
        }
        put("conflicts", self.conflicts().iter().map(conflict).collect());
        put("changes", self.changes.iter().map(change).collect());
        put("stays", self.kept.iter().map(|kept| json!({"path": kept.path, "owners": kept.owners})).collect());
        put("taken", self.taken.iter().map(conflict).collect());
        let next = self.next.iter().map(|next| {
            json!({"manager": next.manager, "tool": next.tool.id, "conflicts": next.conflicts, "paths": next.paths})
        });
        put("next", next.collect());
        Json::Object(out)
    }
}

impl Plan {
    /// Returns the plan as JSON: `manager`, `succeeds`, `objects`, and if the tool prints something at the end
    /// `failure`.
    pub fn to_json(&self) -> Json {
        let objects: Vec<Json> = self.objects.iter().map(Planned::to_json).collect();
        let mut out = json!({"manager": self.manager, "succeeds": self.succeeds(), "objects": objects});
        if let (Json::Object(out), Some(failure)) = (&mut out, self.failure()) {
            out.insert("failure".to_owned(), failure.into());
        }
        out
    }
}

impl HandOver {
    /// Returns the result as JSON: the members of the object's name, `patch` or `applies`, `moved`, `to`, `proven`,
    /// `checks`.
    pub fn to_json(&self) -> Json {
        let moved = self.moved.iter().map(|moved| {
            json!({"manager": moved.manager, "operation": moved.operation, "subresource": moved.subresource,
                "fields": moved.fields})
        });
        let checks = self.checks.iter().map(|check| {
            let (result, changes, message) = match &check.result {
                CheckResult::Unchanged => ("unchanged", &[][..], None),
                CheckResult::Changes(changes) => ("changes", changes.as_slice(), None),
                CheckResult::Differs(changes) => ("differs", changes.as_slice(), None),
                CheckResult::Refused(message) => ("refused", &[][..], Some(message)),
            };
            json!({"manager": check.manager, "configured": check.configured, "result": result,
                "changes": changes.iter().map(change).collect::<Vec<_>>(), "message": message,
                "regained": check.regained})
        });
        let mut out = object(&self.object);
        let mut put = |key: &str, value: Json| out.insert(key.to_owned(), value);
        if self.applies.is_empty() {
            put("patch", self.operations.clone().into());
        } else {
            let apply =
                |apply: &Apply| json!({"manager": apply.manager, "force": apply.force, "config": apply.config.value()});
            put("applies", self.applies.iter().map(apply).collect());
        }
        put("moved", moved.collect());
        put("to", self.to.clone().into());
        put("proven", self.is_proven().into());
        put("checks", checks.collect());
        Json::Object(out)
    }
}
