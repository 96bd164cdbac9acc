//! The objects of a file and their members.

use crate::{Encoding, File};
use kubeshape_yaml::{Flags, Kind, Node};
use lsp_types::{DocumentSymbol, SymbolKind};

/// How deep members are listed, and how many there are at most.
const DEPTH: usize = 4;
const MOST: usize = 5_000;

/// Returns the objects of a file, each with its members.
pub fn symbols(file: &File, encoding: Encoding) -> Vec<DocumentSymbol> {
    let mut out = Vec::new();
    let mut left = MOST;
    for part in file.parts() {
        let documents = file.documents(part);
        for object in documents.documents.iter().flat_map(kubeshape_input::Document::objects) {
            if left == 0 {
                return out;
            }
            let text = |key: &str| object.get(key).and_then(Node::as_str).unwrap_or_default();
            let name = object.get("metadata").and_then(|metadata| metadata.get("name")?.as_str());
            let named = [text("kind"), name.unwrap_or_default()].join(" ");
            let name = if named.trim().is_empty() { "document" } else { named.trim() };
            let symbol = Symbol { file, encoding, offset: part.range.start };
            out.extend(symbol.of(name, None, object, SymbolKind::OBJECT, DEPTH, &mut left));
        }
    }
    out
}

struct Symbol<'f> {
    file: &'f File,
    encoding: Encoding,
    offset: usize,
}

impl Symbol<'_> {
    fn of(
        &self,
        name: &str,
        key: Option<Node<'_>>,
        value: Node<'_>,
        kind: SymbolKind,
        depth: usize,
        left: &mut usize,
    ) -> Option<DocumentSymbol> {
        *left = left.checked_sub(1)?;
        let is_own = !value.entry().flags.has(Flags::ALIASED);
        let own = key.unwrap_or(value).span();
        let end = if is_own { value.span().end.max(own.end) } else { own.end };
        let range = |span: std::ops::Range<usize>| {
            self.file.text().range(span.start + self.offset..span.end + self.offset, self.encoding)
        };
        let mut children = Vec::new();
        if depth > 0 && is_own {
            for (key, below) in value.pairs() {
                let kind = match below.kind() {
                    Kind::Map => SymbolKind::MODULE,
                    Kind::Seq => SymbolKind::ARRAY,
                    Kind::Int | Kind::Float => SymbolKind::NUMBER,
                    Kind::True | Kind::False => SymbolKind::BOOLEAN,
                    _ => SymbolKind::STRING,
                };
                children.extend(self.of(key.text(), Some(key), below, kind, depth - 1, left));
            }
            for (number, item) in value.items().enumerate() {
                let name = ["name", "key", "type"].into_iter().find_map(|key| item.get(key)?.as_str());
                let name = name.map_or_else(|| number.to_string(), str::to_owned);
                children.extend(self.of(&name, None, item, SymbolKind::OBJECT, depth - 1, left));
            }
        }
        // The own range of a symbol must be in its range.
        let selection = if key.is_some() { own } else { own.start..own.start };
        // Clients refuse symbols without a name.
        let name = if name.trim().is_empty() { "\"\"" } else { name };
        #[allow(deprecated, reason = "the type has the member")]
        Some(DocumentSymbol {
            name: name.chars().filter(|c| !c.is_control()).take(200).collect(),
            detail: None,
            kind,
            tags: None,
            deprecated: None,
            range: range(selection.start..end),
            selection_range: range(selection),
            children: Some(children).filter(|children| !children.is_empty()),
        })
    }
}
