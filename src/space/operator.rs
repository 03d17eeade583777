//! Curvature in the coordinates of a space: with θ = θ(v) and J = ∂θ/∂v the Hessian in v is Jᵀ H J + ∇L · ∇²θ(v) (Dinh et al. 2017,
//! section 5.1). The second term is 0 at critical points alone.

use super::ParameterSpace;
use crate::control::LocalFuture;
use crate::engine::{Curvature, Engine, LoadedChart, Vector, Vectors, ensure_in_range};
use crate::error::{Result, bail, ensure};
use crate::network::ParametricLayer;
use crate::operator::{OperatorKind, Scratch, SymmetricOperator, Whole};

/// Is ∇L · ∇²θ(v) part of the operator?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecondOrder {
    /// Yes: the Hessian of L(θ(v)).
    Included,
    /// No: Jᵀ C J, what the Hessian is at a critical point.
    LeftOut,
}

/// The Hessian or Gauss–Newton matrix in a space's coordinates, at the engine's prepared point. An operator like any other: every
/// estimator takes it.
pub struct SpaceCurvature<'a> {
    engine: &'a Engine,
    curvature: Curvature,
    chart: LoadedChart,
    v: Vector,
    /// ∇_θ L, where the second-order term is included.
    gradient: Option<Vector>,
    /// J x.
    tangent: Scratch,
    /// C J x.
    product: Scratch,
}

impl<'a> SpaceCurvature<'a> {
    /// Curvature of the engine's loss in this space.
    ///
    /// # Errors
    /// `InvalidParameters` if no point is prepared, or one that is not in the space (its fixed weights have other values);
    /// `InvalidOption` for a Gauss–Newton matrix with second-order term, which it has none of; the device's.
    pub fn new(
        engine: &'a Engine,
        space: &dyn ParameterSpace,
        curvature: Curvature,
        second_order: SecondOrder,
    ) -> Result<Self> {
        ensure!(
            curvature == Curvature::Hessian || second_order == SecondOrder::LeftOut,
            InvalidOption,
            "the Gauss–Newton matrix leaves second-order terms out, ∇L · ∇²θ too"
        );
        let theta = engine.parameters()?;
        let coordinates = space.to_coordinates(&theta)?;
        let back = space.to_parameters(&coordinates)?;
        // The way there and back rounds a few times a layer; another point of the space is further away. Of each layer by itself: a
        // rescaling may make one as large as it likes.
        let elsewhere = |layer: &ParametricLayer| {
            let places = || layer.weight.clone().chain(layer.bias.clone().into_iter().flatten());
            let largest = places().fold(0.0_f64, |m, i| m.max(theta[i].abs()));
            places().find(|&i| (theta[i] - back[i]).abs() > 1e-9 * largest)
        };
        if let Some(i) = engine.problem().network().layout().layers().iter().find_map(elsewhere) {
            bail!(
                InvalidParameters,
                "parameter {i} of the prepared point is {}, but {} in {}: prepare the point that the space was built at",
                theta[i],
                back[i],
                space.name()
            );
        }
        let vectors = engine.vectors();
        let name = || format!("the {} coordinates in {}", coordinates.len(), space.name());
        ensure_in_range(engine.info().precision, coordinates.iter().copied(), name)?;
        let gradient = match second_order {
            SecondOrder::LeftOut => None,
            SecondOrder::Included => {
                let mut gradient = vectors.zeros(theta.len(), 1)?;
                engine.gradient_into(&mut gradient)?;
                Some(gradient)
            }
        };
        Ok(Self {
            engine,
            curvature,
            chart: engine.charts().load(space.chart())?,
            v: vectors.upload(&coordinates, 1)?,
            gradient,
            tangent: Scratch::default(),
            product: Scratch::default(),
        })
    }
}

impl<'a> SpaceCurvature<'a> {
    /// The operator of this kind in a space: the Hessian of L(θ(v)), or the Gauss–Newton matrix.
    ///
    /// # Errors
    /// As [`SpaceCurvature::new`]; `InvalidOption` for other operators, and parts of these.
    pub fn of_kind(engine: &'a Engine, space: &dyn ParameterSpace, kind: OperatorKind) -> Result<Self> {
        let OperatorKind { whole: Whole::Curvature(curvature), part: None } = kind else {
            bail!(InvalidOption, "in a space there are hessian and gauss_newton, not {kind}")
        };
        let second_order = match curvature {
            Curvature::Hessian => SecondOrder::Included,
            Curvature::GaussNewton => SecondOrder::LeftOut,
        };
        Self::new(engine, space, curvature, second_order)
    }
}

impl SymmetricOperator for SpaceCurvature<'_> {
    fn vectors(&self) -> &dyn Vectors {
        self.engine.vectors()
    }

    fn len(&self) -> usize {
        self.chart.dimension()
    }

    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let (vectors, charts) = (self.vectors(), self.engine.charts());
            let n = self.chart.parameter_count();
            let mut tangent = self.tangent.take(vectors, n, x.columns())?;
            let mut product = self.product.take(vectors, n, x.columns())?;
            charts.tangent(&self.chart, &self.v, x, &mut tangent)?;
            self.engine.apply(self.curvature, &tangent, &mut product).await?;
            let second = self.gradient.as_ref().map(|gradient| (gradient, x));
            charts.cotangent(&self.chart, &self.v, &product, second, y)?;
            self.tangent.leave(tangent);
            self.product.leave(product);
            Ok(())
        })
    }
}
