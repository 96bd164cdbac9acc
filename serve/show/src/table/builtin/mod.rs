//! Columns of built-in kinds: the table of kinds and columns is `columns.txt`; cells that are not just a field are
//! functions in the modules below.

mod apps;
mod cells;
mod cluster;
mod network;
mod pods;
mod storage;

use super::{AGE, Cell, ColumnDefinition, NAME, age};
use cells::{at, is_set, text};
use kubeshape_schema::Release;
use kubeshape_value::Value;
use kubeshape_yaml::go::Time;

const COLUMNS: &str = include_str!("columns.txt");

/// The source of the cells of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    /// The path of a field; empty for the whole object.
    path: &'static str,
    how: How,
}

/// How a field is shown.
#[derive(Clone, Copy, Debug)]
enum How {
    /// The field itself.
    Field(Absent),
    /// A string computed from it.
    Text(fn(Value<'_>) -> String),
    /// The same, with a time in place of the age (see [`shown`]).
    Ago(fn(Value<'_>) -> String),
    Number(fn(Value<'_>) -> i64),
    Whether(fn(Value<'_>) -> bool),
}

/// What is shown if the field is missing, so that its Go value is zero.
#[derive(Clone, Copy, Debug)]
enum Absent {
    Number(i64),
    Whether(bool),
    Text(&'static str),
    /// Also shown for an empty field.
    OrEmpty(&'static str),
}

/// Returns the columns of a kind; empty if the release shows only names and creation times. `None` if the kind is not
/// built in.
pub(super) fn columns(group: &str, kind: &str, release: Release) -> Option<Vec<(ColumnDefinition, Source)>> {
    let is_of = |name: &str| match name.split_once('.') {
        Some((name, of)) => name == kind && of == group,
        None => name == kind && group.is_empty(),
    };
    let sections = COLUMNS.split("\n[").skip(1);
    let mut sections = sections.filter_map(|section| section.split_once("]\n"));
    let (since, lines) = sections.find_map(|(head, lines)| {
        let (kinds, since) = head.split_once(' ').unwrap_or((head, ""));
        kinds.split(',').any(is_of).then_some((since, lines))
    })?;
    let has_columns = since.parse::<Release>().map_or(true, |since| release.since(since.minor()));
    Some(if has_columns { lines.lines().filter_map(column).collect() } else { Vec::new() })
}

/// Parses a line: name, type, priority, cells, description.
fn column(line: &'static str) -> Option<(ColumnDefinition, Source)> {
    let mut fields = line.splitn(5, '\t');
    let mut next = || fields.next();
    let (name, column_type, priority, source, description) = (next()?, next()?, next()?, next()?, next()?);
    let is_name = column_type == "name";
    let description = match description {
        "$name" => NAME.to_owned(),
        "$created" => AGE.to_owned(),
        description => description.replace("\\n", "\n"),
    };
    let definition = ColumnDefinition {
        name: name.to_owned(),
        column_type: if is_name { "string" } else { column_type }.to_owned(),
        format: if is_name { "name" } else { "" }.to_owned(),
        description,
        priority: priority.parse().ok()?,
    };
    Some((definition, Source::read(source, column_type)?))
}

impl Source {
    /// Parses the cells of a column. `None` if there is no such function.
    fn read(text: &'static str, column_type: &str) -> Option<Source> {
        if let Some((name, path)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            return Some(Source { path, how: function(name)? });
        }
        if text == "age" {
            return Some(Source { path: "metadata.creationTimestamp", how: How::Ago(cells::created) });
        }
        let path = if text == "name" { "metadata.name" } else { text };
        let (path, absent, or_empty) = match (path.split_once('?'), path.split_once('|')) {
            (Some((path, absent)), _) => (path, absent, false),
            (_, Some((path, absent))) => (path, absent, true),
            _ => (path, "", false),
        };
        // Some columns of strings have numbers.
        let absent = match (column_type, absent.parse()) {
            ("integer", number) => Absent::Number(number.unwrap_or_default()),
            (_, Ok(number)) => Absent::Number(number),
            ("boolean", _) => Absent::Whether(absent == "true"),
            _ if matches!(absent, "true" | "false") => Absent::Whether(absent == "true"),
            _ if or_empty => Absent::OrEmpty(absent),
            _ => Absent::Text(absent),
        };
        Some(Source { path, how: How::Field(absent) })
    }

    /// Returns the cell of an object, with a time in place of an age.
    pub(super) fn cell(&self, object: Value<'_>) -> Cell {
        let value = if self.path.is_empty() { object } else { at(object, self.path) };
        match self.how {
            How::Field(absent) => absent.or(value),
            How::Text(text) | How::Ago(text) => Cell::Text(text(value)),
            How::Number(number) => Cell::Int(number(value)),
            How::Whether(whether) => Cell::Bool(whether(value)),
        }
    }

    /// Returns whether its cells have ages.
    pub(super) fn has_ages(&self) -> bool {
        matches!(self.how, How::Ago(_))
    }
}

impl Absent {
    /// Returns the cell of a field. A list or a map is never shown.
    fn or(self, value: Value<'_>) -> Cell {
        match (value, self) {
            (Value::Int(n), _) | (Value::Null | Value::List(_) | Value::Map(_), Absent::Number(n)) => Cell::Int(n),
            (Value::Bool(yes), _) | (Value::Null | Value::List(_) | Value::Map(_), Absent::Whether(yes)) => {
                Cell::Bool(yes)
            }
            (Value::Float(n), _) => Cell::Float(n),
            (Value::String(text), Absent::OrEmpty(absent)) => Cell::Text(cells::or(text, absent).to_owned()),
            (Value::String(text), _) | (_, Absent::Text(text) | Absent::OrEmpty(text)) => Cell::Text(text.to_owned()),
        }
    }
}

/// Replaces the time in a cell by the age: the whole cell, or the time in `3 (TIME ago)`. `None` if there is no time.
pub(super) fn shown(text: &str, now: Time) -> Option<String> {
    let count = text.rsplit_once(" (").and_then(|(count, rest)| Some((count, rest.strip_suffix(" ago)")?)));
    let time = count.map_or(text, |(_, time)| time);
    Time::parse(time)?;
    let age = age(time, now);
    Some(count.map_or_else(|| age.clone(), |(count, _)| format!("{count} ({age} ago)")))
}

/// Returns a function by its name in the table of columns.
fn function(name: &str) -> Option<How> {
    Some(match name {
        "access_modes" => How::Text(storage::access_modes),
        "addresses" => How::Text(network::addresses),
        "ago" => How::Ago(cells::ago_or_none),
        "ago_or_nothing" => How::Ago(cells::ago_or_nothing),
        "claim" => How::Text(storage::claim),
        "claim_capacity" => How::Text(storage::claim_capacity),
        "claim_modes" => How::Text(storage::claim_modes),
        "claim_state" => How::Text(cluster::claim_state),
        "class_parameters" => How::Text(network::class_parameters),
        "cluster_ip" => How::Text(network::cluster_ip),
        "completions" => How::Text(apps::completions),
        "component_error" => How::Text(cluster::component_error),
        "component_message" => How::Text(cluster::component_message),
        "component_status" => How::Text(cluster::component_status),
        "config_keys" => How::Number(cells::config_keys),
        "containers" => How::Text(cells::containers),
        "controller" => How::Text(apps::controller),
        "count" => How::Number(cells::count),
        "dangling" => How::Text(cluster::dangling),
        "default_ingress_class" => How::Text(network::default_ingress_class),
        "default_storage_class" => How::Text(storage::default_storage_class),
        "deployment_selector" => How::Text(cells::deployment_selector),
        "devices_allocated" => How::Text(cluster::devices_allocated),
        "devices_available" => How::Text(cluster::devices_available),
        "devices_total" => How::Text(cluster::devices_total),
        "devices_unavailable" => How::Text(cluster::devices_unavailable),
        "endpoints" => How::Text(network::endpoints),
        "established" => How::Whether(cluster::established),
        "event_count" => How::Number(cluster::event_count),
        "event_message" => How::Text(cluster::event_message),
        "event_object" => How::Text(cluster::event_object),
        "event_source" => How::Text(cluster::event_source),
        "event_subobject" => How::Text(cluster::event_subobject),
        "external_ip" => How::Text(cluster::external_ip),
        "external_ips" => How::Text(network::external_ips),
        "first_seen" => How::Ago(cluster::first_seen),
        "group_resource" => How::Text(cluster::group_resource),
        "groups" => How::Text(cluster::groups),
        "images" => How::Text(cells::images),
        "ingress_hosts" => How::Text(network::ingress_hosts),
        "ingress_ports" => How::Text(network::ingress_ports),
        "internal_ip" => How::Text(cluster::internal_ip),
        "job_duration" => How::Ago(apps::job_duration),
        "job_status" => How::Text(apps::job_status),
        "joined" => How::Text(cells::joined),
        "kernel" => How::Text(cluster::kernel),
        "kind_and_name" => How::Text(cells::kind_and_name),
        "labels" => How::Text(cells::labels),
        "last_seen" => How::Ago(cluster::last_seen),
        "lifecycle_modes" => How::Text(storage::lifecycle_modes),
        "metrics" => How::Text(apps::metrics),
        "migration_status" => How::Text(cluster::migration_status),
        "node_roles" => How::Text(cluster::node_roles),
        "node_status" => How::Text(cluster::node_status),
        "number_or_percent" => How::Text(apps::number_or_percent),
        "param_kind" => How::Text(cluster::param_kind),
        "param_ref" => How::Text(cluster::param_ref),
        "parent" => How::Text(network::parent),
        "pod_group_status" => How::Text(cluster::pod_group_status),
        "pod_ip" => How::Text(pods::ip),
        "pod_ready" => How::Text(pods::ready),
        "pod_request_state" => How::Text(cluster::pod_request_state),
        "pod_restarts" => How::Ago(pods::restarts),
        "pod_status" => How::Text(pods::status),
        "pool_completed" => How::Ago(cluster::pool_completed),
        "pool_errors" => How::Text(cluster::pool_errors),
        "pool_status" => How::Text(cluster::pool_status),
        "quantity" => How::Text(cells::quantity),
        "quota_limits" => How::Text(cluster::quota_limits),
        "quota_requests" => How::Text(cluster::quota_requests),
        "readiness_gates" => How::Text(pods::readiness_gates),
        "ready_of_desired" => How::Text(apps::ready_of_desired),
        "replica_text" => How::Text(apps::replica_text),
        "request_condition" => How::Text(cluster::request_condition),
        "requested_duration" => How::Text(cluster::requested_duration),
        "scheduling_policy" => How::Text(cluster::scheduling_policy),
        "secret_keys" => How::Number(cells::secret_keys),
        "selector" => How::Text(cells::selector),
        "served_versions" => How::Text(cluster::served_versions),
        "service_accounts" => How::Text(cluster::service_accounts),
        "service_ports" => How::Text(network::service_ports),
        "slice_endpoints" => How::Text(network::slice_endpoints),
        "slice_ports" => How::Text(network::slice_ports),
        "storage_class" => How::Text(storage::storage_class),
        "storage_versions" => How::Text(cluster::storage_versions),
        "suspend" => How::Text(apps::suspend),
        "token_audiences" => How::Text(storage::token_audiences),
        "users" => How::Text(cluster::users),
        "volume_phase" => How::Text(storage::phase),
        _ => return None,
    })
}

/// Returns whether an object is being deleted.
fn is_deleted(object: Value<'_>) -> bool {
    is_set(at(object, "metadata.deletionTimestamp"))
}

/// Returns the name of an object, marked if one of these annotations says that it is the default of its kind.
fn marked(metadata: Value<'_>, annotations: &[&str]) -> String {
    let of = at(metadata, "annotations");
    let is_default = annotations.iter().any(|name| of.get(name).is_some_and(|value| text(value) == "true"));
    format!("{}{}", text(at(metadata, "name")), if is_default { " (default)" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, column};

    #[test]
    fn each_line_of_the_table_is_valid() {
        let lines = COLUMNS.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '[']));
        for line in lines {
            assert!(column(line).is_some(), "{line}");
        }
    }
}
