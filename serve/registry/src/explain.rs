//! Converts borrowed merge errors to owned errors with places.

use crate::error::{Conflict, Conflicts, Error, FieldError, FieldErrorKind, Invalid};
use crate::kind::Kind;
use crate::locate::{Found, Paths, Pointers, at_pointer, steps};
use crate::location::Location;
use crate::registry::Registry;
use crate::schema_location::declares;
use kubeshape_smd::Bump;
use kubeshape_smd::fieldpath::DisplayPath;
use kubeshape_smd::managed::{self, DecodeError, Gvk, ManagerConflict, Step};
use kubeshape_smd::typed::{ValidationErrorKind, ValidationErrors};
use kubeshape_yaml::Node;

/// The places of the objects of a request, if they were read from inputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Locations<'l> {
    /// The configuration or new object.
    pub config: Option<&'l Location>,
    /// The live object.
    pub live: Option<&'l Location>,
}

impl Registry {
    /// Converts an error of an endpoint to an owned error with places; `gvk` is the kind of the endpoint.
    pub fn explain(&self, error: &managed::Error<'_>, gvk: Gvk<'_>, objects: Locations<'_>) -> Error {
        let Locations { config, live } = objects;
        match error {
            managed::Error::Conflicts(conflicts) => {
                let arena = Bump::new();
                let mut paths = [config, live].map(|object| Some((object?, Paths::new(object?.node(), &arena))));
                let all = conflicts.0.iter().zip(conflicts.causes());
                let conflicts = all.map(|(conflict, cause)| self::conflict(conflict, cause.message, &mut paths));
                let conflicts = conflicts.collect();
                Conflicts { message: error.to_string(), conflicts }.into()
            }
            managed::Error::ManagedFieldsNotNil => {
                let found = config.map(|object| {
                    let found = at_pointer(object.node(), "/metadata/managedFields");
                    object.at(found.key.unwrap_or(found.value))
                });
                Error::ManagedFieldsGiven { message: error.to_string(), location: found }
            }
            managed::Error::Decode(decode) => managed_fields_error(decode, live.or(config)),
            managed::Error::BeforeFirstApply(error) => self.explain(error, gvk, objects),
            managed::Error::Invalid { step, errors, object } => {
                let is_live = matches!(step, Step::LiveOfApply | Step::LiveOfUpdate)
                    || errors.0.first().is_some_and(|error| is_only_in(live, config, &error.pointer));
                let location = if is_live { live.or(config) } else { config };
                let of = self.kind(object.gvk).or_else(|| self.kind(gvk));
                Invalid { message: error.to_string(), ..self.invalid(errors, of, object.gvk, location, is_live) }.into()
            }
            other => Error::Refused { message: other.to_string(), code: other.status().code },
        }
    }

    /// Returns the errors of an object of a kind, with places if it was read from an input.
    pub(crate) fn invalid(
        &self,
        errors: &ValidationErrors,
        kind: Option<&Kind>,
        gvk: Gvk<'_>,
        location: Option<&Location>,
        is_live: bool,
    ) -> Invalid {
        let message = errors.to_string();
        Invalid { message, is_live, errors: self.field_errors(errors, kind, gvk, location) }
    }

