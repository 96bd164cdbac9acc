//! Templates, and what they print.

use crate::args::DocsFormat;
use crate::error::Fatal;
use crate::report::markup;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value};
use std::path::Path;

/// The templates and files that users can print and replace.
pub(super) const BUILT_IN: [(&str, &str); 8] = [
    ("page.md", include_str!("templates/page.md")),
    ("index.md", include_str!("templates/index.md")),
    ("page.html", include_str!("templates/page.html")),
    ("index.html", include_str!("templates/index.html")),
    ("style.css", include_str!("templates/style.css")),
    ("search.js", include_str!("templates/search.js")),
    ("SUMMARY.md", include_str!("templates/SUMMARY.md")),
    ("book.toml", include_str!("templates/book.toml")),
];

/// What pages may load: their own style sheet and script. Some browsers do not count a file as its own origin.
pub(super) const POLICY: &str =
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; base-uri 'none'; form-action 'none'";

/// Longer defaults are cut in tables.
const LONGEST_CELL: usize = 60;
/// The maximum size of a template in bytes.
const LARGEST: u64 = 4 << 20;
/// The maximum size of a page in bytes.
const LARGEST_PAGE: usize = 256 << 20;
/// The instructions that a template may run: these, and more for each value that it gets.
const FUEL: u64 = 2_000_000;
/// The instructions for each value.
const FUEL_OF_VALUE: u64 = 2_000;

/// The templates of a run.
#[derive(Debug)]
pub(super) struct Templates {
    environment: Environment<'static>,
    /// Files of the folder that are not used, each with the reason.
    pub(super) unused: Vec<String>,
}

impl Templates {
    /// Returns the built-in templates, and those of a folder in their place. Other files of the folder can be included.
    ///
    /// # Errors
    /// The folder cannot be read, has no template of the format, or one is invalid.
    pub(super) fn read(folder: Option<&Path>, format: DocsFormat) -> Result<Templates, Fatal> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|error| Fatal::Usage(error.to_string()))?);
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        environment.set_auto_escape_callback(|name| match name.rsplit_once('.') {
            Some((_, "md")) => AutoEscape::Custom("markdown".into()),
            Some((_, "html")) => AutoEscape::Html,
            _ => AutoEscape::None,
        });
        environment.set_formatter(write);
        environment.add_filter("code", code);
        environment.add_filter("cell", cell);
        environment.add_filter("prose", prose);
        environment.add_filter("fence", fence);
        environment.add_filter("shortened", |text: String| shortened(&text));
        environment.add_filter("toml", |text: String| serde_json::Value::from(text).to_string());
        for (name, text) in BUILT_IN {
            environment.add_template(name, text).map_err(|error| invalid(&error))?;
        }
        let unused = folder.map(|folder| add(&mut environment, folder, format)).transpose()?.unwrap_or_default();
        Ok(Templates { environment, unused })
    }

    /// Renders a template.
    ///
    /// # Errors
    /// The template fails, runs for too long, or prints too much.
    pub(super) fn render(&self, name: &str, context: &serde_json::Value) -> Result<String, Fatal> {
        let mut environment = self.environment.clone();
        environment.set_fuel(Some(FUEL.saturating_add(FUEL_OF_VALUE.saturating_mul(values(context)))));
        let template = environment.get_template(name).map_err(|error| invalid(&error))?;
        let mut page = Page(Vec::new());
        let rendered = template.render_captured_to(Serde(context), &mut page).map(drop);
        rendered.map_err(|error| {
            if page.is_full() {
                return Fatal::Usage(format!("--template: {name} prints more than {LARGEST_PAGE} bytes on one page"));
            }
            invalid(&error)
        })?;
        let text = String::from_utf8(page.0).unwrap_or_default();
        let is_markdown = Path::new(name).extension().is_some_and(|end| end == "md");
        Ok(if is_markdown { tidy(&text) } else { text.trim_start().trim_end().to_owned() + "\n" })
    }
}

/// A page that is written up to its maximum size.
struct Page(Vec<u8>);

impl Page {
    fn is_full(&self) -> bool {
        self.0.len() >= LARGEST_PAGE
    }
}

impl std::io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let most = bytes.len().min(LARGEST_PAGE - self.0.len());
        self.0.extend_from_slice(&bytes[..most]);
        // Nothing was written of some bytes: the writer is full.
        Ok(most)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the number of values in a context.
fn values(context: &serde_json::Value) -> u64 {
    let mut todo = vec![context];
    let mut count = 0;
    while let Some(value) = todo.pop() {
        count += 1;
        match value {
            serde_json::Value::Array(items) => todo.extend(items),
            serde_json::Value::Object(members) => todo.extend(members.values()),
            _ => {}
        }
    }
    count
}

