//! Normalised sharpness (Tsuzuku, Sato and Sugiyama 2020, “Normalized flat minima”): of every layer's weights the least of curvature and
//! size together, over factors of its rows and columns,
//!
//! NS_l = min over s, s′ > 0 of Σ_ij (h_ij s_i s′_j + w²_ij / (s_i s′_j)),
//!
//! h_ij the Hessian's diagonal, and Σ_l NS_l. Biases have no part in it; in a convolution h and w² are summed over the window first, so
//! that rows and columns are channels; a scale is a convolution of one channel each. A rescaling of layers or neurons only moves s and s′. The
//! definition is read from the code that Ibayashi et al. (2021) publish for comparisons.
//!
//! With s_i = e^(2 a_i) and s′_j = e^(−2 b_j) both kinds of terms are exponentials of differences, h_ij e^(2 (a_i − b_j)) and
//! w²_ij e^(2 (b_j − a_i)): a [`balance`](super::balance), with an infimum that leaves out what only one of them has. Given s′ the best s_i
//! is √(Σ_j w²_ij / s′_j / Σ_j h_ij s′_j), so that NS_l = min over s′ of 2 Σ_i √((Σ_j h_ij s′_j) (Σ_j w²_ij / s′_j)).

use std::ops::Range;

use super::balance::{Minimum, SMALLEST, Terms, Ways, minimum, unit_of};
use super::row::{ALWAYS, Compute, Cost, Domain, Family};
use super::{Measure, MeasureValue};
use crate::control::Control;
use crate::engine::Engine;
use crate::error::Result;
use crate::network::{Layer, Network, ParametricLayer};
use crate::numbers::norm;

pub(super) const MEASURES: &[Measure] = &[Measure {
    key: "normalized_sharpness",
    title: "Normalised sharpness",
    paper: "Tsuzuku et al. 2020, as Ibayashi et al. 2021 compute it",
    description: "Sum over the layers of the least of curvature and size that factors s of rows and s′ of columns leave: min of \
                  Σ (H_ij s_i s′_j + w_ij²/(s_i s′_j)).",
    defined_for: Domain::PiecewiseLinear,
    invariant: ALWAYS,
    ..Measure::new(Family::Orbit, Cost::Sweep, Compute::Point(|known, _| Box::pin(known.normalized_sharpness())))
}];

/// From the Hessian's diagonal at the point that is prepared.
pub(super) async fn normalized_sharpness(
    engine: &Engine,
    diagonal: &[f64],
    control: &Control<'_>,
) -> Result<MeasureValue> {
    let (network, parameters) = (engine.problem().network(), engine.parameters()?);
    let (mut value, mut error, mut converged, mut trace) = (0.0, 0.0, true, 0.0);
    for layer in network.layout().layers() {
        let (h, w) = (&diagonal[layer.weight.clone()], &parameters[layer.weight.clone()]);
        let matrix = Matrix::of(network, layer);
        let found = matrix.least(h, w, control).await?;
        value += found.value;
        error += found.error + matrix.lost(&found, h, w, engine.info().precision.smallest());
        converged &= found.converged;
        trace += h.iter().sum::<f64>();
    }
    // Of positive terms: its rounding is relative to itself. But it is a root, and underflow is seen at what it is the root of.
    let found = MeasureValue::exact("normalized_sharpness", value, value.min(trace));
    Ok(MeasureValue { residual: Some(error), converged, ..found })
}

/// A layer's weights as rows and columns, which have a factor each.
struct Matrix<'a> {
    layer: &'a ParametricLayer,
    /// Weights of a row that belong to one column: places of a convolution's window.
    window: usize,
}

impl<'a> Matrix<'a> {
    fn of(network: &Network, layer: &'a ParametricLayer) -> Self {
        let is_dense = matches!(network.layer(layer.layer), Layer::Dense { .. });
        Self { layer, window: if is_dense { 1 } else { layer.columns_per_unit } }
    }

    /// The factors of a row's columns among all: those of the rows come first, then the columns of one group after another.
    fn columns(&self, row: usize) -> Range<usize> {
        let ParametricLayer { outputs, inputs, groups, .. } = *self.layer;
        let count = inputs / self.window;
        let first = outputs + row / (outputs / groups) * count;
        first..first + count
    }

