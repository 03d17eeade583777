//! The operators that can be asked for by name.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

use super::{Connection, CurvatureOperator, LeviCivita, Metric, Restricted, Scaled, SymmetricOperator};
use crate::control::LocalFuture;
use crate::engine::{Curvature, Engine, Point, Precision, Segments, Vector, Vectors};
use crate::error::{Error, Result, bail, ensure};
use crate::memory::zeros;
use crate::network::Layout;
use crate::problem::{Loss, Problem};

/// An operator at an engine's prepared point: which one, and on which of the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OperatorKind {
    /// The operator over all parameters that this one is, or is part of.
    pub whole: Whole,
    /// The part of the parameters that it is over; `None` for all.
    pub part: Option<Part>,
}

/// An operator over all parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Whole {
    /// H or the Gauss–Newton matrix G.
    Curvature(Curvature),
    /// Rangamani's D H D.
    Riemannian(Metric, Connection),
    /// D G D: it is never negative, and at every point of a piecewise linear network it has the diagonal of D H D.
    RiemannianGaussNewton(Metric),
}

/// An operator over all parameters, as it is asked for and listed.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct OperatorDescription {
    /// Its stable name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The metric that it is relative to; `None` for the weights as they are.
    pub metric: Option<Metric>,
    #[serde(skip)]
    whole: Whole,
}

const fn row(whole: Whole, name: &'static str, title: &'static str) -> OperatorDescription {
    OperatorDescription { name, title, metric: whole.metric(), whole }
}

/// All there are: those that reports have, then the Riemannian Gauss–Newton ones.
const OPERATORS: [OperatorDescription; 8] = [
    row(Whole::Curvature(Curvature::Hessian), "hessian", "Hessian"),
    row(Whole::Curvature(Curvature::GaussNewton), "gauss_newton", "Gauss–Newton"),
    row(Whole::Riemannian(Metric::Layerwise, Connection::Flat), "riemannian.layerwise_flat", "Riemannian, layer-wise"),
    row(
        Whole::Riemannian(Metric::Layerwise, Connection::LeviCivita),
        "riemannian.layerwise_levi_civita",
        "Riemannian, layer-wise, Levi-Civita",
    ),
    row(Whole::Riemannian(Metric::Nodewise, Connection::Flat), "riemannian.nodewise_flat", "Riemannian, node-wise"),
    row(
        Whole::Riemannian(Metric::Nodewise, Connection::LeviCivita),
        "riemannian.nodewise_levi_civita",
        "Riemannian, node-wise, Levi-Civita",
    ),
    row(
        Whole::RiemannianGaussNewton(Metric::Layerwise),
        "riemannian.layerwise_gauss_newton",
        "Riemannian Gauss–Newton, layer-wise",
    ),
    row(
        Whole::RiemannianGaussNewton(Metric::Nodewise),
        "riemannian.nodewise_gauss_newton",
        "Riemannian Gauss–Newton, node-wise",
    ),
];

impl Whole {
    /// All there are, with their names.
    pub const fn all() -> &'static [OperatorDescription] {
        &OPERATORS
    }

    /// G or D G D? Those are never negative.
    pub const fn is_gauss_newton(self) -> bool {
        matches!(self, Self::Curvature(Curvature::GaussNewton) | Self::RiemannianGaussNewton(_))
    }

    /// The curvature that it is made of.
    pub const fn curvature(self) -> Curvature {
        if self.is_gauss_newton() { Curvature::GaussNewton } else { Curvature::Hessian }
    }

    /// The metric whose D is on both sides of it; `None` for the weights as they are.
    pub const fn metric(self) -> Option<Metric> {
        match self {
            Self::Curvature(_) => None,
            Self::Riemannian(metric, _) | Self::RiemannianGaussNewton(metric) => Some(metric),
        }
    }

    fn name(self) -> &'static str {
        OPERATORS.iter().find(|row| row.whole == self).map_or("", |row| row.name)
    }

    fn from_name(name: &str) -> Option<Self> {
        OPERATORS.iter().find(|row| row.name == name).map(|row| row.whole)
    }

    /// Over all parameters; where it is restricted to a layer's, products are that layer's alone.
    async fn operator(self, engine: &Engine, part: Option<Part>) -> Result<Box<dyn SymmetricOperator + '_>> {
        let w = engine.parameters()?;
        let layer = match part {
            Some(Part::Layer(layer)) => Some(layer),
            Some(Part::Weights) | None => None,
        };
        let curved = |curvature| CurvatureOperator::of_layer(engine, curvature, layer);
        let scaled = |curvature, metric: Metric| Scaled::new(curved(curvature), &metric.scale(engine, &w)?);
        Ok(match self {
            Self::Curvature(curvature) => Box::new(curved(curvature)),
            Self::RiemannianGaussNewton(metric) => Box::new(scaled(Curvature::GaussNewton, metric)?),
            Self::Riemannian(metric, Connection::Flat) => Box::new(scaled(Curvature::Hessian, metric)?),
            Self::Riemannian(metric, Connection::LeviCivita) => {
                let scaled = scaled(Curvature::Hessian, metric)?;
                let g = engine.gradient().await?;
                Box::new(match metric {
                    Metric::Layerwise => {
                        LeviCivita::blocks(scaled, Segments::blocks(engine.problem().network().layout()), &w, &g)?
                    }
                    Metric::Nodewise => LeviCivita::entries(scaled, &w, &g)?,
                })
            }
        })
    }
}

