//! Strongly connected components of a graph (Tarjan 1972, without recursion).

use crate::error::Result;
use crate::memory::{copied, filled, room, zeros};

const WHAT: &str = "components of a graph";

const NONE: u32 = u32::MAX;

/// The component of every node, and how many there are: of edges from one node to another, those that lie on no circle lead from larger
/// numbers to smaller ones.
///
/// # Errors
/// `TooLarge`.
pub(crate) fn strongly_connected(count: usize, edges: &[[u32; 2]]) -> Result<(Vec<u32>, usize)> {
    let mut starts: Vec<usize> = zeros(WHAT, count + 1)?;
    edges.iter().for_each(|&[from, _]| starts[from as usize + 1] += 1);
    for node in 0..count {
        starts[node + 1] += starts[node];
    }
    let mut next: Vec<usize> = copied(WHAT, &starts[..count])?;
    let mut ends: Vec<u32> = zeros(WHAT, edges.len())?;
    for &[from, to] in edges {
        let place = &mut next[from as usize];
        ends[*place] = to;
        *place += 1;
    }
    next.copy_from_slice(&starts[..count]);

    let mut component = filled(WHAT, NONE, count)?;
    // From 1 in the order in which nodes are found, and the earliest that is reached from each.
    let (mut found, mut earliest): (Vec<u32>, Vec<u32>) = (zeros(WHAT, count)?, zeros(WHAT, count)?);
    let (mut open, mut way): (Vec<u32>, Vec<u32>) = (room(WHAT, count)?, room(WHAT, count)?);
    let (mut seen, mut number) = (0, 0);
    for start in 0..count as u32 {
        if found[start as usize] == 0 {
            way.push(start);
        }
        while let Some(&node) = way.last() {
            let at = node as usize;
            if found[at] == 0 {
                seen += 1;
                (found[at], earliest[at]) = (seen, seen);
                open.push(node);
            }
            if next[at] < starts[at + 1] {
                let end = ends[next[at]] as usize;
                next[at] += 1;
                if found[end] == 0 {
                    way.push(end as u32);
                } else if component[end] == NONE {
                    earliest[at] = earliest[at].min(found[end]);
                }
                continue;
            }
            way.pop();
            if earliest[at] == found[at] {
                while let Some(member) = open.pop() {
                    component[member as usize] = number;
                    if member == node {
                        break;
                    }
                }
                number += 1;
            }
            if let Some(&before) = way.last() {
                earliest[before as usize] = earliest[before as usize].min(earliest[at]);
            }
        }
    }
    Ok((component, number as usize))
}
