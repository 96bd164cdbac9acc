//! Server-side apply on files: `apply`, `update`, `blame`, `extract`, `compare`, `merge`, `fieldset`.
//!
//! `kubeshape-registry` does with objects what an API server does. The commands read, call it and print.

mod apply;
mod blame;
mod compare;
mod sets;
