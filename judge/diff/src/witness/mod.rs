//! Finds objects that show a change: the old definition accepts them, the new one rejects, prunes or stores them
//! differently.

mod candidates;
mod judge;
pub(crate) mod proof;
pub(crate) mod prove;

use crate::change::{Change, Class, Consumer};
use crate::confirm::confirmed;
use kubeshape_schema::Code;
use kubeshape_structural::Crd;
use proof::{Effort, Proof};

/// Returns a witness for each change that is breaking or risky for writers, or breaking for storage, in the order of
/// [`definitions`](crate::definitions). Validation proves each: the old definition accepts it, the new one does not.
///
/// Values are made from the old schema so that the new one rejects them at the place of the change. The object around a
/// value is made as small as the search can find. `effort` limits the work.
///
/// # Example
/// ```
/// use kubeshape_diff::{Effort, Proof, witnesses};
/// use kubeshape_schema::Bump;
/// use kubeshape_structural::read;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let text = |size: &str| format!("
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {{name: tabs.example.com}}
/// spec:
///   group: example.com
///   scope: Namespaced
///   names: {{plural: tabs, kind: Tab}}
///   versions:
///   - name: v1
///     served: true
///     storage: true
///     schema: {{openAPIV3Schema: {{type: object, properties: {{size: {size}}}}}}}
/// ");
/// let (old, new) = (text("{type: integer}"), text("{type: integer, maximum: 3}"));
/// let (mut old_tape, mut new_tape) = (Tape::new(), Tape::new());
/// Stream::new(old.as_bytes(), Limits::default())?.next(&mut old_tape).transpose()?;
/// Stream::new(new.as_bytes(), Limits::default())?.next(&mut new_tape).transpose()?;
/// let arena = Bump::new();
/// let old = read::read(old_tape.document(&old).root().unwrap(), &arena).value.unwrap();
/// let new = read::read(new_tape.document(&new).root().unwrap(), &arena).value.unwrap();
/// let proofs = witnesses(&old, &new, &Effort::default());
/// let Proof::Witness(witness) = &proofs[0] else { panic!("{proofs:?}") };
/// assert_eq!(witness.object["size"], 4);
/// assert_eq!(witness.errors, ["size: Invalid value: 4: size in body should be less than or equal to 3"]);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn witnesses(old: &Crd<'_>, new: &Crd<'_>, effort: &Effort) -> Vec<Proof> {
    let found = confirmed(old, new, effort.release);
    prove::proofs(old, new, &found, effort, |at| is_about_objects(&found.changes[at]))
}

fn is_about_objects(change: &Change) -> bool {
    change.class_for(Consumer::Writers).is_some_and(|class| class >= Class::Risky)
        || change.class_for(Consumer::Storage) == Some(Class::Breaking)
        || change.code == Code::DiffVersionGone && change.class() == Class::Breaking
}
