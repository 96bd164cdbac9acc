//! Schedules of CronJobs, in the syntax of `ParseStandard` of `github.com/robfig/cron`.

/// The fields of a schedule: the minimum and maximum number, and names for numbers starting at the minimum.
const FIELDS: [(u64, u64, &[&str]); 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (1, 12, &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];
const DESCRIPTORS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// Returns what is wrong with a schedule.
pub(super) fn check(schedule: &str) -> Result<(), String> {
    let mut rest = schedule;
    if rest.starts_with("TZ=") || rest.starts_with("CRON_TZ=") {
        // Names of time zones are not checked.
        let Some((_, after)) = rest.split_once(' ') else { return Ok(()) };
        rest = after.trim();
    }
    if rest.starts_with('@') {
        let is_known = DESCRIPTORS.contains(&rest) || rest.starts_with("@every ");
        return if is_known { Ok(()) } else { Err(format!("unrecognized descriptor: {rest}")) };
    }
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        let count = fields.len();
        return Err(format!("expected exactly 5 fields, found {count}: [{}]", fields.join(" ")));
    }
    for (field, bounds) in fields.iter().zip(FIELDS) {
        for range in field.split(',').filter(|range| !range.is_empty()) {
            check_range(range, bounds)?;
        }
    }
    Ok(())
}

/// `getRange`
fn check_range(text: &str, (min, max, names): (u64, u64, &[&str])) -> Result<(), String> {
    let parts: Vec<&str> = text.split('/').collect();
    let ends: Vec<&str> = parts.first().copied().unwrap_or_default().split('-').collect();
    let first = ends.first().copied().unwrap_or_default();
    let read = |text: &str| {
        let named = names.iter().position(|name| *name == text.to_lowercase());
        named.map_or_else(|| number(text), |at| Ok(min + at as u64))
    };
    let (start, mut end) = if matches!(first, "*" | "?") {
        (min, max)
    } else {
        let start = read(first)?;
        match ends.as_slice() {
            [_] => (start, start),
            [_, last] => (start, read(last)?),
            _ => return Err(format!("too many hyphens: {text}")),
        }
    };
    let step = match parts.as_slice() {
        [_] => 1,
        [_, step] => {
            let step = number(step)?;
            if ends.len() == 1 {
                end = max;
            }
            step
        }
        _ => return Err(format!("too many slashes: {text}")),
    };
    if start < min {
        return Err(format!("beginning of range ({start}) below minimum ({min}): {text}"));
    }
    if end > max {
        return Err(format!("end of range ({end}) above maximum ({max}): {text}"));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {text}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    Ok(())
}

/// `mustParseInt`
fn number(text: &str) -> Result<u64, String> {
    match text.parse::<i64>() {
        Ok(number) if number < 0 => Err(format!("negative number ({number}) not allowed: {text}")),
        Ok(number) => Ok(number.unsigned_abs()),
        Err(error) => {
            let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            let _ = error;
            let why = if is_number { "value out of range" } else { "invalid syntax" };
            Err(format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: {why}"))
        }
    }
}
