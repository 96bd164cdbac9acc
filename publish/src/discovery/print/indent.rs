//! Indenting JSON as Go's `json.Indent` does with two blanks.

/// Appends compact or other JSON with two blanks per level; blanks between and behind its tokens are dropped: the
/// server ends indented documents without a line end.
pub(super) fn indent(out: &mut Vec<u8>, json: &[u8]) {
    let mut depth = 0_usize;
    let mut bytes = json.iter().copied().peekable();
    let (mut in_text, mut escaped) = (false, false);
    let line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', depth * 2));
    };
    while let Some(byte) = bytes.next() {
        if in_text {
            out.push(byte);
            (in_text, escaped) = (escaped || byte != b'"', !escaped && byte == b'\\');
            continue;
        }
        match byte {
            b'"' => {
                in_text = true;
                out.push(byte);
            }
            b'{' | b'[' => {
                out.push(byte);
                while bytes.next_if(|next| matches!(next, b' ' | b'\t' | b'\n' | b'\r')).is_some() {}
                if let Some(close) = bytes.next_if(|next| matches!(next, b'}' | b']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    line(out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            b' ' | b'\t' | b'\n' | b'\r' => {}
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::indent;

    #[test]
    fn texts_keep_their_bytes_and_empty_collections_stay_on_their_line() {
        let mut out = Vec::new();
        indent(&mut out, br#"{"a,{\"":[ ],"b":{},"c":["\\",1 , null]}"#);
        let expected = "{\n  \"a,{\\\"\": [],\n  \"b\": {},\n  \"c\": [\n    \"\\\\\",\n    1,\n    null\n  ]\n}";
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }
}
