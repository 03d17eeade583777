//! Random networks that are graphs: every layer there is, wired at random.

use super::{HOMOGENEOUS, random_image_network, random_network, random_parameters, random_problem, rng};
use isoflat::engine::{Device, Engine, Precision};
use isoflat::network::{Conv2d, Layer, NamedLayer, Names, Padding, Pool2d};
use isoflat::{Loss, Network, Problem};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// What a layer gives.
#[derive(Debug, Clone)]
struct Tensor {
    name: String,
    /// Channels, height, width; of a row, the features.
    shape: [usize; 3],
    is_flat: bool,
    is_read: bool,
}

/// A network on the way.
struct Builder<'a> {
    rng: &'a mut ChaCha8Rng,
    layers: Vec<NamedLayer>,
    tensors: Vec<Tensor>,
}

impl Builder<'_> {
    /// Adds a layer that reads these tensors, and returns the number of what it gives.
    fn push(&mut self, layer: Layer, reads: &[usize], shape: [usize; 3], is_flat: bool) -> usize {
        let mut names: Vec<String> = reads.iter().map(|&i| self.tensors[i].name.clone()).collect();
        reads.iter().for_each(|&i| self.tensors[i].is_read = true);
        let name = format!("l{}", self.layers.len());
        let from = if layer.is_joining() { Names::Several(names) } else { Names::One(names.remove(0)) };
        self.layers.push(NamedLayer { layer, name: Some(name.clone()), from: Some(from) });
        self.tensors.push(Tensor { name, shape, is_flat, is_read: false });
        self.tensors.len() - 1
    }

    fn activation(&mut self, activations: &[Layer], of: usize) -> usize {
        let Tensor { shape, is_flat, .. } = self.tensors[of].clone();
        let layer = activations[self.rng.random_range(0..activations.len())].clone();
        self.push(layer, &[of], shape, is_flat)
    }

    /// A convolution of any kind over an image.
    fn convolution(&mut self, of: usize) -> usize {
        let [channels, height, width] = self.tensors[of].shape;
        let rng = &mut *self.rng;
        let divisors: Vec<usize> = (1..=channels).filter(|n| channels % n == 0).collect();
        let groups = if rng.random() { 1 } else { divisors[rng.random_range(0..divisors.len())] };
        let rows = groups * rng.random_range(1..=if groups > 2 { 1 } else { 3 });
        let sides: [usize; 4] = std::array::from_fn(|_| rng.random_range(0..=2));
        let padded = [height + sides[0] + sides[2], width + sides[1] + sides[3]];
        let dilation: [usize; 2] = std::array::from_fn(|_| rng.random_range(1..=2));
        let kernel: [usize; 2] =
            std::array::from_fn(|i| rng.random_range(1..=3.min((padded[i] - 1) / dilation[i] + 1)));
        let stride: [usize; 2] = std::array::from_fn(|_| rng.random_range(1..=2));
        let side = |i: usize| (padded[i] - (kernel[i] - 1) * dilation[i] - 1) / stride[i] + 1;
        let shape = [rows, side(0), side(1)];
        let conv =
            Conv2d { channels: rows, kernel, stride, padding: sides.into(), dilation, groups, bias: rng.random() };
        self.push(Layer::Conv2d(conv), &[of], shape, false)
    }

    /// A convolution that keeps the shape.
    fn same(&mut self, of: usize, channels: usize) -> usize {
        let [_, height, width] = self.tensors[of].shape;
        let conv = Conv2d { padding: [1, 1].into(), bias: self.rng.random(), ..Conv2d::new(channels, [3, 3]) };
        self.push(Layer::Conv2d(conv), &[of], [channels, height, width], false)
    }

    fn scale(&mut self, of: usize) -> usize {
        let Tensor { shape, is_flat, .. } = self.tensors[of].clone();
        let bias = self.rng.random();
        self.push(Layer::Scale { bias }, &[of], shape, is_flat)
    }

    fn pool(&mut self, of: usize) -> usize {
        let [channels, height, width] = self.tensors[of].shape;
        let rng = &mut *self.rng;
        let size: [usize; 2] = [rng.random_range(1..=3.min(height)), rng.random_range(1..=3.min(width))];
        let sides: [usize; 4] = std::array::from_fn(|i| rng.random_range(0..size[i % 2]));
        let stride: Option<[usize; 2]> = rng.random::<bool>().then(|| std::array::from_fn(|_| rng.random_range(1..=2)));
        let padded = [height + sides[0] + sides[2], width + sides[1] + sides[3]];
        let side = |i: usize| (padded[i] - size[i]) / stride.unwrap_or(size)[i] + 1;
        let pool = Pool2d { size, stride, padding: Padding::from(sides) };
        let layer = if rng.random() { Layer::MaxPool2d(pool) } else { Layer::AvgPool2d(pool) };
        self.push(layer, &[of], [channels, side(0), side(1)], false)
    }

    /// A block of a few layers behind a tensor: what it ends in.
    fn block(&mut self, of: usize, activations: &[Layer]) -> usize {
        let [channels, height, width] = self.tensors[of].shape;
        match self.rng.random_range(0..7) {
            0 => {
                let z = self.convolution(of);
                self.activation(activations, z)
            }
            // A residual block, with the shortcut as it is, or over another convolution.
            1 => {
                let z = self.same(of, channels);
                let a = self.activation(activations, z);
                let mut z = self.same(a, channels);
                if self.rng.random() {
                    z = self.scale(z);
                }
                let sum = self.push(Layer::Add, &[z, of], [channels, height, width], false);
                self.activation(activations, sum)
            }
            2 => {
                let (a, b) = (self.same(of, 3), self.same(of, 3));
                let b = self.scale(b);
                let sum = self.push(Layer::Add, &[a, b], [3, height, width], false);
                self.activation(activations, sum)
            }
            // Branches that meet side by side, and channels of zeros beside them.
            3 => {
                let rows = self.rng.random_range(1..=2);
                let a = self.same(of, rows);
                let a = self.activation(activations, a);
                let all = self.push(Layer::Concat, &[a, of], [rows + channels, height, width], false);
                let (before, after) = (self.rng.random_range(0..=1), self.rng.random_range(0..=1));
                let shape = [before + rows + channels + after, height, width];
                self.push(Layer::PadChannels { before, after }, &[all], shape, false)
            }
            // Normalised before it is activated.
            4 => {
                let z = self.scale(of);
                let a = self.activation(activations, z);
                self.convolution(a)
            }
            5 => self.pool(of),
            // What a shortcut of more channels at half the size is.
            _ => {
                let [h, w] = [height.div_ceil(2), width.div_ceil(2)];
                let every = Pool2d { stride: Some([2, 2]), ..Pool2d::new([1, 1]) };
                let short = self.push(Layer::AvgPool2d(every), &[of], [channels, h, w], false);
                let short =
                    self.push(Layer::PadChannels { before: 1, after: 0 }, &[short], [channels + 1, h, w], false);
                let conv = Conv2d { stride: [2, 2], padding: [1, 1].into(), ..Conv2d::new(channels + 1, [3, 3]) };
                let z = self.push(Layer::Conv2d(conv), &[of], [channels + 1, h, w], false);
                let sum = self.push(Layer::Add, &[z, short], [channels + 1, h, w], false);
                self.activation(activations, sum)
            }
        }
    }

    /// The outputs are sums of means of what is activated, as SqueezeNet's are means.
    fn end_in_means(&mut self, open: &[usize]) {
        let units = self.rng.random_range(2..=4);
        let mut means = Vec::new();
        for &i in open {
            let [_, height, width] = self.tensors[i].shape;
            let conv = Conv2d { bias: self.rng.random(), ..Conv2d::new(units, [1, 1]) };
            let z = self.push(Layer::Conv2d(conv), &[i], [units, height, width], false);
            let a = self.activation(&[Layer::Relu, Layer::LeakyRelu { slope: 0.2 }], z);
            means.push(self.push(Layer::GlobalAvgPool2d, &[a], [units, 1, 1], false));
        }
        let all = if means.len() > 1 { self.push(Layer::Add, &means, [units, 1, 1], false) } else { means[0] };
        self.push(Layer::Flatten, &[all], [units, 1, 1], true);
    }
}

