//! Which layer of a network has which of a file's weights: by shape, in order among equals, and by name where both have names.

use std::collections::HashMap;

use super::modules::{Kind, Module, Named, Order};
use super::slots;
use crate::error::{Result, bail};
use crate::io::{BatchNormNode, Graph, GraphNode, Operation, Slot};
use crate::network::{Layer, Network, ParametricLayer, Source};

/// PyTorch's and Flax' ε is not Keras', and weights do not tell: Keras' is taken where they are in its order, and have not Flax' names.
const EPSILON: [f64; 2] = [1e-5, 1e-3];

/// The modules of every layer with parameters, and of every layer behind which a normalisation is to stand.
struct Matching<'a> {
    network: &'a Network,
    modules: &'a [Module<'a>],
    /// Of each layer with parameters.
    chosen: Vec<Option<usize>>,
    /// Of each layer with parameters, the normalisation behind it.
    behind: Vec<Option<usize>>,
    taken: Vec<bool>,
}

/// A network with the weights of these modules.
///
/// # Errors
/// `InvalidNetwork` where they are not those of the network.
pub(super) fn matched(network: &Network, modules: &[Module]) -> Result<Graph> {
    let count = network.layout().layers().len();
    let (chosen, behind, taken) = (vec![None; count], vec![None; count], vec![false; modules.len()]);
    let mut matching = Matching { network, modules, chosen, behind, taken };
    matching.choose_affine()?;
    matching.choose_scales()?;
    matching.place_norms()?;
    matching.into_graph()
}

impl<'a> Matching<'a> {
    fn layers(&self) -> &'a [ParametricLayer] {
        self.network.layout().layers()
    }

    fn layer(&self, l: usize) -> &'a Layer {
        self.network.layer(self.layers()[l].layer)
    }

    fn name(&self, l: usize) -> Option<&'a str> {
        self.network.named_layers()[self.layers()[l].layer].name.as_deref()
    }

    fn take(&mut self, l: usize, m: usize) {
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

    /// Scales: of the same name, then the partner of the layer that they read, then in order.
    fn choose_scales(&mut self) -> Result<()> {
        let scales: Vec<usize> =
            (0..self.chosen.len()).filter(|&l| matches!(self.layer(l), Layer::Scale { .. })).collect();
        let of_layer: HashMap<usize, usize> = self.layers().iter().enumerate().map(|(l, p)| (p.layer, l)).collect();
        for pass in 0..3 {
            for &l in &scales {
                if self.chosen[l].is_some() {
                    continue;
                }
                let width = Some(self.layers()[l].outputs);
                let free = |m: usize| !self.taken[m] && self.modules[m].width() == width;
                let found = match pass {
                    0 => (0..self.modules.len()).find(|&m| free(m) && self.name(l) == Some(&self.modules[m].name)),
                    1 => match self.network.layout().sources(self.layers()[l].layer) {
                        [Source::Layer(i)] => {
                            let before = of_layer.get(i).and_then(|&before| self.chosen[before]);
                            before.and_then(|before| self.partner(before)).filter(|&m| free(m))
                        }
                        _ => None,
                    },
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
        Ok(())
    }

    /// The normalisation that belongs to a layer: `bn1` to `conv1`, or what the file has behind it.
    fn partner(&self, m: usize) -> Option<usize> {
        let (parent, number) = parts(&self.modules[m].name);
        let is_norm = |&n: &usize| self.modules[n].width().is_some();
        let numbered = |&n: &usize| !number.is_empty() && parts(&self.modules[n].name) == (parent, number);
        let mut numbered = (0..self.modules.len()).filter(is_norm).filter(numbered);
        numbered.next().or_else(|| Some(m + 1).filter(|&n| n < self.modules.len()).filter(is_norm))
    }

    /// Normalisations that the network has no scales for stand behind the layers whose partners they are.
    fn place_norms(&mut self) -> Result<()> {
        for l in 0..self.chosen.len() {
            let partner = self.chosen[l].and_then(|m| self.partner(m));
            let width = Some(self.layers()[l].outputs);
            let is_norm = |m: usize| matches!(self.modules[m].kind, Kind::Norm { .. });
            if let Some(m) = partner.filter(|&m| !self.taken[m] && is_norm(m) && self.modules[m].width() == width) {
                self.behind[l] = Some(m);
                self.taken[m] = true;
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
        graph.notes.extend(self.placed());
        Ok(graph)
    }

    /// Says where normalisations were put that the network has no scales for, and behind which of their layers a list has something
    /// else first: behind an activation a normalisation is another function.
    fn placed(&self) -> Option<String> {
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

    fn is_keras(&self) -> bool {
        let is_last =
            |module: &Module| matches!(module.kind, Kind::Affine { order: Order::OutputsLast | Order::Depthwise, .. });
        let is_flax = |module: &Module| matches!(module.kind, Kind::Norm { variance: (name, _), .. } if name.rsplit(['.', '/']).next() == Some("var"));
        self.modules.iter().any(is_last) && !self.modules.iter().any(is_flax)
    }
}

/// `layer1.0.conv2` as `layer1.0` and `2`.
fn parts(name: &str) -> (&str, &str) {
    let (parent, leaf) = name.rsplit_once(['.', '/']).unwrap_or(("", name));
    let letters = leaf.trim_end_matches(|c: char| c.is_ascii_digit());
    // A number alone is a place in a list, and says nothing of who belongs to whom.
    if letters.is_empty() { (parent, "") } else { (parent, &leaf[letters.len()..]) }
}

/// `features.3` as the fourth of the list `features`.
fn in_list(name: &str) -> Option<(&str, usize)> {
    let (list, place) = name.rsplit_once(['.', '/']).unwrap_or(("", name));
    Some((list, place.parse().ok()?))
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
