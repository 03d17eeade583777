//! What the order of a file tells of its normalisations, where the numbers in their names do not tell it or tell something else: which
//! layer one stands behind, and that the first of a list is the first of the network.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::matching::Matching;
use super::modules::Kind;
use super::partners::{Partners, Side};
use super::proposal;
use crate::error::{Result, bail};

/// What stands next to the layers with parameters of a network, through activations and pools.
pub(super) struct Beside {
    /// The layer that one reads.
    pub origins: Vec<Option<usize>>,
    /// The dense layers and convolutions that read one.
    pub readers: HashMap<usize, Vec<usize>>,
}

/// Scales whose normalisations could be exchanged: these are of one part of the file and have one width.
struct Group {
    /// What the part of the file is called.
    list: String,
    scales: Vec<usize>,
    /// All that they could have, in the file's order.
    norms: Vec<usize>,
    /// Does the file have an order of its own there, and not the alphabet's?
    has_order: bool,
}

/// How an order tells which normalisation is which scale's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Each stands right behind its layer in the file.
    Neighbours,
    /// The first is the first scale's.
    Count,
}

impl<'a> Matching<'a> {
    /// Exchanges the normalisations that scales have where the file's order tells them better than what they were chosen by.
    ///
    /// # Errors
    /// `InvalidNetwork` where numbers contradict each other, and the order does not tell it either.
    pub fn settle_scales(
        &mut self,
        partners: &Partners<'a>,
        side: impl Fn(usize) -> Side,
        beside: &Beside,
    ) -> Result<()> {
        let groups = self.groups(partners);
        // Numbers that contradict each other are believed nowhere in that part of the file.
        let mut contradictions: HashMap<&str, [usize; 2]> = HashMap::new();
        for group in &groups {
            if let Some(contradiction) = self.contradiction(group, partners, &side, beside) {
                contradictions.entry(&group.list).or_insert(contradiction);
            }
        }
        for group in &groups {
            let contradiction = contradictions.get(&*group.list).copied();
            self.settle(group, contradiction, partners, &side, beside)?;
        }
        Ok(())
    }

    /// The layers whose numbers the normalisation of a scale may have.
    fn numbered(&self, l: usize, side: &impl Fn(usize) -> Side, beside: &Beside) -> Vec<usize> {
        let module = |l: usize| self.chosen[l].filter(|_| !self.is_scale(l));
        let read_by = beside.readers.get(&l).into_iter().flatten().filter_map(|&reader| module(reader));
        let ahead = read_by.filter(|&m| side(m) == Side::Ahead);
        let behind = beside.origins[l].and_then(module).filter(|&m| side(m) != Side::Ahead);
        ahead.chain(behind).collect()
    }

    /// A layer and the normalisation of its scale that have different numbers.
    fn contradiction(
        &self,
        group: &Group,
        partners: &Partners<'a>,
        side: &impl Fn(usize) -> Side,
        beside: &Beside,
    ) -> Option<[usize; 2]> {
        let of = |&l: &usize| {
            let n = self.chosen[l]?;
            let layers = self.numbered(l, side, beside);
            layers.into_iter().find(|&m| partners.disagree(m, n)).map(|m| [m, n])
        };
        group.scales.iter().find_map(of)
    }

    /// Those among which there is a choice; names that the network gives leave none.
    fn groups(&self, partners: &Partners<'a>) -> Vec<Group> {
        let mut fixed = HashSet::new();
        let mut scales: BTreeMap<(String, usize), Vec<usize>> = BTreeMap::new();
        for l in (0..self.chosen.len()).filter(|&l| self.is_scale(l)) {
            let Some(n) = self.chosen[l] else { continue };
            if self.name(l) == Some(&self.modules[n].name) {
                fixed.insert(n);
            } else {
                scales.entry((partners.list(n), self.layers()[l].outputs)).or_default().push(l);
            }
        }
        let group = |((list, width), scales): ((String, usize), Vec<usize>)| {
            let is_of =
                |&n: &usize| self.modules[n].width() == Some(width) && !fixed.contains(&n) && partners.list(n) == list;
            let norms: Vec<usize> = (0..self.modules.len()).filter(is_of).collect();
            let has_order = norms.first().is_some_and(|&n| partners.has_order(partners.parent(n)));
            (norms.len() > 1).then_some(Group { list, scales, norms, has_order })
        };
        scales.into_iter().filter_map(group).collect()
    }

