//! Whatever redirect an aggregated server sends, the followed URL is a path below its prefix, without `.` and `..`
//! segments, and is the same when it is read again.

use kubeshape_server::aggregate::AggregateOptions;
use std::sync::LazyLock;

static SERVERS: LazyLock<Vec<AggregateOptions>> = LazyLock::new(|| {
    let urls = ["http://h:81", "https://[::1]/east", "unix:/run/a.sock"];
    urls.iter().map(|url| format!("a={url}").parse().expect("options")).collect()
});

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Some(data) = crate::input::<&str>(data) else { return };
    let (address, location) = data.split_once('\n').unwrap_or(("", data));
    if let Ok(options) = format!("a={address}").parse::<AggregateOptions>() {
        check(&options, location);
    }
    for options in SERVERS.iter() {
        check(options, location);
    }
}

fn check(options: &AggregateOptions, location: &str) {
    let Some(target) = options.address.within(location) else { return };
    assert!(target.starts_with('/') && !target.starts_with("//"), "{target}");
    assert!(target.bytes().all(|byte| byte.is_ascii_graphic()) && !target.contains('#'), "{target}");
    let path = target.split('?').next().unwrap_or_default().to_ascii_lowercase();
    assert!(!path.contains('\\') && path.split('/').all(|name| !matches!(name, "." | "..")), "{target}");
    assert!(!["%2e", "%2f", "%5c"].iter().any(|escape| path.contains(escape)), "{target}");
}
