//! Where ascents begin: the top eigenvector in the region's coordinates, gradients of random halves of the samples, and random directions.

use rand::seq::SliceRandom;

use super::probe::Probe;
use super::region::Coordinates;
use crate::control::{Control, LocalFuture};
use crate::engine::{Curvature, Engine, Vector, Vectors};
use crate::error::Result;
use crate::linalg::{Eigenpair, Goal, Lanczos, second_generator};
use crate::memory::{collected, room};
use crate::operator::{CurvatureOperator, Scaled, SymmetricOperator};
use crate::sorting::sort_by_key;

/// What memory is asked for.
pub(super) const START: &str = "the start of an ascent";

/// Residual of the eigenvector, relative to the norm, where its eigenvalue is reported, which is off by the square, over the distance to
/// the next one.
const EIGENVALUE_TOLERANCE: f64 = 1e-5;

/// The same where nothing but its direction counts: the ascent that begins there finds the rest in fewer gradients than a search has
/// products.
const DIRECTION_TOLERANCE: f64 = 0.1;

/// Most products for it.
const EIGENVECTOR_PRODUCTS: usize = 300;

/// Random starts that are gradients. All symmetries carry those along, permutations too; but they are of one mind, and a unit that no
/// sample reaches has none. Those behind them are random directions, which in large regions find summits several times as high.
pub(super) const GRADIENTS: usize = 2;

/// The gradient over a random half of the samples for the first [`GRADIENTS`], then a random direction, and where the gradient vanishes;
/// in the region's coordinates.
pub(super) async fn random_start(
    probe: &Probe<'_>,
    theta: &[f64],
    coordinates: &Coordinates,
    seed: u64,
    i: usize,
) -> Result<Vec<f64>> {
    let mut rng = second_generator(seed.wrapping_add(i as u64));
    let samples = probe.engine().problem().samples();
    if i >= GRADIENTS || samples == 1 {
        return coordinates.random(&mut rng);
    }
    let mut rows: Vec<u32> = collected("sample numbers", 0..samples as u32)?;
    let (half, _) = rows.partial_shuffle(&mut rng, samples.div_ceil(2));
    sort_by_key(half, |&row| row);
    let direction = coordinates.pull(&probe.gradient_over(theta, half).await?.1)?;
    if coordinates.size(&direction) > 0.0 { Ok(direction) } else { coordinates.random(&mut rng) }
}

/// Is this one, which was found for another purpose, as good as that of a search of our own?
pub(super) fn is_enough(pair: &Eigenpair, engine: &Engine) -> bool {
    pair.residual <= tolerance_in(engine, true) * pair.value.abs()
}

/// What a search of our own goes to.
pub(super) fn tolerance_in(engine: &Engine, is_reported: bool) -> f64 {
    let wanted = if is_reported { EIGENVALUE_TOLERANCE } else { DIRECTION_TOLERANCE };
    f64::max(wanted, engine.info().precision.eigenvalue_tolerance())
}

/// The eigenvalue of MᵀHM of largest magnitude at the prepared point, and its eigenvector.
pub(super) async fn top_eigenvector(
    engine: &Engine,
    coordinates: &Coordinates,
    is_reported: bool,
    seed: u64,
    control: &Control<'_>,
) -> Result<(f64, Vec<f64>)> {
    let operator: Box<dyn SymmetricOperator> = match coordinates.diagonal() {
        Some(diagonal) => Box::new(Scaled::new(CurvatureOperator::new(engine, Curvature::Hessian), diagonal)?),
        None => Box::new(Within { engine, coordinates }),
    };
    dominant_pair(&operator, tolerance_in(engine, is_reported), seed, control).await
}

/// The eigenvalue of largest magnitude, and its eigenvector.
pub(super) async fn dominant_pair(
    operator: &dyn SymmetricOperator,
    tolerance: f64,
    seed: u64,
    control: &Control<'_>,
) -> Result<(f64, Vec<f64>)> {
    let lanczos = Lanczos {
        goal: Goal::SpectralNorm,
        tolerance: Some(tolerance),
        max_products: EIGENVECTOR_PRODUCTS,
        seed,
        vectors: true,
        ..Lanczos::default()
    };
    let found = lanczos.run(operator, control).await?;
    let pair = found.dominant().expect("a spectrum has an end");
    Ok((pair.value, pair.vector.clone().unwrap_or_default()))
}

/// MᵀHM of a region of few coordinates, which go to the host and back.
struct Within<'a> {
    engine: &'a Engine,
    coordinates: &'a Coordinates,
}

impl SymmetricOperator for Within<'_> {
    fn vectors(&self) -> &dyn Vectors {
        self.engine.vectors()
    }

    fn len(&self) -> usize {
        self.coordinates.len()
    }

    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let columns = self.vectors().download(x).await?;
            let mut products = room("products in a subspace", columns.len())?;
            for u in columns.chunks_exact(self.len()) {
                let product = self.engine.product(Curvature::Hessian, &self.coordinates.delta(u)?).await?;
                products.extend(self.coordinates.pull(&product)?);
            }
            *y = self.vectors().upload(&products, x.columns())?;
            Ok(())
        })
    }
}