    /// The least of curvature and size, from the Hessian's diagonal over the weights and these.
    async fn least(&self, h: &[f64], w: &[f64], control: &Control<'_>) -> Result<Minimum> {
        let ParametricLayer { outputs, inputs, groups, .. } = *self.layer;
        // Both sums are near 1 then, and so are the factors that make them equal.
        let unit_h = unit_of(h.iter().sum(), h.iter().copied(), SMALLEST);
        // Squares are taken of these.
        let unit_w = unit_of(norm(w.iter().copied()), w.iter().map(|w| w.abs()), SMALLEST.sqrt());
        let unit = unit_h.sqrt() * unit_w;
        let mut terms = Terms::of(outputs + inputs / self.window * groups, unit, |with| {
            for (row, (h, w)) in h.chunks_exact(inputs).zip(w.chunks_exact(inputs)).enumerate() {
                let places = h.chunks_exact(self.window).zip(w.chunks_exact(self.window));
                for (column, (h, w)) in self.columns(row).zip(places) {
                    let (row, column) = (row as u32, column as u32);
                    with(column, row, h.iter().map(|h| h / unit_h).sum());
                    with(row, column, w.iter().map(|w| (w / unit_w).powi(2)).sum());
                }
            }
        })?;
        let ways = Ways::part(&mut terms)?;
        let found = minimum("normalized sharpness", &terms, &ways, control).await?;
        Ok(Minimum { value: found.value * unit, error: found.error * unit, ..found })
    }

