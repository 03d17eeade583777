//! Units that lie within rounding of the kink of their activation, and max pools within rounding of a tie: rounding decides
//! there which derivative is taken, and every second derivative may jump.
//!
//! A forward pass in double precision carries the variance of each value's rounding error beside the value. The parameters are
//! rounded as [`side`](super::side) rounds them, and a sum of n terms rounds like a random walk, so that z = Σ w a has the variance
//! Σ w² (var a + ε² (u² + n/4) a²). A unit whose terms all vanish is exact: it has none, and lies at no kink.

use std::fmt;

use super::side::UNITS;
use crate::control::{Control, Progress};
use crate::engine::{Activation, Engine, Operation, Plan, Precision, Step};
use crate::error::Result;

/// How many standard deviations are within rounding.
const DEVIATIONS: f64 = 4.0;

/// Multiplications between two breaths.
const BREATH: usize = 1 << 20;

/// How many units and pools, each counted once a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Kinks {
    /// Units within rounding of 0, or of 6 before a ReLU6.
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
            (_, 0) => write!(f, "{units} within rounding of a kink, where derivatives jump"),
            (0, _) => write!(f, "{pools} within rounding of another value, where derivatives jump"),
            _ => write!(
                f,
                "{units} within rounding of a kink and {pools} within rounding of another value, where derivatives jump"
            ),
        }
    }
}

/// Counts them over all samples at θ, for arithmetic in this precision.
///
/// # Errors
/// `Aborted`.
pub(super) async fn count_kinks(
    engine: &Engine,
    theta: &[f64],
    precision: Precision,
    control: &Control<'_>,
) -> Result<Kinks> {
    let problem = &engine.problem().own();
    let plan = Plan::new(problem.network());
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
            values = pass.step(step, &[&values], control).await?;
            values.iter_mut().for_each(|v| v.variance = 0.0);
        }
        pass.run(&plan, &values, control).await?;
    }
    let mut counts = [pass.kinks.units as f64, pass.kinks.pools as f64];
    engine.total(&mut counts)?;
    Ok(Kinks { units: counts[0] as usize, pools: counts[1] as usize })
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
    /// What every step of the plan gives for this input.
    async fn run(&mut self, plan: &Plan, input: &[Rounded], control: &Control<'_>) -> Result<Vec<Vec<Rounded>>> {
        let mut values: Vec<Vec<Rounded>> = Vec::with_capacity(plan.steps.len());
        for step in &plan.steps {
            let reads: Vec<&[Rounded]> =
                step.reads.iter().map(|read| read.from.map_or(input, |from| &values[from][..])).collect();
            let found = self.step(step, &reads, control).await?;
            values.push(found);
        }
        Ok(values)
    }

    async fn step(&mut self, step: &Step, all: &[&[Rounded]], control: &Control<'_>) -> Result<Vec<Rounded>> {
        let (output, window, reads) = (step.output, &step.window, reads_of(step));
        let own = if step.is_affine() { self.rounding(reads) } else { 0.0 };
        let rounded = |a: &Rounded| Rounded { variance: a.variance + own * a.value * a.value, ..*a };
        let x = &all[0].iter().map(rounded).collect::<Vec<_>>();
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
                    Operation::Add => self.sum(all, channel * output.area() + place),
                    Operation::Concat => joined(all, channel * output.area() + place),
                    Operation::PadChannels { before } => {
                        let inner = (channel * output.area() + place).checked_sub(before * output.area());
                        inner.and_then(|inner| x.get(inner)).copied().unwrap_or_default()
                    }
                    Operation::Flatten | Operation::Copy => x[channel * output.area() + place],
                };
                out.push(self.activate(step.activation, z));
            }
        }
        Ok(out)
    }

    /// Σ w a + b, over inputs whose variances hold what multiplying and adding does to them.
    fn affine(&self, step: &Step, channel: usize, corner: [usize; 2], x: &[Rounded]) -> Rounded {
        let (area, reads) = (step.window.area(), reads_of(step));
        let seen = step.input.channels / step.groups();
        let first = channel / (step.output.channels / step.groups()) * seen;
        let weights = &self.theta[step.weight()][channel * reads..][..reads];
        let mut z = Rounded::default();
        if let Some(bias) = step.bias() {
            let b = self.theta[bias][channel];
            z = Rounded { value: b, variance: self.rounding(reads) * b * b };
        }
        for (weights, input) in weights.chunks_exact(area).zip(first..) {
            for (tap, pixel) in pixels(step, input, corner) {
                let (w, a) = (weights[tap], x[pixel]);
                z.value += w * a.value;
                z.variance += w * w * a.variance;
            }
        }
        z
    }

    /// Variance, relative to its square, that a term gets from the rounding of its weight and in a sum of this many.
    fn rounding(&self, terms: usize) -> f64 {
        self.epsilon.powi(2) * (UNITS * UNITS + terms as f64 / 4.0)
    }

    /// Of values at one place, each sum rounded.
    fn sum(&self, all: &[&[Rounded]], i: usize) -> Rounded {
        let mut found = Rounded::default();
        for x in all {
            let value = found.value + x[i].value;
            let own = if found.value == 0.0 || x[i].value == 0.0 { 0.0 } else { (self.epsilon * value).powi(2) };
            found = Rounded { value, variance: found.variance + x[i].variance + own };
        }
        found
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
            Activation::Smooth(smooth) => {
                let [a, slope, _] = smooth.jet(z.value);
                let is_near =
                    |kink: f64| z.variance > 0.0 && (z.value - kink).powi(2) <= DEVIATIONS.powi(2) * z.variance;
                let near = smooth.kinks().iter().any(|&kink| is_near(kink));
                self.kinks.units += usize::from(near);
                let slope = if near { 1.0 } else { slope };
                Rounded { value: a, variance: slope.powi(2) * z.variance + (self.epsilon * a).powi(2) }
            }
        }
    }
}

