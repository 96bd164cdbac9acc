//! Changes a CustomResourceDefinition so that the change is visible in everything that is published.

/// Returns the definition with the marker as a short name and in the descriptions of the schemas.
///
/// # Errors
/// The definition has no plural where programs write it, or no plain description in a schema.
pub(super) fn changed_text(text: &str, marker: &str) -> Result<String, String> {
    let at = text.find("\n    plural: ").ok_or("the first file names no plural where machines write it")?;
    let names = text.replace("\n    shortNames:\n", &format!("\n    shortNames:\n    - {marker}\n"));
    let mut out =
        if names == text { format!("{}\n    shortNames:\n    - {marker}{}", &text[..at], &text[at..]) } else { names };
    let mut from = 0;
    while let Some(schema) = out[from..].find("openAPIV3Schema:").map(|at| from + at) {
        let key = "description: ";
        let plain = |at: &usize| out.as_bytes().get(at + key.len()).is_some_and(u8::is_ascii_uppercase);
        let place = out[schema..].match_indices(key).map(|(at, _)| schema + at).find(plain);
        let Some(place) = place else { break };
        out.insert_str(place + key.len(), &format!("Is {marker} "));
        from = place;
    }
    if from > 0 { Ok(out) } else { Err("the first file has no plain description in a schema".to_owned()) }
}

/// Returns whether the definition can be changed.
pub(super) fn can_change(text: &str) -> bool {
    changed_text(text, "marker").is_ok()
}

#[cfg(test)]
mod tests {
    use super::changed_text;

    #[test]
    fn a_change_is_in_names_and_descriptions() {
        let schema = "  - name: v1\n    schema:\n      openAPIV3Schema:\n        description: Text.\n";
        for (names, expected) in [("", 1), ("    shortNames:\n    - x\n", 1)] {
            let text = format!("spec:\n  names:\n    plural: as\n{names}  versions:\n{schema}{schema}");
            let changed = changed_text(&text, "here").expect("a string as machines write it");
            assert_eq!(changed.matches("    - here\n").count(), expected, "{changed}");
            assert_eq!(changed.matches("shortNames:").count(), 1, "{changed}");
            assert_eq!(changed.matches("description: Is here Text.").count(), 2, "{changed}");
        }
    }
}
