//! Symmetric linear operators over an engine's prepared point: what estimators see.
//!
//! An estimator knows an operator's length and how to apply it, nothing of networks. Operators nest: `Scaled` is
//! D A D for any A, `Sum` adds two.

use std::cell::RefCell;
use std::fmt;

use crate::engine::{Curvature, Engine, Executor, Segments, Vector};
use crate::error::{Error, Result, bail};

/// A symmetric linear operator whose vectors live on an executor's device.
pub trait SymmetricOperator {
    /// Where its vectors live.
    fn executor(&self) -> &dyn Executor;

    /// Length of its vectors.
    fn len(&self) -> usize;

    /// Length 0? Never, for a network's operators.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `y[:, k] = A x[:, k]`; y's old values are overwritten.
    ///
    /// # Errors
    /// The device's.
    fn apply(&self, x: &Vector, y: &mut Vector) -> Result<()>;
}

impl<A: SymmetricOperator + ?Sized> SymmetricOperator for Box<A> {
    fn executor(&self) -> &dyn Executor {
        (**self).executor()
    }

    fn len(&self) -> usize {
        (**self).len()
    }

    fn apply(&self, x: &Vector, y: &mut Vector) -> Result<()> {
        (**self).apply(x, y)
    }
}

/// The Hessian of the mean loss, or its Gauss–Newton matrix, at the engine's prepared point.
pub struct CurvatureOperator<'a> {
    engine: &'a Engine,
    curvature: Curvature,
}

impl<'a> CurvatureOperator<'a> {
    /// H or GGN of this engine.
    pub fn new(engine: &'a Engine, curvature: Curvature) -> Self {
        Self { engine, curvature }
    }
}

impl SymmetricOperator for CurvatureOperator<'_> {
    fn executor(&self) -> &dyn Executor {
        self.engine.executor()
    }

    fn len(&self) -> usize {
        self.engine.problem().network().parameter_count()
    }

    fn apply(&self, x: &Vector, y: &mut Vector) -> Result<()> {
        self.engine.executor().product(self.curvature, x, y)
    }
}

/// D A D for a diagonal D.
pub struct Scaled<A> {
    inner: A,
    d: Vector,
    scratch: RefCell<Option<Vector>>,
}

impl<A: SymmetricOperator> Scaled<A> {
    /// Scales `inner` by this diagonal on both sides.
    ///
    /// # Errors
    /// The device's.
    pub fn new(inner: A, diagonal: &[f64]) -> Result<Self> {
        let d = inner.executor().upload(diagonal, 1)?;
        Ok(Self { inner, d, scratch: RefCell::new(None) })
    }
}

impl<A: SymmetricOperator> SymmetricOperator for Scaled<A> {
    fn executor(&self) -> &dyn Executor {
        self.inner.executor()
    }

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn apply(&self, x: &Vector, y: &mut Vector) -> Result<()> {
        let executor = self.executor();
        let mut kept = self.scratch.borrow_mut();
        let mut scaled = match kept.take() {
            Some(vector) if vector.columns() == x.columns() => vector,
            _ => executor.zeros(x.len(), x.columns())?,
        };
        executor.multiply_add(1.0, &self.d, x, 0.0, &mut scaled)?;
        self.inner.apply(&scaled, y)?;
        executor.copy_columns(y, 0..y.columns(), &mut scaled, 0)?;
        executor.multiply_add(1.0, &self.d, &scaled, 0.0, y)?;
        *kept = Some(scaled);
        Ok(())
    }
}

/// What the Levi-Civita connection adds to D H D (THEORY: section 6 of Rangamani, completed): for each block w with
/// gradient g, w gᵀ + g wᵀ − (w·g) I in the coordinates of D H D; for single entries as blocks, diag(w_i g_i).
pub struct LeviCivita<A> {
    inner: A,
    term: Term,
}

enum Term {
    /// Blocks of several entries: w, g, and the diagonal −(w·g) of each entry's block.
    Blocks { segments: Segments, w: Vector, g: Vector, diagonal: Vector },
    /// Blocks of one entry: diag(w_i g_i).
    Entries { diagonal: Vector },
}

impl<A: SymmetricOperator> LeviCivita<A> {
    /// Adds the term for whole blocks w, with this gradient.
    ///
    /// # Errors
    /// The device's.
    pub fn blocks(inner: A, segments: Segments, w: &[f64], g: &[f64]) -> Result<Self> {
        let mut diagonal = vec![0.0; w.len()];
        for range in segments.ranges() {
            let product: f64 = range.clone().map(|i| w[i] * g[i]).sum();
            diagonal[range].fill(-product);
        }
        let executor = inner.executor();
        let (w, g) = (executor.upload(w, 1)?, executor.upload(g, 1)?);
        let diagonal = executor.upload(&diagonal, 1)?;
        Ok(Self { inner, term: Term::Blocks { segments, w, g, diagonal } })
    }

    /// Adds the term for single entries as blocks.
    ///
    /// # Errors
    /// The device's.
    pub fn entries(inner: A, w: &[f64], g: &[f64]) -> Result<Self> {
        let diagonal: Vec<f64> = w.iter().zip(g).map(|(w, g)| w * g).collect();
        let diagonal = inner.executor().upload(&diagonal, 1)?;
        Ok(Self { inner, term: Term::Entries { diagonal } })
    }
}

