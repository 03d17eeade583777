//! What came in, in a few numbers: one sees from them whether the inputs are normalised as the network needs them.

use serde::Serialize;

use super::Dataset;
use crate::numbers::largest;
use crate::problem::{Targets, Values};

/// More classes than these are not counted: they are no classes.
const MOST_CLASSES: usize = 1 << 16;

/// A data set in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// How many samples.
    pub samples: usize,
    /// Shape of one input.
    pub shape: Vec<usize>,
    /// How many samples each class has; none where the targets are vectors, or there are more than 65,536 classes.
    pub counts: Vec<usize>,
    /// The least of the inputs' values, as the network sees them.
    pub minimum: f64,
    /// The greatest of them.
    pub maximum: f64,
    /// Their mean, one a channel of images, one for all values of flat inputs.
    pub mean: Vec<f64>,
    /// Their standard deviation likewise, of all values and not of a sample of them.
    pub deviation: Vec<f64>,
}

impl Overview {
    pub(super) fn of(data: &Dataset) -> Self {
        let width = data.shape.iter().product::<usize>().max(1);
        let channels = if data.shape.len() == 3 { data.shape[0].max(1) } else { 1 };
        let pixels = (width / channels).max(1);
        let (mut minimum, mut maximum) = (f64::INFINITY, f64::NEG_INFINITY);
        each(&data.inputs, pixels, |_, x| (minimum, maximum) = (x.min(minimum), x.max(maximum)));
        // No sum of numbers within ±1 overflows.
        let unit = Some(largest([minimum, maximum])).filter(|&unit| unit > 0.0 && unit.is_finite()).unwrap_or(1.0);
        let count = (data.inputs.len() / channels).max(1) as f64;
        let mut means = vec![0.0; channels];
        each(&data.inputs, pixels, |row, x| means[row % channels] += x / unit);
        means.iter_mut().for_each(|mean| *mean /= count);
        let mut squares = vec![0.0; channels];
        each(&data.inputs, pixels, |row, x| squares[row % channels] += (x / unit - means[row % channels]).powi(2));
        Self {
            samples: data.samples(),
            shape: data.shape.clone(),
            counts: data.targets.as_ref().map(|targets| counts(targets, data.classes.len())).unwrap_or_default(),
            minimum,
            maximum,
            mean: means.iter().map(|mean| mean * unit).collect(),
            deviation: squares.into_iter().map(|square: f64| (square / count).sqrt() * unit).collect(),
        }
    }
}

/// Every value, with the number of its channel's row, of which a sample has one a channel.
fn each(values: &Values, pixels: usize, mut see: impl FnMut(usize, f64)) {
    fn all<T: Copy + Into<f64>>(values: &[T], pixels: usize, mut see: impl FnMut(usize, f64)) {
        for (row, values) in values.chunks(pixels).enumerate() {
            values.iter().for_each(|&x| see(row, x.into()));
        }
    }
    match values {
        Values::F32(values) => all(values, pixels, &mut see),
        Values::F64(values) => all(values, pixels, &mut see),
    }
}

fn counts(targets: &Targets, named: usize) -> Vec<usize> {
    let Targets::Classes(classes) = targets else { return Vec::new() };
    let most = classes.iter().max().map_or(0, |&class| class as usize + 1).max(named);
    if most > MOST_CLASSES {
        return Vec::new();
    }
    let mut counts = vec![0; most];
    for &class in classes {
        if let Some(count) = counts.get_mut(class as usize) {
            *count += 1;
        }
    }
    counts
}