/// Adds the templates of a folder. Returns the files that are no templates, each with the reason.
fn add(environment: &mut Environment<'static>, folder: &Path, format: DocsFormat) -> Result<Vec<String>, Fatal> {
    let failed = |error: std::io::Error| Fatal::Read { path: folder.to_owned(), message: error.to_string() };
    let own = format.templates();
    let (mut names, mut unused) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let metadata = std::fs::metadata(entry.path()).map_err(failed)?;
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        if !metadata.is_file() || name.starts_with('.') {
            continue;
        }
        let read = || -> Result<Result<String, String>, Fatal> {
            if metadata.len() > LARGEST {
                let size = metadata.len();
                return Ok(Err(format!("it has {size} bytes, and a template has at most {LARGEST}")));
            }
            let bytes = std::fs::read(entry.path()).map_err(failed)?;
            Ok(String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned()))
        };
        let text = match read()? {
            Ok(text) => text,
            Err(why) => {
                let text = format!("--template {}: {name} is not used: {why}", folder.display());
                if own.contains(&name.as_str()) {
                    return Err(Fatal::Usage(text));
                }
                unused.push(text);
                continue;
            }
        };
        environment.add_template_owned(name.clone(), text).map_err(|error| invalid(&error))?;
        names.push(name);
    }
    if !names.iter().any(|name| own.contains(&name.as_str())) {
        let own = own.join(", ");
        return Err(Fatal::Usage(format!(
            "--template {}: the folder has none of the templates {own}; --print-template prints the built-in ones",
            folder.display()
        )));
    }
    unused.sort();
    Ok(unused)
}

fn invalid(error: &Error) -> Fatal {
    // An error in an included template is behind that of the template that includes it.
    let mut error = error;
    while let Some(cause) = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<Error>()) {
        error = cause;
    }
    let place = match (error.name(), error.line()) {
        (Some(name), Some(line)) => format!("{name}:{line}: "),
        _ => String::new(),
    };
    let detail = match (error.kind(), error.detail()) {
        (ErrorKind::OutOfFuel, _) => {
            "the template runs for too long: it may run 2,000,000 instructions, and 2,000 for each value that it gets; \
             look for loops in loops"
                .to_owned()
        }
        (kind, None) => kind.to_string(),
        (kind, Some(detail)) => format!("{kind}: {detail}"),
    };
    Fatal::Usage(format!("--template: {place}{detail}"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Markup {
    Markdown,
    Html,
    None,
}

fn markup(state: &State<'_, '_>) -> Markup {
    match state.auto_escape() {
        AutoEscape::Html => Markup::Html,
        AutoEscape::Custom(_) => Markup::Markdown,
        _ => Markup::None,
    }
}

/// Writes a value, escaped for its template.
fn write(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let text = if value.is_none() { String::new() } else { value.to_string() };
    let text = match markup(state) {
        _ if value.is_safe() => text,
        Markup::Markdown => markup::markdown(&text),
        Markup::Html => markup::html(&text),
        Markup::None => text,
    };
    out.write_str(&text).map_err(|error| Error::new(ErrorKind::WriteFailure, error.to_string()))
}

/// Writes inline code.
fn code(state: &State<'_, '_>, text: String) -> Value {
    Value::from_safe_string(match markup(state) {
        Markup::Markdown => markup::code(&text),
        Markup::Html => format!("<code>{}</code>", markup::html(&text)),
        Markup::None => text,
    })
}

/// Writes inline code in a table.
fn cell(state: &State<'_, '_>, text: String) -> Value {
    match markup(state) {
        Markup::Markdown => Value::from_safe_string(markup::cell_code(&text)),
        _ => code(state, text),
    }
}

/// Writes a line of a description.
fn prose(state: &State<'_, '_>, text: String) -> Value {
    Value::from_safe_string(match markup(state) {
        Markup::Markdown => markup::markdown_prose(&text),
        Markup::Html => markup::html_prose(&text),
        Markup::None => text,
    })
}

/// Writes a block of code, indented by some blanks.
fn fence(state: &State<'_, '_>, text: String, language: &str, indent: Option<usize>) -> Value {
    Value::from_safe_string(match markup(state) {
        Markup::Markdown => {
            let mut out = String::new();
            markup::fenced(&mut out, &" ".repeat(indent.unwrap_or_default().min(40)), language, &text);
            out.trim_end().to_owned()
        }
        Markup::Html => format!("<pre><code>{}</code></pre>", markup::html(&text)),
        Markup::None => text,
    })
}

/// Returns the beginning of a long text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_CELL) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns Markdown with one empty line instead of several, except in blocks of code.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let start = line.trim_start();
        let marks = &start[..start.len() - start.trim_start_matches('`').len()];
        match fence {
            Some(open) if marks.len() >= open.len() && start.trim_end() == marks => fence = None,
            Some(_) => {
                out.push_str(line);
                out.push('\n');
                continue;
            }
            None if marks.len() >= 3 => fence = Some(marks),
            None => {}
        }
        let line = line.trim_end();
        if line.is_empty() && (out.is_empty() || out.ends_with("\n\n")) {
            continue;
        }
        out.push_str(line);
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::{BUILT_IN, Templates, tidy};
    use crate::args::DocsFormat;

    #[test]
    fn built_in_templates_are_valid_and_complete() {
        let templates = Templates::read(None, DocsFormat::Markdown).expect("templates");
        for (name, _) in BUILT_IN {
            assert!(templates.environment.get_template(name).is_ok(), "{name}");
        }
        for format in [DocsFormat::Markdown, DocsFormat::Html, DocsFormat::Mdbook] {
            for name in format.templates() {
                assert!(BUILT_IN.iter().any(|(own, _)| own == name), "{name}");
            }
        }
    }

    #[test]
    fn empty_lines_are_kept_in_code_only() {
        let text = "\n\na  \n\n\n\nb\n```yaml\nx\n\n\n``\n```\n\n\nc\n\n";
        assert_eq!(tidy(text), "a\n\nb\n```yaml\nx\n\n\n``\n```\n\nc\n");
    }
}
