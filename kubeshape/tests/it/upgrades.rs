//! Plans of upgrades, carried out on the server.

use flate2::read::GzDecoder;
use http_body_util::{BodyExt, Full};
use kubeshape::diff::upgrade::{Action, Answer, Loss, Obstacle, Request, When};
use kubeshape::test::Server;
use kubeshape::{Api, Cluster, Crd, Plan};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Read;
use tokio::runtime::Runtime;
use tower::ServiceExt;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A server, and the client that sends it requests.
struct Played {
    server: Server,
    runtime: Runtime,
}

impl Played {
    fn new() -> Played {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Played { server: Server::new(), runtime }
    }

    fn send(&self, request: &Request) -> Answer {
        let body = request.body.as_ref().map(Value::to_string).unwrap_or_default();
        let sent = http::Request::builder().method(request.method).uri(&request.target);
        let sent = sent.header("content-type", request.media_type).body(Full::from(body)).unwrap();
        self.runtime.block_on(async {
            let response = self.server.service().oneshot(sent).await.unwrap();
            let code = response.status().as_u16();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            Answer { code, body: serde_json::from_slice(&body).unwrap_or_default() }
        })
    }

    fn ask(&self, method: &'static str, target: String, body: Option<&Value>) -> Result<Value, String> {
        let media_type = if method == "PATCH" { "application/apply-patch+yaml" } else { "application/json" };
        let request = Request { method, target, media_type, body: body.cloned() };
        let answer = self.send(&request);
        let told = || format!("{method} {}: {} {}", request.target, answer.code, answer.body["message"]);
        if answer.code < 300 { Ok(answer.body.clone()) } else { Err(told()) }
    }

    fn apply(&self, definition: &Value) -> Result<Value, String> {
        let name = definition["metadata"]["name"].as_str().unwrap();
        self.ask("PATCH", format!("{DEFINITIONS}/{name}?fieldManager=kubectl&force=true"), Some(definition))
    }

    fn definition(&self, definition: &Value) -> Value {
        let name = definition["metadata"]["name"].as_str().unwrap();
        self.ask("GET", format!("{DEFINITIONS}/{name}"), None).unwrap()
    }

    fn create(&self, definition: &Value, object: &Value) -> Result<Value, String> {
        let version = object["apiVersion"].as_str().unwrap().split_once('/').unwrap().1;
        let spec = &definition["spec"];
        let namespace = match object["metadata"]["namespace"].as_str() {
            _ if spec["scope"] != "Namespaced" => String::new(),
            namespace => format!("/namespaces/{}", namespace.unwrap_or("default")),
        };
        let (group, plural) = (spec["group"].as_str().unwrap(), spec["names"]["plural"].as_str().unwrap());
        self.ask("POST", format!("/apis/{group}/{version}{namespace}/{plural}"), Some(object))
    }

    /// Changes an object in the version in which it is given.
    fn change(&self, definition: &Value, object: &Value, patch: &Value) -> Result<Value, String> {
        let version = object["apiVersion"].as_str().unwrap().split_once('/').unwrap().1;
        let (spec, name) = (&definition["spec"], object["metadata"]["name"].as_str().unwrap());
        let namespace = object["metadata"]["namespace"].as_str().map(|name| format!("/namespaces/{name}"));
        let (group, plural) = (spec["group"].as_str().unwrap(), spec["names"]["plural"].as_str().unwrap());
        let target = format!("/apis/{group}/{version}{}/{plural}/{name}", namespace.unwrap_or_default());
        let media_type = "application/merge-patch+json";
        let answer = self.send(&Request { method: "PATCH", target, media_type, body: Some(patch.clone()) });
        if answer.code < 300 { Ok(answer.body) } else { Err(answer.body["message"].to_string()) }
    }

    fn list(&self, definition: &Value, version: &str) -> Result<Vec<Value>, String> {
        let spec = &definition["spec"];
        let (group, plural) = (spec["group"].as_str().unwrap(), spec["names"]["plural"].as_str().unwrap());
        let list = self.ask("GET", format!("/apis/{group}/{version}/{plural}"), None)?;
        Ok(list["items"].as_array().unwrap().clone())
    }

