//! What a permutation of nodes does to the rows and columns of every layer, and whether it is a symmetry of the wiring.
//!
//! Rows follow their nodes. From there the order of every tensor follows, layer by layer: with it each tensor holds what it held
//! before, in another order, if all that `add` puts together comes in one order, and the rows of every group go with what the group
//! reads. The outputs keep theirs, since their nodes are fixed.

use super::nodes::{Nodes, positions};
use super::row_of;
use crate::error::{Result, bail};
use crate::memory::{collected, room};
use crate::network::{Layer, Network, ParametricLayer, Source};
use crate::sorting::sort_by_key;

const WHAT: &str = "a permutation";

/// Where every row and every unit that comes in was before: new unit i is old unit `order[i]`.
pub(super) struct Moves {
    /// Orders of what goes between layers; several tensors may share one.
    orders: Vec<Vec<u32>>,
    /// Of every layer with parameters those of its rows, and of the units or channels that come in.
    layers: Vec<(usize, usize)>,
}

impl Moves {
    /// Of the permutation that puts node `moved[i]` in node i's place.
    ///
    /// # Errors
    /// `InvalidTransformation` where it is no symmetry; `TooLarge`.
    pub fn of(network: &Network, nodes: &Nodes, moved: &[u32]) -> Result<Self> {
        let input = network.layout().tensor(Source::Input).shape.channels as u32;
        let moves = Self { orders: vec![collected(WHAT, 0..input)?], layers: Vec::new() };
        let mut walk = Walk { network, nodes, moved, moves, given: Vec::new() };
        for i in 0..network.named_layers().len() {
            walk.pass(i)?;
        }
        Ok(walk.moves)
    }

    /// The order of a layer's rows.
    pub fn rows(&self, layer: usize) -> &[u32] {
        &self.orders[self.layers[layer].0]
    }

    /// The order of the units or channels that come in.
    pub fn units(&self, layer: usize) -> &[u32] {
        &self.orders[self.layers[layer].1]
    }
}

struct Walk<'a> {
    network: &'a Network,
    nodes: &'a Nodes,
    moved: &'a [u32],
    moves: Moves,
    /// The order of what each layer gives.
    given: Vec<usize>,
}

impl Walk<'_> {
    fn add(&mut self, order: Vec<u32>) -> usize {
        self.moves.orders.push(order);
        self.moves.orders.len() - 1
    }

    /// Layer i.
    fn pass(&mut self, i: usize) -> Result<()> {
        let layout = self.network.layout();
        let sources = layout.sources(i);
        let first = self.given_by(sources[0]);
        let channels = layout.tensor(Source::Layer(i)).shape.channels;
        let order = match *self.network.layer(i) {
            ref layer if layer.is_parametric() => {
                let units = if matches!(layer, Layer::Scale { .. }) { self.apart(i, sources[0])? } else { first };
                let l = self.moves.layers.len();
                let rows = self.rows(l)?;
                self.check_groups(&layout.layers()[l], &rows, units)?;
                let rows = self.add(rows);
                self.moves.layers.push((rows, units));
                rows
            }
            Layer::Add => {
                let order = self.apart(i, sources[0])?;
                for &source in &sources[1..] {
                    let other = self.apart(i, source)?;
                    self.check_sum(i, order, other)?;
                }
                order
            }
            Layer::Concat => {
                let mut all = room(WHAT, channels)?;
                for &source in sources {
                    let (order, start) = (self.apart(i, source)?, all.len() as u32);
                    all.extend(self.moves.orders[order].iter().map(|&from| start + from));
                }
                self.add(all)
            }
            Layer::PadChannels { before, .. } => {
                let mut all = collected(WHAT, 0..channels as u32)?;
                let order = self.apart(i, sources[0])?;
                let order = &self.moves.orders[order];
                all[before..].iter_mut().zip(order).for_each(|(place, &from)| *place = before as u32 + from);
                self.add(all)
            }
            _ => first,
        };
        self.given.push(order);
        Ok(())
    }

    fn given_by(&self, source: Source) -> usize {
        match source {
            Source::Input => 0,
            Source::Layer(i) => self.given[i],
        }
    }

    /// The order of what layer i reads there as it reads it: of a flattened image, whose features it tells apart, all of them.
    fn apart(&mut self, i: usize, source: Source) -> Result<usize> {
        let order = self.given_by(source);
        let repeated = positions(self.network, i, source) as u32;
        if repeated == 1 {
            return Ok(order);
        }
        let order = &self.moves.orders[order];
        let mut all = room(WHAT, order.len() * repeated as usize)?;
        order.iter().for_each(|&from| all.extend(from * repeated..(from + 1) * repeated));
        Ok(self.add(all))
    }

    /// The order of a layer's rows: a row comes from where the node is that takes its node's place; of several such rows, from the one that
    /// is as far down among them.
    fn rows(&self, l: usize) -> Result<Vec<u32>> {
        let rows = self.nodes.rows(l);
        let mut by_node = collected(WHAT, 0..rows.len() as u32)?;
        sort_by_key(&mut by_node, |&row| rows[row as usize]);
        let node_of = |place: usize| by_node.get(place).map(|&row: &u32| rows[row as usize]);
        let mut order = collected(WHAT, 0..rows.len() as u32)?;
        let mut start = 0;
        while let Some(node) = node_of(start) {
            let end = start + by_node[start..].partition_point(|&row| rows[row as usize] == node);
            let from = self.moved[node as usize];
            let first = by_node.partition_point(|&row| rows[row as usize] < from);
            if node_of(first + end - start - 1) != Some(from) || node_of(first + end - start) == Some(from) {
                let layer = &self.network.layout().layers()[l];
                bail!(
                    InvalidTransformation,
                    "the permutation puts {} in the place of {}, but not both are written by {}: the outputs would change",
                    self.nodes.title(self.network, from),
                    self.nodes.title(self.network, node),
                    self.network.title(layer.layer)
                );
            }
            for (&to, &from) in by_node[start..end].iter().zip(&by_node[first..]) {
                order[to as usize] = from;
            }
            start = end;
        }
        Ok(order)
    }

    /// Fails unless the rows of each group come from one group, and what it reads from what that one reads.
    fn check_groups(&self, layer: &ParametricLayer, rows: &[u32], units: usize) -> Result<()> {
        let units = &self.moves.orders[units];
        let (rows_each, units_each) = (layer.outputs / layer.groups, units.len() / layer.groups);
        for (rows, units) in rows.chunks_exact(rows_each).zip(units.chunks_exact(units_each)) {
            let group = units[0] as usize / units_each;
            let stray = units.iter().any(|&unit| unit as usize / units_each != group);
            if stray || rows.iter().any(|&row| row as usize / rows_each != group) {
                bail!(
                    InvalidTransformation,
                    "the permutation moves the {}s of {} otherwise than what they read, but those of a group go with what the group \
                     reads: the outputs would change",
                    row_of(self.network, layer),
                    self.network.title(layer.layer)
                );
            }
        }
        Ok(())
    }

    /// Fails unless two orders that meet are one.
    fn check_sum(&self, i: usize, one: usize, other: usize) -> Result<()> {
        if one != other && self.moves.orders[one] != self.moves.orders[other] {
            bail!(
                InvalidTransformation,
                "the permutation moves what {} adds up in different ways: the outputs would change",
                self.network.title(i)
            );
        }
        Ok(())
    }
}
