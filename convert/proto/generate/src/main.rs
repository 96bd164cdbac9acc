//! Writes the types of `convert/src/proto/generated` that the definitions in `convert/proto` give: `cargo xtask proto`.

use sha2::{Digest, Sha256};
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let proto = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    for dialect in ["v2", "v3"] {
        let definition = proto.join(format!("openapi_{dialect}.proto"));
        let files = protox::compile([&definition], [proto])?;
        let out = tempfile::tempdir()?;
        prost_build::Config::new().out_dir(out.path()).compile_fds(files)?;
        let types = fs::read_to_string(out.path().join(format!("openapi.{dialect}.rs")))?;
        // A test compares both sums. So it notices a changed definition, and types that were changed by hand.
        let sums =
            [fs::read(&definition)?.as_slice(), types.as_bytes()].map(|bytes| format!("{:x}", Sha256::digest(bytes)));
        let text = format!(
            "// Made by `cargo xtask proto`.\n// SHA-256 of proto/openapi_{dialect}.proto: {}\n// SHA-256 of what follows: {}\n{types}",
            sums[0], sums[1]
        );
        fs::write(proto.join(format!("../src/proto/generated/{dialect}.rs")), text)?;
    }
    Ok(())
}
