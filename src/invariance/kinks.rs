//! Units that lie within rounding of the kink of their activation, and max pools within rounding of a tie: rounding decides
//! there which derivative is taken, and every second derivative may jump.
//!
//! A forward pass in double precision carries the variance of each value's rounding error beside the value. The parameters are
//! rounded as [`side`](super::side) rounds them, and a sum of n terms rounds like a random walk, so that z = Σ w a has the variance
//! Σ w² (var a + ε² (u² + n/4) a²). A unit whose terms all vanish is exact: it has none, and lies at no kink.

use std::fmt;

use super::side::UNITS;
use crate::control::{Control, Progress};
use crate::engine::{Activation, Operation, Plan, Precision, Step};
use crate::error::Result;
use crate::problem::Problem;

/// How many standard deviations are within rounding.
const DEVIATIONS: f64 = 4.0;

/// Multiplications between two breaths.
const BREATH: usize = 1 << 20;

/// How many units and pools, each counted once a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Kinks {
    /// Units within rounding of 0.
    pub units: usize,
    /// Max pools whose largest value is within rounding of another.
    pub pools: usize,
}

impl Kinks {
    pub fn total(self) -> usize {
        self.units + self.pools
    }
}

impl fmt::Display for Kinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |n: usize, one: &str, many: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {many}") };
        let units = plural(self.units, "unit lies", "units lie");
        let pools = plural(self.pools, "pool's maximum lies", "pools' maxima lie");
        match (self.units, self.pools) {
            (_, 0) => write!(f, "{units} within rounding of 0, where derivatives jump"),
            (0, _) => write!(f, "{pools} within rounding of another value, where derivatives jump"),
            _ => write!(
                f,
                "{units} within rounding of 0 and {pools} within rounding of another value, where derivatives jump"
            ),
        }
    }
}

/// Counts them over all samples at θ, for arithmetic in this precision.
///
/// # Errors
/// `Aborted`; `InvalidNetwork` as [`Plan::new`].
pub(super) async fn count_kinks(
    problem: &Problem,
    theta: &[f64],
    precision: Precision,
    control: &Control<'_>,
) -> Result<Kinks> {
    let plan = Plan::new(problem.network())?;
    let mut pass = Pass { theta, epsilon: precision.epsilon(), kinks: Kinks::default(), work: 0 };
    let len = problem.network().input_len();
    for n in 0..problem.samples() {
        if pass.work >= BREATH || n == 0 {
            pass.work = 0;
            control.step(Progress::new("units near their kinks", n, problem.samples())).await?;
        }
        // Inputs are the same before and after: they carry no error.
        let exact = |i| Rounded { value: problem.inputs().get(n * len + i), variance: 0.0 };
        let mut values: Vec<Rounded> = (0..len).map(exact).collect();
        for step in &plan.prefix {
            values = pass.step(step, &values, control).await?;
            values.iter_mut().for_each(|v| v.variance = 0.0);
        }
        for step in &plan.steps {
            values = pass.step(step, &values, control).await?;
        }
    }
    Ok(pass.kinks)
}

/// A value with the variance of its rounding error.
#[derive(Debug, Clone, Copy, Default)]
struct Rounded {
    value: f64,
    variance: f64,
}

struct Pass<'a> {
    theta: &'a [f64],
    epsilon: f64,
    kinks: Kinks,
    work: usize,
}

