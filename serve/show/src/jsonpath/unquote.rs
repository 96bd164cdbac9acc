//! Quoted strings, with the escapes of Go.

/// Returns the contents of a quoted string (upstream: `UnquoteExtend`). Escaped bytes that are not UTF-8 become U+FFFD.
/// `None` if it is not a quoted string.
pub(super) fn unquote(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = text.get(1..)?.strip_suffix(quote)?;
    if !inner.contains(['\\', quote]) {
        return Some(inner.to_owned());
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c == quote {
            return None;
        }
        if c != '\\' {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        match chars.next()? {
            'a' => out.push(7),
            'b' => out.push(8),
            'f' => out.push(12),
            'n' => out.push(b'\n'),
            'r' => out.push(b'\r'),
            't' => out.push(b'\t'),
            'v' => out.push(11),
            '\\' => out.push(b'\\'),
            c if c == quote => out.push(quote as u8),
            'x' => out.push(u8::try_from(digits(&mut chars, 2, 16, 0)?).ok()?),
            'u' => character(digits(&mut chars, 4, 16, 0)?, &mut out)?,
            'U' => character(digits(&mut chars, 8, 16, 0)?, &mut out)?,
            c @ '0'..='7' => out.push(u8::try_from(digits(&mut chars, 2, 8, c.to_digit(8)?)?).ok()?),
            _ => return None,
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

fn digits(chars: &mut std::str::Chars<'_>, count: usize, radix: u32, first: u32) -> Option<u32> {
    (0..count).try_fold(first, |number, _| number.checked_mul(radix)?.checked_add(chars.next()?.to_digit(radix)?))
}

fn character(code: u32, out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut [0; 4]).as_bytes());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::unquote;

    #[test]
    fn escapes_are_those_of_go() {
        for (text, expected) in [
            (r#""""#, Some("")),
            ("'a\"b'", Some("a\"b")),
            (r"'\n\x41\u00e9\101\\'", Some("\nAé\u{41}\\")),
            (r"'\''", Some("'")),
            (r#"'\"'"#, None),
            (r"'\q'", None),
            (r"'\400'", None),
            (r"'\xff'", Some("\u{fffd}")),
            ("'", None),
            ("'a", None),
        ] {
            assert_eq!(unquote(text).as_deref(), expected, "{text}");
        }
    }
}
