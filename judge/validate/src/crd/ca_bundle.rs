//! Certificates of conversion webhooks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// Checks that a PEM string contains a certificate: `webhook.ValidateCABundle`.
///
/// Only the outer form of a certificate is checked: a DER sequence of the right length. The server parses all of it.
///
/// # Errors
/// Returns upstream's message.
pub fn check(bundle: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bundle);
    let mut rest: &str = &text;
    let mut error = None;
    while !rest.is_empty() {
        let Some((block, after)) = block(rest) else {
            error.get_or_insert("unable to parse bytes as PEM block");
            break;
        };
        rest = after;
        if block.label == "CERTIFICATE" && !block.headers {
            // One valid certificate is enough.
            if is_sequence(&block.bytes) {
                return Ok(());
            }
            error.get_or_insert("failed to parse certificate: x509: malformed certificate");
        }
    }
    let error = error.unwrap_or("no valid certificate authority data seen");
    Err(format!("unable to load root certificates: {error}"))
}

struct Block<'t> {
    label: &'t str,
    headers: bool,
    bytes: Vec<u8>,
}

/// Returns the next PEM block and the rest. Text before it and damaged blocks are skipped.
fn block(text: &str) -> Option<(Block<'_>, &str)> {
    let mut rest = text;
    loop {
        let start = rest.find(BEGIN)?;
        let from = &rest[start + BEGIN.len()..];
        let line = rest[..start].ends_with('\n') || start == 0;
        let (label, body) = from.split_once('\n')?;
        let label = label.trim_end().strip_suffix(DASHES);
        let Some(label) = label.filter(|_| line) else {
            rest = from;
            continue;
        };
        let end = format!("{END}{label}{DASHES}");
        let Some((body, after)) = body.split_once(end.as_str()) else {
            rest = from;
            continue;
        };
        // The end line belongs to the block.
        let after = after.split_once('\n').map_or("", |(_, after)| after);
        let headers = body.contains(':');
        let base64 = if headers { body.split_once("\n\n").map_or("", |(_, body)| body) } else { body };
        let base64: String = base64.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        if let Ok(bytes) = STANDARD.decode(base64) {
            return Some((Block { label, headers, bytes }, after));
        }
        rest = after;
    }
}

/// Returns whether this is exactly one DER sequence.
fn is_sequence(der: &[u8]) -> bool {
    let [0x30, first, rest @ ..] = der else { return false };
    let (length, content) = match *first {
        short @ 0..=0x7f => (usize::from(short), rest),
        long @ 0x81..=0x84 => {
            let Some((bytes, content)) = rest.split_at_checked(usize::from(long & 0x7f)) else { return false };
            (bytes.iter().fold(0usize, |length, byte| length << 8 | usize::from(*byte)), content)
        }
        _ => return false,
    };
    length == content.len() && length > 0
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_bundle_needs_a_certificate_in_pem() {
        let block = |label: &str, body: &str| format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n");
        assert_eq!(check(block("CERTIFICATE", "MAMCAQE=").as_bytes()), Ok(()));
        for (bundle, error) in [
            ("Cg==".to_owned(), "unable to parse bytes as PEM block"),
            (block("CERTIFICATE", "MAQCAQE="), "failed to parse certificate: x509: malformed certificate"),
            (block("CERTIFICATE", "MAQCAQE=") + "text", "failed to parse certificate: x509: malformed certificate"),
            (block("KEY", "MAMCAQE="), "no valid certificate authority data seen"),
        ] {
            assert_eq!(check(bundle.as_bytes()), Err(format!("unable to load root certificates: {error}")));
        }
        let second = block("CERTIFICATE", "MAQCAQE=") + &block("CERTIFICATE", "MAMCAQE=");
        assert_eq!(check(second.as_bytes()), Ok(()));
    }
}
