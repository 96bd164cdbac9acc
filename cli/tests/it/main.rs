//! Integration tests of the command. Each runs the binary in its own folder.

mod apply;
mod bad_input;
mod broken_documents;
mod budgets;
mod build_files;
mod built_in;
mod check;
mod common;
mod config;
mod convert;
mod diff;
mod documents;
mod explore;
mod fields;
mod findings;
mod folders;
mod guides;
mod kept;
mod kinds;
mod kustomize;
mod layouts;
mod lifecycle;
mod other;
mod output;
mod pipes;
mod policies;
#[cfg(feature = "cluster")]
mod pull;
mod record;
mod releases;
#[cfg(feature = "cluster")]
mod replayed;
mod scenario;
mod serve;
mod serve_attacks;
mod serve_data;
mod serve_kubectl;
mod serve_lifecycle;
mod serve_names;
mod serve_write_back;
mod show;
mod stream;
mod suites;
mod terminal;
mod upgrade;
mod validate;