impl Pass<'_> {
    async fn step(&mut self, step: &Step, x: &[Rounded], control: &Control<'_>) -> Result<Vec<Rounded>> {
        let (output, window) = (step.output, &step.window);
        let reads = if step.is_affine() { window.area() * step.input.channels } else { window.area() };
        let mut out = crate::memory::reserve(output.len())?;
        for channel in 0..output.channels {
            for place in 0..output.area() {
                self.work += reads;
                if self.work >= BREATH {
                    self.work = 0;
                    control.breathe().await?;
                }
                let corner = [place / output.width * window.stride[0], place % output.width * window.stride[1]];
                let z = match &step.operation {
                    Operation::Affine { .. } => self.affine(step, channel, corner, x),
                    Operation::MaxPool => self.largest(step, channel, corner, x),
                    Operation::AveragePool => self.mean(step, channel, corner, x),
                    Operation::Copy => x[channel * output.area() + place],
                };
                out.push(self.activate(step.activation, z));
            }
        }
        Ok(out)
    }

    fn affine(&self, step: &Step, channel: usize, corner: [usize; 2], x: &[Rounded]) -> Rounded {
        let reads = step.window.area() * step.input.channels;
        let weights = &self.theta[step.weight()][channel * reads..][..reads];
        let own = self.epsilon.powi(2) * (UNITS * UNITS + reads as f64 / 4.0);
        let mut z = Rounded::default();
        if let Some(bias) = step.bias() {
            let b = self.theta[bias][channel];
            z = Rounded { value: b, variance: own * b * b };
        }
        for (i, w) in weights.iter().enumerate() {
            if let Some(a) = at(step, i / step.window.area(), corner, i % step.window.area(), x) {
                z.value += w * a.value;
                z.variance += w * w * (a.variance + own * a.value * a.value);
            }
        }
        z
    }

    fn largest(&mut self, step: &Step, channel: usize, corner: [usize; 2], x: &[Rounded]) -> Rounded {
        let values: Vec<Rounded> = window_values(step, channel, corner, x).collect();
        let best = values.iter().copied().reduce(|a, b| if b.value > a.value { b } else { a }).unwrap_or_default();
        let is_tied = |v: &Rounded| {
            let distance = best.value - v.value;
            // What is equal to the last bit was computed from equal numbers, and is so after the map too.
            distance > 0.0 && distance.powi(2) <= DEVIATIONS.powi(2) * (best.variance + v.variance)
        };
        self.kinks.pools += usize::from(values.iter().any(is_tied));
        best
    }

    fn mean(&self, step: &Step, channel: usize, corner: [usize; 2], x: &[Rounded]) -> Rounded {
        let share = 1.0 / step.window.area() as f64;
        window_values(step, channel, corner, x).fold(Rounded::default(), |sum, v| Rounded {
            value: sum.value + share * v.value,
            variance: sum.variance + share * share * (v.variance + (self.epsilon * v.value).powi(2)),
        })
    }

    fn activate(&mut self, activation: Activation, z: Rounded) -> Rounded {
        match activation {
            Activation::IDENTITY => z,
            Activation::Piecewise { slope } => {
                let is_near = z.variance > 0.0 && z.value.powi(2) <= DEVIATIONS.powi(2) * z.variance;
                self.kinks.units += usize::from(is_near);
                let slope = if z.value > 0.0 { 1.0 } else { slope };
                let spread = if is_near { f64::max(slope, 1.0) } else { slope };
                Rounded { value: slope * z.value, variance: spread * spread * z.variance }
            }
            Activation::Tanh => {
                let a = z.value.tanh();
                Rounded { value: a, variance: (1.0 - a * a).powi(2) * z.variance + (self.epsilon * a).powi(2) }
            }
        }
    }
}

/// The value that the window's pixel `i` covers in a channel; `None` in the padding.
fn at(step: &Step, channel: usize, corner: [usize; 2], i: usize, x: &[Rounded]) -> Option<Rounded> {
    let (window, input) = (&step.window, step.input);
    let row = (corner[0] + i / window.size[1]).checked_sub(window.padding[0])?;
    let column = (corner[1] + i % window.size[1]).checked_sub(window.padding[1])?;
    (row < input.height && column < input.width).then(|| x[(channel * input.height + row) * input.width + column])
}

fn window_values<'a>(
    step: &'a Step,
    channel: usize,
    corner: [usize; 2],
    x: &'a [Rounded],
) -> impl Iterator<Item = Rounded> + 'a {
    (0..step.window.area()).filter_map(move |i| at(step, channel, corner, i, x))
}