    /// Stores the objects in these versions in turn, or each in the version in which it is given.
    fn populate(&self, definition: &Value, stored: &[String], objects: &[Value], in_own: bool) -> Result<(), String> {
        for (at, version) in stored.iter().enumerate() {
            let mut definition = definition.clone();
            for entry in definition["spec"]["versions"].as_array_mut().unwrap() {
                entry["storage"] = (entry["name"] == version.as_str()).into();
                // So that objects can be created.
                entry["served"] = true.into();
            }
            self.apply(&definition)?;
            for (number, object) in objects.iter().enumerate() {
                let is_own = object["apiVersion"].as_str().unwrap().ends_with(&format!("/{version}"));
                let is_due = if in_own { is_own } else { number % stored.len() == at };
                if is_due {
                    self.create(&definition, object)?;
                }
            }
        }
        self.apply(definition).map(|_| ())
    }

    /// Returns the objects as clients read them in the versions in which they were given.
    fn as_read(&self, definition: &Value, objects: &[Value]) -> Vec<Value> {
        let served = served(definition);
        let read = |object: &Value| {
            let version = object["apiVersion"].as_str().unwrap().split_once('/').unwrap().1;
            let is_it = |other: &Value| other["metadata"]["name"] == object["metadata"]["name"];
            let all = served.iter().any(|known| known == version).then(|| self.list(definition, version).unwrap());
            all.and_then(|all| all.into_iter().find(is_it)).unwrap_or_else(|| object.clone())
        };
        objects.iter().map(read).collect()
    }

    /// Checks that every served version returns every object.
    fn all_readable(&self, definition: &Value, count: usize) -> Result<(), String> {
        for version in served(definition) {
            let found = self.list(definition, &version)?.len();
            if found != count {
                return Err(format!("{version} has {found} of {count} objects"));
            }
        }
        Ok(())
    }

    /// Returns what the objects lack at the end: name and field.
    fn lacking(&self, definition: &Value, objects: &[Value]) -> Result<Vec<String>, String> {
        let served = served(definition);
        let version = if served.contains(&storage(definition)) { storage(definition) } else { served[0].clone() };
        let found = self.list(definition, &version)?;
        let mut out = Vec::new();
        for object in objects {
            let is_it = |other: &&Value| other["metadata"]["name"] == object["metadata"]["name"];
            let other = found.iter().find(is_it).ok_or("an object is gone")?;
            for (key, value) in object.as_object().unwrap() {
                if !["apiVersion", "kind", "metadata"].contains(&key.as_str()) {
                    lack(value, &other[key], key, &mut out);
                }
            }
        }
        Ok(out)
    }
}

/// Collects the fields that a value lacks, or that differ.
fn lack(value: &Value, other: &Value, path: &str, out: &mut Vec<String>) {
    match (value, other) {
        (Value::Object(map), Value::Object(_)) => {
            for (key, below) in map {
                lack(below, &other[key], &format!("{path}.{key}"), out);
            }
        }
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            items.iter().zip(others).for_each(|(item, other)| lack(item, other, &format!("{path}[]"), out));
        }
        (value, other) if value == other => {}
        _ => out.push(path.to_owned()),
    }
}

/// Returns whether a reported loss covers a field: `*` matches a part of the path, and everything below is covered.
fn covers(loss: &Loss, field: &str) -> bool {
    let steps = |path: &str| path.replace("[]", ".[]").split('.').map(str::to_owned).collect::<Vec<_>>();
    let field = steps(field);
    loss.more > 0
        || loss.fields.iter().any(|told| {
            let told = steps(told);
            told.len() <= field.len() && told.iter().zip(&field).all(|(told, field)| told == "*" || told == field)
        })
}

fn versions<'d>(definition: &'d Value, is_it: impl Fn(&Value) -> bool + 'd) -> impl Iterator<Item = String> + 'd {
    let all = definition["spec"]["versions"].as_array().unwrap().iter();
    all.filter(move |version| is_it(version)).map(|version| version["name"].as_str().unwrap().to_owned())
}

