//! What clap suggests for a command line that is wrong, where it is misleading.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};
use kubeshape_schema::nearest;

/// Takes out tips that lead nowhere, and names the nearest command for a mistyped one.
pub(crate) fn correct(error: &mut Error) {
    // `use '-- -x'` passes an option that does not exist as the name of a file, which nobody means.
    if error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
    }
    if error.kind() != ErrorKind::InvalidSubcommand {
        return;
    }
    // clap takes words for similar that have some letters in common, such as `diff` and `serve`.
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::SuggestedSubcommand);
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return };
    let commands = crate::args::Cli::command();
    // The usage names the command that the word is behind.
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let above = usage.split_whitespace().find_map(|word| commands.find_subcommand(word)).unwrap_or(&commands);
    let near = nearest(typed, above.get_subcommands().map(clap::Command::get_name));
    if !near.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
    }
}
