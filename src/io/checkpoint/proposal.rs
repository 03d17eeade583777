//! A network proposed for weights alone: what their shapes say, and for what they cannot tell the commonest answer. Activations are
//! ReLU, convolutions of odd kernels keep an image's size or have no padding, pools halve it: those are chosen with which the first
//! dense layer fits, and which the numbers in the names tell.

use serde_json::{Value, json};

use super::chains;
use super::choices::{Choice, choices};
use super::modules::{Kind, Module, Order};
use super::slots;
use super::{first_of, natural};
use crate::error::{Result, bail, ensure, some_of};
use crate::network::{Conv2d, Layer, NamedLayer, Network, Padding, Pool2d};

/// A dense layer or a convolution, as its weight's shape tells it.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Dense { units: usize, inputs: usize },
    Conv { channels: usize, inputs: usize, kernel: [usize; 2] },
}

impl Shape {
    /// May the other one read what this one gives?
    fn may_precede(&self, next: &Self) -> bool {
        match (*self, *next) {
            (Self::Dense { units, .. }, Self::Dense { inputs, .. }) => units == inputs,
            (Self::Conv { channels, .. }, Self::Conv { inputs, .. }) => inputs == channels || inputs == 1,
            (Self::Conv { channels, .. }, Self::Dense { inputs, .. }) => {
                channels > 0 && inputs.is_multiple_of(channels)
            }
            (Self::Dense { .. }, Self::Conv { .. }) => false,
        }
    }

    /// Does it look at one channel at a time? Those that look at one pixel have no groups.
    fn is_depthwise(&self) -> bool {
        matches!(self, Self::Conv { inputs: 1, kernel, .. } if *kernel != [1, 1])
    }
}

/// A chain of these modules, and what was assumed.
///
/// # Errors
/// `InvalidNetwork` where they are no chain, or the image's size is needed and unknown; the message lists what there is.
pub(super) fn proposed(modules: &[Module], input: Option<&[usize]>) -> Result<(Network, Vec<String>)> {
    let (affine, shapes) = in_order(modules);
    let (affine, shapes, said) = following(affine, shapes);
    let listed = || {
        let words: Vec<String> = modules.iter().map(Module::described).collect();
        words.join(", ")
    };
    ensure!(!shapes.is_empty(), InvalidNetwork, "there are no weights of layers among these arrays: {}", listed());
    ensure_chain(&affine, &shapes)?;
    let convolutions = shapes.iter().take_while(|shape| matches!(shape, Shape::Conv { .. })).count();
    let mut notes = vec![String::from("weights do not tell activations: ReLU is assumed between layers")];
    notes.extend(said);
    notes.extend(depthwise(&affine, &shapes));
    let is_open = |module: &&&Module| match &module.kind {
        Kind::Affine { weight, order: Order::Unknown, .. } => {
            matches!(weight.1.shape(), [rows, columns] if rows != columns)
        }
        _ => false,
    };
    let open: Vec<&str> = affine.iter().filter(is_open).map(|module| &*module.name).collect();
    if !open.is_empty() {
        notes.push(format!("nothing tells the order of {}: columns are taken for outputs", open.join(", ")));
    }
    let choices = choices(modules, &affine[..convolutions], convolutions < shapes.len());
    let made = |first: &Vec<usize>, choice: &Choice| {
        let network = Network::new(first.clone(), layers(first, &shapes, choice)).ok()?;
        is_of(&network, &affine).then(|| (network, choice.clone()))
    };
    let firsts = firsts(&shapes, convolutions, input);
    let found = firsts.iter().find_map(|first| {
        let mut fitting = choices.iter().filter_map(|choice| made(first, choice));
        fitting.next().map(|found| (found, fitting.count()))
    });
    let Some(((network, choice), others)) = found else {
        let over = input.map_or(String::new(), |input| format!(" over inputs of {input:?}"));
        ensure!(
            convolutions > 0,
            InvalidNetwork,
            "these matrices do not follow on each other{over} in the file's order; say which network they are of: {}",
            listed()
        );
        bail!(
            InvalidNetwork,
            "no usual padding and pooling makes a chain of these weights{over}; say which network they are of, or the inputs' shape: {}",
            listed()
        )
    };
    if convolutions > 0 {
        notes.push(format!(
            "nor strides, padding, sizes of images and which pools there are: {} is assumed",
            network.summary()
        ));
        if others > 0 {
            let ways = if others == 1 { "1 other choice fits" } else { &format!("{others} other choices fit") };
            notes.push(format!(
                "{ways} inputs of {:?} as well: choose where the accuracy is not what you know",
                network.input()
            ));
        }
        if choice.is_mean {
            notes.push("before the dense layer there is a mean over each channel".into());
        }
    }
    Ok((network, notes))
}

