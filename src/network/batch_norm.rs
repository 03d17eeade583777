//! Batch normalisation with frozen statistics, folded into the layer beside it.

use serde::Deserialize;

use super::json::{RawLayer, RawNetwork};
use super::{Layer, Network, Shape};
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
    inputs: usize,
    bias: Vec<f64>,
}

impl Parameters {
    /// The layer with the map behind it: A (W a + b) + t = (A W) a + (A b + t).
    fn fold_rows(&mut self, map: &Affine) {
        for (i, row) in self.weight.chunks_exact_mut(self.inputs).enumerate() {
            row.iter_mut().for_each(|w| *w *= map.factor[i]);
            self.bias[i] = map.factor[i] * self.bias[i] + map.offset[i];
        }
    }

    /// The layer with the map before it: W (A a + t) + b = (W A) a + (W t + b). Where a layer has several columns a channel,
    /// a kernel or a flattened image, each of them has the channel's factor.
    fn fold_columns(&mut self, map: &Affine) {
        let columns = self.inputs / map.factor.len();
        for (row, bias) in self.weight.chunks_exact_mut(self.inputs).zip(&mut self.bias) {
            for (j, w) in row.iter_mut().enumerate() {
                *bias += *w * map.offset[j / columns];
                *w *= map.factor[j / columns];
            }
        }
    }
}

/// A layer on the way.
enum Item {
    Parametric { layer: Layer, parameters: Parameters, folded: bool },
    Other(Layer),
    Norm { map: Affine, what: String },
}

/// Folds every batch normalisation of a network into a neighbouring layer with parameters: the same function without it.
///
/// `parameters` are those of the dense and convolutional layers alone, in the usual order, as of the network without its batch
/// normalisations; theirs are in the JSON. What comes back has no batch normalisation, and a bias in every layer into which one
/// was folded, whether it had one or not.
///
/// One that comes straight behind a dense or convolutional layer, before the activation, scales its rows. Any other must stand
/// straight before one, and scales its columns; a convolution there must not have padding, unless the shift comes to 0: around
/// the image there are zeros, to which the normalisation would have added its shift. Identities and mean pools between change
/// nothing, nor does a flatten before a dense layer. A network without batch normalisation comes back as it is.
///
/// # Errors
/// `Parse`; what [`Network::new`] says; `InvalidNetwork` for statistics of a wrong length or sign, a batch normalisation beside
/// no layer that takes it, or one before padding; `InvalidParameters` for a wrong number of them; `NotFinite`.
pub fn fold_batch_norm(network_json: &str, parameters: &[f64]) -> Result<(Network, Vec<f64>)> {
    let raw: RawNetwork = crate::json::read(network_json)?;
    let mut items = items(raw.layers, &raw.input, parameters)?;
    // From the front: one may stand behind another that has just gone.
    let mut i = 0;
    while i < items.len() {
        if matches!(items[i], Item::Norm { .. }) && fold_backwards(&mut items[..=i]) {
            items.remove(i);
        } else {
            i += 1;
        }
    }
    for i in (0..items.len()).rev() {
        if matches!(items[i], Item::Norm { .. }) {
            fold_forwards(&mut items[i..])?;
            items.remove(i);
        }
    }
    let mut layers = Vec::with_capacity(items.len());
    let biases = network_biases(&items);
    let mut folded = room("folded parameters", parameters.len() + biases)?;
    for item in items {
        match item {
            Item::Parametric { mut layer, parameters, folded: has_folded } => {
                if let Layer::Dense { bias, .. } | Layer::Conv2d { bias, .. } = &mut layer {
                    *bias |= has_folded;
                    folded.extend(parameters.weight);
                    folded.extend(parameters.bias.into_iter().filter(|_| *bias));
                }
                layers.push(layer);
            }
            Item::Other(layer) => layers.push(layer),
            Item::Norm { .. } => {}
        }
    }
    ensure_finite("folded parameters", &folded)?;
    Ok((Network::new(raw.input, layers)?, folded))
}

