//! Chooses the texts of a document that are removed or shortened, and edits its source.

use super::collect::{Text, texts};
use super::{Descriptions, Fit, Options, Saving, Trimmed, What, sentence, size};
use crate::fix::{self, Entries, layout};
use kubeshape_yaml::Node;
use kubeshape_yaml::edit::Edit;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The steps in which texts are removed or shortened until a definition fits.
const STEPS: [Step; 5] = [
    Step { what: &[What::Description], inside: Some(true), shortens: true },
    Step { what: &[What::Description], inside: Some(true), shortens: false },
    Step { what: &[What::Description], inside: Some(false), shortens: true },
    Step { what: &[What::Example, What::Title, What::Link], inside: None, shortens: false },
    Step { what: &[What::Description], inside: Some(false), shortens: false },
];

struct Step {
    what: &'static [What],
    /// Whether it is about copies of Kubernetes' types; `None` for both.
    inside: Option<bool>,
    shortens: bool,
}

impl Step {
    fn has(&self, text: &Text<'_>) -> bool {
        self.what.contains(&text.what) && self.inside.is_none_or(|inside| inside == text.inside.is_some())
    }
}

/// The changes of a document so far.
pub(super) struct Work<'n> {
    root: Node<'n>,
    entries: Entries,
    /// By schema: the keys that are removed.
    gone: BTreeMap<u32, BTreeSet<u32>>,
    /// By description: the new one.
    texts: BTreeMap<u32, String>,
}

impl<'n> Work<'n> {
    pub(super) fn new(root: Node<'n>) -> Work<'n> {
        Work { root, entries: Entries::of(root), gone: BTreeMap::new(), texts: BTreeMap::new() }
    }

    /// Chooses the texts of one definition.
    pub(super) fn trim(&mut self, definition: Node<'n>, options: &Options) -> Trimmed {
        let fit = options.fit.or_else(|| options.only_if_needed.then_some(Fit::Annotation));
        let before = fit.unwrap_or(Fit::Bytes(usize::MAX)).size(definition);
        let name = definition.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::as_str);
        let mut out = Trimmed {
            at: definition.index(),
            name: name.unwrap_or_default().to_owned(),
            before,
            after: before,
            limit: options.fit.map(Fit::limit),
            saved: BTreeMap::new(),
            stuck: 0,
        };
        let is_small = fit.is_some_and(|fit| before <= fit.limit());
        if options.only_if_needed && is_small {
            return out;
        }
        let texts = texts(definition);
        for twins in &texts {
            self.as_wanted(twins, options, &mut out);
        }
        if let Some(limit) = out.limit {
            self.until(limit, &texts, &mut out);
        }
        out
    }

