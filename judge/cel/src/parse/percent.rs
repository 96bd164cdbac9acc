//! Percent signs in messages of older versions of cel-go.

/// Returns a text as Go's `fmt.Sprintf` returns it without arguments.
pub(super) fn without_arguments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let mut is_indexed = false;
        rest = index(after.trim_start_matches(['#', '0', '+', '-', ' ']), &mut is_indexed);
        rest = number(rest, "%!(BADWIDTH)", &mut out);
        if let Some(precision) = rest.strip_prefix('.') {
            rest = number(index(precision, &mut is_indexed), "%!(BADPREC)", &mut out);
        }
        rest = index(rest, &mut is_indexed);
        let mut letters = rest.chars();
        match letters.next() {
            None => out.push_str("%!(NOVERB)"),
            Some('%') => out.push('%'),
            Some(verb) => {
                out.push_str("%!");
                out.push(verb);
                out.push_str(if is_indexed { "(BADINDEX)" } else { "(MISSING)" });
            }
        }
        rest = letters.as_str();
    }
    out.push_str(rest);
    out
}

/// Skips the number of an argument, `[1]`.
fn index<'t>(text: &'t str, is_indexed: &mut bool) -> &'t str {
    let Some(inner) = text.strip_prefix('[') else { return text };
    *is_indexed = true;
    inner.split_once(']').map_or(inner, |(_, after)| after)
}

/// Skips a width or a precision: a number, or `*`, which needs an argument.
fn number<'t>(text: &'t str, missing: &str, out: &mut String) -> &'t str {
    if let Some(after) = text.strip_prefix('*') {
        out.push_str(missing);
        return after;
    }
    text.trim_start_matches(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::without_arguments;

    #[test]
    fn percent_signs_are_verbs_without_arguments() {
        for (text, formatted) in [
            ("'\"a % ('", "'\"a %!((MISSING)'"),
            ("'\"a %5.2d b'", "'\"a %!d(MISSING) b'"),
            ("'\"50%% %'", "'\"50% %!'(MISSING)"),
            ("'\"% [1]d'", "'\"%!d(BADINDEX)'"),
            ("100%", "100%!(NOVERB)"),
            ("plain", "plain"),
        ] {
            assert_eq!(without_arguments(text), formatted, "{text}");
        }
    }
}
