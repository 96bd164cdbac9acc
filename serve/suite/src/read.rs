//! Reads suites from YAML.

use json_patch::PatchOperation;
use kubeshape_input::{Code, Finding};
use kubeshape_policy::Permission;
use kubeshape_registry::{Location, Object, describe};
use kubeshape_yaml::{Kind, Node};

/// A test suite.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The name, for people.
    pub name: String,
    /// The name of the CustomResourceDefinition: `PLURAL.GROUP`; empty for a suite of policies.
    pub crd_name: String,
    /// The names of the tested admission policies; empty for a suite of a definition.
    pub policies: Vec<String>,
    /// The tested version. Without it, the definition must have only one version.
    pub version: Option<String>,
    /// The cases: those of `onCreate`, then those of `onUpdate` and `onDelete`.
    pub cases: Vec<Case>,
    /// The document.
    pub location: Location,
}

/// A case: a request, and its expected result.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name, for people.
    pub name: String,
    /// The request to the server.
    pub request: Request,
    /// The expected object. Without it, the object that was sent is expected.
    pub expected: Option<Part>,
    /// A part of the message of the expected refusal.
    pub expected_error: Option<Part>,
    /// A part of an expected warning. Only in suites of policies.
    pub expected_warning: Option<Part>,
    /// The user who sends the request. Only in suites of policies.
    pub sender: Sender,
    /// The mapping of the case.
    pub location: Location,
}

/// The user who sends a request.
#[derive(Clone, Debug, Default)]
pub struct Sender {
    /// The name; `None` is an administrator.
    pub user: Option<String>,
    /// The groups.
    pub groups: Vec<String>,
    /// The user's permissions: `USER:VERB:RESOURCE`.
    pub can: Vec<Permission>,
}

/// The request of a case.
#[derive(Clone, Debug)]
pub enum Request {
    /// An object is created.
    Create {
        /// The object.
        initial: Part,
    },
    /// An object is created, and then replaced. A status is sent to the status subresource in both steps.
    Update {
        /// The object that is created.
        initial: Part,
        /// The object that replaces it.
        updated: Part,
        /// A JSON patch of the definition (RFC 6902), under which the first object is created.
        patches: Vec<PatchOperation>,
        /// A part of the message with which the new status is refused.
        expected_status_error: Option<Part>,
    },
    /// An object is deleted. Only in suites of policies.
    Delete {
        /// The object.
        initial: Part,
    },
}

/// A string in a suite, and its location.
#[derive(Clone, Debug)]
pub struct Part {
    /// The string.
    pub text: String,
    /// Its value in the suite.
    pub location: Location,
}

type Read<T> = Result<T, Box<Finding>>;

impl Suite {
    /// Returns whether a document is a suite: it names a definition or policies, and has tests.
    pub fn is_suite(root: Node<'_>) -> bool {
        let has = |key| root.get(key).is_some();
        root.kind() == Kind::Map && has("tests") && (has("crdName") || has("policies"))
    }

    /// Returns whether it is a suite of admission policies.
    pub fn is_of_policies(&self) -> bool {
        !self.policies.is_empty()
    }

    /// Reads a suite. Unknown members are allowed, as in the programs of its authors.
    ///
    /// # Errors
    /// A part of it is missing, or has the wrong type. The finding has the location.
    pub fn read(location: &Location) -> Read<Suite> {
        let root = location.node();
        let reader = Reader { root: location };
        reader.map(root, "a test suite")?;
        let text = |name: &str| root.get(name).map(|node| reader.text(node)).transpose();
        let policies = reader.texts(root.get("policies"))?;
        let crd_name = text("crdName")?.map(|part| part.text).unwrap_or_default();
        if crd_name.is_empty() && policies.is_empty() {
            let detail =
                "crdName is missing: the name of the CustomResourceDefinition; or policies: the names of policies";
            return Err(reader.wrong(root, detail));
        }
        let Some(tests) = root.get("tests") else { return Err(reader.wrong(root, "tests is missing")) };
        let mut cases = Vec::new();
        if !tests.is_null() {
            reader.map(tests, "a mapping with onCreate and onUpdate")?;
            for case in reader.list(tests.get("onCreate"))? {
                let request = Request::Create { initial: reader.part(case, "initial")? };
                cases.push(reader.case(case, request)?);
            }
            for case in reader.list(tests.get("onUpdate"))? {
                let request = Request::Update {
                    initial: reader.part(case, "initial")?,
                    updated: reader.part(case, "updated")?,
                    patches: reader.patches(case.get("initialCRDPatches"))?,
                    expected_status_error: reader.given(case, "expectedStatusError")?,
                };
                cases.push(reader.case(case, request)?);
            }
            let deleted = reader.list(tests.get("onDelete").filter(|_| !policies.is_empty()))?;
            for case in deleted {
                let request = Request::Delete { initial: reader.part(case, "initial")? };
                cases.push(reader.case(case, request)?);
            }
        }
        Ok(Suite {
            name: text("name")?.map(|part| part.text).unwrap_or_default(),
            crd_name,
            policies,
            version: text("version")?.map(|part| part.text).filter(|version| !version.is_empty()),
            cases,
            location: location.clone(),
        })
    }
}

