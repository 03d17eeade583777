//! A graph becomes a network with parameters, and parameters go back to where they came from.

use std::collections::BTreeMap;

use super::{BatchNormNode, Graph, GraphNode, Operation, Place, Slot};
use crate::error::{Result, bail, ensure};
use crate::memory::{collected, room, zeros};
use crate::network::{
    BatchNorm, BatchStatistics, Fate, Network, ParametricLayer, RawLayer, RawNamed, RawNetwork, without_batch_norm,
};

/// A network with the parameters that a file has, and the way back.
#[derive(Debug, Clone)]
pub struct Model {
    /// The network, without batch normalisations: folded, or `scale`.
    pub network: Network,
    /// Its parameters.
    pub parameters: Vec<f64>,
    /// What was folded, taken off or assumed, a sentence each.
    pub notes: Vec<String>,
    /// The layers as the file has them, with the places of their weights.
    graph: Graph,
    /// What became of each of them, where it was a normalisation.
    fates: Vec<Option<Fate>>,
    /// Where each of them has its parameters in the parameter vector, where it has some.
    places: Vec<Option<ParametricLayer>>,
}

impl Model {
    /// The network that a graph is.
    ///
    /// # Errors
    /// What [`Network::graph`] and [`crate::network::fold_batch_norm`] say; `InvalidNetwork` where weights do not have their
    /// layer's size; `NotFinite`, with the tensor.
    pub fn new(mut graph: Graph) -> Result<Self> {
        let raw = RawNetwork { input: graph.input.clone(), layers: graph.nodes.iter().map(raw_layer).collect() };
        ensure_numbers(&graph)?;
        let given = parameters_of(&graph)?;
        let found = without_batch_norm(raw, &given)?;
        let mut notes = graph.notes.clone();
        notes.extend(told(&found.fates));
        let mut places = found.network.layout().layers().iter();
        let places = graph.nodes.iter().zip(&found.fates).map(|(node, fate)| match (&node.operation, fate) {
            (Operation::Layer { layer, .. }, _) if layer.is_parametric() => places.next().cloned(),
            (_, Some(Fate::Scale)) => places.next().cloned(),
            _ => None,
        });
        let places: Vec<Option<ParametricLayer>> = places.collect();
        for (i, (node, place)) in graph.nodes.iter_mut().zip(&places).enumerate() {
            ensure_size(i, node, place.as_ref())?;
            // The parameter vector has them from here on.
            empty(node);
        }
        Ok(Self { network: found.network, parameters: found.parameters, notes, graph, fates: found.fates, places })
    }

    /// The softmax that was taken off behind the outputs, as the file calls it: cross-entropy has it, squared error has none.
    pub fn softmax(&self) -> Option<&str> {
        self.graph.softmax.as_deref()
    }

    /// Of the batch normalisations that are scales now, what makes γ and β of w and b.
    pub fn statistics(&self) -> Vec<BatchStatistics> {
        let layers = self.network.layout().layers();
        let of = |(node, place): (&GraphNode, &Option<ParametricLayer>)| {
            let (Operation::BatchNorm(norm), Some(place)) = (&node.operation, place) else { return None };
            let layer = layers.iter().position(|other| other.layer == place.layer)?;
            let deviation = deviations(norm).collect();
            Some(BatchStatistics { layer, mean: norm.mean.values.clone(), deviation })
        };
        self.graph.nodes.iter().zip(&self.places).filter_map(of).collect()
    }

    /// The file's tensors with other parameters: the same network in the file's own layers and orders. A normalisation that was
    /// folded changes nothing any more, but for a bias that its layer had not: γ = √(σ² + ε), β = μ + b.
    ///
    /// # Errors
    /// `InvalidParameters` for a wrong number of them; `InvalidNetwork` where the file has no place for a bias, or for a factor.
    pub fn tensors(&self, parameters: &[f64]) -> Result<BTreeMap<String, Vec<f64>>> {
        self.network.check_parameters(parameters)?;
        let mut out = BTreeMap::new();
        let values = |range: &std::ops::Range<usize>| &parameters[range.clone()];
        for (i, node) in self.graph.nodes.iter().enumerate() {
            match (&node.operation, self.fates[i], &self.places[i]) {
                (Operation::Layer { weight, bias, .. }, _, Some(place)) => {
                    put(&mut out, weight.as_ref(), values(&place.weight))?;
                    match (bias, &place.bias) {
                        (Some(bias), Some(range)) => put(&mut out, Some(bias), values(range))?,
                        (None, Some(range)) => self.ensure_carried(i, values(range))?,
                        _ => {}
                    }
                }
                (Operation::BatchNorm(norm), Some(Fate::Scale), Some(place)) => {
                    put_norm(&mut out, norm, values(&place.weight), place.bias.as_ref().map(values))?;
                }
                (Operation::BatchNorm(norm), Some(fate), _) => {
                    let ones = vec![1.0; norm.mean.values.len()];
                    put_norm(&mut out, norm, &ones, self.carried(i, fate).as_ref().map(values))?;
                }
                _ => {}
            }
        }
        Ok(out)
    }