/// Fails where convolutions in the file's order are no chain, though some number of groups would make one of them.
fn ensure_chain(affine: &[&Module], shapes: &[Shape]) -> Result<()> {
    const OTHERWISE: &str = "say which network they are of, or open a format that has the graph, as ONNX does";
    let is_around = |(module, shape): &(&&Module, &Shape)| {
        let name = module.name.to_ascii_lowercase();
        matches!(shape, Shape::Conv { .. }) && ["shortcut", "skip"].iter().any(|word| name.contains(word))
    };
    if let Some((module, _)) = affine.iter().zip(shapes).find(is_around) {
        bail!(
            InvalidNetwork,
            "{} leads around other layers, by its name, so that these weights are no chain, nor are they a residual network whose names \
             are known: {OTHERWISE}",
            module.described()
        )
    }
    for (i, pair) in shapes.windows(2).enumerate() {
        let [Shape::Conv { channels: before, .. }, Shape::Conv { inputs, .. }] = *pair else { continue };
        if inputs > 1 && inputs < before && before.is_multiple_of(inputs) {
            bail!(
                InvalidNetwork,
                "{} takes {inputs} of the {before} channels that {} before it gives: weights do not tell whether it has {} groups, or reads \
                 another layer; {OTHERWISE}",
                affine[i + 1].described(),
                affine[i].name,
                before / inputs
            )
        }
    }
    for (i, three) in shapes.windows(3).enumerate() {
        let (
            Shape::Conv { inputs, channels: wide, kernel: [1, 1] },
            middle,
            Shape::Conv { inputs: read, channels, kernel: [1, 1] },
        ) = (three[0], three[1], three[2])
        else {
            continue;
        };
        if middle.is_depthwise() && wide > inputs && read == wide && channels == inputs {
            bail!(
                InvalidNetwork,
                "{} widens {inputs} channels, and {} gives as many again: around such blocks (MobileNetV2's and MNASNet's) there is a \
                 shortcut without weights, which nothing here tells; {OTHERWISE}",
                affine[i].described(),
                affine[i + 2].described()
            )
        }
    }
    Ok(())
}

/// Says which convolutions are taken to look at one channel at a time, where the file does not.
fn depthwise(affine: &[&Module], shapes: &[Shape]) -> Option<String> {
    let is_told = |module: &Module| matches!(module.kind, Kind::Affine { order: Order::Depthwise, .. });
    let is_guessed = |i: &usize| {
        let has_many = matches!(shapes[i - 1], Shape::Conv { channels, .. } if channels > 1);
        has_many && shapes[*i].is_depthwise() && !is_told(affine[*i])
    };
    let names: Vec<&str> = (1..shapes.len()).filter(is_guessed).map(|i| affine[i].name.as_str()).collect();
    let all = first_of(&names)?;
    Some(format!("nor groups: one for each channel is assumed where a kernel takes one channel, as those of {all} do"))
}

/// The same layers as JSON, whether or not they fit each other, for somebody who sets what is missing: names are the weights'.
pub(super) fn draft(modules: &[Module], input: Option<&[usize]>) -> Option<Value> {
    let (affine, shapes) = in_order(modules);
    let convolutions = shapes.iter().take_while(|shape| matches!(shape, Shape::Conv { .. })).count();
    let [first, ..] = &firsts(&shapes, convolutions, input)[..] else { return None };
    let is_whole = |pair: &[Shape]| matches!(pair, [Shape::Conv { channels, .. }, Shape::Dense { inputs, .. }] if channels == inputs);
    let is_mean = shapes.windows(2).any(is_whole);
    let choice = Choice { keeps: vec![true; convolutions], pools: vec![false; convolutions], is_mean };
    let mut names = affine.iter().map(|module| &module.name);
    let layers = layers(first, &shapes, &choice).into_iter().map(|layer| {
        let name = if layer.is_parametric() {
            names.next().filter(|name| !["", "input"].contains(&name.as_str())).cloned()
        } else {
            None
        };
        NamedLayer { layer, name, from: None }
    });
    Some(json!({ "input": first, "layers": layers.collect::<Vec<_>>() }))
}

/// The layers in the order in which they follow on each other, where the file's says nothing since it is the alphabet's; and what is to be
/// said of that.
fn following<'a>(affine: Vec<&'a Module<'a>>, shapes: Vec<Shape>) -> (Vec<&'a Module<'a>>, Vec<Shape>, Option<String>) {
    let names: Vec<&str> = affine.iter().map(|module| module.name.as_str()).collect();
    let stem = |i: usize| names[i].trim_end_matches(|c: char| c.is_ascii_digit());
    let by_alphabet = names.is_sorted_by(|a, b| natural(a, b).is_le());
    if !by_alphabet || (1..names.len()).all(|i| stem(i) == stem(0)) {
        return (affine, shapes, None);
    }
    let orders = chains::orders(shapes.len(), |a, b| shapes[a].may_precede(&shapes[b]));
    let own: Vec<usize> = (0..shapes.len()).collect();
    match &orders[..] {
        [order] if *order != own => {
            let said = order.iter().map(|&i| names[i]).collect::<Vec<_>>().join(", ");
            let said =
                format!("the file has its arrays by alphabet: layers are taken as they follow on each other, {said}");
            let (affine, shapes) = order.iter().map(|&i| (affine[i], shapes[i])).unzip();
            (affine, shapes, Some(said))
        }
        [_, _, ..] if orders.contains(&own) => {
            // Those that have another one's place in another order, unless their numbers tell which comes first.
            let is_open = |&&i: &&usize| orders.iter().any(|order| stem(order[i]) != stem(i));
            let open: Vec<&str> = own.iter().filter(is_open).map(|&i| names[i]).collect();
            let said = (!open.is_empty()).then(|| untold(&open));
            (affine, shapes, said)
        }
        _ => (affine, shapes, None),
    }
}

