//! Where a line is in its document, from the indentation of the lines above it.
//!
//! A document that is being typed is rarely YAML. Its lines say where one is nevertheless. Flow collections over several
//! lines are not followed.

/// A step from a value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A member of an object.
    Key(String),
    /// An item of a list.
    Index(usize),
}

/// Where a line is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The steps to the mapping, list or value that contains the position.
    pub steps: Vec<Step>,
    /// The keys of the mapping that contains the position, before and after it.
    pub siblings: Vec<String>,
    /// The top-level `apiVersion` and `kind`.
    pub api_version: String,
    /// See `api_version`.
    pub kind: String,
}

/// A line in parts.
struct Line<'l> {
    /// The columns of the dashes.
    dashes: Vec<usize>,
    /// The column of the content.
    column: usize,
    key: Option<&'l str>,
    value: &'l str,
}

impl<'l> Line<'l> {
    fn of(text: &'l str) -> Option<Line<'l>> {
        let mut column = text.len() - text.trim_start_matches(' ').len();
        let mut dashes = Vec::new();
        loop {
            let rest = text.get(column..)?;
            match rest.strip_prefix('-') {
                Some("") => {
                    dashes.push(column);
                    column += 1;
                    break;
                }
                Some(after) if after.starts_with(' ') => {
                    dashes.push(column);
                    column += 1 + after.len() - after.trim_start_matches(' ').len();
                }
                _ => break,
            }
        }
        let rest = text.get(column..).unwrap_or_default();
        if dashes.is_empty() && (rest.is_empty() || rest.starts_with('#')) {
            return None;
        }
        let split = key_end(rest);
        let key = split.and_then(|at| rest.get(..at)).map(|key| key.trim().trim_matches(['"', '\'']));
        let value = split.map_or(rest, |at| rest.get(at + 1..).unwrap_or_default()).trim();
        Some(Line { dashes, column, key, value })
    }
}

/// Returns the offset of the colon after a key.
fn key_end(text: &str) -> Option<usize> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let from = match quote {
        Some(quote) => text.get(1..)?.find(quote)? + 2,
        None => 0,
    };
    let rest = text.get(from..)?;
    let colon = rest
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|at| rest.as_bytes().get(at + 1).is_none_or(|after| matches!(after, b' ' | b'\t')))?;
    // A comment, a flow collection or a string has no key of the block.
    let before = rest.get(..colon)?;
    let is_other =
        before.contains(" #") || (quote.is_none() && before.starts_with(['#', '{', '[', '&', '!', '|', '>']));
    (!is_other).then_some(from + colon)
}

/// Returns where a position is in a document. `at` is its line, `column` the column where a new key would begin, or
/// `None` for the key of that line.
///
/// # Example
/// ```
/// use kubeshape_language::{Step, outline};
///
/// let text = "kind: Pod\nspec:\n  containers:\n  - name: a\n    im\n    env: []\n";
/// let found = outline(text, 4, Some(4));
/// let key = |name: &str| Step::Key(name.to_owned());
/// assert_eq!(found.steps, [key("spec"), key("containers"), Step::Index(0)]);
/// assert_eq!((found.kind.as_str(), found.siblings), ("Pod", vec!["name".to_owned(), "env".to_owned()]));
/// assert_eq!(outline(text, 3, None).steps.last(), Some(&key("name")));
/// ```
pub fn outline(text: &str, at: usize, column: Option<usize>) -> Outline {
    let mut out = Outline::default();
    // The columns and steps of the values that are open.
    let mut open: Vec<(usize, Step)> = Vec::new();
    // Lines that are more indented than this are the text of a block scalar.
    let mut scalar: Option<usize> = None;
    // The level of the position, once it is reached: its column, and whether its mapping continues.
    let mut wanted: Option<(usize, usize)> = None;
    // The keys of open mappings, by their columns.
    let mut keys: Vec<(usize, Vec<String>)> = Vec::new();
    for (number, line) in text.split('\n').enumerate() {
        let line = line.trim_end_matches('\r');
        if number == at
            && let Some(column) = column
        {
            let dashes = Line::of(line).map(|line| line.dashes).unwrap_or_default();
            for dash in dashes {
                item(&mut open, &mut keys, dash);
            }
            close(&mut open, &mut keys, column);
            out.steps = open.iter().map(|(_, step)| step.clone()).collect();
            out.siblings = keys.iter().find(|(own, _)| *own == column).map(|(_, all)| all.clone()).unwrap_or_default();
            wanted = Some((column, open.len()));
            continue;
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        if let Some(above) = scalar {
            if line.trim().is_empty() || indent > above {
                continue;
            }
            scalar = None;
        }
        if line.starts_with("---") || line.starts_with("...") {
            continue;
        }
        let Some(line) = Line::of(line) else { continue };
        for dash in &line.dashes {
            item(&mut open, &mut keys, *dash);
        }
        if let Some(key) = line.key {
            close(&mut open, &mut keys, line.column);
            match keys.last_mut() {
                Some((column, all)) if *column == line.column => all.push(key.to_owned()),
                _ => keys.push((line.column, vec![key.to_owned()])),
            }
            if line.column == 0 && line.dashes.is_empty() {
                let value = line.value.split(" #").next().unwrap_or_default().trim().trim_matches(['"', '\'']);
                match key {
                    "apiVersion" => value.clone_into(&mut out.api_version),
                    "kind" => value.clone_into(&mut out.kind),
                    _ => {}
                }
            }
            if let Some((column, depth)) = wanted {
                if line.column == column && open.len() == depth && line.dashes.is_empty() {
                    out.siblings.push(key.to_owned());
                } else if open.len() < depth || !line.dashes.is_empty() && open.len() <= depth {
                    // The mapping ended. Only the names of the object are still of interest.
                    wanted = Some((usize::MAX, 0));
                }
            }
            open.push((line.column, Step::Key(key.to_owned())));
        }
        if number == at && column.is_none() {
            out.steps = open.iter().map(|(_, step)| step.clone()).collect();
        }
        if line.value.starts_with(['|', '>']) {
            scalar = Some(line.dashes.last().copied().filter(|_| line.key.is_none()).unwrap_or(line.column));
        }
    }
    out
}

/// Closes what a key at a column ends.
fn close(open: &mut Vec<(usize, Step)>, keys: &mut Vec<(usize, Vec<String>)>, column: usize) {
    while open.last().is_some_and(|(own, _)| *own >= column) {
        open.pop();
    }
    while keys.last().is_some_and(|(own, _)| *own > column) {
        keys.pop();
    }
}

/// Begins an item of a list whose dash is at a column.
fn item(open: &mut Vec<(usize, Step)>, keys: &mut Vec<(usize, Vec<String>)>, dash: usize) {
    let mut index = 0;
    while let Some((own, step)) = open.last() {
        match step {
            Step::Index(number) if *own == dash => {
                index = number + 1;
                open.pop();
                break;
            }
            _ if *own > dash => {
                open.pop();
            }
            _ => break,
        }
    }
    while keys.last().is_some_and(|(own, _)| *own > dash) {
        keys.pop();
    }
    open.push((dash, Step::Index(index)));
}
