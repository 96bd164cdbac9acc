//! The guide of `kubeshape serve` has the current limits.

use super::Limits;
use crate::http::{MOST_RANGES, MOST_WAITING, UNCOUNTED};
use crate::listen::{BURST_SECONDS, CANCEL};
use std::time::Duration;

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/serve-operation.md");

/// Formats bytes like the guide.
fn bytes(count: usize) -> String {
    match count {
        count if count.is_multiple_of(1 << 20) => format!("{} MiB", count >> 20),
        count => format!("{} KiB", count >> 10),
    }
}

fn time(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds >= 120 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

fn count(count: u64) -> String {
    if count >= 1000 { format!("{},{:03}", count / 1000, count % 1000) } else { count.to_string() }
}

#[test]
fn the_guide_has_the_current_limits() {
    let limits = Limits::default();
    let guide = std::fs::read_to_string(GUIDE).expect("the guide");
    let table = guide.split("\n## Limits\n").nth(1).expect("its table of limits");
    let rows = [
        ("connections", vec![count(limits.connections as u64)]),
        ("requests per second", vec![limits.rate.map_or("none".to_owned(), |rate| count(rate.into()))]),
        ("head of a request", vec![bytes(limits.header_bytes), format!("{} fields", limits.header_fields)]),
        ("body of a request", vec![bytes(limits.body_bytes), bytes(kubeshape_objects::MAX_BODY)]),
        ("bodies of requests in memory", vec![bytes(limits.received_bytes)]),
        ("responses with objects in memory", vec![bytes(limits.sent_bytes), bytes(UNCOUNTED)]),
        ("time for the TLS handshake", vec![time(limits.handshake)]),
        ("time for the head of a request", vec![time(limits.header)]),
        ("time until the response begins", vec![time(limits.request)]),
        ("time that the server works for a request about objects", vec![time(limits.work)]),
        (
            "speed at which a client takes its responses",
            vec![format!("{}/s", bytes(limits.slowest as usize)), time(limits.stall)],
        ),
        ("time until a response has ended", vec![time(limits.answer)]),
        ("time without a request", vec![time(limits.idle), time(limits.stall)]),
        ("HTTP/2 streams of a connection", vec![count(limits.streams.into())]),
        (
            "HTTP/2 frames other than those of responses",
            vec![
                format!("{} per second", limits.frames),
                format!("{} at once", count(u64::from(limits.frames) * BURST_SECONDS)),
                format!("counts as {CANCEL}"),
            ],
        ),
        ("ranges of a request", vec![count(MOST_RANGES as u64)]),
        (
            "jobs at a time: writes, lists, and documents that are printed or compressed",
            vec![count(MOST_WAITING as u64)],
        ),
    ];
    for (what, figures) in rows {
        let row = table.lines().find(|line| line.starts_with(&format!("| {what} |")));
        let row = row.unwrap_or_else(|| panic!("the guide says nothing of: {what}"));
        for figure in figures {
            assert!(row.contains(&figure), "{what}: the limit is {figure}, but the guide says: {row}");
        }
    }
    assert!(guide.contains(&format!("`--shutdown-grace` ({})", time(limits.grace))));
}
