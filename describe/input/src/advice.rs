//! Advice for one case of a code, if it can be more specific than that of the code.

use crate::Code;
use kubeshape_yaml::Node;

/// The length of the start of an input that shows whether it is text, in bytes.
const HEAD: usize = 1024;
/// How far before the location a template is searched for, in bytes. Every document of a stream may be broken.
const BEFORE: usize = 1 << 16;

/// Returns what to do about an input that is not YAML. Reading stopped at that byte.
pub(crate) fn not_yaml(bytes: &[u8], offset: usize) -> Option<String> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let text = if matches!(head, [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..]) || is_utf16(head) {
        "Convert the file from UTF-16 to UTF-8: `iconv -f UTF-16 -t UTF-8 FILE`."
    } else if head.contains(&0) || head.iter().filter(|byte| is_control(**byte)).count() * 20 > head.len() {
        "The file is binary. Give a YAML or JSON file, or an OpenAPI document in protobuf; they may be compressed with \
         gzip or Zstandard."
    } else if is_no_utf8(bytes.get(offset..).unwrap_or_default()) {
        "Save the file as UTF-8, for example with `iconv -f LATIN1 -t UTF-8 FILE`."
    } else if has_template(bytes, offset) {
        "Render the template first (`helm template`, `kustomize build`), and convert the output."
    } else if bytes.get(offset) == Some(&b'\t') {
        "Replace the tab by spaces: YAML does not allow tabs in indentation."
    } else {
        return None;
    };
    Some(text.to_owned())
}

/// Returns whether every other byte is zero, as in UTF-16 without a byte order mark.
fn is_utf16(head: &[u8]) -> bool {
    let pairs = head.chunks_exact(2);
    let count = pairs.len();
    let ascii = |pair: &[u8]| (pair[0] == 0) != (pair[1] == 0);
    count >= 2 && pairs.filter(|pair| ascii(pair)).count() * 10 >= count * 9
}

fn is_no_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(&bytes[..bytes.len().min(4)]).is_err_and(|error| error.valid_up_to() == 0)
}

fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0C | 0x1B)
}

/// Returns whether there is a template's action up to the line where reading stopped.
fn has_template(bytes: &[u8], offset: usize) -> bool {
    let offset = offset.min(bytes.len());
    let end = memchr::memchr(b'\n', &bytes[offset..]).map_or(bytes.len(), |at| offset + at);
    memchr::memmem::find(&bytes[offset.saturating_sub(BEFORE)..end], b"{{").is_some()
}

/// Returns what to do about a note on this node.
pub(crate) fn about(code: Code, node: Node<'_>) -> Option<String> {
    let written = node.document().source().get(node.span())?;
    match code {
        Code::ResolvedKey => Some(format!("Put the key into quotes: `{written:?}`.")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_matches_the_input() {
        let utf16: Vec<u8> = "a: 1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (bytes, offset, part) in [
            (&b"\xFF\xFEa\0:\0"[..], 0, "UTF-16"),
            (&utf16, 1, "UTF-16"),
            (&[0; 100], 0, "binary"),
            (b"\x7FELF\x01\x02\x03\x04abc", 0, "binary"),
            (b"a: \xE4\xF6\xFC\n", 3, "Save the file as UTF-8"),
            (b"a:\n\tb: 1\n", 3, "Replace the tab"),
            (b"name: {{ .Values.name }}\n", 7, "helm template"),
            (b"{{- if .Values.crds }}\na: 1\n{{- end }}\n", 5, "helm template"),
        ] {
            let advice = not_yaml(bytes, offset).unwrap_or_default();
            assert!(advice.contains(part), "{advice}");
        }
        assert_eq!(not_yaml(b"a: [\n# {{ later }}\n", 3), None);
    }
}