fn served(definition: &Value) -> Vec<String> {
    versions(definition, |version| version["served"] == true).collect()
}

fn storage(definition: &Value) -> String {
    versions(definition, |version| version["storage"] == true).next().unwrap_or_default()
}

fn json_of(crd: &Crd) -> Value {
    let object = kubeshape::Object::at(crd.location().clone()).unwrap();
    let mut value = object.value().clone();
    value.as_object_mut().unwrap().remove("status");
    // The built-in server accepts only v1.
    if value["apiVersion"] == "apiextensions.k8s.io/v1beta1" {
        let spec = &mut value["spec"];
        let schema = spec.as_object_mut().unwrap().remove("validation").unwrap();
        spec.as_object_mut().unwrap().remove("additionalPrinterColumns");
        for version in spec["versions"].as_array_mut().unwrap() {
            version["schema"] = schema.clone();
        }
        value["apiVersion"] = "apiextensions.k8s.io/v1".into();
    }
    value
}

/// Returns the result of applying the new definition directly, and of writing every object afterwards.
fn naive(old: &Value, new: &Value, stored: &[String], objects: &[Value], plan: &Plan) -> &'static str {
    let played = Played::new();
    played.populate(old, stored, objects, false).unwrap();
    let objects = &played.as_read(old, objects);
    if old["metadata"]["name"] != new["metadata"]["name"] {
        return "refused";
    }
    if played.apply(new).is_err() {
        return "refused";
    }
    if played.all_readable(new, objects.len()).is_err() {
        return "strands";
    }
    let lacking = if served(new).is_empty() { Vec::new() } else { played.lacking(new, objects).unwrap() };
    if lacking.iter().any(|field| !plan.losses.iter().any(|loss| covers(loss, field))) {
        return "loses";
    }
    let stored = played.definition(new)["status"]["storedVersions"].clone();
    if stored == json!([storage(new)]) { "passes" } else { "stays unfinished" }
}

/// Carries out a plan. Afterwards the new definition exists, objects are stored only in its storage version, and all of
/// them are unchanged, except for the losses in the plan.
///
/// `change` is a merge patch for the objects of the step that users do by hand.
fn play(
    old: &Value,
    new: &Value,
    stored: &[String],
    objects: &[Value],
    in_own: bool,
    change: Option<&Value>,
    plan: &Plan,
) -> Result<(), String> {
    let played = Played::new();
    played.populate(old, stored, objects, in_own)?;
    let mut objects = played.as_read(old, objects);
    let mut current = old.clone();
    for (number, step) in plan.steps.iter().enumerate() {
        if let (Action::Change { objects: numbers }, Some(change)) = (&step.action, change) {
            for number in numbers {
                objects[*number] = played.change(&current, &objects[*number], change)?;
            }
        }
        plan.carry_out(number, &mut |request| played.send(request)).map_err(|error| error.to_string())?;
        if let Action::Apply { definition, .. } = &step.action {
            current = definition.clone();
        }
        played.all_readable(&current, objects.len()).map_err(|error| format!("after step {}: {error}", number + 1))?;
    }
    let held = played.definition(new);
    for version in held["spec"]["versions"].as_array().unwrap() {
        let given = new["spec"]["versions"].as_array().unwrap().iter().find(|given| given["name"] == version["name"]);
        let given = given.ok_or("a version is left")?;
        if (&given["served"], &given["storage"]) != (&version["served"], &version["storage"]) {
            return Err(format!("{version} is not as it should be"));
        }
    }
    if held["status"]["storedVersions"] != json!([storage(new)]) {
        return Err(format!("objects may be stored in {}", held["status"]["storedVersions"]));
    }
    let lacking = played.lacking(new, &objects)?;
    match lacking.iter().find(|field| !plan.losses.iter().any(|loss| covers(loss, field))) {
        Some(field) => Err(format!("{field} is lost, and the plan does not say so")),
        None => Ok(()),
    }
}