/// A random network over small images or rows: blocks behind any tensor that there is, all of which meet at the end.
pub fn random_graph(rng: &mut ChaCha8Rng, activations: &[Layer]) -> Network {
    let shape = [rng.random_range(1..=3), rng.random_range(3..=6), rng.random_range(3..=6)];
    let input = Tensor { name: "input".into(), shape, is_flat: false, is_read: false };
    let blocks = rng.random_range(1..=3);
    let mut of = Builder { rng, layers: Vec::new(), tensors: vec![input] };
    let stem = if of.rng.random() { 0 } else { of.convolution(0) };
    let mut ends = vec![stem];
    for _ in 0..blocks {
        let from = ends[of.rng.random_range(0..ends.len())];
        ends.push(of.block(from, activations));
    }
    let open: Vec<usize> = (1..of.tensors.len()).filter(|&i| !of.tensors[i].is_read).collect();
    // A copy of the generator says so, and the other networks stay as they were.
    if of.rng.clone().random_ratio(1, 8) {
        of.end_in_means(&open);
        return Network::graph(shape.to_vec(), of.layers).expect("a valid network");
    }
    // What nothing has read yet becomes a row: its mean, or all of it.
    let mut rows = Vec::new();
    for i in open {
        let [channels, height, width] = of.tensors[i].shape;
        let (mut last, mut area) = (i, height * width);
        if of.rng.random() {
            last = of.push(Layer::GlobalAvgPool2d, &[last], [channels, 1, 1], false);
            area = 1;
        }
        rows.push(of.push(Layer::Flatten, &[last], [channels * area, 1, 1], true));
    }
    let features = rows.iter().map(|&row| of.tensors[row].shape[0]).sum();
    let mut row = if rows.len() > 1 { of.push(Layer::Concat, &rows, [features, 1, 1], true) } else { rows[0] };
    // A skip connection between rows, perhaps of something that was an image.
    if of.rng.random() {
        let a = of.push(Layer::Dense { units: features, bias: true }, &[row], [features, 1, 1], true);
        let a = of.activation(activations, a);
        row = of.push(Layer::Add, &[row, a], [features, 1, 1], true);
    }
    let units = of.rng.random_range(2..=4);
    let bias = of.rng.random();
    let out = of.push(Layer::Dense { units, bias }, &[row], [units, 1, 1], true);
    if of.rng.random_ratio(1, 4) {
        let other = of.push(Layer::Dense { units, bias: false }, &[row], [units, 1, 1], true);
        of.push(Layer::Add, &[out, other], [units, 1, 1], true);
    }
    Network::graph(shape.to_vec(), of.layers).expect("a valid network")
}

/// Random networks with data, and parameters: chains with biases, images, graphs with scales, concatenations and padding.
pub fn any_problem(seed: u64) -> (Problem, Vec<f64>) {
    let mut rng = rng(77_000 + seed);
    let network = match seed % 3 {
        0 => random_network(&mut rng, &HOMOGENEOUS),
        1 => random_image_network(&mut rng, &HOMOGENEOUS),
        _ => random_graph(&mut rng, &HOMOGENEOUS),
    };
    let loss = if rng.random() { Loss::CrossEntropy } else { Loss::SquaredError };
    let parameters = random_parameters(&mut rng, &network);
    (random_problem(&mut rng, network, loss), parameters)
}

pub fn engine_of(problem: &Problem) -> Engine {
    Engine::new(&Device::cpu(Precision::F64), problem).expect("an engine")
}
