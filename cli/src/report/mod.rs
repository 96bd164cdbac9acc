//! Messages of the command: findings, progress and a summary on standard error, and the report file.
//!
//! A [`Finding`](kubeshape_input::Finding) is rendered by [`render`] with the advice of its code; [`Ui`] decides which
//! findings are shown. In the [`Report`], a finding is a line. The commands make findings; nothing here knows the commands.

mod file;
mod line;
mod render;
mod tally;
mod ui;

pub(crate) use file::Report;
pub(crate) use line::{is_finding, write_line};
pub(crate) use tally::{Tally, Totals};
pub(crate) use ui::{Ui, fatal, is_coloured, print};
