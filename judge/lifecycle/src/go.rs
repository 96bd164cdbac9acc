//! Reads types and feature gates from Go files, with tree-sitter's grammar.

use crate::tag::{self, Line};
use kubeshape_input::Source;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use tree_sitter::{Node, Parser, Tree, TreeCursor};

/// The maximum number of lines of a comment. Every field of a declaration has them.
const MAX_LINES: usize = 1024;
/// The maximum number of names in one field declaration: `A, B int`.
const MAX_NAMES: usize = 16;
/// The maximum depth of pointers, lists and maps in the type of a field.
const MAX_TYPE_DEPTH: usize = 64;

/// A struct type or an alias.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoType {
    /// The name.
    pub name: String,
    /// The byte range of the name.
    pub span: Range<usize>,
    /// The byte range of the comments before it, including a block that is separated by an empty line.
    pub comments: Range<usize>,
    /// The fields; empty if it is not a struct.
    pub fields: Vec<GoField>,
    /// The aliased type, unless it is a struct.
    pub alias: Option<TypeRef>,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoField {
    /// The name in Go; for an embedded field the name of its type.
    pub name: String,
    /// The byte range of the name.
    pub span: Range<usize>,
    /// The byte range of the comments before it.
    pub comments: Range<usize>,
    /// Its JSON form.
    pub json: Json,
    /// Its type.
    pub type_ref: TypeRef,
}

/// The JSON form of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// As a member of this name.
    Member(String),
    /// Its members are inlined in the parent.
    Inline,
    /// It is not serialized: its tag is `-`, or its name is not exported.
    None,
}

/// The type of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeRef {
    /// The lists and maps around the named type, from the outside.
    pub steps: Vec<Step>,
    /// The package name before the dot, for a type of another package.
    pub package: Option<String>,
    /// The name of the type, or empty.
    pub name: String,
}

/// A list or a map around a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The items of a list.
    Items,
    /// The values of a map.
    Values,
}

/// A Go file that was read for its types.
#[derive(Clone, Debug)]
pub struct GoFile {
    /// The source with its name.
    pub source: Arc<Source>,
    /// The name in the package clause.
    pub package: String,
    /// The byte range before the package clause.
    pub header: Range<usize>,
    /// Names of imported packages with their paths.
    pub imports: BTreeMap<String, String>,
    /// The types in source order.
    pub types: Vec<GoType>,
    /// The first syntax error.
    pub broken: Option<Range<usize>>,
}

/// Parses Go. Returns `None` for strings that are too long for the parser (4 GB).
pub(crate) fn parse(parser: &mut Parser, text: &str) -> Option<Tree> {
    parser.parse(text, None)
}

/// Returns a parser of Go.
///
/// # Errors
/// The grammar does not fit the parser, which is a build error.
pub(crate) fn parser() -> Result<Parser, tree_sitter::LanguageError> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_go::LANGUAGE.into())?;
    Ok(parser)
}

/// Returns the source of a node.
pub(crate) fn text<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// Returns the content of a string literal without escapes. Neither tags nor names of gates have any.
pub(crate) fn unquoted<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    let text = text(node, source);
    text.get(1..text.len().saturating_sub(1)).unwrap_or_default()
}

/// Returns the first error of a tree.
pub(crate) fn broken(tree: &Tree) -> Option<Range<usize>> {
    let root = tree.root_node();
    if !root.has_error() {
        return None;
    }
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            return Some(node.byte_range());
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(root.byte_range());
            }
        }
    }
}

/// The comments before a node: the last block of lines that ends directly before it, and, if `second`, also the block
/// above an empty line (as gengo reads the comments of types).
#[derive(Clone, Debug, Default)]
pub(crate) struct Comments {
    /// The byte range of each block, and the row after its end.
    blocks: Vec<(Range<usize>, usize)>,
}

impl Comments {
    pub(crate) fn add(&mut self, node: Node<'_>) {
        let (start, end) = (node.start_position().row, node.end_position().row + 1);
        match self.blocks.last_mut() {
            Some((range, next)) if *next == start => {
                range.end = node.end_byte();
                *next = end;
            }
            _ => self.blocks.push((node.byte_range(), end)),
        }
    }

