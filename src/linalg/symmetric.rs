//! All eigenvalues and eigenvectors of a dense symmetric matrix: Householder's reduction to tridiagonal form, then the implicit QL
//! algorithm (Bowdler, Martin, Reinsch and Wilkinson 1968; EISPACK's tred2 and tql2), in pieces that let an event loop run.
//!
//! All loops inside run along columns. The matrix is scaled by its largest entry first, so that squares neither overflow nor
//! vanish. Work is of the order of 8 n³ operations, memory two matrices; where all eigenvectors but two are of no use, a sixth of the one
//! and half of the other (inverse iteration, EISPACK's tinvit).

use nalgebra::DMatrix;

use crate::control::Control;
use crate::error::Result;
use crate::event_loop::now;
use crate::memory::{copied, filled, product, zeros};
use crate::numbers::{dot, largest, norm, power_near};
use crate::random::{generator, random_normal};

/// Operations between two looks at whether to go on: some milliseconds.
const PIECE: usize = 4_000_000;

/// Sweeps for one eigenvalue. Two are usual; more than this has not been seen, and what is left then is no larger than rounding
/// of the whole matrix would make it.
const SWEEPS: usize = 100;

/// What is below this beside a matrix of largest entry 1 is 0: quotients with it would overflow.
const VANISHING: f64 = 1e-290;

/// Eigenvalues, ascending, and eigenvectors of unit length, one after the other in the same order (n × n).
#[derive(Debug, Clone)]
pub(crate) struct Decomposition {
    pub values: Vec<f64>,
    pub vectors: Vec<f64>,
}

/// Lets the loop run after every [`PIECE`] of work.
struct Pace<'a, 'b> {
    control: &'a Control<'b>,
    done: usize,
}

impl Pace<'_, '_> {
    async fn step(&mut self, operations: usize) -> Result<()> {
        self.done += operations;
        if self.done >= PIECE {
            self.done = 0;
            self.control.breathe().await?;
        }
        Ok(())
    }
}

/// Decomposes a small symmetric matrix, at once.
///
/// # Errors
/// `TooLarge` where its eigenvectors do not fit in memory.
pub(crate) fn decomposed(matrix: &DMatrix<f64>) -> Result<Decomposition> {
    let entries = copied("a matrix", matrix.as_slice())?;
    now(symmetric_eigen(entries, matrix.nrows(), &Control::default()))
}

/// The eigenvalues of a small symmetric matrix, ascending, and one row of the matrix of its eigenvectors: what each has of that
/// coordinate. Where the matrix is tridiagonal this takes of the order of n² operations.
///
/// # Errors
/// `TooLarge` where a copy of it does not fit in memory.
pub(crate) fn decomposed_row(matrix: &DMatrix<f64>, row: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    let (entries, control) = (copied("a matrix", matrix.as_slice())?, Control::default());
    let found = now(async {
        let mut pace = Pace { control: &control, done: 0 };
        let reduced = Reduced::of(entries, matrix.nrows(), &mut pace).await?;
        let z = reduced.row(row)?;
        reduced.into_tridiagonal().diagonalized(z, &mut pace).await
    })?;
    Ok((found.values, found.vectors))
}

/// Decomposes a symmetric matrix of finite entries, n × n; only its lower triangle is read.
///
/// # Errors
/// `TooLarge` where its eigenvectors do not fit in memory; `Aborted`.
pub(crate) async fn symmetric_eigen(a: Vec<f64>, n: usize, control: &Control<'_>) -> Result<Decomposition> {
    let mut pace = Pace { control, done: 0 };
    let reduced = Reduced::of(a, n, &mut pace).await?;
    let z = reduced.q(&mut pace).await?;
    reduced.into_tridiagonal().diagonalized(z, &mut pace).await
}

/// The eigenvalues alone, ascending, of what [`symmetric_eigen`] takes: the reduction is all of it that takes n³ operations.
///
/// # Errors
/// `TooLarge`; `Aborted`.
pub(crate) async fn symmetric_eigenvalues(a: Vec<f64>, n: usize, control: &Control<'_>) -> Result<Vec<f64>> {
    let mut pace = Pace { control, done: 0 };
    let tridiagonal = Reduced::of(a, n, &mut pace).await?.into_tridiagonal();
    Ok(tridiagonal.diagonalized(Vec::new(), &mut pace).await?.values)
}