    /// The bias that a folded normalisation carries, since its layer has no place for one.
    fn carried(&self, i: usize, fate: Fate) -> Option<std::ops::Range<usize>> {
        let Fate::Rows(layer) = fate else { return None };
        let is_without = matches!(&self.graph.nodes[layer].operation, Operation::Layer { bias: None, .. });
        let is_first = !self.fates[..i].contains(&Some(fate));
        if is_without && is_first { self.places[layer].as_ref()?.bias.clone() } else { None }
    }

    /// Fails where layer i has a bias now that nothing in the file could hold.
    fn ensure_carried(&self, i: usize, bias: &[f64]) -> Result<()> {
        ensure!(
            self.fates.contains(&Some(Fate::Rows(i))) || bias.iter().all(|&b| b == 0.0),
            InvalidNetwork,
            "layers[{i}] has no bias in the file, and got one as a batch normalisation before it was folded: save the network in \
             isoflat's own format, or open it with batch normalisations as scales"
        );
        Ok(())
    }
}

/// Fails unless a layer's weights have its size.
fn ensure_size(i: usize, node: &GraphNode, place: Option<&ParametricLayer>) -> Result<()> {
    let (Operation::Layer { layer, weight, bias }, Some(place)) = (&node.operation, place) else { return Ok(()) };
    let len = |slot: &Option<Slot>| slot.as_ref().map_or(0, |slot| slot.values.len());
    let [rows, columns] = [place.outputs, place.inputs];
    ensure!(
        len(weight) == rows * columns && (bias.is_none() || len(bias) == rows),
        InvalidNetwork,
        "layers[{i}] ({}) has weights of {} and a bias of {} values, but its W is {rows} × {columns}",
        layer.name(),
        len(weight),
        len(bias)
    );
    Ok(())
}

fn empty(node: &mut GraphNode) {
    let pair = match &mut node.operation {
        Operation::Layer { weight, bias, .. } => [weight, bias],
        Operation::BatchNorm(norm) => [&mut norm.scale, &mut norm.shift],
    };
    pair.into_iter().flatten().for_each(|slot| slot.values = Vec::new());
}

/// What was done with the normalisations.
fn told(fates: &[Option<Fate>]) -> Option<String> {
    let count = |of: fn(&Fate) -> bool| fates.iter().flatten().filter(|fate| of(fate)).count();
    let scales = count(|fate| *fate == Fate::Scale);
    let folded = fates.iter().flatten().count() - scales;
    let layers =
        |n: usize| if n == 1 { "1 batch normalisation".to_string() } else { format!("{n} batch normalisations") };
    match (folded, scales) {
        (0, 0) => None,
        (_, 0) => Some(format!("{} folded into the layers beside them", layers(folded))),
        (0, _) => Some(format!("{} with frozen statistics are scales, w x + b", layers(scales))),
        _ => Some(format!("{} folded into the layers beside them, {scales} became scales", layers(folded))),
    }
}

fn raw_layer(node: &GraphNode) -> RawNamed {
    let layer = match &node.operation {
        Operation::Layer { layer, .. } => RawLayer::Layer(layer.clone()),
        Operation::BatchNorm(norm) => RawLayer::BatchNorm(BatchNorm {
            mean: norm.mean.values.clone(),
            variance: norm.variance.values.clone(),
            scale: norm.scale.as_ref().map(|slot| slot.values.clone()),
            shift: norm.shift.as_ref().map(|slot| slot.values.clone()),
            epsilon: norm.epsilon,
            is_scale: norm.is_scale,
        }),
    };
    RawNamed { layer, name: node.name.clone(), from: node.from.clone() }
}

/// Fails where a number is none, with the name of its tensor and its place there.
fn ensure_numbers(graph: &Graph) -> Result<()> {
    for (i, node) in graph.nodes.iter().enumerate() {
        for slot in slots(node).chain(statistics(node)) {
            let Some(at) = slot.values.iter().position(|value| !value.is_finite()) else { continue };
            let place = slot.place.as_ref();
            let name = place.map(|place| &place.tensor).or(node.name.as_ref());
            let name = name.cloned().unwrap_or_else(|| format!("layers[{i}]"));
            let order = place.and_then(|place| place.order.as_ref());
            let number = order.and_then(|order| order.get(at)).map_or(at, |&at| at as usize);
            bail!(NotFinite, "number {number} of {name} is {}, but must be finite", slot.values[at]);
        }
    }
    Ok(())
}