    /// What the least may lack where underflow has taken up to so much from every curvature: with the columns' factors as they are,
    /// √((a + δ Σ_j s′_j) b) ≤ √(a b) + √(δ Σ_j s′_j b) in every row. Nor is it more than what there is with factors of 1, which is less where
    /// those that are best lie hundreds of orders apart.
    fn lost(&self, found: &Minimum, h: &[f64], w: &[f64], each: f64) -> f64 {
        let of_row = |(row, w): (usize, &[f64])| {
            let sums =
                self.columns(row).zip(w.chunks_exact(self.window)).fold([0.0; 2], |[ones, size], (column, w)| {
                    let factor = (2.0 * found.logarithms[column]).exp();
                    [ones + self.window as f64 / factor, size + w.iter().map(|w| w * w).sum::<f64>() * factor]
                });
            let [ones, size] = sums.map(f64::sqrt);
            2.0 * each.sqrt() * ones * size
        };
        let inputs = self.layer.inputs;
        let plain = h.chunks_exact(inputs).zip(w.chunks_exact(inputs)).map(|(h, w)| {
            2.0 * (h.iter().sum::<f64>().max(0.0) + each * inputs as f64).sqrt() * norm(w.iter().copied())
        });
        // The lesser of the two, of which the first may be no number.
        w.chunks_exact(inputs).enumerate().map(of_row).sum::<f64>().min(plain.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Conv2d;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn least_in(network: &Network, h: &[f64], w: &[f64]) -> Minimum {
        let [layer] = network.layout().layers() else { panic!("one layer") };
        let matrix = Matrix::of(network, layer);
        let found = pollster::block_on(matrix.least(h, w, &Control::default())).expect("a minimum");
        assert!(found.converged && found.error <= 1e-15 * found.value, "{} ± {}", found.value, found.error);
        found
    }

    fn least(rows: usize, columns: usize, h: &[f64], w: &[f64]) -> f64 {
        least_in(&Network::dense(&[columns, rows], false).expect("a network"), h, w).value
    }

    /// Sizes over many orders, and signs.
    fn any(rng: &mut ChaCha8Rng, count: usize) -> [Vec<f64>; 2] {
        let h = (0..count).map(|_| rng.random_range(-8.0..2.0_f64).exp()).collect();
        let w = (0..count).map(|_| rng.random_range(-4.0..2.0_f64).exp() * if rng.random() { 1.0 } else { -1.0 });
        [h, w.collect()]
    }

    /// With the best factors of rows, as in the header: of the logarithms of s′, the first 0.
    fn given(h: &[f64], w: &[f64], logarithms: &[f64]) -> f64 {
        let factors: Vec<f64> = std::iter::once(1.0).chain(logarithms.iter().map(|t| t.exp())).collect();
        let rows = h.chunks_exact(factors.len()).zip(w.chunks_exact(factors.len()));
        let row = |(h, w): (&[f64], &[f64])| {
            let curvature: f64 = h.iter().zip(&factors).map(|(h, s)| h * s).sum();
            let size: f64 = w.iter().zip(&factors).map(|(w, s)| w * w / s).sum();
            2.0 * (curvature * size).sqrt()
        };
        rows.map(row).sum()
    }

    /// By thirds, one coordinate after another: what is convex and smooth has its minimum where none goes down.
    fn searched(h: &[f64], w: &[f64], columns: usize) -> f64 {
        let mut logarithms = vec![0.0; columns - 1];
        for _ in 0..200 {
            for at in 0..logarithms.len() {
                let (mut low, mut high) = (-40.0, 40.0);
                for _ in 0..120 {
                    let thirds = [(2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0];
                    let [a, b] = thirds.map(|third| {
                        logarithms[at] = third;
                        given(h, w, &logarithms)
                    });
                    if a < b { high = thirds[1] } else { low = thirds[0] }
                }
            }
        }
        given(h, w, &logarithms)
    }

    #[test]
    fn it_is_what_a_search_finds() {
        for seed in 0..24 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let (rows, columns) = (rng.random_range(1..5), rng.random_range(2..4));
            let [h, w] = any(&mut rng, rows * columns);
            let (found, expected) = (least(rows, columns, &h, &w), searched(&h, &w, columns));
            assert!((found - expected).abs() <= 1e-11 * expected, "{seed}: {found}, by a search {expected}");
        }
    }

    /// At a saturated minimum some curvatures are next to nothing, and factors of these have nothing to hold them.
    #[test]
    fn curvatures_may_be_hundreds_of_orders_apart() {
        for seed in 0..60 {
            let mut rng = ChaCha8Rng::seed_from_u64(100 + seed);
            let (rows, columns) = (rng.random_range(2..9), rng.random_range(2..9));
            let [mut h, w] = any(&mut rng, rows * columns);
            h.iter_mut().for_each(|h| *h *= 10_f64.powf(rng.random_range(-250.0..0.0)));
            let network = Network::dense(&[columns, rows], false).expect("a network");
            let matrix = Matrix::of(&network, &network.layout().layers()[0]);
            let found = pollster::block_on(matrix.least(&h, &w, &Control::default())).expect("a minimum");
            let lost = matrix.lost(&found, &h, &w, f64::MIN_POSITIVE);
            let plain = given(&h, &w, &vec![0.0; columns - 1]);
            assert!(found.value > 0.0 && found.value <= plain, "{seed}: {} {plain}", found.value);
            assert!(found.error.is_finite() && lost.is_finite(), "{seed}: {} {lost}", found.error);
        }
    }

    /// One weight, one row and one column by hand: every weight has a factor of its own.
    #[test]
    fn weights_with_factors_of_their_own_have_twice_the_root() {
        assert!((least(1, 1, &[9.0], &[-0.5]) - 3.0).abs() < 1e-15);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let [h, w] = any(&mut rng, 7);
        let expected: f64 = h.iter().zip(&w).map(|(h, w)| 2.0 * h.sqrt() * w.abs()).sum();
        for (rows, columns) in [(1, 7), (7, 1)] {
            assert!((least(rows, columns, &h, &w) - expected).abs() < 1e-14 * expected);
        }
    }

    #[test]
    fn factors_of_rows_and_columns_move_nothing() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for (rows, columns, most) in [(3, 3, 9.0_f64), (12, 5, 9.0), (4, 30, 9.0), (3, 3, 150.0), (12, 5, 150.0)] {
            let [mut h, mut w] = any(&mut rng, rows * columns);
            let before = least(rows, columns, &h, &w);
            let mut factors = |count| (0..count).map(|_| rng.random_range(-most..most).exp()).collect::<Vec<f64>>();
            let [of_rows, of_columns] = [factors(rows), factors(columns)];
            for i in 0..rows * columns {
                let factor = of_rows[i / columns] * of_columns[i % columns];
                (h[i], w[i]) = (h[i] / (factor * factor), w[i] * factor);
            }
            let after = least(rows, columns, &h, &w);
            assert!((after - before).abs() <= 1e-12 * before, "{rows} × {columns}: {before}, then {after}");
        }
    }

    /// Every row and every column has as much curvature as size.
    #[test]
    fn there_it_is_balanced() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (rows, columns) = (9, 14);
        let [h, w] = any(&mut rng, rows * columns);
        let network = Network::dense(&[columns, rows], false).expect("a network");
        let found = least_in(&network, &h, &w);
        let (mut curvature, mut size) = (vec![0.0; rows + columns], vec![0.0; rows + columns]);
        // In units of its own: curvature and size are told up to one factor, by the sums, which are the same.
        let factor = |i: usize| (found.logarithms[i / columns] - found.logarithms[rows + i % columns]).exp().powi(2);
        let sums = [0, 1].map(|which| {
            (0..h.len()).map(|i| if which == 0 { h[i] * factor(i) } else { w[i] * w[i] / factor(i) }).sum::<f64>()
        });
        for i in 0..h.len() {
            for node in [i / columns, rows + i % columns] {
                curvature[node] += h[i] * factor(i) / sums[0];
                size[node] += w[i] * w[i] / factor(i) / sums[1];
            }
        }
        for (node, (curvature, size)) in curvature.iter().zip(&size).enumerate() {
            assert!((curvature - size).abs() < 1e-7, "{node}: {curvature}, {size}");
        }
        assert!((2.0 * (sums[0] * sums[1]).sqrt() - found.value).abs() < 1e-12 * found.value);
    }

