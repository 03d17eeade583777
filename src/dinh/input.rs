//! Input representation, section 5.2 of Dinh et al. 2017: for inputs x = ξ(u) the function of u has the gradients
//! ∂f/∂u = ∂f/∂x ∂ξ/∂u and ∂ℓ/∂u = (∇ξ)ᵀ ∂ℓ/∂x, as small or large as ξ makes them. An affine ξ folds into the first layer, so that it is the
//! same network; gaussianisation does not.

use nalgebra::{DMatrix, DVector};
use serde::Serialize;

use super::gaussianization::{Marginal, is_constant};
use super::input_gradients::{input_gradients, of_output};
use super::{OutputChange, outputs_at};
use crate::control::Control;
use crate::engine::{Device, Engine};
use crate::error::{Result, bail, ensure};
use crate::linalg::symmetric_eigen;
use crate::memory::{copied, room, zeros};
use crate::network::{Layer, Network, ParametricLayer, Source};
use crate::numbers::largest;
use crate::problem::Problem;

/// Multiplications of a covariance that are done at once.
const AT_ONCE: usize = 30_000_000;

/// Variances up to this share of the largest count as 0, and are left as they are.
const FLOOR: f64 = 1e-12;

/// An invertible map of inputs, x = ξ(u): x = A u + c, or the inverse of gaussianisation.
#[derive(Debug, Clone, PartialEq)]
pub struct InputMap {
    matrix: Matrix,
    shift: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
enum Matrix {
    Diagonal(Vec<f64>),
    Full {
        a: DMatrix<f64>,
        inverse: DMatrix<f64>,
    },
    /// No matrix: u_i = Φ⁻¹(F_i(x_i)).
    Marginals(Vec<Marginal>),
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
    /// else. What is constant, to a billionth of its own size, keeps that.
    pub fn standardize(problem: &Problem) -> Result<Self> {
        let network = problem.network();
        let area = if begins_with_channels(network) { network.input_shape().area() } else { 1 };
        let (inputs, width) = (problem.inputs(), network.input_len());
        let x = || (0..problem.samples() * width).map(|i| (i % width / area, inputs.get(i)));
        let count = (problem.samples() * area) as f64;
        let [mut mean, mut square, mut size] = [(); 3].map(|()| vec![0.0; width / area]);
        x().for_each(|(feature, x)| mean[feature] += x / count);
        x().for_each(|(feature, x)| square[feature] += (x - mean[feature]).powi(2) / count);
        x().for_each(|(feature, x)| size[feature] = f64::max(size[feature], x.abs()));
        let factor = |i: usize| match square[i / area].sqrt() {
            deviation if is_constant(deviation, size[i / area]) => 1.0,
            deviation => deviation,
        };
        Self::diagonal((0..width).map(factor).collect(), (0..width).map(|i| mean[i / area]).collect())
    }

    /// u with mean 0 and the identity as its covariance: u = Λ^(−½) Vᵀ (x − mean) with the covariance V Λ Vᵀ. Directions without
    /// variance keep their size.
    ///
    /// # Errors
    /// `InvalidOption` for a network that begins with a convolution; `Aborted`.
    pub async fn whiten(problem: &Problem, control: &Control<'_>) -> Result<Self> {
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
        let group = (AT_ONCE / (width * width)).clamp(8, 256);
        for x in x.chunks(group * width) {
            control.breathe().await?;
            let centred = nalgebra::DMatrixView::from_slice(x, width, x.len() / width);
            covariance.gemm(1.0 / count, &centred, &centred.transpose(), 1.0);
        }
        let eigen = symmetric_eigen(covariance.data.into(), width, control).await?;
        let (variances, vectors) = (DVector::from_vec(eigen.values), DMatrix::from_vec(width, width, eigen.vectors));
        let largest = variances.amax();
        let deviations = variances.map(|v| if v > FLOOR * largest { v.sqrt() } else { 1.0 });
        // Products with diagonal matrices, without their zeros.
        let (mut inverse, mut a) = (vectors.transpose(), vectors);
        a.column_iter_mut().zip(&deviations).for_each(|(mut column, d)| column *= *d);
        inverse.row_iter_mut().zip(&deviations).for_each(|(mut row, d)| row /= *d);
        Ok(Self { matrix: Matrix::Full { a, inverse }, shift: mean })
    }

