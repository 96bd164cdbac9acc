//! The plugin `LimitRanger`: defaults and bounds of resources.

use super::{Call, spec_list, with_spec};
use crate::status::Status;
use crate::value::{metadata, with, with_meta};
use kubeshape_cel::Quantity;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use std::collections::BTreeMap;

/// The annotation that says which resources were set.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";
/// Resources that a Pod may set for all its containers together.
const OF_POD: [&str; 2] = ["cpu", "memory"];

/// How many resources of a Pod's containers a LimitRange may set. A server has no limit.
const MAX_DEFAULTS: usize = 100_000;
/// After this many errors, no others are looked for. A server has no limit.
const MAX_ERRORS: usize = 1_000;

/// Default quantities by resource.
type Defaults<'v> = BTreeMap<&'v str, Value<'v>>;
/// Quantities by resource.
type Resources = BTreeMap<String, Quantity>;

/// The requests and limits of a container or a Pod.
pub(super) struct Given {
    pub(super) requests: Resources,
    pub(super) limits: Resources,
}

impl Call<'_> {
    fn limit_ranges<'v>(&'v self, arena: &'v Bump) -> Result<Vec<Value<'v>>, Status> {
        self.objects_of("v1", "LimitRange", self.path.namespace, arena)
    }

    /// Returns a new Pod whose containers have the defaults of the namespace (upstream: `PodMutateLimitFunc`).
    pub(super) fn with_default_resources<'v>(&'v self, pod: Value<'v>, arena: &'v Bump) -> Result<Value<'v>, Status> {
        let mut pod = pod;
        for range in self.limit_ranges(arena)? {
            self.goes_on()?;
            let defaults = ["defaultRequest", "default"].map(|key| {
                let of_containers = spec_list(range, "limits").iter().filter(|limit| kind_of(**limit) == "Container");
                of_containers.flat_map(|limit| members(*limit, key)).copied().collect::<Defaults<'_>>()
            });
            let count: usize = defaults.iter().map(Defaults::len).sum();
            let containers = spec_list(pod, "containers").len() + spec_list(pod, "initContainers").len();
            if count.saturating_mul(containers) > MAX_DEFAULTS {
                let why = format!("a LimitRange sets more than {MAX_DEFAULTS} resources of a Pod");
                return Err(Status::internal(why));
            }
            let mut said = Vec::new();
            for (list, what) in [("containers", "container"), ("initContainers", "init container")] {
                let containers = spec_list(pod, list);
                if containers.is_empty() {
                    continue;
                }
                let before = said.len();
                let complete = |container: &Value<'v>| with_defaults(*container, &defaults, what, &mut said, arena);
                let containers: Vec<Value<'v>> = containers.iter().map(complete).collect();
                if said.len() > before {
                    pod = with_spec(pod, list, Some(Value::List(arena.alloc_slice_copy(&containers))), arena);
                }
            }
            if !said.is_empty() {
                self.is_storable(pod)?;
                let text = arena.alloc_str(&format!("LimitRanger plugin set: {}", said.join("; ")));
                let annotations = metadata(pod).get("annotations").and_then(Value::as_map).unwrap_or(Map::EMPTY);
                let annotations = annotations.with(ANNOTATION, Some(Value::String(text)), arena);
                pod = with_meta(pod, "annotations", Some(Value::Map(annotations)), arena);
            }
        }
        Ok(pod)
    }

    /// Checks a new Pod, or a claim, against the limits of the namespace (upstream: `PodValidateLimitFunc`,
    /// `PersistentVolumeClaimValidateLimitFunc`).
    pub(super) fn fits_limits(&self, object: Value<'_>, old: Option<Value<'_>>, arena: &Bump) -> Result<(), Status> {
        let is_pod = self.served.is_pod();
        if (is_pod && old.is_some()) || old.is_some_and(|old| metadata(old).get("deletionTimestamp").is_some()) {
            return Ok(());
        }
        for range in self.limit_ranges(arena)? {
            let mut errors = Vec::new();
            for limit in spec_list(range, "limits") {
                self.goes_on()?;
                match kind_of(*limit) {
                    "Container" if is_pod => {
                        for container in ["containers", "initContainers"].iter().flat_map(|of| spec_list(object, of)) {
                            let resources = container.get("resources").unwrap_or(Value::Null);
                            check(*limit, &Given::of(resources), &mut errors);
                            if errors.len() > MAX_ERRORS {
                                break;
                            }
                        }
                    }
                    "Pod" if is_pod => check(*limit, &Given::of_pod(object), &mut errors),
                    "PersistentVolumeClaim" if !is_pod => {
                        let resources = object.get("spec").and_then(|spec| spec.get("resources"));
                        check_claim(*limit, &Given::of(resources.unwrap_or(Value::Null)).requests, &mut errors);
                    }
                    _ => {}
                }
                if errors.len() > MAX_ERRORS {
                    break;
                }
            }
            match errors.as_slice() {
                [] => {}
                [error] => return Err(self.forbidden(object, error)),
                all => return Err(self.forbidden(object, &format!("[{}]", all.join(", ")))),
            }
        }
        Ok(())
    }
}

