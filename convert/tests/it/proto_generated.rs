//! The committed types are those that the protobuf definitions give.

use sha2::{Digest, Sha256};
use std::error::Error;
use std::fs;
use std::path::Path;

/// The generator writes both sums above the types.
#[test]
fn committed_types_are_generated_from_the_definitions() -> Result<(), Box<dyn Error>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    for dialect in ["v2", "v3"] {
        let name = format!("proto/openapi_{dialect}.proto");
        let definition = fs::read(package.join(&name))?;
        let committed = fs::read_to_string(package.join(format!("src/proto/generated/{dialect}.rs")))?;
        let mut lines = committed.splitn(4, '\n');
        let (made, of, follows, types) = (lines.next(), lines.next(), lines.next(), lines.next().unwrap_or_default());
        assert_eq!(made, Some("// Made by `cargo xtask proto`."));
        let sum = format!("// SHA-256 of {name}: {}", hex(definition));
        assert_eq!(of, Some(sum.as_str()), "{name} changed: run `cargo xtask proto`");
        let sum = format!("// SHA-256 of what follows: {}", hex(types));
        assert_eq!(follows, Some(sum.as_str()), "the types of {name} were changed by hand: run `cargo xtask proto`");
    }
    Ok(())
}

fn hex(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
