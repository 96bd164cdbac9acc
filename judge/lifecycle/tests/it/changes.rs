//! Changes between two releases.

use crate::{features, types};
use kubeshape_lifecycle::diff::{Side, diff};
use kubeshape_lifecycle::{Features, Stage, Types};

fn told(old: (&Types, &Features), new: (&Types, &Features)) -> Vec<String> {
    let side = |(types, features), root| Side { types, features, root, release: None };
    let stage = |stage: Option<Stage>| stage.map_or("-", Stage::name);
    diff(side(old, "old/"), side(new, "new"))
        .iter()
        .map(|change| {
            format!(
                "{} {} {} {} -> {}",
                change.kind.name(),
                change.package,
                change.property,
                stage(change.old),
                stage(change.new)
            )
        })
        .collect()
}

#[test]
fn fields_are_compared_by_package_type_and_property() {
    let old = "package v1
type A struct {
	// +featureGate=Moves
	Moves int `json:\"moves\"`
	// +featureGate=Ends
	Ends int `json:\"ends\"`
	// +featureGate=Stays
	Stays int `json:\"stays\"`
	Soon int `json:\"soon\"`
	// +featureGate=Stays
	Gone int `json:\"gone\"`
	// +featureGate=Stays
	Other int `json:\"other\"`
}
";
    let new = "package v1
type A struct {
	// +featureGate=Moves
	Moves int `json:\"moves\"`
	Ends int `json:\"ends\"`
	// +featureGate=Stays
	Stays int `json:\"stays\"`
	// Deprecated: no.
	Soon int `json:\"soon\"`
	// +featureGate=Stays
	Fresh int `json:\"fresh\"`
	// +featureGate=Young
	Other int `json:\"other\"`
}
";
    let before = features(&[("Moves", "1.30=Alpha"), ("Ends", "1.30=Beta"), ("Stays", "1.30=Alpha")]);
    let after = features(&[("Moves", "1.30=Alpha 1.31=Beta"), ("Stays", "1.30=Alpha"), ("Young", "1.31=Alpha")]);
    let (old, new) = (types(&[("old/g/v1/types.go", old)]), types(&[("new/g/v1/types.go", new)]));
    assert_eq!(
        told((&old, &before), (&new, &after)),
        [
            "promoted g/v1 ends beta -> -",
            "added g/v1 fresh - -> alpha",
            "removed g/v1 gone alpha -> -",
            "promoted g/v1 moves alpha -> beta",
            "regated g/v1 other alpha -> alpha",
            "deprecated g/v1 soon - -> deprecated",
        ],
    );
}
