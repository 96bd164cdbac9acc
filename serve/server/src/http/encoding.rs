//! Reads `Accept-Encoding`, which two parts of kube-apiserver read differently.

/// Objects above this size are compressed on request (upstream: `defaultGzipThresholdBytes`).
pub(super) const WORTH_COMPRESSING: usize = 128 << 10;

/// Reads it like the wrapper of `/openapi/v2` (NYTimes gziphandler, `parseEncodings`): case is ignored, q must be above
/// 0, wildcards are not supported, and the last mention decides.
pub(super) fn coding_has_weight(header: &str) -> bool {
    let mut weight = 0.0;
    for coding in header.split(',') {
        let mut parts = coding.split(';').map(str::trim);
        if !parts.next().unwrap_or_default().eq_ignore_ascii_case("gzip") {
            continue;
        }
        // An invalid q does not change the result so far.
        let read = parts.filter_map(|part| part.strip_prefix("q=")).try_fold(1.0, |_, q| q.parse::<f64>());
        weight = read.unwrap_or(weight);
    }
    weight > 0.0
}

/// Reads it like the writer of objects (apiserver `responsewriters.negotiateEncoding`): the bare token.
pub(super) fn names_token(header: &str) -> bool {
    header.split(',').any(|token| token.trim() == "gzip")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codings_are_weighed() {
        for (header, weighed, token) in [
            ("gzip", true, true),
            ("gzip;q=0", false, false),
            ("gzip;q=x", false, false),
            ("GZIP", true, false),
            ("*", false, false),
            ("gzip, deflate, br", true, true),
            ("deflate;q=1.0, gzip;q=0.5", true, false),
            ("identity;q=1, gzip;q=0", false, false),
            ("", false, false),
        ] {
            assert_eq!((coding_has_weight(header), names_token(header)), (weighed, token), "{header}");
        }
    }
}
