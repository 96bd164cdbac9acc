//! Small objects to test schemas with.

use crate::resources::PUBLISHER;
use kubeshape_schema::Bump;
use kubeshape_schema::field::Path;
use kubeshape_smd::ToValue;
use kubeshape_structural::read::manifests;
use kubeshape_validate::object::Validator;
use kubeshape_yaml::Node;
use serde_json::json;

/// The number of fields of a schema that get values.
const FIELDS: usize = 12;

/// For each version of the definitions of a document, returns whether it accepts objects: each field with a value of
/// each type.
pub(crate) fn verdicts(root: Node<'_>) -> Vec<(String, Vec<bool>)> {
    let values =
        [json!(1), json!("a"), json!(true), json!({}), json!([]), json!([{}]), json!({"a": 1, "b": "b"}), json!(null)];
    let mut out = Vec::new();
    for manifest in manifests(root).0 {
        let arena = Bump::new();
        let Some(crd) = manifest.read(&arena).value else { continue };
        let resource = PUBLISHER.resource(&crd, &arena);
        for version in resource.versions() {
            let Some(schema) = version.schema() else { continue };
            let validator = Validator::new(schema, &arena);
            let mut verdicts = Vec::new();
            for property in schema.properties.iter().take(FIELDS) {
                for value in &values {
                    let object = json!({ property.name: value });
                    verdicts.push(validator.check(object.to_value(&arena), &Path::Root).is_empty());
                }
            }
            out.push((version.version().name.to_owned(), verdicts));
        }
    }
    out
}