/// All eigenvalues, ascending, of what [`symmetric_eigen`] takes, n > 0, and an eigenvector of the smallest and one of the largest, of unit
/// length, one after the other. Beside the reduction this takes of the order of n² operations.
///
/// # Errors
/// `TooLarge`; `Aborted`.
pub(crate) async fn symmetric_ends(a: Vec<f64>, n: usize, control: &Control<'_>) -> Result<Decomposition> {
    let mut pace = Pace { control, done: 0 };
    let reduced = Reduced::of(a, n, &mut pace).await?;
    let Tridiagonal { d, e, scale } = &reduced.tridiagonal;
    let copy = Tridiagonal { d: copied("a diagonal", d)?, e: copied("a diagonal", e)?, scale: 1.0 };
    let Decomposition { mut values, .. } = copy.diagonalized(Vec::new(), &mut pace).await?;
    let mut vectors = zeros("eigenvectors", 2 * n)?;
    for (seed, (vector, end)) in vectors.chunks_exact_mut(n).zip([values[0], values[n - 1]]).enumerate() {
        inverse_iteration(d, e, end, seed as u64, vector)?;
        reduced.turn(vector);
    }
    values.iter_mut().for_each(|x| *x *= scale);
    Ok(Decomposition { values, vectors })
}

/// A tridiagonal matrix: its diagonal, what is below that (its last is 0), and what both are to be multiplied by.
struct Tridiagonal {
    d: Vec<f64>,
    e: Vec<f64>,
    scale: f64,
}

impl Tridiagonal {
    /// Its eigenvalues, and the rows of z turned along: those of the eigenvectors that z has.
    async fn diagonalized(mut self, mut z: Vec<f64>, pace: &mut Pace<'_, '_>) -> Result<Decomposition> {
        implicit_ql(&mut self.d, &mut self.e, &mut z, pace).await?;
        self.d.iter_mut().for_each(|x| *x *= self.scale);
        sort(&mut self.d, &mut z);
        Ok(Decomposition { values: self.d, vectors: z })
    }
}

/// A matrix A and its tridiagonal form Qᵀ A Q, Q the product of reflectors.
struct Reduced {
    /// n × n. Below its diagonal column by column the reflectors' vectors.
    reflectors: Vec<f64>,
    /// Their τ.
    taus: Vec<f64>,
    tridiagonal: Tridiagonal,
}

impl Reduced {
    async fn of(mut a: Vec<f64>, n: usize, pace: &mut Pace<'_, '_>) -> Result<Self> {
        let scale = largest(a.iter().copied());
        if scale > 0.0 {
            a.iter_mut().for_each(|x| *x /= scale);
        }
        let (mut d, mut e) = (zeros("eigenvalues", n)?, zeros("eigenvalues", n)?);
        let taus = tridiagonalize(&mut a, &mut d, &mut e, pace).await?;
        Ok(Self { reflectors: a, taus, tridiagonal: Tridiagonal { d, e, scale } })
    }

    /// Without the reflectors' memory.
    fn into_tridiagonal(self) -> Tridiagonal {
        self.tridiagonal
    }

    /// Each reflector that is one: where it begins, its τ and its vector.
    fn reflectors(&self) -> impl DoubleEndedIterator<Item = (usize, f64, &[f64])> {
        let n = self.taus.len();
        let vector = move |k: usize| &self.reflectors[k * n + k + 1..(k + 1) * n];
        (0..n.saturating_sub(1)).filter(|&k| self.taus[k] != 0.0).map(move |k| (k + 1, self.taus[k], vector(k)))
    }

    /// Q x in the place of x.
    fn turn(&self, x: &mut [f64]) {
        for (first, tau, v) in self.reflectors().rev() {
            reflect(v, tau, &mut x[first..]);
        }
    }

