//! Whatever a token file contains and however a path is written: requests without a token reach only health endpoints.
//! A token of the file is accepted, and messages about the file do not contain it.

use http::HeaderMap;
use kubeshape_server::http::route::Route;
use kubeshape_server::http::target::decoded;
use kubeshape_server::{Authenticator, Tokens};
use std::sync::LazyLock;

static LOCKED: LazyLock<Authenticator> =
    LazyLock::new(|| Authenticator::new(Tokens::parse("token,user,1").expect("a token")));

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Some(data) = crate::input::<&str>(data) else { return };
    let (path, file) = data.split_once('\n').unwrap_or((data, data));
    if LOCKED.admits(path, &HeaderMap::default())
        && let Some(decoded) = decoded(path)
    {
        let is_health = ["/healthz", "/livez", "/readyz"].iter().any(|root| decoded.starts_with(root));
        assert!(is_health && matches!(Route::of(&decoded), Route::Health(..) | Route::Unknown(_)), "{path}");
    }
    if let Ok(tokens) = Tokens::parse(file) {
        assert!(!tokens.is_empty() && tokens.user("").is_none());
        assert!(tokens.user("a b").is_none(), "a token has no blanks");
    }
    if !file.trim().is_empty() && !file.contains([',', '"', '#', '\u{FEFF}']) && !file.trim().contains(char::is_whitespace) {
        assert_eq!(Tokens::parse(file).expect("a token").user(file.trim()), Some(""));
    }
}
