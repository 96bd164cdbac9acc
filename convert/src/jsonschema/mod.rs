//! JSON Schema of the kinds of a document or a CustomResourceDefinition.
