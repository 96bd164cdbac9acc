//! Chooses one of all forms of objects, as the proposal "Alternate representations of API resources" describes.
//!
//! Clauses are tried in order of preference, then in the order of the header. Unknown and invalid ones are skipped.
//! Types and names of parameters are case-insensitive. As in examples of the proposal, an element of the header without
//! `/` continues the clause before it: `application/json;g=meta.k8s.io,v=v1,as=Table` is one clause.

use super::resource::{Form, Target, TargetKind, Transformed};
use super::{BLANKS, Clause, repaired_clause, split_outside_quotes};
use std::fmt::Write;

/// The group of the kinds that every resource can be converted to.
const META: &str = "meta.k8s.io";
/// The prefix of an alias for parameters in a media type: `application/json+vnd.kubernetes.export`.
const ALIAS: &str = "+vnd.kubernetes.";
/// The forms, in the order in which a wildcard tries them.
const FORMS: [(&str, &str, Form); 5] = [
    ("application", "json", Form::Json),
    ("application", "yaml", Form::Yaml),
    ("application", "vnd.kubernetes.protobuf", Form::Protobuf),
    ("application", "cbor", Form::Cbor),
    ("text", "csv", Form::Csv),
];

/// What an endpoint returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// One object.
    One,
    /// A list.
    Many,
    /// The events of a watch.
    Events,
    /// A `Status`.
    Status,
}

/// The representations that an endpoint of objects supports.
#[derive(Clone, Copy, Debug)]
pub struct Alternates<'e> {
    /// The group of its objects.
    pub group: &'e str,
    /// The version of its objects.
    pub version: &'e str,
    /// Their kind.
    pub kind: &'e str,
    /// The kind of their lists.
    pub list_kind: &'e str,
    /// Other versions in which they can be written.
    pub versions: &'e [&'e str],
    /// One object, a list, events or a status.
    pub answers: Answers,
    /// Whether they can be converted to a `Scale`.
    pub scale: bool,
    /// Whether unconverted objects can be written as protobuf. Custom resources cannot.
    pub protobuf: bool,
}

impl<'e> Alternates<'e> {
    /// The representations of errors, for any request.
    pub const STATUS: Alternates<'e> = Alternates {
        group: "",
        version: "v1",
        kind: "Status",
        list_kind: "",
        versions: &[],
        answers: Answers::Status,
        scale: false,
        protobuf: true,
    };
}

/// Chooses among all forms. `pretty` says whether the rest of the request asks for indented JSON. Returns `None` if no
/// clause fits.
///
/// # Example
/// ```
/// use kubeshape_objects::accept::{Alternates, Answers, TargetKind, alternate};
///
/// let tabs = Alternates {
///     group: "example.com", version: "v1", kind: "Tab", list_kind: "TabList",
///     versions: &[], answers: Answers::Many, scale: false, protobuf: false,
/// };
/// let header = "application/json;as=Nothing, application/json;g=meta.k8s.io,v=v1,as=TabularOutput, application/json";
/// let chosen = alternate(header, &tabs, false).unwrap();
/// assert_eq!(chosen.target.unwrap().kind, TargetKind::TabularOutput);
/// assert_eq!(chosen.parameters, ";g=meta.k8s.io;v=v1;as=TabularOutput");
/// assert_eq!(alternate("application/json;sv=v9", &tabs, false), None);
/// ```
pub fn alternate<'h>(header: &'h str, endpoint: &Alternates<'h>, pretty: bool) -> Option<Transformed<'h>> {
    if header.trim_matches(BLANKS).is_empty() {
        return Some(Transformed::plain(if pretty { Form::Indented } else { Form::Json }));
    }
    let mut clauses = clauses(header);
    let mut excluded = [false; FORMS.len()];
    for clause in clauses.iter().filter(|clause| clause.q <= 0.0 && clause.parameters.is_empty()) {
        for ((kind, subtype, _), excluded) in FORMS.iter().zip(&mut excluded) {
            *excluded |= clause.kind.eq_ignore_ascii_case(kind) && clause.subtype.eq_ignore_ascii_case(subtype);
        }
    }
    clauses.retain(|clause| clause.q > 0.0);
    clauses.sort_by(|a, b| {
        b.q.total_cmp(&a.q).then((a.kind == "*", a.subtype == "*").cmp(&(b.kind == "*", b.subtype == "*")))
    });
    clauses.iter().find_map(|clause| {
        let forms = FORMS.iter().zip(excluded).filter(|(_, excluded)| !excluded || !clause.parameters.is_empty());
        forms
            .filter(|((kind, subtype, _), _)| names(clause, kind, subtype))
            .find_map(|((.., form), _)| endpoint.fit(clause, *form, pretty))
    })
}

