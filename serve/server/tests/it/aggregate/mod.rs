//! The aggregation of downstream servers, over real sockets, with healthy servers and others.

mod bodies;
mod fake;
mod faults;
mod hostile;
mod proxy;
mod taken;