/// Returns the type of a limit: `Container`, `Pod`, `PersistentVolumeClaim`.
fn kind_of(limit: Value<'_>) -> &str {
    limit.get("type").and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn members<'v>(of: Value<'v>, key: &str) -> &'v [(&'v str, Value<'v>)] {
    of.get(key).and_then(Value::as_map).unwrap_or(Map::EMPTY).entries()
}

/// Returns a container with default requests and limits. What was set is noted (upstream: `mergeContainerResources`).
fn with_defaults<'v>(
    container: Value<'v>,
    defaults: &[Defaults<'v>; 2],
    what: &str,
    said: &mut Vec<String>,
    arena: &'v Bump,
) -> Value<'v> {
    let before = said.len();
    let mut resources = container.get("resources").filter(|of| of.as_map().is_some()).unwrap_or(Value::Map(Map::EMPTY));
    for ((key, word), defaults) in [("requests", "request"), ("limits", "limit")].into_iter().zip(defaults) {
        let given = resources.get(key).and_then(Value::as_map).unwrap_or(Map::EMPTY);
        let missing = defaults.iter().filter(|(name, _)| given.get(name).is_none());
        let missing: Vec<(&str, Value<'v>)> = missing.map(|(name, value)| (*name, *value)).collect();
        if !missing.is_empty() {
            let set: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
            let complete = given.entries().iter().copied().chain(missing.iter().copied()).collect();
            let complete = Map::from_entries(complete, arena);
            let name = container.get("name").and_then(Value::as_str).unwrap_or_default();
            said.push(format!("{} {word} for {what} {name}", set.join(", ")));
            resources = with(resources, key, Some(Value::Map(complete)), arena);
        }
    }
    // A copy for each LimitRange would add up.
    if said.len() == before { container } else { with(container, "resources", Some(resources), arena) }
}

impl Given {
    /// Reads the member `resources` of a container or claim.
    pub(super) fn of(resources: Value<'_>) -> Given {
        let read = |key: &str| {
            let all = members(resources, key).iter();
            all.filter_map(|(name, value)| Some(((*name).to_owned(), Quantity::parse(value.as_str()?).ok()?))).collect()
        };
        Given { requests: read("requests"), limits: read("limits") }
    }

    /// Returns what a Pod needs (upstream: `podRequests`, `podLimits`): the sum of its containers, or what an init
    /// container needs together with the sidecars before it, if that is more.
    pub(super) fn of_pod(pod: Value<'_>) -> Given {
        let sum = |of: fn(Given) -> Resources| {
            let mut all = Resources::new();
            for container in spec_list(pod, "containers") {
                add(&mut all, &of(Given::of(container.get("resources").unwrap_or(Value::Null))));
            }
            let (mut sidecars, mut most) = (Resources::new(), Resources::new());
            for container in spec_list(pod, "initContainers") {
                let own = of(Given::of(container.get("resources").unwrap_or(Value::Null)));
                if container.get("restartPolicy") == Some(Value::String("Always")) {
                    add(&mut all, &own);
                    add(&mut sidecars, &own);
                    enlarge(&mut most, &sidecars);
                } else {
                    let mut together = own;
                    add(&mut together, &sidecars);
                    enlarge(&mut most, &together);
                }
            }
            enlarge(&mut all, &most);
            let of_pod = pod.get("spec").and_then(|spec| spec.get("resources")).unwrap_or(Value::Null);
            all.extend(of(Given::of(of_pod)).into_iter().filter(|(name, _)| OF_POD.contains(&name.as_str())));
            all
        };
        Given { requests: sum(|given| given.requests), limits: sum(|given| given.limits) }
    }
}

