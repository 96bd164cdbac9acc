//! What a server chooses for an object, and who sends it.

/// Values that a server chooses for a new object.
#[derive(Clone, Copy, Debug)]
pub struct Assigned<'m> {
    /// The uid of the object.
    pub uid: &'m str,
    /// The name of a new object whose kind allows none: a uid.
    pub name: &'m str,
    /// The time of the request, RFC 3339 with seconds.
    pub time: &'m str,
    /// The next free address of a Service.
    pub cluster_ip: &'m str,
    /// The first free node port.
    pub node_port: u16,
    /// The user of the request; `None` if unknown.
    pub user: Option<User<'m>>,
}

/// The user of a request.
#[derive(Clone, Copy, Debug)]
pub struct User<'m> {
    /// The name.
    pub name: &'m str,
    /// The uid, or empty.
    pub uid: &'m str,
    /// The groups.
    pub groups: &'m [&'m str],
}

impl Default for Assigned<'static> {
    fn default() -> Assigned<'static> {
        Assigned {
            uid: "00000000-0000-4000-8000-000000000001",
            name: "00000000-0000-4000-8000-000000000000",
            time: "2020-01-01T00:00:00Z",
            cluster_ip: "10.96.0.10",
            node_port: 30_000,
            user: None,
        }
    }
}