impl<A: SymmetricOperator> SymmetricOperator for LeviCivita<A> {
    fn executor(&self) -> &dyn Executor {
        self.inner.executor()
    }

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn apply(&self, x: &Vector, y: &mut Vector) -> Result<()> {
        let executor = self.executor();
        self.inner.apply(x, y)?;
        match &self.term {
            Term::Entries { diagonal } => executor.multiply_add(1.0, diagonal, x, 1.0, y),
            Term::Blocks { segments, w, g, diagonal } => {
                executor.multiply_add(1.0, diagonal, x, 1.0, y)?;
                let mut inner = executor.zeros(segments.count() * x.columns(), 1)?;
                executor.segment_inner(segments, g, x, 0..x.columns(), &mut inner, 0)?;
                executor.segment_axpy(segments, &inner, w, y)?;
                executor.segment_inner(segments, w, x, 0..x.columns(), &mut inner, 0)?;
                executor.segment_axpy(segments, &inner, g, y)
            }
        }
    }
}

/// The blocks that Rangamani's metric g(η, ξ) = Σ ⟨η, ξ⟩ / ‖block‖² is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Every W_l and every b_l.
    Layerwise,
    /// Every single entry.
    Nodewise,
}

/// The connection behind the Riemannian Hessian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Connection {
    /// The paper's: the connection term is zero.
    Flat,
    /// The metric's own: vertical directions lie in its kernel at every point.
    LeviCivita,
}

/// The operators that can be asked for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperatorKind {
    /// H or the Gauss–Newton matrix.
    Curvature(Curvature),
    /// Rangamani's D H D.
    Riemannian(Metric, Connection),
}

impl OperatorKind {
    /// All of them, in the order in which reports name them.
    pub const ALL: [Self; 6] = [
        Self::Curvature(Curvature::Hessian),
        Self::Curvature(Curvature::GaussNewton),
        Self::Riemannian(Metric::Layerwise, Connection::Flat),
        Self::Riemannian(Metric::Layerwise, Connection::LeviCivita),
        Self::Riemannian(Metric::Nodewise, Connection::Flat),
        Self::Riemannian(Metric::Nodewise, Connection::LeviCivita),
    ];

    /// The stable name: `hessian`, `gauss_newton`, `riemannian.layerwise_flat` and so on.
    pub fn name(self) -> &'static str {
        match self {
            Self::Curvature(Curvature::Hessian) => "hessian",
            Self::Curvature(Curvature::GaussNewton) => "gauss_newton",
            Self::Riemannian(Metric::Layerwise, Connection::Flat) => "riemannian.layerwise_flat",
            Self::Riemannian(Metric::Layerwise, Connection::LeviCivita) => "riemannian.layerwise_levi_civita",
            Self::Riemannian(Metric::Nodewise, Connection::Flat) => "riemannian.nodewise_flat",
            Self::Riemannian(Metric::Nodewise, Connection::LeviCivita) => "riemannian.nodewise_levi_civita",
        }
    }

    /// The operator of this name.
    ///
    /// # Errors
    /// `InvalidOption`, with the names there are.
    pub fn from_name(name: &str) -> Result<Self> {
        match Self::ALL.into_iter().find(|kind| kind.name() == name) {
            Some(kind) => Ok(kind),
            None => {
                let names: Vec<_> = Self::ALL.iter().map(|kind| kind.name()).collect();
                bail!(InvalidOption, "no operator is named \"{name}\"; there are {}", names.join(", "))
            }
        }
    }

    /// The operator at an engine's prepared point.
    ///
    /// # Errors
    /// `InvalidParameters` if no point is prepared, and the device's errors.
    pub async fn operator<'a>(self, engine: &'a Engine) -> Result<Box<dyn SymmetricOperator + 'a>> {
        let (metric, connection) = match self {
            Self::Curvature(curvature) => return Ok(Box::new(CurvatureOperator::new(engine, curvature))),
            Self::Riemannian(metric, connection) => (metric, connection),
        };
        let w = engine.parameters()?;
        let hessian = CurvatureOperator::new(engine, Curvature::Hessian);
        let scaled = Scaled::new(hessian, &metric.scale(engine, &w))?;
        if connection == Connection::Flat {
            return Ok(Box::new(scaled));
        }
        let g = engine.gradient().await?;
        Ok(Box::new(match metric {
            Metric::Layerwise => {
                LeviCivita::blocks(scaled, Segments::blocks(engine.problem().network().layout()), &w, &g)?
            }
            Metric::Nodewise => LeviCivita::entries(scaled, &w, &g)?,
        }))
    }
}

impl Metric {
    /// The diagonal of D = G^(−1/2): each entry's block's norm. A zero block has D = 0 and drops out.
    pub fn scale(self, engine: &Engine, parameters: &[f64]) -> Vec<f64> {
        match self {
            Self::Nodewise => parameters.iter().map(|w| w.abs()).collect(),
            Self::Layerwise => {
                let mut scale = vec![0.0; parameters.len()];
                for range in Segments::blocks(engine.problem().network().layout()).ranges() {
                    let norm = parameters[range.clone()].iter().map(|w| w * w).sum::<f64>().sqrt();
                    scale[range].fill(norm);
                }
                scale
            }
        }
    }

    /// ‖grad L‖_g = ‖D ∇L‖₂: how near a critical point is, in this metric.
    ///
    /// # Errors
    /// As [`Engine::gradient`].
    pub async fn gradient_norm(self, engine: &Engine) -> Result<f64> {
        let gradient = engine.gradient().await?;
        let scale = self.scale(engine, &engine.parameters()?);
        Ok(gradient.iter().zip(scale).map(|(g, d)| (g * d).powi(2)).sum::<f64>().sqrt())
    }
}

impl fmt::Display for OperatorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for OperatorKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::from_name(name)
    }
}