    /// Drops everything before the end of `node`, and comments on the same row, which belong to that node.
    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
    }

    pub(crate) fn before(&self, node: Node<'_>, second: bool) -> Range<usize> {
        let row = node.start_position().row;
        let mut blocks = self.blocks.iter().rev().peekable();
        let none = node.start_byte()..node.start_byte();
        match blocks.next() {
            Some((range, next)) if *next == row => match blocks.next() {
                Some((other, _)) if second => other.start..range.end,
                _ => range.clone(),
            },
            Some((range, next)) if second && *next + 1 == row => range.clone(),
            _ => none,
        }
    }
}

impl GoFile {
    /// Reads a file. Invalid Go is skipped; [`GoFile::broken`] is its first location.
    pub(crate) fn read(parser: &mut Parser, source: Arc<Source>) -> GoFile {
        let mut file = GoFile {
            source,
            package: String::new(),
            header: 0..0,
            imports: BTreeMap::new(),
            types: Vec::new(),
            broken: None,
        };
        let source = Arc::clone(&file.source);
        let Some(tree) = parse(parser, source.text()) else {
            file.broken = Some(0..0);
            return file;
        };
        file.broken = broken(&tree);
        file.declarations(&tree, source.text());
        file
    }

    /// Returns the lines of the comments in a range of the file, at most 1024.
    pub fn lines(&self, comments: &Range<usize>) -> impl Iterator<Item = Line<'_>> {
        let text = self.source.text().get(comments.clone()).unwrap_or_default();
        tag::lines(text, comments.start).take(MAX_LINES)
    }

    fn declarations(&mut self, tree: &Tree, text: &str) {
        let mut cursor = tree.walk();
        let mut comments = Comments::default();
        // The row on which the last declaration ends: a comment there belongs to it.
        let mut last_row = None;
        if !cursor.goto_first_child() {
            return;
        }
        loop {
            let node = cursor.node();
            match node.kind() {
                "comment" => {
                    if last_row != Some(node.start_position().row) {
                        comments.add(node);
                    }
                }
                "package_clause" => {
                    self.package =
                        node.named_child(0).map(|name| self::text(name, text).to_owned()).unwrap_or_default();
                    self.header = 0..node.start_byte();
                    comments.clear();
                }
                "import_declaration" => {
                    self.import(node, text);
                    comments.clear();
                }
                "type_declaration" => {
                    self.type_declaration(node, &comments, text);
                    comments.clear();
                }
                "\n" | ";" => {}
                _ => comments.clear(),
            }
            if node.is_named() && node.kind() != "comment" {
                last_row = Some(node.end_position().row);
            }
            if !cursor.goto_next_sibling() {
                return;
            }
        }
    }

    fn import(&mut self, node: Node<'_>, text: &str) {
        let mut cursor = node.walk();
        let mut specs: Vec<Node<'_>> = Vec::new();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "import_spec" => specs.push(child),
                "import_spec_list" => {
                    let mut inner = child.walk();
                    specs.extend(child.named_children(&mut inner).filter(|spec| spec.kind() == "import_spec"));
                }
                _ => {}
            }
        }
        for spec in specs {
            let Some(path) = spec.child_by_field_name("path") else { continue };
            let path = unquoted(path, text);
            let name = spec.child_by_field_name("name").map(|name| self::text(name, text));
            let name = name.unwrap_or_else(|| path.rsplit('/').next().unwrap_or(path));
            self.imports.entry(name.to_owned()).or_insert_with(|| path.to_owned());
        }
    }

    fn type_declaration(&mut self, node: Node<'_>, comments: &Comments, text: &str) {
        let mut cursor = node.walk();
        let is_group = node.child(1).is_some_and(|child| child.kind() == "(");
        let mut inner = Comments::default();
        let mut last_row = None;
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "comment" if last_row != Some(child.start_position().row) => inner.add(child),
                "type_spec" | "type_alias" => {
                    last_row = Some(child.end_position().row);
                    let comments = if is_group { inner.before(child, true) } else { comments.before(node, true) };
                    inner.clear();
                    self.type_spec(child, comments, text);
                }
                _ => {}
            }
        }
    }

    fn type_spec(&mut self, node: Node<'_>, comments: Range<usize>, text: &str) {
        let (Some(name), Some(kind)) = (node.child_by_field_name("name"), node.child_by_field_name("type")) else {
            return;
        };
        let is_struct = kind.kind() == "struct_type";
        let mut read = GoType {
            name: self::text(name, text).to_owned(),
            span: name.byte_range(),
            comments,
            fields: Vec::new(),
            alias: (!is_struct).then(|| type_ref(kind, text)),
        };
        if is_struct && let Some(list) = kind.named_child(0).filter(|list| list.kind() == "field_declaration_list") {
            fields(&mut list.walk(), text, &mut read.fields);
        }
        self.types.push(read);
    }
}