    /// Does what the options say about a text, whatever the size.
    fn as_wanted(&mut self, twins: &[Text<'n>], options: &Options, out: &mut Trimmed) {
        let Some(text) = twins.first() else { return };
        let is_meant = |text: &Text<'_>| text.inside.is_some_and(|ty| options.inside.iter().any(|name| ty.is(name)));
        if !options.inside.is_empty() && !is_meant(text) {
            return;
        }
        if options.removed.contains(&text.what) {
            return self.remove(twins, out);
        }
        if text.what != What::Description {
            return;
        }
        match options.descriptions {
            Descriptions::None => return self.remove(twins, out),
            Descriptions::Depth(depth) if text.depth > depth => return self.remove(twins, out),
            Descriptions::FirstSentence => self.shorten(twins, sentence::first(text.value.text()), out),
            Descriptions::All | Descriptions::Depth(_) => {}
        }
        let now = self.text_of(text);
        if let Some(short) = options.longest.and_then(|longest| sentence::cut(now, longest)) {
            self.shorten(twins, &short, out);
        }
    }

    /// Does one step after the other until the definition fits.
    fn until(&mut self, limit: usize, texts: &[Vec<Text<'n>>], out: &mut Trimmed) {
        for step in &STEPS {
            if out.after <= limit {
                return;
            }
            let has = |twins: &&Vec<Text<'n>>| twins.first().is_some_and(|text| step.has(text));
            let mut texts: Vec<&Vec<Text<'n>>> = texts.iter().filter(has).collect();
            texts.sort_by_cached_key(|twins| {
                let text = twins.first();
                let depth = text.map_or(0, |text| text.depth);
                let length = text.map_or(0, |text| text.value.span().len());
                let is_stored = twins.iter().any(|text| text.is_stored);
                (Reverse(depth), is_stored, Reverse(length), text.map(|text| text.key.index()))
            });
            for twins in texts {
                if out.after <= limit {
                    return;
                }
                if step.shortens {
                    let now = twins.first().map(|text| self.text_of(text)).unwrap_or_default();
                    let short = sentence::first(now).to_owned();
                    self.shorten(twins, &short, out);
                } else {
                    self.remove(twins, out);
                }
            }
        }
    }

    /// Returns a description as it is now.
    fn text_of(&self, text: &Text<'n>) -> &str {
        self.texts.get(&text.value.index()).map_or(text.value.text(), String::as_str)
    }

    fn is_gone(&self, text: &Text<'n>) -> bool {
        self.gone.get(&text.schema.index()).is_some_and(|keys| keys.contains(&text.key.index()))
    }

    /// Replaces a description in all versions, if it becomes smaller.
    fn shorten(&mut self, twins: &[Text<'n>], short: &str, out: &mut Trimmed) {
        let Some(text) = twins.first() else { return };
        let (old, new) = (size::string(self.text_of(text)), size::string(short));
        if new >= old || self.is_gone(text) {
            return;
        }
        let is_free = |text: &Text<'n>| {
            let edit = replacement(text.value, short);
            self.entries.is_own(text.value) && text.is_only && self.entries.are_free(std::slice::from_ref(&edit))
        };
        if !twins.iter().all(is_free) {
            out.stuck += twins.len();
            return;
        }
        let what = if text.inside.is_some() { Saving::ShortenedInside } else { Saving::Shortened };
        for text in twins {
            self.texts.insert(text.value.index(), short.to_owned());
            save(out, what, old - new);
        }
    }

    /// Removes a text from all versions, if the layout allows it.
    fn remove(&mut self, twins: &[Text<'n>], out: &mut Trimmed) {
        if twins.iter().any(|text| self.is_gone(text)) {
            return;
        }
        let mut is_free = true;
        for text in twins {
            let keys = self.gone.entry(text.schema.index()).or_default();
            keys.insert(text.key.index());
            let edits = layout::remove(text.schema, keys);
            is_free &= edits.is_some_and(|edits| self.entries.are_free(&edits) && text.is_only);
        }
        for text in twins {
            let keys = self.gone.entry(text.schema.index()).or_default();
            if !is_free {
                keys.remove(&text.key.index());
                out.stuck += 1;
                continue;
            }
            let comma = usize::from(text.schema.len() > keys.len());
            let bytes = match self.texts.remove(&text.value.index()) {
                Some(short) => size::string(text.key.text()) + 1 + size::string(&short),
                None => size::member(text.key.text(), text.value),
            };
            let what = match (text.what, text.inside.is_some()) {
                (What::Description, true) => Saving::RemovedInside,
                (What::Description, false) => Saving::Removed,
                (What::Example, _) => Saving::Examples,
                (What::Title, _) => Saving::Titles,
                (What::Link, _) => Saving::Links,
            };
            save(out, what, bytes + comma);
        }
    }

    /// Returns the edits, sorted, and the changes that they make.
    pub(super) fn finish(self) -> (Vec<Edit>, fix::Plan) {
        let document = self.root.document();
        let mut edits: Vec<Edit> = Vec::new();
        for (schema, keys) in self.gone.iter().filter(|(_, keys)| !keys.is_empty()) {
            edits.extend(layout::remove(document.node(*schema), keys).unwrap_or_default());
        }
        edits.extend(self.texts.iter().map(|(at, text)| replacement(document.node(*at), text)));
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let removed = self.gone.into_values().flatten().collect();
        (edits, fix::Plan::of_texts(removed, self.texts))
    }
}

fn save(out: &mut Trimmed, what: Saving, bytes: usize) {
    let saved = out.saved.entry(what).or_default();
    saved.texts += 1;
    saved.bytes += bytes;
    out.after = out.after.saturating_sub(bytes);
}

/// Returns the edit that replaces a string.
fn replacement(value: Node<'_>, new: &str) -> Edit {
    let document = value.document();
    let source = document.source();
    let range = value.span();
    let old = source.get(range.clone()).unwrap_or_default();
    let is_flow = source.as_bytes().get(range.start) == Some(&b'"') || document.is_json();
    let mut text = if !is_flow && is_plain(new) { new.to_owned() } else { quoted(new) };
    // A block scalar ends with its line.
    if old.ends_with('\n') {
        text.push_str(if old.ends_with("\r\n") { "\r\n" } else { "\n" });
    }
    Edit { range, text }
}

/// Returns whether YAML reads words without quotes as this string, in block and flow style.
fn is_plain(text: &str) -> bool {
    let is_safe = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '(' | ')' | '/' | '-' | '_' | '\'' | ';');
    // One word without a period may be a boolean or null.
    (text.contains(' ') || text.ends_with('.')) && text.starts_with(char::is_alphabetic) && text.chars().all(is_safe)
}

/// Returns a string in double quotes, as JSON and YAML read it.
fn quoted(text: &str) -> String {
    let mut json = Vec::new();
    kubeshape_yaml::go::escape::string(&mut json, text, kubeshape_yaml::go::escape::Escape::Plain);
    let json = String::from_utf8(json).unwrap_or_default();
    // JSON allows these characters without an escape. YAML does not, or reads them as line breaks.
    let needs_escape =
        |c: char| matches!(c, '\u{7F}'..='\u{9F}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}');
    if !json.contains(needs_escape) {
        return json;
    }
    let escaped = |c: char| if needs_escape(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    json.chars().map(escaped).collect()
}
