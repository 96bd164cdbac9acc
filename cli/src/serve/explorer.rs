//! The web application that browsers get.

use kubeshape_js::Session;
use kubeshape_server::{Pages, View, Views};
use std::sync::Arc;

/// Returns the application, with views of the kinds of the server.
pub(super) fn pages() -> Pages {
    let files = kubeshape_explorer::FILES.iter().map(|file| (file.path, file.content_type, file.bytes));
    Pages::new(files).with_views(Arc::new(Kinds))
}

/// Computes views as `kubeshape explore` does for a site. A document is read for each view: nothing is kept.
#[derive(Debug)]
struct Kinds;

impl Views for Kinds {
    fn view(&self, name: &str, document: &[u8], api_version: &str, kind: &str, view: View) -> Option<Vec<u8>> {
        let mut session = Session::default();
        session.set(name, document);
        let tree = session.tree(api_version, kind);
        if tree.get("error").is_some() {
            return None;
        }
        let made = match view {
            View::Tree => tree,
            View::Fields => session.all_fields(api_version, kind),
        };
        Some(made.to_string().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn views_are_those_of_a_site() {
        let schema = r#"{"type":"object","properties":{"size":{"type":"integer"}},
            "x-kubernetes-group-version-kind":[{"group":"a.b","version":"v1","kind":"Tab"}]}"#;
        let list = r#"{"x-kubernetes-action":"list","responses":{},
            "x-kubernetes-group-version-kind":{"group":"a.b","version":"v1","kind":"Tab"}}"#;
        let document = format!(
            r#"{{"openapi":"3.0.0","info":{{"title":"t","version":"1"}},"paths":{{"/apis/a.b/v1/tabs":{{"get":{list}}}}},
                "components":{{"schemas":{{"b.a.v1.Tab":{schema}}}}}}}"#
        );
        let view = |kind, view| {
            let text = Kinds.view("apis/a.b/v1", document.as_bytes(), "a.b/v1", kind, view)?;
            serde_json::from_slice::<Value>(&text).ok()
        };
        assert_eq!(view("Tab", View::Tree).map(|tree| tree["names"].clone()), Some(serde_json::json!(["size"])));
        assert_eq!(view("Tab", View::Fields).map(|all| all[0]["type"].clone()), Some("integer".into()));
        assert_eq!(view("None", View::Tree), None);
        assert_eq!(view("None", View::Fields), None);
    }
}
