//! Maliciously large inputs.

use kubeshape_show::table::{Cell, ColumnDefinition, PrintOptions, text};

#[test]
fn a_wide_cell_does_not_widen_all_rows() {
    let column = |name: &str| ColumnDefinition {
        name: name.to_owned(),
        column_type: "string".to_owned(),
        format: String::new(),
        description: String::new(),
        priority: 0,
    };
    let mut rows = vec![vec![Cell::Text("x".to_owned()), Cell::Text("y".to_owned())]; 1_000];
    rows.push(vec![Cell::Text("w".repeat(100_000)), Cell::Text("y".to_owned())]);
    let printed = text(&[column("a"), column("b")], &rows, PrintOptions::default());
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!((lines.len(), lines[1].len(), lines[1001].len()), (1_002, 1_024 + 3 + 1, 100_000 + 3 + 1));
}
