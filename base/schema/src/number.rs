//! Numbers in messages.

/// Returns a number with commas.
///
/// # Example
/// ```
/// let all = [0, 999, 1000, 12_345, 1_234_567].map(kubeshape_schema::thousands);
/// assert_eq!(all, ["0", "999", "1,000", "12,345", "1,234,567"]);
/// ```
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
