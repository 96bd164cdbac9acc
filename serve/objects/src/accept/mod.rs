//! Reads `Accept`.
//!
//! kube-apiserver parses the header with goautoneg and then matches the clauses in three ways: for OpenAPI documents,
//! for objects (whose form is selected by the parameters `as`, `g` and `v`), and in go-restful, which routes some of
//! the endpoints. [`Reading::Kube`] does the same, including the faults. [`Reading::Repaired`] follows RFC 9110.
//!
//! [`resource`] chooses the form of stored objects as kube-apiserver does. [`alternate`] knows all forms of the
//! proposal "Alternate representations of API resources".

mod alternate;
mod resource;

pub use alternate::{Alternates, Answers, alternate};
pub use resource::{Endpoint, Form, Target, TargetKind, Transformed, resource};
use std::cmp::Reverse;

/// How `Accept` is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As kube-apiserver does: `q=0` is acceptable, types are case-sensitive, quotation marks have no meaning.
    Kube,
    /// As in RFC 9110, section 12.5.1.
    Repaired,
}

/// A media type that an endpoint supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// `application`
    pub kind: &'static str,
    /// `json`
    pub subtype: &'static str,
    /// The version of `apidiscovery.k8s.io` for an `APIGroupDiscoveryList`; `None` for the plain form.
    pub aggregated: Option<&'static str>,
}

impl Offer {
    /// Returns the plain form in a media type.
    pub const fn plain(kind: &'static str, subtype: &'static str) -> Offer {
        Offer { kind, subtype, aggregated: None }
    }

    /// Aggregated discovery of a version in a media type.
    pub const fn aggregated(kind: &'static str, subtype: &'static str, version: &'static str) -> Offer {
        Offer { kind, subtype, aggregated: Some(version) }
    }
}

/// The result of content negotiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The offer at this index.
    Offer(usize),
    /// No clause matches an offer.
    Nothing,
    /// The header has no valid clause.
    Unreadable,
}

/// A clause of the header.
#[derive(Clone, Debug, PartialEq)]
struct Clause<'h> {
    kind: &'h str,
    subtype: &'h str,
    q: f32,
    parameters: Vec<(&'h str, &'h str)>,
}

impl<'h> Clause<'h> {
    /// Returns the last parameter of a name.
    fn parameter(&self, name: &str) -> Option<&'h str> {
        self.parameters.iter().rev().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Reads a parameter according to RFC 9110.
    fn read(&mut self, piece: &'h str) {
        let Some((name, value)) = piece.split_once('=') else { return };
        let (name, value) = (name.trim_matches(BLANKS), value.trim_matches(BLANKS));
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        if name.eq_ignore_ascii_case("q") {
            let q: f32 = value.parse().unwrap_or(f32::NAN);
            self.q = if q.is_nan() { LEAST } else { q.clamp(0.0, 1.0) };
        } else {
            self.parameters.push((name, value));
        }
    }

    /// Returns the form of the object that the parameters select.
    fn wanted(&self) -> ObjectForm<'h> {
        match (self.parameter("as"), self.parameter("g"), self.parameter("v")) {
            (None, None, None) => ObjectForm::Plain,
            (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some(version)) => {
                ObjectForm::Aggregated(version)
            }
            _ => ObjectForm::Other,
        }
    }
}

/// A form of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ObjectForm<'h> {
    Plain,
    /// Aggregated discovery, in this version.
    Aggregated(&'h str),
    /// A form that no endpoint supports.
    Other,
}

impl ObjectForm<'_> {
    fn is(self, offer: &Offer) -> bool {
        match self {
            ObjectForm::Plain => offer.aggregated.is_none(),
            ObjectForm::Aggregated(version) => offer.aggregated == Some(version),
            ObjectForm::Other => false,
        }
    }
}