/// Returns the clauses in the order of the header.
fn clauses(header: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Option<Clause<'_>>> = Vec::new();
    for part in split_outside_quotes(header, ',') {
        let media = part.split(';').next().unwrap_or_default().trim_matches(BLANKS);
        if !media.contains('/') && media != "*" {
            // The rest of an invalid clause is invalid, too.
            if let Some(Some(clause)) = clauses.last_mut() {
                split_outside_quotes(part, ';').for_each(|piece| clause.read(piece));
            }
            continue;
        }
        clauses.push(repaired_clause(part).map(without_alias));
    }
    clauses.into_iter().flatten().collect()
}

/// A clause with parameters in place of an alias for them.
fn without_alias(mut clause: Clause<'_>) -> Clause<'_> {
    let Some((subtype, alias)) = clause.subtype.split_once(ALIAS) else { return clause };
    let mut parts = alias.split('+');
    match (parts.next(), parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("export"), None, ..) => clause.parameters.push(("export", "1")),
        (Some("as"), Some(group), Some(version), Some(kind), None) => {
            clause.parameters.extend([("as", kind), ("g", group), ("v", version)]);
        }
        _ => return clause,
    }
    Clause { subtype, ..clause }
}

/// Returns whether a clause names a type, perhaps by a wildcard.
fn names(clause: &Clause<'_>, kind: &str, subtype: &str) -> bool {
    match (clause.kind, clause.subtype) {
        ("*", _) => true,
        (wanted, "*") => wanted.eq_ignore_ascii_case(kind),
        (wanted, below) => wanted.eq_ignore_ascii_case(kind) && below.eq_ignore_ascii_case(subtype),
    }
}

impl<'e> Alternates<'e> {
    /// Returns the media types that the endpoint supports, for messages: `application/json, application/yaml`. One that
    /// is supported only with parameters has these parameters.
    pub fn media_types(&self) -> String {
        let metadata =
            if self.answers == Answers::Many { "PartialObjectMetadataList" } else { "PartialObjectMetadata" };
        let metadata = [("as", metadata), ("g", META), ("v", "v1")];
        let mut out: Vec<String> = Vec::new();
        for (kind, subtype, form) in FORMS {
            let clause =
                |parameters: &[(&'e str, &'e str)]| Clause { kind, subtype, q: 1.0, parameters: parameters.to_vec() };
            if self.fit(&clause(&[]), form, false).is_some() {
                out.push(format!("{kind}/{subtype}"));
            } else if self.fit(&clause(&metadata), form, false).is_some() {
                let [(a, kind_name), (g, group), (v, version)] = metadata;
                out.push(format!("{kind}/{subtype};{a}={kind_name};{g}={group};{v}={version}"));
            }
        }
        out.join(", ")
    }

    /// Returns the form that the parameters of a clause select; `None` if one of them is invalid or the endpoint does
    /// not support it.
    fn fit(&self, clause: &Clause<'e>, form: Form, pretty: bool) -> Option<Transformed<'e>> {
        let text = |name: &str| {
            let found = clause.parameters.iter().rev().find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| *value).filter(|value| !value.is_empty())
        };
        let flag = |name: &str| match text(name) {
            None => Some(None),
            Some("0") => Some(Some(false)),
            Some("1") => Some(Some(true)),
            Some(_) => None,
        };
        let (indents, export) = (flag("pretty")?, flag("export")?.unwrap_or_default());
        let server_version = match text("sv") {
            Some(version @ ("v1" | "v2")) => Some(version),
            None => None,
            Some(_) => return None,
        };
        if text("stream").is_some_and(|stream| stream != "watch" || !form.streams()) {
            return None;
        }
        let (is_status, streams) = (self.answers == Answers::Status, self.answers == Answers::Events);
        if (streams && !form.streams()) || (is_status && form == Form::Csv) {
            return None;
        }
        let mut out = Transformed { server_version, ..Transformed::plain(form) };
        if form == Form::Json && indents.unwrap_or(pretty) && !streams {
            out.form = Form::Indented;
        }
        if !is_status {
            out.export = export;
            self.convert(&mut out, [text("g"), text("v"), text("as")])?;
        }
        if let Some(version) = server_version {
            let _ = write!(out.parameters, ";sv={version}");
        }
        if out.export {
            out.parameters.push_str(";export=1");
        }
        if let (Some(indents), Form::Json | Form::Indented) = (indents, out.form) {
            let _ = write!(out.parameters, ";pretty={}", u8::from(indents));
        }
        Some(out)
    }

