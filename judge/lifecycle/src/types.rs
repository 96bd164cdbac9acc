//! Packages of Go types.

use crate::go::{self, GoField, GoFile, GoType, Json, TypeRef};
use crate::tag;
use kubeshape_input::{Code, Finding, Source};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of structs that one type embeds, directly or not.
const MAX_EMBEDDED: usize = 256;

/// The types of a folder.
#[derive(Clone, Debug)]
pub struct Package {
    /// The folder of its files, with `/`; empty if the file names have none.
    pub folder: String,
    /// The name in the package clause: `v1`.
    pub name: String,
    /// The name of its definitions in OpenAPI: `+k8s:openapi-model-package`.
    pub model: Option<String>,
    /// The API group: `+groupName`. The core group is empty.
    pub group: Option<String>,
    /// Whether its kinds declare their releases: `+k8s:prerelease-lifecycle-gen=true`.
    pub tells_releases: bool,
    types: BTreeMap<String, (usize, usize)>,
}

impl Package {
    /// Returns the API version of its kinds, `GROUP/VERSION`. Without `+groupName`, the group is the parent folder of
    /// the version, as in client-gen.
    pub fn api_version(&self) -> String {
        let group = self.group.as_deref().or_else(|| self.segments().rev().nth(1)).unwrap_or_default();
        if group.is_empty() { self.name.clone() } else { format!("{group}/{}", self.name) }
    }

    /// Returns whether it has a type of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.types.contains_key(name)
    }

    fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.folder.split('/').filter(|segment| !segment.is_empty() && *segment != ".")
    }

    /// Returns how many segments at the end of a name are equal to those of the folder. Without a folder, the package
    /// name is the only segment.
    fn agreement(&self, name: &[&str]) -> usize {
        if self.segments().next().is_none() {
            return usize::from(name.last() == Some(&self.name.as_str()));
        }
        self.segments().rev().zip(name.iter().rev()).take_while(|(a, b)| a == *b).count()
    }
}

/// A type and its location.
#[derive(Clone, Copy, Debug)]
pub struct TypePlace<'t> {
    /// The package.
    pub package: &'t Package,
    /// The file.
    pub file: &'t GoFile,
    /// The type.
    pub of: &'t GoType,
}

/// Go types by package.
#[derive(Clone, Debug, Default)]
pub struct Types {
    files: Vec<GoFile>,
    packages: Vec<Package>,
    /// The packages that have a type of this name.
    by_name: BTreeMap<String, Vec<usize>>,
}

