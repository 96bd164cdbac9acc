//! Negotiation of `Accept` chooses one of the offers. For well-formed lists it chooses the same as a naive implementation.

use kubeshape_server::http::accept::{Choice, Offer, Reading, object, openapi, pretty, restful};

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

    // Well-formed lists, drawn from the bytes.
    let clauses: Vec<(usize, u8)> =
        data.iter().map(|byte| (usize::from(byte % 5), byte / 5 % 11)).take(16).collect();
    if clauses.is_empty() {
        // No header: everything is welcome.
        assert_eq!(openapi("", &OFFERS[..2], Reading::Repaired), Choice::Offer(0));
        return;
    }
    let header: Vec<String> =
        clauses.iter().map(|(media, q)| format!("{};q={}.{}", MEDIA[*media], q / 10, q % 10)).collect();
    // Of a type the clause that names it best has the say; of several such clauses the one that likes it most.
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
    // Without wildcards and weights the first one that is offered is taken, by either reading.
    let plain: Vec<&str> = clauses.iter().map(|(media, _)| MEDIA[*media]).filter(|media| !media.contains('*')).collect();
    let first = plain.iter().find_map(|media| MEDIA[..2].iter().position(|offer| offer == media));
    if !plain.is_empty() {
        for reading in [Reading::Kube, Reading::Repaired] {
            let choice = openapi(&plain.join(","), &OFFERS[..2], reading);
            assert_eq!(choice, first.map_or(Choice::Nothing, Choice::Offer), "{plain:?}");
        }
    }
}
