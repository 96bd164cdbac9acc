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
/// The maximum size of a template.
const LARGEST: u64 = 4 << 20;

/// The templates of a run.
#[derive(Debug)]
pub(super) struct Templates(Environment<'static>);

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
        if let Some(folder) = folder {
            add(&mut environment, folder, format)?;
        }
        Ok(Templates(environment))
    }

    /// Renders a template.
    ///
    /// # Errors
    /// The template fails.
    pub(super) fn render(&self, name: &str, context: &serde_json::Value) -> Result<String, Fatal> {
        let template = self.0.get_template(name).map_err(|error| invalid(&error))?;
        let text = template.render(Serde(context)).map_err(|error| invalid(&error))?;
        let is_markdown = Path::new(name).extension().is_some_and(|end| end == "md");
        Ok(if is_markdown { tidy(&text) } else { text.trim_start().trim_end().to_owned() + "\n" })
    }
}

/// Adds the templates of a folder.
fn add(environment: &mut Environment<'static>, folder: &Path, format: DocsFormat) -> Result<(), Fatal> {
    let failed = |error: std::io::Error| Fatal::Read { path: folder.to_owned(), message: error.to_string() };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let metadata = std::fs::metadata(entry.path()).map_err(failed)?;
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        if !metadata.is_file() || name.starts_with('.') || metadata.len() > LARGEST {
            continue;
        }
        let Ok(text) = String::from_utf8(std::fs::read(entry.path()).map_err(failed)?) else { continue };
        environment.add_template_owned(name.clone(), text).map_err(|error| invalid(&error))?;
        names.push(name);
    }
    let own = format.templates();
    if !names.iter().any(|name| own.contains(&name.as_str())) {
        let own = own.join(", ");
        return Err(Fatal::Usage(format!(
            "--template {}: the folder has none of the templates {own}; --print-template prints the built-in ones",
            folder.display()
        )));
    }
    Ok(())
}

fn invalid(error: &Error) -> Fatal {
    let place = match (error.name(), error.line()) {
        (Some(name), Some(line)) => format!("{name}:{line}: "),
        _ => String::new(),
    };
    let detail =
        error.detail().map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind()));
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
            assert!(templates.0.get_template(name).is_ok(), "{name}");
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
