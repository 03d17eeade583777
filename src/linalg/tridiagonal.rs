//! Eigenvalues and eigenvectors of a symmetric tridiagonal matrix: the implicit QL algorithm (Bowdler, Martin, Reinsch and Wilkinson 1968;
//! EISPACK's tql2), and inverse iteration for single eigenvectors (EISPACK's tinvit), in pieces that let an event loop run.

use crate::control::Control;
use crate::error::Result;
use crate::memory::{copied, filled, zeros};
use crate::numbers::{largest, norm};
use crate::random::{generator, random_normal};

/// Operations between two looks at whether to go on: some milliseconds.
const PIECE: usize = 4_000_000;

/// Sweeps for one eigenvalue. Two are usual; more than this has not been seen, and what is left then is no larger than rounding
/// of the whole matrix would make it.
const SWEEPS: usize = 100;

/// What is below this beside a matrix of largest entry 1 is 0: quotients with it would overflow.
const VANISHING: f64 = 1e-290;

/// Lets the loop run after every [`PIECE`] of work.
pub(super) struct Pace<'a, 'b> {
    control: &'a Control<'b>,
    done: usize,
}

impl<'a, 'b> Pace<'a, 'b> {
    pub fn new(control: &'a Control<'b>) -> Self {
        Self { control, done: 0 }
    }

    /// So many more have been done.
    pub async fn step(&mut self, operations: usize) -> Result<()> {
        self.done += operations;
        if self.done >= PIECE {
            self.done = 0;
            self.control.breathe().await?;
        }
        Ok(())
    }
}

/// A tridiagonal matrix: its diagonal, what is below that (its last is 0), and what both are to be multiplied by, so that no entry is above 1.
pub(super) struct Tridiagonal {
    pub d: Vec<f64>,
    pub e: Vec<f64>,
    pub scale: f64,
}

impl Tridiagonal {
    /// Its eigenvalues, ascending, and the rows of z turned along: those of the eigenvectors that z has.
    pub async fn diagonalized(mut self, mut z: Vec<f64>, pace: &mut Pace<'_, '_>) -> Result<(Vec<f64>, Vec<f64>)> {
        implicit_ql(&mut self.d, &mut self.e, &mut z, pace).await?;
        self.d.iter_mut().for_each(|x| *x *= self.scale);
        sort(&mut self.d, &mut z);
        Ok((self.d, z))
    }

    /// Its eigenvalues, ascending, and an eigenvector of the smallest and one of the largest, of unit length, one after the other.
    ///
    /// # Errors
    /// `TooLarge`; `Aborted`.
    pub async fn ends(&self, pace: &mut Pace<'_, '_>) -> Result<(Vec<f64>, Vec<f64>)> {
        let n = self.d.len();
        let copy = Self { d: copied("a diagonal", &self.d)?, e: copied("a diagonal", &self.e)?, scale: 1.0 };
        let (mut values, _) = copy.diagonalized(Vec::new(), pace).await?;
        let mut vectors = zeros("eigenvectors", 2 * n)?;
        for (seed, (vector, end)) in vectors.chunks_exact_mut(n).zip([values[0], values[n - 1]]).enumerate() {
            inverse_iteration(&self.d, &self.e, end, seed as u64, vector)?;
        }
        values.iter_mut().for_each(|x| *x *= self.scale);
        Ok((values, vectors))
    }
}

