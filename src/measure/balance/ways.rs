//! Which terms an infimum has: those that lie on a circle.
//!
//! Let every term lead from its column's factor to its row's. Around a circle of terms the differences u_column − u_row add up to 0, so the
//! product of its terms stays what it is: none of them can be made small without another that grows. A term that lies on no circle leads from
//! one strongly connected component to another, and moving components apart, those behind it up, makes it as small as one likes at the cost
//! of nothing. So the infimum is that of the components' own terms, each of which has a minimum (Osborne 1960, of balanced matrices), and
//! it is attained if there are no other terms.

use super::{Term, Terms};
use crate::components::strongly_connected;
use crate::error::Result;
use crate::measure::Tendency;
use crate::memory::{collected, filled, room, zeros};
use crate::sorting::sort_by_key;

const WHAT: &str = "the components of a measure";

const NONE: u32 = u32::MAX;

/// How far above the infimum a rescaling may stay where none attains it, relative to it: nearer to it factors grow, and with them what
/// rounding costs the network.
const SLACK: f64 = 1e-6;

/// Components of factors, numbered so that terms between them lead from larger numbers to smaller ones.
pub(in crate::measure) struct Ways {
    component: Vec<u32>,
    /// The terms between components.
    between: Vec<Term>,
    /// Of each component, how far it is moved, and where it would go.
    shifts: Vec<f64>,
    tendencies: Vec<Tendency>,
    /// The first factor of each component.
    first: Vec<u32>,
}

impl Ways {
    /// Takes the terms that lie on no circle out of the sum.
    pub fn part(terms: &mut Terms) -> Result<Self> {
        let (component, count) = components(terms)?;
        let is_inner = |term: &Term| component[term.row as usize] == component[term.column as usize];
        let mut between = room(WHAT, terms.list.iter().filter(|term| !is_inner(term)).count())?;
        terms.list.retain(|term| {
            let stays = is_inner(term);
            if !stays {
                between.push(*term);
            }
            stays
        });
        let mut first = filled(WHAT, NONE, count)?;
        for (node, &component) in component.iter().enumerate().rev() {
            first[component as usize] = node as u32;
        }
        let (shifts, tendencies) = (zeros(WHAT, count)?, filled(WHAT, Tendency::Any, count)?);
        Ok(Self { component, between, shifts, tendencies, first })
    }

    /// Is a factor the one of its component that the others are relative to?
    pub fn is_ground(&self, node: usize) -> bool {
        self.first[self.component[node] as usize] as usize == node
    }

    /// Has some rescaling the least trace?
    pub fn is_attained(&self) -> bool {
        self.between.is_empty()
    }

    /// Where a factor goes that the infimum does not say; nothing of others.
    pub fn tendency(&self, node: usize) -> Option<Tendency> {
        let component = self.component[node];
        (component != self.component[0]).then(|| self.tendencies[component as usize])
    }

    /// Moves components apart until what is between them is a millionth of `value`, and returns what it is then.
    pub fn run_away(&mut self, logarithms: &mut [f64], value: f64) -> f64 {
        let most = SLACK * value / self.between.len() as f64;
        let ends =
            |ways: &Self, term: &Term| [term.column, term.row].map(|node| ways.component[node as usize] as usize);
        let apart = |logarithms: &[f64], term: &Term| (weight(logarithms, term) / most).ln().max(0.0) / 2.0;
        let mut between = std::mem::take(&mut self.between);
        let fixed = self.component[0] as usize;
        // From what is nearest to the fixed component: all that leads to it goes down, below whatever it leads to.
        sort_by_key(&mut between, |term| self.component[term.column as usize]);
        for term in &between {
            let [from, to] = ends(self, term);
            if from != fixed && (to == fixed || self.tendencies[to] == Tendency::Shrinks) {
                self.tendencies[from] = Tendency::Shrinks;
            }
        }
        for term in &between {
            let [from, to] = ends(self, term);
            if self.tendencies[from] == Tendency::Shrinks {
                self.shifts[from] = self.shifts[from].min(self.shifts[to] - apart(logarithms, term));
            }
        }
        // And what else something leads to goes up.
        sort_by_key(&mut between, |term| std::cmp::Reverse(self.component[term.row as usize]));
        for term in &between {
            let [from, to] = ends(self, term);
            if to != fixed && self.tendencies[from] != Tendency::Shrinks {
                self.tendencies[to] = Tendency::Grows;
                self.shifts[to] = self.shifts[to].max(self.shifts[from] + apart(logarithms, term));
            }
        }
        for (logarithm, &component) in logarithms.iter_mut().zip(&self.component) {
            *logarithm += self.shifts[component as usize];
        }
        self.between = between;
        self.between.iter().map(|term| weight(logarithms, term)).sum()
    }
}