/// What is said of layers whose order nothing tells.
pub(super) fn untold(names: &[&str]) -> String {
    const MOST: usize = 12;
    let some = some_of(&names[..names.len().min(MOST)], names.len());
    format!("the file has its arrays by alphabet, and nothing tells the order of {some}: that of the file is taken")
}

/// Layers with weights, convolutions first: a file may sort its names, and `classifier` comes before `features`.
fn in_order<'a>(modules: &'a [Module<'a>]) -> (Vec<&'a Module<'a>>, Vec<Shape>) {
    let mut ordered: Vec<(&Module, Shape)> = modules.iter().filter_map(|m| Some((m, shape(m)?))).collect();
    ordered.sort_by_key(|(_, shape)| matches!(shape, Shape::Dense { .. }));
    ordered.into_iter().unzip()
}

fn shape(module: &Module) -> Option<Shape> {
    let Kind::Affine { weight, order, .. } = &module.kind else { return None };
    match (*order, weight.1.shape()) {
        (Order::OutputsLast | Order::Unknown, &[inputs, units]) => Some(Shape::Dense { units, inputs }),
        (Order::OutputsFirst, &[units, inputs]) => Some(Shape::Dense { units, inputs }),
        (Order::OutputsLast, &[h, w, inputs, channels]) => Some(Shape::Conv { channels, inputs, kernel: [h, w] }),
        (Order::Depthwise, &[h, w, inputs, multiplier]) => {
            Some(Shape::Conv { channels: inputs.checked_mul(multiplier)?, inputs: 1, kernel: [h, w] })
        }
        (_, &[channels, inputs, h, w]) => Some(Shape::Conv { channels, inputs, kernel: [h, w] }),
        _ => None,
    }
}

/// The inputs' shape: as it is given, or what the first layer takes; of images the usual sizes, the commonest first.
fn firsts(shapes: &[Shape], convolutions: usize, input: Option<&[usize]>) -> Vec<Vec<usize>> {
    /// MNIST's, CIFAR's, and what else people use.
    const USUAL: [usize; 5] = [32, 28, 64, 96, 224];
    /// Sizes that nobody uses are tried too, where that does not take long.
    const FEW: usize = 2;
    const MOST: usize = 48;
    if let Some(input) = input {
        return vec![input.to_vec()];
    }
    let channels = match shapes.first() {
        None => return Vec::new(),
        Some(Shape::Dense { inputs, .. }) => return vec![vec![*inputs]],
        Some(Shape::Conv { inputs, .. }) => *inputs,
    };
    let mut sizes = USUAL.to_vec();
    if channels == 1 {
        sizes.swap(0, 1);
    }
    if convolutions <= FEW {
        sizes.extend((1..MOST).filter(|size| !USUAL.contains(size)));
    }
    sizes.into_iter().map(|size| vec![channels, size, size]).collect()
}

fn layers(input: &[usize], shapes: &[Shape], choice: &Choice) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    let mut before = 0;
    if input.len() > 1 && matches!(shapes.first(), Some(Shape::Dense { .. })) {
        layers.push(Layer::Flatten);
    }
    for (i, shape) in shapes.iter().enumerate() {
        let is_last = i + 1 == shapes.len();
        match *shape {
            Shape::Conv { channels, kernel, .. } => {
                let sides = kernel.map(|side| if choice.keeps[i] { side / 2 } else { 0 });
                let groups = if i > 0 && shape.is_depthwise() { before } else { 1 };
                let conv = Conv2d { padding: Padding::from(sides), groups, ..Conv2d::new(channels, kernel) };
                layers.push(Layer::Conv2d(conv));
                before = channels;
                if !is_last {
                    layers.push(Layer::Relu);
                }
                if choice.pools[i] && !is_last {
                    layers.push(Layer::MaxPool2d(Pool2d::new([2, 2])));
                }
            }
            Shape::Dense { units, .. } => {
                if i > 0 && matches!(shapes[i - 1], Shape::Conv { .. }) {
                    if choice.is_mean {
                        layers.push(Layer::GlobalAvgPool2d);
                    }
                    layers.push(Layer::Flatten);
                }
                layers.push(Layer::Dense { units, bias: true });
                if !is_last {
                    layers.push(Layer::Relu);
                }
            }
        }
    }
    layers
}

/// Do a network's layers have these modules' shapes?
fn is_of(network: &Network, affine: &[&Module]) -> bool {
    let places = network.layout().layers();
    affine.len() == places.len()
        && affine.iter().zip(places).all(|(module, place)| slots::fits(module, network.layer(place.layer), place))
}