/// Part of the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Every W_l, without the biases: what Petzka's measures are about.
    Weights,
    /// One W_l, by the index of the parametric layer, from 0. In names layers count from 1, as in the papers.
    Layer(usize),
}

impl Part {
    /// Its coordinates.
    ///
    /// # Errors
    /// `InvalidOption` for a layer that is not there.
    pub fn ranges(self, layout: &Layout) -> Result<Vec<Range<usize>>> {
        let layers = layout.layers();
        match self {
            Self::Weights => Ok(layers.iter().map(|layer| layer.weight.clone()).collect()),
            Self::Layer(l) => {
                let count = layers.len();
                ensure!(
                    l < count,
                    InvalidOption,
                    "there is no {self}: layers with parameters are layer_1 to layer_{count}"
                );
                Ok(vec![layers[l].weight.clone()])
            }
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        match name.strip_prefix("layer_") {
            // Each part has one name: none with a sign or with zeros before it.
            Some(number) if number.starts_with(|c: char| matches!(c, '1'..='9')) => {
                Some(Self::Layer(number.parse::<usize>().ok()? - 1))
            }
            Some(_) => None,
            None => (name == "weights").then_some(Self::Weights),
        }
    }
}

impl fmt::Display for Part {
    /// `weights` or `layer_3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Weights => f.write_str("weights"),
            Self::Layer(l) => write!(f, "layer_{}", *l as u128 + 1),
        }
    }
}

impl OperatorKind {
    /// H.
    pub const HESSIAN: Self = Self::curvature(Curvature::Hessian);

    /// G.
    pub const GAUSS_NEWTON: Self = Self::curvature(Curvature::GaussNewton);

    /// Those that reports have, in their order.
    pub const ALL: [Self; 6] = [
        Self::HESSIAN,
        Self::GAUSS_NEWTON,
        Self::riemannian(Metric::Layerwise, Connection::Flat),
        Self::riemannian(Metric::Layerwise, Connection::LeviCivita),
        Self::riemannian(Metric::Nodewise, Connection::Flat),
        Self::riemannian(Metric::Nodewise, Connection::LeviCivita),
    ];

    const fn of(whole: Whole) -> Self {
        Self { whole, part: None }
    }

    /// H or G, over all parameters.
    pub const fn curvature(curvature: Curvature) -> Self {
        Self::of(Whole::Curvature(curvature))
    }

    /// D H D, over all parameters.
    pub const fn riemannian(metric: Metric, connection: Connection) -> Self {
        Self::of(Whole::Riemannian(metric, connection))
    }

    /// D G D, over all parameters.
    pub const fn riemannian_gauss_newton(metric: Metric) -> Self {
        Self::of(Whole::RiemannianGaussNewton(metric))
    }

    /// The same on part of the parameters: the principal submatrix there, of that part's length. A layer's block of the
    /// Hessian of a piecewise linear network is its block of the Gauss–Newton matrix.
    #[must_use]
    pub fn over(self, part: Part) -> Self {
        Self { part: Some(part), ..self }
    }

    /// The most eigenvalues other than 0 that it can have, if that follows from the problem's size: the Gauss–Newton matrix is S Sᵀ, and S has
    /// as many columns as samples times the rank of ∂²ℓ/∂ŷ², which for the softmax is one less than the outputs.
    pub fn most_nonzero(self, problem: &Problem) -> Option<usize> {
        let outputs = problem.network().output_len();
        let rank = match problem.loss() {
            Loss::CrossEntropy => outputs - 1,
            Loss::SquaredError => outputs,
        };
        self.whole.is_gauss_newton().then(|| problem.samples().saturating_mul(rank))
    }

    /// The blocks W_l and b_l of the parameter vector that it is over, in order.
    ///
    /// # Errors
    /// `InvalidOption` for a layer that is not there.
    pub fn blocks(self, layout: &Layout) -> Result<Vec<Range<usize>>> {
        match self.part {
            Some(part) => part.ranges(layout),
            None => Ok(Segments::blocks(layout).ranges().collect()),
        }
    }

    /// Length of its vectors.
    ///
    /// # Errors
    /// `InvalidOption` for a layer that is not there.
    pub fn dimension(self, layout: &Layout) -> Result<usize> {
        Ok(self.blocks(layout)?.iter().map(Range::len).sum())
    }

