//! D A D for a diagonal D.

use super::{Scratch, SymmetricOperator};
use crate::control::LocalFuture;
use crate::engine::{Vector, Vectors, ensure_in_range};
use crate::error::{Result, ensure, ensure_finite};

/// D A D for a diagonal D.
pub struct Scaled<A> {
    inner: A,
    d: Vector,
    scratch: Scratch,
}

impl<A: SymmetricOperator> Scaled<A> {
    /// Scales `inner` by this diagonal on both sides.
    ///
    /// # Errors
    /// `InvalidParameters` for a diagonal of another length; `NotFinite` for one that is not finite; `OutOfRange` for one that the device's
    /// precision does not hold; the device's.
    pub fn new(inner: A, diagonal: &[f64]) -> Result<Self> {
        let (given, len) = (diagonal.len(), inner.len());
        ensure!(
            given == len,
            InvalidParameters,
            "the diagonal has {given} values, but the operator's vectors have {len}"
        );
        ensure_finite("diagonal", diagonal)?;
        let name = || format!("the {} numbers of a diagonal", diagonal.len());
        ensure_in_range(inner.vectors().precision(), diagonal.iter().copied(), name)?;
        let d = inner.vectors().upload(diagonal, 1)?;
        Ok(Self { inner, d, scratch: Scratch::default() })
    }
}

impl<A: SymmetricOperator> SymmetricOperator for Scaled<A> {
    fn vectors(&self) -> &dyn Vectors {
        self.inner.vectors()
    }

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let vectors = self.vectors();
            let mut scaled = self.scratch.take(vectors, x.len(), x.columns())?;
            vectors.multiply_add(1.0, &self.d, x, 0.0, &mut scaled)?;
            self.inner.apply(&scaled, y).await?;
            vectors.copy_columns(y, 0..y.columns(), &mut scaled, 0)?;
            vectors.multiply_add(1.0, &self.d, &scaled, 0.0, y)?;
            self.scratch.leave(scaled);
            Ok(())
        })
    }
}
