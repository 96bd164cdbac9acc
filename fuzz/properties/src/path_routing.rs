//! Every request target has a route. If the path of a route is written and read again, it has the same route.

use kubeshape_server::http::route::Route;
use kubeshape_server::http::target::{decoded, encoded, parameters};

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Some(data) = crate::input::<&str>(data) else { return };
    let (path, query) = data.split_once('?').unwrap_or((data, ""));
    let _ = parameters(query, "hash").count();
    let Some(path) = decoded(path) else { return };
    let route = Route::of(&path);
    let written = encoded(&route.to_string()).into_owned();
    let read = decoded(&written).expect("it was written");
    assert_eq!(Route::of(&read), route);
    assert_eq!(Route::of(&read).endpoint(), route.endpoint());
}
