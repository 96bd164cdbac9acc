//! Tokens of service accounts: JSON Web Tokens that a key of the server signs (upstream: `pkg/serviceaccount`).

use crate::objects::Objects;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kubeshape_objects::access::Identity;
use kubeshape_objects::{Reviewed, Signer};
use kubeshape_policy::User;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey,
    VerificationAlgorithm,
};
use rustls::SignatureScheme;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::pem::{PemObject, SectionKind};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer};
use rustls::sign::SigningKey;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;
use x509_parser::x509::SubjectPublicKeyInfo;

/// The longest token that is read, in bytes.
const MAX_TOKEN: usize = 16 << 10;
/// The largest number of keys.
const MAX_KEYS: usize = 100;
/// The attribute of a user that says which credential was used (`user.CredentialIDKey`).
const CREDENTIAL: &str = "authentication.kubernetes.io/credential-id";

/// Why a key cannot be used. The message contains no part of a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct KeyError(String);

/// An algorithm of tokens (RFC 7518).
#[derive(Clone, Copy)]
struct Algorithm {
    /// `RS256`
    name: &'static str,
    scheme: SignatureScheme,
    verification: &'static dyn VerificationAlgorithm,
    /// Bytes of each of the two numbers of a signature of an elliptic curve; 0 for RSA.
    number: usize,
}

/// The algorithms: RSA, P-256 and P-384.
static ALGORITHMS: [Algorithm; 3] = [
    Algorithm {
        name: "RS256",
        scheme: SignatureScheme::RSA_PKCS1_SHA256,
        verification: &RSA_PKCS1_2048_8192_SHA256,
        number: 0,
    },
    Algorithm {
        name: "ES256",
        scheme: SignatureScheme::ECDSA_NISTP256_SHA256,
        verification: &ECDSA_P256_SHA256_FIXED,
        number: 32,
    },
    Algorithm {
        name: "ES384",
        scheme: SignatureScheme::ECDSA_NISTP384_SHA384,
        verification: &ECDSA_P384_SHA384_FIXED,
        number: 48,
    },
];

/// A key that verifies tokens.
#[derive(Clone)]
struct Key {
    /// `kid` of the header: the hash of the key (upstream: `keyIDFromPublicKey`).
    id: String,
    algorithm: &'static Algorithm,
    bytes: Vec<u8>,
}

/// The keys for tokens of service accounts, and the objects that have the accounts.
///
/// # Example
/// ```
/// use kubeshape_server::ServiceAccounts;
///
/// let accounts = ServiceAccounts::new("https://example.com");
/// assert!(accounts.with_keys(b"no key").is_err());
/// ```
pub struct ServiceAccounts {
    issuer: String,
    audiences: Vec<String>,
    signing: Option<(Arc<dyn SigningKey>, &'static Algorithm, String)>,
    keys: Vec<Key>,
    objects: OnceLock<Weak<Objects>>,
}

impl fmt::Debug for ServiceAccounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceAccounts").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

impl ServiceAccounts {
    /// Creates it for an issuer, without keys (`--service-account-issuer`). The issuer is the audience, too.
    pub fn new(issuer: &str) -> ServiceAccounts {
        ServiceAccounts {
            issuer: issuer.to_owned(),
            audiences: vec![issuer.to_owned()],
            signing: None,
            keys: Vec::new(),
            objects: OnceLock::new(),
        }
    }

    /// Sets the audiences of the server (`--api-audiences`).
    #[must_use]
    pub fn with_audiences(self, audiences: Vec<String>) -> ServiceAccounts {
        ServiceAccounts { audiences, ..self }
    }