/// Returns the choice of kube-apiserver's OpenAPI handlers: the first clause in order of preference that matches an
/// offer. All parameters are ignored (kube-openapi `pkg/handler`, `pkg/handler3`).
///
/// ```
/// use kubeshape_objects::accept::{Choice, Offer, Reading, openapi};
///
/// let offers = [Offer::plain("application", "json"), Offer::plain("application", "x")];
/// assert_eq!(openapi("application/x, */*", &offers, Reading::Kube), Choice::Offer(1));
/// assert_eq!(openapi("application/json;q=0", &offers, Reading::Kube), Choice::Offer(0));
/// assert_eq!(openapi("application/json;q=0", &offers, Reading::Repaired), Choice::Nothing);
/// ```
pub fn openapi(header: &str, offers: &[Offer], reading: Reading) -> Choice {
    if header.is_empty() || header == "*/*" {
        return Choice::Offer(0);
    }
    if let Some(place) = offers.iter().position(|offer| is_exactly(header, offer)) {
        return Choice::Offer(place);
    }
    match reading {
        Reading::Kube => {
            let clauses = kube_clauses(header);
            if clauses.is_empty() {
                return Choice::Unreadable;
            }
            let fits = |clause: &Clause<'_>, offer: &Offer| {
                (clause.kind == "*" || clause.kind == offer.kind)
                    && (clause.subtype == "*" || clause.subtype == offer.subtype)
            };
            let place = clauses.iter().find_map(|clause| offers.iter().position(|offer| fits(clause, offer)));
            place.map_or(Choice::Nothing, Choice::Offer)
        }
        Reading::Repaired => repaired(header, offers, false),
    }
}

/// Returns the choice of kube-apiserver for objects. With [`Reading::Kube`], offers of aggregated discovery win over
/// plain ones regardless of preference (apiserver `pkg/endpoints/discovery/aggregated`, `wrapper.go`). With
/// [`Reading::Repaired`], preference decides.
pub fn object(header: &str, offers: &[Offer], reading: Reading) -> Choice {
    if header.is_empty() || header == "*/*" {
        return offers.iter().position(|offer| offer.aggregated.is_none()).map_or(Choice::Nothing, Choice::Offer);
    }
    if let Some(place) = offers.iter().position(|offer| is_exactly(header, offer)) {
        return Choice::Offer(place);
    }
    match reading {
        Reading::Kube => {
            let clauses = kube_clauses(header);
            let place = |aggregated: bool| {
                clauses.iter().find_map(|clause| {
                    let wanted = clause.wanted();
                    let served = |name| clause.parameter(name).is_none_or(str::is_empty);
                    let streams = served("stream") || (aggregated && clause.parameter("stream") == Some("watch"));
                    if matches!(wanted, ObjectForm::Aggregated(_)) != aggregated || !served("sv") || !streams {
                        return None;
                    }
                    offers.iter().position(|offer| wanted.is(offer) && kube_fits(clause, offer))
                })
            };
            place(true).or_else(|| place(false)).map_or(Choice::Nothing, Choice::Offer)
        }
        Reading::Repaired => repaired(header, offers, true),
    }
}

/// Returns whether the selected clause has the parameter `pretty=1`, for indented JSON.
pub fn pretty(header: &str) -> bool {
    header.contains("pretty")
        && kube_clauses(header)
            .iter()
            .find(|clause| clause.wanted() == ObjectForm::Plain)
            .is_some_and(|clause| clause.parameter("pretty") == Some("1"))
}

/// Returns whether go-restful finds a route that produces one of the offers. It compares whole types; the only wildcard
/// that it knows is `*/*`.
pub fn restful(header: &str, offers: &[Offer]) -> bool {
    header.is_empty()
        || header.split(',').any(|part| {
            let part = part.split(';').next().unwrap_or_default().trim_matches([' ', '\t']);
            part == "*/*" || offers.iter().any(|offer| is_exactly(part, offer))
        })
}

fn is_exactly(text: &str, offer: &Offer) -> bool {
    offer.aggregated.is_none()
        && text.strip_prefix(offer.kind).and_then(|rest| rest.strip_prefix('/')) == Some(offer.subtype)
}

