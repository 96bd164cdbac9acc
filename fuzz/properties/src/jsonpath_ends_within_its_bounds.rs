//! For any template and any JSON: parsing and executing end, the output stays within its bound, and a second run gives
//! the same.

use kubeshape_show::jsonpath::{MAX_OUTPUT, Options, Template};
use kubeshape_smd::{Bump, ToValue};

/// The first line is the template, the rest is the object.
pub fn holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (template, object) = text.split_once('\n').unwrap_or((&text, "{}"));
    let Ok(template) = Template::parse(template) else { return };
    let Ok(object) = serde_json::from_str::<serde_json::Value>(object) else { return };
    let arena = Bump::new();
    let value = object.to_value(&arena);
    for options in [
        Options::default(),
        Options { allow_missing_keys: true, json: false },
        Options { allow_missing_keys: true, json: true },
    ] {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let ended = template.execute(value, options, &mut first);
        assert_eq!(ended, template.execute(value, options, &mut second), "a template gives one answer");
        assert_eq!(first, second, "a template gives one text");
        assert!(first.len() <= MAX_OUTPUT + 6 * data.len() + 1024, "{} bytes", first.len());
    }
}