/// A term at these logarithms. In two halves, since the exponential may overflow where the term does not.
pub(super) fn weight(logarithms: &[f64], term: &Term) -> f64 {
    let half = (logarithms[term.column as usize] - logarithms[term.row as usize]).exp();
    term.share * half * half
}

/// The strongly connected component of every factor, and how many there are.
fn components(terms: &Terms) -> Result<(Vec<u32>, usize)> {
    let edges = collected(WHAT, terms.list.iter().map(|term| [term.column, term.row]))?;
    strongly_connected(terms.count, &edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Which factors terms lead to from each, by going on until nothing is added.
    fn reached(terms: &Terms) -> Vec<Vec<bool>> {
        let mut reached = vec![vec![false; terms.count]; terms.count];
        (0..terms.count).for_each(|node| reached[node][node] = true);
        loop {
            let mut is_new = false;
            for term in &terms.list {
                for from in &mut reached {
                    if from[term.column as usize] && !from[term.row as usize] {
                        (from[term.row as usize], is_new) = (true, true);
                    }
                }
            }
            if !is_new {
                return reached;
            }
        }
    }

    #[test]
    fn components_are_what_leads_to_each_other_and_what_is_between_vanishes() {
        let mut seen = [0; 3];
        for seed in 0..300 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let count = rng.random_range(1..12);
            let mut terms = Terms { list: Vec::new(), fixed: 0.0, count, unit: 1.0 };
            for _ in 0..rng.random_range(0..2 * count) {
                let (row, column) = (rng.random_range(0..count as u32), rng.random_range(0..count as u32));
                if row != column {
                    terms.list.push(Term { row, column, share: rng.random() });
                }
            }
            let (reached, all) = (reached(&terms), terms.list.clone());
            let mut ways = Ways::part(&mut terms).expect("components");
            for (a, from) in reached.iter().enumerate() {
                for (b, to) in reached.iter().enumerate() {
                    assert_eq!(ways.component[a] == ways.component[b], from[b] && to[a], "{seed}: {a}, {b}");
                }
            }
            assert_eq!(ways.is_attained(), terms.list.len() == all.len());
            let mut logarithms = vec![0.0; count];
            let rest = ways.run_away(&mut logarithms, 1.0);
            assert!(rest <= 1.001 * SLACK && logarithms[0] == 0.0, "{seed}: {rest}, {logarithms:?}");
            let inner = |logarithms: &[f64]| terms.list.iter().map(|term| weight(logarithms, term)).sum::<f64>();
            assert!((inner(&logarithms) - inner(&vec![0.0; count])).abs() < 1e-12, "{seed}: circles keep their terms");
            let whole: f64 = all.iter().map(|term| weight(&logarithms, term)).sum();
            assert!((whole - inner(&logarithms) - rest).abs() < 1e-12);
            for (node, logarithm) in logarithms.iter().enumerate() {
                match ways.tendency(node) {
                    None | Some(Tendency::Any) => assert_eq!(*logarithm, 0.0, "{seed}: {node}"),
                    Some(Tendency::Shrinks) => assert!(*logarithm <= 0.0 && reached[node][0]),
                    Some(Tendency::Grows) => assert!(!reached[node][0]),
                }
                seen[0] += usize::from(ways.tendency(node) == Some(Tendency::Shrinks));
                seen[1] += usize::from(ways.tendency(node) == Some(Tendency::Grows));
                seen[2] += usize::from(ways.tendency(node) == Some(Tendency::Any));
            }
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
    }
}
