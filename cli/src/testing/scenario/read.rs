//! From a YAML document to steps.

use crate::args::TestArgs;
use crate::session::text::{Text, read_path};
use crate::session::types::BuiltIn;
use crate::session::{Session, types};
use kubeshape_input::{Code, Document};
use kubeshape_registry::{Gvk, Location, Registry, Time, describe};
use kubeshape_smd::Value;
use kubeshape_smd::fieldpath::Set;
use kubeshape_smd::typed::KeyFields;
use kubeshape_smd::value::Compat;
use kubeshape_validate::Release;
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A scenario.
pub(super) struct Scenario<'a> {
    pub(super) text: &'a Text<'a>,
    pub(super) compat: Compat,
    pub(super) node: Node<'a>,
    pub(super) name: &'a str,
    pub(super) document: &'a Arc<Document>,
    pub(super) registry: &'a Registry,
    /// By apiVersion and subresource: what that endpoint leaves alone.
    pub(super) reset_fields: BTreeMap<(&'a str, &'a str), Set<'a>>,
    pub(super) steps: Vec<Step<'a>>,
}

/// A step.
pub(super) struct Step<'a> {
    pub(super) text: &'a Text<'a>,
    pub(super) node: Node<'a>,
    pub(super) action: Action<'a>,
    /// The name of the type, if it is not that of the object's kind.
    pub(super) type_name: Option<&'a str>,
    pub(super) time: Option<Time>,
    /// The key and the value of what is expected.
    pub(super) expect: Option<(Node<'a>, Node<'a>)>,
}

impl Step<'_> {
    /// Whether it asks for its expectations to be filled in: there is a place for them, and none in it.
    pub(super) fn is_to_be_filled(&self) -> bool {
        self.expect.is_some_and(|(_, value)| value.is_null() || (value.kind() == Kind::Map && value.is_empty()))
    }
}

/// What a step does.
pub(super) enum Action<'a> {
    /// The live object becomes this; none if it is deleted.
    Set(Option<Node<'a>>),
    Apply(Write<'a>),
    Update(Write<'a>),
    /// The object is sent to the server, which checks it as a whole: it is created, or replaces the live object.
    Judge {
        object: Node<'a>,
        /// Whether it is sent to the status subresource.
        status: bool,
    },
    Validate(Node<'a>),
    Fieldset(Node<'a>),
    Compare {
        from: Option<Node<'a>>,
        to: Option<Node<'a>>,
    },
    Merge {
        live: Option<Node<'a>>,
        config: Option<Node<'a>>,
    },
    Remove {
        object: Node<'a>,
        fields: Set<'a>,
    },
    Extract {
        object: Node<'a>,
        fields: Set<'a>,
        keys: KeyFields,
    },
    Reconcile {
        object: Node<'a>,
        fields: Set<'a>,
    },
}

/// A request to the live object.
pub(super) struct Write<'a> {
    pub(super) object: Node<'a>,
    pub(super) manager: &'a str,
    pub(super) force: bool,
    pub(super) subresource: &'a str,
}

impl fmt::Display for Action<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write = |f: &mut fmt::Formatter<'_>, what: &str, write: &Write<'_>| {
            write!(f, "{what} by {}", write.manager)?;
            if !write.subresource.is_empty() {
                write!(f, " through {}", write.subresource)?;
            }
            f.write_str(if write.force { ", forced" } else { "" })
        };
        match self {
            Action::Set(_) => f.write_str("set"),
            Action::Apply(request) => write(f, "apply", request),
            Action::Update(request) => write(f, "update", request),
            Action::Judge { status, .. } => f.write_str(if *status { "judge through status" } else { "judge" }),
            Action::Validate(_) => f.write_str("validate"),
            Action::Fieldset(_) => f.write_str("fieldset"),
            Action::Compare { .. } => f.write_str("compare"),
            Action::Merge { .. } => f.write_str("merge"),
            Action::Remove { .. } => f.write_str("remove"),
            Action::Extract { .. } => f.write_str("extract"),
            Action::Reconcile { .. } => f.write_str("reconcile"),
        }
    }
}

const ACTIONS: [&str; 11] =
    ["set", "apply", "update", "judge", "validate", "fieldset", "compare", "merge", "remove", "extract", "reconcile"];

/// Something that is not as it should be; it was reported.
struct Reported;

type Read<T> = Result<T, Reported>;

/// Reads a scenario, for the release that is given or else the one that it names; what is wrong with it is told.
pub(super) fn scenario<'a>(
    text: &'a Text<'a>,
    document: &'a Arc<Document>,
    args: &TestArgs,
    release: Option<Release>,
    session: &mut Session<'a>,
) -> Option<Scenario<'a>> {
    let mut reader = Reader { text, document, args, release, session, compat: Compat::default(), wrong: false };
    let scenario = reader.scenario(document.root());
    let wrong = reader.wrong;
    scenario.ok().filter(|_| !wrong)
}

