//! Converts servers: the first one becomes host, base path and schemes.

use super::Converter;
use crate::{v2, v3};
use kubeshape_schema::Code;

/// The parts of a server's URL, with variables replaced.
#[derive(PartialEq, Eq)]
struct Parts {
    scheme: String,
    host: String,
    path: String,
}

impl<'a> Converter<'a> {
    pub(super) fn servers(&mut self, servers: &[v3::Server<'a>], out: &mut v2::Document<'a>) {
        let Some((first, others)) = servers.split_first() else { return };
        let parts = parts(first);
        let mut schemes: Vec<&'a str> = Vec::new();
        if !parts.scheme.is_empty() {
            schemes.push(self.arena.alloc_str(&parts.scheme));
        }
        self.lose_server(first);
        for server in others {
            let other = self::parts(server);
            let same = !other.scheme.is_empty() && other.host == parts.host && other.path == parts.path;
            if same && !schemes.is_empty() {
                if !schemes.contains(&other.scheme.as_str()) {
                    schemes.push(self.arena.alloc_str(&other.scheme));
                }
                self.lose_server(server);
            } else {
                self.lose(Code::DownServers, server.at, server.url);
            }
        }
        out.schemes = self.slice(&schemes);
        out.host = self.arena.alloc_str(&parts.host);
        if parts.path != "/" {
            out.base_path = self.arena.alloc_str(&parts.path);
        }
    }

    /// Notes the losses of a server whose URL is kept.
    fn lose_server(&mut self, server: &v3::Server<'a>) {
        let members = [("description", !server.description.is_empty()), ("variables", !server.variables.is_empty())];
        self.lose_members(Code::DownServers, server.at, &members);
        self.lose_extensions(server.at, server.extensions);
    }

    /// Notes servers of an object that has none in OpenAPI v2.
    pub(super) fn lose_servers(&mut self, servers: &[v3::Server<'a>]) {
        for server in servers {
            self.lose(Code::DownServers, server.at, server.url);
        }
    }
}

fn parts(server: &v3::Server<'_>) -> Parts {
    let url = substituted(server);
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (scheme, Some(rest)),
        None => ("", url.strip_prefix("//")),
    };
    let Some(rest) = rest else {
        // A base path begins with a slash.
        let path = if url.is_empty() || url.starts_with('/') { url } else { format!("/{url}") };
        return Parts { scheme: String::new(), host: String::new(), path };
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    // A server without path is the same as one with a single slash.
    Parts { scheme: scheme.to_owned(), host: host.to_owned(), path: path.to_owned() }
}

/// Returns the URL with the variables' defaults.
fn substituted(server: &v3::Server<'_>) -> String {
    let mut out = String::with_capacity(server.url.len());
    let mut rest = server.url;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        if let Some((name, tail)) = after.split_once('}') {
            if let Some(variable) = server.variables.get(name) {
                out.push_str(variable.map_or("", |variable| variable.default));
            } else {
                out.push('{');
                out.push_str(name);
                out.push('}');
            }
            rest = tail;
        } else {
            out.push('{');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}
