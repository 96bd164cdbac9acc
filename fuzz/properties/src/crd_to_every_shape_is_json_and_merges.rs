//! If any input is read as a CustomResourceDefinition, every document that is printed for it is JSON without duplicate
//! keys, and its parts merge into the same document in any order.


use crate::resources::{PUBLISHER, resources};
use kubeshape_publish::{MergeV2, MergeV3, Shape, V2Form};

fn json(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).expect("printed documents are JSON")
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    resources(data, |resource| {
        let mut merge = MergeV3::new();
        for version in resource.versions() {
            let (mut v3, mut v2, mut structural, mut notes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            version.v3(&mut v3);
            version.v2(&mut v2);
            version.structural(&mut structural);
            json(&v2);
            json(&structural);
            version.losses(Shape::V3, &mut notes);
            version.losses(Shape::V2, &mut notes);
            version.v2_default_losses(&mut notes);
            let mut alone = MergeV3::new();
            alone.add(resource.crd().name, version.v3_fragments());
            for (_, document) in alone.finish(PUBLISHER.base()) {
                assert_eq!(json(&document.expect("one resource conflicts with none")), json(&v3));
            }
            merge.add(resource.crd().name, version.v3_fragments());
        }
        for (_, document) in merge.finish(PUBLISHER.base()) {
            json(&document.expect("one resource conflicts with none"));
        }
        let mut merge = MergeV2::new();
        merge.add(resource.crd().name, resource.v2_fragments(V2Form::Merged));
        json(&merge.finish(PUBLISHER.base()));
        if let Ok(schema) = resource.smd() {
            let mut out = Vec::new();
            kubeshape_smd::schema::print_json(&schema, &mut out);
            json(&out);
        }
    });
}
