//! The owners of a field, if a live object of the same name is at hand.

use super::{Server, files};
use kubeshape_language::{Live, Named, Step};
use kubeshape_ownership::{self as ownership, FieldOwner, OTHER};
use kubeshape_registry::Object;
use lsp_types::Position;

impl Server {
    /// Returns the owners of the field at a position, one per string.
    pub(super) fn owners(&self, uri: &str, position: Position) -> Vec<String> {
        let Some(live) = self.workspace.live(uri, position) else { return Vec::new() };
        let text = match self.workspace.file(&live.uri) {
            Some(file) => Some(file.text().as_str().to_owned()),
            None => files::text(&live.uri),
        };
        text.and_then(|text| of(&live, &text)).unwrap_or_default()
    }
}

/// Returns the owners of a field. `text` is the file with the live object.
fn of(live: &Live, text: &str) -> Option<Vec<String>> {
    let object = find(text, &live.named, true)?;
    let manifest = find(&live.text, &live.named, false)?;
    let steps = live.steps.iter().map(|step| match step {
        Step::Key(name) => ownership::Step::Member(name),
        Step::Index(number) => ownership::Step::Item(*number),
    });
    let owners = ownership::owners_at(&object, &manifest, &steps.collect::<Vec<_>>()).ok()?;
    Some(owners.iter().map(described).collect())
}

/// Returns the object of a name. A live one has managed fields.
fn find(text: &str, named: &Named, is_live: bool) -> Option<Object> {
    let (objects, _) = Object::read_all("", text);
    objects.into_iter().find(|object| {
        let (group, kind, namespace, name) = object.identity();
        let own = Named {
            kind: kind.to_owned(),
            group: Some(group.to_owned()),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..named.clone()
        };
        let has_fields = object.value()["metadata"].get("managedFields").is_some();
        named.is_same(&own) && (has_fields || !is_live)
    })
}

/// Returns an owner: `helm (Apply, Helm)`.
fn described(owner: &FieldOwner) -> String {
    let mut about = vec![owner.operation.to_string()];
    if !owner.subresource.is_empty() {
        about.push(owner.subresource.clone());
    }
    if owner.tool.id != OTHER.id {
        about.push(owner.tool.name.to_owned());
    }
    format!("{} ({})", owner.manager, about.join(", "))
}
