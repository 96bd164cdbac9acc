//! Which type an object has: everything that `--schemas` names, by group, version and kind.

use super::Session;
use super::origin::Origin;
use super::text::{Missing, Text, nowhere, read_all};
use crate::args::{SmdCompat, TypeArgs};
use crate::convert::documents::smd_errors;
use crate::error::Fatal;
use kubeshape_convert::smd::{self, served};
use kubeshape_input::Content;
use kubeshape_publish::{Base, Options, Publisher};
use kubeshape_schema::{Code, Note, NoteKind};
use kubeshape_smd::fieldpath::{Filter, PathElement, Set, SetBuilder};
use kubeshape_smd::managed::{Gvk, TypeConverter};
use kubeshape_smd::schema::{self, UNTYPED_DEDUCED};
use kubeshape_smd::typed::{Type, Types};
use kubeshape_structural::read::{Manifest, manifests};
use kubeshape_yaml::Node;

/// The types of kinds.
#[derive(Default)]
pub(crate) struct Library<'a> {
    /// Sorted by kind and `apiVersion`; of several types of a kind the one that counts first.
    kinds: Vec<(Gvk<'a>, Vec<Known<'a>>)>,
    /// The structured-merge-diff schemas, whose types belong to no kind by themselves.
    schemas: Vec<(&'a Types, Node<'a>, &'a Text<'a>)>,
    /// The type of every object, if it is given.
    only: Option<Known<'a>>,
    publisher: Option<&'a Publisher>,
}

/// A kind and its type.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) gvk: Gvk<'a>,
    pub(crate) ty: Type<'a>,
    pub(crate) type_name: &'a str,
    pub(crate) origin: Origin<'a>,
    /// The fields at the top of the object that an endpoint leaves alone: of the object itself, and of its status.
    reset: [&'static [&'static str]; 2],
    /// Which subresources there are, where that is known.
    subresources: Option<&'static [&'static str]>,
}

impl<'a> Known<'a> {
    /// Why there is no such subresource.
    pub(crate) fn lacks(&self, subresource: &str) -> Option<String> {
        let known = self.subresources.filter(|known| !subresource.is_empty() && !known.contains(&subresource))?;
        let known = if known.is_empty() { "has none".to_owned() } else { format!("has {}", known.join(" and ")) };
        Some(format!(
            "there is no subresource {subresource:?} of it: the definition in {} {known}",
            self.origin.place()
        ))
    }

    /// The fields at the top of the object that requests to this endpoint leave alone.
    pub(crate) fn reset_names(&self, subresource: &str) -> &'static [&'static str] {
        match subresource {
            "" => self.reset[0],
            "status" => self.reset[1],
            _ => &[],
        }
    }

    /// The same as a filter over sets.
    pub(crate) fn reset_fields(&self, subresource: &str, session: &Session<'a>) -> Option<Filter<'a>> {
        let names = self.reset_names(subresource);
        let mut builder = SetBuilder::new(session.arena);
        for name in names {
            builder.insert(&[PathElement::FieldName(name)]);
        }
        let set: Set<'a> = builder.finish();
        (!names.is_empty()).then_some(Filter::Exclude(set))
    }
}

impl TypeConverter for Library<'_> {
    fn type_of(&self, gvk: Gvk<'_>) -> Option<Type<'_>> {
        self.find(gvk).map(|known| known.ty)
    }
}

