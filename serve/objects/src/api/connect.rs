//! Connections to containers, Pods, Services and Nodes. Policies and webhooks judge them, but no kubelet runs.

use super::{Call, Outcome};
use crate::status::Status;
use crate::target::{parameter, parameters};
use kubeshape_policy::{Gvk, Operation};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};

/// Resources of the core group, their subresources, and the kinds of the options.
const CONNECTIONS: [(&str, &str, &str); 6] = [
    ("pods", "attach", "PodAttachOptions"),
    ("pods", "exec", "PodExecOptions"),
    ("pods", "portforward", "PodPortForwardOptions"),
    ("pods", "proxy", "PodProxyOptions"),
    ("services", "proxy", "ServiceProxyOptions"),
    ("nodes", "proxy", "NodeProxyOptions"),
];

impl Call<'_> {
    /// Returns the kind of the options of a connection; `None` if the path is not one of a connection.
    pub(super) fn connection(&self) -> Option<Gvk> {
        let is_this = |(resource, subresource, _): &&(&str, &str, &str)| {
            **resource == *self.served.plural && *subresource == self.path.subresource
        };
        let is_core = self.served.is_built_in() && self.served.group.is_empty();
        let kind = CONNECTIONS.iter().filter(|_| is_core).find(is_this)?.2;
        Some(Gvk::of("v1", kind))
    }

    /// Judges a connection, which never succeeds.
    ///
    /// # Errors
    /// A policy or a webhook refuses it. Otherwise, the method is not supported.
    pub(super) fn connect(&self, options: &Gvk) -> Result<Outcome, Status> {
        let arena = Bump::new();
        let object = options_of(options, self.request.query, &arena);
        self.policed(Operation::Connect, Some(object), None, false, &arena)?;
        Err(Status::method_not_supported(self.group_resource(), self.verb.name()))
    }
}

/// Returns the options of a query (upstream: the conversions of `url.Values` in `pkg/apis/core/v1`).
fn options_of<'a>(gvk: &Gvk, query: &str, arena: &'a Bump) -> Value<'a> {
    let text = |text: &str| Value::String(arena.alloc_str(text));
    let is_set =
        |name: &&str| parameter(query, name).is_some_and(|value| value != "0" && !value.eq_ignore_ascii_case("false"));
    let mut members = vec![("apiVersion", Value::String("v1")), ("kind", text(&gvk.kind))];
    match gvk.kind.as_str() {
        "PodExecOptions" | "PodAttachOptions" => {
            let set = ["stdin", "stdout", "stderr", "tty"].into_iter().filter(is_set);
            members.extend(set.map(|name| (name, Value::Bool(true))));
            let container = parameter(query, "container").filter(|name| !name.is_empty());
            members.extend(container.map(|name| ("container", text(&name))));
            let command: Vec<Value<'a>> = parameters(query, "command").map(|part| text(&part)).collect();
            if gvk.kind == "PodExecOptions" && !command.is_empty() {
                members.push(("command", Value::List(arena.alloc_slice_copy(&command))));
            }
        }
        "PodPortForwardOptions" => {
            let ports: Vec<Value<'a>> =
                parameters(query, "ports").filter_map(|port| port.parse().ok()).map(Value::Int).collect();
            if !ports.is_empty() {
                members.push(("ports", Value::List(arena.alloc_slice_copy(&ports))));
            }
        }
        _ => {
            let path = parameter(query, "path").filter(|path| !path.is_empty());
            members.extend(path.map(|path| ("path", text(&path))));
        }
    }
    Value::Map(Map::from_entries(members, arena))
}
