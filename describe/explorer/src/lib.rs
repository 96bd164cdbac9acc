//! The explorer of kubeshape: a web application, and drawings of graphs.
//!
//! [`Drawing`] is a graph of names. It is printed as SVG, for Graphviz, or as Mermaid. With the feature `files`,
//! `FILES` are the files of the application.

mod drawing;
mod layout;
mod svg;

pub use drawing::{Drawing, Edge, MAX_NODES, TooLarge};

/// A file of the application.
#[cfg(feature = "files")]
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its path below the page.
    pub path: &'static str,
    /// Its media type.
    pub content_type: &'static str,
    /// Its bytes.
    pub bytes: &'static [u8],
}

/// The files of the application: the page is the first one.
#[cfg(feature = "files")]
pub const FILES: [File; 6] = [
    File { path: "index.html", content_type: "text/html; charset=utf-8", bytes: include_bytes!("../dist/index.html") },
    File { path: "app.js", content_type: "text/javascript; charset=utf-8", bytes: include_bytes!("../dist/app.js") },
    File { path: "app.css", content_type: "text/css; charset=utf-8", bytes: include_bytes!("../dist/app.css") },
    File {
        path: "editor.js",
        content_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../dist/editor.js"),
    },
    File {
        path: "worker.js",
        content_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../dist/worker.js"),
    },
    // Always compressed, for all servers: the application unpacks it.
    File {
        path: "kubeshape.wasm.gz",
        content_type: "application/octet-stream",
        bytes: include_bytes!("../dist/kubeshape.wasm.gz"),
    },
];