/// Biases of all layers with parameters: as many as may be added.
fn network_biases(items: &[Item]) -> usize {
    items
        .iter()
        .map(|item| if let Item::Parametric { parameters, .. } = item { parameters.bias.len() } else { 0 })
        .sum()
}

/// The layers with their parameters, checked.
fn items(raw: Vec<RawLayer>, input: &[usize], parameters: &[f64]) -> Result<Vec<Item>> {
    // Something that changes no shape stands in for a batch normalisation, so that errors number the layers as the JSON does.
    let stand_in = |layer: &RawLayer| match layer {
        RawLayer::Layer(layer) => layer.clone(),
        RawLayer::BatchNorm(_) => Layer::Identity,
    };
    let network = Network::new(input.to_vec(), raw.iter().map(stand_in).collect())?;
    let expected = network.parameter_count();
    ensure!(
        parameters.len() == expected,
        InvalidParameters,
        "the network has {expected} parameters without its batch normalisations' own, but {} were given",
        parameters.len()
    );
    ensure_finite("parameters", parameters)?;
    let mut parametric = network.layout().layers().iter();
    let mut is_flat = input.len() == 1;
    let mut items = Vec::with_capacity(raw.len());
    for (i, layer) in raw.into_iter().enumerate() {
        items.push(match layer {
            RawLayer::BatchNorm(norm) => {
                let what = format!("layer {i} (batch_norm)");
                let Shape { channels, height, width } = network.layout().shapes()[i];
                let map = norm.affine(&what, if is_flat { channels * height * width } else { channels })?;
                Item::Norm { map, what }
            }
            RawLayer::Layer(layer) if layer.is_parametric() => {
                let place = parametric.next().expect("the layout has every layer with parameters");
                let bias = match place.bias.clone() {
                    Some(range) => copied("a bias", &parameters[range])?,
                    None => filled("a bias", 0.0, place.outputs)?,
                };
                let weight = copied("weights to fold", &parameters[place.weight.clone()])?;
                let parameters = Parameters { weight, inputs: place.inputs, bias };
                Item::Parametric { layer, parameters, folded: false }
            }
            RawLayer::Layer(layer) => {
                is_flat |= layer == Layer::Flatten;
                Item::Other(layer)
            }
        });
    }
    Ok(items)
}

/// Folds the last item into the layer before it, if there is one that takes it. A mean of a·x + t is a times the mean, plus t.
fn fold_backwards(items: &mut [Item]) -> bool {
    let Some((Item::Norm { map, .. }, before)) = items.split_last_mut() else { return false };
    for item in before.iter_mut().rev() {
        match item {
            Item::Parametric { parameters, folded, .. } => {
                parameters.fold_rows(map);
                *folded = true;
                return true;
            }
            Item::Other(Layer::Identity | Layer::AvgPool2d { .. }) => {}
            _ => return false,
        }
    }
    false
}

/// Folds the first item into the layer behind it.
fn fold_forwards(items: &mut [Item]) -> Result<()> {
    let Some((Item::Norm { map, what }, behind)) = items.split_first_mut() else { return Ok(()) };
    for item in behind {
        match item {
            Item::Parametric { layer, parameters, folded } => {
                let has_padding = matches!(layer, Layer::Conv2d { padding, .. } if *padding != [0, 0]);
                ensure!(
                    !has_padding || map.offset.iter().all(|&t| t == 0.0),
                    InvalidNetwork,
                    "{what} cannot be folded into the conv2d behind it: that pads with zeros, to which the batch normalisation \
                     would have added its shift"
                );
                parameters.fold_columns(map);
                *folded = true;
                return Ok(());
            }
            Item::Other(Layer::Identity | Layer::AvgPool2d { .. } | Layer::Flatten) => {}
            _ => break,
        }
    }
    bail!(
        InvalidNetwork,
        "{what} cannot be folded: it must stand straight behind a dense or conv2d layer, before its activation, or straight \
         before one"
    )
}
