//! Every string is a pattern or has a mistake in one of its parts. A combination of patterns is a pattern, unless it is
//! too large. Patterns can be written as JSON.

use kubeshape_convert::jsonschema::{Options, from_structural};
use kubeshape_schema::{Bump, Extra, Gvk, Schema, Type};
use kubeshape_structural::regex::{RegexErrorKind, check};

fn is_size(kind: RegexErrorKind) -> bool {
    matches!(kind, RegexErrorKind::NestingDepth | RegexErrorKind::Large)
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Some(data) = crate::input::<&str>(data) else { return };
    if let Err(error) = check(data) {
        assert!(data.contains(&error.expression), "{error} in {data:?}");
        assert_eq!(check(data), Err(error));
    } else {
        // `\Q` applies up to the end of the pattern, unless it is ended.
        let closes = data.contains("\\Q");
        let end = if closes { "\\E" } else { "" };
        for built in [
            format!("(?:{data}{end})"),
            format!("({data}{end})|a"),
            format!("(?:{data}{end})?"),
            format!("^(?:{data}{end})$"),
        ] {
            if let Err(error) = check(&built) {
                assert!(is_size(error.kind) || closes, "{built:?}: {error}");
            }
        }
    }
    let arena = Bump::new();
    let extra = Extra { pattern: data, ..Extra::default() };
    let schema = Schema { ty: Type::String, extra: Some(&extra), ..Schema::default() };
    let made = from_structural(&schema, Gvk::new("a/v1", "A"), false, &|_| None, Options::default());
    let json: serde_json::Value = serde_json::from_slice(&made.value).expect("a schema is JSON");
    assert!(json.is_object());
    drop(arena);
}
