//! Every syntax error of a string, as cel-go's parser reports them (recorded from cel-go 0.26).

use kubeshape_cel::{Env, Release};

fn errors(source: &str) -> Vec<String> {
    let Err(issues) = Env::new(Release::NEWEST).compile(source) else { return Vec::new() };
    let line = |issue: &kubeshape_cel::Issue| format!("{}:{} {}", issue.line, issue.column, issue.message);
    issues.issues().iter().map(line).collect()
}

const OPERAND: &str = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, \
                       BYTES, IDENTIFIER}";
const NAME: &str = "{IDENTIFIER, ESC_IDENTIFIER}";

#[test]
fn an_extra_token_is_skipped() {
    let expected = [
        "1:4 Syntax error: extraneous input '2' expecting ')'".to_owned(),
        "1:9 Syntax error: mismatched input '<EOF>' expecting ".to_owned() + &OPERAND.replace("'(',", "'(', ')',"),
    ];
    assert_eq!(errors("f(1 2).g("), expected);
    let expected = [
        format!("2:0 Syntax error: extraneous input '*' expecting {OPERAND}"),
        "2:3 Syntax error: extraneous input ')' expecting <EOF>".to_owned(),
    ];
    assert_eq!(errors("1 +\n* 2)"), expected);
    assert_eq!(errors("['a', ,]"), ["1:6 Syntax error: extraneous input ',' expecting ']'"]);
    assert_eq!(errors("{1: 2, ,}"), ["1:7 Syntax error: extraneous input ',' expecting '}'"]);
}

#[test]
fn a_missing_token_is_assumed() {
    let expected = ["1:7 Syntax error: mismatched input ')' expecting ".to_owned() + OPERAND];
    assert_eq!(errors("size(a,) == T{b 1}")[..1], expected);
    assert_eq!(errors("size(a,) == T{b 1}")[1], "1:16 Syntax error: missing ':' at '1'");
}

#[test]
fn a_rule_ends_where_its_callers_can_continue() {
    let expected = [
        format!("1:5 Syntax error: mismatched input ')' expecting {OPERAND}"),
        "1:11 Syntax error: mismatched input '<EOF>' expecting {']', ','}".to_owned(),
    ];
    assert_eq!(errors("(a + ) * [b"), expected);
}

#[test]
fn the_part_that_was_read_is_checked() {
    let expected = ["1:0 reserved identifier: as", "1:6 Syntax error: mismatched input 'true' expecting IDENTIFIER"];
    assert_eq!(errors("as + .true"), expected);
    let expected = [
        format!("1:3 Syntax error: mismatched input '<EOF>' expecting {NAME}"),
        "1:3 unsupported ident kind".to_owned(),
    ];
    assert_eq!(errors("x.?"), expected);
    let expected =
        ["1:2 Syntax error: token recognition error at: '#'", "1:4 Syntax error: token recognition error at: ''b'"];
    assert_eq!(errors("a # 'b"), expected);
}

#[test]
fn the_parser_gives_up_at_its_limits() {
    assert_eq!(errors(&"$ ".repeat(101)).len(), 100);
    let text = "-1:-1 error recovery token lookahead limit exceeded: 256";
    assert!(errors(&format!("a {}", "b ".repeat(300))).contains(&text.to_owned()));
    assert!(!errors(&format!("a {}", "b ".repeat(200))).contains(&text.to_owned()));
    let source = "a.+".repeat(40);
    assert!(errors(&source).contains(&"1:91 Syntax error: error recovery attempt limit exceeded: 30".to_owned()));
    assert_eq!(errors(&format!("a{} )", ".b".repeat(300))).len(), 2);
}

#[test]
fn names_in_backticks_are_expected_since_1_33() {
    let message = |minor| match Env::new(Release::nearest(minor)).compile("nonein{") {
        Ok(_) => String::new(),
        Err(issues) => issues.to_string(),
    };
    assert!(message(32).contains("expecting {'}', ',', '?', IDENTIFIER}"), "{}", message(32));
    assert!(message(33).contains("expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"), "{}", message(33));
}