    /// Returns the kind that objects are converted to. `None` if they cannot be.
    fn convert(&self, out: &mut Transformed<'e>, asked: [Option<&'e str>; 3]) -> Option<()> {
        let [group, version, kind] = asked;
        let form = out.form;
        if form == Form::Csv {
            // The rows are those of a table, whatever its kind is.
            let is_table = match asked {
                [None, None, None] => true,
                [Some(META), Some("v1"), Some("Table" | "TabularOutput")] => self.answers != Answers::Status,
                _ => false,
            };
            out.target = Some(Target { kind: TargetKind::TabularOutput, group: META, version: "v1" });
            return is_table.then_some(());
        }
        let (group, version) = (group.unwrap_or(self.group), version.unwrap_or(self.version));
        let own = if self.answers == Answers::Many { self.list_kind } else { self.kind };
        if group == self.group && kind.is_none_or(|kind| kind == own || kind == self.kind) {
            if version != self.version {
                out.version = Some(*self.versions.iter().find(|known| **known == version)?);
            }
            if form == Form::Protobuf && !self.protobuf {
                return None;
            }
        } else {
            let kind = self.target(kind?, (group, version), form)?;
            out.target = Some(Target { kind, group, version });
        }
        for (name, value) in ["g", "v", "as"].into_iter().zip(asked) {
            let shown = match (out.target, name) {
                (Some(target), "g") => Some(target.group),
                (Some(target), "v") => Some(target.version),
                _ => value,
            };
            if let Some(value) = shown.filter(|value| !value.is_empty()) {
                let _ = write!(out.parameters, ";{name}={value}");
            }
        }
        Some(())
    }

    /// Returns the kind that a name stands for here.
    fn target(&self, kind: &str, (group, version): (&str, &str), form: Form) -> Option<TargetKind> {
        use TargetKind as To;
        let (is_one, is_many) = (self.answers == Answers::One, self.answers == Answers::Many);
        let is_json = form != Form::Protobuf;
        let is_beta = version == "v1beta1";
        if !(version == "v1" || (is_beta && group == META)) {
            return None;
        }
        match (group, kind) {
            (META, "Table") if is_json => Some(To::Table),
            (META, "PartialObjectMetadata") if !is_many => Some(To::PartialObjectMetadata),
            (META, "PartialObjectMetadata" | "PartialObjectMetadataList") if is_many => {
                Some(To::PartialObjectMetadataList)
            }
            _ if is_beta || !is_json => None,
            (META, "TabularOutput") => Some(To::TabularOutput),
            (META, "Description") => Some(To::Description),
            (META | "autoscaling", "Scale") if self.scale && is_one => Some(To::Scale),
            (META | "", "List") if is_many => Some(To::List),
            (META, "ObjectMeta") if is_one => Some(To::ObjectMeta),
            (META, "ListMeta") if is_many => Some(To::ListMeta),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDGETS: Alternates<'_> = Alternates {
        group: "example.com",
        version: "v1",
        kind: "Widget",
        list_kind: "WidgetList",
        versions: &["v1beta1"],
        answers: Answers::One,
        scale: true,
        protobuf: false,
    };
    const MANY: Alternates<'_> = Alternates { answers: Answers::Many, ..WIDGETS };

    fn form(header: &str, of: &Alternates<'static>) -> Option<(Form, String)> {
        // The header must live as long as the result.
        let header: &'static str = Box::leak(header.to_owned().into_boxed_str());
        alternate(header, of, false).map(|chosen| (chosen.form, chosen.parameters))
    }

    fn parameters(header: &str, of: &Alternates<'static>) -> Option<String> {
        form(header, of).map(|(_, parameters)| parameters)
    }

    #[test]
    fn commas_between_parameters_continue_a_clause() {
        for header in [
            "application/json;g=meta.k8s.io;v=v1;as=Table",
            "application/json;g=meta.k8s.io,v=v1,as=Table, application/json",
            "application/json ; G=\"meta.k8s.io\" , V=v1 ;AS=Table",
            "application/json+vnd.kubernetes.as+meta.k8s.io+v1+Table",
        ] {
            assert_eq!(parameters(header, &MANY).as_deref(), Some(";g=meta.k8s.io;v=v1;as=Table"), "{header}");
        }
        // Text after an invalid clause belongs to that clause.
        assert_eq!(form("a/b/c, as=Table", &MANY), None);
        assert_eq!(form("as=Table, */*", &MANY), Some((Form::Json, String::new())));
        assert_eq!(form("*", &MANY), Some((Form::Json, String::new())));
    }

    #[test]
    fn clauses_in_error_are_skipped() {
        for wrong in [
            "application/json;as=Nope;g=meta.k8s.io;v=v1",
            "application/json;as=Table",
            "application/json;as=Table;g=meta.k8s.io;v=v2",
            "application/json;v=v7",
            "application/json;sv=v3",
            "application/json;pretty=yes",
            "application/json;export=2",
            "application/json;stream=list",
            "application/yaml;stream=watch",
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            "application/json;as=List;g=meta.k8s.io;v=v1",
            "application/vnd.kubernetes.protobuf",
            "text/csv;as=Widget",
            "application/xml",
        ] {
            assert_eq!(form(wrong, &WIDGETS), None, "{wrong}");
            let next = format!("{wrong}, application/yaml");
            assert_eq!(form(&next, &WIDGETS), Some((Form::Yaml, String::new())), "{next}");
        }
    }

    #[test]
    fn groups_and_versions_default_to_those_of_the_resource() {
        assert_eq!(form("application/json;as=Widget", &WIDGETS), Some((Form::Json, ";as=Widget".to_owned())));
        assert_eq!(parameters("application/json;as=WidgetList", &MANY).as_deref(), Some(";as=WidgetList"));
        let other = alternate("application/json;v=v1beta1", &WIDGETS, false).map(|chosen| chosen.version);
        assert_eq!(other, Some(Some("v1beta1")));
        let table = parameters("application/json;as=Table;g=meta.k8s.io", &WIDGETS);
        assert_eq!(table.as_deref(), Some(";g=meta.k8s.io;v=v1;as=Table"), "the version is that of the resource");
        let kind = |header: &'static str, of| alternate(header, of, false)?.target.map(|target| target.kind);
        let partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        assert_eq!(kind(partial, &WIDGETS), Some(TargetKind::PartialObjectMetadata));
        assert_eq!(kind(partial, &MANY), Some(TargetKind::PartialObjectMetadataList));
        assert_eq!(kind("application/json;as=Scale;g=autoscaling;v=v1", &WIDGETS), Some(TargetKind::Scale));
        assert_eq!(kind("application/json;as=Scale;g=autoscaling;v=v1", &MANY), None);
        assert_eq!(kind("text/csv", &MANY), Some(TargetKind::TabularOutput));
    }

    #[test]
    fn preference_and_exclusion_are_used() {
        let chosen = |header: &str| form(header, &WIDGETS).map(|(form, _)| form);
        assert_eq!(chosen("application/json;q=0.1, application/yaml"), Some(Form::Yaml));
        assert_eq!(chosen("application/json;q=0, */*;q=0.1"), Some(Form::Yaml));
        assert_eq!(chosen("application/json;q=0"), None);
        assert_eq!(chosen("APPLICATION/CBOR"), Some(Form::Cbor));
        assert_eq!(chosen("text/*"), Some(Form::Csv));
        assert_eq!(chosen("*/*, application/yaml"), Some(Form::Yaml), "who names a type wants it more");
        assert_eq!(chosen("application/json;pretty=1"), Some(Form::Indented));
        assert_eq!(alternate("application/json;pretty=0", &WIDGETS, true).map(|chosen| chosen.form), Some(Form::Json));
        assert_eq!(alternate(" ", &WIDGETS, true).map(|chosen| chosen.form), Some(Form::Indented));
    }

    #[test]
    fn events_need_a_form_that_streams() {
        let events = Alternates { answers: Answers::Events, ..WIDGETS };
        assert_eq!(form("text/csv, application/yaml, application/cbor", &events), Some((Form::Cbor, String::new())));
        let json = form("application/json;stream=watch;pretty=1", &events).map(|(form, _)| form);
        assert_eq!(json, Some(Form::Json), "a line is an event");
    }

    #[test]
    fn a_status_has_a_version_and_no_other_kind() {
        let header = "text/csv, application/json;as=Table;g=meta.k8s.io;v=v1;sv=v2;export=1";
        let status = alternate(header, &Alternates::STATUS, false);
        let status = status.map(|chosen| (chosen.form, chosen.server_version, chosen.export, chosen.parameters));
        assert_eq!(status, Some((Form::Json, Some("v2"), false, ";sv=v2".to_owned())));
    }

    proptest::proptest! {
        #[test]
        fn no_header_panics(header in "[a*/;,=q.0-9 \"\\\\+-]{0,60}|(application/(json|yaml|cbor)|text/csv|;(as|g|v|sv|export|pretty|stream)=(Table|List|meta.k8s.io|v1|1|watch)?|,){0,12}") {
            for answers in [Answers::One, Answers::Many, Answers::Events, Answers::Status] {
                let of = Alternates { answers, ..WIDGETS };
                if let Some(chosen) = alternate(&header, &of, false) {
                    // The parameters in the response header consist of known words.
                    let fits = |c: char| c.is_ascii_alphanumeric() || ";=.-".contains(c);
                    proptest::prop_assert!(chosen.parameters.chars().all(fits), "{}", chosen.parameters);
                }
            }
        }
    }
}