/// Returns the finding about a file that is not Go.
pub(crate) fn not_go(source: &Source, broken: Range<usize>) -> Finding {
    let begin = broken.start;
    // Show only one line: the error may extend to the end of the file.
    let line = source.text().get(begin..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
    let detail = "the text is not Go from here on; mend it (gofmt shows what is wrong)";
    source.finding(Code::LifecycleSource, begin..broken.end.min(begin + line).max(begin), detail)
}

/// Returns whether a folder has devices and descriptors, and not packages.
fn is_device(folder: &str) -> bool {
    folder == "/dev" || folder.starts_with("/dev/")
}

impl Types {
    /// Reads Go files; the names of the sources are their paths. Invalid Go is reported, and the valid parts are used.
    pub fn read(sources: impl IntoIterator<Item = Source>) -> (Types, Vec<Finding>) {
        let mut out = Types::default();
        let mut findings = Vec::new();
        let mut parser = match go::parser() {
            Ok(parser) => parser,
            Err(error) => return (out, vec![Finding::new(Code::LifecycleSource, error.to_string())]),
        };
        let mut folders: BTreeMap<(String, String), usize> = BTreeMap::new();
        for source in sources {
            let file = GoFile::read(&mut parser, Arc::new(source));
            if let Some(broken) = &file.broken {
                findings.push(not_go(&file.source, broken.clone()));
            }
            let path = file.source.name().replace('\\', "/");
            // A file descriptor (`/dev/stdin`, `/dev/fd/63`) is in no folder.
            let folder = path.rsplit_once('/').map(|(folder, _)| folder).filter(|folder| !is_device(folder));
            let folder = folder.unwrap_or_default().to_owned();
            let at = *folders.entry((folder.clone(), file.package.clone())).or_insert_with(|| {
                let name = file.package.clone();
                out.packages.push(Package {
                    folder,
                    name,
                    model: None,
                    group: None,
                    tells_releases: false,
                    types: BTreeMap::new(),
                });
                out.packages.len() - 1
            });
            let package = &mut out.packages[at];
            for line in file.lines(&file.header) {
                if let Some(model) = tag::value(line.text, "k8s:openapi-model-package") {
                    package.model = Some(model.to_owned());
                } else if let Some(group) = tag::value(line.text, "groupName") {
                    package.group = Some(group.to_owned());
                } else if let Some(tells) = tag::value(line.text, "k8s:prerelease-lifecycle-gen") {
                    // Like strconv.ParseBool.
                    package.tells_releases = matches!(tells, "1" | "t" | "T" | "true" | "TRUE" | "True");
                }
            }
            for (index, of) in file.types.iter().enumerate() {
                if package.types.insert(of.name.clone(), (out.files.len(), index)).is_none() {
                    out.by_name.entry(of.name.clone()).or_default().push(at);
                }
            }
            out.files.push(file);
        }
        (out, findings)
    }

    /// Returns the files in the order in which they were read.
    pub fn files(&self) -> &[GoFile] {
        &self.files
    }

    /// Returns the packages in the order in which they were read.
    pub fn packages(&self) -> &[Package] {
        &self.packages
    }

    /// Returns all types, sorted by package and name.
    pub fn types(&self) -> impl Iterator<Item = TypePlace<'_>> {
        self.packages
            .iter()
            .flat_map(move |package| package.types.keys().filter_map(|name| self.in_package(package, name)))
    }

    /// Returns a type of a package.
    pub fn in_package<'t>(&'t self, package: &'t Package, name: &str) -> Option<TypePlace<'t>> {
        let (file, index) = *package.types.get(name)?;
        let file = &self.files[file];
        Some(TypePlace { package, file, of: file.types.get(index)? })
    }

    /// Returns the type of a definition: `io.k8s.api.core.v1.Pod`, or `k8s.io/api/core/v1.Pod`.
    ///
    /// If the package declares its OpenAPI name, that decides. Otherwise at least the last two segments of the
    /// package's folder must be equal to those of the definition's package; if there is only one candidate, one equal
    /// segment suffices.
    pub fn of_definition(&self, name: &str) -> Option<TypePlace<'_>> {
        let (package, short) = name.rsplit_once('.').unwrap_or(("", name));
        let candidates = self.by_name.get(short)?;
        let exact = candidates.iter().find(|at| self.packages[**at].model.as_deref() == Some(package));
        let segments: Vec<&str> = package.split(['.', '/']).collect();
        let at = exact.copied().or_else(|| {
            let is_alone = self.packages.len() == 1;
            self.best(candidates, &segments, if is_alone { usize::from(!package.is_empty()) } else { 2 })
        })?;
        self.in_package(&self.packages[at], short)
    }

    /// Returns the type of a kind of a CustomResourceDefinition.
    pub fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<TypePlace<'_>> {
        let candidates = self.by_name.get(kind)?;
        let of_version = |at: &&usize| {
            self.packages[**at].name == version || self.packages[**at].segments().next_back() == Some(version)
        };
        let in_version: Vec<usize> = candidates.iter().filter(of_version).copied().collect();
        let in_group = in_version.iter().find(|at| self.packages[**at].group.as_deref() == Some(group));
        // A package that names another group is not a candidate.
        let mut unnamed = in_version.iter().filter(|at| self.packages[**at].group.is_none());
        let at = in_group.or_else(|| unnamed.next().filter(|_| unnamed.next().is_none()))?;
        self.in_package(&self.packages[*at], kind)
    }

    /// Returns the candidate that shares most segments with a name, at least `least`; `None` if two are equally good.
    fn best(&self, candidates: &[usize], segments: &[&str], least: usize) -> Option<usize> {
        let mut best: Option<(usize, usize)> = None;
        let mut is_tied = false;
        for at in candidates {
            let agreement = self.packages[*at].agreement(segments);
            match best {
                Some((known, _)) if known > agreement => {}
                Some((known, _)) if known == agreement => is_tied = true,
                _ => {
                    best = Some((agreement, *at));
                    is_tied = false;
                }
            }
        }
        best.filter(|(agreement, _)| *agreement >= least && !is_tied).map(|(_, at)| at)
    }

    /// Returns the type that a field names.
    pub fn resolve<'t>(&'t self, from: TypePlace<'t>, of: &TypeRef) -> Option<TypePlace<'t>> {
        let Some(alias) = &of.package else { return self.in_package(from.package, &of.name) };
        let path = from.file.imports.get(alias)?;
        let segments: Vec<&str> = path.split('/').collect();
        let at = self.best(self.by_name.get(&of.name)?, &segments, 1)?;
        self.in_package(&self.packages[at], &of.name)
    }

    /// Returns the fields that are members of a JSON object of the type: its own and those of embedded structs, each
    /// with the type that declares it. As in Go, an outer field hides inner ones of its name.
    pub fn members<'t>(&'t self, of: TypePlace<'t>) -> Vec<(TypePlace<'t>, &'t GoField)> {
        let mut out = Vec::new();
        let mut names: BTreeSet<&str> = BTreeSet::new();
        let mut seen: BTreeSet<(*const Package, &str)> = BTreeSet::new();
        let mut todo = VecDeque::from([of]);
        while let Some(mut place) = todo.pop_front() {
            // Follow aliases.
            while let Some(alias) = &place.of.alias {
                if !seen.insert((std::ptr::from_ref(place.package), &place.of.name)) || !alias.steps.is_empty() {
                    break;
                }
                match self.resolve(place, alias) {
                    Some(next) => place = next,
                    None => break,
                }
            }
            if !seen.insert((std::ptr::from_ref(place.package), &place.of.name)) || seen.len() > MAX_EMBEDDED {
                continue;
            }
            for field in &place.of.fields {
                match &field.json {
                    Json::Member(name) => {
                        if names.insert(name) {
                            out.push((place, field));
                        }
                    }
                    Json::Inline => todo.extend(self.resolve(place, &field.type_ref)),
                    Json::None => {}
                }
            }
        }
        out
    }
}
