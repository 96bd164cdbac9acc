//! Integration tests of the server.

mod aggregate;
mod attacks;
mod common;
mod emulation;
mod endpoints;
mod guard;
mod kep_2896_openapi_v3;
mod kep_3352_aggregated_discovery;
mod listener;
mod pages;
mod representations;
mod resource_faults;
mod resources;
mod store;
mod store_changes;
mod store_remotes;
mod webhooks;