    fn settle(
        &mut self,
        group: &Group,
        contradiction: Option<[usize; 2]>,
        partners: &Partners<'a>,
        side: &impl Fn(usize) -> Side,
        beside: &Beside,
    ) -> Result<()> {
        let Group { scales, norms, has_order, .. } = group;
        let chosen: Vec<usize> = scales.iter().filter_map(|&l| self.chosen[l]).collect();
        let is_by_name = |(&l, &n): (&usize, &usize)| {
            let layers = self.numbered(l, side, beside);
            layers.into_iter().any(|m| side(m) != Side::Apart && partners.numbered(m).any(|own| own == n))
        };
        let names = |all: &[usize]| -> Vec<&str> { all.iter().map(|&m| self.modules[m].name.as_str()).collect() };
        let Some((told, by)) = self.told(group, partners, beside) else {
            if let Some([m, n]) = contradiction {
                let [norm, layer] = [n, m].map(|m| &self.modules[m].name);
                bail!(
                    InvalidNetwork,
                    "nothing tells which scales {} are: {layer} would have {norm}, against their numbers; give the network's scales the \
                     names that the normalisations have in the file",
                    names(norms).join(", ")
                )
            }
            if !has_order
                && scales.len() > 1
                && !scales.iter().zip(&chosen).any(is_by_name)
                && !partners.are_counted(norms)
            {
                self.doubts.push(proposal::untold(&names(norms)));
            }
            return Ok(());
        };
        // Numbers that do not contradict each other and still tell something else.
        let differs = |at: &usize| told[*at] != chosen[*at] && is_by_name((&scales[*at], &chosen[*at]));
        let doubt = (0..scales.len()).find(differs).filter(|_| contradiction.is_none());
        if let Some(at) = doubt {
            let is_order = by == Told::Neighbours;
            let [taken, other] = if is_order { [told[at], chosen[at]] } else { [chosen[at], told[at]] };
            self.doubts.push(format!(
                "numbers and the file's order tell different things of normalisations: {} is taken to be {}, and may be {}; give the \
                 network's scales the names that they have in the file",
                self.network.title(self.layers()[scales[at]].layer),
                self.modules[taken].name,
                self.modules[other].name
            ));
            if !is_order {
                return Ok(());
            }
        }
        self.exchange(scales, &told);
        Ok(())
    }

    /// The normalisations of a group's scales as the file's order tells them, where it does.
    fn told(&self, group: &Group, partners: &Partners<'a>, beside: &Beside) -> Option<(Vec<usize>, Told)> {
        let Group { scales, norms, has_order, .. } = group;
        let origin = |l: usize| beside.origins[l].filter(|&l| !self.is_scale(l)).and_then(|l| self.chosen[l]);
        let neighbour = |&l: &usize| {
            let m = origin(l)?;
            let n = m + 1;
            (norms.contains(&n) && partners.parent(m) == partners.parent(n)).then_some(n)
        };
        let neighbours: Option<Vec<usize>> = scales.iter().map(neighbour).collect();
        if let Some(neighbours) =
            neighbours.filter(|all| *has_order && all.iter().collect::<HashSet<_>>().len() == all.len())
        {
            return Some((neighbours, Told::Neighbours));
        }
        // Where the layers are in another order than the network's, normalisations are too.
        let reader = |l: usize| beside.readers.get(&l)?.iter().find_map(|&reader| self.chosen[reader]);
        let layers = scales.iter().filter_map(|&l| origin(l).or_else(|| reader(l)));
        let is_counted = if partners.are_of_one_stem(norms) { partners.are_counted(norms) } else { *has_order };
        (scales.len() == norms.len() && is_counted && layers.is_sorted()).then(|| (norms.clone(), Told::Count))
    }