/// Returns the expected lines of a plan.
fn lines(plan: &Plan, naive: &str) -> Vec<String> {
    let mut out = vec![format!("naive: {naive}")];
    let action = |action: &Action| match action {
        Action::Webhook { versions } => format!("webhook {}", versions.join(" ")),
        Action::Change { objects } => format!("change {}", objects.len()),
        Action::Apply { is_new: true, .. } => "apply".to_owned(),
        Action::Apply { definition, .. } => {
            let all: Vec<String> = versions(definition, |_| true).collect();
            format!("apply between with {}", all.join(" "))
        }
        Action::Migrate { version, .. } => format!("migrate {version}"),
        Action::Prune { stored } => format!("prune {}", stored.join(" ")),
    };
    match &plan.obstacle {
        None if plan.steps.is_empty() => out.push("plan: nothing".to_owned()),
        None => {
            let steps: Vec<String> = plan.steps.iter().map(|step| action(&step.action)).collect();
            out.push(format!("plan: {}", steps.join(", ")));
        }
        Some(Obstacle::Recreate { because, .. }) => out.push(format!("plan: none: {}", because.join(", "))),
        Some(Obstacle::Refused { errors }) => out.push(format!("plan: none: refused: {}", errors.join("; "))),
        Some(Obstacle::Stored { versions }) => out.push(format!("plan: none: stored in {}", versions.join(" "))),
    }
    for loss in &plan.losses {
        let when = if loss.when == When::Stored { "lost" } else { "not stored" };
        out.push(format!("{when}: {} to {}: {}", loss.from, loss.to, loss.fields.join(", ")));
    }
    for object in &plan.objects {
        for seen in &object.seen {
            if !seen.lost.is_empty() {
                out.push(format!("object {}: lost in {}: {}", object.name, seen.version, seen.lost.join(", ")));
            }
            if !seen.errors.is_empty() {
                let how = if seen.is_ratcheted { "kept" } else { "refused" };
                out.push(format!("object {}: {how} in {}: {}", object.name, seen.version, seen.errors.join("; ")));
            }
        }
        if object.is_unserved {
            out.push(format!("object {}: {} is not served", object.name, object.version));
        }
    }
    out
}

/// Each pair has the result of applying the new definition directly, and the plan. The plan is carried out.
#[test]
fn curated_pairs_are_carried_out() {
    let folder = kubeshape_corpus::folder().join("upgrades");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 48, "{}", paths.len());
    let (mut wrong, mut changed) = (Vec::new(), 0);
    for path in paths {
        let name = path.file_name().unwrap().display().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        let (head, rest) = text.split_once("---\n").unwrap();
        let expected: Vec<&str> = head.lines().filter_map(|line| line.strip_prefix("# ")).collect();
        let documents: Vec<&str> = rest.split("---\n").collect();
        let [old, new, objects @ ..] = documents.as_slice() else { panic!("{name}: two definitions") };
        let (old, new) = (Crd::read("old.yaml", old).unwrap(), Crd::read("new.yaml", new).unwrap());
        let objects: Vec<Value> =
            objects.iter().map(|text| kubeshape::Object::read("object.yaml", text).unwrap().into_value()).collect();
        let stored = expected.iter().find_map(|line| line.strip_prefix("stored: "));
        let stored: Vec<String> = stored.into_iter().flat_map(|list| list.split(", ")).map(str::to_owned).collect();
        let cluster = Cluster { stored: stored.clone(), objects: objects.clone(), ..Cluster::default() };
        let plan = old.upgrade_to(&new, &cluster).unwrap();
        assert_eq!(plan, old.upgrade_to(&new, &cluster).unwrap(), "{name}");
        let (old, new) = (json_of(&old), json_of(&new));
        let is_known = !matches!(plan.obstacle, Some(Obstacle::Stored { .. }));
        let naive = if is_known { naive(&old, &new, &plan.stored, &objects, &plan) } else { "cannot be" };
        let found = lines(&plan, naive);
        let change = expected.iter().find_map(|line| line.strip_prefix("change: "));
        let change: Option<Value> = change.map(|change| serde_json::from_str(change).unwrap());
        let is_given = |line: &&str| ["rule: ", "stored: ", "change: "].iter().any(|given| line.starts_with(given));
        let expected: Vec<&str> = expected.into_iter().filter(|line| !is_given(line)).collect();
        if found != expected {
            wrong.push(format!("{name}\n# {}\n", found.join("\n# ")));
        }
        if plan.obstacle.is_some() {
            assert!(plan.steps.is_empty(), "{name}");
            continue;
        }
        let must_change = plan.objects.iter().any(kubeshape::diff::upgrade::ObjectReport::is_refused);
        assert_eq!(must_change, change.is_some(), "{name}: an object must change, and it is told how");
        let played = |change| play(&old, &new, &plan.stored, &objects, false, change, &plan);
        if let Err(error) = played(change.as_ref()) {
            wrong.push(format!("{name}: {error}"));
        }
        // Without the change, an object cannot be written again in that step of the plan.
        let migrates = plan.steps.iter().any(|step| matches!(step.action, Action::Migrate { .. }));
        if must_change && migrates {
            changed += 1;
            if played(None).is_ok() {
                wrong.push(format!("{name}: no object had to change"));
            }
        }
    }
    assert!(changed > 0, "no plan has an object that must change");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All ways in which up to three versions become up to two others, with every choice of storage, without a webhook and
