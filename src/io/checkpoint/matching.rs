//! Which layer of a network has which of a file's weights: by shape, in order among equals, and by name where both have names.

use std::collections::{HashMap, HashSet};

use super::doubts::Doubt;
use super::modules::{Kind, Module, Named, Order};
use super::order::Beside;
use super::partners::{Partners, Side};
use super::slots;
use crate::error::{Result, bail};
use crate::io::{BatchNormNode, Graph, GraphNode, Operation, Slot};
use crate::network::{Layer, Network, ParametricLayer, Source};

/// PyTorch's and Flax' ε is not Keras', and weights do not tell: Keras' is taken where they are in its order, and have not Flax' names.
const EPSILON: [f64; 2] = [1e-5, 1e-3];

/// Of the parts of a file, by what their names begin with.
type Sides<'a> = HashMap<&'a str, Side>;

/// The modules of every layer with parameters, and of every layer behind which a normalisation is to stand.
pub(super) struct Matching<'a> {
    pub network: &'a Network,
    pub modules: &'a [Module<'a>],
    /// Did isoflat give the modules their names?
    pub is_own: bool,
    /// Of each layer with parameters.
    pub chosen: Vec<Option<usize>>,
    /// Of each layer with parameters, the normalisation behind it.
    pub behind: Vec<Option<usize>>,
    /// Of each layer with parameters: was that told by the order of the file?
    pub is_neighbour: Vec<bool>,
    pub taken: Vec<bool>,
    /// What names and the file's order leave open, a sentence each.
    pub doubts: Vec<String>,
}

/// A network with the weights of these modules.
pub(super) struct Matched {
    pub graph: Graph,
    /// What was taken for scales though neither statistics nor the network's own names say so: the first and how many others.
    pub doubtful: Option<String>,
    /// A sentence about layers that the alphabet alone has in an order, if any.
    pub by_alphabet: Option<String>,
    /// Layers with four rows of which nothing says that they are no bias and three of a normalisation.
    pub open_rows: Vec<String>,
}

/// A network with the weights of these modules, which isoflat named or others.
///
/// # Errors
/// `InvalidNetwork` where they are not those of the network.
pub(super) fn matched(network: &Network, modules: &[Module], is_own: bool) -> Result<Matched> {
    let count = network.layout().layers().len();
    let (chosen, behind, taken) = (vec![None; count], vec![None; count], vec![false; modules.len()]);
    let (is_neighbour, doubts) = (vec![false; count], Vec::new());
    let mut matching = Matching { network, modules, is_own, chosen, behind, is_neighbour, taken, doubts };
    matching.choose_affine()?;
    let sides = matching.choose_scales()?;
    matching.place_norms(&sides)?;
    let (doubtful, by_alphabet, open_rows) =
        (matching.scales_of(Doubt::Foreign), matching.by_alphabet(), matching.open_rows()?);
    Ok(Matched { graph: matching.into_graph()?, doubtful, by_alphabet, open_rows })
}

impl Matched {
    /// The graph, which says so where only the alphabet had layers in an order.
    pub fn with_order(mut self) -> Graph {
        self.graph.notes.extend(self.by_alphabet);
        self.graph
    }
}

