//! Types of server-side apply.

mod direct;
mod faithful;
mod losses;
mod models;
mod served;

use kubeshape_convert::smd::{Built, Profile};
use kubeshape_schema::{Bump, Property, read};
use kubeshape_yaml::{Document, Limits, Stream, Tape};

/// Reads definitions written as YAML.
fn read_yaml<T>(source: &str, profile: Profile, use_them: impl FnOnce(&[Property<'_>], Document<'_>) -> T) -> T {
    let arena = Bump::new();
    let mut tape = Tape::new();
    let mut stream = Stream::new(source.as_bytes(), Limits::default()).expect("short");
    stream.next(&mut tape).expect("one document").expect("the test's YAML is right");
    let mut reader = read::Reader::new(&arena, read::Rules::Document(profile));
    let document = tape.document(source);
    use_them(reader.properties(document.root().expect("a node")), document)
}

/// Prints the types without the built-in ones, one per line, or the errors.
fn show(built: Built) -> Result<String, Vec<String>> {
    let built = built.map_err(|errors| errors.into_iter().map(|error| error.text).collect::<Vec<_>>())?;
    let own = built.types().filter(|def| !def.name().starts_with("__untyped"));
    Ok(own.map(|def| format!("{def:?}")).collect::<Vec<_>>().join("\n"))
}