    /// The stable name: `hessian`, `gauss_newton`, `riemannian.layerwise_flat`, `riemannian.layerwise_gauss_newton` and so
    /// on, with `.weights` or `.layer_3` behind it for a part.
    pub fn name(self) -> String {
        self.to_string()
    }

    /// The operator of this name.
    ///
    /// # Errors
    /// `InvalidOption`, with the names there are.
    pub fn from_name(name: &str) -> Result<Self> {
        let whole = |name: &str| Whole::from_name(name).map(Self::of);
        let part = || {
            let (kind, part) = name.rsplit_once('.')?;
            Some(whole(kind)?.over(Part::from_name(part)?))
        };
        match whole(name).or_else(part) {
            Some(kind) => Ok(kind),
            None => {
                let names = OPERATORS.map(|row| row.name);
                bail!(
                    InvalidOption,
                    "no operator is named \"{name}\"; there are {}, each also with .weights or .layer_1, .layer_2, … \
                     behind it",
                    names.join(", ")
                )
            }
        }
    }

    /// The operator at an engine's prepared point. It is of that point alone: once another one is prepared, applying it is an error.
    ///
    /// # Errors
    /// `InvalidParameters` if no point is prepared, `InvalidOption` for a layer that is not there, and the device's errors.
    pub async fn operator<'a>(self, engine: &'a Engine) -> Result<Box<dyn SymmetricOperator + 'a>> {
        let point = engine.point();
        let inner = self.arithmetic(engine).await?;
        engine.ensure_at(point)?;
        Ok(Box::new(Named { kind: self, engine, point, inner }))
    }

    async fn arithmetic<'a>(self, engine: &'a Engine) -> Result<Box<dyn SymmetricOperator + 'a>> {
        let whole = self.whole.operator(engine, self.part).await?;
        Ok(match self.part {
            Some(part) => Box::new(Restricted::new(whole, part.ranges(engine.problem().network().layout())?)?),
            None => whole,
        })
    }

    /// The change of all parameters that a vector of the operator stands for: 0 outside its part, and for a Riemannian
    /// operator ξ = D u.
    ///
    /// # Errors
    /// `InvalidParameters` for a vector of another length or where no point is prepared; `InvalidOption` for a layer that is
    /// not there.
    pub fn displacement(self, engine: &Engine, vector: &[f64]) -> Result<Vec<f64>> {
        let parameters = engine.parameters()?;
        let mut full = zeros("a displacement", parameters.len())?;
        let layout = engine.problem().network().layout();
        let (ranges, len) = (self.blocks(layout)?, self.dimension(layout)?);
        ensure!(
            vector.len() == len,
            InvalidParameters,
            "a vector of {self} has {len} values, but {} were given",
            vector.len()
        );
        let mut rest = vector;
        for range in ranges {
            let (values, after) = rest.split_at(range.len());
            full[range].copy_from_slice(values);
            rest = after;
        }
        if let Some(metric) = self.whole.metric() {
            full.iter_mut().zip(metric.scale(engine, &parameters)?).for_each(|(v, d)| *v *= d);
        }
        Ok(full)
    }
}

/// An operator that knows its kind, and so can be had in double precision too.
struct Named<'a> {
    kind: OperatorKind,
    engine: &'a Engine,
    point: Point,
    inner: Box<dyn SymmetricOperator + 'a>,
}

impl Named<'_> {
    async fn in_f64(&self, x: &[f64]) -> Result<Option<Vec<f64>>> {
        self.engine.ensure_at(self.point)?;
        if self.engine.info().precision == Precision::F64 {
            return Ok(None);
        }
        let precise = self.engine.in_f64_here().await?;
        let operator = self.kind.arithmetic(&precise).await?;
        let vectors = operator.vectors();
        let (n, columns) = (operator.len(), x.len() / operator.len());
        let (x, mut y) = (vectors.upload(x, columns)?, vectors.zeros(n, columns)?);
        operator.apply(&x, &mut y).await?;
        vectors.download(&y).await.map(Some)
    }
}

impl SymmetricOperator for Named<'_> {
    fn vectors(&self) -> &dyn Vectors {
        self.inner.vectors()
    }

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            self.engine.ensure_at(self.point)?;
            self.inner.apply(x, y).await?;
            self.engine.ensure_at(self.point)
        })
    }

    fn apply_in_f64<'a>(&'a self, x: &'a [f64]) -> LocalFuture<'a, Result<Option<Vec<f64>>>> {
        Box::pin(self.in_f64(x))
    }
}

impl fmt::Display for OperatorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.whole.name())?;
        self.part.map_or(Ok(()), |part| write!(f, ".{part}"))
    }
}

impl std::str::FromStr for OperatorKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::from_name(name)
    }
}