impl<'a> Matching<'a> {
    pub fn layers(&self) -> &'a [ParametricLayer] {
        self.network.layout().layers()
    }

    pub fn layer(&self, l: usize) -> &'a Layer {
        self.network.layer(self.layers()[l].layer)
    }

    pub fn name(&self, l: usize) -> Option<&'a str> {
        self.network.named_layers()[self.layers()[l].layer].name.as_deref()
    }

    pub fn take(&mut self, l: usize, m: usize) {
        self.chosen[l] = Some(m);
        self.taken[m] = true;
    }

    /// Dense layers and convolutions: those of the same name first, then of the same shape in their order.
    fn choose_affine(&mut self) -> Result<()> {
        let affine: Vec<usize> =
            (0..self.chosen.len()).filter(|&l| !matches!(self.layer(l), Layer::Scale { .. })).collect();
        for by_name in [true, false] {
            for &l in &affine {
                if self.chosen[l].is_some() {
                    continue;
                }
                let place = &self.layers()[l];
                let fits = |m: &usize| {
                    let module = &self.modules[*m];
                    !self.taken[*m]
                        && (!by_name || self.name(l) == Some(&module.name))
                        && slots::fits(module, self.layer(l), place)
                };
                if let Some(m) = (0..self.modules.len()).find(fits) {
                    self.take(l, m);
                }
            }
        }
        if let Some(&l) = affine.iter().find(|&&l| self.chosen[l].is_none()) {
            let place = &self.layers()[l];
            let shape = slots::shape(self.layer(l), place);
            bail!(
                InvalidNetwork,
                "{} has weights of {shape:?}, which the file has not, or not so often: it has {}",
                self.network.title(place.layer),
                listed(self.modules)
            );
        }
        let left = self.modules.iter().zip(&self.taken).find(|(module, taken)| !**taken && module.width().is_none());
        if let Some((module, _)) = left {
            bail!(
                InvalidNetwork,
                "the file has {}, for which the network has no layer: it has {}",
                module.described(),
                self.network.summary()
            );
        }
        Ok(())
    }

    /// The layers with parameters by their place in the network.
    pub fn of_layer(&self) -> HashMap<usize, usize> {
        self.layers().iter().enumerate().map(|(l, place)| (place.layer, l)).collect()
    }

    /// The layer with parameters whose outputs another one reads, through activations and pools, and not through a sum.
    pub fn origin(&self, l: usize, of_layer: &HashMap<usize, usize>) -> Option<usize> {
        let mut at = self.layers()[l].layer;
        loop {
            let [Source::Layer(i)] = self.network.layout().sources(at) else { return None };
            if let Some(&found) = of_layer.get(i) {
                return Some(found);
            }
            at = *i;
        }
    }

    /// The layers with parameters that one reads: scales, and behind these and everything else the first dense layer or convolution, with no
    /// more than one sum on each way.
    fn before(&self, l: usize, of_layer: &HashMap<usize, usize>) -> Vec<usize> {
        let mut found = Vec::new();
        let mut ways = vec![(self.layers()[l].layer, 1)];
        while let Some((at, sums)) = ways.pop() {
            let sources = self.network.layout().sources(at);
            let Some(sums) = (if sources.len() > 1 { usize::checked_sub(sums, 1) } else { Some(sums) }) else {
                continue;
            };
            for source in sources {
                let Source::Layer(i) = source else { continue };
                let origin = of_layer.get(i).copied();
                found.extend(origin);
                if origin.is_none_or(|origin| self.is_scale(origin)) {
                    ways.push((*i, sums));
                }
            }
        }
        found
    }

    /// The names of the modules, and what the layers give that were chosen.
    pub fn partners(&self) -> Partners<'a> {
        let mut outputs = vec![None; self.modules.len()];
        for (place, m) in self.layers().iter().zip(&self.chosen) {
            if let Some(m) = m {
                outputs[*m] = Some(place.outputs);
            }
        }
        Partners::new(self.modules, outputs)
    }

    pub fn is_scale(&self, l: usize) -> bool {
        matches!(self.layer(l), Layer::Scale { .. })
    }

    /// Scales: of the same name, then the partner of the layer that they read or are read by, then the first of those beside the next layers
    /// before and behind them, then in order; and where the file's order tells it better, by that.
    fn choose_scales(&mut self) -> Result<Sides<'a>> {
        let scales: Vec<usize> = (0..self.chosen.len()).filter(|&l| self.is_scale(l)).collect();
        let of_layer = self.of_layer();
        let origins: Vec<Option<usize>> = (0..self.chosen.len()).map(|l| self.origin(l, &of_layer)).collect();
        let mut readers: HashMap<usize, Vec<usize>> = HashMap::new();
        for (l, origin) in origins.iter().enumerate().filter(|(l, _)| !self.is_scale(*l)) {
            origin.iter().for_each(|origin| readers.entry(*origin).or_default().push(l));
        }
        let partners = self.partners();
        let sides = self.sides(&partners, &scales, &origins)?;
        let side = |m: usize| sides.get(partners.parent(m)).copied().unwrap_or(Side::Behind);
        // Of each scale the layers next to it, with nothing but scales, activations, pools and a sum between.
        let mut beside: Vec<Vec<usize>> = vec![Vec::new(); self.chosen.len()];
        for l in 0..self.chosen.len() {
            for before in self.before(l, &of_layer) {
                match [self.is_scale(before), self.is_scale(l)] {
                    [true, false] => beside[before].push(l),
                    [false, true] => beside[l].push(before),
                    _ => {}
                }
            }
        }
        for pass in 0..4 {
            for &l in &scales {
                if self.chosen[l].is_some() {
                    continue;
                }
                let width = Some(self.layers()[l].outputs);
                let free = |m: usize| !self.taken[m] && self.modules[m].width() == width;
                // Of scales, normalisations are nobody's partners.
                let of = |l: usize| self.chosen[l].filter(|_| !self.is_scale(l));
                let read_by = || readers.get(&l).into_iter().flatten().filter_map(|&reader| of(reader));
                let reads = || origins[l].and_then(of);
                let found = match pass {
                    0 => (0..self.modules.len()).find(|&m| free(m) && self.name(l) == Some(&self.modules[m].name)),
                    1 => {
                        let ahead = read_by().filter(|&m| side(m) == Side::Ahead);
                        let ahead = ahead.flat_map(|m| partners.numbered(m)).find(|&n| free(n));
                        let behind = || reads().filter(|&m| side(m) != Side::Ahead);
                        ahead.or_else(|| behind().and_then(|m| partners.of(m, side(m), free)))
                    }
                    2 => {
                        let parents = beside[l].iter().filter_map(|&l| of(l)).map(|m| partners.parent(m));
                        let norms =
                            parents.filter(|parent| !parent.is_empty()).flat_map(|parent| partners.norms(parent));
                        norms.copied().filter(|&n| free(n)).min()
                    }
                    _ => (0..self.modules.len()).find(|&m| free(m)),
                };
                if let Some(m) = found {
                    self.take(l, m);
                }
            }
        }
        if let Some(&l) = scales.iter().find(|&&l| self.chosen[l].is_none()) {
            let place = &self.layers()[l];
            bail!(
                InvalidNetwork,
                "{} is over {} channels or features, for which the file has no normalisation: it has {}",
                self.network.title(place.layer),
                place.outputs,
                listed(self.modules)
            );
        }
        self.settle_scales(&partners, side, &Beside { origins, readers })?;
        Ok(sides)
    }

    /// In each part of the file, where in this network the scales are whose numbers layers have: blocks that normalise first have theirs
    /// ahead of their convolutions.
    ///
    /// # Errors
    /// `InvalidNetwork` where nothing tells it.
    fn sides(&self, partners: &Partners<'a>, scales: &[usize], origins: &[Option<usize>]) -> Result<Sides<'a>> {
        let of_module: HashMap<usize, usize> =
            self.chosen.iter().enumerate().filter_map(|(l, m)| Some(((*m)?, l))).collect();
        let mut behind: HashSet<(usize, usize)> = HashSet::new();
        for &l in scales {
            behind.extend(origins[l].map(|origin| (origin, self.layers()[l].outputs)));
        }
        let is_ahead = |l: usize, width: usize| {
            origins[l].is_some_and(|origin| self.is_scale(origin) && self.layers()[origin].outputs == width)
        };
        let norms = self.modules.iter().filter(|module| module.width().is_some()).count();
        let mut sides = Sides::new();
        for parent in partners.parents() {
            // A dense layer may have the number of a convolution, whose normalisation it is.
            let mut found: HashMap<usize, [bool; 2]> = HashMap::new();
            let mut are_all_ahead = true;
            for (n, m) in partners.pairs(parent) {
                if let (Some(&l), Some(width)) = (of_module.get(&m), self.modules[n].width()) {
                    let (at, is_ahead) = (found.entry(n).or_default(), is_ahead(l, width));
                    *at = [at[0] || behind.contains(&(l, width)), at[1] || is_ahead];
                    are_all_ahead &= is_ahead;
                }
            }
            if found.is_empty() {
                continue;
            }
            let [are_behind, are_ahead] = [0, 1].map(|side| found.values().all(|at| at[side]));
            let side = match (are_behind, are_ahead) {
                (true, true) if are_all_ahead => match partners.has_last(parent) {
                    Some(true) => Side::Ahead,
                    Some(false) => Side::Behind,
                    None => {
                        self.ensure_named(partners, parent)?;
                        Side::Behind
                    }
                },
                (true, _) => Side::Behind,
                (false, true) => Side::Ahead,
                // Some may be of layers that have no scale here, unless each has one.
                (false, false) if scales.len() == norms => Side::Apart,
                (false, false) => Side::Behind,
            };
            sides.insert(parent, side);
        }
        Ok(sides)
    }

    /// Fails unless the network's scales have the names of a parent's normalisations, of which nothing else tells where they stand.
    fn ensure_named(&self, partners: &Partners, parent: &str) -> Result<()> {
        let is_named = |n: usize| (0..self.chosen.len()).any(|l| self.name(l) == Some(&self.modules[n].name));
        let Some((n, m)) = partners.pairs(parent).find(|(n, _)| !is_named(*n)) else { return Ok(()) };
        bail!(
            InvalidNetwork,
            "nothing tells whether {} stands before {} or behind it: both fit, and beside them is a normalisation without such a number, \
             which is the first or the last; give the network's scales the names that the normalisations have in the file",
            self.modules[n].name,
            self.modules[m].name
        )
    }

    /// Normalisations that the network has no scales for stand behind the layers that they follow in the file, or whose partners they are,
    /// or which alone have their width.
    fn place_norms(&mut self, sides: &Sides<'a>) -> Result<()> {
        let partners = self.partners();
        let side = |m: usize| sides.get(partners.parent(m)).copied().unwrap_or(Side::Behind);
        let modules = self.modules;
        let is_norm = |m: usize| matches!(modules[m].kind, Kind::Norm { .. });
        self.place_neighbours(&partners);
        for l in (0..self.chosen.len()).filter(|&l| self.behind[l].is_none()).collect::<Vec<usize>>() {
            let width = Some(self.layers()[l].outputs);
            let accepts = |m: usize| !self.taken[m] && is_norm(m) && self.modules[m].width() == width;
            let layer = self.chosen[l].filter(|_| !self.is_scale(l));
            if let Some(m) = layer.and_then(|m| partners.of(m, side(m), accepts)) {
                self.behind[l] = Some(m);
                self.taken[m] = true;
            }
        }
        for n in (0..self.modules.len()).filter(|&n| is_norm(n)) {
            if self.taken[n] {
                continue;
            }
            if let Some(l) = self.only_place(&partners, n) {
                self.behind[l] = Some(n);
                self.taken[n] = true;
            }
        }
        match self.taken.iter().position(|taken| !taken) {
            None => Ok(()),
            Some(m) => {
                // Without statistics it may be what computes them for each sample, which no scale is.
                let unless = match self.modules[m].kind {
                    Kind::Scale { .. } => {
                        ", unless it is a layer, group or instance normalisation or a PReLU, which have such weights too and are not known"
                    }
                    _ => "",
                };
                bail!(
                    InvalidNetwork,
                    "the file has {}, and nothing says where in the network it stands: give it a scale there{unless}",
                    self.modules[m].described()
                )
            }
        }
    }

    fn into_graph(self) -> Result<Graph> {
        let mut graph = Graph { input: self.network.input().to_vec(), ..Graph::default() };
        let epsilon = EPSILON[usize::from(self.is_keras())];
        let mut l = 0;
        for (i, named) in self.network.named_layers().iter().enumerate() {
            let (mut name, from) = (named.name.clone(), named.from.clone());
            let place = self.layers().get(l).filter(|place| place.layer == i);
            let Some((place, module)) = place.and_then(|place| Some((place, &self.modules[self.chosen[l]?]))) else {
                let operation = Operation::Layer { layer: named.layer.clone(), weight: None, bias: None };
                graph.nodes.push(GraphNode { operation, name, from });
                continue;
            };
            let behind = self.behind[l].map(|m| &self.modules[m]);
            l += 1;
            let operation = match &module.kind {
                Kind::Norm { .. } => norm(module, epsilon, true)?,
                _ => affine(&named.layer, place, module, &mut graph.notes)?,
            };
            // Who reads the layer reads what is normalised.
            let own = if behind.is_some() { None } else { name.take() };
            graph.nodes.push(GraphNode { operation, name: own, from });
            if let Some(behind) = behind {
                graph.nodes.push(GraphNode { operation: norm(behind, epsilon, false)?, name, from: None });
            }
        }
        if self.modules.iter().any(|module| matches!(module.kind, Kind::Norm { .. })) {
            graph.notes.push(format!("batch normalisations are taken with ε = {epsilon:e}, which weights do not tell"));
        }
        if let Some(names) = self.scales_of(Doubt::Unsure) {
            graph.notes.push(format!(
                "{names} without statistics: taken for scales, w x + b; a layer, group or instance normalisation or a PReLU has such \
                 weights too, and is another function"
            ));
        }
        graph.notes.extend(self.placed());
        graph.notes.extend(self.counted_apart());
        graph.notes.extend(self.ahead_in_file());
        graph.notes.extend(self.doubts);
        Ok(graph)
    }

    fn is_keras(&self) -> bool {
        let is_last =
            |module: &Module| matches!(module.kind, Kind::Affine { order: Order::OutputsLast | Order::Depthwise, .. });
        let is_flax = |module: &Module| matches!(module.kind, Kind::Norm { variance: (name, _), .. } if name.rsplit(['.', '/']).next() == Some("var"));
        self.modules.iter().any(is_last) && !self.modules.iter().any(is_flax)
    }
}