/// Into `x` an eigenvector of unit length of the tridiagonal matrix with this diagonal, and `e` below it, for a value that is an eigenvalue
/// up to rounding: T − λ, factored with exchanges of neighbouring rows, is solved for a random vector, and for what comes of it.
fn inverse_iteration(d: &[f64], e: &[f64], value: f64, seed: u64, x: &mut [f64]) -> Result<()> {
    /// The first has all but rounding already.
    const TIMES: usize = 3;
    const LARGE: f64 = 1e100;
    let n = d.len();
    let size = largest(d.iter().chain(e).copied()).max(value.abs());
    let least = f64::max(f64::EPSILON * size, VANISHING);
    // Rows of the right factor: its diagonal and the two above it; and what of each is taken from the next, and whether that came first.
    let mut rows = filled("a factor", [0.0; 3], n)?;
    let mut steps = filled("a factor", (0.0, false), n)?;
    let (mut at, mut above) = (d[0] - value, e[0]);
    for i in 0..n {
        let last = i + 1 == n;
        let (below, next, beyond) = if last { (0.0, 0.0, 0.0) } else { (e[i], d[i + 1] - value, e[i + 1]) };
        // What is next to nothing in both rows is no pivot: quotients with it would overflow.
        let comes_first = below.abs() > at.abs().max(least);
        let (row, factor, left) = if comes_first {
            let factor = at / below;
            ([below, next, beyond], factor, (above - factor * next, -factor * beyond))
        } else {
            let pivot = if at.abs() < least { least } else { at };
            let factor = below / pivot;
            ([pivot, above, 0.0], factor, (next - factor * above, beyond))
        };
        rows[i] = row;
        (at, above) = left;
        steps[i] = (factor, comes_first);
    }
    x.copy_from_slice(&random_normal(n, &mut generator(seed))?);
    for _ in 0..TIMES {
        for (i, &(factor, comes_first)) in steps.iter().enumerate().take(n - 1) {
            if comes_first {
                x.swap(i, i + 1);
            }
            x[i + 1] -= factor * x[i];
        }
        for i in (0..n).rev() {
            let [pivot, above, beyond] = rows[i];
            let after = |j: usize| x.get(j).copied().unwrap_or(0.0);
            x[i] = (x[i] - above * after(i + 1) - beyond * after(i + 2)) / pivot;
            if x[i].abs() > LARGE {
                x.iter_mut().for_each(|x| *x /= LARGE);
            }
        }
        let length = norm(x.iter().copied());
        x.iter_mut().for_each(|x| *x /= length);
    }
    Ok(())
}

/// Diagonalises: `d` becomes the eigenvalues, the columns of `z` are turned along.
async fn implicit_ql(d: &mut [f64], e: &mut [f64], z: &mut [f64], pace: &mut Pace<'_, '_>) -> Result<()> {
    let n = d.len();
    let rows = z.len() / n.max(1);
    let (mut shift, mut largest) = (0.0, 0.0f64);
    for l in 0..n {
        largest = largest.max(d[l].abs() + e[l].abs());
        let is_small = |x: f64| x.abs() <= f64::max(f64::EPSILON * largest, VANISHING);
        // The last is 0.
        let m = (l..n).find(|&m| is_small(e[m])).unwrap_or(n - 1);
        for _ in 0..SWEEPS {
            if m == l || is_small(e[l]) {
                break;
            }
            // The shift: the eigenvalue of the leading 2 × 2 block that is nearer to its corner.
            let corner = d[l];
            let p = (d[l + 1] - corner) / (2.0 * e[l]);
            let r = p.hypot(1.0).copysign(p);
            d[l] = e[l] / (p + r);
            d[l + 1] = e[l] * (p + r);
            let (next, by, below) = (d[l + 1], corner - d[l], e[l + 1]);
            d[l + 2..].iter_mut().for_each(|d| *d -= by);
            shift += by;
            let mut p = d[m];
            let (mut c, mut c2, mut c3, mut s, mut s2) = (1.0, 1.0, 1.0, 0.0, 0.0);
            for i in (l..m).rev() {
                (c3, c2, s2) = (c2, c, s);
                let (g, h) = (c * e[i], c * p);
                let r = p.hypot(e[i]);
                e[i + 1] = s * r;
                s = e[i] / r;
                c = p / r;
                p = c * d[i] - s * g;
                d[i + 1] = h + s * (c * g + s * d[i]);
                let (left, right) = z[i * rows..(i + 2) * rows].split_at_mut(rows);
                for (x, y) in left.iter_mut().zip(right) {
                    let before = *y;
                    *y = s * *x + c * before;
                    *x = c * *x - s * before;
                }
                pace.step(6 * (rows + 1)).await?;
            }
            p = -s * s2 * c3 * below * e[l] / next;
            e[l] = s * p;
            d[l] = c * p;
        }
        d[l] += shift;
        e[l] = 0.0;
    }
    Ok(())
}

/// Ascending, by exchanging columns.
fn sort(d: &mut [f64], z: &mut [f64]) {
    let n = d.len();
    let rows = z.len() / n.max(1);
    for i in 0..n {
        let least = (i..n).fold(i, |best, j| if d[j] < d[best] { j } else { best });
        if least != i {
            d.swap(i, least);
            let (left, right) = z.split_at_mut(least * rows);
            left[i * rows..(i + 1) * rows].swap_with_slice(&mut right[..rows]);
        }
    }
}
