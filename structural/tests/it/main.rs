//! Integration tests of reading CustomResourceDefinitions and of structural schemas.

mod reading;
mod rules;
mod support;
mod usability;
