//! Corrects the suggestions of clap for a wrong command line where they are misleading.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};
use kubeshape_schema::nearest;

/// Removes useless tips, and suggests the most similar command for a mistyped one.
pub(crate) fn correct(error: &mut Error) {
    // `use '-- -x'` would pass an unknown option as a file name, which is never intended.
    if error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
    }
    if error.kind() != ErrorKind::InvalidSubcommand {
        return;
    }
    // clap treats words with some common letters as similar, such as `diff` and `serve`.
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::SuggestedSubcommand);
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return };
    let commands = crate::args::Cli::command();
    // The usage names the command that the word follows.
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let above = usage.split_whitespace().find_map(|word| commands.find_subcommand(word)).unwrap_or(&commands);
    let near = nearest(typed, above.get_subcommands().map(clap::Command::get_name));
    if !near.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
    }
}
