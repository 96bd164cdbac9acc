//! The defaults of the overlay as defaults of schemas.

use super::super::{Action, Step};
use super::Work;
use super::edit::{is_zero, set};
use kubeshape_schema::Code;
use kubeshape_value::{Map, Value};

impl<'a> Work<'a> {
    /// Adds defaults. One that depends on other fields is unsaid, and so are all others of its field.
    pub(super) fn defaults(&mut self, definition: &'a str, steps: &[Step]) {
        let depends = |step: &Step| step.when.is_some() || !matches!(step.action, Action::To(_));
        let mut done: Vec<&[String]> = Vec::new();
        for step in steps.iter().filter(|step| !matches!(step.action, Action::Drop | Action::Keep)) {
            let others = steps.iter().any(|other| depends(other) && other.path == step.path);
            let place = self.schemas.owner(definition, &step.path);
            match (&step.action, place) {
                (Action::To(value), Some((owner, field))) if !others => {
                    self.parents(definition, &step.path);
                    let (value, arena) = (value.value(self.arena), self.arena);
                    let field = [field.to_owned()];
                    self.schemas.edit(owner, &field, |schema| {
                        let is_free = schema.get("default").is_none_or(is_zero);
                        if is_free { set(schema, "default", value, arena) } else { schema }
                    });
                }
                _ if done.contains(&step.path.as_slice()) || !self.has(definition, &step.path) => {}
                _ => {
                    done.push(&step.path);
                    self.unsaid(definition, Code::DefaultUnsaid, detail(step));
                }
            }
        }
    }

    /// Returns whether the document has the first field of a path.
    fn has(&self, definition: &str, path: &[String]) -> bool {
        path.first().is_none_or(|first| self.schemas.has(definition, first))
    }

    /// Gives the objects above a default a default of their own: Go code creates them.
    fn parents(&mut self, definition: &'a str, path: &[String]) {
        let arena = self.arena;
        for end in 2..path.len() {
            let above = path.get(..end).unwrap_or_default();
            if let Some((owner, field)) = self.schemas.owner(definition, above) {
                let field = [field.to_owned()];
                self.schemas.edit(owner, &field, |schema| match schema.get("default") {
                    Some(_) => schema,
                    None => set(schema, "default", Value::Map(Map::EMPTY), arena),
                });
            }
        }
    }
}

fn detail(step: &Step) -> String {
    let path = step.path.join(".");
    match (&step.action, &step.when) {
        (Action::From(source), _) => format!("`{path}` gets the value of `{}`", source.join(".")),
        (Action::By(_), _) if path.is_empty() => "several fields get their values from Go code".to_owned(),
        (Action::By(_), _) => format!("`{path}` gets its value from Go code"),
        (_, Some(condition)) => format!("`{path}` has a default if {}", condition.source),
        _ => format!("`{path}` has a default here, and not everywhere"),
    }
}
