//! Every text is a pattern or has a mistake in one of its parts; what is built of a pattern is one too, unless it is too
//! large; and patterns become JSON.
#![no_main]

use kubeshape_convert::jsonschema::{Options, from_structural};
use kubeshape_schema::{Bump, Extra, Gvk, Schema, Type};
use kubeshape_structural::regex::{RegexErrorKind, check};
use libfuzzer_sys::fuzz_target;

fn is_size(kind: RegexErrorKind) -> bool {
    matches!(kind, RegexErrorKind::NestingDepth | RegexErrorKind::Large)
}

fuzz_target!(|data: &str| {
    match check(data) {
        Err(error) => {
            assert!(data.contains(&error.expression), "{error} in {data:?}");
            assert_eq!(check(data), Err(error));
        }
        Ok(()) => {
            // `\Q` and a set of flags last until the end of the text.
            for built in [format!("(?:{data}\\E)"), format!("({data}\\E)|a"), format!("(?:{data}\\E)?"), format!("^(?:{data}\\E)$")] {
                let closes = data.contains("\\Q");
                let built = if closes { built } else { built.replace("\\E", "") };
                if let Err(error) = check(&built) {
                    assert!(is_size(error.kind) || closes, "{built:?}: {error}");
                }
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
});
