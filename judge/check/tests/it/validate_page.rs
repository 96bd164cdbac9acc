//! `docs/validate.md`: which share of a server's refusals is reproduced.

use kubeshape_validate::builtin::Share;
use std::fmt::Write;

#[test]
fn the_table_of_shares_is_that_of_the_code() {
    let head = "| kind | accepted | refused | refused here | with the same errors | by the schema |";
    let mut out = format!("{head}\n|---|---|---|---|---|---|\n");
    for share in Share::all() {
        let Share { kind, accepted, refused, refused_here, same_errors, refused_by_schema, .. } = share;
        let name = if share.group.is_empty() { kind.to_owned() } else { format!("{kind}.{}", share.group) };
        let _ =
            writeln!(out, "| {name} | {accepted} | {refused} | {refused_here} | {same_errors} | {refused_by_schema} |");
    }
    kubeshape_corpus::page::check_section("validate.md", "shares", &out);
}
