//! The contents of string and bytes literals.

const NOT_A_STRING: &str = "unable to unescape string";
const NO_CODE_POINT: &str = "invalid unicode code point";

/// Returns the contents of a quoted string literal without escapes and carriage returns, borrowed from the source.
pub(crate) fn plain(text: &str) -> Option<&str> {
    let (quote @ (b'"' | b'\''), inner) = text.as_bytes().split_first()? else { return None };
    let inner = inner.strip_suffix(&[*quote])?;
    if inner.first() == Some(quote) || inner.iter().any(|byte| matches!(byte, b'\\' | b'\r')) {
        return None;
    }
    text.get(1..text.len() - 1)
}

/// Returns the bytes of a literal. `bytes` says that it is a bytes literal; its `b` is not part of `text`.
pub(crate) fn unescape(text: &str, bytes: bool) -> Result<Vec<u8>, &'static str> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (raw, quoted) = match text.strip_prefix(['r', 'R']) {
        Some(rest) => (true, rest),
        None => (false, text.as_str()),
    };
    let triple = |quote: &str| {
        let inner = (quoted.len() >= 6).then(|| quoted.strip_prefix(quote)).flatten()?;
        inner.strip_suffix(quote)
    };
    let inner = match triple("'''").or_else(|| triple("\"\"\"")) {
        Some(inner) => inner,
        None => quoted.get(1..quoted.len().saturating_sub(1)).ok_or(NOT_A_STRING)?,
    };
    if raw || !inner.contains('\\') {
        return Ok(inner.as_bytes().to_vec());
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            let code = escape(&mut chars, bytes)?;
            if code < 0x80 || (bytes && code <= 0xff) {
                out.push(code as u8);
            } else {
                push(&mut out, char::from_u32(code).ok_or(NO_CODE_POINT)?);
            }
        } else {
            push(&mut out, c);
        }
    }
    Ok(out)
}

fn push(out: &mut Vec<u8>, c: char) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn escape(chars: &mut std::str::Chars<'_>, bytes: bool) -> Result<u32, &'static str> {
    let c = chars.next().ok_or("unable to unescape string, found '\\' as last character")?;
    let digits = match c {
        'a' => return Ok(7),
        'b' => return Ok(8),
        'f' => return Ok(12),
        'n' => return Ok(10),
        'r' => return Ok(13),
        't' => return Ok(9),
        'v' => return Ok(11),
        '\\' | '\'' | '"' | '`' | '?' => return Ok(c as u32),
        'x' | 'X' => 2,
        'u' | 'U' if bytes => return Err(NOT_A_STRING),
        'u' => 4,
        'U' => 8,
        '0'..='3' => {
            let mut code = c as u32 - '0' as u32;
            for _ in 0..2 {
                let digit = chars.next().and_then(|c| c.to_digit(8));
                code = code * 8 + digit.ok_or("unable to unescape octal sequence in string")?;
            }
            return Ok(code);
        }
        _ => return Err(NOT_A_STRING),
    };
    let mut code = 0u32;
    for _ in 0..digits {
        let digit = chars.next().and_then(|c| c.to_digit(16)).ok_or(NOT_A_STRING)?;
        code = (code << 4) | digit;
    }
    if !bytes && char::from_u32(code).is_none() {
        return Err(NO_CODE_POINT);
    }
    Ok(code)
}
