//! Authentication: static tokens, as with kube-apiserver's `--token-auth-file`, tokens of service accounts, and client
//! certificates.

mod accounts;
mod certificates;
mod cors;
mod hosts;
mod impersonation;

pub use accounts::{KeyError, ServiceAccounts};
pub(crate) use certificates::{Certified, ClientVerifier};
pub use cors::{Cors, CorsError};
pub use hosts::AllowedHosts;
pub(crate) use impersonation::impersonated;

use crate::limit::Caller;
use arc_swap::ArcSwap;
use http::{HeaderMap, header};
use kubeshape_objects::access::Identity;
use kubeshape_policy::User;
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

/// Tokens and their users. Only hashes of the tokens are kept.
///
/// ```
/// use kubeshape_server::Tokens;
///
/// let tokens = Tokens::parse("s3cret,jane,1001,\"admins,dev\"\n")?;
/// assert_eq!(tokens.user("s3cret"), Some("jane"));
/// assert_eq!(tokens.user("s3cre"), None);
/// # Ok::<(), kubeshape_server::TokenError>(())
/// ```
#[derive(Clone, Default)]
pub struct Tokens {
    entries: Vec<([u8; 32], Holder)>,
}

/// Who has a token.
#[derive(Clone)]
struct Holder {
    /// The name of the user; empty for a token without a user.
    user: Arc<str>,
    /// The user; `None` for a token without a user.
    identity: Option<Arc<Identity>>,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokens({})", self.entries.len())
    }
}

/// Why a token file cannot be used. The message never contains a part of a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// A line is neither a token nor `token,user,uid[,groups]`.
    #[error("line {line}: {why}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The error.
        why: &'static str,
    },
    /// The file has no tokens.
    #[error("there is no token in it")]
    Empty,
}

impl Tokens {
    /// Parses a file with lines `token,user,uid[,groups]` (CSV with quotes, as in kube-apiserver), or with a token
    /// alone. Empty lines and lines that begin with `#` are ignored. If a token is in several lines, the last one is
    /// used.
    ///
    /// # Errors
    /// A line has another form, or there are no tokens.
    pub fn parse(text: &str) -> Result<Tokens, TokenError> {
        let mut entries: Vec<([u8; 32], Holder)> = Vec::new();
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        for (number, source) in text.lines().enumerate() {
            let wrong = |why| TokenError::Line { line: number + 1, why };
            let source = source.trim();
            if source.is_empty() || source.starts_with('#') {
                continue;
            }
            let fields = fields(source).map_err(wrong)?;
            let holder = match fields.as_slice() {
                [_] => Holder { user: "".into(), identity: None },
                [_, _] => return Err(wrong("expected a token alone, or token,user,uid[,groups]")),
                [_, user, _uid, ..] if user.is_empty() => return Err(wrong("the user is empty")),
                [_, user, uid, rest @ ..] => {
                    let groups = rest.first().map(String::as_str).unwrap_or_default().split(',').map(str::trim);
                    let groups = groups.filter(|group| !group.is_empty()).map(str::to_owned).collect();
                    let known = User { name: user.clone(), uid: uid.clone(), groups };
                    let identity = Some(Arc::new(Identity::of(known, Vec::new())));
                    Holder { user: user.as_str().into(), identity }
                }
                [] => return Err(wrong("the token is empty")),
            };
            let token = &fields[0];
            if token.is_empty() {
                return Err(wrong("the token is empty"));
            }
            if token.contains(char::is_whitespace) {
                return Err(wrong("there is a blank in the token"));
            }
            let hash = hash(token);
            entries.retain(|(known, _)| *known != hash);
            entries.push((hash, holder));
        }
        if entries.is_empty() { Err(TokenError::Empty) } else { Ok(Tokens { entries }) }
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the user of a token; empty for a token without a user. The time does not depend on whether and where the
    /// token exists. Hashes are compared, so the time does not reveal its length either.
    pub fn user(&self, token: &str) -> Option<&str> {
        self.entry(token).map(|(_, holder)| &*holder.user)
    }

    fn entry(&self, token: &str) -> Option<&([u8; 32], Holder)> {
        let hash = hash(token);
        let mut found = Choice::from(0);
        let mut place = 0u64;
        for (n, (known, _)) in self.entries.iter().enumerate() {
            let same = known.ct_eq(&hash);
            place.conditional_assign(&(n as u64), same);
            found |= same;
        }
        if bool::from(found) { self.entries.get(place as usize) } else { None }
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Splits a CSV line into fields. Blanks before a field are ignored, like in Go's `csv.Reader` with `TrimLeadingSpace`.
fn fields(line: &str) -> Result<Vec<String>, &'static str> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start();
        let mut field = String::new();
        if let Some(mut quoted) = rest.strip_prefix('"') {
            loop {
                let Some((text, behind)) = quoted.split_once('"') else { return Err("a quote is not closed") };
                field.push_str(text);
                let Some(behind) = behind.strip_prefix('"') else {
                    rest = behind;
                    break;
                };
                field.push('"');
                quoted = behind;
            }
            if !rest.is_empty() && !rest.starts_with(',') {
                return Err("expected a comma behind the quote");
            }
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            if rest[..end].contains('"') {
                return Err("a quote stands within a field");
            }
            field.push_str(&rest[..end]);
            rest = &rest[end..];
        }
        fields.push(field);
        match rest.strip_prefix(',') {
            Some(behind) => rest = behind,
            None => return Ok(fields),
        }
    }
}

/// Decides who sends a request. Its tokens can be replaced while the server runs.
#[derive(Clone, Debug)]
pub struct Authenticator {
    tokens: Arc<ArcSwap<Tokens>>,
    accounts: Option<Arc<ServiceAccounts>>,
    anonymous: bool,
}

/// The client of a request.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// The client whose limits apply; `None` for its address.
    pub(crate) caller: Option<Caller>,
    /// The user; `None` for a token without a user.
    pub(crate) identity: Option<Arc<Identity>>,
}