    /// Accepts tokens of these keys: certificates, public keys and private keys in PEM format
    /// (`--service-account-key-file`).
    ///
    /// # Errors
    /// There is no key that can be used.
    pub fn with_keys(mut self, pem: &[u8]) -> Result<ServiceAccounts, KeyError> {
        let before = self.keys.len();
        for section in <(SectionKind, Vec<u8>)>::pem_slice_iter(pem) {
            let (kind, bytes) = section.map_err(|error| KeyError(error.to_string()))?;
            match kind {
                SectionKind::Certificate => {
                    let parsed = X509Certificate::from_der(&bytes);
                    let (_, certificate) = parsed.map_err(|_| unusable("the certificate cannot be read"))?;
                    self.keys.push(Key::new(certificate.public_key().raw)?);
                }
                SectionKind::PublicKey => self.keys.push(Key::new(&bytes)?),
                SectionKind::PrivateKey | SectionKind::RsaPrivateKey | SectionKind::EcPrivateKey => {
                    self.keys.push(signing(kind, bytes)?.1);
                }
                _ => {}
            }
            if self.keys.len() > MAX_KEYS {
                return Err(KeyError(format!("there are more than {MAX_KEYS} keys")));
            }
        }
        if self.keys.len() == before {
            return Err(unusable("there is no key in PEM format in it"));
        }
        Ok(self)
    }

    /// Signs tokens with a private key in PEM format (`--service-account-signing-key-file`), and accepts them.
    ///
    /// # Errors
    /// There is no key that can be used.
    pub fn with_signing_key(mut self, pem: &[u8]) -> Result<ServiceAccounts, KeyError> {
        for section in <(SectionKind, Vec<u8>)>::pem_slice_iter(pem) {
            let (kind, bytes) = section.map_err(|error| KeyError(error.to_string()))?;
            if let SectionKind::PrivateKey | SectionKind::RsaPrivateKey | SectionKind::EcPrivateKey = kind {
                let (key, public) = signing(kind, bytes)?;
                self.signing = Some((key, public.algorithm, public.id.clone()));
                self.keys.push(public);
                return Ok(self);
            }
        }
        Err(unusable("there is no private key in PEM format in it"))
    }

    /// Returns the same keys for other objects.
    pub(crate) fn for_other_objects(&self) -> ServiceAccounts {
        ServiceAccounts {
            issuer: self.issuer.clone(),
            audiences: self.audiences.clone(),
            signing: self.signing.clone(),
            keys: self.keys.clone(),
            objects: OnceLock::new(),
        }
    }

    /// Reads accounts from these objects, and the time from their clock. Only the first call has an effect.
    pub fn bind(&self, objects: &Arc<Objects>) {
        let _ = self.objects.set(Arc::downgrade(objects));
    }

    /// Returns who has a token that is valid for one of these audiences; of the server if there are none.
    ///
    /// # Errors
    /// The token is not valid.
    pub(crate) fn read(&self, token: &str, audiences: &[String]) -> Result<Reviewed, String> {
        let claims = self.claims(token)?;
        let Some(objects) = self.objects.get().and_then(Weak::upgrade) else {
            return Err("the server has no service accounts".to_owned());
        };
        let now = objects.now().0;
        if claims["exp"].as_i64().is_none_or(|end| now >= end) {
            return Err("service account token has expired".to_owned());
        }
        if claims["nbf"].as_i64().is_some_and(|begin| now < begin) {
            return Err("service account token is not valid yet".to_owned());
        }
        let wanted = if audiences.is_empty() { &self.audiences } else { audiences };
        let own: Vec<&str> = match &claims["aud"] {
            Value::String(one) => vec![one],
            list => list.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
        };
        let shared: Vec<String> = wanted.iter().filter(|one| own.contains(&one.as_str())).cloned().collect();
        if shared.is_empty() {
            return Err(format!("token audiences {own:?} is invalid for the target audiences {wanted:?}"));
        }
        let known = &claims["kubernetes.io"];
        let part = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (namespace, account) = (part(&known["namespace"]), &known["serviceaccount"]);
        let (name, uid) = (part(&account["name"]), part(&account["uid"]));
        let subject = User::of_service_account(&namespace, &name);
        if claims["sub"].as_str() != Some(&subject.name) {
            return Err("the subject of the token is not its service account".to_owned());
        }
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}");
        let stored = objects.api().object_at(&objects.store(), &path);
        let stored = stored.ok_or_else(|| format!("serviceaccounts {name:?} not found"))?;
        let stored: Value = serde_json::from_slice(&stored).unwrap_or_default();
        let current = stored["metadata"]["uid"].as_str().unwrap_or_default();
        if current != uid {
            return Err(format!("service account UID ({current}) does not match claim ({uid})"));
        }
        let id = claims["jti"].as_str().map(|id| (CREDENTIAL.to_owned(), vec![format!("JTI={id}")]));
        let identity = Identity::of(User { uid, ..subject }, id.into_iter().collect());
        Ok(Reviewed { identity, audiences: shared })
    }

