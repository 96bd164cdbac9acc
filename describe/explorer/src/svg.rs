//! Prints a graph as SVG.

use crate::drawing::{Drawing, MAX_NODES, TooLarge, escape};
use crate::layout;
use std::fmt::Write;

/// The height of a node, and its distance from the next one.
const HEIGHT: usize = 30;
const GAP: usize = 14;
/// The distance between layers, for labels and curves.
const BETWEEN: usize = 110;
/// The width of a character, and the maximum length of a name that is shown in full.
const CHARACTER: usize = 8;
const LONGEST: usize = 44;

const STYLE: &str = "\
.node rect{fill:var(--graph-node,#f4f6fb);stroke:var(--graph-line,#8792a8)}\
.node text{fill:var(--graph-text,#1b2230);font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\
.edge path{fill:none;stroke:var(--graph-line,#8792a8)}\
.edge text{fill:var(--graph-label,#5b667c);font:11px ui-sans-serif,system-ui,sans-serif;text-anchor:middle}\
.tip{fill:var(--graph-line,#8792a8)}";

/// Returns a name without its package, truncated if it is very long.
fn shown(name: &str) -> String {
    // `io.k8s.api.core.v1.Pod`: the last two parts are the most informative.
    let short = if name.len() > LONGEST { name.rsplitn(3, '.').take(2).collect::<Vec<_>>() } else { vec![name] };
    let short: String = short.into_iter().rev().collect::<Vec<_>>().join(".");
    if short.chars().count() > LONGEST { short.chars().take(LONGEST - 1).chain(['…']).collect() } else { short }
}

impl Drawing {
    /// Returns the graph as SVG, with referring nodes on the left. It uses the colours of the surrounding page, or
    /// colours that are readable on white.
    ///
    /// # Errors
    /// There are more than [`MAX_NODES`] nodes.
    pub fn svg(&self) -> Result<String, TooLarge> {
        if self.nodes().len() > MAX_NODES {
            return Err(TooLarge(self.nodes().len()));
        }
        Ok(print(self, &layout::layers(&self.graph())))
    }
}

/// Prints the graph, with its nodes by layer.
fn print(drawing: &Drawing, layers: &[Vec<usize>]) -> String {
    let names: Vec<String> = drawing.nodes().iter().map(|name| shown(name)).collect();
    let tallest = layers.iter().map(Vec::len).max().unwrap_or(0);
    let height = tallest * (HEIGHT + GAP) + GAP;
    // Left edge, top edge and width of each node.
    let mut boxes = vec![(0_usize, 0_usize, 0_usize); names.len()];
    let mut left = GAP;
    for layer in layers {
        let width = layer.iter().map(|node| names[*node].chars().count()).max().unwrap_or(0) * CHARACTER + 24;
        let mut top = (height - layer.len() * (HEIGHT + GAP)) / 2 + GAP / 2;
        for node in layer {
            boxes[*node] = (left, top, width);
            top += HEIGHT + GAP;
        }
        left += width + BETWEEN;
    }
    let width = left.saturating_sub(BETWEEN) + GAP;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"Graph of {} nodes and {} references\">\n<style>{STYLE}</style>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path class=\"tip\" d=\"M0 0 8 4 0 8z\"/></marker></defs>\n",
        names.len(),
        drawing.edges().len(),
    );
    for edge in drawing.edges() {
        let ((x1, y1, w1), (x2, y2, w2)) = (boxes[edge.from], boxes[edge.to]);
        let (y1, y2) = (y1 + HEIGHT / 2, y2 + HEIGHT / 2);
        let start = x1 + w1;
        let (path, (x, y)) = if x2 > x1 {
            let middle = usize::midpoint(start, x2);
            (format!("M{start} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}"), (middle, usize::midpoint(y1, y2)))
        } else {
            // Between nodes of one layer: around the right side.
            let (end, out) = (x2 + w2, start.max(x2 + w2) + BETWEEN / 2);
            (format!("M{start} {y1}C{out} {y1} {out} {} {end} {}", y2 + 4, y2 + 4), (out, usize::midpoint(y1, y2)))
        };
        let _ = write!(out, "<g class=\"edge\"><path marker-end=\"url(#tip)\" d=\"{path}\"/>");
        if !edge.label.is_empty() {
            let _ = write!(out, "<text x=\"{x}\" y=\"{}\">{}</text>", y.saturating_sub(4), escape(&shown(&edge.label)));
        }
        out.push_str("</g>\n");
    }
    for ((name, whole), (x, y, width)) in names.iter().zip(drawing.nodes()).zip(&boxes) {
        let _ = writeln!(
            out,
            "<g class=\"node\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"6\"/>\
             <text x=\"{}\" y=\"{}\">{}</text></g>",
            escape(whole),
            x + 12,
            y + 20,
            escape(name),
        );
    }
    out.push_str("</svg>\n");
    out
}