/// with one. Instead of the webhook, the server changes only the `apiVersion`, like a webhook of versions with the same
/// fields. A run carries out every seventh of them.
#[test]
fn every_change_of_versions_is_carried_out() {
    const NAMES: [&str; 3] = ["v1beta1", "v1", "v2"];
    const NONE: &str = "{strategy: None}";
    const WEBHOOK: &str =
        "{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a.example/c'}}}";
    let lists: Vec<Vec<&str>> = (1..8)
        .map(|set: usize| {
            NAMES.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, name)| *name).collect()
        })
        .collect();
    let text = |list: &[&str], storage: usize, conversion: &str| {
        let version = |(at, name): (usize, &&str)| {
            format!(
                "{{name: {name}, served: true, storage: {}, schema: {{openAPIV3Schema: {{type: object, properties: \
                 {{spec: {{type: object, properties: {{size: {{type: integer}}}}}}}}}}}}}}",
                at == storage
            )
        };
        let versions: Vec<String> = list.iter().enumerate().map(version).collect();
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: tabs.example.com}}\nspec:\n  \
             group: example.com\n  scope: Cluster\n  names: {{plural: tabs, kind: Tab}}\n  conversion: {conversion}\n  versions: [{}]\n",
            versions.join(", ")
        )
    };
    let step = kubeshape_corpus::one_in(7);
    let (mut seen, mut played, mut failing) = (0, 0, 0);
    for old in &lists {
        for old_storage in 0..old.len() {
            for new in &lists {
                for new_storage in 0..new.len() {
                    // Objects are stored in all old versions, or only in the storage version.
                    let stored = [old.as_slice(), &old[old_storage..=old_storage]];
                    for (stored, conversion) in
                        stored.into_iter().flat_map(|stored| [(stored, NONE), (stored, WEBHOOK)])
                    {
                        seen += 1;
                        if seen % step > 0 {
                            continue;
                        }
                        let stored: Vec<String> = stored.iter().map(|name| (*name).to_owned()).collect();
                        let was = Crd::read("old.yaml", text(old, old_storage, conversion)).unwrap();
                        let is = Crd::read("new.yaml", text(new, new_storage, conversion)).unwrap();
                        let cluster = Cluster { stored, ..Cluster::default() };
                        let plan = was.upgrade_to(&is, &cluster).unwrap();
                        assert!(plan.is_safe() && plan.losses.is_empty(), "{plan}");
                        let objects: Vec<Value> = (0..3)
                            .map(|at| {
                                json!({"apiVersion": format!("example.com/{}", old[at % old.len()]), "kind": "Tab",
                                    "metadata": {"name": format!("o{at}")}, "spec": {"size": at}})
                            })
                            .collect();
                        let (was, is) = (json_of(&was), json_of(&is));
                        let naive = naive(&was, &is, &plan.stored, &objects, &plan);
                        // If the new definition is refused, or leaves objects behind, the plan has more than one step.
                        // The server does not carry out conversion by a webhook.
                        let steps = plan.steps.iter().filter(|step| !matches!(step.action, Action::Webhook { .. }));
                        assert_eq!(naive != "passes", steps.count() > 1, "{naive}: {plan}");
                        failing += usize::from(naive != "passes");
                        play(&was, &is, &plan.stored, &objects, false, None, &plan)
                            .unwrap_or_else(|error| panic!("{error}\n{plan}"));
                        played += 1;
                    }
                }
            }
        }
    }
    assert!(
        played * step + step > seen && failing >= 90 / step,
        "{played} of {seen} played, {failing} of them in several steps"
    );
}

