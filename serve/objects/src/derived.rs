//! Cached parts of an object that lists show: its metadata and its table cells.
//!
//! They are computed at the first use and kept with the object. Lists of metadata are then joined from cached strings.

use crate::form::Room;
use crate::status::Status;
use crate::store::Stored;
use crate::{raw, value};
use kubeshape_gotypes::{Type, metadata::OBJECT_META, protobuf, write};
use kubeshape_show::table::{Cell, Convertor};
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Tape;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// Cells longer than this fraction of their object are not cached.
const SHARE: usize = 4;
/// The most bytes of the cells of an object, in addition to its size: columns can show the same field many times.
pub const MAX_CELLS: usize = 16 << 20;
/// Longer metadata is not cached: it would multiply the memory of the object.
const KEPT: usize = 64 << 10;

impl Stored {
    /// Returns the metadata as Go's struct prints it.
    pub(crate) fn metadata(&self) -> Cow<'_, [u8]> {
        self.of_metadata(&self.derived().metadata, |metadata, out| write(&Type::Metadata, metadata, out))
    }

    /// Returns the revision in the metadata; empty if missing.
    pub(crate) fn said_revision(&self) -> String {
        let metadata = self.metadata();
        let revision = raw::member(&metadata, "resourceVersion").unwrap_or_default();
        String::from_utf8_lossy(revision).trim_matches('"').to_owned()
    }

    /// Returns the metadata as protobuf.
    pub(crate) fn metadata_protobuf(&self) -> Cow<'_, [u8]> {
        self.of_metadata(&self.derived().protobuf, |metadata, out| protobuf(&OBJECT_META, metadata, out))
    }

    fn of_metadata<'s>(
        &'s self,
        kept: &'s OnceLock<Box<[u8]>>,
        print: impl Fn(Value<'_>, &mut Vec<u8>),
    ) -> Cow<'s, [u8]> {
        if let Some(kept) = kept.get() {
            return Cow::Borrowed(kept);
        }
        let (mut tape, arena) = (Tape::new(), Bump::new());
        // Only this part is read.
        let part = raw::member(self.as_json(), "metadata").unwrap_or(b"{}");
        let metadata = value::parsed(part, &mut tape, &arena).unwrap_or(Value::Null);
        let mut out = Vec::with_capacity(part.len());
        print(metadata, &mut out);
        if out.len() > KEPT {
            return Cow::Owned(out);
        }
        Cow::Borrowed(kept.get_or_init(|| out.into_boxed_slice()))
    }

    /// Returns the cells of a convertor. Ages are times.
    ///
    /// # Errors
    /// They are much larger than the object.
    pub(crate) fn cells(&self, convertor: &Arc<Convertor>, room: Room<'_>) -> Result<Cow<'_, [Cell]>, Status> {
        let derived = self.derived();
        if let Some((of, cells)) = derived.cells.get().filter(|(of, _)| Arc::ptr_eq(of, convertor)) {
            debug_assert_eq!(of.columns().len(), cells.len());
            return Ok(Cow::Borrowed(cells));
        }
        let (text, mut tape, arena) = (self.as_json(), Tape::new(), Bump::new());
        let object = value::parsed(text, &mut tape, &arena).unwrap_or(Value::Null);
        let cells = convertor.values_within(object, MAX_CELLS + text.len(), &|| room.stop.is_set());
        let cells = cells.ok_or_else(|| {
            Status::internal(format!(
                "the columns of the definition repeat more than {MAX_CELLS} bytes of an object; request application/json"
            ))
        })?;
        let length = |cell: &Cell| if let Cell::Text(text) = cell { text.len() } else { 0 };
        if cells.iter().map(length).sum::<usize>() <= text.len() / SHARE {
            let _ = derived.cells.set((Arc::clone(convertor), cells.clone().into()));
        }
        Ok(Cow::Owned(cells))
    }
}

#[cfg(test)]
mod tests {
    use crate::form::Room;
    use crate::store::Stored;
    use kubeshape_show::table::{Cell, Column, Convertor};
    use kubeshape_smd::value::Stop;
    use std::borrow::Cow;
    use std::sync::Arc;

    fn convertor(path: &str) -> Arc<Convertor> {
        let column = Column { name: "C", column_type: "string", json_path: path, ..Column::default() };
        Arc::new(Convertor::new(&[column]).expect("a column"))
    }

    fn cells<'s>(stored: &'s Stored, of: &Arc<Convertor>) -> Cow<'s, [Cell]> {
        stored.cells(of, Room::of(0, Stop::NEVER)).expect("room")
    }

    #[test]
    fn cached_parts_equal_computed_parts() {
        let text = r#"{"apiVersion":"v1","metadata":{"labels":{"b":"}","a":"\""},"name":"x"},"spec":{"c":"red"}}"#;
        let stored = Stored::new(1, format!("{text}\n").into());
        assert_eq!(&*stored.metadata(), br#"{"name":"x","labels":{"a":"\"","b":"}"}}"#);
        assert_eq!(stored.metadata_protobuf(), stored.metadata_protobuf());
        let (one, other) = (convertor(".spec.c"), convertor(".spec.none"));
        let red = [Cell::Text("x".to_owned()), Cell::Text("red".to_owned())];
        assert_eq!(*cells(&stored, &one), red);
        assert!(matches!(cells(&stored, &one), Cow::Borrowed(_)));
        // Another convertor never gets the cells of the first.
        assert_eq!(*cells(&stored, &other), [Cell::Text("x".to_owned()), Cell::Empty]);
        assert_eq!(*cells(&stored, &one), red);
        // The cache does not affect equality.
        assert_eq!(stored, Stored::new(1, format!("{text}\n").into()));
    }

    #[test]
    fn large_cells_are_not_cached() {
        let text = format!(r#"{{"metadata":{{"name":"x"}},"spec":{{"c":"{}"}}}}"#, "long".repeat(100));
        let (stored, all) = (Stored::new(1, format!("{text}\n").into()), convertor(".spec"));
        assert!(matches!(cells(&stored, &all), Cow::Owned(_)));
        assert!(matches!(cells(&stored, &all), Cow::Owned(_)));
    }

    #[test]
    fn cells_are_not_much_larger_than_their_object() {
        let text = format!(r#"{{"metadata":{{"name":"x"}},"spec":{{"c":"{}"}}}}"#, "x".repeat(1 << 20));
        let stored = Stored::new(1, format!("{text}\n").into());
        let columns = |count: usize| {
            let column = Column { name: "C", column_type: "string", json_path: ".spec.c", ..Column::default() };
            Arc::new(Convertor::new(&vec![column; count]).expect("columns"))
        };
        let room = Room::of(0, Stop::NEVER);
        assert_eq!(stored.cells(&columns(17), room).expect("room").len(), 18);
        let error = stored.cells(&columns(3_000), room).expect_err("no room");
        assert!(error.message.contains("repeat more than 16777216 bytes"), "{}", error.message);
    }
}
