//! Messages in the wording of older releases.

use crate::names;
use crate::release::{AskedRelease, Change};
use kubeshape_schema::field::{Error, ErrorType, Errors};
use std::collections::HashSet;

/// How a release before [`Change::OneWordingOfLengths`] says that a value has too many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lengths {
    /// `field.TooLong`, for metadata.
    Bytes,
    /// `field.TooLongMaxLength`, for values of a schema with `maxLength`.
    Values,
}

/// Rewords errors from an index on that are about long values and long lists: `field.TooLong`, `field.TooLongMaxLength`
/// and `field.TooMany`.
pub(crate) fn lengths(errors: &mut [Error], from: usize, before: Lengths, release: &AskedRelease) {
    for error in errors.iter_mut().skip(from) {
        let number = || error.detail.bytes().filter(u8::is_ascii_digit).map(char::from).collect::<String>();
        let detail = match error.error_type {
            ErrorType::TooLong if !release.has(Change::OneWordingOfLengths) => match before {
                Lengths::Bytes => format!("must have at most {} bytes", number()),
                Lengths::Values => format!("may not be longer than {}", number()),
            },
            ErrorType::TooLong | ErrorType::TooMany
                if error.detail.contains(" 1 ") && !release.has(Change::ShortMessages) =>
            {
                format!("{}s", error.detail)
            }
            _ => continue,
        };
        error.detail = detail;
    }
}

/// Rewords errors from an index on that are about keys and values of labels: `IsQualifiedName`, `IsValidLabelValue`.
pub(crate) fn labels(errors: &mut [Error], from: usize, release: &AskedRelease) {
    for error in errors.iter_mut().skip(from).filter(|error| error.error_type == ErrorType::Invalid) {
        if let Some(detail) = older_label(&error.detail).filter(|_| !release.has(Change::LabelKeys)) {
            error.detail = detail;
        }
    }
}

/// Returns the errors of a qualified name: `IsQualifiedName`, `IsLabelKey`.
pub(crate) fn qualified_name(name: &str, release: &AskedRelease) -> names::Messages {
    let older = |message: String| match older_label(&message) {
        Some(older) if !release.has(Change::LabelKeys) => older,
        _ => message,
    };
    names::qualified_name(name).into_iter().map(older).collect()
}

/// Returns a message about a key or a value of a label before [`Change::LabelKeys`], if its wording differed.
fn older_label(message: &str) -> Option<String> {
    let name = message.strip_prefix("a valid label key ").map(|rest| format!("a qualified name {rest}"));
    let counts = message.contains("must be no more than ");
    let unit = || message.strip_suffix(" bytes").filter(|_| counts).map(|rest| format!("{rest} characters"));
    name.or_else(unit)
}

/// Drops duplicate errors from an index on, if a release does: `ErrorList.Filter` compares messages.
pub(crate) fn once(errors: &mut Errors, from: usize, release: &AskedRelease) {
    let mut seen = HashSet::new();
    let is_first: Vec<bool> = errors.iter().skip(from).map(|error| seen.insert(error.to_string())).collect();
    if is_first.contains(&false) && release.has(Change::MetadataErrorsOnce) {
        let mut index = 0;
        errors.retain(|_| {
            index += 1;
            index <= from || is_first.get(index - 1 - from) == Some(&true)
        });
    }
}
