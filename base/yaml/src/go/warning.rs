//! `Warning` headers of HTTP.

use std::collections::BTreeSet;

/// The length in characters of all warnings of a response beyond which each is truncated (upstream:
/// `truncateAtTotalRunes`).
const TOTAL: usize = 4 * 1024;

/// The length in characters of a truncated warning (upstream: `truncateItemRunes`).
const ITEM: usize = 256;

/// Returns a warning as the value of a header, `299 - "text"`, or `None` if it has control characters (upstream:
/// `net.NewWarningHeader`).
///
/// # Example
/// ```
/// use kubeshape_yaml::go::warning::header;
/// assert_eq!(header(r#"use "b" \ c"#).unwrap(), r#"299 - "use \"b\" \\ c""#);
/// assert_eq!(header("a\nb"), None);
/// ```
pub fn header(text: &str) -> Option<String> {
    if text.chars().any(char::is_control) {
        return None;
    }
    let mut out = String::with_capacity(text.len() + 10);
    out.push_str("299 - \"");
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    Some(out)
}

/// Returns the headers of one response. Duplicates are dropped, and all are truncated if they are long together
/// (upstream: the recorder of `WithWarningRecorder`).
pub fn headers<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty() && seen.insert(*text)).collect();
    let length = |text: &str| text.chars().count();
    if texts.iter().map(|text| length(text)).sum::<usize>() <= TOTAL {
        return texts.into_iter().filter_map(header).collect();
    }
    let mut written = 0;
    let mut out = Vec::new();
    for text in texts {
        if written >= TOTAL {
            break;
        }
        let cut: String = text.chars().take(ITEM).collect();
        if let Some(header) = header(&cut) {
            written += length(&cut);
            out.push(header);
        }
    }
    out
}
