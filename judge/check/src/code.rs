//! The code of an error, which names the violated rule.

use kubeshape_schema::Code;
use kubeshape_schema::field::{Error, ErrorType};

/// The path element at which the schema of a version begins.
const SCHEMA: &str = "openAPIV3Schema";

/// Returns the code of a server error.
pub(crate) fn of(error: &Error) -> Code {
    let path = error.path.as_str();
    if error.detail == "field is immutable" {
        return Code::CrdImmutable;
    }
    if path.starts_with("metadata.annotations[api-approved.kubernetes.io]") {
        return Code::CrdApproval;
    }
    if let Some((_, tail)) = path.split_once(SCHEMA) {
        return of_schema(tail, error);
    }
    let first = path.split(['.', '[']).next().unwrap_or_default();
    let is_in = |name: &str| path.split(['.', '[']).any(|step| step == name);
    match first {
        "metadata" => Code::CrdMetadata,
        "status" if is_in("storedVersions") => Code::CrdStoredVersions,
        "status" => Code::CrdNames,
        _ if is_in("names") || path == "spec.group" || path == "spec.scope" => Code::CrdNames,
        _ if is_in("preserveUnknownFields") => Code::CrdPreserveUnknownFields,
        _ if is_in("conversion") => Code::CrdConversion,
        _ if is_in("subresources") => Code::CrdSubresources,
        _ if is_in("additionalPrinterColumns") => Code::CrdColumns,
        _ if is_in("selectableFields") => Code::CrdSelectableFields,
        _ => Code::CrdVersions,
    }
}

/// Returns the code of an error in a schema. `tail` is its path below the schema.
fn of_schema(tail: &str, error: &Error) -> Code {
    let (detail, kind) = (error.detail.as_str(), error.error_type);
    if tail.is_empty() && kind == ErrorType::Required {
        return Code::CrdNoSchema;
    }
    let last = last_field(tail);
    let in_rules = tail.contains(".x-kubernetes-validations[");
    if detail.contains("rule cost") || detail.contains("messageExpression cost") || detail.contains("cost total") {
        return Code::CrdCelCost;
    }
    if in_rules {
        let is_expression = matches!(last, "rule" | "messageExpression");
        if !is_expression || !detail.contains("compilation") {
            return Code::CrdCelRule;
        }
        return if detail.contains("Syntax error") { Code::CrdCelSyntax } else { Code::CrdCelType };
    }
    let lists = ["x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"];
    if lists.contains(&last) || detail.contains("x-kubernetes-list-map-keys") {
        return Code::CrdListType;
    }
    if is_below_default(tail) {
        return Code::CrdDefault;
    }
    let in_junctor = [".allOf[", ".anyOf[", ".oneOf[", ".not"].iter().any(|junctor| tail.contains(junctor));
    let is_type = last == "type" && kind == ErrorType::Required;
    let is_structural = in_junctor
        || is_type
        || detail.contains("structural")
        || detail.contains("x-kubernetes-int-or-string")
        || detail.contains("x-kubernetes-embedded-resource")
        || detail.contains("must be object at the root")
        || tail.starts_with(".properties[metadata]");
    if is_structural { Code::CrdStructural } else { Code::CrdKeyword }
}

/// Returns the last field of a path: the name after its last dot outside brackets.
fn last_field(path: &str) -> &str {
    let mut depth = 0_u32;
    let mut start = 0;
    for (i, byte) in path.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            b'.' if depth == 0 => start = i + 1,
            _ => {}
        }
    }
    path[start..].split('[').next().unwrap_or_default()
}

/// Returns whether a path leads to the keyword `default`, not to a property of that name.
fn is_below_default(path: &str) -> bool {
    path.match_indices(".default").any(|(i, name)| {
        let rest = &path[i + name.len()..];
        rest.is_empty() || rest.starts_with(['.', '['])
    })
}
