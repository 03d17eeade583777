//! The way of batch normalisations into the layers beside them.

use super::batch_norm::Affine;
use super::json::{RawLayer, RawNamed, RawNetwork};
use super::{Layer, NamedLayer, Names, Network, ParametricLayer, Source, Tensor};
use crate::error::{Result, ensure, ensure_finite};
use crate::memory::{collected, copied, filled, room};

/// The parameters of one layer: W of (outputs, inputs), and b, zeros where the layer has none.
struct Parameters {
    weight: Vec<f64>,
    bias: Vec<f64>,
    place: ParametricLayer,
}

impl Parameters {
    /// The layer with the map behind it: A (W a + b) + t = (A W) a + (A b + t).
    fn fold_rows(&mut self, map: &Affine) {
        for (i, row) in self.weight.chunks_exact_mut(self.place.inputs).enumerate() {
            row.iter_mut().for_each(|w| *w *= map.factor[i]);
            self.bias[i] = map.factor[i] * self.bias[i] + map.offset[i];
        }
    }

    /// The layer with the map before it: W (A a + t) + b = (W A) a + (W t + b). Where a layer has several columns a channel,
    /// a kernel or a flattened image, each of them has the channel's factor.
    fn fold_columns(&mut self, map: &Affine) {
        let place = &self.place;
        let seen = map.factor.len() / place.groups;
        let columns = place.inputs / seen;
        for (i, row) in self.weight.chunks_exact_mut(place.inputs).enumerate() {
            let first = i / (place.outputs / place.groups) * seen;
            for (j, w) in row.iter_mut().enumerate() {
                let channel = first + j / columns;
                self.bias[i] += *w * map.offset[channel];
                *w *= map.factor[channel];
            }
        }
    }
}

/// A layer on the way.
enum Item {
    Parametric {
        layer: Layer,
        parameters: Parameters,
        is_folded: bool,
    },
    Other(Layer),
    Norm {
        map: Affine,
        is_scale: bool,
    },
    /// A normalisation that has gone into another layer.
    Gone(Fate),
}

/// What becomes of a batch normalisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It scales the rows of this layer, which it follows.
    Rows(usize),
    /// It scales the columns of this layer, which follows it.
    Columns(usize),
    /// It is a scale.
    Scale,
}

/// A network without its batch normalisations.
pub(crate) struct Unnormalized {
    pub network: Network,
    pub parameters: Vec<f64>,
    /// What became of each layer that there was, where it was a normalisation.
    pub fates: Vec<Option<Fate>>,
}

/// Folds what can be folded ([`super::fold_batch_norm`] says when), and makes scales of the rest.
///
/// # Errors
/// As [`super::fold_batch_norm`].
pub(crate) fn without_batch_norm(raw: RawNetwork, parameters: &[f64]) -> Result<Unnormalized> {
    let mut folding = Folding::new(raw, parameters)?;
    // From the front: one may stand behind another that has just gone.
    let count = folding.items.len();
    (0..count).for_each(|i| folding.fold_backwards(i));
    (0..count).rev().for_each(|i| folding.fold_forwards(i));
    let fates = folding.items.iter().map(|item| match item {
        Item::Gone(fate) => Some(*fate),
        Item::Norm { .. } => Some(Fate::Scale),
        _ => None,
    });
    let fates = collected("batch normalisations", fates)?;
    let (network, parameters) = folding.into_network(parameters.len())?;
    Ok(Unnormalized { network, parameters, fates })
}

/// A network whose batch normalisations are on their way into other layers.
struct Folding {
    input: Vec<usize>,
    items: Vec<Item>,
    names: Vec<(Option<String>, Option<Names>)>,
    /// The network with identities in the place of the normalisations: who reads what.
    wiring: Network,
}