    /// u_i = Φ⁻¹(F_i(x_i)), the marginal step of gaussianisation (Chen and Gopinath 2001): F_i is a smooth estimate of the distribution
    /// function of feature i over the samples, so that each u_i is close to standard normal. What is constant keeps its size.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn gaussianize(problem: &Problem) -> Result<Self> {
        let (width, count) = (problem.network().input_len(), problem.samples());
        let x = problem.shared_inputs().first_in_f64(count * width)?;
        let mut marginals = room("distributions of features", width)?;
        let mut column = room("a feature", count)?;
        for feature in 0..width {
            column.clear();
            column.extend(x.iter().skip(feature).step_by(width));
            marginals.push(Marginal::of(&mut column));
        }
        Ok(Self { matrix: Matrix::Marginals(marginals), shift: zeros("a shift", width)? })
    }

    /// ξ(u).
    ///
    /// # Errors
    /// `InvalidOption` for a u of another length than the map's.
    pub fn inputs(&self, u: &[f64]) -> Result<Vec<f64>> {
        self.ensure_len("u", u)?;
        let unshifted = match &self.matrix {
            Matrix::Diagonal(a) => u.iter().zip(a).map(|(u, a)| a * u).collect(),
            Matrix::Full { a, .. } => product(a, u),
            Matrix::Marginals(marginals) => return Ok(marginals.iter().zip(u).map(|(m, u)| m.input(*u)).collect()),
        };
        Ok(unshifted.iter().zip(&self.shift).map(|(x, c)| x + c).collect())
    }

    /// u = ξ⁻¹(x): A⁻¹ (x − c).
    ///
    /// # Errors
    /// As [`InputMap::inputs`], for x.
    pub fn representation(&self, x: &[f64]) -> Result<Vec<f64>> {
        self.ensure_len("x", x)?;
        let centred: Vec<f64> = x.iter().zip(&self.shift).map(|(x, c)| x - c).collect();
        Ok(match &self.matrix {
            Matrix::Diagonal(a) => centred.iter().zip(a).map(|(x, a)| x / a).collect(),
            Matrix::Full { inverse, .. } => product(inverse, &centred),
            Matrix::Marginals(marginals) => marginals.iter().zip(x).map(|(m, x)| m.normal(*x)).collect(),
        })
    }

    /// (∂ξ/∂u)ᵀ g at x = ξ(u): Aᵀ g, wherever that is.
    ///
    /// # Errors
    /// As [`InputMap::inputs`], for x and g.
    pub fn pull(&self, x: &[f64], g: &[f64]) -> Result<Vec<f64>> {
        self.ensure_len("x", x)?;
        self.ensure_len("g", g)?;
        Ok(self.pulled(x, g))
    }

    fn ensure_network(&self, network: &Network) -> Result<()> {
        let (found, wanted) = (self.shift.len(), network.input_len());
        ensure!(found == wanted, InvalidOption, "the map is of {found} inputs, but the network has {wanted}");
        Ok(())
    }

    fn ensure_len(&self, what: &str, values: &[f64]) -> Result<()> {
        let (found, wanted) = (values.len(), self.shift.len());
        ensure!(found == wanted, InvalidOption, "{what} has {found} inputs, but the map is of {wanted}");
        Ok(())
    }

    /// [`InputMap::pull`] of lengths that are known to be right; an affine map needs no x.
    fn pulled(&self, x: &[f64], g: &[f64]) -> Vec<f64> {
        match &self.matrix {
            Matrix::Diagonal(a) => g.iter().zip(a).map(|(g, a)| g * a).collect(),
            Matrix::Full { a, .. } => {
                a.tr_mul(&nalgebra::DVectorView::from_slice(g, g.len())).iter().copied().collect()
            }
            Matrix::Marginals(marginals) => marginals.iter().zip(x).zip(g).map(|((m, x), g)| g / m.slope(*x)).collect(),
        }
    }