/// Reads the fields of the list at the cursor.
fn fields(cursor: &mut TreeCursor<'_>, text: &str, out: &mut Vec<GoField>) {
    if !cursor.goto_first_child() {
        return;
    }
    let mut comments = Comments::default();
    let mut last_row = Some(cursor.node().start_position().row);
    loop {
        let node = cursor.node();
        match node.kind() {
            "comment" if last_row != Some(node.start_position().row) => comments.add(node),
            "field_declaration" => {
                last_row = Some(node.end_position().row);
                field(node, &comments.before(node, false), text, out);
                comments.clear();
            }
            _ => {}
        }
        if !cursor.goto_next_sibling() {
            return;
        }
    }
}

fn field(node: Node<'_>, comments: &Range<usize>, text: &str, out: &mut Vec<GoField>) {
    let Some(kind) = node.child_by_field_name("type") else { return };
    let type_ref = type_ref(kind, text);
    let tag = node.child_by_field_name("tag").map(|tag| unquoted(tag, text)).unwrap_or_default();
    let json = json_tag(tag);
    let mut cursor = node.walk();
    let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut cursor).collect();
    let mut push = |name: &str, span: Range<usize>, json: Json| {
        let is_exported = name.chars().next().is_some_and(char::is_uppercase);
        // The members of an embedded struct are serialized even if its name is not exported.
        let json = if is_exported || json == Json::Inline { json } else { Json::None };
        out.push(GoField { name: name.to_owned(), span, comments: comments.clone(), json, type_ref: type_ref.clone() });
    };
    if names.is_empty() {
        let json = match json {
            Some(("-", "")) => Json::None,
            None | Some(("", _)) => Json::Inline,
            Some((name, _)) => Json::Member(name.to_owned()),
        };
        push(&type_ref.name, kind.byte_range(), json);
        return;
    }
    for name in names.into_iter().take(MAX_NAMES) {
        let go = self::text(name, text);
        let json = match json {
            Some(("-", "")) => Json::None,
            Some(("", options)) if options.split(',').any(|option| option == "inline") => Json::Inline,
            None | Some(("", _)) => Json::Member(go.to_owned()),
            Some((name, _)) => Json::Member(name.to_owned()),
        };
        push(go, name.byte_range(), json);
    }
}

/// Returns name and options of the key `json` in a struct tag.
fn json_tag(tag: &str) -> Option<(&str, &str)> {
    let mut rest = tag;
    loop {
        rest = rest.trim_start_matches(' ');
        let (key, after) = rest.split_once(":\"")?;
        let (value, next) = after.split_once('"')?;
        if key == "json" {
            let (name, options) = value.split_once(',').unwrap_or((value, ""));
            // The tag `-,` means the name `-`; `-` alone omits the field.
            return Some(if value == "-," { ("-", ",") } else { (name, options) });
        }
        rest = next;
    }
}

fn type_ref(node: Node<'_>, text: &str) -> TypeRef {
    let mut out = TypeRef::default();
    let mut node = node;
    for _ in 0..MAX_TYPE_DEPTH {
        let next = match node.kind() {
            "pointer_type" | "parenthesized_type" => node.named_child(0),
            "slice_type" | "array_type" => {
                out.steps.push(Step::Items);
                node.child_by_field_name("element")
            }
            "map_type" => {
                out.steps.push(Step::Values);
                node.child_by_field_name("value")
            }
            "generic_type" => node.child_by_field_name("type"),
            "type_identifier" => {
                self::text(node, text).clone_into(&mut out.name);
                // Bytes are a string in JSON.
                if out.name == "byte" && out.steps.last() == Some(&Step::Items) {
                    out.steps.pop();
                }
                None
            }
            "qualified_type" => {
                out.package = node.child_by_field_name("package").map(|name| self::text(name, text).to_owned());
                out.name =
                    node.child_by_field_name("name").map(|name| self::text(name, text).to_owned()).unwrap_or_default();
                None
            }
            _ => None,
        };
        match next {
            Some(next) => node = next,
            None => return out,
        }
    }
    TypeRef::default()
}
