//! Integration tests of the conversions.

mod crd;
mod from_v2;
mod from_v2_distance;
mod from_v2_properties;
mod from_v3;
mod graph;
mod inner;
mod jsonschema_rules;
mod jsonschema_soundness;
mod later;
mod merge;
mod proto;
mod proto_golden;
mod smd;
mod smd_size;
mod support;
