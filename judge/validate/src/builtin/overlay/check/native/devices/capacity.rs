//! Policies for requests of a part of a device's capacity.

use super::super::common::whole;
use super::super::{get, items};
use crate::builtin::overlay::check::Found;
use kubeshape_cel::Quantity;
use kubeshape_schema::field::Path;
use kubeshape_value::Value;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// `validateSingleAllocatableDeviceCapacity`, `validateRequestPolicy`
pub(super) fn request_policy(capacity: Value<'_>, is_shared: bool, path: &Path<'_>, found: &mut Found) {
    let policy = get(capacity, "requestPolicy");
    if policy.is_null() {
        return;
    }
    if !is_shared {
        return found.forbidden(path, "allowMultipleAllocations must be true");
    }
    let (values, range) = (items(policy, "validValues"), get(policy, "validRange"));
    let name = match (values.is_empty(), range.is_null()) {
        (false, false) => {
            let detail = "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the same \
                          time";
            return found.forbidden(path, detail);
        }
        (true, true) => return,
        (false, true) => "validValues",
        (true, false) => "validRange",
    };
    let default = get(policy, "default");
    if default.is_null() {
        return found.required(&path.child("default"), format!("required when {name} is defined"));
    }
    let most = get(capacity, "value");
    if range.is_null() {
        valid_values(values, (default, most), &path.child(name), found);
    } else {
        valid_range(range, (default, most), &path.child(name), found);
    }
}

/// `validateRequestPolicyValidValues`
fn valid_values(values: &[Value<'_>], (default, most): (Value<'_>, Value<'_>), path: &Path<'_>, found: &mut Found) {
    const MOST: usize = 10;
    for (at, pair) in values.windows(2).enumerate() {
        if let [one, next] = pair
            && by_amount(*one, *next) == Ordering::Greater
        {
            found.invalid(&path.index(at + 1), *next, "values must be sorted in ascending order");
        }
    }
    let has_default = values.len() <= MOST && values.iter().any(|value| by_amount(*value, default).is_eq());
    if values.len() > MOST {
        found.too_many(path, values.len(), MOST);
    } else {
        for (at, value) in values.iter().enumerate() {
            if by_amount(*value, most) == Ordering::Greater {
                let detail = format!("option is larger than capacity value: {}", shown(most));
                found.invalid(&path.index(at), *value, detail);
            }
        }
        let mut seen = BTreeSet::new();
        for (at, number) in values.iter().map(|value| number(*value)).enumerate() {
            if !seen.insert(number) {
                found.duplicate(&path.index(at), Value::String(&number.to_string()));
            }
        }
    }
    if !has_default {
        found.invalid(path, default, "default value is not valid according to the requestPolicy");
    }
}

/// `validateRequestPolicyRange`
fn valid_range(range: Value<'_>, (default, limit): (Value<'_>, Value<'_>), path: &Path<'_>, found: &mut Found) {
    let [least, most, step] = ["min", "max", "step"].map(|key| get(range, key));
    let [least_path, most_path, step_path] = ["min", "max", "step"].map(|key| path.child(key));
    if least.is_null() {
        return found.required(&least_path, "required when validRange is defined");
    }
    if by_amount(least, limit) == Ordering::Greater {
        found.invalid(&least_path, least, format!("min is larger than capacity value: {}", shown(limit)));
    }
    if by_amount(default, least) == Ordering::Less {
        found.invalid(&least_path, default, format!("default is less than min: {}", shown(least)));
    }
    if !most.is_null() {
        if by_amount(least, most) == Ordering::Greater {
            found.invalid(&most_path, least, format!("min is larger than max: {}", shown(most)));
        }
        if by_amount(most, limit) == Ordering::Greater {
            found.invalid(&most_path, most, format!("max is larger than capacity value: {}", shown(limit)));
        }
        if by_amount(default, most) == Ordering::Greater {
            found.invalid(&most_path, default, format!("default is more than max: {}", shown(most)));
        }
    }
    if step.is_null() {
        return;
    }
    let added = amount(least).zip(amount(step)).and_then(|(least, step)| least.add(&step, false).ok());
    if let Some((added, limit)) = added.zip(amount(limit))
        && added.compare(&limit) == Ordering::Greater
    {
        found.invalid(&step_path, step, format!("one step {added} is larger than capacity value: {limit}"));
    }
    for value in [default, most].into_iter().filter(|value| !value.is_null()) {
        // Upstream panics if the step is zero.
        if number(value).wrapping_sub(number(least)).checked_rem(number(step)).is_some_and(|rest| rest != 0) {
            let detail = format!("value is not a multiple of a given step ({}) from ({})", shown(step), shown(least));
            found.invalid(&step_path, value, detail);
        }
    }
}

fn amount(quantity: Value<'_>) -> Option<Quantity> {
    Quantity::parse(quantity.as_str().unwrap_or("0")).ok()
}

fn shown(quantity: Value<'_>) -> &str {
    quantity.as_str().unwrap_or("0")
}

fn by_amount(a: Value<'_>, b: Value<'_>) -> Ordering {
    amount(a).zip(amount(b)).map_or(Ordering::Equal, |(a, b)| a.compare(&b))
}

fn number(quantity: Value<'_>) -> i64 {
    amount(quantity).as_ref().map_or(0, whole)
}
