//! Converts every available OpenAPI v3 document to v2 with its losses recorded, and restores it.

use super::{Error, there_and_back};
use kubeshape_schema::Profile;
use std::path::{Path, PathBuf};

fn check(text: &str, profile: Profile) -> Result<bool, Error> {
    let Some((before, after)) = there_and_back(text, profile)? else { return Ok(false) };
    if before != after {
        let (was, now) = (before.as_bytes(), after.as_bytes());
        let at = was.iter().zip(now).position(|(a, b)| a != b).unwrap_or(was.len().min(now.len()));
        let show =
            |text: &[u8]| String::from_utf8_lossy(&text[at.saturating_sub(80)..text.len().min(at + 120)]).into_owned();
        return Err(format!("\n  was {}\n  now {}", show(was), show(now)).into());
    }
    Ok(true)
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) -> Result<(), Error> {
    let mut entries =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out)?;
        } else if path.extension().is_some_and(|ext| ext == "json" || ext == "yaml" || ext == "yml") {
            out.push(path);
        }
    }
    Ok(())
}

#[test]
fn documents_of_the_corpus_are_restored_exactly() -> Result<(), Error> {
    let Some(corpus) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return Ok(()) };
    let mut all = Vec::new();
    files(&corpus.join("openapi"), &mut all)?;
    let (mut checked, mut failures) = (0, Vec::new());
    for path in all {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for profile in [Profile::Faithful, Profile::Kube] {
            match check(&text, profile) {
                Ok(is_v3) => checked += usize::from(is_v3),
                Err(error) => failures.push(format!("{} {profile:?}: {error}", path.display())),
            }
        }
    }
    assert!(failures.is_empty(), "{} of {checked}:\n{}", failures.len(), failures.join("\n"));
    assert!(checked > 200, "{checked}");
    Ok(())
}
