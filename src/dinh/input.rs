//! Input representation, section 5.2 of Dinh et al. 2017: for inputs x = ξ(u) the function of u has the gradients
//! ∂L/∂u = (∇ξ)ᵀ ∂L/∂x, as small or large as ξ makes them. An affine ξ folds into the first layer, so that it is the same network.
//!
//! Input gradients come from the weights' gradient: a layer put before the network holds the samples themselves, x_n in
//! column n, and gets one-hot inputs e_n. The gradient in column n is then ∂ℓ_n/∂x_n over the number of samples.

use nalgebra::{DMatrix, DVector};
use serde::Serialize;

use super::OutputChange;
use crate::control::{Control, Progress};
use crate::engine::{Device, Engine};
use crate::error::{Result, bail, ensure};
use crate::linalg::decomposed;
use crate::memory::{copied, room, zeros};
use crate::network::{Conv2d, Layer, NamedLayer, Names, Network, ParametricLayer, Source};
use crate::problem::{Problem, Targets};

/// Samples that share one network of columns: of images fewer, whose layer does (H W)² multiplications a sample and column.
const GROUP: (usize, usize) = (256, 16);

/// Variances up to this share of the largest count as 0, and are left as they are.
const FLOOR: f64 = 1e-12;

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

/// An affine map of inputs, x = A u + c.
#[derive(Debug, Clone, PartialEq)]
pub struct InputMap {
    matrix: Matrix,
    shift: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
enum Matrix {
    Diagonal(Vec<f64>),
    Full { a: DMatrix<f64>, inverse: DMatrix<f64> },
}

impl InputMap {
    /// x_i = a_i u_i + c_i.
    ///
    /// # Errors
    /// `InvalidOption` for unequal lengths or a factor of 0; `NotFinite`.
    pub fn diagonal(factors: Vec<f64>, shift: Vec<f64>) -> Result<Self> {
        crate::error::ensure_finite("factors", &factors)?;
        crate::error::ensure_finite("shift", &shift)?;
        ensure!(factors.len() == shift.len(), InvalidOption, "there must be as many factors as shifts");
        ensure!(factors.iter().all(|a| *a != 0.0), InvalidOption, "a factor of 0 loses an input");
        Ok(Self { matrix: Matrix::Diagonal(factors), shift })
    }

    /// u of mean 0 and variance 1, per feature; per channel where the network begins with a convolution, which can take nothing
    /// else. What is constant keeps its size.
    pub fn standardize(problem: &Problem) -> Result<Self> {
        let network = problem.network();
        let area = if begins_with_channels(network) { network.input_shape().area() } else { 1 };
        let (inputs, width) = (problem.inputs(), network.input_len());
        let x = || (0..problem.samples() * width).map(|i| (i % width / area, inputs.get(i)));
        let count = (problem.samples() * area) as f64;
        let (mut mean, mut square) = (vec![0.0; width / area], vec![0.0; width / area]);
        x().for_each(|(feature, x)| mean[feature] += x / count);
        x().for_each(|(feature, x)| square[feature] += (x - mean[feature]).powi(2) / count);
        let largest = square.iter().fold(0.0, |m, s| f64::max(m, *s));
        let factor = |i: usize| if square[i / area] > FLOOR * largest { square[i / area].sqrt() } else { 1.0 };
        Self::diagonal((0..width).map(factor).collect(), (0..width).map(|i| mean[i / area]).collect())
    }

    /// u with mean 0 and the identity as its covariance: u = Λ^(−½) Vᵀ (x − mean) with the covariance V Λ Vᵀ. Directions without
    /// variance keep their size.
    ///
    /// # Errors
    /// `InvalidOption` for a network that begins with a convolution.
    pub fn whiten(problem: &Problem) -> Result<Self> {
        let network = problem.network();
        ensure!(
            !begins_with_channels(network),
            InvalidOption,
            "whitening mixes all inputs, which no convolution can take into its weights"
        );
        let (width, count) = (network.input_len(), problem.samples() as f64);
        let mut x = problem.shared_inputs().first_in_f64(problem.samples() * width)?;
        let mut mean = vec![0.0; width];
        x.chunks(width).for_each(|x| mean.iter_mut().zip(x).for_each(|(mean, x)| *mean += x / count));
        x.chunks_mut(width).for_each(|x| x.iter_mut().zip(&mean).for_each(|(x, mean)| *x -= mean));
        let square: Vec<f64> = zeros("a covariance", crate::memory::product::<f64>("a covariance", &[width, width])?)?;
        let mut covariance = DMatrix::from_vec(width, width, square);
        for x in x.chunks(GROUP.0 * width) {
            let centred = nalgebra::DMatrixView::from_slice(x, width, x.len() / width);
            covariance.gemm(1.0 / count, &centred, &centred.transpose(), 1.0);
        }
        let eigen = decomposed(&covariance)?;
        let (variances, vectors) = (DVector::from_vec(eigen.values), DMatrix::from_vec(width, width, eigen.vectors));
        let largest = variances.amax();
        let deviations = variances.map(|v| if v > FLOOR * largest { v.sqrt() } else { 1.0 });
        let a = &vectors * DMatrix::from_diagonal(&deviations);
        let inverse = DMatrix::from_diagonal(&deviations.map(|d| 1.0 / d)) * vectors.transpose();
        Ok(Self { matrix: Matrix::Full { a, inverse }, shift: mean })
    }

