//! Releases that a verdict treats as the same have the same verdict.

use crate::mutate::mutated;
use crate::samples::each_version;
use kubeshape_corpus::generate::Draw;
use kubeshape_sample::sample;
use kubeshape_schema::Bump;
use kubeshape_validate::Release;
use kubeshape_validate::object::Resource;
use kubeshape_value::{ToValue, Value};
use serde_json::Value as Json;

/// Returns the number of objects per version: a few, or all with `KUBESHAPE_ALL`.
fn each() -> u64 {
    if kubeshape_corpus::one_in(2) == 1 { 24 } else { 4 }
}

/// Returns everything that a server reports about an object that is created or replaces another one.
fn said<'a>(resource: &Resource<'a>, object: Value<'a>, old: Option<Value<'a>>, arena: &'a Bump) -> String {
    let decoded = match resource.decode(object, arena) {
        Ok(decoded) => decoded,
        Err(error) => return error,
    };
    let judged = match old.map(|old| resource.decode(old, arena)) {
        None => resource.create(decoded.value, arena),
        Some(Ok(old)) => resource.update(decoded.value, old.value, arena),
        Some(Err(error)) => return error,
    };
    let errors: Vec<String> = judged.errors.iter().map(ToString::to_string).collect();
    format!("{:?} {errors:?} {:?} {}", decoded.unknown, judged.warnings, judged.stored.to_serde())
}

#[test]
fn releases_with_the_same_answers_have_the_same_verdict() {
    let (mut same, mut asked) = (0_u64, 0_u64);
    for file in kubeshape_corpus::files().expect("files") {
        each_version(&file.bytes, |crd, version, arena| {
            let resources: Vec<(Release, Resource<'_>)> =
                Release::all().map(|release| (release, Resource::new(crd, version, release, arena))).collect();
            let Some((_, newest)) = resources.last() else { return };
            let good = [true, false].map(|maximal| sample(newest, maximal, arena).value.to_serde());
            for n in 0..each() {
                let mut draw = Draw::new(n + 1);
                let old: &Json = &good[usize::from(n % 3 == 0)];
                let object = mutated(old, &mut draw);
                let old = (n % 2 == 0).then(|| old.to_value(arena));
                let verdict = said(newest, object.to_value(arena), old, arena);
                for (release, resource) in &resources {
                    asked += 1;
                    if newest.release.same(*release) {
                        same += 1;
                        let other = said(resource, object.to_value(arena), old, arena);
                        assert_eq!(verdict, other, "{} {} {release}: {object}", file.id, crd.name);
                    }
                }
            }
        });
    }
    assert!(same * 3 > asked, "{same} of {asked}");
}