    /// Q, column by column.
    async fn q(&self, pace: &mut Pace<'_, '_>) -> Result<Vec<f64>> {
        const WHAT: &str = "eigenvectors";
        let n = self.taus.len();
        let mut z = filled(WHAT, 0.0, product::<f64>(WHAT, &[n, n])?)?;
        z.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0);
        for (first, tau, v) in self.reflectors().rev() {
            for column in z.chunks_exact_mut(n).skip(first) {
                reflect(v, tau, &mut column[first..]);
                pace.step(4 * v.len()).await?;
            }
        }
        Ok(z)
    }

    /// One row of it.
    fn row(&self, row: usize) -> Result<Vec<f64>> {
        let mut z = zeros("eigenvectors", self.taus.len())?;
        if let Some(x) = z.get_mut(row) {
            *x = 1.0;
        }
        for (first, tau, v) in self.reflectors() {
            reflect(v, tau, &mut z[first..]);
        }
        Ok(z)
    }
}

/// Column k of the lower triangle becomes the k-th reflector's vector v (with the first entry of which it begins one below the
/// diagonal), `d` the diagonal and `e` what is below it. Returns the τ of the reflectors I − τ v vᵀ.
async fn tridiagonalize(a: &mut [f64], d: &mut [f64], e: &mut [f64], pace: &mut Pace<'_, '_>) -> Result<Vec<f64>> {
    let n = d.len();
    let mut taus = zeros("reflectors", n)?;
    // A −= v wᵀ + w vᵀ is what the last reflector left to do: each column has it as the next one goes through it.
    let reflector = || zeros("a reflector", n);
    let [mut v, mut w, mut next, mut p] = [reflector()?, reflector()?, reflector()?, reflector()?];
    for k in 0..n {
        let column = &mut a[k * n + k..(k + 1) * n];
        let (v_k, w_k) = (v[k], w[k]);
        for ((x, &v), &w) in column.iter_mut().zip(&v[k..]).zip(&w[k..]) {
            *x -= v * w_k + w * v_k;
        }
        d[k] = column[0];
        let column = &mut column[1..];
        let Some((&mut below, others)) = column.split_first_mut() else { break };
        if others.iter().all(|&x| x == 0.0) {
            e[k] = below;
            continue;
        }
        // A column may be tiny beside the matrix: of squares that lost their digits no reflector would come.
        let unit = power_near(largest(column.iter().copied()));
        column.iter_mut().for_each(|x| *x /= unit);
        let alpha = -column.iter().map(|x| x * x).sum::<f64>().sqrt().copysign(column[0]);
        let tau = (alpha - column[0]) / alpha;
        let divisor = column[0] - alpha;
        column.iter_mut().for_each(|x| *x /= divisor);
        column[0] = 1.0;
        (taus[k], e[k]) = (tau, alpha * unit);
        next[k + 1..].copy_from_slice(column);
        p[k + 1..].fill(0.0);
        for j in k + 1..n {
            updated_product(&mut a[j * n + j..(j + 1) * n], &v[j..], &w[j..], &next[j..], &mut p[j..]);
            pace.step(8 * (n - j)).await?;
        }
        // With the new v: w = τ A v − (τ/2) (τ A v · v) v.
        std::mem::swap(&mut v, &mut next);
        std::mem::swap(&mut w, &mut p);
        let (v, w) = (&v[k + 1..], &mut w[k + 1..]);
        w.iter_mut().for_each(|w| *w *= tau);
        let half = 0.5 * tau * dot(w, v);
        w.iter_mut().zip(v).for_each(|(w, v)| *w -= half * v);
    }
    Ok(taus)
}

