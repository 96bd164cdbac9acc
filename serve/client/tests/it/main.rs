//! Pulls from servers in memory, and the cache under everything that can happen to a folder.

mod cache;
mod document;
mod live;
mod mapper;
mod pull;
mod server;
