//! The protobuf forms of documents, as gnostic defines them.
