//! What the command tells people: findings, progress and a summary on standard error, and the report file.
//!
//! A [`Finding`] is rendered by [`render`] with the advice of its code; [`Ui`] decides which findings are shown.
//! [`Entry`] is a line of the [`Report`]. The commands make findings and entries; nothing here knows the commands.

mod file;
mod finding;
mod line;
mod render;
mod tally;
mod ui;

pub(crate) use file::Report;
pub(crate) use finding::{Excerpt, Finding, Lines};
pub(crate) use line::{Entry, is_finding};
pub(crate) use tally::{Tally, Totals};
pub(crate) use ui::{Ui, fatal, is_coloured, print};