    /// A row that nothing depends on, or of zeros, leaves its infimum of 0.
    #[test]
    fn what_has_no_curvature_or_no_weight_leaves_nothing() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let (rows, columns) = (4, 3);
        let [h, w] = any(&mut rng, rows * columns);
        let whole = least(rows, columns, &h, &w);
        let rest = least(rows - 1, columns, &h[columns..], &w[columns..]);
        let (mut dead, mut zero) = (h.clone(), w.clone());
        dead[..columns].fill(0.0);
        zero[..columns].fill(0.0);
        for found in [least(rows, columns, &dead, &w), least(rows, columns, &h, &zero)] {
            assert!(rest < whole && (found - rest).abs() <= 1e-13 * rest, "{found}, without the row {rest}");
        }
        let none = vec![0.0; h.len()];
        assert_eq!(least(rows, columns, &none, &w), 0.0);
        assert_eq!(least(rows, columns, &h, &none), 0.0);
        assert_eq!(least(rows, columns, &none, &none), 0.0);
    }

    /// Less curvature by no more than what was lost is no less sharpness by more than what may be.
    #[test]
    fn what_underflow_takes_is_accounted_for() {
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        let (rows, columns) = (5, 8);
        let network = Network::dense(&[columns, rows], false).expect("a network");
        let matrix = Matrix::of(&network, &network.layout().layers()[0]);
        let [h, w] = any(&mut rng, rows * columns);
        for each in [1e-9, 1e-4, 1.0, 1e4] {
            let less: Vec<f64> = h.iter().map(|h| f64::max(h - each, 0.0)).collect();
            let (whole, found) = (least_in(&network, &h, &w).value, least_in(&network, &less, &w));
            let lost = matrix.lost(&found, &less, &w, each);
            assert!(whole - found.value <= lost, "{each}: {whole} - {} and {lost}", found.value);
        }
        let found = least_in(&network, &h, &w);
        assert!(matrix.lost(&found, &h, &w, f64::MIN_POSITIVE) < 1e-130 * found.value);
    }

    /// Groups are matrices of their own, of channels, of which a window is one place.
    #[test]
    fn a_convolution_is_its_groups() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let convolution = Conv2d { groups: 2, bias: false, ..Conv2d::new(6, [2, 3]) };
        let network = Network::new(vec![4, 2, 3], vec![Layer::Conv2d(convolution)]).expect("a network");
        // Two groups of 3 rows, which read 2 channels in windows of 6.
        let [h, w] = any(&mut rng, 6 * 2 * 6);
        let found = least_in(&network, &h, &w).value;
        let curvature: Vec<f64> = h.chunks_exact(6).map(|window| window.iter().sum()).collect();
        let size: Vec<f64> = w.chunks_exact(6).map(|window| norm(window.iter().copied())).collect();
        let expected = least(3, 2, &curvature[..6], &size[..6]) + least(3, 2, &curvature[6..], &size[6..]);
        assert!((found - expected).abs() <= 1e-13 * expected, "{found}, group by group {expected}");
    }
}