    /// The network and parameters that compute from u what `network` and `parameters` compute from x: W_1 A and b_1 + W_1 c. A
    /// first layer without a bias gets one where there is a shift.
    ///
    /// # Errors
    /// `InvalidOption` for a map of another length, one that is not affine, and for what a first layer cannot take: an activation or pool before it, a
    /// map that is not per channel before a convolution, a shift before one that pads with zeros; what
    /// [`Network::check_parameters`] says.
    pub fn fold(&self, network: &Network, parameters: &[f64]) -> Result<(Network, Vec<f64>)> {
        network.check_parameters(parameters)?;
        let is_affine = !matches!(self.matrix, Matrix::Marginals(_));
        ensure!(is_affine, InvalidOption, "gaussianisation is no affine map, and no weights can take it");
        let width = network.input_len();
        self.ensure_network(network)?;
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
                row.copy_from_slice(&self.pulled(&[], row));
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

/// Lengths of gradients of every sample, with respect to x and to u = ξ⁻¹(x).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GradientNorms {
    /// Of every sample, by x.
    pub before: Vec<f64>,
    /// Of every sample, by u.
    pub after: Vec<f64>,
    /// Mean of the first.
    pub mean_before: f64,
    /// Mean of the second.
    pub mean_after: f64,
    /// Smallest and largest ratio of a sample's two norms, of those that are not 0; none where all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratios: Option<[f64; 2]>,
}

impl GradientNorms {
    /// Of their squares, which must be finite, as the ratios must.
    fn new(before: &[f64], after: &[f64]) -> Result<Self> {
        let roots = |squares: &[f64]| -> Vec<f64> { squares.iter().map(|s| s.sqrt()).collect() };
        for squares in [before, after] {
            crate::error::ensure_finite("squared norms of input gradients", squares)?;
        }
        let (before, after) = (roots(before), roots(after));
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let ratios = before.iter().zip(&after).filter(|(before, _)| **before > 0.0).map(|(b, a)| a / b);
        let ratios = ratios.map(|r| [r, r]).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        let [mean_before, mean_after] = [mean(&before), mean(&after)];
        crate::error::ensure_finite("means of input gradients", &[mean_before, mean_after])?;
        crate::error::ensure_finite("ratios of input gradients", &ratios.unwrap_or([0.0; 2]))?;
        Ok(Self { mean_before, mean_after, ratios, before, after })
    }
}

/// The same function of inputs in another representation, and what that does to its input gradients.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InputRepresentation {
    /// ‖∂ℓ_n/∂x_n‖₂ and ‖∂ℓ_n/∂u_n‖₂: at interpolation both are 0.
    pub loss_gradients: GradientNorms,
    /// ‖∂f/∂x_n‖_F and ‖∂f/∂u_n‖_F of the prediction function f, the network's outputs: what section 5.2 speaks of.
    pub prediction_gradients: GradientNorms,
    /// Largest difference of a gradient by u from (∂ξ/∂u)ᵀ that by x, over the largest of all these gradients. Those by u are the folded network's own, and
    /// where ξ is not affine those at ξ(u).
    pub chain_rule_error: f64,
    /// What became of the outputs, at ξ(u).
    pub outputs: OutputChange,
    /// The network of u, with a bias in its first layer where the shift needs one; none where ξ is not affine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Its parameters, or those that were given.
    #[serde(skip)]
    pub parameters: Vec<f64>,
    /// u of every sample, samples × input_len.
    #[serde(skip)]
    pub inputs: Vec<f64>,
}