    /// Returns the errors of the fields of an object, in document order if it was read from an input.
    pub fn field_errors(
        &self,
        errors: &ValidationErrors,
        kind: Option<&Kind>,
        gvk: Gvk<'_>,
        location: Option<&Location>,
    ) -> Vec<FieldError> {
        let mut pointers = location.map(|object| Pointers::new(object.node()));
        let mut found: Vec<(usize, FieldError)> = Vec::with_capacity(errors.0.len());
        for error in &errors.0 {
            let at = pointers.as_mut().map(|pointers| pointers.at(&error.pointer));
            let path = steps(&error.pointer);
            let (error_kind, shown, declared): (_, Option<_>, _) = match &error.kind {
                ValidationErrorKind::UndeclaredField { name, nearest } => {
                    let parent = path.split_last().map_or(&[][..], |(_, parent)| parent);
                    let declared = kind.and_then(|kind| crate::schema_location::location(kind, parent));
                    let declared_by = self.declared_by(gvk, &path);
                    let kind = FieldErrorKind::Undeclared { name: name.clone(), nearest: nearest.clone(), declared_by };
                    (kind, at.map(|at| at.key.unwrap_or(at.value)), declared)
                }
                ValidationErrorKind::Other(message) => {
                    let is_duplicate = message.starts_with("duplicate entries");
                    let declared = kind.and_then(|kind| crate::schema_location::location(kind, &path));
                    let kind = if is_duplicate { FieldErrorKind::Duplicate } else { FieldErrorKind::Type };
                    (kind, at.map(|at: Found<'_>| at.shown()), declared)
                }
            };
            let place = |node| location.map(|object| object.at(node));
            found.push((
                shown.map_or(0, |node| node.span().start),
                FieldError {
                    path: error.path.clone(),
                    pointer: error.pointer.clone(),
                    kind: error_kind,
                    message: error.to_string(),
                    location: shown.and_then(place),
                    value: at.and_then(|at| place(at.value)),
                    declared,
                },
            ));
        }
        // In document order.
        found.sort_by_key(|(start, _)| *start);
        found.into_iter().map(|(_, error)| error).collect()
    }

    /// Returns the other versions of a kind that declare a field, or `None` if there are no other versions.
    fn declared_by(&self, gvk: Gvk<'_>, path: &[String]) -> Option<Vec<String>> {
        let versions = || self.versions(gvk.group(), gvk.kind());
        if versions().count() < 2 {
            return None;
        }
        let others = versions().filter(|other| other.gvk() != gvk && declares(other, path));
        Some(others.map(|other| other.api_version().to_owned()).collect())
    }
}

/// Returns whether only the live object has a field. A patch is the live object with the configuration over it, so an
/// invalid field may come from either.
fn is_only_in(live: Option<&Location>, config: Option<&Location>, pointer: &str) -> bool {
    fn below<'n>(node: Node<'n>, step: &str) -> Option<Node<'n>> {
        node.get(step).or_else(|| step.parse().ok().and_then(|at| node.items().nth(at)))
    }
    let path = steps(pointer);
    let has = |object: &Location| path.iter().try_fold(object.node(), |node, step| below(node, step)).is_some();
    live.is_some_and(has) && !config.is_some_and(has)
}

fn conflict<'a: 'v, 'v>(
    conflict: &ManagerConflict<'_>,
    message: String,
    paths: &mut [Option<(&Location, Paths<'a, 'v>)>; 2],
) -> Conflict {
    let [location, live_location] = paths.each_mut().map(|object| {
        let (object, paths) = object.as_mut()?;
        Some(object.at(paths.at(&conflict.path).shown()))
    });
    Conflict {
        manager: conflict.manager.clone(),
        operation: conflict.operation,
        api_version: conflict.api_version.clone(),
        subresource: conflict.subresource.clone(),
        time: conflict.time,
        path: DisplayPath(&conflict.path).to_string(),
        live: conflict.live.map(kubeshape_smd::Value::to_serde),
        new: conflict.new.map(kubeshape_smd::Value::to_serde),
        location,
        // Without the field, only its parent was found.
        live_location: live_location.filter(|_| conflict.live.is_some()),
        message,
    }
}

/// Returns an error for unreadable managed fields, with its place.
pub fn managed_fields_error(error: &DecodeError, object: Option<&Location>) -> Error {
    let (entry, field) = match error {
        DecodeError::Operation { entry } => (entry, "operation"),
        DecodeError::ApiVersion { entry } => (entry, "apiVersion"),
        DecodeError::MissingFieldsType { entry } | DecodeError::FieldsType { entry, .. } => (entry, "fieldsType"),
        DecodeError::Fields { entry, .. } => (entry, "fieldsV1"),
    };
    let pointer = format!("/metadata/managedFields/{entry}/{field}");
    let location = object.map(|object| object.at(at_pointer(object.node(), &pointer).shown()));
    Error::ManagedFields { message: error.to_string(), location }
}
