//! The session for JavaScript. Answers are strings of JSON, which a browser reads faster than it builds objects from
//! WebAssembly.

#![allow(missing_docs)]

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Session {
    inner: crate::Session,
}

#[wasm_bindgen]
impl Session {
    #[wasm_bindgen(constructor)]
    pub fn new() -> Session {
        Session::default()
    }

    pub fn set(&mut self, name: &str, text: &[u8]) -> String {
        self.inner.set(name, text).to_string()
    }

    pub fn remove(&mut self, name: &str) {
        self.inner.remove(name);
    }

    pub fn text(&self, name: &str) -> String {
        self.inner.text(name)
    }

    pub fn kinds(&self) -> String {
        self.inner.kinds().to_string()
    }

    pub fn tree(&mut self, api_version: &str, kind: &str) -> String {
        self.inner.tree(api_version, kind).to_string()
    }

    pub fn field(&mut self, api_version: &str, kind: &str, index: usize) -> String {
        self.inner.field(api_version, kind, index).to_string()
    }

    pub fn search(&mut self, api_version: &str, kind: &str, text: &str) -> String {
        self.inner.search(api_version, kind, text).to_string()
    }

    pub fn page(&self, code: &str) -> String {
        self.inner.page(code).to_string()
    }

    pub fn shape(&self, api_version: &str, kind: &str, shape: &str) -> String {
        self.inner.shape(api_version, kind, shape).to_string()
    }

    pub fn locate(&self, api_version: &str, kind: &str, shape: &str, text: &str, path: &str) -> String {
        self.inner.locate(api_version, kind, shape, text, path).to_string()
    }

    pub fn check(&self, name: &str, releases: &str) -> String {
        self.inner.check(name, releases).to_string()
    }

    pub fn judge(&mut self, name: &str, text: &str, release: &str) -> String {
        self.inner.judge(name, text, release).to_string()
    }

    pub fn sample(&self, api_version: &str, kind: &str, maximal: bool) -> String {
        self.inner.sample(api_version, kind, maximal).to_string()
    }

    pub fn apply(&self, manager: &str, config: &str, other: &str, second: &str, force: bool) -> String {
        self.inner.apply([manager, config], [other, second], force).to_string()
    }

    pub fn compare(&self, old: &str, new: &str) -> String {
        self.inner.compare(old, new).to_string()
    }

    #[wasm_bindgen(js_name = treeOf)]
    pub fn tree_of(&self, text: &str, api_version: &str, kind: &str) -> String {
        self.inner.tree_of(text, api_version, kind).to_string()
    }

    pub fn graph(&mut self, input: &str, around: &str) -> String {
        self.inner.graph(input, around).to_string()
    }
}
