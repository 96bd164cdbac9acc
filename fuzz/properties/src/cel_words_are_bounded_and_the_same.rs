//! The words of any rule are bounded, on one line, with balanced code marks, and the same the second time. Only what
//! parses has words.

use kubeshape_cel::{Env, Release, Type, words};

/// The maximum length of words, in bytes.
const MOST: usize = 1_000;

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Ok(rule) = std::str::from_utf8(data) else { return };
    let said = words(rule);
    assert_eq!(words(rule), said);
    let Some(said) = said else { return };
    assert!(said.len() <= MOST && said.ends_with('.'), "{said}");
    assert!(!said.contains(char::is_control), "{said:?}");
    assert_eq!(said.matches('`').count() % 2, 0, "{said}");
    // An error of the parser is about syntax.
    let env = Env::new(Release::NEWEST).with_variable("self", Type::Dyn).with_variable("oldSelf", Type::Dyn);
    if let Err(issues) = env.compile(rule) {
        assert!(!issues.to_string().contains("Syntax error"), "{rule}: {issues}");
    }
}
