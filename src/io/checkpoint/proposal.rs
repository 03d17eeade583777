//! A network proposed for weights alone: what their shapes say, and for what they cannot tell the commonest answer. Activations are
//! ReLU, convolutions of odd kernels keep an image's size or have no padding, pools halve it: those are chosen with which the first
//! dense layer fits.

use super::modules::{Kind, Module, Order};
use super::slots;
use crate::error::{Result, bail, ensure};
use crate::network::{Conv2d, Layer, Network, Padding, Pool2d};

/// A dense layer or a convolution, as its weight's shape tells it.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Dense { units: usize, inputs: usize },
    Conv { channels: usize, inputs: usize, kernel: [usize; 2] },
}

/// More convolutions than this are not tried each by itself.
const MOST_APART: usize = 6;

/// A chain of these modules, and what was assumed.
///
/// # Errors
/// `InvalidNetwork` where they are no chain, or the image's size is needed and unknown; the message lists what there is.
pub(super) fn proposed(modules: &[Module], input: Option<&[usize]>) -> Result<(Network, Vec<String>)> {
    let shapes: Vec<Shape> = modules.iter().filter_map(shape).collect();
    let listed = || {
        let words: Vec<String> = modules.iter().map(Module::described).collect();
        words.join(", ")
    };
    ensure!(!shapes.is_empty(), InvalidNetwork, "there are no weights of layers among these arrays: {}", listed());
    let convolutions = shapes.iter().take_while(|shape| matches!(shape, Shape::Conv { .. })).count();
    ensure!(
        shapes[convolutions..].iter().all(|shape| matches!(shape, Shape::Dense { .. })),
        InvalidNetwork,
        "these weights are no chain of convolutions and then dense layers; say which network they are of: {}",
        listed()
    );
    let first = first_of(&shapes, input);
    let mut notes = vec![String::from("weights do not tell activations: ReLU is assumed between layers")];
    let found = choices(&shapes[..convolutions])
        .find_map(|choice| Network::new(first.clone(), layers(&shapes, &choice)).ok().map(|network| (network, choice)));
    let Some((network, choice)) = found else {
        bail!(
            InvalidNetwork,
            "no usual padding and pooling makes a chain of these weights over inputs of {first:?}; say which network they are of, \
             or the inputs' shape: {}",
            listed()
        )
    };
    if convolutions > 0 {
        notes.push(format!("nor sizes of images, padding and pools: {} is assumed", network.summary()));
        if choice.is_mean {
            notes.push("before the dense layer there is a mean over each channel".into());
        }
    }
    Ok((network, notes))
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

/// The inputs' shape: as it is given, or what the first layer takes.
fn first_of(shapes: &[Shape], input: Option<&[usize]>) -> Vec<usize> {
    if let Some(input) = input {
        return input.to_vec();
    }
    match shapes[0] {
        Shape::Dense { inputs, .. } => vec![inputs],
        // MNIST's and CIFAR's.
        Shape::Conv { inputs: 1, .. } => vec![1, 28, 28],
        Shape::Conv { inputs, .. } => vec![inputs, 32, 32],
    }
}

/// What the shapes do not tell.
#[derive(Debug, Clone, PartialEq)]
struct Choice {
    /// Of each convolution: does it keep the image's size?
    keeps: Vec<bool>,
    /// Is there a pool behind it?
    pools: Vec<bool>,
    /// Is there a mean over each channel before the dense layers?
    is_mean: bool,
}

/// The choices, the commonest first.
fn choices(convolutions: &[Shape]) -> impl Iterator<Item = Choice> + use<> {
    let count = convolutions.len();
    let small = |shape: &Shape| matches!(shape, Shape::Conv { kernel: [h, w], .. } if *h <= 3 && *w <= 3);
    let usual: Vec<bool> = convolutions.iter().map(small).collect();
    let every: Vec<Vec<bool>> = match count {
        0 => vec![Vec::new()],
        1..=MOST_APART => (0..1usize << count).map(|bits| (0..count).map(|i| bits >> i & 1 == 1).collect()).collect(),
        _ => vec![vec![true; count], vec![false; count], (0..count).map(|i| i % 2 == 1).collect()],
    };
    // All pools alike and small kernels that keep the size come first; a mean over channels where nothing else fits.
    let oddness = move |keeps: &[bool], pools: &[bool]| {
        let unusual = keeps.iter().zip(&usual).filter(|(a, b)| a != b).count();
        let holes = pools.iter().filter(|&&pool| !pool).count();
        2 * unusual + holes.min(count - holes + 1)
    };
    let mut all: Vec<(usize, Choice)> = Vec::new();
    for keeps in &every {
        for pools in &every {
            for is_mean in [false, true] {
                let odd = oddness(keeps, pools) + if is_mean { 1 << 20 } else { 0 };
                all.push((odd, Choice { keeps: keeps.clone(), pools: pools.clone(), is_mean }));
            }
        }
    }
    all.sort_by_key(|(odd, _)| *odd);
    all.into_iter().map(|(_, choice)| choice)
}

fn layers(shapes: &[Shape], choice: &Choice) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    let mut before = 0;
    for (i, shape) in shapes.iter().enumerate() {
        let is_last = i + 1 == shapes.len();
        match *shape {
            Shape::Conv { channels, inputs, kernel } => {
                let sides = kernel.map(|side| if choice.keeps[i] { side / 2 } else { 0 });
                let groups = if i > 0 && inputs > 0 && before % inputs == 0 { before / inputs } else { 1 };
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
pub(super) fn is_of(network: &Network, modules: &[Module]) -> bool {
    let affine = modules.iter().filter(|module| matches!(module.kind, Kind::Affine { .. }));
    let places = network.layout().layers().iter().filter(|p| !matches!(network.layer(p.layer), Layer::Scale { .. }));
    affine.clone().count() == places.clone().count()
        && affine.zip(places).all(|(module, place)| slots::fits(module, network.layer(place.layer), place))
}