    /// u = A⁻¹ (x − c).
    fn representation(&self, x: &[f64]) -> Vec<f64> {
        let centred: Vec<f64> = x.iter().zip(&self.shift).map(|(x, c)| x - c).collect();
        match &self.matrix {
            Matrix::Diagonal(a) => centred.iter().zip(a).map(|(x, a)| x / a).collect(),
            Matrix::Full { inverse, .. } => product(inverse, &centred),
        }
    }

    /// Aᵀ g.
    fn pull(&self, g: &[f64]) -> Vec<f64> {
        match &self.matrix {
            Matrix::Diagonal(a) => g.iter().zip(a).map(|(g, a)| g * a).collect(),
            Matrix::Full { a, .. } => {
                a.tr_mul(&nalgebra::DVectorView::from_slice(g, g.len())).iter().copied().collect()
            }
        }
    }

    /// The network and parameters that compute from u what `network` and `parameters` compute from x: W_1 A and b_1 + W_1 c. A
    /// first layer without a bias gets one where there is a shift.
    ///
    /// # Errors
    /// `InvalidOption` for a map of another length, and for what a first layer cannot take: an activation or pool before it, a
    /// map that is not per channel before a convolution, a shift before one that pads with zeros; what
    /// [`Network::check_parameters`] says.
    pub fn fold(&self, network: &Network, parameters: &[f64]) -> Result<(Network, Vec<f64>)> {
        network.check_parameters(parameters)?;
        let width = network.input_len();
        ensure!(
            self.shift.len() == width,
            InvalidOption,
            "the map is of {} inputs, but the network has {width}",
            self.shift.len()
        );
        let first = &network.layout().layers()[0];
        ensure_first(network, first.layer)?;
        let mut weight = parameters[first.weight.clone()].to_vec();
        // What a constant input of the shift adds to each row.
        let mut added = vec![0.0; first.outputs];
        let is_shifted = self.shift.iter().any(|c| *c != 0.0);
        if begins_with_channels(network) {
            let (factors, shift) = self.per_channel(first)?;
            let pads = matches!(network.layer(first.layer), Layer::Conv2d(conv) if !conv.padding.is_none());
            ensure!(
                !is_shifted || !pads,
                InvalidOption,
                "the first convolution pads with zeros of x, which are no zeros of u: its weights cannot take the shift"
            );
            for (row, (weights, added)) in weight.chunks_exact_mut(first.inputs).zip(&mut added).enumerate() {
                for (column, w) in weights.iter_mut().enumerate() {
                    let c = first.unit(row, column);
                    *added += *w * shift[c];
                    *w *= factors[c];
                }
            }
        } else {
            for (row, added) in weight.chunks_exact_mut(width).zip(&mut added) {
                *added = row.iter().zip(&self.shift).map(|(w, c)| w * c).sum();
                row.copy_from_slice(&self.pull(row));
            }
        }
        let mut layers = network.named_layers().to_vec();
        let mut folded = weight;
        let rest = match &first.bias {
            Some(bias) => {
                folded.extend(parameters[bias.clone()].iter().zip(&added).map(|(b, a)| b + a));
                bias.end
            }
            None => {
                if is_shifted {
                    folded.extend(&added);
                    layers[first.layer].layer.add_bias();
                }
                first.weight.end
            }
        };
        folded.extend(&parameters[rest..]);
        Ok((Network::graph(network.input().to_vec(), layers)?, folded))
    }