impl Folding {
    fn new(raw: RawNetwork, parameters: &[f64]) -> Result<Self> {
        // Something that changes no shape stands in for a batch normalisation, so that errors number the layers as the JSON does.
        let stand_in = |raw: &RawNamed| NamedLayer {
            layer: match &raw.layer {
                RawLayer::Layer(layer) => layer.clone(),
                RawLayer::BatchNorm(_) => Layer::Identity,
            },
            name: raw.name.clone(),
            from: raw.from.clone(),
        };
        let wiring = Network::graph(raw.input.clone(), raw.layers.iter().map(stand_in).collect())?;
        let expected = wiring.parameter_count();
        ensure!(
            parameters.len() == expected,
            InvalidParameters,
            "the network has {expected} parameters without its batch normalisations' own, but {} were given",
            parameters.len()
        );
        ensure_finite("parameters", parameters)?;
        let mut parametric = wiring.layout().layers().iter();
        let (mut items, mut names) = (Vec::new(), Vec::new());
        for (i, RawNamed { layer, name, from }) in raw.layers.into_iter().enumerate() {
            items.push(match layer {
                RawLayer::BatchNorm(norm) => {
                    let Tensor { shape, is_flat } = wiring.layout().tensor(Source::Layer(i));
                    let channels = if is_flat { shape.len() } else { shape.channels };
                    let is_scale = norm.is_scale;
                    Item::Norm { map: norm.affine(&format!("layers[{i}] (batch_norm)"), channels)?, is_scale }
                }
                RawLayer::Layer(layer) if layer.is_parametric() => {
                    let place = parametric.next().expect("the layout has every layer with parameters").clone();
                    let bias = match place.bias.clone() {
                        Some(range) => copied("a bias", &parameters[range])?,
                        None => filled("a bias", 0.0, place.outputs)?,
                    };
                    let weight = copied("weights to fold", &parameters[place.weight.clone()])?;
                    Item::Parametric { layer, parameters: Parameters { weight, bias, place }, is_folded: false }
                }
                RawLayer::Layer(layer) => Item::Other(layer),
            });
            names.push((name, from));
        }
        Ok(Self { input: raw.input, items, names, wiring })
    }

    /// What layer i reads, where it is one layer.
    fn source(&self, i: usize) -> Option<usize> {
        match self.wiring.layout().sources(i) {
            [Source::Layer(j)] => Some(*j),
            _ => None,
        }
    }

    /// The layer that reads layer i, where it is one alone.
    fn reader(&self, i: usize) -> Option<usize> {
        let reads = |j: usize| self.wiring.layout().sources(j).iter().filter(|&&s| s == Source::Layer(i)).count();
        let mut readers = (i + 1..self.items.len()).filter(|&j| reads(j) > 0);
        readers.next().filter(|&j| reads(j) == 1 && readers.next().is_none())
    }

    /// Folds layer i, if it is a normalisation, into the layer before it, if there is one that takes it. A mean of a·x + t is a
    /// times the mean, plus t.
    fn fold_backwards(&mut self, i: usize) {
        let mut at = i;
        while let Some(before) = self.source(at).filter(|&before| self.reader(before) == Some(at)) {
            match &self.items[before] {
                Item::Parametric { .. } => return self.fold(i, before, Parameters::fold_rows, Fate::Rows(before)),
                Item::Other(layer) if !keeps_affine(layer) => return,
                Item::Norm { .. } => return,
                Item::Other(_) | Item::Gone(_) => at = before,
            }
        }
    }

    /// Folds layer i, if it is a normalisation, into the layer behind it, if there is one that takes it.
    fn fold_forwards(&mut self, i: usize) {
        let Item::Norm { map, .. } = &self.items[i] else { return };
        let is_shifted = map.offset.iter().any(|&t| t != 0.0);
        let (mut at, mut is_flattened) = (i, false);
        while let Some(behind) = self.reader(at) {
            match &self.items[behind] {
                Item::Parametric { layer, .. } => {
                    // Behind a flatten a scale has a factor for each value, not one for each channel.
                    if matches!(layer, Layer::Scale { .. }) && is_flattened {
                        return;
                    }
                    let pads = matches!(layer, Layer::Conv2d(conv) if !conv.padding.is_none());
                    if !(pads && is_shifted) {
                        self.fold(i, behind, Parameters::fold_columns, Fate::Columns(behind));
                    }
                    return;
                }
                Item::Other(layer) if !keeps_affine(layer) && *layer != Layer::Flatten => return,
                Item::Norm { .. } => return,
                item @ (Item::Other(_) | Item::Gone(_)) => {
                    is_flattened |= matches!(item, Item::Other(Layer::Flatten));
                    at = behind;
                }
            }
        }
    }

