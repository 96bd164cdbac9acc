//! The table of tools in the documentation.

use kubeshape_ownership::TOOLS;
use std::fmt::Write;

#[test]
fn the_page_lists_all_tools() {
    let mut table = String::from("\n| manager | tool | meaning |\n|---|---|---|\n");
    for tool in TOOLS {
        let names: Vec<String> = tool.managers.iter().map(|name| format!("`{name}`")).collect();
        writeln!(table, "| {} | {} | {} |", names.join(", "), tool.name, tool.meaning).unwrap();
    }
    table.push('\n');
    kubeshape_corpus::page::check_section("ownership.md", "tools", &table);
}

#[test]
fn every_tool_names_a_section_of_the_page() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ownership.md")).unwrap();
    let anchors: Vec<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("##").map(|rest| rest.trim_start_matches('#').trim()))
        .map(|title| {
            let kept = title.to_lowercase().replace(' ', "-");
            kept.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect()
        })
        .collect();
    for tool in TOOLS {
        assert!(anchors.iter().any(|anchor| anchor == tool.page), "{}: {} is none of {anchors:?}", tool.id, tool.page);
    }
}
