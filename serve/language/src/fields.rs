//! The fields of a kind, found by the steps that lead to them.

use crate::Step;
use kubeshape_input::Place;
use kubeshape_show::explain::Field;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where something is declared: an input, and a place in it.
pub type Declared = (Arc<str>, Place);

/// The fields of a kind, with an index.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// The fields, parents first.
    pub fields: Vec<Field>,
    /// Where each is declared, if a user can open it.
    pub declared: Vec<Option<Declared>>,
    /// Where the kind is declared.
    pub definition: Option<Declared>,
    /// The fields by their pointers.
    by_pointer: BTreeMap<String, usize>,
    /// The fields below each pointer.
    below: BTreeMap<String, Vec<usize>>,
}

impl Fields {
    /// Creates an index of fields, as [`kubeshape_show::explain::fields`] returns them.
    pub fn new(fields: Vec<Field>, declared: Vec<Option<Declared>>, definition: Option<Declared>) -> Fields {
        let mut out = Fields { declared, definition, ..Fields::default() };
        for (at, field) in fields.iter().enumerate() {
            out.by_pointer.entry(field.pointer.clone()).or_insert(at);
            let parent = field.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
            out.below.entry(parent.to_owned()).or_default().push(at);
        }
        out.fields = fields;
        out
    }

    /// Returns the pointer of the steps: the first item stands for all items, and `*` for keys of a map.
    pub fn pointer(&self, steps: &[Step]) -> String {
        let mut out = String::new();
        for step in steps {
            let before = out.len();
            out.push('/');
            match step {
                Step::Index(_) => out.push('0'),
                Step::Key(key) => {
                    out.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    if !self.by_pointer.contains_key(&out) && !self.below.contains_key(&out) {
                        let named = out.split_off(before);
                        out.push_str("/*");
                        if !self.below.contains_key(&out) {
                            out.truncate(before);
                            out.push_str(&named);
                        }
                    }
                }
            }
        }
        out
    }

    /// Returns the number of a field.
    pub fn number(&self, pointer: &str) -> Option<usize> {
        self.by_pointer.get(pointer).copied()
    }

    /// Returns a field.
    pub fn field(&self, pointer: &str) -> Option<&Field> {
        self.fields.get(self.number(pointer)?)
    }

    /// Returns the fields directly below a value, in order.
    pub fn below<'f>(&'f self, pointer: &str) -> impl Iterator<Item = &'f Field> + use<'f> {
        let numbers = self.below.get(pointer).map(Vec::as_slice).unwrap_or_default();
        numbers.iter().filter_map(|number| self.fields.get(*number))
    }

    /// Returns whether there are fields below a value.
    pub fn has_below(&self, pointer: &str) -> bool {
        self.below.contains_key(pointer)
    }
}

/// Returns the last name of a field's pointer.
pub(crate) fn name(field: &Field) -> String {
    let name = field.pointer.rsplit('/').next().unwrap_or_default();
    name.replace("~1", "/").replace("~0", "~")
}

/// Returns a fact about a field.
pub(crate) fn fact<'f>(field: &'f Field, name: &str) -> Option<&'f str> {
    field.facts.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}
