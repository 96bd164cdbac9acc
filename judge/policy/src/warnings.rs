//! Warnings as headers: `endpoints/filters/warning.go` of `k8s.io/apiserver`.

/// The maximum number of characters of all headers before messages are cut.
const MAX_TOTAL: usize = 4096;
/// The maximum number of characters of a cut message.
const MAX_EACH: usize = 256;

/// Returns the headers of recorded warnings: each message once, all cut if they are too long together.
///
/// # Example
/// ```
/// let texts = ["a \"b\"".to_owned(), "a \"b\"".to_owned(), "two\nlines".to_owned()];
/// assert_eq!(kubeshape_policy::warning_headers(&texts), [r#"299 - "a \"b\"""#]);
/// ```
pub fn warning_headers(texts: &[String]) -> Vec<String> {
    let mut recorder = Recorder::default();
    for text in texts {
        recorder.add(text);
    }
    recorder.written
}

#[derive(Default)]
struct Recorder<'t> {
    recorded: Vec<&'t str>,
    written: Vec<String>,
    total: usize,
    cuts: bool,
}

impl<'t> Recorder<'t> {
    fn add(&mut self, text: &'t str) {
        if text.is_empty() || self.cuts && self.total >= MAX_TOTAL || self.recorded.contains(&text) {
            return;
        }
        self.recorded.push(text);
        if !self.cuts && is_header(text) && self.total + text.chars().count() > MAX_TOTAL {
            self.cuts = true;
            self.total = 0;
            self.written.clear();
            for text in self.recorded.clone() {
                self.write(text);
            }
        } else {
            self.write(text);
        }
    }

    fn write(&mut self, text: &str) {
        let most = if self.cuts { MAX_EACH } else { usize::MAX };
        let text: String = text.chars().take(most).collect();
        if is_header(&text) {
            self.total += text.chars().count();
            self.written.push(format!("299 - \"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")));
        }
    }
}

/// Returns whether a string can be a header (`net.NewWarningHeader`).
fn is_header(text: &str) -> bool {
    !text.chars().any(char::is_control)
}
