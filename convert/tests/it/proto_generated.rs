//! The committed types are those that the protobuf definitions give.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Types of one dialect, generated from `proto/openapi_{dialect}.proto`.
fn generate(dialect: &str) -> Result<String, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto");
    let files = protox::compile([folder.join(format!("openapi_{dialect}.proto"))], [&folder])?;
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("proto-{dialect}"));
    fs::create_dir_all(&out)?;
    prost_build::Config::new().out_dir(&out).compile_fds(files)?;
    Ok(fs::read_to_string(out.join(format!("openapi.{dialect}.rs")))?)
}

/// Set `KUBESHAPE_UPDATE=1` to write the files instead of comparing them.
#[test]
fn committed_types_are_generated_from_the_definitions() -> Result<(), Box<dyn Error>> {
    for dialect in ["v2", "v3"] {
        let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/proto/generated").join(format!("{dialect}.rs"));
        let generated = generate(dialect)?;
        if std::env::var_os("KUBESHAPE_UPDATE").is_some_and(|value| value == "1") {
            fs::write(&committed, &generated)?;
        }
        let text = fs::read_to_string(&committed)?;
        assert!(text == generated, "{} differs from what its definition gives", committed.display());
    }
    Ok(())
}
