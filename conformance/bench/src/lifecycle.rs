//! Compares reading Go types with only parsing the same files.

use kubeshape_input::Source;
use kubeshape_lifecycle::Types;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The number of rounds of both; the best time is reported.
const ROUNDS: usize = 7;

/// `lifecycle FOLDER`: all Go files of a folder.
pub(crate) fn run(folder: &Path) -> ExitCode {
    let mut files = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|extension| extension == "go") {
                files.extend(std::fs::read_to_string(&path).map(|text| (path.display().to_string(), text)));
            }
        }
    }
    let mut parser = tree_sitter::Parser::new();
    if let Err(error) = parser.set_language(&tree_sitter_go::LANGUAGE.into()) {
        eprintln!("{error}");
        return ExitCode::from(2);
    }
    let (mut parsed, mut read, mut count) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for (_, text) in &files {
            std::hint::black_box(parser.parse(text, None));
        }
        parsed = parsed.min(start.elapsed());
        let sources: Vec<Source> =
            files.iter().map(|(name, text)| Source::from_text(name.as_str(), text.as_str())).collect();
        let start = Instant::now();
        let (types, _) = Types::read(sources);
        read = read.min(start.elapsed());
        count = types.types().count();
    }
    let (parsed, read) = (parsed.as_secs_f64() * 1e3, read.as_secs_f64() * 1e3);
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    println!("{} files, {bytes} bytes, {count} types", files.len());
    println!("parsed by tree-sitter: {parsed:.1} ms; read: {read:.1} ms ({:.2} times)", read / parsed);
    ExitCode::SUCCESS
}
