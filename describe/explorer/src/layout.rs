//! The positions of the nodes of a graph: in layers, referring nodes before their targets.

use petgraph::Direction;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// How often layers are sorted.
const SWEEPS: usize = 6;

/// Returns the nodes by layer, from the left, each from the top. Nodes that refer to each other in a cycle are in one
/// layer.
pub(crate) fn layers(graph: &DiGraph<(), ()>) -> Vec<Vec<usize>> {
    let mut rank = vec![0_usize; graph.node_count()];
    // Components are in reverse order: targets before the nodes that refer to them.
    for component in kosaraju_scc(graph).into_iter().rev() {
        let before = component.iter().flat_map(|node| graph.neighbors_directed(*node, Direction::Incoming));
        let outside = before.filter(|node| !component.contains(node));
        let own = outside.map(|node| rank[node.index()] + 1).max().unwrap_or(0);
        for node in component {
            rank[node.index()] = own;
        }
    }
    let mut layers = vec![Vec::new(); rank.iter().max().map_or(0, |last| last + 1)];
    for (node, rank) in rank.iter().enumerate() {
        layers[*rank].push(node);
    }
    for sweep in 0..SWEEPS {
        let direction = if sweep % 2 == 0 { Direction::Incoming } else { Direction::Outgoing };
        order(graph, &mut layers, direction);
    }
    layers
}

/// Sorts the nodes of each layer by the average position of their neighbours.
fn order(graph: &DiGraph<(), ()>, layers: &mut [Vec<usize>], direction: Direction) {
    let mut place = vec![0.0_f64; graph.node_count()];
    for layer in layers.iter() {
        set_places(layer, &mut place);
    }
    for layer in layers.iter_mut() {
        let mean = |node: usize| {
            let (mut sum, mut count) = (0.0, 0.0);
            for other in graph.neighbors_directed(NodeIndex::new(node), direction) {
                (sum, count) = (sum + place[other.index()], count + 1.0);
            }
            if count == 0.0 { place[node] } else { sum / count }
        };
        let mut keyed: Vec<(f64, usize)> = layer.iter().map(|node| (mean(*node), *node)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        *layer = keyed.into_iter().map(|(_, node)| node).collect();
        set_places(layer, &mut place);
    }
}

#[expect(clippy::cast_precision_loss, reason = "a layer has at most a thousand nodes")]
fn set_places(layer: &[usize], place: &mut [f64]) {
    for (at, node) in layer.iter().enumerate() {
        // The middles of all layers are at the same height.
        place[*node] = (at as f64) - (layer.len() as f64) / 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::layers;
    use petgraph::graph::DiGraph;

    #[test]
    fn referring_nodes_are_before_their_targets() {
        assert_eq!(layers(&DiGraph::from_edges([(0_u32, 1), (1, 2), (0, 2)])), [[0], [1], [2]]);
    }

    #[test]
    fn a_cycle_is_in_one_layer() {
        assert_eq!(layers(&DiGraph::from_edges([(0_u32, 1), (1, 0), (1, 2)])), [vec![0, 1], vec![2]]);
    }
}
