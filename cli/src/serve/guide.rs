//! Checks that the guide has the command's own limits. Those of connections are checked where they are defined.

use super::{descriptors, event, inputs, log};

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/serve-operation.md");

#[test]
fn the_guide_has_the_figures_of_files_and_of_the_log() {
    let guide = std::fs::read_to_string(GUIDE).expect("the guide");
    let input = kubeshape_input::Limits::default().bytes;
    for (what, figure) in [
        ("size of an input file", format!("{} MiB", input >> 20)),
        ("size of a file with tokens, a certificate or a key", format!("{} MiB", inputs::LARGEST >> 20)),
        ("changed paths that wait to be looked at", format!("{},{:03}", event::MANY / 1000, event::MANY % 1000)),
        ("text of a field", format!("{},{:03} bytes", log::FIELD / 1000, log::FIELD % 1000)),
        (&*format!("messages of a kind in {} s, at `info` and above", log::WINDOW.as_secs()), log::WRITTEN.to_string()),
        ("lines that wait to be written", format!("{},{:03}", log::WAITING / 1000, log::WAITING % 1000)),
        ("time for the last lines when the server stops", format!("{} s", log::PATIENCE.as_secs())),
    ] {
        let row = guide.lines().find(|line| line.starts_with(&format!("| {what} |")));
        let row = row.unwrap_or_else(|| panic!("the guide says nothing of: {what}"));
        assert!(row.contains(&figure), "{what}: the limit is {figure}, but the guide says: {row}");
    }
    assert!(guide.contains(&format!("keeps {} of them", descriptors::RESERVE)));
}