/// Value i of what is read, one after the other.
fn joined(all: &[&[Rounded]], i: usize) -> Rounded {
    let mut i = i;
    for x in all {
        match x.get(i) {
            Some(found) => return *found,
            None => i -= x.len(),
        }
    }
    Rounded::default()
}

/// Values that one output is made of.
fn reads_of(step: &Step) -> usize {
    if step.is_affine() { step.window.area() * step.input.channels / step.groups() } else { step.window.area() }
}

/// A window's places over a channel that are not in the padding, and the values there.
fn pixels(step: &Step, channel: usize, corner: [usize; 2]) -> impl Iterator<Item = (usize, usize)> {
    let (window, input) = (step.window, step.input);
    let inside = move |axis: usize, tap: usize, length: usize| {
        let place = (corner[axis] + tap * window.dilation[axis]).checked_sub(window.padding.before[axis])?;
        (place < length).then_some(place)
    };
    (0..window.area()).filter_map(move |tap| {
        let row = inside(0, tap / window.size[1], input.height)?;
        let column = inside(1, tap % window.size[1], input.width)?;
        Some((tap, (channel * input.height + row) * input.width + column))
    })
}

fn window_values<'a>(
    step: &'a Step,
    channel: usize,
    corner: [usize; 2],
    x: &'a [Rounded],
) -> impl Iterator<Item = Rounded> + 'a {
    pixels(step, channel, corner).map(move |(_, pixel)| x[pixel])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Conv2d, Layer, Network, Pool2d};
    use crate::problem::{Loss, Problem, Targets};

    /// Windows with padding and strides, pools, a flatten: the last values are the outputs.
    #[test]
    fn the_pass_computes_the_network() {
        let layers = vec![
            Layer::Conv2d(Conv2d { stride: [2, 1], padding: [3, 2].into(), ..Conv2d::new(3, [3, 2]) }),
            Layer::LeakyRelu { slope: 0.2 },
            Layer::MaxPool2d(Pool2d { stride: Some([1, 2]), ..Pool2d::new([2, 2]) }),
            Layer::Conv2d(Conv2d { padding: [0, 1].into(), bias: false, ..Conv2d::new(2, [2, 2]) }),
            Layer::Relu,
            Layer::AvgPool2d(Pool2d::new([1, 2])),
            Layer::Flatten,
            Layer::Dense { units: 3, bias: true },
        ];
        let network = Network::new(vec![2, 5, 4], layers).expect("a network");
        let theta =
            crate::linalg::random_normal(network.parameter_count(), &mut crate::linalg::generator(1)).expect("memory");
        let inputs = crate::linalg::random_normal(40, &mut crate::linalg::generator(2)).expect("memory");
        let problem = Problem::new(network, Loss::CrossEntropy, inputs, Targets::Classes(vec![0])).expect("a problem");
        let device = crate::engine::Device::cpu(Precision::F64);
        let engine = crate::engine::Engine::new(&device, &problem).expect("an engine");
        pollster::block_on(engine.prepare(&theta)).expect("a point");
        let outputs = pollster::block_on(engine.outputs()).expect("outputs");

        let plan = Plan::new(problem.network());
        let control = Control::default();
        let mut pass = Pass { theta: &theta, epsilon: f64::EPSILON, kinks: Kinks::default(), work: 0 };
        let input: Vec<Rounded> = (0..40).map(|i| Rounded { value: problem.inputs().get(i), variance: 0.0 }).collect();
        let values = pollster::block_on(pass.run(&plan, &input, &control)).expect("a pass");
        for (found, output) in values.last().expect("outputs").iter().zip(&outputs) {
            assert!((found.value - output).abs() < 1e-12, "{found:?}, {output}");
            assert!(found.variance > 0.0 && found.variance < 1e-24, "{found:?}");
        }
        assert_eq!(pass.kinks.total(), 0);
    }

    /// Ranks count over their own samples, and all get the sum. Rows of inputs that a unit's weights are orthogonal to lie at its kink.
    #[test]
    fn ranks_count_together() {
        let count = |rank: Option<crate::ranks::Thread>| {
            let network = Network::dense(&[2, 2, 1], false).expect("a network");
            let inputs: Vec<f64> =
                (0..12).flat_map(|i| if i % 3 == 0 { [0.1, 0.1] } else { [0.3, i as f64] }).collect();
            let targets = Targets::Vectors(vec![0.0; 12]);
            let problem = Problem::new(network, Loss::SquaredError, inputs, targets).expect("a problem");
            let device = crate::engine::Device::cpu(Precision::F64);
            let device = match rank {
                None => device,
                Some(rank) => {
                    let ranks = crate::ranks::Ranks::new(Box::new(rank)).expect("memory");
                    device.with_ranks(std::rc::Rc::new(ranks)).expect("devices that match")
                }
            };
            let engine = Engine::new(&device, &problem).expect("an engine");
            let theta = [0.7, -0.7, 1.0, 1.0, 1.0, 1.0];
            pollster::block_on(count_kinks(&engine, &theta, Precision::F32, &Control::default())).expect("a count")
        };
        assert_eq!(count(None), Kinks { units: 4, pools: 0 });
        let found: Vec<Kinks> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                crate::ranks::threads(5).into_iter().map(|rank| scope.spawn(move || count(Some(rank)))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a rank")).collect()
        });
        assert_eq!(found, [Kinks { units: 4, pools: 0 }; 5]);
    }
}
