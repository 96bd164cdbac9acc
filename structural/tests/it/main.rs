//! Integration tests of reading CustomResourceDefinitions and of structural schemas.

mod openapi_v2;
mod reading;
mod rules;
mod support;
mod usability;