/// Compares outputs and input gradients, of the loss and of the prediction function, with those of inputs u = ξ⁻¹(x). An affine ξ is folded
/// into the first layer.
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
    let folded = match map.matrix {
        Matrix::Marginals(_) => None,
        _ => Some(map.fold(problem.network(), parameters)?),
    };
    map.ensure_network(problem.network())?;
    let (width, count) = (problem.network().input_len(), problem.samples());
    let mut inputs = room("inputs in another representation", count * width)?;
    let given = problem.shared_inputs().first_in_f64(count * width)?;
    for x in given.chunks(width) {
        inputs.extend(map.representation(x)?);
        control.breathe().await?;
    }
    // What the other network, or the same one, is given.
    let mut seen = room("inputs in another representation", count * width)?;
    for u in inputs.chunks(width) {
        match folded {
            Some(_) => seen.extend_from_slice(u),
            None => seen.extend(map.inputs(u)?),
        }
        control.breathe().await?;
    }
    let at = copied("inputs in another representation", &seen)?;
    let (network, theta) = match folded {
        Some((network, theta)) => (Some(network), theta),
        None => (None, copied("a vector of parameters", parameters)?),
    };
    let own = || problem.network().clone();
    let other = Problem::new(network.clone().unwrap_or_else(own), problem.loss(), seen, problem.targets().clone())?;
    let before = outputs_at(&Engine::new(device, problem)?, parameters).await?;
    let after = outputs_at(&Engine::new(device, &other)?, &theta).await?;
    let mut pairs =
        Pairs { map, given: &given, at: network.is_none().then_some(&at), difference: 0.0, size: f64::MIN_POSITIVE };
    let mut squares = [[vec![0.0; count], vec![0.0; count]], [vec![0.0; count], vec![0.0; count]]];
    let in_x = input_gradients(device, problem, parameters, control).await?;
    let in_u = input_gradients(device, &other, &theta, control).await?;
    pairs.compare(&in_x, in_u, &mut squares[0], control).await?;
    for output in 0..problem.network().output_len() {
        let in_x = of_output(device, problem, (parameters, &before), output, control).await?;
        let in_u = of_output(device, &other, (&theta, &after), output, control).await?;
        pairs.compare(&in_x, in_u, &mut squares[1], control).await?;
    }
    let [loss, prediction] = squares.map(|[x, u]| GradientNorms::new(&x, &u));
    let (loss_gradients, prediction_gradients) = (loss?, prediction?);
    Ok(InputRepresentation {
        loss_gradients,
        prediction_gradients,
        chain_rule_error: pairs.difference / pairs.size,
        outputs: OutputChange::new(&before, &after),
        network,
        parameters: theta,
        inputs,
    })
}

/// Gradients by x and by u of the same samples.
struct Pairs<'a> {
    map: &'a InputMap,
    /// x of every sample.
    given: &'a [f64],
    /// Where gradients by u are asked for by x, where that is.
    at: Option<&'a Vec<f64>>,
    /// The largest difference, and the largest gradient: those of the loss are rounding alone at interpolation.
    difference: f64,
    size: f64,
}

impl Pairs<'_> {
    /// Adds the squares of a pair of gradients to those of each sample.
    async fn compare(
        &mut self,
        in_x: &[f64],
        mut in_u: Vec<f64>,
        sums: &mut [Vec<f64>; 2],
        control: &Control<'_>,
    ) -> Result<()> {
        let width = self.map.shift.len();
        if let Some(at) = self.at {
            in_u = self.pulled(at, &in_u, control).await?;
        }
        let by_chain_rule = self.pulled(self.given, in_x, control).await?;
        self.difference = self.difference.max(OutputChange::new(&by_chain_rule, &in_u).largest);
        self.size = self.size.max(largest(by_chain_rule));
        for (sums, g) in sums.iter_mut().zip([in_x, &in_u]) {
            sums.iter_mut().zip(g.chunks(width)).for_each(|(s, g)| *s += g.iter().map(|g| g * g).sum::<f64>());
        }
        Ok(())
    }

    /// [`InputMap::pull`] of every sample's.
    async fn pulled(&self, x: &[f64], g: &[f64], control: &Control<'_>) -> Result<Vec<f64>> {
        let width = self.map.shift.len();
        let mut all = room("gradients by another representation", g.len())?;
        for (x, g) in x.chunks(width).zip(g.chunks(width)) {
            all.extend(self.map.pulled(x, g));
            control.breathe().await?;
        }
        Ok(all)
    }
}
