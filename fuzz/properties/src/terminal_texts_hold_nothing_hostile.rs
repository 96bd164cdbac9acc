//! Cleaning removes everything that a terminal interprets from any string. Harmless strings are not changed, JSON keeps
//! its meaning, and spans of excerpts stay in their strings.
#![allow(dead_code, unreachable_pub)]

use kubeshape_input::Excerpt;

#[path = "../../../cli/src/report/clean.rs"]
mod clean;

/// Written independently of the code, by Unicode's tables: Cc, and Bidi_Control.
fn is_hostile(c: char) -> bool {
    matches!(u32::from(c), 0..0x20 | 0x7F..0xA0 | 0x61C | 0x200E | 0x200F | 0x202A..=0x202E | 0x2066..=0x2069)
}

/// Returns the string without the escapes that select colours.
fn without_colours(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        let (parameters, behind) = behind.split_once('m').expect("only colours are left");
        assert!(parameters.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'), "{text:?}");
        rest = behind;
    }
    out + rest
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Some(data) = crate::input::<&str>(data) else { return };
    let line = clean::clean(data);
    assert!(!line.contains(is_hostile), "{line:?}");
    assert_eq!(line.chars().count(), data.chars().count());
    assert_eq!(clean::clean(&line), line);

    let lines = clean::lines(data);
    assert!(lines.chars().all(|c| matches!(c, '\n' | '\t') || !is_hostile(c)), "{lines:?}");
    assert_eq!(clean::lines(&lines), lines);
    assert!(data.chars().any(|c| c != '\n' && clean::is_hostile(c)) || lines == data);

    let styled = without_colours(&clean::styled(data));
    assert!(styled.chars().all(|c| matches!(c, '\n' | '\t') || !is_hostile(c)), "{styled:?}");
    assert_eq!(clean::styled(&lines), lines);

    let json = serde_json::to_string(data).expect("a text is JSON");
    let cleaned = clean::json(&json);
    assert!(!cleaned.contains(is_hostile), "{cleaned:?}");
    assert_eq!(serde_json::from_str::<String>(&cleaned).expect("it is JSON still"), data);

    let places: Vec<usize> = (0..=data.len()).filter(|at| data.is_char_boundary(*at)).collect();
    for span in places.windows(2).take(64).map(|pair| pair[0]..pair[1]).chain([0..0, data.len()..data.len()]) {
        let Excerpt { text, span: moved } = clean::excerpt(&Excerpt { text: data.to_owned(), span: span.clone() });
        assert_eq!(text, line);
        assert!(text.get(moved.clone()).is_some() && (moved.is_empty() == (span.start == data.len())), "{moved:?}");
    }
}
