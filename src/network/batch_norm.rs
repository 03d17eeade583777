//! Batch normalisation with frozen statistics: folded into the layer beside it, or a scale where none takes it.

use serde::Deserialize;

use super::json::{RawLayer, RawNamed, RawNetwork};
use super::{Layer, NamedLayer, Names, Network, ParametricLayer, Source, Tensor};
use crate::error::{Result, bail, ensure, ensure_finite};
use crate::memory::{collected, copied, filled, room};

/// `{"type": "batch_norm", "mean": [..], "variance": [..], "scale": [..], "shift": [..], "epsilon": 1e-5}`: a trained network's
/// scale · (x − mean) / √(variance + epsilon) + shift, one number of each a channel of an image, or a feature of a flat row.
///
/// It is no [`Layer`]: a mean and a shift that stay where they are make it not positively homogeneous. [`fold_batch_norm`]
/// makes a network without it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BatchNorm {
    mean: Vec<f64>,
    variance: Vec<f64>,
    /// 1 where it is absent.
    scale: Option<Vec<f64>>,
    /// 0 where it is absent.
    shift: Option<Vec<f64>>,
    #[serde(default = "default_epsilon")]
    epsilon: f64,
}

/// What PyTorch takes.
fn default_epsilon() -> f64 {
    1e-5
}

/// x ↦ factor · x + offset, a pair a channel or feature: what a batch normalisation with frozen statistics is.
struct Affine {
    factor: Vec<f64>,
    offset: Vec<f64>,
}

impl BatchNorm {
    /// The map over `channels`; `what` names the layer in errors.
    fn affine(self, what: &str, channels: usize) -> Result<Affine> {
        let scale = self.scale.map_or_else(|| filled("scales", 1.0, channels), Ok)?;
        let shift = self.shift.map_or_else(|| filled("shifts", 0.0, channels), Ok)?;
        for (name, values) in [("mean", &self.mean), ("variance", &self.variance), ("scale", &scale), ("shift", &shift)]
        {
            ensure!(
                values.len() == channels,
                InvalidNetwork,
                "{what} has {} values in its {name}, but {channels} channels or features come in",
                values.len()
            );
            ensure_finite(&format!("the {name} of {what}, "), values)?;
        }
        ensure!(
            self.epsilon.is_finite() && self.epsilon >= 0.0,
            InvalidNetwork,
            "{what} has epsilon {}, but it must be 0 or more",
            self.epsilon
        );
        if let Some(i) = self.variance.iter().position(|&v| v < 0.0 || v + self.epsilon <= 0.0) {
            bail!(
                InvalidNetwork,
                "{what} has variance[{i}] {} with epsilon {}, but their sum must be positive and neither negative",
                self.variance[i],
                self.epsilon
            );
        }
        let factors = scale.iter().zip(&self.variance).map(|(s, v)| s / (v + self.epsilon).sqrt());
        let factor: Vec<f64> = collected("factors", factors)?;
        let offsets = shift.iter().zip(&self.mean).zip(&factor).map(|((shift, mean), f)| shift - mean * f);
        let offset = collected("offsets", offsets)?;
        Ok(Affine { factor, offset })
    }
}

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
    Norm(Affine),
    /// A normalisation that has gone into another layer.
    Gone,
}

/// Folds every batch normalisation of a network into a neighbouring layer with parameters, or makes a scale of it: the same
/// function without it.
///
/// `parameters` are those of the layers that have some in the network without its batch normalisations, in the usual order;
/// theirs are in the JSON. What comes back has no batch normalisation, and a bias in every layer into which one was folded, whether
/// it had one or not.
///
/// One that comes straight behind a layer with parameters, before the activation, scales its rows, if nothing else reads them. One
/// that stands straight before one, and is read by that alone, scales its columns, if that convolution has no padding or the shift
/// comes to 0: around the image there are zeros, to which the normalisation would have added its shift. Identities and mean pools
/// between change nothing, nor does a flatten before a dense layer. Any other, as in a network that normalises before it activates,
/// becomes a `scale`. A network without batch normalisation comes back as it is.
///
/// # Errors
/// `Parse`; what [`Network::graph`] says; `InvalidNetwork` for statistics of a wrong length or sign; `InvalidParameters` for a
/// wrong number of them; `NotFinite`.
pub fn fold_batch_norm(network_json: &str, parameters: &[f64]) -> Result<(Network, Vec<f64>)> {
    let mut folding = Folding::new(crate::json::read(network_json)?, parameters)?;
    // From the front: one may stand behind another that has just gone.
    let count = folding.items.len();
    (0..count).for_each(|i| folding.fold_backwards(i));
    (0..count).rev().for_each(|i| folding.fold_forwards(i));
    folding.into_network(parameters.len())
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
                    Item::Norm(norm.affine(&format!("layer {i} (batch_norm)"), channels)?)
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
                Item::Parametric { .. } => return self.fold(i, before, Parameters::fold_rows),
                Item::Other(layer) if !keeps_affine(layer) => return,
                Item::Norm(_) => return,
                Item::Other(_) | Item::Gone => at = before,
            }
        }
    }

    /// Folds layer i, if it is a normalisation, into the layer behind it, if there is one that takes it.
    fn fold_forwards(&mut self, i: usize) {
        let Item::Norm(map) = &self.items[i] else { return };
        let is_shifted = map.offset.iter().any(|&t| t != 0.0);
        let mut at = i;
        while let Some(behind) = self.reader(at) {
            match &self.items[behind] {
                Item::Parametric { layer, .. } => {
                    let pads = matches!(layer, Layer::Conv2d(conv) if !conv.padding.is_none());
                    if !(pads && is_shifted) {
                        self.fold(i, behind, Parameters::fold_columns);
                    }
                    return;
                }
                Item::Other(layer) if !keeps_affine(layer) && *layer != Layer::Flatten => return,
                Item::Norm(_) => return,
                Item::Other(_) | Item::Gone => at = behind,
            }
        }
    }

    fn fold(&mut self, i: usize, into: usize, how: impl Fn(&mut Parameters, &Affine)) {
        if !matches!(self.items[i], Item::Norm(_)) {
            return;
        }
        let Item::Norm(map) = std::mem::replace(&mut self.items[i], Item::Gone) else { return };
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
            Item::Norm(map) => 2 * map.factor.len(),
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
                Item::Norm(map) => {
                    folded.extend(map.factor);
                    folded.extend(map.offset);
                    Layer::Scale { bias: true }
                }
                Item::Other(layer) => layer,
                Item::Gone => continue,
            };
            layers.push(NamedLayer { layer, name, from });
        }
        ensure_finite("folded parameters", &folded)?;
        Ok((Network::graph(self.input, layers)?, folded))
    }

    /// What each layer reads when those that are gone are not there. Their names go to what they read, unless that has one.
    fn rewired(&mut self) -> Vec<Option<Names>> {
        let is_gone: Vec<bool> = self.items.iter().map(|item| matches!(item, Item::Gone)).collect();
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
            if sources != [before] || is_joining {
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
