//! Operators as matrices, by the matrix of their curvature: once H is known entry by entry, D H D, what a connection adds to it, and
//! their principal submatrices take no more products with the network.

use crate::control::Control;
use crate::engine::{Curvature, Engine, Point, Precision};
use crate::error::Result;
use crate::linalg::{SymmetricMatrix, symmetric_matrix};
use crate::numbers::largest;
use crate::operator::{Connection, OperatorKind, Whole, add_connection};

/// H or G over all parameters of an engine's point.
pub(super) struct CurvatureMatrix {
    matrix: SymmetricMatrix,
    point: Point,
}

impl CurvatureMatrix {
    /// By products with all unit vectors.
    ///
    /// # Errors
    /// As [`symmetric_matrix`].
    pub async fn at(engine: &Engine, curvature: Curvature, control: &Control<'_>) -> Result<Self> {
        let point = engine.point();
        let operator = OperatorKind::curvature(curvature).operator(engine).await?;
        Ok(Self { matrix: symmetric_matrix(&operator, control).await?, point })
    }

    /// The matrix of an operator with this curvature, at the same point. `None` where a number of it is none, and where the engine's
    /// precision may have lost entries of the curvature that count beside the metric's lengths: products with D on both sides may not.
    ///
    /// # Errors
    /// `InvalidParameters` where the engine stands elsewhere by now; `InvalidOption` for a layer that is not there; `TooLarge`; as
    /// [`Engine::gradient`].
    pub async fn of(&self, kind: OperatorKind, engine: &Engine) -> Result<Option<SymmetricMatrix>> {
        let layout = engine.problem().network().layout();
        let mut matrix = self.matrix.copied()?;
        if let Some(metric) = kind.whole.metric() {
            let w = engine.parameters()?;
            let d = metric.scale(engine, &w)?;
            for (column, d_j) in matrix.columns_mut().zip(&d) {
                // One after the other, as products do: both together may be out of range.
                column.iter_mut().zip(&d).for_each(|(entry, d_i)| *entry = *entry * d_j * d_i);
            }
            if !is_known(&matrix, &d, engine.info().precision) {
                return Ok(None);
            }
            if let Whole::Riemannian(_, Connection::LeviCivita) = kind.whole {
                add_connection(matrix.columns_mut(), metric, layout, &w, &engine.gradient().await?);
            }
            if !matrix.largest().is_finite() {
                return Ok(None);
            }
        }
        engine.ensure_at(self.point)?;
        match kind.part {
            Some(part) => matrix.principal(&part.ranges(layout)?).map(Some),
            None => Ok(Some(matrix)),
        }
    }
}

/// Does it matter nothing that entries of the curvature may have been rounded to 0, or towards it?
fn is_known(matrix: &SymmetricMatrix, d: &[f64], precision: Precision) -> bool {
    let longest = largest(d.iter().copied());
    let lost = precision.smallest() * longest * longest * d.len() as f64;
    lost <= precision.epsilon() * matrix.largest()
}

#[cfg(test)]
mod tests {
    use pollster::block_on;

    use super::*;
    use crate::engine::Device;
    use crate::measure::{Known, MeasureOptions};
    use crate::network::{BiasInitialization, Initialization, Network};
    use crate::operator::Part;
    use crate::problem::Problem;

    /// Away from a minimum, so that connections have something to add, with two layers rescaled against each other and inputs against
    /// the first one's weights.
    fn engine(precision: Precision, lambda: f64, inputs: f64) -> Engine {
        let network = Network::dense(&[5, 7, 4, 3], true).expect("a network");
        let (scheme, biases) = (Initialization::KaimingUniform, BiasInitialization::Uniform);
        let mut theta = network.initialize(scheme, biases, 3).expect("weights");
        // 5 · 7 weights and 7 biases, then 7 · 4 weights.
        theta[..42].iter_mut().for_each(|w| *w *= lambda);
        theta[42..70].iter_mut().for_each(|w| *w /= lambda);
        theta[..35].iter_mut().for_each(|w| *w /= inputs);
        let plain = crate::data::synthetic(network, 20, 5).expect("a problem");
        let values: Vec<f64> = plain.inputs().to_f64().iter().map(|x| x * inputs).collect();
        let problem = Problem::new(plain.network().clone(), plain.loss(), values, plain.targets().clone());
        let problem = problem.expect("a problem");
        let engine = Engine::new(&Device::cpu(precision), &problem).expect("an engine");
        block_on(engine.prepare(&theta)).expect("a point");
        engine
    }

    fn kinds() -> impl Iterator<Item = OperatorKind> {
        Whole::all().iter().flat_map(|row| {
            let kind = OperatorKind::from_name(row.name).expect("an operator");
            [kind, kind.over(Part::Weights), kind.over(Part::Layer(1))]
        })
    }

    #[test]
    fn matrices_are_those_of_products() {
        let control = Control::default();
        for (precision, lambda, tolerance) in
            [(Precision::F64, 1.0, 1e-14), (Precision::F64, 1e6, 1e-13), (Precision::F32, 1e3, 1e-6)]
        {
            let engine = engine(precision, lambda, 1.0);
            let at = |curvature| block_on(CurvatureMatrix::at(&engine, curvature, &control)).expect("a matrix");
            let [hessian, gauss_newton] = [Curvature::Hessian, Curvature::GaussNewton].map(at);
            for kind in kinds() {
                let curvature = if kind.whole.is_gauss_newton() { &gauss_newton } else { &hessian };
                let mut found = block_on(curvature.of(kind, &engine)).expect("an answer").expect("a matrix");
                let operator = block_on(kind.operator(&engine)).expect("an operator");
                let mut expected = block_on(symmetric_matrix(&operator, &control)).expect("a matrix");
                let largest = expected.largest();
                let off = found.columns_mut().flatten().zip(expected.columns_mut().flatten());
                let off = off.fold(0.0, |off, (a, b)| f64::max(off, (*a - *b).abs()));
                assert!(off <= tolerance * largest, "{kind}, {precision:?}: {off:e} of {largest:e}");
            }
        }
    }

    /// Between the lengths of its layers an operator is in range where its curvature is not.
    #[test]
    fn curvatures_out_of_range_are_no_obstacle() {
        let value = |engine: &Engine| {
            let options = MeasureOptions::default();
            let mut known = Known::new(engine, &options, &Control::default());
            let kind = OperatorKind::from_name("riemannian.layerwise_levi_civita").expect("an operator");
            block_on(known.ends(kind)).expect("both ends").norm()
        };
        let expected = value(&engine(Precision::F64, 1.0, 1.0));
        // Too large in the first layer, and too small to have all their digits, or any.
        for (lambda, inputs) in [(1e-22, 1.0), (1.0, 1e-20), (1.0, 1e-22), (1.0, 1e-24)] {
            let found = value(&engine(Precision::F32, lambda, inputs));
            let off = (found - expected).abs();
            assert!(off <= 1e-5 * expected, "× {lambda:e}, {inputs:e}: {found}, and plainly {expected}");
        }
    }

    #[test]
    fn one_matrix_serves_all_metrics() {
        let (engine, options) = (engine(Precision::F64, 1.0, 1.0), MeasureOptions::default());
        let mut known = Known::new(&engine, &options, &Control::default());
        let products = OperatorKind::ALL.map(|kind| {
            let found = block_on(known.dense(kind)).expect("a spectrum").expect("one so small");
            found.products
        });
        let n = engine.problem().network().parameter_count();
        assert_eq!(products, [n + 2, n + 2, 2, 2, 2, 2]);
    }
}