    fn exchange(&mut self, scales: &[usize], norms: &[usize]) {
        for &l in scales {
            if let Some(old) = self.chosen[l] {
                self.taken[old] = false;
            }
        }
        for (&l, &n) in scales.iter().zip(norms) {
            self.take(l, n);
        }
    }

    /// Puts the normalisations that no scale has behind the layers that they follow in the file, in those parts of it where all of them
    /// follow one that has none.
    pub fn place_neighbours(&mut self, partners: &Partners<'a>) {
        let layer_of: HashMap<usize, usize> =
            (0..self.chosen.len()).filter_map(|l| Some((self.chosen[l]?, l))).collect();
        let mut parents: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (n, module) in self.modules.iter().enumerate() {
            if matches!(module.kind, Kind::Norm { .. }) && !self.taken[n] {
                parents.entry(partners.parent(n)).or_default().push(n);
            }
        }
        for (parent, norms) in parents {
            let layer = |&n: &usize| {
                let m = n.checked_sub(1).filter(|&m| partners.parent(m) == parent)?;
                let l = *layer_of.get(&m)?;
                let is_behind = !self.is_scale(l) && self.modules[n].width() == Some(self.layers()[l].outputs);
                is_behind.then_some(l)
            };
            let Some(layers) = norms.iter().map(layer).collect::<Option<Vec<usize>>>() else { continue };
            if !partners.has_order(parent) {
                continue;
            }
            for (&l, &n) in layers.iter().zip(&norms) {
                self.behind[l] = Some(n);
                self.taken[n] = true;
                self.is_neighbour[l] = true;
            }
            self.doubts.extend(self.against_numbers(partners, &layers));
        }
    }

    /// Says of the first normalisation that stands behind one layer in the file and has the number of another, which has none.
    fn against_numbers(&self, partners: &Partners<'a>, layers: &[usize]) -> Option<String> {
        let bare = self.bare();
        let doubt = |&l: &usize| {
            let [m, n] = [self.chosen[l]?, self.behind[l]?];
            let has_number = |other: usize| partners.numbered(other).any(|own| own == n);
            let fits = |&other: &usize| partners.gives(other) == partners.gives(m) && has_number(other);
            let other = bare.iter().copied().find(fits)?;
            Some([n, m, other].map(|m| self.modules[m].name.as_str()))
        };
        let [norm, layer, other] = layers.iter().find_map(doubt)?;
        Some(format!(
            "{norm} is taken to stand behind {layer}, as in the file, though {other} has its number and no normalisation: a network with \
             scales tells it"
        ))
    }

    /// The modules of dense layers and convolutions behind which there is no normalisation and no scale.
    pub fn bare(&self) -> Vec<usize> {
        let of_layer = self.of_layer();
        let scales = (0..self.chosen.len()).filter(|&l| self.is_scale(l));
        let scaled: HashSet<usize> = scales.filter_map(|l| self.origin(l, &of_layer)).collect();
        let is_bare = |&l: &usize| !self.is_scale(l) && self.behind[l].is_none() && !scaled.contains(&l);
        (0..self.chosen.len()).filter(is_bare).filter_map(|l| self.chosen[l]).collect()
    }

    /// The one layer behind which a normalisation can stand by its width, which no other layer and no other normalisation has.
    pub fn only_place(&self, partners: &Partners<'a>, n: usize) -> Option<usize> {
        let width = self.modules[n].width();
        // One over the inputs has no layer before it.
        let input = self.network.input();
        let is_of_inputs = width == input.first().copied() || width == Some(input.iter().product());
        let is_only = self.modules.iter().filter(|module| module.width() == width).count() == 1;
        let mut layers = (0..self.chosen.len()).filter(|&l| Some(self.layers()[l].outputs) == width);
        let [Some(l), None] = [layers.next(), layers.next()] else { return None };
        let m = self.chosen[l].filter(|m| self.bare().contains(m))?;
        let is_behind = !partners.has_order(partners.parent(n)) || m < n;
        (is_only && is_behind && !is_of_inputs && partners.parent(m) == partners.parent(n)).then_some(l)
    }
}
