//! Pulling from servers that exist in memory, and the cache under everything that may happen to a folder.

mod cache;
mod document;
mod mapper;
mod pull;
mod server;
