//! Matrix products: which kernel, how the sum is cut, and the parameters.

use std::rc::Rc;

use super::context::DeviceBuffer;
use super::executor::GpuExecutor;
use super::kernel::Kernel;
use super::recorder::Grid;
use super::uniforms::{ColumnSums, Gemm, Operand, SumSlabs};
use crate::engine::Activation;
use crate::error::Result;

/// An operand with its buffer. `line` is the stride over rows of C (in A) or columns of C (in B), `depth` the stride over
/// the sum, `batch` that over directions (0: shared).
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub buffer: &'a DeviceBuffer,
    pub at: Operand,
}

impl<'a> Side<'a> {
    pub fn new(buffer: &'a DeviceBuffer, offset: usize, line: usize, depth: usize, batch: usize) -> Self {
        let at = Operand { offset: offset as u32, line: line as u32, depth: depth as u32, batch: batch as u32 };
        Self { buffer, at }
    }
}

/// What happens to a sum before it is stored.
#[derive(Clone, Copy)]
pub(super) enum Epilogue<'a> {
    /// Nothing.
    None,
    /// φ of it.
    Activate(Activation),
    /// Times φ', read off these activations (rows, columns of C).
    Derive(Activation, &'a DeviceBuffer),
}

/// `C[b] = epilogue(A1 B1 + A2 B2 + bias)`, C (m, n) row-major without gaps, for every b < batch.
pub(super) struct Product<'a> {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub batch: usize,
    pub first: [Side<'a>; 2],
    pub second: Option<[Side<'a>; 2]>,
    /// Offset of the bias in B1's buffer and its stride over b.
    pub bias: Option<(usize, usize)>,
    pub epilogue: Epilogue<'a>,
    pub c: &'a DeviceBuffer,
    pub c_offset: usize,
    pub c_batch: usize,
}

/// Outputs of a thread in each direction. The place to choose kernels made for real GPUs, once there are some.
///
/// A product's bits do not depend on it: every tile sums in the same order.
fn tile(m: usize, n: usize, is_software: bool) -> (Kernel, usize) {
    let threads = |side: usize| m.div_ceil(side) * n.div_ceil(side);
    if is_software {
        // Work of a thread over its useful part. A loaded value costs about four multiplications, and a tile of side s
        // loads 2 s values for s² of them.
        let cost = |side: usize| (threads(side) * side * (side + 8)) as f64;
        if cost(8) <= cost(4) { (Kernel::Gemm8x8, 8) } else { (Kernel::Gemm4x4, 4) }
    } else if threads(8) >= 16384 {
        (Kernel::Gemm8x8, 8)
    } else if threads(4) >= 2048 {
        (Kernel::Gemm4x4, 4)
    } else {
        (Kernel::Gemm1x1, 1)
    }
}

/// The number of parts of a sum over `k` and their length, for an output of m × n: more than one where there are too few
/// tiles to keep the device busy. Not a function of the batch, so K directions give the bits of K single ones.
fn slabs(m: usize, n: usize, k: usize, is_software: bool) -> (usize, usize) {
    let tiles = m.div_ceil(8) * n.div_ceil(8);
    let wanted = (if is_software { 256 } else { 4096 } / tiles).clamp(1, 64);
    let span = k.div_ceil(wanted).max(128).next_multiple_of(64);
    (k.div_ceil(span), span)
}

impl GpuExecutor {
    /// Records a product; its sum may be cut only if nothing follows it.
    pub(super) fn multiply(&self, product: &Product) -> Result<()> {
        let &Product { m, n, k, batch, c, c_offset, c_batch, .. } = product;
        let is_software = self.context.info().is_software;
        let (kernel, side) = tile(m, n, is_software);
        let is_plain = product.bias.is_none() && matches!(product.epilogue, Epilogue::None);
        let (slabs, span) = if is_plain { slabs(m, n, k, is_software) } else { (1, k) };
        let parts = if slabs > 1 { Some(self.scratch(slabs * batch * m * n)?) } else { None };

        let [a1, b1] = product.first;
        let [a2, b2] = product.second.unwrap_or(product.first);
        let (epilogue, slope, kept) = match product.epilogue {
            Epilogue::None | Epilogue::Activate(Activation::IDENTITY) | Epilogue::Derive(Activation::IDENTITY, _) => {
                (0, 1.0, a1.buffer)
            }
            Epilogue::Activate(Activation::Piecewise { slope }) => (1, slope, a1.buffer),
            Epilogue::Activate(Activation::Tanh) => (2, 0.0, a1.buffer),
            Epilogue::Derive(Activation::Piecewise { slope }, kept) => (3, slope, kept),
            Epilogue::Derive(Activation::Tanh, kept) => (4, 0.0, kept),
        };
        let (bias_offset, bias_batch) = product.bias.unwrap_or_default();
        let terms = if product.second.is_some() { 2 } else { 1 };
        let parameters = Gemm {
            a1: a1.at,
            b1: b1.at,
            a2: a2.at,
            b2: b2.at,
            m: m as u32,
            n: n as u32,
            k: k as u32,
            terms,
            slabs: slabs as u32,
            span: span as u32,
            c_offset: if parts.is_some() { 0 } else { c_offset as u32 },
            c_row: n as u32,
            c_batch: if parts.is_some() { (m * n) as u32 } else { c_batch as u32 },
            has_bias: product.bias.is_some().into(),
            bias_offset: bias_offset as u32,
            bias_batch: bias_batch as u32,
            epilogue,
            slope: slope as f32,
            ..Gemm::default()
        };
        let target = parts.as_deref().unwrap_or(c);
        let threads = m.div_ceil(side) * n.div_ceil(side);
        let cost = 2.0 * f64::from(terms) * m as f64 * n as f64 * k as f64 * batch as f64;
        self.context.dispatch(
            kernel,
            &parameters,
            &[a1.buffer, b1.buffer, a2.buffer, b2.buffer, kept, target],
            Grid { groups: (threads as u64).div_ceil(64), layers: batch * slabs, cost },
        )?;
        match parts {
            Some(parts) => self.sum_slabs(&parts, m * n, slabs, batch, c, c_offset, c_batch),
            None => Ok(()),
        }
    }

    /// `out[offset + stride b + j] = Σ_i x[b, i, j]`, x (batch, rows, width): the gradient of a bias.
    pub(super) fn column_sums(
        &self,
        x: &DeviceBuffer,
        [batch, rows, width]: [usize; 3],
        out: &DeviceBuffer,
        offset: usize,
        stride: usize,
    ) -> Result<()> {
        let span = rows.div_ceil(64).max(256).next_multiple_of(64);
        let slabs = rows.div_ceil(span);
        let parts = if slabs > 1 { Some(self.scratch(slabs * batch * width)?) } else { None };
        let parameters = ColumnSums {
            rows: rows as u32,
            width: width as u32,
            slabs: slabs as u32,
            span: span as u32,
            out_offset: if parts.is_some() { 0 } else { offset as u32 },
            out_batch: if parts.is_some() { width as u32 } else { stride as u32 },
            ..ColumnSums::default()
        };
        let target = parts.as_deref().unwrap_or(out);
        let cost = (batch * rows * width) as f64;
        let grid = Grid { groups: (width as u64).div_ceil(64), layers: batch * slabs, cost };
        self.context.dispatch(Kernel::ColumnSums, &parameters, &[x, target], grid)?;
        match parts {
            Some(parts) => self.sum_slabs(&parts, width, slabs, batch, out, offset, stride),
            None => Ok(()),
        }
    }

    #[allow(clippy::too_many_arguments, reason = "one call of one kernel, in the kernel's terms")]
    fn sum_slabs(
        &self,
        parts: &DeviceBuffer,
        size: usize,
        slabs: usize,
        batch: usize,
        out: &DeviceBuffer,
        offset: usize,
        stride: usize,
    ) -> Result<()> {
        let parameters =
            SumSlabs { size: size as u32, slabs: slabs as u32, out_offset: offset as u32, out_batch: stride as u32 };
        let grid = Grid { cost: (slabs * size * batch) as f64, ..Grid::elements(size, batch) };
        self.context.dispatch(Kernel::SumSlabs, &parameters, &[parts, out], grid)
    }

    /// A buffer of at least this size for values that the next kernel consumes.
    pub(super) fn scratch(&self, elements: usize) -> Result<Rc<DeviceBuffer>> {
        let mut kept = self.scratch.borrow_mut();
        match &*kept {
            Some(buffer) if buffer.elements >= elements as u64 => Ok(buffer.clone()),
            _ => {
                let buffer = self.context.buffer("partial sums", elements as u64)?;
                *kept = Some(buffer.clone());
                Ok(buffer)
            }
        }
    }
}
