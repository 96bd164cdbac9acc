//! v2 to v3 beside recorded answers of Kubernetes' converter.

mod support;

use kubeshape_schema::Profile;
use support::{Result, bytes, files, folder, v3_of};

#[test]
fn with_profile_kube_the_bytes_are_those_of_kubernetes_converter() -> Result<()> {
    let (Some(golden), Some(corpus)) = (folder("KUBESHAPE_GOLDEN"), folder("KUBESHAPE_CORPUS")) else {
        return Ok(());
    };
    let (mut equal, mut differing) = (0, Vec::new());
    for file in files(&golden.join("openapi"), ".ndjson.gz") {
        let project = file.file_name().and_then(|n| n.to_str()).unwrap_or_default().trim_end_matches(".ndjson.gz");
        let project = corpus.join("openapi").join(project);
        for line in bytes(&file)?.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
            let record: serde_json::Value = serde_json::from_slice(line)?;
            if record.get("v3").is_none() && record.get("v3_error").is_none() {
                continue;
            }
            let name = record["file"].as_str().unwrap_or_default();
            let is_equal = match (v3_of(&std::fs::read(project.join(name))?, Profile::Kube), record.get("v3_error")) {
                (Ok((Some(ours), _)), None) => {
                    // The recorded bytes stand in the line as they are.
                    let needle = [b"\"v3\":".as_slice(), &ours, b",\""].concat();
                    record["v3_len"].as_u64() == Some(ours.len() as u64)
                        && line.windows(needle.len()).any(|window| window == needle)
                }
                (Ok((None, notes)), Some(_)) => notes.iter().any(|note| note.starts_with("KS2101")),
                _ => false,
            };
            if is_equal { equal += 1 } else { differing.push(format!("{}/{name}", project.display())) }
        }
    }
    assert!(differing.is_empty(), "{} of {}: {differing:#?}", differing.len(), equal + differing.len());
    assert!(equal > 200, "{equal}");
    Ok(())
}
