//! Markers of kro's SimpleSchema: `required=true default="a b" minimum=1` (`simpleschema.ParseMarkers`).

/// A marker and its value, without quotes around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) name: Name,
    pub(super) value: String,
}

/// The names of markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Required,
    Default,
    Description,
    Minimum,
    Maximum,
    Validation,
    Enum,
    Immutable,
    Pattern,
    UniqueItems,
    MinLength,
    MaxLength,
    MinItems,
    MaxItems,
    ListType,
    ListMapKey,
}

impl Name {
    const ALL: [(&'static str, Name); 16] = [
        ("required", Name::Required),
        ("default", Name::Default),
        ("description", Name::Description),
        ("minimum", Name::Minimum),
        ("maximum", Name::Maximum),
        ("validation", Name::Validation),
        ("enum", Name::Enum),
        ("immutable", Name::Immutable),
        ("pattern", Name::Pattern),
        ("uniqueItems", Name::UniqueItems),
        ("minLength", Name::MinLength),
        ("maxLength", Name::MaxLength),
        ("minItems", Name::MinItems),
        ("maxItems", Name::MaxItems),
        ("listType", Name::ListType),
        ("listMapKey", Name::ListMapKey),
    ];

    fn of(text: &str) -> Result<Name, String> {
        let found = Name::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, name)| *name).ok_or_else(|| format!("invalid marker key {text:?}: unknown marker: {text}"))
    }

    /// Returns the name as it is written.
    pub(super) fn text(self) -> &'static str {
        Name::ALL.iter().find(|(_, name)| *name == self).map_or("", |(text, _)| text)
    }
}

/// Reads markers. Values may be in quotes or brackets, in which white space does not end them.
pub(super) fn read(text: &str) -> Result<Vec<Marker>, String> {
    let mut out = Vec::new();
    let mut name: Option<Name> = None;
    let (mut is_quoted, mut is_escaped, mut brackets) = (false, false, 0_u32);
    let mut buffer = String::new();
    for c in text.chars() {
        match c {
            '=' if name.is_none() && !is_quoted && brackets == 0 => {
                let key = buffer.trim();
                if key.is_empty() {
                    return Err("empty marker key".to_owned());
                }
                name = Some(Name::of(key)?);
                buffer.clear();
            }
            '"' if !is_escaped => {
                is_quoted = !is_quoted;
                buffer.push(c);
            }
            '\\' if is_quoted && !is_escaped => {
                is_escaped = true;
                buffer.push(c);
            }
            '{' | '[' if !is_quoted => {
                brackets += 1;
                buffer.push(c);
            }
            '}' | ']' if !is_quoted => {
                brackets = brackets.checked_sub(1).ok_or("unmatched closing bracket/brace")?;
                buffer.push(c);
            }
            c if c.is_whitespace() && !is_quoted && brackets == 0 => {
                if let Some(name) = name.take() {
                    out.push(Marker { name, value: value(&buffer) });
                    buffer.clear();
                }
            }
            c => {
                is_escaped &= !is_quoted;
                buffer.push(c);
            }
        }
    }
    let Some(name) = name else { return Err(format!("marker key '{buffer}' without a value")) };
    if is_quoted {
        return Err("unclosed quote".to_owned());
    }
    if brackets > 0 {
        return Err("unclosed bracket/brace".to_owned());
    }
    out.push(Marker { name, value: value(&buffer) });
    Ok(out)
}

/// Returns a value without quotes and their escapes.
fn value(text: &str) -> String {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return text.trim().to_owned();
    };
    let mut out = String::new();
    let mut is_escaped = false;
    for c in inner.chars() {
        if is_escaped {
            if c != '"' && c != '\\' {
                out.push('\\');
            }
            out.push(c);
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = true;
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Name, read};

    #[test]
    fn values_end_at_white_space_outside_of_quotes_and_brackets() {
        let read = |text: &str| {
            let all = read(text)?.into_iter().map(|marker| format!("{}={}", marker.name.text(), marker.value));
            Ok::<_, String>(all.collect::<Vec<_>>().join("|"))
        };
        for (text, expected) in [
            (" required=true default=5 ", "required=true|default=5"),
            (" description=\"a \\\"b\\\" \\n\" minimum=1", "description=a \"b\" \\n|minimum=1"),
            ("default={\"a\": [1, 2]}", "default={\"a\": [1, 2]}"),
            ("default=[\"a b\"] ", "default=[\"a b\"]"),
        ] {
            let trailing = text.ends_with(' ');
            let found = read(text.trim_end()).expect("markers");
            assert_eq!(found, expected);
            // As in kro, white space at the end is an error.
            assert_eq!(read(text).is_err(), trailing);
        }
        for (text, expected) in [
            ("required", "marker key 'required' without a value"),
            ("=true", "empty marker key"),
            ("colour=red", "invalid marker key \"colour\": unknown marker: colour"),
            ("default=\"a", "unclosed quote"),
            ("default=\"", "unclosed quote"),
            ("default=[a", "unclosed bracket/brace"),
            ("default=a]", "unmatched closing bracket/brace"),
        ] {
            assert_eq!(read(text), Err(expected.to_owned()), "{text}");
        }
        assert_eq!(Name::of("enum"), Ok(Name::Enum));
    }
}