struct Reader<'r> {
    root: &'r Location,
}

impl<'r> Reader<'r> {
    fn wrong(&self, node: Node<'_>, detail: impl Into<String>) -> Box<Finding> {
        Box::new(self.root.at(node).finding(Code::Suite, detail))
    }

    fn expected<T>(&self, node: Node<'_>, expected: &str) -> Read<T> {
        Err(self.wrong(node, format!("found {}, expected {expected}", describe(node))))
    }

    fn map(&self, node: Node<'_>, expected: &str) -> Read<()> {
        if node.kind() == Kind::Map { Ok(()) } else { self.expected(node, expected) }
    }

    fn list(&self, node: Option<Node<'r>>) -> Read<Vec<Node<'r>>> {
        let Some(node) = node.filter(|node| !node.is_null()) else { return Ok(Vec::new()) };
        if node.kind() != Kind::Seq {
            return self.expected(node, "a list of cases");
        }
        let cases: Vec<Node<'_>> = node.items().collect();
        cases.iter().try_for_each(|case| self.map(*case, "a case: a mapping with name and initial"))?;
        Ok(cases)
    }

    fn text(&self, node: Node<'_>) -> Read<Part> {
        match node.as_str() {
            Some(text) => Ok(Part { text: text.to_owned(), location: self.root.at(node) }),
            None if node.is_null() => Ok(Part { text: String::new(), location: self.root.at(node) }),
            None => self.expected(node, "a text"),
        }
    }

    fn part(&self, case: Node<'_>, name: &str) -> Read<Part> {
        match case.get(name) {
            Some(node) => self.text(node),
            None => Err(self.wrong(case, format!("{name} is missing: an object as text, {name}: |"))),
        }
    }

    /// Returns an optional string; `None` if it is blank.
    fn given(&self, case: Node<'_>, name: &str) -> Read<Option<Part>> {
        let part = case.get(name).map(|node| self.text(node)).transpose()?;
        Ok(part.filter(|part| !part.text.trim().is_empty()))
    }

    fn case(&self, case: Node<'_>, request: Request) -> Read<Case> {
        Ok(Case {
            name: self.given(case, "name")?.map(|part| part.text).unwrap_or_default(),
            request,
            expected: self.given(case, "expected")?,
            expected_error: self.given(case, "expectedError")?,
            expected_warning: self.given(case, "expectedWarning")?,
            sender: self.sender(case)?,
            location: self.root.at(case),
        })
    }

    fn sender(&self, case: Node<'_>) -> Read<Sender> {
        let permission = |text: String| {
            let at = case.get("can").unwrap_or(case);
            text.parse::<Permission>().map_err(|why| self.wrong(at, format!("found {text:?}: {why}")))
        };
        Ok(Sender {
            user: self.given(case, "user")?.map(|part| part.text),
            groups: self.texts(case.get("groups"))?,
            can: self.texts(case.get("can"))?.into_iter().map(permission).collect::<Read<_>>()?,
        })
    }

    /// Returns a list of strings; empty if it is missing.
    fn texts(&self, node: Option<Node<'_>>) -> Read<Vec<String>> {
        let Some(node) = node.filter(|node| !node.is_null()) else { return Ok(Vec::new()) };
        if node.kind() != Kind::Seq {
            return self.expected(node, "a list of texts");
        }
        node.items().map(|item| self.text(item).map(|part| part.text)).collect()
    }

    fn patches(&self, node: Option<Node<'_>>) -> Read<Vec<PatchOperation>> {
        let Some(node) = node.filter(|node| !node.is_null()) else { return Ok(Vec::new()) };
        if node.kind() != Kind::Seq {
            return self.expected(node, "a list of operations of JSON Patch");
        }
        let operation = |node: Node<'_>| {
            let object = Object::at(self.root.at(node))?;
            serde_json::from_value(object.into_value())
                .map_err(|error| self.wrong(node, format!("found no operation of JSON Patch (RFC 6902): {error}")))
        };
        node.items().map(operation).collect()
    }
}
