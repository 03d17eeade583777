//! All eigenvalues and eigenvectors of a dense symmetric matrix: Householder's reduction to tridiagonal form (EISPACK's tred2), then that
//! form's own, in pieces that let an event loop run.
//!
//! All loops inside run along columns. The matrix is scaled by its largest entry first, so that squares neither overflow nor
//! vanish. Work is of the order of 8 n³ operations, memory two matrices; where all eigenvectors but two are of no use, a sixth of the one
//! and half of the other.

use nalgebra::DMatrix;

use super::tridiagonal::{Pace, Tridiagonal};
use crate::control::Control;
use crate::error::Result;
use crate::event_loop::now;
use crate::memory::{copied, filled, product, zeros};
use crate::numbers::{dot, largest, power_near};

/// Eigenvalues, ascending, and eigenvectors of unit length, one after the other in the same order (n × n).
#[derive(Debug, Clone)]
pub(crate) struct Decomposition {
    pub values: Vec<f64>,
    pub vectors: Vec<f64>,
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
    now(async {
        let mut pace = Pace::new(&control);
        let reduced = Reduced::of(entries, matrix.nrows(), &mut pace).await?;
        let z = reduced.row(row)?;
        reduced.into_tridiagonal().diagonalized(z, &mut pace).await
    })
}

/// Decomposes a symmetric matrix of finite entries, n × n; only its lower triangle is read.
///
/// # Errors
/// `TooLarge` where its eigenvectors do not fit in memory; `Aborted`.
pub(crate) async fn symmetric_eigen(a: Vec<f64>, n: usize, control: &Control<'_>) -> Result<Decomposition> {
    let mut pace = Pace::new(control);
    let reduced = Reduced::of(a, n, &mut pace).await?;
    let z = reduced.q(&mut pace).await?;
    let (values, vectors) = reduced.into_tridiagonal().diagonalized(z, &mut pace).await?;
    Ok(Decomposition { values, vectors })
}

/// The eigenvalues alone, ascending, of what [`symmetric_eigen`] takes: the reduction is all of it that takes n³ operations.
///
/// # Errors
/// `TooLarge`; `Aborted`.
pub(crate) async fn symmetric_eigenvalues(a: Vec<f64>, n: usize, control: &Control<'_>) -> Result<Vec<f64>> {
    let mut pace = Pace::new(control);
    let tridiagonal = Reduced::of(a, n, &mut pace).await?.into_tridiagonal();
    Ok(tridiagonal.diagonalized(Vec::new(), &mut pace).await?.0)
}

/// All eigenvalues, ascending, of what [`symmetric_eigen`] takes, n > 0, and an eigenvector of the smallest and one of the largest, of unit
/// length, one after the other. Beside the reduction this takes of the order of n² operations.
///
/// # Errors
/// `TooLarge`; `Aborted`.
pub(crate) async fn symmetric_ends(a: Vec<f64>, n: usize, control: &Control<'_>) -> Result<Decomposition> {
    let mut pace = Pace::new(control);
    let reduced = Reduced::of(a, n, &mut pace).await?;
    let (values, mut vectors) = reduced.tridiagonal.ends(&mut pace).await?;
    vectors.chunks_exact_mut(n).for_each(|vector| reduced.turn(vector));
    Ok(Decomposition { values, vectors })
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

    /// A row that is all but its first entry next to nothing, which an elimination with exchanges would divide by.
    #[test]
    fn what_is_next_to_nothing_in_two_rows_is_no_pivot() {
        for exponent in 140..=323 {
            let small: f64 = format!("1e-{exponent}").parse().expect("a number");
            let column = nalgebra::DVector::from_column_slice(&[1.0, small, small]);
            check(&format!("1 and 1e-{exponent}"), &(&column * column.transpose() * 2.0));
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