    /// Returns the claims of a token that one of the keys signed for this issuer.
    fn claims(&self, token: &str) -> Result<Value, String> {
        let invalid = || "invalid bearer token".to_owned();
        if token.len() > MAX_TOKEN {
            return Err(invalid());
        }
        let (signed, signature) = token.rsplit_once('.').ok_or_else(invalid)?;
        let (header, claims) = signed.split_once('.').ok_or_else(invalid)?;
        let decoded = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| invalid());
        let read = |part: &str| serde_json::from_slice::<Value>(&decoded(part)?).map_err(|_| invalid());
        let (header, claims, signature) = (read(header)?, read(claims)?, decoded(signature)?);
        if claims["iss"].as_str() != Some(&self.issuer) {
            return Err(invalid());
        }
        let id = header["kid"].as_str();
        let is_signed = self.keys.iter().any(|key| {
            header["alg"].as_str() == Some(key.algorithm.name)
                && id.is_none_or(|id| id == key.id)
                && UnparsedPublicKey::new(key.algorithm.verification, &key.bytes)
                    .verify(signed.as_bytes(), &signature)
                    .is_ok()
        });
        if is_signed { Ok(claims) } else { Err(invalid()) }
    }
}

impl Signer for ServiceAccounts {
    fn issuer(&self) -> &str {
        &self.issuer
    }

    fn audiences(&self) -> Vec<String> {
        self.audiences.clone()
    }

    fn sign(&self, claims: &str) -> Option<String> {
        let (key, algorithm, id) = self.signing.as_ref()?;
        let header = json!({"alg": algorithm.name, "kid": id}).to_string();
        let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
        let signature = key.choose_scheme(&[algorithm.scheme])?.sign(signed.as_bytes()).ok()?;
        let signature = if algorithm.number == 0 { signature } else { fixed(&signature, algorithm.number)? };
        Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn review(&self, token: &str, audiences: &[String]) -> Result<Reviewed, String> {
        self.read(token, audiences)
    }
}

fn unusable(why: &str) -> KeyError {
    KeyError(why.to_owned())
}

impl Key {
    /// Reads a SubjectPublicKeyInfo.
    fn new(info: &[u8]) -> Result<Key, KeyError> {
        let unknown = || unusable("expected a key of RSA, P-256 or P-384");
        let (_, parsed) = SubjectPublicKeyInfo::from_der(info).map_err(|_| unusable("the key cannot be read"))?;
        let bytes = parsed.subject_public_key.data.to_vec();
        let algorithm = match parsed.parsed().map_err(|_| unknown())? {
            PublicKey::RSA(_) => &ALGORITHMS[0],
            // An uncompressed point: a byte, and two numbers.
            PublicKey::EC(_) => {
                ALGORITHMS.iter().skip(1).find(|known| bytes.len() == 1 + 2 * known.number).ok_or_else(unknown)?
            }
            _ => return Err(unknown()),
        };
        Ok(Key { id: URL_SAFE_NO_PAD.encode(Sha256::digest(info)), algorithm, bytes })
    }
}

/// Reads a private key, and its public key.
fn signing(kind: SectionKind, bytes: Vec<u8>) -> Result<(Arc<dyn SigningKey>, Key), KeyError> {
    let private = match kind {
        SectionKind::RsaPrivateKey => PrivateKeyDer::Pkcs1(PrivatePkcs1KeyDer::from(bytes)),
        SectionKind::EcPrivateKey => PrivateKeyDer::Sec1(PrivateSec1KeyDer::from(bytes)),
        _ => PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(bytes)),
    };
    let key = any_supported_type(&private).map_err(|_| unusable("the private key cannot be used"))?;
    let public = key.public_key().ok_or_else(|| unusable("the private key has no public key"))?;
    let public = Key::new(&public)?;
    Ok((key, public))
}