fn kube_fits(clause: &Clause<'_>, offer: &Offer) -> bool {
    match (clause.kind, clause.subtype) {
        ("*", subtype) => subtype == "*",
        (kind, "*") => kind == offer.kind,
        (kind, subtype) => kind == offer.kind && subtype == offer.subtype,
    }
}

/// Splits at the separator.
fn cut(text: &str, separator: char) -> (&str, &str) {
    text.split_once(separator).unwrap_or((text, ""))
}

/// Returns the clauses as goautoneg parses and sorts them.
fn kube_clauses(header: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = header.split(',').filter_map(kube_clause).collect();
    kube_order(&mut clauses);
    clauses
}

fn kube_clause<'h>(part: &'h str) -> Option<Clause<'h>> {
    let trimmed = |text: &'h str| text.trim_matches(' ');
    let (media, mut rest) = cut(trimmed(part), ';');
    let (kind, subtype) = cut(media, '/');
    let kind = trimmed(kind);
    let subtype = match (subtype, cut(subtype, '/')) {
        ("", _) if kind == "*" => "*",
        ("", _) => return None,
        (_, (subtype, "")) => trimmed(subtype),
        _ => return None,
    };
    let mut clause = Clause { kind, subtype, q: 1.0, parameters: Vec::new() };
    while !rest.is_empty() {
        let (parameter, behind) = cut(rest, ';');
        rest = behind;
        let (name, value) = cut(parameter, '=');
        let (value, more) = cut(value, '=');
        if value.is_empty() || !more.is_empty() {
            continue;
        }
        match trimmed(name) {
            "q" => clause.q = value.parse().unwrap_or(0.0),
            name => clause.parameters.push((name, trimmed(value))),
        }
    }
    Some(clause)
}

/// goautoneg's order. Its comparison is not transitive (a type without a wildcard comes before a type with one, even at
/// a lower q), so the result depends on the insertion sort that Go uses for up to twelve elements. Longer lists are
/// sorted by q, then by wildcards.
fn kube_order(clauses: &mut [Clause<'_>]) {
    const INSERTION: usize = 12;
    let before = |a: &Clause<'_>, b: &Clause<'_>| {
        a.q > b.q || (a.kind != "*" && b.kind == "*") || (a.subtype != "*" && b.subtype == "*")
    };
    if clauses.len() <= INSERTION {
        for end in 1..clauses.len() {
            let mut at = end;
            while at > 0 && before(&clauses[at], &clauses[at - 1]) {
                clauses.swap(at, at - 1);
                at -= 1;
            }
        }
    } else {
        clauses.sort_by(|a, b| {
            b.q.total_cmp(&a.q).then((a.kind == "*", a.subtype == "*").cmp(&(b.kind == "*", b.subtype == "*")))
        });
    }
}

/// Returns the clauses according to RFC 9110, in the order of the header.
fn repaired_clauses(header: &str) -> Vec<Clause<'_>> {
    split_outside_quotes(header, ',').filter_map(repaired_clause).collect()
}

const BLANKS: [char; 2] = [' ', '\t'];

fn repaired_clause(part: &str) -> Option<Clause<'_>> {
    let mut pieces = split_outside_quotes(part, ';').map(|piece| piece.trim_matches(BLANKS));
    let (kind, subtype) = match pieces.next()? {
        "*" => ("*", "*"),
        media => media.split_once('/')?,
    };
    if kind.is_empty() || subtype.is_empty() || subtype.contains('/') || (kind == "*" && subtype != "*") {
        return None;
    }
    let mut clause = Clause { kind, subtype, q: 1.0, parameters: Vec::new() };
    pieces.for_each(|piece| clause.read(piece));
    Some(clause)
}

/// The q of a clause with an invalid q: acceptable if there is nothing better.
const LEAST: f32 = 0.0001;

fn split_outside_quotes(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let mut escaped = false;
    text.split(move |c| {
        if escaped {
            escaped = false;
            return false;
        }
        match c {
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            c => return c == separator && !quoted,
        }
        false
    })
}

