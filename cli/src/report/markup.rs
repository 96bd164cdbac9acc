//! Texts of inputs in Markdown and HTML: nothing in them acts as markup.

use super::clean::{self, clean};
use std::fmt::Write;

/// A part of a line of prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'t> {
    Text(&'t str),
    /// What is between backticks.
    Code(&'t str),
    /// An address of the web.
    Address(&'t str),
}

/// Escapes a text for one line of Markdown.
pub(crate) fn markdown(text: &str) -> String {
    let text = clean(text);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    // The beginning of a word: how many digits it has, if it has nothing else.
    let (mut is_first, mut digits) = (true, Some(0));
    while let Some(c) = chars.next() {
        let is_special = match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '#' | '|' | '~' | '@' | '!' | '{' | '}' | '$' => {
                true
            }
            // At the beginning of a line, these would begin a list, or make a heading of the line above.
            '-' | '+' | '=' => is_first,
            // GitHub makes links of such names.
            '.' if out.ends_with("www") => true,
            '.' | ')' => {
                digits.is_some_and(|count| (1..10).contains(&count)) && chars.peek().is_none_or(|c| c.is_whitespace())
            }
            _ => false,
        };
        if is_special {
            out.push('\\');
        }
        out.push(c);
        is_first = c.is_whitespace();
        digits = if is_first { Some(0) } else { digits.filter(|_| c.is_ascii_digit()).map(|count| count + 1) };
    }
    out
}

/// Writes a text as inline code of Markdown.
pub(crate) fn code(text: &str) -> String {
    let text = clean(text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // mdBook replaces what is in double braces, even in code.
    if text.contains("{{") || text.is_empty() {
        return coded("code", &text);
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    if longest == 0 {
        return format!("`{text}`");
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence} {text} {fence}")
}

/// Writes a text as inline code in a cell of a table, where a vertical bar would end the cell.
pub(crate) fn cell_code(text: &str) -> String {
    if text.contains('|') { coded("code", &clean(text)) } else { code(text) }
}

/// Writes a block of code. Each line begins with the indent.
pub(crate) fn fenced(out: &mut String, indent: &str, language: &str, text: &str) {
    if text.contains("{{") {
        let text = coded("pre", &clean::lines(text.trim_end()));
        let _ = writeln!(out, "{indent}{}\n", text.replace('\n', &format!("\n{indent}")));
        return;
    }
    // The fence must be longer than every fence in the text.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(out, "{indent}{fence}{language}");
    for line in text.lines() {
        let line = clean(line);
        let indent = if line.is_empty() { "" } else { indent };
        let _ = writeln!(out, "{indent}{line}");
    }
    let _ = writeln!(out, "{indent}{fence}\n");
}

/// Writes a text in an element of HTML, where every character that could be markup of Markdown is a reference.
fn coded(element: &str, text: &str) -> String {
    let mut out = format!("<{element}>");
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            let _ = write!(out, "&#{};", u32::from(c));
        } else {
            out.push(c);
        }
    }
    let _ = write!(out, "</{element}>");
    out
}

/// Escapes a text for HTML, in an element or in an attribute.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean::lines(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Writes a line of prose in Markdown: addresses are links, and what is between backticks is code.
pub(crate) fn markdown_prose(text: &str) -> String {
    let write = |part: Part<'_>| match part {
        Part::Text(text) => markdown(text),
        Part::Code(text) => cell_code(text),
        Part::Address(address) => format!("<{address}>"),
    };
    parts(text).into_iter().map(write).collect()
}

/// Writes a line of prose in HTML.
pub(crate) fn html_prose(text: &str) -> String {
    let write = |part: Part<'_>| match part {
        Part::Text(text) => html(text),
        Part::Code(text) => format!("<code>{}</code>", html(text)),
        Part::Address(address) => {
            let address = html(address);
            format!("<a href=\"{address}\" rel=\"nofollow noopener\">{address}</a>")
        }
    };
    parts(text).into_iter().map(write).collect()
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        // A run of backticks, and one that is not closed, are text.
        let Some((code, end)) = after.split_once('`').filter(|(code, _)| !code.trim().is_empty()) else {
            break;
        };
        addresses(before, &mut out);
        out.push(Part::Code(code));
        rest = end;
    }
    addresses(rest, &mut out);
    out
}

