//! The aggregation of downstream servers, over real sockets, with servers that do what they should and others.

mod bodies;
mod fake;
mod faults;
mod hostile;
mod proxy;
mod taken;
