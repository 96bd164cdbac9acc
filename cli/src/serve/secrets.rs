//! The certificate, key and tokens, which may change while the server runs.

use super::inputs::{self, Places};
use crate::error::Fatal;
use kubeshape_server::{Authenticator, Tls, Tokens};
use std::path::{Path, PathBuf};

/// The certificate and key of the server, and the tokens of its clients.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    tls: Option<(Tls, PathBuf, PathBuf)>,
    tokens: Option<(Authenticator, PathBuf)>,
    paths: Vec<PathBuf>,
}

impl Secrets {
    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read or used. The message has its name, but nothing of its content.
    pub(super) fn read(tls: Option<(&Path, &Path)>, tokens: Option<&Path>) -> Result<Secrets, Fatal> {
        let mut secrets = Secrets::default();
        if let Some((certificate, key)) = tls {
            let (pem, key_pem) = (file(certificate, false)?, file(key, false)?);
            let tls = Tls::new(&pem, &key_pem).map_err(|error| unusable(certificate, &error))?;
            secrets.paths.extend([certificate.to_owned(), key.to_owned()]);
            secrets.tls = Some((tls, certificate.to_owned(), key.to_owned()));
        }
        if let Some(path) = tokens {
            secrets.tokens = Some((Authenticator::new(parse(path, false)?), path.to_owned()));
            secrets.paths.push(path.to_owned());
        }
        Ok(secrets)
    }

    pub(super) fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref().map(|(tls, ..)| tls)
    }

    pub(super) fn authenticator(&self) -> Option<&Authenticator> {
        self.tokens.as_ref().map(|(authenticator, _)| authenticator)
    }

    /// Returns the paths of the files.
    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Returns the places to watch for changes of the files.
    pub(super) fn places(&self) -> Places {
        Places::default().with(&self.paths)
    }

    /// Reads the files again. If a file cannot be used, its old content stays in use.
    pub(super) fn reload(&self) {
        if let Some((tls, certificate, key)) = &self.tls {
            let replaced = file(certificate, true)
                .and_then(|pem| Ok((pem, file(key, true)?)))
                .and_then(|(pem, key)| tls.replace(&pem, &key).map_err(|error| unusable(certificate, &error)));
            match replaced {
                Ok(()) => tracing::info!("the certificate was read again"),
                Err(error) => tracing::error!(%error, "the old certificate stays"),
            }
        }
        if let Some((authenticator, path)) = &self.tokens {
            match parse(path, true) {
                Ok(tokens) => {
                    tracing::info!(count = tokens.len(), "the tokens were read again");
                    authenticator.replace(tokens);
                }
                Err(error) => tracing::error!(%error, "the old tokens stay"),
            }
        }
    }
}

fn file(path: &Path, again: bool) -> Result<Vec<u8>, Fatal> {
    inputs::read(path, again).map_err(|message| Fatal::Read { path: path.to_owned(), message })
}

fn parse(path: &Path, again: bool) -> Result<Tokens, Fatal> {
    let bytes = file(path, again)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| unusable(path, &"it is no UTF-8"))?;
    Tokens::parse(text).map_err(|error| unusable(path, &error))
}

fn unusable(path: &Path, why: &dyn std::fmt::Display) -> Fatal {
    Fatal::Read { path: path.to_owned(), message: why.to_string() }
}