fn add(to: &mut Resources, more: &Resources) {
    for (name, quantity) in more {
        let sum = to.get(name).map_or_else(|| Ok(quantity.clone()), |old| old.add(quantity, false));
        // Quantities that cannot be added were refused before.
        to.insert(name.clone(), sum.unwrap_or_else(|_| quantity.clone()));
    }
}

fn enlarge(to: &mut Resources, other: &Resources) {
    for (name, quantity) in other {
        if to.get(name).is_none_or(|old| quantity.compare(old).is_gt()) {
            to.insert(name.clone(), quantity.clone());
        }
    }
}

/// Returns a quantity in thousandths, rounded up, as upstream compares them.
fn thousandths(quantity: &Quantity) -> Quantity {
    quantity.clone().rounded_up(-3)
}

fn is_less(a: &Quantity, b: &Quantity) -> bool {
    thousandths(a).compare(&thousandths(b)).is_lt()
}

/// Returns the quantities of a limit, each with its text.
fn bounds<'v>(limit: Value<'v>, key: &str) -> impl Iterator<Item = (&'v str, &'v str, Quantity)> {
    let all = members(limit, key).iter();
    all.filter_map(|(name, value)| Some((*name, value.as_str()?, Quantity::parse(value.as_str()?).ok()?)))
}

/// Checks requests and limits (upstream: `minConstraint`, `maxConstraint`, `limitRequestRatioConstraint`).
fn check(limit: Value<'_>, given: &Given, errors: &mut Vec<String>) {
    let per = kind_of(limit);
    check_minimum(limit, given, errors);
    for (name, text, most) in bounds(limit, "max") {
        let start = format!("maximum {name} usage per {per} is {text}");
        let (request, limit) = (given.requests.get(name), given.limits.get(name));
        match (request, limit) {
            (_, None) => errors.push(format!("{start}.  No limit is specified")),
            (_, Some(limit)) if is_less(&most, limit) => errors.push(format!("{start}, but limit is {limit}")),
            (Some(request), _) if is_less(&most, request) => errors.push(format!("{start}, but request is {request}")),
            _ => {}
        }
    }
    for (name, text, most) in bounds(limit, "maxLimitRequestRatio") {
        let start = format!("{name} max limit to request ratio per {per} is {text}");
        let some =
            |quantity: Option<&Quantity>| quantity.map(|of| thousandths(of).approximate()).filter(|of| *of != 0.0);
        match (some(given.requests.get(name)), some(given.limits.get(name))) {
            (None, _) => errors.push(format!("{start}, but no request is specified or request is 0")),
            (_, None) => errors.push(format!("{start}, but no limit is specified or limit is 0")),
            (Some(request), Some(limit)) if limit / request > thousandths(&most).approximate() => {
                errors.push(format!("{start}, but provided ratio is {:.6}", limit / request));
            }
            _ => {}
        }
    }
}

fn check_minimum(limit: Value<'_>, given: &Given, errors: &mut Vec<String>) {
    for (name, text, least) in bounds(limit, "min") {
        let start = format!("minimum {name} usage per {} is {text}", kind_of(limit));
        match (given.requests.get(name), given.limits.get(name)) {
            (None, _) => errors.push(format!("{start}.  No request is specified")),
            (Some(request), _) if is_less(request, &least) => errors.push(format!("{start}, but request is {request}")),
            (_, Some(limit)) if is_less(limit, &least) => errors.push(format!("{start}, but limit is {limit}")),
            _ => {}
        }
    }
}

/// Checks what a claim requests. Its limits are ignored.
fn check_claim(limit: Value<'_>, requests: &Resources, errors: &mut Vec<String>) {
    let given = Given { requests: requests.clone(), limits: Resources::new() };
    check_minimum(limit, &given, errors);
    for (name, text, most) in bounds(limit, "max") {
        let start = format!("maximum {name} usage per {} is {text}", kind_of(limit));
        match requests.get(name) {
            None => errors.push(format!("{start}.  No request is specified")),
            Some(request) if is_less(&most, request) => errors.push(format!("{start}, but request is {request}")),
            Some(_) => {}
        }
    }
}
