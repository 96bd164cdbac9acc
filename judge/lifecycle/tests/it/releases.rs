//! Fields of two releases of Kubernetes. The expectations were read from their sources.

use crate::go_sources;
use kubeshape_corpus::folder_named_by;
use kubeshape_lifecycle::{Features, Options, Types, fields};
use std::path::Path;

/// Package, type, property, stage, minVersion and gates. A hyphen means none.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

const V1_34: [Row; 15] = [
    ("core/v1", "PodLogOptions", "stream", "alpha", "v1.32", "PodLogsQuerySplitStreams"),
    ("core/v1", "ContainerStatus", "user", "beta", "v1.33", "SupplementalGroupsPolicy"),
    ("core/v1", "ContainerStatus", "resources", "beta", "v1.33", "InPlacePodVerticalScaling"),
    ("core/v1", "Container", "restartPolicyRules", "alpha", "v1.34", "ContainerRestartRules"),
    ("core/v1", "NodeRuntimeHandlerFeatures", "recursiveReadOnlyMounts", "ga", "-", "-"),
    ("core/v1", "PodSpec", "resourceClaims", "ga", "-", "-"),
    ("resource/v1", "Device", "nodeName", "alpha", "v1.33", "DRAPartitionableDevices"),
    ("resource/v1", "Device", "allowMultipleAllocations", "alpha", "v1.34", "DRAConsumableCapacity"),
    ("resource/v1", "DeviceRequestAllocationResult", "adminAccess", "beta", "v1.34", "DRAAdminAccess"),
    ("resource/v1", "DeviceRequest", "firstAvailable", "beta", "v1.34", "DRAPrioritizedList"),
    (
        "resource/v1beta1",
        "BasicDevice",
        "bindsToNode",
        "alpha",
        "v1.34",
        "DRADeviceBindingConditions,DRAResourceClaimDeviceStatus",
    ),
    ("storage/v1alpha1", "VolumeError", "errorCode", "beta", "v1.34", "MutableCSINodeAllocatableCount"),
    ("coordination/v1", "LeaseSpec", "preferredHolder", "beta", "v1.33", "CoordinatedLeaderElection"),
    ("meta/v1", "DeleteOptions", "orphanDependents", "deprecated", "-", "-"),
    ("meta/v1", "ObjectMeta", "selfLink", "deprecated", "-", "-"),
];

const V1_36: [Row; 15] = [
    ("core/v1", "PodSpec", "schedulingGroup", "alpha", "v1.35", "GenericWorkload"),
    ("core/v1", "VolumeStatus", "image", "alpha", "v1.35", "ImageVolumeWithDigest"),
    ("core/v1", "ResourceHealth", "message", "beta", "v1.36", "ResourceHealthStatusMessage"),
    ("core/v1", "Container", "restartPolicyRules", "beta", "v1.35", "ContainerRestartRules"),
    ("core/v1", "PodStatus", "resize", "ga", "-", "-"),
    ("core/v1", "NodeSpec", "configSource", "deprecated", "-", "-"),
    ("resource/v1", "DeviceAttribute", "bools", "alpha", "v1.36", "DRAListTypeAttributes"),
    ("resource/v1", "Device", "nodeName", "beta", "v1.36", "DRAPartitionableDevices"),
    ("resource/v1", "DeviceRequest", "firstAvailable", "ga", "-", "-"),
    ("resource/v1beta2", "ExactDeviceRequest", "adminAccess", "ga", "-", "-"),
    ("scheduling/v1alpha2", "PodGroupSpec", "disruptionMode", "alpha", "v1.36", "WorkloadAwarePreemption"),
    ("storage/v1", "VolumeError", "errorCode", "ga", "-", "-"),
    ("apps/v1", "RollingUpdateStatefulSetStrategy", "maxUnavailable", "beta", "v1.35", "MaxUnavailableStatefulSet"),
    (
        "apiextensions/v1beta1",
        "CustomResourceDefinitionCondition",
        "observedGeneration",
        "beta",
        "v1.35",
        "CRDObservedGenerationTracking",
    ),
    ("meta/v1", "ListOptions", "shardSelector", "alpha", "v1.36", "ShardedListAndWatch"),
];

#[test]
fn fields_of_two_releases_are_what_their_sources_say() {
    let Some(corpus) = folder_named_by("KUBESHAPE_CORPUS") else { return };
    check(&corpus.join("go/v1.34"), &V1_34);
    check(&corpus.join("go/v1.36"), &V1_36);
}

fn check(folder: &Path, rows: &[Row]) {
    let (types, findings) = Types::read(go_sources(folder));
    assert_eq!(findings, Vec::new());
    let (features, findings) = Features::read(go_sources(folder));
    assert_eq!(findings, Vec::new());
    let fields = fields::fields(&types, &features, &Options::default());
    for (package, of, property, stage, version, gates) in rows {
        let field = fields.iter().find(|field| {
            field.place.package.folder.ends_with(&format!("/{package}"))
                && field.place.of.name == *of
                && field.property() == Some(*property)
        });
        let field = field.unwrap_or_else(|| panic!("{package} {of} {property}"));
        let entry = field.state.projects.get("kubernetes").cloned().unwrap_or_default();
        let text = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        assert_eq!(
            (field.state.stage.map_or("-", |stage| stage.name()), text(entry.min_version), text(entry.feature_gate)),
            (*stage, (*version).to_owned(), (*gates).to_owned()),
            "{package} {of} {property}",
        );
    }
}
