//! Server-side apply on files: `apply`, `update`, `blame`, `extract`, `compare`, `merge`, `fieldset`.
//!
//! `kubeshape-registry` does what an API server does with objects; the commands read, call it and print.

mod apply;
mod blame;
mod compare;
mod sets;
