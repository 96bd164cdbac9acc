//! Every request target has a route. The path of a route, written and read again, has the same route.
#![no_main]

use kubeshape_server::http::route::Route;
use kubeshape_server::http::target::{decoded, encoded, parameters};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &str| {
    let (path, query) = data.split_once('?').unwrap_or((data, ""));
    let _ = parameters(query, "hash").count();
    let Some(path) = decoded(path) else { return };
    let route = Route::of(&path);
    let written = encoded(&route.to_string());
    let read = decoded(&written).expect("it was written");
    assert_eq!(Route::of(&read), route);
    assert_eq!(Route::of(&read).endpoint(), route.endpoint());
});
