//! A forward pass in plain loops and f64, written from the definitions alone: neither the crate's layout nor its
//! executors are used, so that both can be compared with it. One sample at a time; slow on purpose.

use isoflat::network::{Conv2d, GeluApproximation, Layer, Pool2d};
use isoflat::{Loss, Network, Problem, Targets};

/// What one sample is between two layers. A flat row of n features is (n, 1, 1).
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Channels, height, width.
    pub shape: [usize; 3],
    /// Channel after channel, row after row.
    pub values: Vec<f64>,
}

impl Image {
    /// One sample of a network's inputs.
    pub fn of_input(network: &Network, values: &[f64]) -> Self {
        let shape = match *network.input() {
            [channels, height, width] => [channels, height, width],
            [features] => [features, 1, 1],
            _ => panic!("an input of shape {:?}", network.input()),
        };
        assert_eq!(shape.iter().product::<usize>(), values.len());
        Self { shape, values: values.to_vec() }
    }

    /// The value at a place that may lie outside, where there are zeros.
    fn at(&self, channel: usize, row: isize, column: isize) -> f64 {
        let [_, height, width] = self.shape;
        match (usize::try_from(row), usize::try_from(column)) {
            (Ok(row), Ok(column)) if row < height && column < width => {
                self.values[(channel * height + row) * width + column]
            }
            _ => 0.0,
        }
    }
}

/// How often a window fits.
fn steps(length: usize, window: usize, stride: usize, padding: usize) -> usize {
    let mut count = 0;
    while count * stride + window <= length + padding {
        count += 1;
    }
    count
}

/// What comes out of one layer that reads one thing. Takes the layer's parameters off the front of `parameters`.
pub fn apply(layer: &Layer, x: &Image, parameters: &mut &[f64]) -> Image {
    apply_all(layer, &[x], parameters)
}

/// What comes out of one layer. Takes the layer's parameters off the front of `parameters`.
pub fn apply_all(layer: &Layer, all: &[&Image], parameters: &mut &[f64]) -> Image {
    let x = all[0];
    let mut take = |n: usize| {
        let (taken, rest) = parameters.split_at(n);
        *parameters = rest;
        taken
    };
    let pointwise = |f: &dyn Fn(f64) -> f64| Image { shape: x.shape, values: x.values.iter().map(|&z| f(z)).collect() };
    match *layer {
        Layer::Dense { units, bias } => {
            let inputs = x.values.len();
            let weight = take(units * inputs);
            let bias = if bias { take(units).to_vec() } else { vec![0.0; units] };
            let mut values = Vec::new();
            for i in 0..units {
                let mut sum = bias[i];
                for j in 0..inputs {
                    sum += weight[i * inputs + j] * x.values[j];
                }
                values.push(sum);
            }
            Image { shape: [units, 1, 1], values }
        }
        Layer::Conv2d(Conv2d { channels, kernel: [kh, kw], stride, padding, dilation, groups, bias }) => {
            let [inputs, height, width] = x.shape;
            let [seen, of_group] = [inputs / groups, channels / groups];
            let weight = take(channels * seen * kh * kw);
            let bias = if bias { take(channels).to_vec() } else { vec![0.0; channels] };
            let [top, left] = padding.before;
            let reach = [(kh - 1) * dilation[0] + 1, (kw - 1) * dilation[1] + 1];
            let rows = steps(height, reach[0], stride[0], top + padding.after[0]);
            let columns = steps(width, reach[1], stride[1], left + padding.after[1]);
            let mut values = Vec::new();
            for o in 0..channels {
                for r in 0..rows {
                    for c in 0..columns {
                        let mut sum = bias[o];
                        for i in 0..seen {
                            let channel = o / of_group * seen + i;
                            for y in 0..kh {
                                for z in 0..kw {
                                    let row = (r * stride[0] + y * dilation[0]) as isize - top as isize;
                                    let column = (c * stride[1] + z * dilation[1]) as isize - left as isize;
                                    sum += weight[((o * seen + i) * kh + y) * kw + z] * x.at(channel, row, column);
                                }
                            }
                        }
                        values.push(sum);
                    }
                }
            }
            Image { shape: [channels, rows, columns], values }
        }
        Layer::Scale { bias } => {
            let channels = x.shape[0];
            let weight = take(channels);
            let bias = if bias { take(channels).to_vec() } else { vec![0.0; channels] };
            let area = x.shape[1] * x.shape[2];
            let values = x.values.iter().enumerate().map(|(i, a)| weight[i / area] * a + bias[i / area]);
            Image { shape: x.shape, values: values.collect() }
        }
        Layer::MaxPool2d(ref of) => pool(x, of, f64::NEG_INFINITY, |window| {
            window.iter().fold(f64::NEG_INFINITY, |largest, &value| if value > largest { value } else { largest })
        }),
        Layer::AvgPool2d(ref of) => pool(x, of, 0.0, |window| window.iter().sum::<f64>() / window.len() as f64),
        Layer::GlobalAvgPool2d => {
            let area = x.shape[1] * x.shape[2];
            let values = x.values.chunks(area).map(|channel| channel.iter().sum::<f64>() / area as f64).collect();
            Image { shape: [x.shape[0], 1, 1], values }
        }
        Layer::Add => {
            assert!(all.iter().all(|other| other.shape == x.shape));
            let values = (0..x.values.len()).map(|i| all.iter().map(|other| other.values[i]).sum()).collect();
            Image { shape: x.shape, values }
        }
        Layer::Concat => {
            let channels = all.iter().map(|other| other.shape[0]).sum();
            let values = all.iter().flat_map(|other| other.values.iter().copied()).collect();
            Image { shape: [channels, x.shape[1], x.shape[2]], values }
        }
        Layer::PadChannels { before, after } => {
            let area = x.shape[1] * x.shape[2];
            let values = [vec![0.0; before * area], x.values.clone(), vec![0.0; after * area]].concat();
            Image { shape: [before + x.shape[0] + after, x.shape[1], x.shape[2]], values }
        }
        Layer::Flatten => Image { shape: [x.values.len(), 1, 1], values: x.values.clone() },
        Layer::Relu => pointwise(&|z| if z > 0.0 { z } else { 0.0 }),
        Layer::LeakyRelu { slope } => pointwise(&|z| if z > 0.0 { z } else { slope * z }),
        Layer::Identity => x.clone(),
        Layer::Relu6 => pointwise(&|z| z.clamp(0.0, 6.0)),
        Layer::Tanh => pointwise(&f64::tanh),
        Layer::Sigmoid => pointwise(&sigmoid),
        Layer::Softplus => pointwise(&|z| z.exp().ln_1p()),
        Layer::Silu => pointwise(&|z| z * sigmoid(z)),
        Layer::Gelu { approximate: GeluApproximation::None } => {
            pointwise(&|z| 0.5 * z * (1.0 + libm::erf(z / 2f64.sqrt())))
        }
        Layer::Gelu { approximate: GeluApproximation::Tanh } => pointwise(&|z| {
            let u = (2.0 / std::f64::consts::PI).sqrt() * (z + 0.044715 * z.powi(3));
            0.5 * z * (1.0 + u.tanh())
        }),
        ref other => panic!("no naive pass of {other:?}"),
    }
}

fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

fn pool(x: &Image, of: &Pool2d, outside: f64, value: impl Fn(&[f64]) -> f64) -> Image {
    let [channels, height, width] = x.shape;
    let (size, stride) = (of.size, of.stride.unwrap_or(of.size));
    let [top, left] = of.padding.before;
    let rows = steps(height, size[0], stride[0], top + of.padding.after[0]);
    let columns = steps(width, size[1], stride[1], left + of.padding.after[1]);
    let mut values = Vec::new();
    for channel in 0..channels {
        for r in 0..rows {
            for c in 0..columns {
                let mut window = Vec::new();
                for y in 0..size[0] {
                    for z in 0..size[1] {
                        let (row, column) = (r * stride[0] + y, c * stride[1] + z);
                        let is_inside = (top..top + height).contains(&row) && (left..left + width).contains(&column);
                        window.push(match is_inside {
                            true => x.values[(channel * height + row - top) * width + column - left],
                            false => outside,
                        });
                    }
                }
                values.push(value(&window));
            }
        }
    }
    Image { shape: [channels, rows, columns], values }
}

/// What every layer gives for one sample.
pub fn values(network: &Network, parameters: &[f64], sample: &[f64]) -> Vec<Image> {
    let mut rest = parameters;
    let input = Image::of_input(network, sample);
    let mut found: Vec<Image> = Vec::new();
    let layers = network.named_layers();
    for (i, named) in layers.iter().enumerate() {
        let image = {
            let of_name = |name: &String| match name.as_str() {
                "input" => &input,
                name => &found[layers.iter().position(|other| other.name.as_deref() == Some(name)).expect("a layer")],
            };
            let reads: Vec<&Image> = match &named.from {
                None => vec![if i == 0 { &input } else { &found[i - 1] }],
                Some(from) => from.names().iter().map(of_name).collect(),
            };
            apply_all(&named.layer, &reads, &mut rest)
        };
        found.push(image);
    }
    assert!(rest.is_empty(), "{} parameters are left over", rest.len());
    found
}

/// The outputs of every sample, samples × output length.
pub fn outputs(network: &Network, parameters: &[f64], inputs: &[f64]) -> Vec<f64> {
    let mut found = Vec::new();
    for sample in inputs.chunks_exact(network.input_len()) {
        found.extend(values(network, parameters, sample).pop().expect("a layer").values);
    }
    found
}

/// The mean loss over a problem's samples.
pub fn loss(problem: &Problem, parameters: &[f64]) -> f64 {
    let outputs = outputs(problem.network(), parameters, &problem.inputs().to_f64());
    let mut sum = 0.0;
    for (n, row) in outputs.chunks_exact(problem.network().output_len()).enumerate() {
        sum += match (problem.targets(), problem.loss()) {
            (Targets::Classes(classes), Loss::CrossEntropy) => {
                let largest = row.iter().fold(f64::NEG_INFINITY, |m, &z| m.max(z));
                let log_sum = row.iter().map(|z| (z - largest).exp()).sum::<f64>().ln();
                largest + log_sum - row[classes[n] as usize]
            }
            (Targets::Vectors(vectors), Loss::SquaredError) => {
                let target = &vectors[n * row.len()..][..row.len()];
                row.iter().zip(target).map(|(a, y)| (a - y) * (a - y)).sum()
            }
            _ => panic!("targets that do not suit the loss"),
        };
    }
    sum / problem.samples() as f64
}