impl<'a> Library<'a> {
    /// Reads what `--schemas` names. What cannot be used is told.
    ///
    /// # Errors
    /// The command line asks for a type that no schema has.
    pub(crate) fn new(args: &TypeArgs, session: &mut Session<'a>) -> Result<Library<'a>, Fatal> {
        let mut library = Library::default();
        for path in &args.schemas {
            let before = session.errors();
            let mut used = false;
            // In folders, everything else is passed over.
            for text in read_all(std::slice::from_ref(path), Missing::Error, session) {
                for root in text.documents().filter_map(kubeshape_yaml::Document::root) {
                    used |= library.add(text, root, args.smd_compat, session);
                }
            }
            if !used && session.errors() == before {
                let detail = "neither a CustomResourceDefinition, an OpenAPI document nor a structured-merge-diff schema \
                              was found in it";
                session.tell(&nowhere(Code::Nothing, &path.to_string_lossy(), detail));
            }
        }
        if let Some(name) = &args.type_name {
            library.only = library.type_named(session.arena.alloc_str(name));
            if library.only.is_none() {
                return Err(Fatal::Usage(format!(
                    "no schema has a type called {name}{}",
                    nearest(name, library.type_names())
                        .map_or_else(String::new, |near| format!("; near to it is {near}"))
                )));
            }
        }
        Ok(library)
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.only.is_none()
    }

    /// The type of a kind.
    pub(crate) fn find(&self, gvk: Gvk<'_>) -> Option<&Known<'a>> {
        self.only.as_ref().or_else(|| self.all(gvk).first())
    }

    /// All types of a kind.
    fn all(&self, gvk: Gvk<'_>) -> &[Known<'a>] {
        self.slot(gvk).map_or(&[], |at| &self.kinds[at].1)
    }

    fn slot(&self, gvk: Gvk<'_>) -> Result<usize, usize> {
        self.kinds
            .binary_search_by(|(known, _)| (known.kind(), known.api_version()).cmp(&(gvk.kind(), gvk.api_version())))
    }

    /// The types of a kind, to be added to.
    fn slot_mut(&mut self, gvk: Gvk<'a>) -> &mut Vec<Known<'a>> {
        let at = self.slot(gvk).unwrap_or_else(|at| {
            self.kinds.insert(at, (gvk, Vec::new()));
            at
        });
        &mut self.kinds[at].1
    }

    /// Whether all objects are of one type.
    pub(crate) fn is_forced(&self) -> bool {
        self.only.is_some()
    }

    /// The versions of a kind of that group.
    pub(crate) fn versions(&self, group: &str, kind: &str) -> impl Iterator<Item = &Known<'a>> {
        let all = self.kinds.iter().filter_map(|(_, all)| all.first());
        all.filter(move |known| known.gvk.kind() == kind && known.gvk.group() == group)
    }

    /// The type of that name in a structured-merge-diff schema, or else in any other one.
    pub(crate) fn type_named(&self, name: &'a str) -> Option<Known<'a>> {
        let written = self.schemas.iter().find_map(|(types, root, text)| {
            let ty = types.named(name)?;
            let origin = Origin::Smd { text, root: *root };
            Some(Known { gvk: Gvk::default(), ty, type_name: name, origin, reset: [&[]; 2], subresources: None })
        });
        written.or_else(|| {
            let mut others = self.kinds.iter().flat_map(|(_, all)| all);
            others.find_map(|known| Some(Known { ty: known.ty.types().named(name)?, type_name: name, ..*known }))
        })
    }

    /// Says that objects of a kind are of a type.
    pub(crate) fn set_kind(&mut self, gvk: Gvk<'a>, known: Known<'a>) {
        self.slot_mut(gvk).insert(0, Known { gvk, ..known });
    }

    fn type_names(&self) -> impl Iterator<Item = &str> {
        let written = self.schemas.iter().flat_map(|(types, ..)| types.schema().types()).map(schema::TypeDef::name);
        written.chain(self.kinds.iter().flat_map(|(_, all)| all).map(|known| known.type_name))
    }

    /// Tells if the type of a kind was chosen among several.
    pub(crate) fn check_repeated(&self, gvk: Gvk<'_>, session: &mut Session<'a>) {
        let [first, second, ..] = self.all(gvk) else { return };
        // A cluster's documents hold its CustomResourceDefinitions' kinds as well.
        if first.origin.is_resource() != second.origin.is_resource() {
            return;
        }
        let (text, node) = second.origin.node();
        let detail = format!("{gvk} stands in {}, too; that one counts", first.origin.place());
        session.tell(&text.about(Code::RepeatedKind, node, detail));
    }

    /// Tells that there is no type for an object of this kind, which stands there.
    pub(crate) fn unknown(&self, gvk: Gvk<'_>, text: &'a Text<'a>, object: Node<'_>, session: &mut Session<'a>) {
        let versions: Vec<&str> = self.versions(gvk.group(), gvk.kind()).map(|known| known.gvk.api_version()).collect();
        let at = object.get(if versions.is_empty() { "kind" } else { "apiVersion" }).unwrap_or(object);
        let found = match (gvk.api_version(), gvk.kind()) {
            ("", "") => "the object has no apiVersion and kind".to_owned(),
            (version, "") => format!("the object of {version:?} has no kind"),
            ("", kind) => format!("the object of kind {kind:?} has no apiVersion"),
            (version, kind) => format!("found {kind:?} of {version:?}"),
        };
        let kinds = self.kinds.iter().map(|(gvk, _)| gvk.kind()).filter(|kind| !kind.ends_with("List"));
        let detail = if !versions.is_empty() {
            format!("{found}; the schemas have {}", versions.join(", "))
        } else if self.kinds.is_empty() && !self.schemas.is_empty() {
            format!("{found}; the schemas name types without kinds")
        } else if self.kinds.is_empty() {
            format!("{found}, and there are no schemas")
        } else if gvk.kind().is_empty() {
            found
        } else if let Some(near) = nearest(gvk.kind(), kinds) {
            format!("{found}; near to it is {near}")
        } else {
            format!("{found}, expected one of the kinds in the schemas")
        };
        session.tell(&text.about(Code::UnknownKind, at, detail));
    }

    /// Takes in what a document holds; says whether it is anything of use.
    pub(crate) fn add(
        &mut self,
        text: &'a Text<'a>,
        root: Node<'a>,
        compat: SmdCompat,
        session: &mut Session<'a>,
    ) -> bool {
        let compat = compat.of_schemas();
        let arena = session.arena;
        let content = Content::of(root);
        match (content, content.dialect()) {
            (_, Some(dialect)) => match served::of_document(root, dialect, compat, arena) {
                Ok(found) => {
                    let types: &'a Types = arena.alloc(Types::new(found.schema));
                    for kind in found.kinds {
                        let Some(ty) = types.named(kind.type_name) else { continue };
                        let reset = [kind.reset_fields(""), kind.reset_fields("status")];
                        let gvk = Gvk::new(kind.gvk.api_version(), kind.gvk.kind());
                        let definition = root.document().node(kind.at);
                        let origin = Origin::Document { text, root, definition };
                        let known = Known { gvk, ty, type_name: kind.type_name, origin, reset, subresources: None };
                        self.slot_mut(gvk).push(known);
                    }
                }
                Err(notes) => notes.iter().for_each(|note| tell(text, root, note, "", session)),
            },
            (Content::Smd, _) => match schema::read(root) {
                Ok(schema) => self.schemas.push((arena.alloc(Types::new(schema)), root, text)),
                Err(errors) => smd_errors(errors).iter().for_each(|note| tell(text, root, note, "", session)),
            },
            _ => {
                let (crds, _) = manifests(root);
                let any = !crds.is_empty();
                for manifest in crds {
                    self.resource(text, manifest, compat, session);
                }
                return any;
            }
        }
        true
    }

    /// Takes in a CustomResourceDefinition.
    fn resource(
        &mut self,
        text: &'a Text<'a>,
        manifest: Manifest<'a>,
        compat: smd::SmdCompat,
        session: &mut Session<'a>,
    ) {
        let arena = session.arena;
        let read = manifest.read(arena);
        for note in read.notes.iter().filter(|note| note.code.kind() == NoteKind::Error) {
            tell(text, manifest.node, note, "", session);
        }
        let Some(crd) = read.value else { return };
        let crd = &*arena.alloc(crd);
        let options = Options { smd_compat: compat, all_versions: true, ..Options::default() };
        let publisher: &'a Publisher =
            self.publisher.get_or_insert_with(|| arena.alloc(Publisher::new(Base::builtin(), options)));
        let resource = arena.alloc(publisher.resource(crd, arena));
        for note in resource.findings().iter().filter(|note| note.code != Code::NotServed) {
            tell(text, manifest.node, note, crd.name, session);
        }
        let types = match resource.smd() {
            Ok(schema) => Types::new(schema),
            Err(errors) => {
                for error in errors {
                    tell(text, manifest.node, &Note::new(Code::DeducedType, error.at, error.text), crd.name, session);
                }
                Types::deduced()
            }
        };
        let types: &'a Types = arena.alloc(types);
        for version in resource.versions() {
            // No object can be of it.
            if version.version().name.is_empty() {
                let note =
                    Note::new(Code::WrongType, version.version().at, "found no name, expected that of the version");
                tell(text, manifest.node, &note, crd.name, session);
                continue;
            }
            let name: &'a str = arena.alloc_str(&version.definition_names().0);
            let api_version: &'a str = arena.alloc_str(&format!("{}/{}", crd.group, version.version().name));
            let gvk = Gvk::new(api_version, crd.names.kind);
            let schema = version.version().schema.map(|schema| manifest.node.document().node(schema.at));
            let (ty, type_name, origin) = match types.named(name) {
                Some(ty) => (Some(ty), name, Origin::Resource { text, definition: manifest.node, schema }),
                None => (types.named(UNTYPED_DEDUCED), UNTYPED_DEDUCED, Origin::Deduced { text, node: manifest.node }),
            };
            let Some(ty) = ty else { continue };
            let reset = [version.reset_fields(""), version.reset_fields("status")];
            let subresources: &'static [&'static str] = match (version.version().status, version.version().scale) {
                (false, None) => &[],
                (true, None) => &["status"],
                (false, Some(_)) => &["scale"],
                (true, Some(_)) => &["status", "scale"],
            };
            let known = Known { gvk, ty, type_name, origin, reset, subresources: Some(subresources) };
            let all = self.slot_mut(gvk);
            // Two versions of one name: an error was found, and the first one counts.
            let is_own = |known: &Known<'_>| known.origin.node().1.index() == manifest.node.index();
            if all.iter().any(|known| is_own(known) && std::ptr::eq(known.ty.types(), types)) {
                continue;
            }
            let before = all.iter().position(|known| !known.origin.is_resource()).unwrap_or(all.len());
            all.insert(before, known);
        }
    }
}

/// Shows a finding about a document.
fn tell(text: &Text<'_>, root: Node<'_>, note: &Note<'_>, resource: &str, session: &mut Session<'_>) {
    let document = root.document();
    let node = if (note.at as usize) < document.len() { document.node(note.at) } else { root };
    session.tell(&text.about(note.code, node, note.detail.as_ref()).of_resource(resource));
}

/// The name that is nearest to one, if any is near.
fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    kubeshape_smd::typed::nearest(name, names).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_are_those_that_differ_in_few_letters() {
        assert_eq!(nearest("widgt", ["Gadget", "Widget"].into_iter()), Some("Widget".to_owned()));
        assert_eq!(nearest("Pod", ["Gadget", "Widget"].into_iter()), None);
    }
}