fn listed(modules: &[Module]) -> String {
    const MOST: usize = 12;
    let mut words: Vec<String> = modules.iter().take(MOST).map(Module::described).collect();
    if modules.len() > MOST {
        words.push(format!("{} more", modules.len() - MOST));
    }
    words.join(", ")
}

fn affine(layer: &Layer, place: &ParametricLayer, module: &Module, notes: &mut Vec<String>) -> Result<Operation> {
    let mut layer = layer.clone();
    let (weight, bias) = match &module.kind {
        Kind::Affine { weight, bias, .. } => (slots::weight(*weight, module, &layer, place, notes)?, *bias),
        Kind::Scale { weight, bias } => (whole(*weight)?, *bias),
        Kind::Norm { .. } => bail!(InvalidNetwork, "{} is no layer by itself", module.described()),
    };
    if let Layer::Dense { bias: has, .. } | Layer::Scale { bias: has } = &mut layer {
        *has = bias.is_some();
    } else if let Layer::Conv2d(conv) = &mut layer {
        conv.bias = bias.is_some();
    }
    Ok(Operation::Layer { layer, weight: Some(weight), bias: bias.map(whole).transpose()? })
}

fn norm(module: &Module, epsilon: f64, is_scale: bool) -> Result<Operation> {
    let Kind::Norm { scale, shift, mean, variance } = &module.kind else {
        bail!(InvalidNetwork, "{} has no mean and variance", module.described())
    };
    Ok(Operation::BatchNorm(BatchNormNode {
        scale: scale.map(whole).transpose()?,
        shift: shift.map(whole).transpose()?,
        mean: whole(*mean)?,
        variance: whole(*variance)?,
        epsilon,
        is_scale,
    }))
}

fn whole((name, array): Named) -> Result<Slot> {
    Ok(Slot::whole(name, array.to_f64()?))
}
