//! Negotiation of `Accept` chooses one of the offers. For well-formed lists it chooses the same as a naive
//! implementation.

use kubeshape_server::http::accept::{
    Alternates, Answers, Choice, Endpoint, Form, Offer, Reading, alternate, object, openapi, pretty, resource, restful,
};

const OFFERS: [Offer; 4] = [
    Offer::plain("application", "json"),
    Offer::plain("application", "com.github.proto-openapi.spec.v3.v1.0+protobuf"),
    Offer::aggregated("application", "json", "v2"),
    Offer::aggregated("application", "yaml", "v2"),
];
const MEDIA: [&str; 5] =
    ["application/json", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf", "application/*", "*/*", "text/html"];

/// Checks the property.
pub fn holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for reading in [Reading::Kube, Reading::Repaired] {
        for choice in [openapi(&text, &OFFERS[..2], reading), object(&text, &OFFERS, reading)] {
            assert!(!matches!(choice, Choice::Offer(place) if place >= OFFERS.len()));
        }
    }
    pretty(&text);
    restful(&text, &OFFERS);
    forms(&text);

    // Well-formed lists, generated from the bytes.
    let clauses: Vec<(usize, u8)> =
        data.iter().map(|byte| (usize::from(byte % 5), byte / 5 % 11)).take(16).collect();
    if clauses.is_empty() {
        // Without a header, everything is accepted.
        assert_eq!(openapi("", &OFFERS[..2], Reading::Repaired), Choice::Offer(0));
        return;
    }
    let header: Vec<String> =
        clauses.iter().map(|(media, q)| format!("{};q={}.{}", MEDIA[*media], q / 10, q % 10)).collect();
    // The most specific clause for a type is used. If there are several, the one with the highest weight is used.
    let weight = |offer: usize| {
        let of = |media: usize| clauses.iter().filter(move |(found, _)| *found == media).map(|(_, q)| *q).max();
        of(offer).or_else(|| of(2)).or_else(|| of(3)).unwrap_or(0)
    };
    let best = weight(0).max(weight(1));
    match openapi(&header.join(", "), &OFFERS[..2], Reading::Repaired) {
        Choice::Offer(place) => assert!(best > 0 && weight(place) == best, "{header:?}"),
        Choice::Nothing => assert!(best == 0, "{header:?}"),
        Choice::Unreadable => unreachable!("{header:?}"),
    }
    // Without wildcards and weights, the first one that is offered is chosen, with either reading.
    let plain: Vec<&str> = clauses.iter().map(|(media, _)| MEDIA[*media]).filter(|media| !media.contains('*')).collect();
    let first = plain.iter().find_map(|media| MEDIA[..2].iter().position(|offer| offer == media));
    if !plain.is_empty() {
        for reading in [Reading::Kube, Reading::Repaired] {
            let choice = openapi(&plain.join(","), &OFFERS[..2], reading);
            assert_eq!(choice, first.map_or(Choice::Nothing, Choice::Offer), "{plain:?}");
        }
    }
}

/// Checks the forms of objects. The result for a header consists of known words, so that it can be a header again.
fn forms(header: &str) {
    let tabs = Alternates {
        group: "example.com",
        version: "v1",
        kind: "Tab",
        list_kind: "TabList",
        versions: &["v1beta1"],
        answers: Answers::One,
        scale: true,
        protobuf: header.len().is_multiple_of(2),
    };
    for answers in [Answers::One, Answers::Many, Answers::Events, Answers::Status] {
        let Some(chosen) = alternate(header, &Alternates { answers, ..tabs }, false) else { continue };
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b";=.".contains(&byte);
        assert!(chosen.parameters.bytes().all(is_word), "{:?}", chosen.parameters);
        assert!(answers != Answers::Events || !matches!(chosen.form, Form::Yaml | Form::Csv | Form::Indented));
        // A chosen form is chosen again if it is the only one requested.
        let media = chosen.form.media_type().split(';').next().unwrap_or_default();
        let same = alternate(&format!("{media}{}", chosen.parameters), &Alternates { answers, ..tabs }, false)
            .map(|again| (again.form, again.target.map(|target| target.kind), again.export, again.version.map(str::to_owned)));
        let first = (chosen.form, chosen.target.map(|target| target.kind), chosen.export, chosen.version.map(str::to_owned));
        assert_eq!(same, Some(first), "{header:?}");
    }
    for endpoint in [Endpoint::CUSTOM_RESOURCES, Endpoint::ERRORS] {
        for cbor in [false, true] {
            let chosen = resource(header, endpoint.with_cbor(cbor), false);
            assert!(chosen.is_none_or(|chosen| chosen.form != Form::Csv && (cbor || chosen.form != Form::Cbor)));
        }
    }
}
