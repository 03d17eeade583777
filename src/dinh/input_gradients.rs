//! Gradients with respect to the inputs, of every sample's loss and of the prediction function, at given weights.
//!
//! They come from the weights' gradient: a layer put before the network holds the samples themselves, x_n in column n, and gets one-hot
//! inputs e_n. The gradient in column n is then ∂ℓ_n/∂x_n over the number of samples.
//!
//! ∂f_c/∂x is that of a squared error whose targets are f − (s/2) e_c: its gradient in f is s e_c, whatever the network's own loss. With s as
//! large as the outputs, a power of two, targets lose nothing of e_c to rounding.

use super::outputs_at;
use crate::control::{Control, Progress};
use crate::engine::{Device, Engine};
use crate::error::{Result, ensure};
use crate::memory::{copied, room, zeros};
use crate::network::{Conv2d, Layer, NamedLayer, Names, Network};
use crate::problem::{Loss, Problem, Targets};

/// Samples that share one network of columns: of images fewer, whose layer does (H W)² multiplications a sample and column.
const GROUP: (usize, usize) = (256, 16);

/// ∂ℓ_n/∂x_n of every sample's own loss at θ (samples × input_len, row-major), exactly.
///
/// # Errors
/// What [`Engine::new`] and [`Engine::prepare`] say; `Aborted`.
pub async fn input_gradients(
    device: &Device,
    problem: &Problem,
    parameters: &[f64],
    control: &Control<'_>,
) -> Result<Vec<f64>> {
    problem.check_parameters(parameters)?;
    let network = problem.network();
    let (width, outputs) = (network.input_len(), network.output_len());
    let inputs = problem.shared_inputs().first_in_f64(problem.samples() * width)?;
    let group = if network.input().len() == 1 { GROUP.0 } else { GROUP.1 };
    let mut gradients = room("input gradients", inputs.len())?;
    for (i, x) in inputs.chunks(group * width).enumerate() {
        control.step(Progress::new("input gradients", i * group, problem.samples())).await?;
        let count = x.len() / width;
        let columns = Columns::new(network, count)?;
        let rows = i * group..i * group + count;
        let targets = match problem.shared_targets() {
            Targets::Classes(labels) => Targets::Classes(labels[rows].to_vec()),
            Targets::Vectors(v) => Targets::Vectors(copied("targets", &v[rows.start * outputs..rows.end * outputs])?),
        };
        let mut one_hot: Vec<f32> = zeros("numbers of samples", count * count)?;
        one_hot.iter_mut().step_by(count + 1).for_each(|x| *x = 1.0);
        let problem = Problem::new(columns.network.clone(), problem.loss(), one_hot, targets)?;
        let engine = Engine::new(device, &problem)?;
        let mut theta = room("a vector of parameters", x.len() + parameters.len())?;
        theta.resize(x.len(), 0.0);
        for (place, value) in columns.places().zip(x) {
            theta[place] = *value;
        }
        theta.extend_from_slice(parameters);
        engine.prepare(&theta).await?;
        let gradient = engine.gradient().await?;
        gradients.extend(columns.places().map(|place| gradient[place] * count as f64));
    }
    Ok(gradients)
}

/// ∂f_c(x_n)/∂x_n of one output c (from 0) of every sample at θ (samples × input_len, row-major): a row of the Jacobian of the prediction
/// function, which at interpolation stays what it is while ∂ℓ/∂x vanishes. The outputs are what goes into the loss: of classes, before the
/// softmax.
///
/// # Errors
/// `InvalidOption` for an output that there is not; what [`input_gradients`] says.
pub async fn prediction_gradients(
    device: &Device,
    problem: &Problem,
    parameters: &[f64],
    output: usize,
    control: &Control<'_>,
) -> Result<Vec<f64>> {
    let outputs = problem.network().output_len();
    ensure!(output < outputs, InvalidOption, "there is no output {output}: they are 0 to {}", outputs - 1);
    let predicted = outputs_at(&Engine::new(device, problem)?, parameters).await?;
    of_output(device, problem, (parameters, &predicted), output, control).await
}

/// [`prediction_gradients`] where the outputs are known.
pub(super) async fn of_output(
    device: &Device,
    problem: &Problem,
    (parameters, predicted): (&[f64], &[f64]),
    output: usize,
    control: &Control<'_>,
) -> Result<Vec<f64>> {
    let (network, outputs) = (problem.network(), problem.network().output_len());
    let largest = predicted.iter().fold(1.0, |m, f| f64::max(m, f.abs()));
    let size = largest.log2().ceil().exp2();
    let mut targets = copied("targets", predicted)?;
    targets.iter_mut().skip(output).step_by(outputs).for_each(|f| *f -= 0.5 * size);
    let inputs = problem.shared_inputs().first_in_f64(problem.samples() * network.input_len())?;
    let squared = Problem::new(network.clone(), Loss::SquaredError, inputs, Targets::Vectors(targets))?;
    let mut gradients = input_gradients(device, &squared, parameters, control).await?;
    gradients.iter_mut().for_each(|g| *g /= size);
    Ok(gradients)
}

/// A network with a layer before it whose weights are its inputs, a sample a column.
struct Columns {
    network: Network,
    count: usize,
    shape: [usize; 3],
}

impl Columns {
    fn new(network: &Network, count: usize) -> Result<Self> {
        let shape = network.input_shape();
        let (input, first) = if network.input().len() == 1 {
            (vec![count], Layer::Dense { units: shape.len(), bias: false })
        } else {
            // A window as large as the image around a single pixel of `count` channels: at each place another one of its
            // weights meets the pixel, so that weight (c, n, H−1−i, W−1−j) is the image's value (c, i, j).
            let (kernel, padding) = ([shape.height, shape.width], [shape.height - 1, shape.width - 1]);
            let first = Conv2d { padding: padding.into(), bias: false, ..Conv2d::new(shape.channels, kernel) };
            (vec![count, 1, 1], Layer::Conv2d(first))
        };
        let layers = behind(first, network.named_layers());
        let network = Network::graph(input, layers)?;
        Ok(Self { network, count, shape: [shape.channels, shape.height, shape.width] })
    }

    /// Where each value of each sample lies among the weights, sample by sample.
    fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let [channels, height, width] = self.shape;
        (0..self.count).flat_map(move |n| {
            (0..channels).flat_map(move |c| {
                // Mirrored; of a dense layer (height and width 1) the column alone.
                (0..height * width).map(move |i| ((c * self.count + n) * height * width) + height * width - 1 - i)
            })
        })
    }
}

/// The layers behind another one, which they read where they have read what comes in.
fn behind(first: Layer, layers: &[NamedLayer]) -> Vec<NamedLayer> {
    let is_taken = |name: &String| layers.iter().any(|layer| layer.name.as_ref() == Some(name));
    let name = (0..).map(|i| format!("inputs {i}")).find(|name| !is_taken(name));
    let mut layers = layers.to_vec();
    let names = layers.iter_mut().filter_map(|layer| layer.from.as_mut()).flat_map(Names::names_mut);
    names
        .filter(|read| *read == Names::INPUT)
        .for_each(|read| read.clone_from(name.as_ref().expect("numbers do not end")));
    layers.insert(0, NamedLayer { layer: first, name, from: None });
    layers
}
