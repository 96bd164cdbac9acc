//! Defaults in schemas.

use super::options::Options;
use kubeshape_schema::Schema;
use kubeshape_schema::field::{Error, Path};
use kubeshape_yaml::Document;

pub(super) fn validate(_: &Schema<'_>, _: &Path<'_>, _: &Options<'_>, _: Document<'_>, _: &mut Vec<Error>) {}

pub(super) fn has_unpruned(_: &Schema<'_>) -> bool {
    false
}