/// Returns the two numbers of a signature in DER with a fixed size each (RFC 7518, section 3.4).
fn fixed(der: &[u8], size: usize) -> Option<Vec<u8>> {
    let content = part(0x30, der)?.0;
    let (first, rest) = part(0x02, content)?;
    let (second, _) = part(0x02, rest)?;
    let mut out = Vec::with_capacity(2 * size);
    for number in [first, second] {
        let number = match number {
            [0, rest @ ..] => rest,
            number => number,
        };
        out.resize(out.len() + size.checked_sub(number.len())?, 0);
        out.extend_from_slice(number);
    }
    Some(out)
}

/// Returns the content of a DER value with this tag and a length below 256, and the bytes behind it.
fn part(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, content) = match der {
        [own, 0x81, length, rest @ ..] if *own == tag => (*length, rest),
        [own, length, rest @ ..] if *own == tag && *length < 0x80 => (*length, rest),
        _ => return None,
    };
    content.split_at_checked(usize::from(length))
}

#[cfg(test)]
mod tests {
    use super::{ServiceAccounts, fixed};
    use kubeshape_objects::Signer;

    #[test]
    fn tokens_are_signed_and_read_again() -> Result<(), Box<dyn std::error::Error>> {
        let pem = rcgen::KeyPair::generate()?.serialize_pem();
        let accounts = ServiceAccounts::new("https://a").with_signing_key(pem.as_bytes())?;
        let token = accounts.sign(r#"{"iss":"https://a","sub":"x"}"#).ok_or("a token")?;
        assert_eq!(accounts.claims(&token)?["sub"], "x");
        // Without the private key, too.
        let public = ServiceAccounts::new("https://a").with_keys(pem.as_bytes())?;
        assert_eq!(public.claims(&token)?["sub"], "x");
        assert_eq!(public.sign("{}"), None);
        let other = ServiceAccounts::new("https://b").with_keys(pem.as_bytes())?;
        let third = rcgen::KeyPair::generate()?.serialize_pem();
        let third = ServiceAccounts::new("https://a").with_keys(third.as_bytes())?;
        let (signed, _) = token.rsplit_once('.').ok_or("a signature")?;
        let unsigned = format!("eyJhbGciOiJub25lIn0.{}.", signed.split_once('.').ok_or("claims")?.1);
        for (accounts, token) in
            [(&other, &token), (&third, &token), (&accounts, &unsigned), (&accounts, &"a.b".into())]
        {
            assert_eq!(accounts.claims(token), Err("invalid bearer token".to_owned()), "{token}");
        }
        Ok(())
    }

    #[test]
    fn signatures_get_a_fixed_size() {
        assert_eq!(fixed(&[0x30, 7, 2, 2, 0, 200, 2, 1, 5], 2), Some(vec![0, 200, 0, 5]));
        for wrong in [&[][..], &[0x30, 9, 2, 1, 1], &[0x30, 6, 2, 1, 1, 2, 1], &[0x30, 8, 2, 3, 1, 1, 1, 2, 1, 1]] {
            assert_eq!(fixed(wrong, 2), None, "{wrong:?}");
        }
    }
}
