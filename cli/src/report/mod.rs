//! Messages of the command: findings, progress and a summary on standard error, and the report file.
//!
//! A [`Finding`](kubeshape_input::Finding) is shown by [`Ui`] in the format that is asked for: to people by [`render`]
//! and [`losses`], to programs by [`line`], [`sarif`], [`github`], [`gitlab`] and [`junit`], and to readers as a
//! [`document`] by [`markdown`] and [`html`]. Its level is decided by [`Levels`](kubeshape_schema::Levels), and [`Filter`]
//! decides what is shown at all. In the [`Report`], a finding is a line. The commands make findings; nothing here knows
//! the commands.

mod claims;
pub(crate) mod clean;
mod document;
mod example;
mod fatal;
mod file;
mod github;
mod gitlab;
mod html;
mod junit;
mod line;
mod losses;
mod markdown;
pub(crate) mod markup;
mod matrix;
mod releases;
mod render;
mod sarif;
mod summary;
mod tally;
mod ui;
mod wrap;

pub(crate) use claims::Claims;
pub(crate) use document::{Answers, Changed};
pub(crate) use example::{example, indented};
pub(crate) use fatal::fatal;
pub(crate) use file::Report;
pub(crate) use line::{is_finding, write_line};
pub(crate) use releases::{of_releases, on_some};
pub(crate) use tally::{Tally, Totals};
pub(crate) use ui::{
    Filter, Setup, Ui, is_coloured, is_output_coloured, print, print_for_people, print_own, refuse, say_aside,
};
pub(crate) use wrap::{width_of_output, wrap};

pub(crate) use kubeshape_input::Capped;
