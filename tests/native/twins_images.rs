//! Networks over images on the GPU executor against the CPU executor in double precision: ragged sizes, strides, paddings,
//! overlapping pools; whole, and cut into chunks. twins.rs says what the tolerance is made of.

use isoflat::engine::gpu::Tiles;
use isoflat::network::{Conv2d, Layer, Pool2d};
use isoflat::{Loss, Network};

use super::support::twins::{Case, context, workgroup_tiles};

const TOLERANCE: f64 = 2e-6;

fn case(input: [usize; 3], layers: Vec<Layer>, samples: usize, loss: Loss, seed: u64) -> Case {
    Case::new(Network::new(input.to_vec(), layers).expect("a network"), samples, loss, seed)
}

fn conv(channels: usize, kernel: [usize; 2], stride: [usize; 2], padding: [usize; 2], bias: bool) -> Layer {
    Layer::Conv2d(Conv2d { stride, padding: padding.into(), bias, ..Conv2d::new(channels, kernel) })
}

fn dense(units: usize) -> Layer {
    Layer::Dense { units, bias: true }
}

fn max(size: [usize; 2], stride: [usize; 2]) -> Layer {
    Layer::MaxPool2d(Pool2d { stride: Some(stride), ..Pool2d::new(size) })
}

fn average(size: [usize; 2], stride: [usize; 2]) -> Layer {
    Layer::AvgPool2d(Pool2d { stride: Some(stride), ..Pool2d::new(size) })
}

fn cases() -> Vec<Case> {
    use Layer::{Flatten, Relu, Tanh};
    let leaky = Layer::LeakyRelu { slope: 0.1 };
    let (cross_entropy, squared) = (Loss::CrossEntropy, Loss::SquaredError);
    vec![
        // A small LeNet.
        case(
            [1, 12, 12],
            vec![
                conv(5, [3, 3], [1, 1], [0, 0], true),
                Relu,
                max([2, 2], [2, 2]),
                conv(9, [3, 3], [1, 1], [0, 0], true),
                Relu,
                Flatten,
                dense(11),
                Relu,
                dense(4),
            ],
            13,
            cross_entropy,
            1,
        ),
        // Strides, paddings, rectangles, no bias, tanh, an average pool.
        case(
            [3, 11, 8],
            vec![
                conv(7, [3, 2], [2, 1], [1, 2], false),
                Tanh,
                average([2, 3], [1, 2]),
                conv(10, [2, 3], [1, 2], [2, 1], true),
                leaky.clone(),
                Flatten,
                dense(3),
            ],
            8,
            squared,
            2,
        ),
        // Overlapping pools, a stride beyond the window, activations behind pools, one sample.
        case(
            [2, 13, 13],
            vec![
                conv(4, [5, 5], [1, 1], [2, 2], true),
                max([3, 3], [2, 2]),
                leaky,
                conv(17, [2, 2], [3, 3], [1, 1], true),
                max([2, 2], [1, 1]),
                Relu,
                Flatten,
                dense(5),
            ],
            1,
            cross_entropy,
            3,
        ),
        // A pool before the first layer, padding as wide as the window, an image of outputs.
        case(
            [2, 10, 10],
            vec![
                average([2, 2], [2, 2]),
                conv(6, [3, 3], [2, 2], [3, 3], true),
                Tanh,
                conv(3, [3, 3], [1, 1], [0, 0], true),
                Flatten,
            ],
            3,
            squared,
            4,
        ),
        // Smooth activations that do not vanish at 0, before windows that reach beyond the image, whose zeros must stay.
        case(
            [2, 7, 6],
            vec![
                conv(4, [3, 3], [1, 1], [1, 1], true),
                Layer::Sigmoid,
                conv(3, [3, 2], [2, 1], [2, 1], true),
                Layer::Softplus,
                conv(3, [2, 2], [1, 1], [1, 1], false),
                Layer::Sigmoid,
                max([2, 2], [1, 1]),
                Flatten,
                dense(3),
            ],
            19,
            squared,
            7,
        ),
        // One activation upon another, behind a pool too: what does not fold into one is a step of its own.
        case(
            [2, 8, 9],
            vec![
                conv(5, [3, 3], [1, 1], [1, 1], true),
                Tanh,
                Layer::LeakyRelu { slope: 0.3 },
                average([2, 2], [2, 2]),
                Relu,
                Tanh,
                conv(3, [2, 2], [1, 1], [1, 0], false),
                Tanh,
                Tanh,
                max([2, 2], [1, 1]),
                Tanh,
                Flatten,
                dense(3),
            ],
            21,
            cross_entropy,
            6,
        ),
        // Pool upon pool, many samples.
        case(
            [1, 9, 9],
            vec![
                conv(3, [2, 2], [1, 1], [0, 0], true),
                Relu,
                max([2, 2], [1, 1]),
                average([3, 3], [2, 2]),
                conv(4, [1, 1], [1, 1], [0, 0], true),
                Relu,
                Flatten,
                dense(3),
            ],
            150,
            cross_entropy,
            5,
        ),
        // More channels than positions: the CPU's sweep pairs positions there, the GPU's pairs rows.
        case(
            [3, 5, 4],
            vec![
                conv(18, [3, 2], [2, 2], [1, 0], true),
                Relu,
                conv(24, [2, 2], [1, 1], [0, 0], false),
                Relu,
                Flatten,
                dense(4),
            ],
            21,
            cross_entropy,
            6,
        ),
    ]
}

#[test]
fn image_networks_agree_with_the_cpu() {
    agree_with_the_cpu(None);
}

#[test]
fn image_networks_agree_with_the_cpu_in_workgroup_tiles() {
    agree_with_the_cpu(workgroup_tiles());
}

fn agree_with_the_cpu(tiles: Option<Tiles>) {
    let context = context(tiles);
    let mut faults = Vec::new();
    for case in cases() {
        case.agrees_with_the_cpu(&context, TOLERANCE, &mut faults);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn chunks_equal_the_whole_and_the_budget_changes_no_bit() {
    let context = context(None);
    let mut faults = Vec::new();
    for case in cases().into_iter().skip(1) {
        case.equals_its_chunks(&context, TOLERANCE, &mut faults);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
