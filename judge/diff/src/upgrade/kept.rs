//! Finds fields that one schema keeps and another one drops (upstream: `pkg/apiserver/schema/pruning`).

use kubeshape_schema::{Flags, Schema};
use std::fmt;

/// Most fields to name.
const NAMED: usize = 20;
/// Most bytes of a path.
const LONGEST: usize = 200;

/// Dropped fields.
#[derive(Debug, Default)]
pub(super) struct Dropped {
    pub(super) fields: Vec<String>,
    /// How many more there are.
    pub(super) more: usize,
}

impl Dropped {
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

/// A version of a definition: the parts that decide what is kept.
#[derive(Clone, Copy)]
pub(super) struct Keeper<'a> {
    pub(super) schema: Option<&'a Schema<'a>>,
    /// `spec.preserveUnknownFields`: nothing is dropped.
    pub(super) preserves: bool,
}

/// Returns the fields of objects that the first version keeps and the second one drops. Below a field that the second
/// version knows, fields kept by `x-kubernetes-preserve-unknown-fields` are assumed to be kept.
pub(super) fn dropped(from: Keeper<'_>, to: Keeper<'_>) -> Dropped {
    let mut out = Dropped::default();
    if to.preserves {
        return out;
    }
    if from.preserves {
        out.lose(&Path::Any(&Path::Root));
    }
    out.value(from.schema, to.schema, &Path::Root);
    out
}

#[derive(Clone, Copy)]
enum Path<'p> {
    Root,
    Field(&'p Path<'p>, &'p str),
    Any(&'p Path<'p>),
    Item(&'p Path<'p>),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Field(Path::Root, name) => f.write_str(name),
            Path::Field(parent, name) => write!(f, "{parent}.{name}"),
            Path::Any(Path::Root) => f.write_str("*"),
            Path::Any(parent) => write!(f, "{parent}.*"),
            Path::Item(parent) => write!(f, "{parent}[]"),
        }
    }
}

/// What happens to a field.
enum Fate<'a> {
    /// Its content is pruned by this schema.
    Pruned(Option<&'a Schema<'a>>),
    Kept,
    Dropped,
}

fn fate<'a>(name: Option<&str>, schema: Option<&'a Schema<'a>>, is_embedded: bool) -> Fate<'a> {
    let Some(schema) = schema else { return Fate::Dropped };
    if is_embedded && name.is_some_and(is_meta) {
        return Fate::Kept;
    }
    match name.and_then(|name| schema.property(name)) {
        Some(property) => Fate::Pruned(Some(property)),
        None if schema.additional.is_some() => Fate::Pruned(schema.additional_schema()),
        None if schema.flags.any(Flags::PRESERVE_UNKNOWN) => Fate::Kept,
        None => Fate::Dropped,
    }
}

fn is_meta(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata")
}

impl Dropped {
    fn lose(&mut self, path: &Path<'_>) {
        if self.fields.len() >= NAMED {
            self.more += 1;
            return;
        }
        let mut text = path.to_string();
        if text.len() > LONGEST {
            let begin = (text.len() - LONGEST..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            text.replace_range(..begin, "…");
        }
        self.fields.push(text);
    }

    /// Schemas nest as deep as their reader allows.
    fn value(&mut self, from: Option<&Schema<'_>>, to: Option<&Schema<'_>>, path: &Path<'_>) {
        let Some(from) = from else { return };
        if to.is_some_and(|to| std::ptr::eq(from, to)) {
            return;
        }
        let is_embedded =
            |schema: &Schema<'_>| matches!(path, Path::Root) || schema.flags.any(Flags::EMBEDDED_RESOURCE);
        let to_embedded = matches!(path, Path::Root) || to.is_some_and(is_embedded);
        if is_embedded(from) && !to_embedded {
            for name in ["apiVersion", "kind", "metadata"] {
                if from.property(name).is_none() && matches!(fate(Some(name), to, false), Fate::Dropped) {
                    self.lose(&Path::Field(path, name));
                }
            }
        }
        for property in from.properties {
            let own = Path::Field(path, property.name);
            if is_embedded(from) && to_embedded && is_meta(property.name) {
                continue;
            }
            match fate(Some(property.name), to, to_embedded) {
                Fate::Pruned(below) => self.value(Some(&property.schema), below, &own),
                Fate::Kept => {}
                Fate::Dropped => self.lose(&own),
            }
        }
        let own = Path::Any(path);
        if from.additional.is_some() {
            match fate(None, to, false) {
                Fate::Pruned(below) => self.value(from.additional_schema(), below, &own),
                Fate::Kept => {}
                Fate::Dropped => self.lose(&own),
            }
        } else if from.flags.any(Flags::PRESERVE_UNKNOWN) && matches!(fate(None, to, false), Fate::Dropped) {
            self.lose(&own);
        }
        if let Some(item) = from.item()
            && !to.is_some_and(|to| to.item().is_none() && to.flags.any(Flags::PRESERVE_UNKNOWN))
        {
            self.value(Some(item), to.and_then(Schema::item), &Path::Item(path));
        }
    }
}
