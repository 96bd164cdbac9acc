//! The files from which the explorer shows kinds before it reads any input.

use crate::Session;
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl Session {
    /// Makes the data of a static site: `index.json` with the kinds, a file for each input, and two for each kind: its
    /// tree, and all about its fields. `write` gets the name and the content of each.
    ///
    /// # Errors
    /// That of `write`.
    pub fn site<E>(&mut self, mut write: impl FnMut(&str, &[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut inputs = Vec::new();
        for (at, (name, text)) in self.texts.iter().enumerate() {
            let file = format!("input-{at}");
            write(&file, text)?;
            inputs.push(json!({ "name": name, "file": file }));
        }
        let mut kinds = match self.kinds() {
            Value::Array(kinds) => kinds,
            _ => Vec::new(),
        };
        for (at, kind) in kinds.iter_mut().enumerate() {
            let text = |name: &str| kind[name].as_str().unwrap_or_default().to_owned();
            let (api_version, name) = (text("apiVersion"), text("kind"));
            let file = format!("kind-{at}");
            // The first view needs the tree alone, and the details are much larger.
            write(&format!("{file}.json"), self.tree(&api_version, &name).to_string().as_bytes())?;
            write(&format!("{file}-fields.json"), self.all_fields(&api_version, &name).to_string().as_bytes())?;
            kind["file"] = json!(file);
        }
        write("index.json", json!({ "kinds": kinds, "inputs": inputs }).to_string().as_bytes())
    }

    /// The data of a site in memory, by name.
    pub fn site_files(&mut self) -> BTreeMap<String, Vec<u8>> {
        let mut out = BTreeMap::new();
        let made: Result<(), std::convert::Infallible> = self.site(|name, bytes| {
            out.insert(name.to_owned(), bytes.to_owned());
            Ok(())
        });
        let Ok(()) = made;
        out
    }
}
