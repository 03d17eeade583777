//! The projection on the horizontal space that Rangamani et al. 2019 leave out as unnecessary at a minimum.

use super::{Scratch, SymmetricOperator};
use crate::control::LocalFuture;
use crate::engine::{Engine, Segments, Vector, Vectors};
use crate::error::{Result, ensure};
use crate::memory::zeros;
use crate::network::Network;
use crate::numbers::{dot, norm};
use crate::operator::{Metric, OperatorKind};
use crate::symmetry::{ensure_homogeneous, free_tensors};

/// P A P for an operator A in the coordinates of the layer-wise D H D, P the orthogonal projection on the horizontal vectors: those
/// without a part along the layer-wise rescalings of the network.
///
/// Definition 3 of Rangamani et al. 2019 is the maximum of g(ξ, Hess f(W)\[ξ\]) over tangent vectors of the quotient by these, and so over
/// horizontal ξ. At a critical point D H D takes vertical vectors to 0 and the projection changes nothing. Elsewhere, with the paper's
/// connection, it does not: D H D over all vectors then has other ends than over horizontal ones. Vertical vectors are eigenvectors of
/// P A P with eigenvalue 0.
pub struct Horizontal<A> {
    inner: A,
    segments: Segments,
    /// The unit vectors of all blocks, one after the other; zeros for a block that is zero.
    units: Vector,
    /// −Q Qᵀ, Q being an orthonormal basis of the vertical vectors as combinations of the blocks' unit vectors.
    vertical: Vec<f64>,
    scratch: Scratch,
}

impl<A: SymmetricOperator> Horizontal<A> {
    /// Over the horizontal vectors at the engine's prepared point; `inner` is of the kind, on the same engine.
    ///
    /// # Errors
    /// `InvalidOption` for a kind that is not over all parameters in the layer-wise metric; `NotHomogeneous` for a network that has no
    /// rescalings; `InvalidParameters` if no point is prepared; the device's.
    pub fn new(inner: A, kind: OperatorKind, engine: &Engine) -> Result<Self> {
        ensure!(
            kind.whole.metric() == Some(Metric::Layerwise) && kind.part.is_none(),
            InvalidOption,
            "horizontal vectors are those of the layer-wise metric over all parameters, and not of {kind}"
        );
        let network = engine.problem().network();
        ensure_homogeneous(network)?;
        let mut units = engine.parameters()?;
        let segments = Segments::blocks(network.layout());
        let mut moves = Vec::with_capacity(segments.count());
        for range in segments.ranges() {
            let block = &mut units[range];
            let length = norm(block.iter().copied());
            moves.push(length > 0.0);
            block.iter_mut().for_each(|w| *w = if length > 0.0 { *w / length } else { 0.0 });
        }
        let vertical = minus_projection(&vertical_vectors(network, &moves)?, segments.count())?;
        let units = inner.vectors().upload(&units, 1)?;
        Ok(Self { inner, segments, units, vertical, scratch: Scratch::default() })
    }

    /// Takes the vertical part out of every column.
    async fn project(&self, x: &mut Vector) -> Result<()> {
        let (vectors, count) = (self.vectors(), self.segments.count());
        let mut along = vectors.zeros(count * x.columns(), 1)?;
        vectors.segment_inner(&self.segments, &self.units, x, 0..x.columns(), &mut along, 0)?;
        let along = vectors.download(&along).await?;
        let mut taken = zeros("a vertical part", along.len())?;
        for (taken, along) in taken.chunks_exact_mut(count).zip(along.chunks_exact(count)) {
            for (taken, row) in taken.iter_mut().zip(self.vertical.chunks_exact(count)) {
                *taken = dot(row, along);
            }
        }
        let taken = vectors.upload(&taken, 1)?;
        vectors.segment_axpy(&self.segments, &taken, &self.units, x)
    }
}

/// The tangents of the factors of all tensors that can be rescaled, as combinations of the blocks' unit vectors: with the metric's
/// lengths, W_l and b_l are of length 1 each. Blocks that are zero are left out.
fn vertical_vectors(network: &Network, moves: &[bool]) -> Result<Vec<Vec<f64>>> {
    let blocks = network.layout().blocks();
    let mut found = Vec::new();
    for tensor in free_tensors(network)? {
        let entries = blocks.iter().zip(moves).map(|(block, moves)| {
            let times = |layers: &[usize]| layers.iter().filter(|layer| **layer == block.layer).count() as f64;
            // A factor's writers go with it, their biases too; its readers' weights go with its inverse.
            let read = if block.is_bias { 0.0 } else { times(&tensor.readers) };
            if *moves { times(&tensor.writers) - read } else { 0.0 }
        });
        found.push(entries.collect());
    }
    Ok(found)
}

/// −Q Qᵀ for an orthonormal basis Q of the span of these vectors, row by row.
fn minus_projection(vectors: &[Vec<f64>], count: usize) -> Result<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut projection: Vec<f64> = zeros("a projection", count * count)?;
    for vector in vectors {
        let mut rest = vector.clone();
        for _ in 0..2 {
            for q in &basis {
                let along = dot(q, &rest);
                rest.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
            }
        }
        // The entries are small whole numbers: what depends on the others leaves nothing but rounding.
        let length = norm(rest.iter().copied());
        if length > 1e-9 {
            rest.iter_mut().for_each(|x| *x /= length);
            for (row, q) in projection.chunks_exact_mut(count).zip(&rest) {
                row.iter_mut().zip(&rest).for_each(|(sum, p)| *sum -= q * p);
            }
            basis.push(rest);
        }
    }
    Ok(projection)
}

impl<A: SymmetricOperator> SymmetricOperator for Horizontal<A> {
    fn vectors(&self) -> &dyn Vectors {
        self.inner.vectors()
    }

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let vectors = self.vectors();
            let mut flat = self.scratch.take(vectors, x.len(), x.columns())?;
            vectors.copy_columns(x, 0..x.columns(), &mut flat, 0)?;
            self.project(&mut flat).await?;
            self.inner.apply(&flat, y).await?;
            self.scratch.leave(flat);
            self.project(y).await
        })
    }
}
