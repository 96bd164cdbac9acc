//! The pages of `docs/codes`: what a code of a report means and what to do.

use crate::args::ExplainArgs;
use crate::error::Fatal;
use crate::ui;
use kubeshape_schema::Code;
use std::fmt::Write;

macro_rules! pages {
    ($($number:literal)*) => {
        const PAGES: &[(u16, &str)] = &[$(($number, include_str!(concat!("../../docs/codes/KS", $number, ".md"))),)*];
    };
}

pages! {
    1001 1002 1003 1004 1005 1006 1007 1008 1009 1010 1011 1012 1013 1014 1015 1016
    2001 2002 2003 2004 2005 2006 2007 2008 2009 2010 2011 2012
    // Documents, v2 to v3
    2101 2102 2103 2104 2105 2106 2107 2108 2109 2110 2111
    2112 2113 2114 2115 2116 2117 2118
    // Documents, v3 to v2
    2201 2202 2203 2204 2205 2206 2207 2208 2209 2210 2211 2212 2213 2214
    2215 2216 2217 2218 2219 2220 2221 2222 2223 2224 2225 2226 2227 2228
    3001 3002 3003 3004
    4001 4002 4003 4004 4005 4006 4007 4008 4009 4010 4011
    // Documents, put together and taken apart
    4101 4102 4103 4104 4105 4106 4107 4108 4109 4110 4111 4112 4113
    5001 5002 5003 5004 5005 5006 5007 5008
    // JSON Schema
    6001 6002 6003 6004 6005 6006 6007 6008 6009 6010 6011 6012 6013 6014
    // Protobuf
    7001 7002 7003 7004 7005 7006 7007 7008 7009 7010 7011
    // Server-side apply
    8001 8002 8003 8004 8005 8006 8007 8008 8009 8010 8011 8012 8013 8014
    // What a server publishes
    9001 9021
}

/// The page of a code.
pub(crate) fn page(code: Code) -> Option<&'static str> {
    PAGES.iter().find(|(number, _)| *number == code.number()).map(|(_, page)| *page)
}

/// What to do, in short: the first paragraph under the heading of that name.
pub(crate) fn advice(code: Code) -> Option<String> {
    let (_, text) = page(code)?.split_once("\n## What to do\n\n")?;
    let paragraph = text.split("\n\n").next()?;
    Some(paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// `kubeshape explain-code`
///
/// # Errors
/// There is no such code, or standard output is closed.
pub(crate) fn run(args: &ExplainArgs) -> Result<(), Fatal> {
    let Some(name) = args.code.as_deref().filter(|_| !args.list) else {
        let mut out = String::new();
        for code in Code::ALL {
            let _ = writeln!(out, "{code}  {:<12}  {}", code.kind().name(), code.title());
        }
        return ui::print(out.as_bytes());
    };
    match Code::parse(name).and_then(page) {
        Some(page) => ui::print(page.as_bytes()),
        None => {
            Err(Fatal::Usage(format!("there is no code {name}; `kubeshape explain-code --list` lists all of them")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() -> std::io::Result<()> {
        let mut files: Vec<String> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/codes"))?
            .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
            .collect::<Result<_, _>>()?;
        files.retain(|name| name != "README.md");
        files.sort();
        let codes: Vec<String> = Code::ALL.iter().map(|code| format!("{code}.md")).collect();
        assert_eq!(files, codes);
        assert!(Code::ALL.iter().all(|code| page(*code).is_some()));
        assert_eq!(PAGES.len(), Code::ALL.len());
        Ok(())
    }

    #[test]
    fn every_page_has_the_same_parts() {
        for code in Code::ALL {
            let page = page(*code).unwrap_or_default();
            assert!(
                page.starts_with(&format!("# {code}: {}\n\n", code.title().trim_end_matches('.'))),
                "{code}: title"
            );
            assert!(page.contains(&format!("\n*Kind: {}.", code.kind().name())), "{code}: kind");
            assert!(page.contains("\n## Example\n\n"), "{code}: example");
            assert!(advice(*code).is_some_and(|advice| advice.len() > 10), "{code}: what to do");
            assert!(page.ends_with('\n') && !page.ends_with("\n\n"), "{code}: end");
        }
    }
}