fn addresses<'t>(text: &'t str, out: &mut Vec<Part<'t>>) {
    let mut rest = text;
    let mut from = 0;
    while let Some(found) = rest[from..].find("http") {
        let at = from + found;
        let address = &rest[at..];
        let ends = |c: char| {
            !c.is_ascii() || c.is_ascii_whitespace() || c.is_ascii_control() || "<>\"'`{}[]|\\^()".contains(c)
        };
        let address = &address[..address.find(ends).unwrap_or(address.len())];
        let address = address.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_']);
        let host = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://")).unwrap_or_default();
        let is_word = !rest[..at].ends_with(|c: char| c.is_alphanumeric());
        if !is_word || !host.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            from = at + "http".len();
            continue;
        }
        if at > 0 {
            out.push(Part::Text(&rest[..at]));
        }
        out.push(Part::Address(address));
        rest = &rest[at + address.len()..];
        from = 0;
    }
    if !rest.is_empty() {
        out.push(Part::Text(rest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulldown_cmark::{Event, Options, Parser};

    const HOSTILE: [&str; 23] = [
        "a*b* _c_ **d** ~e~",
        "<img src=x onerror=alert(1)> </details>",
        "- item",
        "+ item",
        "1. item",
        "12) item",
        "# heading",
        "=====",
        "-----",
        "> quote",
        "[a](javascript:alert(1)) ![b](c)",
        "&lt; &#60;",
        "a | b \\| c",
        "`` ` `",
        "{{#include /etc/passwd}}",
        "    indented",
        "@all #1 !",
        "http://[x] javascript:alert(1) https://\"onclick=x",
        "| a | b |\n|---|---|",
        "back\\slash\\",
        "$a$ {a} {% x %}",
        "a`b``c```d",
        "www.example.com",
    ];

    const DIALECT: Options = Options::ENABLE_TABLES
        .union(Options::ENABLE_STRIKETHROUGH)
        .union(Options::ENABLE_TASKLISTS)
        .union(Options::ENABLE_FOOTNOTES)
        .union(Options::ENABLE_MATH)
        .union(Options::ENABLE_GFM);

    fn texts(page: &str) -> (String, usize) {
        let mut out = String::new();
        let mut other = 0;
        for event in Parser::new_ext(page, DIALECT) {
            match event {
                Event::Text(text) | Event::Code(text) => out.push_str(&text),
                Event::SoftBreak | Event::HardBreak => out.push(' '),
                Event::Start(pulldown_cmark::Tag::Paragraph) | Event::End(pulldown_cmark::TagEnd::Paragraph) => {}
                _ => other += 1,
            }
        }
        (out, other)
    }

    fn words(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn texts_are_shown_as_they_are() {
        for text in HOSTILE {
            assert_eq!(texts(&markdown(&words(text))), (words(text), 0), "{text}");
            assert!(!html(text).contains(['<', '>', '"', '\'']), "{text}");
        }
    }

    #[test]
    fn code_is_shown_as_it_is() {
        for text in HOSTILE.iter().filter(|text| !text.contains("{{")) {
            assert_eq!(texts(&code(text)), (words(text), 0), "{text}");
            let mut block = String::new();
            fenced(&mut block, "", "yaml", text);
            let (shown, other) = texts(&block);
            assert_eq!((shown.trim_end(), other), (text.trim_end(), 2), "{text}");
            let table = format!("| a |\n|---|\n| {} |\n", cell_code(text));
            let cells = Parser::new_ext(&table, DIALECT)
                .filter(|event| matches!(event, Event::Start(pulldown_cmark::Tag::TableCell)));
            assert_eq!(cells.count(), 2, "{table}");
        }
        assert_eq!(code("{{#include x}}"), "<code>&#123;&#123;&#35;include x&#125;&#125;</code>");
    }

    #[test]
    fn prose_has_links_and_code() {
        let text = "See https://example.com/a_b(c), `x < y` and http: or xhttps://a.";
        assert_eq!(markdown_prose(text), "See <https://example.com/a_b>(c), `x < y` and http: or xhttps://a.");
        assert_eq!(
            html_prose("`<b>` http://a.b/?c=d&e."),
            "<code>&lt;b&gt;</code> <a href=\"http://a.b/?c=d&amp;e\" rel=\"nofollow noopener\">\
             http://a.b/?c=d&amp;e</a>."
        );
        assert_eq!(markdown_prose("a `b and ``"), "a `b and`\\`");
        assert_eq!(markdown_prose("a `` b"), "a \\`\\` b");
    }
}
