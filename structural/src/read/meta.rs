//! `metadata` and `status`. They are read because mistakes in them refuse the object; few members are kept.

use super::fields::{fields, texts};
use super::scalar::time;
use super::spec;
use crate::Status;
use kubeshape_schema::read::Reader;
use kubeshape_yaml::Node;

/// Reads an ObjectMeta and returns the name.
pub(super) fn object_meta<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> &'a str {
    let mut name = "";
    fields(reader, node, "a mapping of metadata", |r, key, value| {
        match key {
            "name" => name = r.text(value),
            "generateName" | "namespace" | "selfLink" | "uid" | "resourceVersion" => {
                r.text(value);
            }
            "generation" | "deletionGracePeriodSeconds" => {
                r.integer(value);
            }
            "creationTimestamp" | "deletionTimestamp" => time(r, value),
            "labels" | "annotations" => text_map(r, value),
            "ownerReferences" => r.each_item(value, "a list of owner references", owner_reference),
            "finalizers" => texts(r, value),
            "managedFields" => r.each_item(value, "a list of managed fields", managed_fields),
            _ => return false,
        }
        true
    });
    name
}

fn owner_reference<'a>(reader: &mut Reader<'a>, node: Node<'a>) {
    fields(reader, node, "an owner reference", |r, key, value| {
        match key {
            "apiVersion" | "kind" | "name" | "uid" => {
                r.text(value);
            }
            "controller" | "blockOwnerDeletion" => {
                r.optional_boolean(value);
            }
            _ => return false,
        }
        true
    });
}

fn managed_fields<'a>(reader: &mut Reader<'a>, node: Node<'a>) {
    fields(reader, node, "a managed fields entry", |r, key, value| {
        match key {
            "manager" | "operation" | "apiVersion" | "fieldsType" | "subresource" => {
                r.text(value);
            }
            "time" => time(r, value),
            // Any JSON value is valid here.
            "fieldsV1" => {}
            _ => return false,
        }
        true
    });
}

/// Reads a CustomResourceDefinitionStatus.
pub(super) fn status<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> Status<'a> {
    let mut status = Status::default();
    fields(reader, node, "a status", |r, key, value| {
        match key {
            "conditions" => r.each_item(value, "a list of conditions", |r, item| match condition(r, item) {
                ("Established", value) => status.established = Some(value == "True"),
                ("Terminating", value) => status.terminating = value == "True",
                _ => {}
            }),
            "acceptedNames" => {
                let names = spec::names(r, value);
                status.accepted = (!value.is_null()).then_some(names);
            }
            "storedVersions" => texts(r, value),
            "observedGeneration" => {
                r.integer(value);
            }
            _ => return false,
        }
        true
    });
    status
}

/// Reads a condition and returns its type and status.
fn condition<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> (&'a str, &'a str) {
    let mut condition = ("", "");
    fields(reader, node, "a condition", |r, key, value| {
        match key {
            "type" => condition.0 = r.text(value),
            "status" => condition.1 = r.text(value),
            "reason" | "message" => {
                r.text(value);
            }
            "lastTransitionTime" => time(r, value),
            "observedGeneration" => {
                r.integer(value);
            }
            _ => return false,
        }
        true
    });
    condition
}

/// Checks a mapping of strings.
fn text_map<'a>(reader: &mut Reader<'a>, node: Node<'a>) {
    fields(reader, node, "a mapping of strings", |r, _, value| {
        r.text(value);
        true
    });
}