/// Of a column of the lower triangle, from the diagonal on, as are all the others here: A −= v wᵀ + w vᵀ, and with what it is then its share
/// of p += A x. All in one loop, of eight sums: in two plain ones WebAssembly takes half as long again.
fn updated_product(column: &mut [f64], v: &[f64], w: &[f64], x: &[f64], p: &mut [f64]) {
    /// Sums at a time.
    const LANES: usize = 8;
    let (v_j, w_j, x_j) = (v[0], w[0], x[0]);
    let step = |a: &mut f64, v: f64, w: f64, p: &mut f64| {
        *a -= v * w_j + w * v_j;
        *p += *a * x_j;
        *a
    };
    let mut sums = [0.0; LANES];
    let (blocks, rest) = column.as_chunks_mut::<LANES>();
    let ([v, w, x], ps) = ([v, w, x].map(|vector| vector.as_chunks::<LANES>()), p.as_chunks_mut::<LANES>());
    for ((((a, v), w), x), p) in blocks.iter_mut().zip(v.0).zip(w.0).zip(x.0).zip(ps.0) {
        for i in 0..LANES {
            sums[i] += step(&mut a[i], v[i], w[i], &mut p[i]) * x[i];
        }
    }
    for ((((a, &v), &w), &x), p) in rest.iter_mut().zip(v.1).zip(w.1).zip(x.1).zip(ps.1) {
        sums[0] += step(a, v, w, p) * x;
    }
    let [a, b, c, d, e, f, g, h] = sums;
    let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    // The diagonal's share is there already.
    p[0] += sum - column[0] * x_j;
}

