//! `kubeshape explain-code`.

use crate::args::{ExplainArgs, When};
use crate::error::Fatal;
use crate::report;
use kubeshape_schema::{Code, Selector, SelectorError, did_you_mean};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::fmt::Write;
use std::io::{self, IsTerminal};

/// Prints the page of a code, or the list of all codes. The page is formatted for people, and Markdown for programs.
///
/// # Errors
/// The code does not exist, or standard output is closed.
pub(crate) fn run(args: &ExplainArgs, color: When) -> Result<(), Fatal> {
    let Some(name) = args.code.as_deref().filter(|_| !args.list) else {
        let mut out = String::new();
        for code in Code::ALL {
            let _ = writeln!(out, "{code}  {:<12}  {}", code.kind().name(), code.title());
        }
        return report::print(out.as_bytes());
    };
    let Some(code) = Code::parse(name) else { return Err(Fatal::Usage(unknown(name))) };
    if io::stdout().is_terminal() || color == When::Always {
        let text = layout(code.page(), report::width_of_output(), report::is_output_coloured(color));
        return report::print_own(text.as_bytes());
    }
    report::print(code.page().as_bytes())
}

fn unknown(name: &str) -> String {
    let near = match name.parse::<Selector>() {
        Err(SelectorError { nearest, .. }) => did_you_mean(&nearest),
        Ok(_) => String::new(),
    };
    let near = if near.is_empty() { ";".to_owned() } else { near };
    format!("there is no code {name}{near} `kubeshape explain-code --list` lists all of them")
}

/// Formats a Markdown page for a terminal.
fn layout(page: &str, width: usize, styled: bool) -> String {
    let (bold, dim, code, reset) =
        if styled { ("\u{1b}[1m", "\u{1b}[2m", "\u{1b}[36m", "\u{1b}[0m") } else { ("", "", "`", "`") };
    let off = if styled { reset } else { "" };
    let mut out = String::new();
    // A paragraph, a heading or an item that is not wrapped yet.
    let mut text = String::new();
    let mut indent = "";
    let mut is_code = false;
    let flush = |text: &mut String, indent: &str, out: &mut String| {
        if !text.is_empty() {
            let rest = if text.starts_with("- ") { "  " } else { indent };
            let _ = writeln!(out, "{}\n", report::wrap(text, width, 0, rest));
            text.clear();
        }
    };
    for event in Parser::new(page) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::Strong) => text.push_str(bold),
            Event::Start(Tag::Emphasis) => text.push_str(dim),
            Event::End(TagEnd::Strong | TagEnd::Emphasis) => text.push_str(off),
            Event::End(TagEnd::Heading(_)) => {
                text.push_str(off);
                flush(&mut text, indent, &mut out);
            }
            Event::End(TagEnd::Paragraph | TagEnd::Item) => flush(&mut text, indent, &mut out),
            Event::Start(Tag::Item) => text.push_str("- "),
            Event::Start(Tag::List(_)) => {
                flush(&mut text, indent, &mut out);
                indent = "  ";
            }
            Event::End(TagEnd::List(_)) => indent = "",
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => {
                is_code = false;
                out.push('\n');
            }
            Event::Text(block) if is_code => {
                for line in block.lines() {
                    let _ = writeln!(out, "    {line}");
                }
            }
            Event::Text(words) => text.push_str(&words),
            Event::Code(words) => {
                let _ = write!(text, "{code}{words}{reset}");
            }
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    flush(&mut text, indent, &mut out);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_laid_out_for_a_terminal() {
        let page = "# KS0000: A title\n\n*Kind: error.*\n\nA paragraph that is so long that it is\nbroken into lines, with \
                    `code`.\n\n- one\n- two\n\n## Example\n\n```yaml\na:   # as it is\n  b: 1\n```\n\nThe end.\n";
        let expected = "\
KS0000: A title

Kind: error.

A paragraph that is so long
that it is broken into lines,
with `code`.

- one

- two

Example

    a:   # as it is
      b: 1

The end.
";
        assert_eq!(layout(page, 30, false), expected);
        let styled = layout(page, 30, true);
        assert!(
            styled.contains("\u{1b}[1mExample\u{1b}[0m\n") && styled.contains("\u{1b}[36mcode\u{1b}[0m"),
            "{styled}"
        );
    }

    #[test]
    fn every_page_fits_a_terminal() {
        for code in Code::ALL {
            let text = layout(code.page(), 80, false);
            assert!(text.starts_with(&format!("{code}: ")) && !text.contains("\n#"), "{text}");
            let is_text = |line: &&str| !line.starts_with("    ") && line.contains(' ');
            for line in text.lines().filter(is_text) {
                assert!(line.chars().count() <= 80, "{code}: {line}");
            }
        }
    }

    #[test]
    fn an_unknown_code_names_the_nearest() {
        assert_eq!(
            unknown("KS3009"),
            "there is no code KS3009; did you mean `KS3005`? `kubeshape explain-code --list` lists all of them"
        );
        assert_eq!(unknown("x"), "there is no code x; `kubeshape explain-code --list` lists all of them");
    }
}