impl Known {
    fn user(identity: Arc<Identity>) -> Known {
        Known { caller: Some(Caller::User(identity.user.name.as_str().into())), identity: Some(identity) }
    }
}

impl Authenticator {
    /// Requires one of `tokens`.
    pub fn new(tokens: Tokens) -> Authenticator {
        Authenticator { tokens: Arc::new(ArcSwap::from_pointee(tokens)), accounts: None, anonymous: false }
    }

    /// Also accepts tokens of service accounts.
    #[must_use]
    pub fn with_accounts(self, accounts: Arc<ServiceAccounts>) -> Authenticator {
        Authenticator { accounts: Some(accounts), ..self }
    }

    /// Returns the same tokens, also after they are replaced, for the accounts of other objects, and these accounts.
    pub(crate) fn for_other_objects(&self) -> (Authenticator, Option<Arc<ServiceAccounts>>) {
        let accounts = self.accounts.as_ref().map(|accounts| Arc::new(accounts.for_other_objects()));
        (Authenticator { accounts: accounts.clone(), ..self.clone() }, accounts)
    }

    /// Admits requests without credentials as `system:anonymous` (`--anonymous-auth`).
    #[must_use]
    pub fn with_anonymous(self, anonymous: bool) -> Authenticator {
        Authenticator { anonymous, ..self }
    }

    /// Replaces the tokens.
    pub fn replace(&self, tokens: Tokens) {
        self.tokens.store(Arc::new(tokens));
    }

    /// Returns whether to admit a request: its path is a health endpoint, or its token is known.
    pub fn admits(&self, path: &str, headers: &HeaderMap) -> bool {
        is_health(path) || self.knows(headers)
    }

    /// Returns whether the token of a request is known.
    pub fn knows(&self, headers: &HeaderMap) -> bool {
        bearer(headers).is_some_and(|token| self.holder(token).is_some())
    }

    /// Returns the client of a request, which may have a client certificate. `None` for invalid credentials, and for
    /// missing ones unless anonymous requests are admitted (upstream: the union of `x509`, `bearertoken` and
    /// `anonymous`).
    pub(crate) fn known(&self, headers: &HeaderMap, certificate: Option<&Certified>) -> Option<Known> {
        if let Some(Certified::User(identity)) = certificate {
            return Some(Known::user(Arc::clone(identity)));
        }
        if let Some(token) = bearer(headers) {
            return self.holder(token);
        }
        let is_open = self.anonymous && !matches!(certificate, Some(Certified::Invalid));
        is_open.then(|| Known { caller: None, identity: Some(Arc::new(Identity::anonymous())) })
    }

    fn holder(&self, token: &str) -> Option<Known> {
        let tokens = self.tokens.load();
        if let Some((hash, holder)) = tokens.entry(token) {
            return Some(match &holder.identity {
                Some(identity) => Known::user(Arc::clone(identity)),
                None => Known { caller: Some(Caller::Token(*hash)), identity: None },
            });
        }
        let reviewed = self.accounts.as_ref()?.read(token, &[]).ok()?;
        Some(Known::user(Arc::new(reviewed.identity)))
    }
}