    fn fold(&mut self, i: usize, into: usize, how: impl Fn(&mut Parameters, &Affine), fate: Fate) {
        if !matches!(self.items[i], Item::Norm { is_scale: false, .. }) {
            return;
        }
        let Item::Norm { map, .. } = std::mem::replace(&mut self.items[i], Item::Gone(fate)) else { return };
        if let Item::Parametric { parameters, is_folded, .. } = &mut self.items[into] {
            how(parameters, &map);
            *is_folded = true;
        }
    }

    /// The network without what is gone, scales in the place of the normalisations that are left, and the parameters of both.
    fn into_network(mut self, count: usize) -> Result<(Network, Vec<f64>)> {
        let from = self.rewired();
        let more = self.items.iter().map(|item| match item {
            Item::Parametric { parameters, .. } => parameters.bias.len(),
            Item::Norm { map, .. } => 2 * map.factor.len(),
            _ => 0,
        });
        let mut folded = room("folded parameters", count + more.sum::<usize>())?;
        let mut layers = Vec::with_capacity(self.items.len());
        for ((item, (name, _)), from) in self.items.into_iter().zip(self.names).zip(from) {
            let layer = match item {
                Item::Parametric { mut layer, parameters, is_folded } => {
                    if is_folded {
                        layer.add_bias();
                    }
                    folded.extend(parameters.weight);
                    folded.extend(parameters.bias.into_iter().filter(|_| is_folded || parameters.place.bias.is_some()));
                    layer
                }
                Item::Norm { map, .. } => {
                    folded.extend(map.factor);
                    folded.extend(map.offset);
                    Layer::Scale { bias: true }
                }
                Item::Other(layer) => layer,
                Item::Gone(_) => continue,
            };
            layers.push(NamedLayer { layer, name, from });
        }
        ensure_finite("folded parameters", &folded)?;
        Ok((Network::graph(self.input, layers)?, folded))
    }

    /// What each layer reads when those that are gone are not there. Their names go to what they read, unless that has one.
    fn rewired(&mut self) -> Vec<Option<Names>> {
        let is_gone: Vec<bool> = self.items.iter().map(|item| matches!(item, Item::Gone(_))).collect();
        let there = |source: Source, wiring: &Network| {
            let mut source = source;
            while let Source::Layer(j) = source
                && is_gone[j]
            {
                source = wiring.layout().sources(j)[0];
            }
            source
        };
        for i in (0..is_gone.len()).filter(|&i| is_gone[i]) {
            if let Source::Layer(j) = there(Source::Layer(i), &self.wiring) {
                let name = self.names[i].0.take();
                self.names[j].0 = self.names[j].0.take().or(name);
            }
        }
        let mut found = vec![None; is_gone.len()];
        let mut before = Source::Input;
        for i in (0..is_gone.len()).filter(|&i| !is_gone[i]) {
            let sources: Vec<Source> =
                self.wiring.layout().sources(i).iter().map(|&source| there(source, &self.wiring)).collect();
            let is_joining = matches!(&self.items[i], Item::Other(layer) if layer.is_joining());
            if self.names[i].1.is_some() && sources == self.wiring.layout().sources(i) {
                found[i] = self.names[i].1.clone();
            } else if sources != [before] || is_joining {
                let names: Vec<String> = sources.iter().map(|&source| self.name_of(source)).collect();
                found[i] = match (&names[..], is_joining) {
                    ([name], false) => Some(Names::One(name.clone())),
                    _ => Some(Names::Several(names)),
                };
            }
            before = Source::Layer(i);
        }
        found
    }

    /// The name of a source, and a new one if it has none.
    fn name_of(&mut self, source: Source) -> String {
        let Source::Layer(i) = source else { return Names::INPUT.into() };
        let is_free = |name: &String| self.names.iter().all(|(taken, _)| taken.as_ref() != Some(name));
        if self.names[i].0.is_none() {
            let mut names = std::iter::once(format!("layer {i}")).chain((0..).map(|n| format!("layer {i} ({n})")));
            self.names[i].0 = names.find(is_free);
        }
        self.names[i].0.clone().unwrap_or_default()
    }
}

/// Is a times what the layer gives, plus t, what it gives for a times what it reads, plus t?
fn keeps_affine(layer: &Layer) -> bool {
    match layer {
        Layer::Identity | Layer::GlobalAvgPool2d => true,
        // Padding's zeros would count, but without the shift.
        Layer::AvgPool2d(pool) => pool.padding.is_none(),
        _ => false,
    }
}