/// The parameters of all layers but the normalisations, in order.
fn parameters_of(graph: &Graph) -> Result<Vec<f64>> {
    let own = |node: &'_ GraphNode| matches!(node.operation, Operation::Layer { .. });
    let count = graph.nodes.iter().filter(|node| own(node)).flat_map(slots).map(|slot| slot.values.len()).sum();
    let mut parameters = room("a model's parameters", count)?;
    for slot in graph.nodes.iter().filter(|node| own(node)).flat_map(slots) {
        parameters.extend_from_slice(&slot.values);
    }
    Ok(parameters)
}

/// √(σ² + ε).
fn deviations(norm: &BatchNormNode) -> impl Iterator<Item = f64> + '_ {
    norm.variance.values.iter().map(|variance| (variance + norm.epsilon).sqrt())
}

/// A normalisation that computes w x + b: in its γ and β, or where it has none in its statistics, σ² = 1/w² − ε and μ = −b/w.
fn put_norm(out: &mut BTreeMap<String, Vec<f64>>, norm: &BatchNormNode, w: &[f64], b: Option<&[f64]>) -> Result<()> {
    if norm.scale.is_some() {
        let scales = w.iter().zip(deviations(norm)).map(|(w, deviation)| w * deviation);
        put(out, norm.scale.as_ref(), &collected("scales", scales)?)?;
    } else {
        // What is below 0 by rounding alone was 0.
        let least = -1e-12 * norm.epsilon;
        let mut variance = collected("variances", w.iter().map(|&w| 1.0 / (w * w) - norm.epsilon))?;
        variance.iter_mut().filter(|variance| (least..0.0).contains(*variance)).for_each(|variance| *variance = 0.0);
        ensure!(
            w.iter().zip(&variance).all(|(&w, &variance)| w > 0.0 && variance >= 0.0 && variance.is_finite()),
            InvalidNetwork,
            "a batch normalisation of the file has no factors (γ), and its variances cannot stand for those of the weights: save the \
             network in isoflat's own format"
        );
        put(out, Some(&norm.variance), &variance)?;
    }
    let b = |i: usize| b.map_or(0.0, |b| b[i]);
    if norm.shift.is_some() {
        let shifts = w.iter().zip(&norm.mean.values).enumerate().map(|(i, (w, mean))| b(i) + w * mean);
        put(out, norm.shift.as_ref(), &collected("shifts", shifts)?)
    } else {
        let means = w.iter().enumerate().map(|(i, w)| if b(i) == 0.0 { 0.0 } else { -b(i) / w });
        let means = collected("means", means)?;
        ensure!(
            means.iter().all(|mean| mean.is_finite()),
            InvalidNetwork,
            "a batch normalisation of the file has no shifts (β), and its means cannot stand for those of the weights: save the \
             network in isoflat's own format"
        );
        put(out, Some(&norm.mean), &means)
    }
}

fn slots(node: &GraphNode) -> impl Iterator<Item = &Slot> {
    let pair = match &node.operation {
        Operation::Layer { weight, bias, .. } => [weight, bias],
        Operation::BatchNorm(norm) => [&norm.scale, &norm.shift],
    };
    pair.into_iter().flatten()
}

fn statistics(node: &GraphNode) -> impl Iterator<Item = &Slot> {
    let pair = match &node.operation {
        Operation::BatchNorm(norm) => [Some(&norm.mean), Some(&norm.variance)],
        Operation::Layer { .. } => [None, None],
    };
    pair.into_iter().flatten()
}

/// Puts numbers where a slot's came from.
fn put(out: &mut BTreeMap<String, Vec<f64>>, slot: Option<&Slot>, values: &[f64]) -> Result<()> {
    let Some(Place { tensor, order, factor }) = slot.and_then(|slot| slot.place.as_ref()) else {
        bail!(
            InvalidNetwork,
            "a weight of this network has no place in the file that it came from: save it in isoflat's own format"
        )
    };
    let mut found = zeros("a tensor", values.len())?;
    match order {
        None => found.iter_mut().zip(values).for_each(|(to, &value)| *to = value / factor),
        Some(order) => {
            for (&to, &value) in order.iter().zip(values) {
                if let Some(to) = found.get_mut(to as usize) {
                    *to = value / factor;
                }
            }
        }
    }
    out.insert(tensor.clone(), found);
    Ok(())
}