/// Returns whether a path is a health endpoint, which load balancers and kubelets request without credentials.
pub(crate) fn is_health(path: &str) -> bool {
    ["/healthz", "/livez", "/readyz"]
        .iter()
        .any(|root| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Returns the token of `Authorization: Bearer TOKEN`. The case of `Bearer` is ignored (k8s.io/apiserver,
/// authentication/request/bearertoken).
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?.trim();
    let (word, token) = value.split_once(' ')?;
    let token = token.split(' ').next().filter(|token| !token.is_empty())?;
    word.eq_ignore_ascii_case("bearer").then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_lines() -> Result<(), TokenError> {
        let text = "\u{FEFF}# tokens\r\n\r\n  plain \r\na,jane,1\nb, \"joe \"\"x\"\"\",2,\"g,h\"\na,june,3\n";
        let tokens = Tokens::parse(text)?;
        assert_eq!(tokens.len(), 3);
        for (token, user) in [
            ("plain", Some("")),
            ("a", Some("june")),
            ("b", Some("joe \"x\"")),
            ("", None),
            ("A", None),
            ("g", None),
            ("plain ", None),
        ] {
            assert_eq!(tokens.user(token), user, "{token:?}");
        }
        Ok(())
    }

    #[test]
    fn refusals_have_the_line_and_never_the_token() {
        for (text, message) in [
            ("", "there is no token in it"),
            ("# nothing\n", "there is no token in it"),
            ("a,b,c\nsecret,jane\n", "line 2: expected a token alone, or token,user,uid[,groups]"),
            ("secret,,1", "line 1: the user is empty"),
            (",jane,1", "line 1: the token is empty"),
            ("\"secret,jane,1", "line 1: a quote is not closed"),
            ("\"secret\"x,jane,1", "line 1: expected a comma behind the quote"),
            ("sec\"ret,jane,1", "line 1: a quote stands within a field"),
            ("sec ret", "line 1: there is a blank in the token"),
        ] {
            let error = Tokens::parse(text).map(|_| ()).map_err(|error| error.to_string());
            assert_eq!(error, Err(message.to_owned()), "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn only_health_is_reached_without_a_token(
            path in "/?(/|%2f|%2F|\\.|%2e|\\\\|;|%00)?(livez|readyz|healthz|%6civez|LIVEZ)(/|//|%2f|%2F|\\?)?(\\.\\./|%2e%2e/|\\.\\.%2f)?(apis|openapi/v2|metrics|version|)"
        ) {
            use crate::http::route::Route;
            let auth = Authenticator::new(Tokens::parse("t1").expect("a token"));
            if auth.admits(&path, &HeaderMap::new()) && let Some(decoded) = crate::http::target::decoded(&path) {
                let route = Route::of(&decoded);
                proptest::prop_assert!(matches!(route, Route::Health(..) | Route::Unknown(_)), "{path} {route:?}");
            }
        }
    }

    #[test]
    fn tokens_are_not_printed() -> Result<(), TokenError> {
        assert_eq!(format!("{:?}", Tokens::parse("s3cret")?), "Tokens(1)");
        assert_eq!(format!("{:?}", Authenticator::new(Tokens::parse("s3cret")?)).find("s3cret"), None);
        Ok(())
    }

    #[test]
    fn who_passes() -> Result<(), Box<dyn std::error::Error>> {
        let auth = Authenticator::new(Tokens::parse("t1")?);
        for (path, value, passes) in [
            ("/apis", "Bearer t1", true),
            ("/apis", "bearer t1", true),
            ("/apis", " BEARER t1 x", true),
            ("/apis", "Bearer  t1", false),
            ("/apis", "Bearer t2", false),
            ("/apis", "Bearer", false),
            ("/apis", "Bearer ", false),
            ("/apis", "Basic t1", false),
            ("/apis", "t1", false),
            ("/healthz", "", true),
            ("/readyz/files", "", true),
            ("/livez/", "", true),
            ("/healthzz", "", false),
            ("/metrics", "", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, value.parse()?);
            assert_eq!(auth.admits(path, &headers), passes, "{path} {value:?}");
        }
        auth.replace(Tokens::parse("t2")?);
        let mut headers = HeaderMap::new();
        assert!(!auth.admits("/apis", &headers));
        headers.insert(header::AUTHORIZATION, "Bearer t2".parse()?);
        assert!(auth.admits("/apis", &headers));
        Ok(())
    }
}
