//! The certificate, key and tokens, which may change while the server runs.

use super::inputs::{self, Places};
use crate::args::{AuthorizationMode, ServeArgs, Switch};
use crate::error::Fatal;
use kubeshape_server::{Authenticator, ServiceAccounts, Tls, Tokens};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The certificate and key of the server, and the tokens of its clients.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    tls: Option<(Tls, PathBuf, PathBuf)>,
    authenticator: Option<Authenticator>,
    tokens: Option<PathBuf>,
    accounts: Option<Arc<ServiceAccounts>>,
    paths: Vec<PathBuf>,
}

impl Secrets {
    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read or used. The message has its name, but nothing of its content.
    pub(super) fn read(args: &ServeArgs) -> Result<Secrets, Fatal> {
        let mut secrets = Secrets::default();
        if let Some((certificate, key)) = args.tls_cert.as_deref().zip(args.tls_key.as_deref()) {
            let (pem, key_pem) = (file(certificate, false)?, file(key, false)?);
            let tls = match &args.client_ca {
                Some(authorities) => Tls::with_client_authorities(&pem, &key_pem, &file(authorities, false)?)
                    .map_err(|error| unusable(authorities, &error))?,
                None => Tls::new(&pem, &key_pem).map_err(|error| unusable(certificate, &error))?,
            };
            secrets.paths.extend([certificate.to_owned(), key.to_owned()]);
            secrets.tls = Some((tls, certificate.to_owned(), key.to_owned()));
        }
        secrets.accounts = accounts(args)?.map(Arc::new);
        let is_rbac = args.authorization_mode == AuthorizationMode::Rbac;
        let tokens = args.token_file.as_deref().map(|path| parse(path, false)).transpose()?;
        if tokens.is_some() || args.client_ca.is_some() || secrets.accounts.is_some() || is_rbac {
            let anonymous = args.anonymous_auth.map_or(is_rbac, |given| given == Switch::On);
            let mut authenticator = Authenticator::new(tokens.unwrap_or_default()).with_anonymous(anonymous);
            if let Some(accounts) = &secrets.accounts {
                authenticator = authenticator.with_accounts(Arc::clone(accounts));
            }
            secrets.authenticator = Some(authenticator);
        }
        secrets.tokens.clone_from(&args.token_file);
        secrets.paths.extend(args.token_file.clone());
        Ok(secrets)
    }

    pub(super) fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref().map(|(tls, ..)| tls)
    }

    pub(super) fn authenticator(&self) -> Option<&Authenticator> {
        self.authenticator.as_ref()
    }

    /// Returns the keys of service accounts.
    pub(super) fn accounts(&self) -> Option<&Arc<ServiceAccounts>> {
        self.accounts.as_ref()
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
        if let (Some(authenticator), Some(path)) = (&self.authenticator, &self.tokens) {
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

/// Reads the keys of service accounts. `None` if there are no files.
fn accounts(args: &ServeArgs) -> Result<Option<ServiceAccounts>, Fatal> {
    if args.service_account_key_file.is_empty() && args.service_account_signing_key_file.is_none() {
        return Ok(None);
    }
    let mut accounts = ServiceAccounts::new(&args.service_account_issuer);
    for path in &args.service_account_key_file {
        accounts = accounts.with_keys(&file(path, false)?).map_err(|error| unusable(path, &error))?;
    }
    if let Some(path) = &args.service_account_signing_key_file {
        accounts = accounts.with_signing_key(&file(path, false)?).map_err(|error| unusable(path, &error))?;
    }
    Ok(Some(accounts))
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