/// Definitions as real projects changed them, with a sample of each served version. A run plans every pair, and carries
/// out every fourth of those with several steps.
#[test]
fn real_pairs_are_carried_out() {
    let Some(folder) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return };
    let folder = folder.join("upgrades");
    let list = std::fs::read_to_string(folder.join("pairs.ndjson")).unwrap();
    let step = kubeshape_corpus::one_in(4);
    let (mut planned, mut played, mut several, mut kept) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    let mut known = BTreeSet::new();
    for line in list.lines() {
        let pair: Value = serde_json::from_str(line).unwrap();
        let name = pair["name"].as_str().unwrap();
        let read = |side: &str| {
            let path = folder.join("crds").join(format!("{}.yaml.gz", pair[side]["sha"].as_str().unwrap()));
            let mut text = String::new();
            GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
            Crd::read_all(side, text).0.into_iter().find(|crd| crd.name() == name).unwrap()
        };
        let (old, new) = (read("old"), read("new"));
        let stored: Vec<String> = old.versions().to_vec();
        let mut cluster = Cluster { stored, ..Cluster::default() };
        let plan = old.upgrade_to(&new, &cluster).unwrap();
        planned += 1;
        if plan.obstacle.is_some() || plan.steps.len() < 2 {
            continue;
        }
        // The effect of a webhook on real objects is unknown here, or the plan was carried out.
        let is_played = plan.conversion == kubeshape::diff::upgrade::Conversion::None
            && known.insert((name.to_owned(), old.versions().to_vec(), new.versions().to_vec()));
        if !is_played || !known.len().is_multiple_of(step) {
            continue;
        }
        let (was, is) = (json_of(&old), json_of(&new));
        let api = Api::read([("old.yaml", was.to_string())]).unwrap();
        let mut objects = Vec::new();
        for (at, version) in old.versions().iter().enumerate() {
            let api_version = format!("{}/{version}", old.group());
            let kind = api.kind(&api_version, old.kind()).unwrap();
            for maximal in [false, true] {
                let Some(sampled) = kind.sample(maximal, kubeshape::Release::DEFAULT) else { continue };
                if sampled.problems.is_empty() {
                    let mut object = sampled.object;
                    object["metadata"]["name"] = format!("sample-{at}-{maximal}").into();
                    objects.push(object);
                }
            }
        }
        // Objects that must be changed first are left out.
        cluster.objects = objects;
        let judged = old.upgrade_to(&new, &cluster).unwrap();
        let refused: BTreeSet<usize> =
            judged.objects.iter().filter(|object| object.is_refused()).map(|object| object.index).collect();
        let all = cluster.objects.into_iter().enumerate();
        let objects: Vec<Value> = all.filter(|(at, _)| !refused.contains(at)).map(|(_, object)| object).collect();
        several += usize::from(!plan.refused.is_empty());
        played += 1;
        kept += objects.len();
        if let Err(error) = play(&was, &is, &plan.stored, &objects, true, None, &plan) {
            wrong.push(format!("{name}: {error}\n{plan}"));
        }
    }
    assert!(
        planned > 300 && played > 50 / step && kept > 50 / step,
        "{planned} planned, {played} played with {kept} objects"
    );
    assert!(wrong.is_empty(), "{} of {played}, {several} refused: {}", wrong.len(), wrong.join("\n"));
}
