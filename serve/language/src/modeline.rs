//! What a file says about itself.

/// The number of lines that are searched.
const LINES: usize = 10;

/// Returns the schemas that a comment in the first lines of a file names: `# kubeshape: schemas=crds/,own.yaml`.
///
/// # Example
/// ```
/// use kubeshape_language::modeline;
/// assert_eq!(modeline("---\n# kubeshape: schemas=../crds,own.yaml\na: 1\n"), ["../crds", "own.yaml"]);
/// assert!(modeline("a: 1 # kubeshape: schemas=x\n").is_empty());
/// ```
pub fn modeline(text: &str) -> Vec<&str> {
    let lines = text.lines().take(LINES).filter_map(|line| line.trim().strip_prefix('#'));
    let lines = lines.filter_map(|line| line.trim().strip_prefix("kubeshape:")?.trim().strip_prefix("schemas="));
    lines.flat_map(|paths| paths.split(',')).map(str::trim).filter(|path| !path.is_empty()).collect()
}