struct Reader<'r, 'a> {
    text: &'a Text<'a>,
    document: &'a Arc<Document>,
    args: &'r TestArgs,
    release: Option<Release>,
    session: &'r mut Session<'a>,
    /// How the scenario reads managed fields.
    compat: Compat,
    /// Whether anything was told.
    wrong: bool,
}

impl<'a> Reader<'_, 'a> {
    fn tell(&mut self, node: Node<'_>, detail: impl Into<String>) -> Reported {
        self.wrong = true;
        self.session.report(&self.text.about(Code::Scenario, node, detail));
        Reported
    }

    fn expected<T>(&mut self, node: Node<'_>, expected: &str) -> Read<T> {
        Err(self.tell(node, format!("found {}, expected {expected}", describe(node))))
    }

    fn map(&mut self, node: Node<'a>, expected: &str) -> Read<Node<'a>> {
        if node.kind() == Kind::Map { Ok(node) } else { self.expected(node, expected) }
    }

    fn list(&mut self, node: Node<'a>, expected: &str) -> Read<Node<'a>> {
        if node.kind() == Kind::Seq { Ok(node) } else { self.expected(node, expected) }
    }

    fn string(&mut self, node: Node<'a>, expected: &str) -> Read<&'a str> {
        match node.as_str() {
            Some(text) => Ok(text),
            None => self.expected(node, expected),
        }
    }

    fn bool(&mut self, node: Option<Node<'a>>) -> Read<bool> {
        match node.map(|node| (node, node.as_bool())) {
            None => Ok(false),
            Some((_, Some(yes))) => Ok(yes),
            Some((node, None)) => self.expected(node, "true or false"),
        }
    }

    /// A member that must be there.
    fn member(&mut self, of: Node<'a>, name: &str) -> Read<Node<'a>> {
        match of.get(name) {
            Some(node) => Ok(node),
            None => Err(self.tell(of, format!("{name} is missing"))),
        }
    }

    /// Tells members of other names, and those that stand twice.
    fn only(&mut self, node: Node<'a>, names: &[&str]) {
        let mut seen: Vec<&str> = Vec::new();
        for (key, _) in node.pairs() {
            if !names.contains(&key.text()) {
                self.tell(key, format!("found {:?}, expected one of {}", key.text(), names.join(", ")));
            } else if seen.contains(&key.text()) {
                self.tell(key, format!("{} stands twice", key.text()));
            }
            seen.push(key.text());
        }
    }

    fn fields(&mut self, node: Node<'a>) -> Read<Set<'a>> {
        let arena = self.session.arena;
        match Set::from_fields_v1_as(Value::from_node(node, arena), self.compat, arena) {
            Ok(set) => Ok(set),
            Err(error) => Err(self.tell(node, format!("found no set of fields (FieldsV1): {}", error.message))),
        }
    }

    fn scenario(&mut self, root: Node<'a>) -> Read<Scenario<'a>> {
        self.map(root, "a scenario: a mapping with scenario, schemas and steps")?;
        if root.get("scenario").is_none() && root.get("steps").is_none() {
            return Err(self.tell(root, "found neither scenario nor steps, expected a scenario"));
        }
        self.only(root, &["scenario", "rule", "kubernetes", "schemas", "types", "resetFields", "steps"]);
        let name = self.member(root, "scenario")?;
        let name = self.string(name, "the name of the scenario")?;
        let release = self.release(root)?;
        let settings = types::settings(release, self.args.smd_compat);
        self.compat = settings.compat;
        let mut registry = Registry::new(settings);
        if let Some(schemas) = root.get("schemas") {
            for schema in self.list(schemas, "a list of schemas")?.items() {
                self.schema(schema, &mut registry)?;
            }
        }
        if let Some(types) = root.get("types") {
            for (key, value) in self.map(types, "a mapping of \"apiVersion Kind\" to names of types")?.pairs() {
                self.kind(key, value, &mut registry)?;
            }
        }
        self.built_in(root, release, &mut registry);
        let mut reset_fields = BTreeMap::new();
        if let Some(reset) = root.get("resetFields") {
            for (key, value) in self.map(reset, "a mapping of \"apiVersion subresource\" to fields")?.pairs() {
                let endpoint = key.text().split_once(' ').unwrap_or((key.text(), ""));
                reset_fields.insert(endpoint, self.fields(value)?);
            }
        }
        let steps = self.member(root, "steps")?;
        let steps: Vec<Step<'a>> =
            self.list(steps, "a list of steps")?.items().filter_map(|step| self.step(step).ok()).collect();
        Ok(Scenario {
            text: self.text,
            compat: self.compat,
            node: root,
            name,
            document: self.document,
            registry: self.session.arena.alloc(registry),
            reset_fields,
            steps,
        })
    }

    /// The release that the command line names, else the scenario.
    fn release(&mut self, root: Node<'a>) -> Read<Option<Release>> {
        let Some(node) = root.get("kubernetes") else { return Ok(self.release) };
        let expected = "a release of Kubernetes in quotes, such as \"1.34\"";
        let release = self.string(node, expected)?.parse::<Release>();
        let named = release.map_err(|error| self.tell(node, error.to_string()))?;
        Ok(self.release.or(Some(named)))
    }

    /// The built-in kinds of a release, or of the newest one if nothing else defines kinds.
    fn built_in(&mut self, root: Node<'a>, release: Option<Release>, registry: &mut Registry) {
        self.session.built_in = None;
        let is_needed = registry.inputs().next().is_none();
        if let Some(built_in) = BuiltIn::new(release, is_needed) {
            let mut objects = Vec::new();
            gvks(root, &mut objects);
            built_in.add_for(&objects, registry, self.session);
            if let Some(kind) = objects.iter().find_map(|gvk| registry.kind(*gvk)) {
                types::say_release(kind, self.session);
            }
        }
    }

    /// A schema that stands here or in a file.
    fn schema(&mut self, node: Node<'a>, registry: &mut Registry) -> Read<()> {
        self.map(node, "a schema, or the file that holds it")?;
        let before = self.session.errors();
        if let (Some(file), 1) = (node.get("file"), node.len()) {
            let name = self.string(file, "the path of a file")?;
            let path: PathBuf = self.text.path.parent().unwrap_or(Path::new("")).join(name);
            let Some(text) = read_path(&path, self.session) else {
                return Err(self.tell(file, format!("the schema {} cannot be read", path.display())));
            };
            if !types::add(registry, text.locations(), self.session) {
                return Err(self.tell(file, "no schema was found in it"));
            }
        } else {
            let part = Location::new(Arc::clone(self.document), node.index());
            if !types::add(registry, [part], self.session) {
                return self.expected(
                    node,
                    "a CustomResourceDefinition, an OpenAPI document, a structured-merge-diff schema, or a file: PATH",
                );
            }
        }
        self.wrong |= self.session.errors() > before;
        Ok(())
    }

    /// Which type the objects of a kind have.
    fn kind(&mut self, key: Node<'a>, value: Node<'a>, registry: &mut Registry) -> Read<()> {
        let Some((api_version, kind)) = key.text().split_once(' ') else {
            return Err(self.tell(key, format!("found {:?}, expected \"apiVersion Kind\"", key.text())));
        };
        let name = self.string(value, "the name of a type")?;
        let given = registry.give_type(Gvk::new(api_version, kind), name);
        given.map_err(|error| self.tell(value, error.to_string()))
    }

    fn step(&mut self, node: Node<'a>) -> Read<Step<'a>> {
        self.map(node, "a step: a mapping with an action such as apply")?;
        let mut actions = node.pairs().filter(|(key, _)| ACTIONS.contains(&key.text()));
        let Some((name, subject)) = actions.next() else {
            return Err(self.tell(node, format!("no action was found, expected one of {}", ACTIONS.join(", "))));
        };
        if let Some((second, _)) = actions.next() {
            return Err(self.tell(second, format!("a step has one action; {} stands before", name.text())));
        }
        let name = name.text();
        let writes: &[&str] = match name {
            "apply" => &["manager", "force", "subresource"],
            "update" => &["manager", "subresource"],
            "judge" => &["subresource"],
            "set" => &[],
            _ => &["type"],
        };
        let common = [name, "expect", "time"];
        self.only(node, &common.iter().chain(writes).copied().collect::<Vec<_>>());
        let action = match name {
            "set" => Action::Set((!subject.is_null()).then_some(subject)),
            "apply" | "update" => {
                let write = self.write(node, subject)?;
                if name == "apply" { Action::Apply(write) } else { Action::Update(write) }
            }
            "judge" => {
                self.map(subject, "an object")?;
                let status = match node.get("subresource") {
                    None => false,
                    Some(name) if name.as_str() == Some("status") => true,
                    Some(other) => return self.expected(other, "status"),
                };
                Action::Judge { object: subject, status }
            }
            "validate" => Action::Validate(subject),
            "fieldset" => Action::Fieldset(subject),
            "compare" => {
                self.map(subject, "from and to")?;
                self.only(subject, &["from", "to"]);
                Action::Compare { from: subject.get("from"), to: subject.get("to") }
            }
            "merge" => {
                self.map(subject, "live and config")?;
                self.only(subject, &["live", "config"]);
                Action::Merge { live: subject.get("live"), config: subject.get("config") }
            }
            _ => {
                self.map(subject, "object and fields")?;
                let names: &[&str] =
                    if name == "extract" { &["object", "fields", "keys"] } else { &["object", "fields"] };
                self.only(subject, names);
                let object = self.member(subject, "object")?;
                let fields = self.member(subject, "fields")?;
                let fields = self.fields(fields)?;
                match name {
                    "remove" => Action::Remove { object, fields },
                    "extract" => {
                        let keys = self.bool(subject.get("keys"))?;
                        let keys = if keys { KeyFields::Append } else { KeyFields::AsOwned };
                        Action::Extract { object, fields, keys }
                    }
                    _ => Action::Reconcile { object, fields },
                }
            }
        };
        let type_name = match node.get("type") {
            Some(name) => Some(self.string(name, "the name of a type")?),
            None => None,
        };
        let time = match node.get("time") {
            Some(time) => match Time::parse(time.text()) {
                Some(time) => Some(time),
                None => return self.expected(time, "a time such as 2000-01-01T00:00:00Z"),
            },
            None => None,
        };
        let expect = node.pairs().filter(|(key, _)| key.text() == "expect").last();
        if let Some((_, parts)) = expect.filter(|(_, parts)| !parts.is_null()) {
            self.map(parts, "what is expected, by parts")?;
            self.only(parts, parts_of(&action));
        }
        Ok(Step { text: self.text, node, action, type_name, time, expect })
    }

    fn write(&mut self, step: Node<'a>, object: Node<'a>) -> Read<Write<'a>> {
        self.map(object, "an object")?;
        let manager = self.member(step, "manager")?;
        let manager = self.string(manager, "the name of a manager")?;
        let subresource = match step.get("subresource") {
            Some(subresource) => self.string(subresource, "the name of a subresource")?,
            None => "",
        };
        Ok(Write { object, manager, force: self.bool(step.get("force"))?, subresource })
    }
}

/// The parts of what comes of an action.
pub(super) fn parts_of(action: &Action<'_>) -> &'static [&'static str] {
    match action {
        Action::Set(_) => &[],
        Action::Apply(_) => &["object", "owners", "conflicts", "error"],
        Action::Update(_) => &["object", "owners", "error"],
        Action::Judge { .. } => &["object", "unknown", "errors", "error"],
        Action::Validate(_) => &["errors"],
        Action::Fieldset(_) => &["set", "error"],
        Action::Compare { .. } => &["added", "modified", "removed", "error"],
        Action::Merge { .. } | Action::Remove { .. } | Action::Extract { .. } => &["object", "error"],
        Action::Reconcile { .. } => &["set", "unchanged", "error"],
    }
}

/// What the objects of a scenario are.
fn gvks<'a>(node: Node<'a>, found: &mut Vec<Gvk<'a>>) {
    match node.kind() {
        Kind::Map => {
            let gvk = types::gvk(node);
            if !gvk.kind().is_empty() && !gvk.api_version().is_empty() {
                found.push(gvk);
            }
            node.pairs().for_each(|(_, member)| gvks(member, found));
        }
        Kind::Seq => node.items().for_each(|item| gvks(item, found)),
        _ => {}
    }
}