/// x − τ v vᵀ x in the place of x.
fn reflect(v: &[f64], tau: f64, x: &mut [f64]) {
    let share = tau * dot(v, x);
    x.iter_mut().zip(v).for_each(|(x, v)| *x -= share * v);
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
        let comes_first = below.abs() > at.abs();
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

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::linalg::{generator, random_normal};

    /// Values agree with the library's, vectors are orthonormal and belong to them.
    fn check(what: &str, a: &DMatrix<f64>) {
        let n = a.nrows();
        let found = decomposed(a).expect("a decomposition");
        let scale = a.amax().max(f64::MIN_POSITIVE);
        let tolerance = 1e-13 * (n as f64).max(8.0);
        let scaled = a / scale;
        let mut expected: Vec<f64> = scaled.clone().symmetric_eigen().eigenvalues.iter().copied().collect();
        expected.sort_by(f64::total_cmp);
        assert!(found.values.windows(2).all(|pair| pair[0] <= pair[1]), "{what}: not ascending");
        for (value, expected) in found.values.iter().zip(&expected) {
            assert!((value / scale - expected).abs() <= tolerance, "{what}: {value} / {scale}, not {expected}");
        }
        for row in [0, n / 2, n - 1] {
            let (values, entries) = decomposed_row(a, row).expect("a row");
            assert_eq!(values, found.values, "{what}: values beside a row");
            let all = found.vectors.iter().skip(row).step_by(n);
            let error = entries.iter().zip(all).fold(0.0, |m, (x, y)| f64::max(m, (x - y).abs()));
            assert!(error <= tolerance, "{what}: row {row} is off by {error:e}");
        }
        let ends = now(symmetric_ends(a.as_slice().to_vec(), n, &Control::default())).expect("two ends");
        assert_eq!(ends.values, found.values, "{what}: values beside two vectors");
        for (vector, value) in ends.vectors.chunks_exact(n).zip([ends.values[0], ends.values[n - 1]]) {
            let vector = nalgebra::DVector::from_column_slice(vector);
            assert!((vector.norm() - 1.0).abs() <= tolerance, "{what}: an end's length is {}", vector.norm());
            let error = (&scaled * &vector - &vector * (value / scale)).amax();
            assert!(error <= tolerance, "{what}: {value:e} is off by {error:e} with its vector");
        }
        let z = DMatrix::from_vec(n, n, found.vectors);
        assert!((z.transpose() * &z - DMatrix::identity(n, n)).amax() <= tolerance, "{what}: not orthonormal");
        let values = DMatrix::from_diagonal(&nalgebra::DVector::from_vec(found.values)) / scale;
        assert!((&scaled * &z - &z * values).amax() <= tolerance, "{what}: no eigenvectors");
    }

    fn random(n: usize, seed: u64) -> DMatrix<f64> {
        let mut rng = generator(seed);
        let a = DMatrix::from_fn(n, n, |_, _| rng.random_range(-1.0..1.0));
        (&a + a.transpose()) * 0.5
    }

    #[test]
    fn it_agrees_with_the_library() {
        for (n, seed) in [(1, 1), (2, 2), (3, 3), (4, 4), (17, 5), (64, 6), (130, 7)] {
            check(&format!("{n} × {n}"), &random(n, seed));
        }
    }

    #[test]
    fn spectra_of_every_kind() {
        let n = 40;
        let q = random(n, 8).symmetric_eigen().eigenvectors;
        let with = |value: &dyn Fn(usize) -> f64| {
            let a = &q * DMatrix::from_diagonal(&nalgebra::DVector::from_fn(n, |i, _| value(i))) * q.transpose();
            (&a + a.transpose()) * 0.5
        };
        check("zeros", &DMatrix::zeros(n, n));
        check("the identity", &DMatrix::identity(n, n));
        check("a diagonal", &DMatrix::from_diagonal(&nalgebra::DVector::from_fn(n, |i, _| ((i * 7) % n) as f64)));
        check("clusters", &with(&|i| (i / 10) as f64 + 1e-13 * i as f64));
        check("one large", &with(&|i| if i == 0 { 1e8 } else { 1e-8 }));
        check("rank 1", &with(&|i| if i == 3 { 1.0 } else { 0.0 }));
        check("graded", &with(&|i| 10f64.powi(-(i as i32) / 2)));
        for scale in [1e200, 1e-200, 1e300, 1e-300, 1e-310] {
            check(&format!("times {scale}"), &(random(n, 9) * scale));
        }
    }

    /// Columns whose squares underflow beside entries of 1: reflectors made of what is left of them would not be orthogonal.
    #[test]
    fn columns_that_are_tiny_beside_the_matrix() {
        let n = 20;
        for size in [1e-150, 1e-158, 1e-160, 1e-162, 1e-200, 1e-310] {
            let mut matrix = random(n, 10);
            let factor = |i: usize| if i < n - 3 { size } else { 1.0 };
            for i in 0..n {
                for j in 0..n {
                    matrix[(i, j)] *= factor(i) * factor(j);
                }
            }
            check(&format!("columns of {size:e}"), &matrix);
            let length = decomposed(&matrix).expect("values").values.iter().fold(0.0, |sum: f64, x| sum.hypot(*x));
            assert!(
                (length - matrix.norm()).abs() <= 1e-14 * matrix.norm(),
                "{size:e}: {length}, not {}",
                matrix.norm()
            );
        }
    }

    /// A matrix that is rounding of rounding behind its first rows, as reflections leave one of low rank: squares underflow there,
    /// and rotations must not divide 0 by 0.
    #[test]
    fn what_vanishes_behind_the_rank_makes_no_nan() {
        let n = 12;
        for seed in 0..50 {
            let values = random_normal(2 * n, &mut generator(seed)).expect("memory");
            let size = |i: usize| if i < 3 { 1.0 } else { 1e-161 };
            let mut matrix = DMatrix::zeros(n, n);
            for i in 0..n {
                matrix[(i, i)] = size(i) * values[i];
                if i + 1 < n {
                    matrix[(i, i + 1)] = size(i + 1) * values[n + i];
                    matrix[(i + 1, i)] = matrix[(i, i + 1)];
                }
            }
            let found = decomposed(&matrix).expect("a decomposition");
            let z = DMatrix::from_vec(n, n, found.vectors);
            let error = (&z * DMatrix::from_diagonal(&found.values.into()) * z.transpose() - &matrix).amax();
            assert!(error <= 1e-14 * matrix.amax(), "seed {seed}: off by {error:e}");
        }
    }

    #[test]
    fn it_stops_when_it_is_asked_to() {
        let asked = std::cell::Cell::new(0);
        let control = Control::default().stop_when(|| {
            asked.set(asked.get() + 1);
            asked.get() > 3
        });
        let n = 200;
        let found = now(symmetric_eigen(random(n, 1).as_slice().to_vec(), n, &control));
        assert_eq!(found.expect_err("a stop").code, crate::ErrorCode::Aborted);
    }
}
