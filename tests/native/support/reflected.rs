//! Operators of known spectrum whose eigenvectors lie along no axis.
#![allow(dead_code)] // Each test file uses its own part.

use isoflat::control::LocalFuture;
use isoflat::engine::{Device, Engine, Segments, Vector, Vectors};
use isoflat::operator::SymmetricOperator;
use isoflat::{Loss, Network, Result};
use nalgebra::{DMatrix, DVector};

use super::{dot, random_direction, random_problem, rng};

/// R D R for a diagonal D and the reflection R = I − v vᵀ, ‖v‖² = 2: eigenvectors are the columns of R, none of them along
/// an axis.
pub struct Reflected<'a> {
    engine: &'a Engine,
    d: Vector,
    v: Vector,
    minus_v: Vector,
    whole: Segments,
    reflection: Vec<f64>,
}

impl<'a> Reflected<'a> {
    /// With these eigenvalues.
    pub fn new(engine: &'a Engine, values: &[f64]) -> Self {
        let e = engine.vectors();
        let mut v = random_direction(&mut rng(77), values.len());
        let length = dot(&v, &v).sqrt();
        v.iter_mut().for_each(|x| *x *= 2.0f64.sqrt() / length);
        let minus: Vec<f64> = v.iter().map(|x| -x).collect();
        let upload = |values: &[f64]| e.upload(values, 1).expect("a vector");
        Self {
            engine,
            d: upload(values),
            v: upload(&v),
            minus_v: upload(&minus),
            whole: Segments::whole(values.len()),
            reflection: v,
        }
    }

    /// The eigenvector of values[i].
    pub fn eigenvector(&self, i: usize) -> Vec<f64> {
        let v = &self.reflection;
        (0..v.len()).map(|j| f64::from(i == j) - v[i] * v[j]).collect()
    }

    fn reflect(&self, x: &mut Vector) -> Result<()> {
        let e = self.vectors();
        let mut inner = e.zeros(x.columns(), 1)?;
        e.segment_inner(&self.whole, &self.v, x, 0..x.columns(), &mut inner, 0)?;
        e.segment_axpy(&self.whole, &inner, &self.minus_v, x)
    }
}

impl SymmetricOperator for Reflected<'_> {
    fn vectors(&self) -> &dyn Vectors {
        self.engine.vectors()
    }

    fn len(&self) -> usize {
        self.d.len()
    }

    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let e = self.vectors();
            let mut reflected = e.zeros(x.len(), x.columns())?;
            e.copy_columns(x, 0..x.columns(), &mut reflected, 0)?;
            self.reflect(&mut reflected)?;
            e.multiply_add(1.0, &self.d, &reflected, 0.0, y)?;
            self.reflect(y)
        })
    }
}

/// A dense symmetric matrix of these eigenvalues, its eigenvectors a random orthonormal basis.
pub struct Rotated<'a> {
    engine: &'a Engine,
    /// The matrix, column by column.
    columns: Vector,
}

impl<'a> Rotated<'a> {
    /// With these eigenvalues.
    pub fn new(engine: &'a Engine, values: &[f64]) -> Self {
        let n = values.len();
        let basis = DMatrix::from_vec(n, n, random_direction(&mut rng(31), n * n)).qr().q();
        let matrix = &basis * DMatrix::from_diagonal(&DVector::from_column_slice(values)) * basis.transpose();
        Self { engine, columns: engine.vectors().upload(matrix.as_slice(), n).expect("a matrix") }
    }
}

impl SymmetricOperator for Rotated<'_> {
    fn vectors(&self) -> &dyn Vectors {
        self.engine.vectors()
    }

    fn len(&self) -> usize {
        self.columns.len()
    }

    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let e = self.vectors();
            e.scale(0.0, y)?;
            e.combine(1.0, &self.columns, 0..self.len(), x, 0, y).await
        })
    }
}

/// An engine for its executor alone.
pub fn any_engine(device: &Device) -> Engine {
    let network = Network::dense(&[2, 2], false).expect("a network");
    let problem = random_problem(&mut rng(0), network, Loss::CrossEntropy);
    Engine::new(device, &problem).expect("an engine")
}