/// Returns the offer with the highest q. The q of an offer is that of the most specific clause that matches it. If
/// several offers have the same q, the most specific clause decides, then the first clause, then the order of the
/// offers.
fn repaired(header: &str, offers: &[Offer], parameters: bool) -> Choice {
    let clauses = repaired_clauses(header);
    if clauses.is_empty() {
        return Choice::Unreadable;
    }
    let specificity = |clause: &Clause<'_>, offer: &Offer| -> Option<u8> {
        if parameters && !clause.wanted().is(offer) {
            return None;
        }
        match (clause.kind, clause.subtype) {
            ("*", _) => Some(0),
            (kind, "*") => kind.eq_ignore_ascii_case(offer.kind).then_some(1),
            (kind, subtype) => {
                (kind.eq_ignore_ascii_case(offer.kind) && subtype.eq_ignore_ascii_case(offer.subtype)).then_some(2)
            }
        }
    };
    let best = offers.iter().enumerate().filter_map(|(place, offer)| {
        let fitting =
            clauses.iter().enumerate().filter_map(|(at, clause)| Some((specificity(clause, offer)?, at, clause)));
        let (specific, at, clause) =
            fitting.max_by(|a, b| a.0.cmp(&b.0).then(a.2.q.total_cmp(&b.2.q)).then(b.1.cmp(&a.1)))?;
        (clause.q > 0.0).then_some((clause.q, specific, Reverse(at), Reverse(place)))
    });
    let best = best.max_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2, a.3).cmp(&(b.1, b.2, b.3))));
    best.map_or(Choice::Nothing, |(.., Reverse(place))| Choice::Offer(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: Offer = Offer::plain("application", "json");
    const YAML: Offer = Offer::plain("application", "yaml");
    const PROTOBUF: Offer = Offer::plain("application", "com.github.proto-openapi.spec.v3.v1.0+protobuf");
    const AT: Offer = Offer::plain("application", "com.github.proto-openapi.spec.v3@v1.0+protobuf");
    const V2: Offer = Offer::aggregated("application", "json", "v2");
    const V2BETA1: Offer = Offer::aggregated("application", "json", "v2beta1");

    fn order(header: &str) -> Vec<String> {
        kube_clauses(header).iter().map(|c| format!("{}/{}", c.kind, c.subtype)).collect()
    }

    #[test]
    fn clauses_are_ordered_as_goautoneg_does() {
        assert_eq!(order("x/y;q=0.3, u/v;q=0.9, */*, w/*;q=0.9"), ["*/*", "u/v", "w/*", "x/y"]);
        assert_eq!(order("application/*,application/json,*/*"), ["application/json", "application/*", "*/*"]);
    }

    #[test]
    fn odd_clauses_are_read_as_goautoneg_does() {
        assert_eq!(order("*"), ["*/*"]);
        assert!(order("garbage, a/, a/b/c").is_empty());
        assert_eq!(order("/b, a/b/"), ["/b", "a/b"]);
        assert_eq!(order("a/b;x=\"1,2\""), ["a/b"], "the comma ends the clause, and what follows it is none");
        let clauses = kube_clauses("a/b;x;y=;z=1=2;w= 3 ;Q=0.5");
        assert_eq!(clauses[0].parameters, [("w", "3"), ("Q", "0.5")]);
        assert!((clauses[0].q - 1.0).abs() < f32::EPSILON);
        assert!(kube_clauses("a/b;q=abc")[0].q.abs() < f32::EPSILON);
    }

    #[test]
    fn documents_are_chosen_as_recorded() {
        let offers = [JSON, PROTOBUF, AT];
        let kube = |header: &str| openapi(header, &offers, Reading::Kube);
        assert_eq!(
            kube("application/json;q=0.5,application/com.github.proto-openapi.spec.v3@v1.0+protobuf"),
            Choice::Offer(2)
        );
        assert_eq!(kube("text/html"), Choice::Nothing);
        assert_eq!(kube("APPLICATION/JSON"), Choice::Nothing);
        assert_eq!(kube("garbage"), Choice::Unreadable);
        for header in
            ["", "*/*", "application/*", "text/html, */*;q=0.1", "application/json;q=0", "application/json;as=Table"]
        {
            assert_eq!(kube(header), Choice::Offer(0), "{header}");
        }
    }

    #[test]
    fn the_repaired_reading_knows_case_quotes_and_exclusion() {
        let offers = [JSON, PROTOBUF, AT];
        let chosen = |header: &str| openapi(header, &offers, Reading::Repaired);
        assert_eq!(chosen("APPLICATION/JSON"), Choice::Offer(0));
        assert_eq!(chosen("application/json;q=0, */*"), Choice::Offer(1));
        assert_eq!(chosen("application/json;q=0"), Choice::Nothing);
        assert_eq!(chosen("garbage"), Choice::Unreadable);
        assert_eq!(chosen("text/html;x=\"a,application/json\""), Choice::Nothing);
        assert_eq!(chosen("*/*;q=0.9, application/json;q=0.1"), Choice::Offer(1));
        assert_eq!(chosen("application/json;q=abc"), Choice::Offer(0));
    }

    #[test]
    fn aggregated_discovery_is_preferred_or_weighed() {
        let offers = [V2, V2BETA1, JSON, YAML];
        let weighed =
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;q=0.1, application/json;q=0.9";
        assert_eq!(object(weighed, &offers, Reading::Kube), Choice::Offer(0));
        assert_eq!(object(weighed, &offers, Reading::Repaired), Choice::Offer(2));
        let unordered = "application/json;v=v2;profile=nopeer;as=APIGroupDiscoveryList;g=apidiscovery.k8s.io";
        for reading in [Reading::Kube, Reading::Repaired] {
            assert_eq!(object(unordered, &offers, reading), Choice::Offer(0));
            assert_eq!(object("application/json;as=APIGroupDiscoveryList;v=v2", &offers, reading), Choice::Nothing);
            assert_eq!(object("*/*", &offers, reading), Choice::Offer(2));
            assert_eq!(object("application/yaml", &offers, reading), Choice::Offer(3));
        }
        assert_eq!(object("application/json;stream=watch", &offers, Reading::Kube), Choice::Nothing);
    }

    #[test]
    fn go_restful_knows_only_whole_types() {
        let offers = [JSON, YAML];
        for (header, expected) in [
            ("", true),
            ("text/html", false),
            ("application/*", false),
            ("x/y, */*;q=0", true),
            ("application/json;g=1", true),
        ] {
            assert_eq!(restful(header, &offers), expected, "{header}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_repaired_reading_is_the_naive_one(clauses in proptest::collection::vec((0_usize..5, 0_u8..=10), 1..16)) {
            const MEDIA: [&str; 5] = ["application/json", "application/yaml", "application/*", "*/*", "text/html"];
            let header: Vec<String> =
                clauses.iter().map(|(media, q)| format!("{};q={}.{}", MEDIA[*media], q / 10, q % 10)).collect();
            // The most specific clause decides; of several, the one with the highest q.
            let weight = |offer: usize| {
                let of = |media: usize| clauses.iter().filter(move |(found, _)| *found == media).map(|(_, q)| *q).max();
                of(offer).or_else(|| of(2)).or_else(|| of(3)).unwrap_or(0)
            };
            let best = weight(0).max(weight(1));
            match openapi(&header.join(", "), &[JSON, YAML], Reading::Repaired) {
                Choice::Offer(place) => proptest::prop_assert!(best > 0 && weight(place) == best, "{header:?}"),
                other => proptest::prop_assert_eq!((other, best), (Choice::Nothing, 0)),
            }
        }

        #[test]
        fn no_header_panics(header in "[a*/;,=q.0-9 \"\\\\-]{0,60}") {
            for reading in [Reading::Kube, Reading::Repaired] {
                for choice in [openapi(&header, &[JSON, YAML], reading), object(&header, &[V2, JSON], reading)] {
                    proptest::prop_assert!(!matches!(choice, Choice::Offer(2..)));
                }
            }
            restful(&header, &[JSON]);
            pretty(&header);
        }
    }
}
