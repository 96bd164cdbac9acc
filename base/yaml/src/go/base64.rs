//! Base64 as `encoding/base64` decodes it.

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, PAD};

/// Go's standard encoding, which ignores the unused bits of the last digit.
const STANDARD: GeneralPurpose =
    GeneralPurpose::new(&base64::alphabet::STANDARD, PAD.with_decode_allow_trailing_bits(true));

/// Decodes base64 as `StdEncoding` does: line breaks are skipped, and padding is required. Returns `None` if the string
/// is not base64.
///
/// # Example
/// ```
/// use kubeshape_yaml::go::base64::decode;
///
/// assert_eq!(decode("aGVs\nbG8=").as_deref(), Some(&b"hello"[..]));
/// assert_eq!(decode("aGVsbG8"), None);
/// ```
pub fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.contains(['\r', '\n']) {
        return STANDARD.decode(text).ok();
    }
    let digits: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    STANDARD.decode(digits).ok()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn base64_needs_its_padding_and_may_be_broken_into_lines() {
        for text in ["", "Cg==", "Cg\n==\n", "YWI=", "YWJj", "YW\r\nJj", "Ch=="] {
            assert!(decode(text).is_some(), "{text}");
        }
        for text in ["Cg", "Cg=", "C===", "====", "YW-_", "Cg==Cg==", "Y Q="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
