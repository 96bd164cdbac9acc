//! Finds few definitions such that every cycle of references contains one.

use std::collections::{BTreeSet, BinaryHeap};

/// A limit on the steps of checking the cycles once more.
const MAX_STEPS: usize = 1_000_000;

/// Returns a small set of vertices that every cycle contains. Vertices are numbered from 0 on and given with their
/// successors. Finding the smallest set is hard. This chooses vertices that refer to themselves, then repeatedly the
/// vertex with the most paths through it, and at last drops vertices that are not needed. The result depends only on
/// the numbers.
pub(super) fn feedback(successors: &[Vec<usize>]) -> BTreeSet<usize> {
    let mut rest = Rest::new(successors);
    let mut chosen = BTreeSet::new();
    for (vertex, to) in successors.iter().enumerate() {
        if to.contains(&vertex) {
            chosen.insert(vertex);
            rest.remove(vertex);
        }
    }
    let mut heap: BinaryHeap<(usize, std::cmp::Reverse<usize>)> =
        (0..successors.len()).map(|vertex| (rest.ways(vertex), std::cmp::Reverse(vertex))).collect();
    while let Some((ways, std::cmp::Reverse(vertex))) = heap.pop() {
        let now = rest.ways(vertex);
        if !rest.alive[vertex] || now == 0 {
            continue;
        }
        if now < ways {
            heap.push((now, std::cmp::Reverse(vertex)));
            continue;
        }
        chosen.insert(vertex);
        rest.remove(vertex);
    }
    let edges: usize = successors.iter().map(Vec::len).sum();
    if chosen.len() * (edges + successors.len()) <= MAX_STEPS {
        for vertex in chosen.clone() {
            chosen.remove(&vertex);
            if successors[vertex].contains(&vertex) || !is_acyclic(successors, &chosen) {
                chosen.insert(vertex);
            }
        }
    }
    chosen
}

/// The rest of the graph: vertices that may be on a cycle.
struct Rest<'s> {
    successors: &'s [Vec<usize>],
    predecessors: Vec<Vec<usize>>,
    ins: Vec<usize>,
    outs: Vec<usize>,
    alive: Vec<bool>,
}

impl<'s> Rest<'s> {
    fn new(successors: &'s [Vec<usize>]) -> Self {
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (vertex, to) in successors.iter().enumerate() {
            for to in to {
                predecessors[*to].push(vertex);
            }
        }
        let ins = predecessors.iter().map(Vec::len).collect();
        let outs = successors.iter().map(Vec::len).collect();
        let mut rest = Rest { successors, predecessors, ins, outs, alive: vec![true; successors.len()] };
        for vertex in 0..successors.len() {
            if rest.ways(vertex) == 0 {
                rest.remove(vertex);
            }
        }
        rest
    }

    fn ways(&self, vertex: usize) -> usize {
        self.ins[vertex] * self.outs[vertex]
    }

    /// Removes a vertex, and then all vertices that cannot be on a cycle any more, because they have no way in or out.
    fn remove(&mut self, vertex: usize) {
        let mut stack = vec![vertex];
        while let Some(vertex) = stack.pop() {
            if !std::mem::replace(&mut self.alive[vertex], false) {
                continue;
            }
            for to in &self.successors[vertex] {
                self.ins[*to] -= 1;
                if self.alive[*to] && self.ins[*to] == 0 {
                    stack.push(*to);
                }
            }
            for from in &self.predecessors[vertex] {
                self.outs[*from] -= 1;
                if self.alive[*from] && self.outs[*from] == 0 {
                    stack.push(*from);
                }
            }
        }
    }
}

fn is_acyclic(successors: &[Vec<usize>], without: &BTreeSet<usize>) -> bool {
    let mut ins = vec![0usize; successors.len()];
    let edges = || successors.iter().enumerate().filter(|(from, _)| !without.contains(from));
    edges().flat_map(|(_, to)| to).for_each(|to| ins[*to] += 1);
    let mut stack: Vec<usize> = (0..successors.len()).filter(|vertex| ins[*vertex] == 0).collect();
    stack.retain(|vertex| !without.contains(vertex));
    let mut seen = without.len() + stack.len();
    while let Some(vertex) = stack.pop() {
        for to in &successors[vertex] {
            ins[*to] -= 1;
            if ins[*to] == 0 && !without.contains(to) {
                seen += 1;
                stack.push(*to);
            }
        }
    }
    seen == successors.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cycle_contains_a_chosen_vertex() {
        let chosen = |successors: &[&[usize]]| {
            let successors: Vec<Vec<usize>> = successors.iter().map(|to| to.to_vec()).collect();
            feedback(&successors).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(chosen(&[&[1], &[]]), [0usize; 0]);
        assert_eq!(chosen(&[&[0]]), [0]);
        assert_eq!(chosen(&[&[1], &[2], &[0]]), [0]);
        assert_eq!(chosen(&[&[1, 2, 3], &[0], &[0], &[0]]), [0]);
        assert_eq!(chosen(&[&[1], &[0, 2], &[1, 3], &[2]]), [1, 2]);
    }

    #[test]
    fn large_cycles_take_at_most_linear_time_times_a_logarithm() {
        let n = 100_000;
        let successors: Vec<Vec<usize>> = (0..n).map(|i| vec![(i + 1) % n, (i + 7) % n]).collect();
        let chosen = feedback(&successors);
        assert!(is_acyclic(&successors, &chosen));
    }
}
