//! What is said of a match that names and shapes alone do not tell.

use std::collections::HashMap;

use super::matching::Matching;
use super::modules::{Kind, Module};
use super::partners::without_numbers;
use super::{first_of, natural, proposal, slots};
use crate::error::{Result, ensure};
use crate::network::Source;

/// Why factors and shifts without statistics may be no scale.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// They have other names than isoflat gives.
    Foreign,
    /// Or a number, which others give too, in a file that does not say that isoflat wrote it.
    Unsure,
}

/// The layers of arrays without names behind which there are four rows, taken for γ, β, mean and variance.
pub(super) fn four_rows<'a>(modules: &'a [Module<'a>]) -> impl Iterator<Item = usize> {
    (1..modules.len()).map(|n| n - 1).filter(|&m| {
        let (layer, norm) = (&modules[m], &modules[m + 1]);
        let is_nameless = |module: &Module| module.weight().is_some_and(|(name, _)| name == module.name);
        matches!(layer.kind, Kind::Affine { bias: None, .. })
            && matches!(norm.kind, Kind::Norm { .. })
            && [layer, norm].into_iter().all(is_nameless)
    })
}

impl Matching<'_> {
    /// Layers with four rows of which the network does not say that they have no bias.
    ///
    /// # Errors
    /// `InvalidNetwork` where it says that they have one, and a scale besides.
    pub fn open_rows(&self) -> Result<Vec<String>> {
        let mut open = Vec::new();
        for m in four_rows(self.modules) {
            let name = &self.modules[m].name;
            let Some(l) = self.chosen.iter().position(|&chosen| chosen == Some(m)) else { continue };
            let place = &self.layers()[l];
            let reads = |at: usize| self.network.layout().sources(at) == [Source::Layer(place.layer)];
            let is_behind = |other: &usize| self.chosen[*other] == Some(m + 1) && reads(self.layers()[*other].layer);
            if !(0..self.chosen.len()).any(|other| is_behind(&other)) {
                // Folded into the layer, a normalisation gives it a bias.
                open.push(name.clone());
                continue;
            }
            ensure!(
                place.bias.is_none(),
                InvalidNetwork,
                "{} has a bias and a scale behind it, but {name} has four rows, which are γ, β, mean and variance, or a bias and three \
                 without γ or β: name the arrays (layer.kernel, layer.bias, norm.gamma and so on), or let the layer have no bias where \
                 it is the first",
                self.network.title(place.layer)
            );
        }
        Ok(open)
    }

    /// Says which layers of one shape a file has by alphabet alone, where the names that were gone by are not the network's.
    pub fn by_alphabet(&self) -> Option<String> {
        let affine = self.modules.iter().filter(|module| module.width().is_none());
        if !affine.map(|module| &module.name).is_sorted_by(|a, b| natural(a, b).is_le()) {
            return None;
        }
        let mut alike: HashMap<(Vec<usize>, &[usize]), Vec<usize>> = HashMap::new();
        for (l, m) in self.chosen.iter().enumerate() {
            let Some(module) = m.map(|m| &self.modules[m]).filter(|module| self.name(l) != Some(&module.name)) else {
                continue;
            };
            if let (Kind::Affine { weight, .. }, Some(m)) = (&module.kind, *m) {
                let shape = slots::shape(self.layer(l), &self.layers()[l]);
                alike.entry((shape, weight.1.shape())).or_default().push(m);
            }
        }
        let is_open = |alike: &&Vec<usize>| {
            let mut stems = alike.iter().map(|&m| without_numbers(&self.modules[m].name));
            stems.next().is_some_and(|first| stems.any(|other| other != first))
        };
        let mut open: Vec<usize> = alike.values().filter(is_open).flatten().copied().collect();
        open.sort_unstable();
        let names: Vec<&str> = open.iter().map(|&m| self.modules[m].name.as_str()).collect();
        (!names.is_empty()).then(|| proposal::untold(&names))
    }

    /// What was taken for scales and may be no such thing: a group normalisation has the same weights. The first and how many others.
    pub fn scales_of(&self, least: Doubt) -> Option<String> {
        let is_doubtful = |(l, m): (usize, &Option<usize>)| {
            let module = &self.modules[(*m)?];
            if !matches!(module.kind, Kind::Scale { .. }) {
                return None;
            }
            let is_own = self.name(l) == Some(&module.name);
            let is_numbered = !is_own && module.name == self.layers()[l].layer.to_string();
            let is_known = is_own || is_numbered && (self.is_own || least == Doubt::Foreign);
            (!is_known).then_some(module.name.as_str())
        };
        let names: Vec<&str> = self.chosen.iter().enumerate().filter_map(is_doubtful).collect();
        first_of(&names)
    }

    /// Says where normalisations were put that the network has no scales for, and behind which of their layers a list has something
    /// else first: behind an activation a normalisation is another function.
    pub fn placed(&self) -> Option<String> {
        let pairs = self.chosen.iter().zip(&self.behind);
        let names = |(layer, norm): (&Option<usize>, &Option<usize>)| {
            Some([(*layer)?, (*norm)?].map(|m| self.modules[m].name.as_str()))
        };
        let placed: Vec<[&str; 2]> = pairs.filter_map(names).collect();
        let apart = placed.iter().filter(|names| match names.map(in_list) {
            [Some((list, before)), Some((same, at))] => list == same && at > before.saturating_add(1),
            _ => false,
        });
        let apart: Vec<String> = apart.map(|[layer, norm]| format!("{layer} and {norm}")).collect();
        let unless = match apart.is_empty() {
            true => String::new(),
            false => format!(
                ", though something is between {}: if it is the activation, give the network a scale behind it",
                apart.join(", ")
            ),
        };
        (!placed.is_empty())
            .then(|| format!("normalisations are taken to stand right behind their layers, before activations{unless}"))
    }

    /// Says of normalisations of which only a count tells where they stand that they would fit elsewhere too: of the first, if any.
    pub fn counted_apart(&self) -> Option<String> {
        let (partners, bare) = (self.partners(), self.bare());
        let other = |l: usize| {
            let [layer, norm] = [self.chosen[l]?, self.behind[l].filter(|_| !self.is_neighbour[l])?];
            let other = partners.other_place(layer, norm, &bare)?;
            let names = [norm, layer, other].map(|m| self.modules[m].name.as_str());
            Some((names, partners.is_counted_apart(norm)))
        };
        let ([norm, layer, other], is_apart) = (0..self.chosen.len()).find_map(other)?;
        let why = match is_apart {
            true => "Flax and Keras count normalisations apart from layers",
            false => "normalisations may be counted apart from layers",
        };
        Some(format!(
            "{why}: {norm} is taken to stand behind {layer}, and nothing says that it does not behind {other}: a network with scales does"
        ))
    }

    /// Says of the first normalisation that was put behind a layer which follows it in a file that has an order.
    pub fn ahead_in_file(&self) -> Option<String> {
        let partners = self.partners();
        let pairs = self.chosen.iter().zip(&self.behind).filter_map(|(m, n)| Some(((*m)?, (*n)?)));
        let mut ahead = pairs.filter(|&(m, n)| {
            n < m && partners.parent(n) == partners.parent(m) && partners.has_order(partners.parent(n))
        });
        let (m, n) = ahead.next()?;
        Some(format!(
            "{} is taken to stand behind {}, though the file has it before: if it normalises what that layer reads, give the network a \
             scale there",
            self.modules[n].name, self.modules[m].name
        ))
    }
}

/// `features.3` as the fourth of the list `features`.
fn in_list(name: &str) -> Option<(&str, usize)> {
    let (list, place) = name.rsplit_once(['.', '/']).unwrap_or(("", name));
    Some((list, place.parse().ok()?))
}