    /// Factors and shifts by channel.
    fn per_channel(&self, first: &ParametricLayer) -> Result<(Vec<f64>, Vec<f64>)> {
        let area = self.shift.len() / first.units_in();
        let of = |values: &[f64]| -> Option<Vec<f64>> {
            values.chunks(area).map(|c| c.iter().all(|v| *v == c[0]).then_some(c[0])).collect()
        };
        let Matrix::Diagonal(factors) = &self.matrix else {
            bail!(InvalidOption, "a convolution can take a factor a channel into its weights, but no matrix")
        };
        match of(factors).zip(of(&self.shift)) {
            Some(found) => Ok(found),
            None => bail!(InvalidOption, "a convolution can take one factor and shift a channel, but not one a pixel"),
        }
    }
}

/// Does the first layer with parameters see channels, a factor each of which it can take, rather than all inputs?
fn begins_with_channels(network: &Network) -> bool {
    !matches!(network.layer(network.layout().layers()[0].layer), Layer::Dense { .. })
}

/// Fails unless what comes in goes into the first layer with parameters as it is, and nowhere else.
fn ensure_first(network: &Network, first: usize) -> Result<()> {
    for (i, layer) in network.layers().take(first).enumerate() {
        let is_neutral = matches!(layer, Layer::Flatten | Layer::Identity);
        ensure!(is_neutral, InvalidOption, "{} comes before the first weights", network.title(i));
    }
    let layout = network.layout();
    let beside = (0..network.named_layers().len()).filter(|&i| {
        let is_own = |source: &Source| i > first && matches!(source, Source::Layer(j) if *j >= first);
        i > first && !layout.sources(i).iter().all(is_own)
    });
    match beside.into_iter().next() {
        None => Ok(()),
        Some(i) => {
            bail!(InvalidOption, "{} reads what comes into the network beside the first weights", network.title(i))
        }
    }
}

fn product(matrix: &DMatrix<f64>, x: &[f64]) -> Vec<f64> {
    (matrix * nalgebra::DVectorView::from_slice(x, x.len())).iter().copied().collect()
}

/// The same function of inputs in another representation, and what that does to its input gradients.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InputRepresentation {
    /// ‖∂ℓ_n/∂x_n‖₂ of every sample.
    pub norms_before: Vec<f64>,
    /// ‖∂ℓ_n/∂u_n‖₂ of every sample, by the folded network's own gradients.
    pub norms_after: Vec<f64>,
    /// Mean of the first.
    pub mean_before: f64,
    /// Mean of the second.
    pub mean_after: f64,
    /// Smallest and largest ratio of a sample's two norms, of those that are not 0; none where all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratios: Option<[f64; 2]>,
    /// Largest difference of ∂ℓ/∂u from Aᵀ ∂ℓ/∂x, over the largest of them.
    pub chain_rule_error: f64,
    /// What became of the outputs.
    pub outputs: OutputChange,
    /// The network of u, with a bias in its first layer where the shift needs one.
    pub network: Network,
    /// Its parameters.
    #[serde(skip)]
    pub parameters: Vec<f64>,
    /// u of every sample, samples × input_len.
    #[serde(skip)]
    pub inputs: Vec<f64>,
}

/// Folds x = A u + c into the first layer and compares outputs and input gradients.
///
/// # Errors
/// As [`InputMap::fold`] and [`input_gradients`].
pub async fn input_representation(
    device: &Device,
    problem: &Problem,
    parameters: &[f64],
    map: &InputMap,
    control: &Control<'_>,
) -> Result<InputRepresentation> {
    let (network, folded) = map.fold(problem.network(), parameters)?;
    let width = network.input_len();
    let mut inputs = room("inputs in another representation", problem.samples() * width)?;
    for x in problem.shared_inputs().first_in_f64(problem.samples() * width)?.chunks(width) {
        inputs.extend(map.representation(x));
        control.breathe().await?;
    }
    let copy = copied("inputs in another representation", &inputs)?;
    let other = Problem::new(network.clone(), problem.loss(), copy, problem.targets().clone())?;
    let before = super::outputs_at(&Engine::new(device, problem)?, parameters).await?;
    let after = super::outputs_at(&Engine::new(device, &other)?, &folded).await?;
    let in_x = input_gradients(device, problem, parameters, control).await?;
    let in_u = input_gradients(device, &other, &folded, control).await?;
    let expected: Vec<f64> = in_x.chunks(width).flat_map(|g| map.pull(g)).collect();
    let norms =
        |g: &[f64]| -> Vec<f64> { g.chunks(width).map(|g| g.iter().map(|g| g * g).sum::<f64>().sqrt()).collect() };
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (norms_before, norms_after) = (norms(&in_x), norms(&in_u));
    let ratios = norms_before.iter().zip(&norms_after).filter(|(before, _)| **before > 0.0).map(|(b, a)| a / b);
    let ratios = ratios.map(|r| [r, r]).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
    Ok(InputRepresentation {
        mean_before: mean(&norms_before),
        mean_after: mean(&norms_after),
        norms_before,
        norms_after,
        ratios,
        chain_rule_error: OutputChange::new(&expected, &in_u).relative,
        outputs: OutputChange::new(&before, &after),
        network,
        parameters: folded,
        inputs,
    })
}
