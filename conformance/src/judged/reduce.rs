//! Reduces an input that shows a difference: removes everything that the difference does not need.

use kubeshape_corpus::generate::expression::words;
use serde_json::Value;

/// The maximum number of smaller inputs that are tried.
const TRIALS: usize = 400;

/// Returns the smallest input found that still fails.
pub(super) fn json(input: &Value, fails: &mut dyn FnMut(&Value) -> bool) -> Value {
    let mut best = input.clone();
    let mut left = TRIALS;
    loop {
        let before = best.to_string().len();
        for path in paths(&best) {
            if left == 0 {
                return best;
            }
            let Some(smaller) = without(&best, &path) else { continue };
            left -= 1;
            if fails(&smaller) {
                best = smaller;
            }
        }
        for path in paths(&best) {
            let Some(text) = best.pointer(&path).and_then(Value::as_str).filter(|text| text.len() > 1) else {
                continue;
            };
            let text = text.to_owned();
            let shorter = shortened(&text, &mut left, &mut |shorter| {
                let mut changed = best.clone();
                if let Some(place) = changed.pointer_mut(&path) {
                    *place = shorter.into();
                }
                fails(&changed)
            });
            if let Some(place) = best.pointer_mut(&path) {
                *place = shorter.into();
            }
        }
        if best.to_string().len() == before {
            return best;
        }
    }
}

/// Returns the pointers of all values, outer ones first.
fn paths(value: &Value) -> Vec<String> {
    let mut found = vec![(String::new(), value)];
    let mut at = 0;
    while at < found.len() {
        let (path, value) = found[at].clone();
        match value {
            Value::Object(members) => found.extend(
                members
                    .iter()
                    .map(|(name, value)| (format!("{path}/{}", name.replace('~', "~0").replace('/', "~1")), value)),
            ),
            Value::Array(items) => {
                found.extend(items.iter().enumerate().map(|(n, value)| (format!("{path}/{n}"), value)));
            }
            _ => {}
        }
        at += 1;
    }
    found.into_iter().skip(1).map(|(path, _)| path).collect()
}

fn without(value: &Value, path: &str) -> Option<Value> {
    let mut smaller = value.clone();
    let (parent, last) = path.rsplit_once('/')?;
    match smaller.pointer_mut(parent)? {
        Value::Object(members) => drop(members.remove(&last.replace("~1", "/").replace("~0", "~"))?),
        Value::Array(items) => {
            let at: usize = last.parse().ok()?;
            if at >= items.len() {
                return None;
            }
            items.remove(at);
        }
        _ => return None,
    }
    Some(smaller)
}

/// Removes runs of words, long ones first.
fn shortened(text: &str, left: &mut usize, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let mut best = text.to_owned();
    let mut run = words(&best).len().div_ceil(2);
    while run > 0 {
        let mut from = 0;
        while *left > 0 {
            let parts = words(&best);
            if from + run > parts.len() {
                break;
            }
            let shorter = [&parts[..from], &parts[from + run..]].concat().concat();
            *left -= 1;
            if fails(&shorter) {
                best = shorter;
            } else {
                from += 1;
            }
        }
        run = if run == 1 { 0 } else { run.div_ceil(2).min(run - 1) };
    }
    best
}
