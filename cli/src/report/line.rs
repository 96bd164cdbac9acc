//! A line of the report file.

use kubeshape_input::{Finding, NoteKind};

/// The text before the kind in a line of the report, for [`is_finding`].
const KIND: &str = "{\"code\":\"KS0000\",\"kind\":\"";

/// Appends a finding as one line.
pub(crate) fn write_line(finding: &Finding, out: &mut Vec<u8>) {
    let before = out.len();
    if serde_json::to_writer(&mut *out, finding).is_err() {
        // Writing to a vector cannot fail, and all members of a finding are valid in JSON.
        out.truncate(before);
        return;
    }
    out.push(b'\n');
}

/// Returns whether a line of the report is a finding about the input, and not a loss.
pub(crate) fn is_finding(line: &[u8]) -> bool {
    let kind = line.get(KIND.len()..).unwrap_or_default();
    [NoteKind::Error, NoteKind::Warning, NoteKind::Note].iter().any(|k| kind.starts_with(k.name().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_input::{Code, Place, Shape};

    #[test]
    fn a_line_of_the_report_has_all_members() {
        let mut finding =
            Finding::new(Code::V2Junctor, "\"<x>\"").in_input("a.yaml").of_resource("widgets.example.com");
        finding.pointer = Some("/a~1b".to_owned());
        finding.place = Some(Place { line: 3, column: 7 });
        finding.version = Some("v1".to_owned());
        finding.shape = Some(Shape::V2);
        let mut out = Vec::new();
        write_line(&finding, &mut out);
        write_line(&Finding::new(Code::Unreadable, "gone"), &mut out);
        let expected = concat!(
            r#"{"code":"KS2001","kind":"widened","pointer":"/a~1b","input":"a.yaml","line":3,"column":7,"#,
            r#""resource":"widgets.example.com","version":"v1","shape":"v2","detail":"\"<x>\"","#,
            r#""message":"OpenAPI v2 drops allOf, oneOf, anyOf and not: \"<x>\""}"#,
            "\n",
            r#"{"code":"KS1007","kind":"error","pointer":null,"input":null,"line":null,"column":null,"#,
            r#""resource":null,"version":null,"shape":null,"detail":"gone","message":"The file cannot be read: gone"}"#,
            "\n"
        );
        assert_eq!(String::from_utf8_lossy(&out), expected);
        let lines: Vec<bool> = out.split_inclusive(|b| *b == b'\n').map(is_finding).collect();
        assert_eq!(lines, [false, true]);
    }
}
