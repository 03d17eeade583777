//! Matrix views and the one product they need.

use super::real::Real;

/// A strided view of a matrix.
#[derive(Clone, Copy)]
pub struct Matrix<'a, T> {
    data: &'a [T],
    rows: usize,
    columns: usize,
    strides: (usize, usize),
}

impl<'a, T: Real> Matrix<'a, T> {
    /// Row-major `rows × columns` over all of `data`.
    pub fn new(data: &'a [T], rows: usize, columns: usize) -> Self {
        assert_eq!(data.len(), rows * columns, "a {rows} × {columns} matrix over {} values", data.len());
        Self { data, rows, columns, strides: (columns, 1) }
    }

    /// Its transpose, without moving anything.
    pub fn transposed(self) -> Self {
        Self { rows: self.columns, columns: self.rows, strides: (self.strides.1, self.strides.0), ..self }
    }
}

/// Whether a product replaces what is there or is added to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Write {
    /// C = A B.
    Set,
    /// C += A B.
    Add,
}

/// C = A B or C += A B; C row-major.
#[allow(unsafe_code)]
pub fn multiply<T: Real>(a: Matrix<'_, T>, b: Matrix<'_, T>, write: Write, c: &mut [T]) {
    assert_eq!(a.columns, b.rows, "inner sizes of a product differ");
    assert_eq!(c.len(), a.rows * b.columns, "the result of a product has the wrong size");
    let beta = if write == Write::Add { T::ONE } else { T::ZERO };
    // SAFETY: Matrix::new checked that data covers rows × columns, transposing keeps that, and c was checked above;
    // c is borrowed mutably, so it overlaps neither a nor b.
    unsafe {
        T::gemm(
            a.rows,
            a.columns,
            b.columns,
            a.data.as_ptr(),
            a.strides,
            b.data.as_ptr(),
            b.strides,
            beta,
            c.as_mut_ptr(),
            b.columns,
        );
    }
}

/// Σ a_i b_i in eight double-precision lanes, added in a fixed order.
pub fn dot<T: Real>(a: &[T], b: &[T]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let (a_blocks, a_rest) = a.as_chunks::<8>();
    let (b_blocks, b_rest) = b.as_chunks::<8>();
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..8 {
            lanes[lane] += x[lane].to_f64() * y[lane].to_f64();
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x.to_f64() * y.to_f64()).sum();
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest
}
