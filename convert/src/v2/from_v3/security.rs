//! Converts security schemes and requirements.

use super::Converter;
use super::reference::follow;
use crate::model::{Entry, Map};
use crate::{v2, v3};
use kubeshape_schema::Code;

impl<'a> Converter<'a> {
    /// Converts the schemes of the document. Notes the names of those that cannot be converted.
    pub(super) fn security_schemes(&mut self) -> Map<'a, v2::SecurityScheme<'a>> {
        let schemes = self.components.security_schemes;
        let mut out = Vec::with_capacity(schemes.entries.len());
        for entry in schemes {
            let Some(mut scheme) = entry.value else {
                self.lose(Code::DownSecurityDropped, entry.at, entry.name);
                self.dropped_schemes.push(entry.name);
                continue;
            };
            if !scheme.reference.text.is_empty() {
                let found = follow(schemes, "securitySchemes", scheme.reference.text, |s| s.reference.text);
                self.lose(
                    if found.is_some() { Code::DownInlined } else { Code::DownReference },
                    scheme.at,
                    scheme.reference.text,
                );
                if let Some((_, found)) = found {
                    scheme = found;
                }
            }
            match self.security_scheme(scheme) {
                Some(value) => out.push(Entry { name: entry.name, at: entry.at, value }),
                None => self.dropped_schemes.push(entry.name),
            }
        }
        if schemes.present { Map::new(self.slice(&out)) } else { Map::default() }
    }

    fn security_scheme(&mut self, scheme: &v3::SecurityScheme<'a>) -> Option<v2::SecurityScheme<'a>> {
        let mut out = v2::SecurityScheme {
            description: scheme.description,
            extensions: scheme.extensions,
            at: scheme.at,
            ..Default::default()
        };
        let header = |out: &mut v2::SecurityScheme<'a>, name| {
            out.ty = "apiKey";
            out.location = "header";
            out.name = name;
        };
        match scheme.ty {
            "http" if scheme.scheme.eq_ignore_ascii_case("basic") => {
                out.ty = "basic";
                self.lose_members(Code::DownSecurity, scheme.at, &[("bearerFormat", !scheme.bearer_format.is_empty())]);
            }
            "http" => {
                header(&mut out, "Authorization");
                self.lose(Code::DownSecurity, scheme.at, scheme.scheme);
            }
            "openIdConnect" => {
                header(&mut out, "Authorization");
                self.lose(Code::DownSecurity, scheme.at, "openIdConnectUrl");
            }
            "apiKey" if scheme.location == "cookie" => {
                header(&mut out, "Cookie");
                self.lose(Code::DownSecurity, scheme.at, scheme.name);
            }
            "apiKey" => {
                out.ty = "apiKey";
                out.name = scheme.name;
                out.location = scheme.location;
            }
            "oauth2" => return self.oauth(scheme, out),
            other => {
                let detail = if other.is_empty() { "type" } else { other };
                self.lose(Code::DownSecurityDropped, scheme.at, detail);
                return None;
            }
        }
        Some(out)
    }

    fn oauth(
        &mut self,
        scheme: &v3::SecurityScheme<'a>,
        mut out: v2::SecurityScheme<'a>,
    ) -> Option<v2::SecurityScheme<'a>> {
        let known = |name: &str| match name {
            "authorizationCode" => Some("accessCode"),
            "clientCredentials" => Some("application"),
            "implicit" => Some("implicit"),
            "password" => Some("password"),
            _ => None,
        };
        out.ty = "oauth2";
        let mut chosen: Option<&v3::Flow<'a>> = None;
        for entry in scheme.flows {
            match (chosen, known(entry.name), entry.value) {
                (None, Some(flow), Some(value)) => {
                    out.flow = flow;
                    chosen = Some(value);
                }
                _ => self.lose(Code::DownSecurityDropped, scheme.at, entry.name),
            }
        }
        let Some(flow) = chosen else {
            self.lose(Code::DownSecurityDropped, scheme.at, "oauth2");
            return None;
        };
        out.authorization_url = flow.authorization_url;
        out.token_url = flow.token_url;
        out.scopes = flow.scopes;
        self.lose_members(Code::DownSecurityDropped, scheme.at, &[("refreshUrl", !flow.refresh_url.is_empty())]);
        self.lose_extensions(flow.at, flow.extensions);
        Some(out)
    }

    /// Returns the requirements without missing schemes. An alternative that requires such a scheme is dropped as a
    /// whole, because the rest of it would not be sufficient. If no alternative is left, the member is omitted.
    pub(super) fn security(&mut self, security: v3::Security<'a>, at: u32) -> v2::Security<'a> {
        let requirements = security?;
        let lost = |names: &[&str], requirement: &Map<'a, &'a [&'a str]>| {
            requirement.iter().any(|entry| names.contains(&entry.name))
        };
        if self.dropped_schemes.is_empty() || !requirements.iter().any(|r| lost(&self.dropped_schemes, r)) {
            return security;
        }
        let mut kept = Vec::new();
        for requirement in requirements {
            if lost(&self.dropped_schemes, requirement) {
                let names: Vec<&str> = requirement.iter().map(|entry| entry.name).collect();
                self.lose(Code::DownSecurityDropped, at, names.join(", "));
            } else {
                kept.push(*requirement);
            }
        }
        (!kept.is_empty()).then(|| self.slice(&kept))
    }
}
