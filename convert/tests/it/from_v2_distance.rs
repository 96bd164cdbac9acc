//! How near v3 from v2 is to the v3 document of the same server or suite, and how near Kubernetes' own converter is.

#![allow(clippy::print_stdout)]

use crate::support::distance::{cut, differences, leaves};
use crate::support::{Result, bytes, files, folder, v3_of, value};
use kubeshape_schema::Profile;
use serde_json::Value;
use std::path::Path;

struct Pair {
    name: String,
    ours: Value,
    upstream: Value,
    theirs: Value,
}

fn both(v2: &[u8]) -> Result<Option<(Value, Value)>> {
    let (Ok((Some(ours), _)), Ok((Some(upstream), _))) = (v3_of(v2, Profile::Faithful), v3_of(v2, Profile::Kube))
    else {
        return Ok(None);
    };
    Ok(Some((serde_json::from_slice(&ours)?, serde_json::from_slice(&upstream)?)))
}

fn suite(corpus: &Path, pairs: &mut Vec<Pair>) -> Result<()> {
    let mut add = |v2: &Path, v3: &Path| -> Result<()> {
        if let Some((ours, upstream)) = both(&std::fs::read(v2)?)? {
            let name = v2.strip_prefix(corpus).unwrap_or(v2).display().to_string();
            pairs.push(Pair { name, ours, upstream, theirs: value(&std::fs::read(v3)?)? });
        }
        Ok(())
    };
    for v2 in files(&corpus.join("openapi/kube-openapi-openapiconv"), ".json") {
        let name = v2.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(rest) = name.strip_prefix("v2_") {
            add(&v2, &v2.with_file_name(format!("v3_{rest}")))?;
        }
    }
    let integration = corpus.join("openapi/kube-openapi-integration");
    add(&integration.join("golden.v2.json"), &integration.join("golden.v3.json"))?;
    let examples = corpus.join("openapi/oai-examples-3.0.3");
    // api-with-examples has different texts and examples in its two versions.
    for name in ["petstore-expanded.yaml", "petstore.yaml"] {
        add(&examples.join("v2.0/yaml").join(name), &examples.join("v3.0").join(name))?;
    }
    for v2 in files(&corpus.join("openapi/swagger2openapi"), "swagger.yaml") {
        // Converting one document cannot need other files.
        let options = std::fs::read_to_string(v2.with_file_name("options.yaml")).unwrap_or_default();
        if !options.contains("resolve: true") {
            add(&v2, &v2.with_file_name("openapi.yaml"))?;
        }
    }
    Ok(())
}

fn server(golden: &Path, state: &str, pairs: &mut Vec<Pair>) -> Result<()> {
    let bodies = golden.join("apiserver").join(state).join("bodies");
    let Some((ours, upstream)) = both(&bytes(&bodies.join("openapi-v2.json.zst"))?)? else { return Ok(()) };
    for file in files(&bodies.join("v3"), ".json.zst").into_iter().step_by(kubeshape_corpus::one_in(9)) {
        let theirs: Value = serde_json::from_slice(&bytes(&file)?)?;
        let (mut ours, mut upstream) = (ours.clone(), upstream.clone());
        cut(&mut ours, &theirs);
        cut(&mut upstream, &theirs);
        let name = format!("{state}/{}", file.file_name().and_then(|name| name.to_str()).unwrap_or_default());
        pairs.push(Pair { name, ours, upstream, theirs });
    }
    Ok(())
}

/// `KUBESHAPE_SHOW` names documents whose differences are printed.
#[test]
fn no_document_is_farther_from_the_true_one_than_kubernetes_converters_and_all_are_half_as_far() -> Result<()> {
    let (Some(golden), Some(corpus)) = (folder("KUBESHAPE_GOLDEN"), folder("KUBESHAPE_CORPUS")) else {
        return Ok(());
    };
    let mut pairs = Vec::new();
    suite(&corpus, &mut pairs)?;
    server(&golden, "empty", &mut pairs)?;
    server(&golden, "crds", &mut pairs)?;
    let (mut sum, mut upstream_sum, mut farther) = (0, 0, Vec::new());
    let shown = std::env::var("KUBESHAPE_SHOW").ok();
    for pair in &pairs {
        let theirs = leaves(&pair.theirs, &pair.ours);
        let ours = leaves(&pair.ours, &pair.theirs);
        let far = differences(&ours, &theirs);
        let beside_upstream = leaves(&pair.theirs, &pair.upstream);
        let upstream = differences(&leaves(&pair.upstream, &pair.theirs), &beside_upstream).len();
        println!("{:>6} {upstream:>6} of {:>6}  {}", far.len(), theirs.len(), pair.name);
        if shown.as_deref().is_some_and(|shown| pair.name.contains(shown)) {
            for at in &far {
                println!("    {at}: {:?} theirs {:?}", ours.get(*at), theirs.get(*at));
            }
        }
        // Answers of the converter itself, which contain its faults: bodies that are not required, and one type for
        // int-or-strings and quantities.
        let one_type = ["intstr.IntOrString/", "resource.Quantity/"];
        let is_fault = |at: &str| at.ends_with("/requestBody/required") || one_type.iter().any(|ty| at.contains(ty));
        let recorded_from_upstream = upstream == 0 && far.iter().all(|at| is_fault(at));
        if far.len() > upstream && !recorded_from_upstream {
            farther.push(&pair.name);
        }
        sum += far.len();
        upstream_sum += upstream;
    }
    println!("{sum:>6} {upstream_sum:>6}  in {} documents", pairs.len());
    assert!(farther.is_empty(), "{farther:#?}");
    assert!(sum * 2 <= upstream_sum, "{sum} of {upstream_sum}");
    Ok(())
}
