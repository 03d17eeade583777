//! Operations on vectors.

use std::cell::RefCell;
use std::future::ready;
use std::ops::Range;
use std::rc::Rc;

use super::context::{DeviceBuffer, GpuContext};
use super::kernel::Kernel;
use super::recorder::Grid;
use super::uniforms::{
    Adam, Axpy, Combine, MultiplyAdd, Norm, Normalize, Scale, SegmentAxpy, SegmentInner, Squares, SumPartials,
};
use crate::control::LocalFuture;
use crate::engine::{AdamStep, Precision, Segments, Vector, Vectors, shapes};
use crate::error::Result;
use crate::memory::collected;

/// Indices of a tile in `vector/segment_inner`: 64 lanes of up to 64 terms.
const TILE: usize = 4096;

/// Segment tables kept on the device.
const MAX_TABLES: usize = 16;

/// Segments as the kernels want them.
pub(super) struct SegmentTables {
    /// (first index, count) of each tile.
    tiles: Rc<DeviceBuffer>,
    /// (first tile, count) of each segment.
    runs: Rc<DeviceBuffer>,
    /// End of each segment.
    ends: Rc<DeviceBuffer>,
    tile_count: usize,
}

impl SegmentTables {
    fn new(context: &GpuContext, segments: &Segments) -> Result<Self> {
        let mut tiles: Vec<[u32; 2]> = Vec::new();
        let mut runs: Vec<[u32; 2]> = Vec::new();
        let mut ends: Vec<u32> = Vec::new();
        for range in segments.ranges() {
            let first = tiles.len();
            let starts = range.clone().step_by(TILE);
            tiles.extend(starts.map(|start| [start as u32, TILE.min(range.end - start) as u32]));
            runs.push([first as u32, (tiles.len() - first) as u32]);
            ends.push(range.end as u32);
        }
        Ok(Self {
            tile_count: tiles.len(),
            tiles: context.buffer_of("segment tiles", tiles.as_flattened())?,
            runs: context.buffer_of("segment runs", runs.as_flattened())?,
            ends: context.buffer_of("segment ends", &ends)?,
        })
    }
}

/// A [`Vector`]'s storage is a buffer here.
pub(super) struct GpuVectors {
    pub context: Rc<GpuContext>,
    scratch: RefCell<Option<Rc<DeviceBuffer>>>,
    segments: RefCell<Vec<(Segments, Rc<SegmentTables>)>>,
}

/// The vector's values on the device.
pub(super) fn values(vector: &Vector) -> Result<&DeviceBuffer> {
    vector.storage::<Rc<DeviceBuffer>>().map(|buffer| &**buffer)
}

impl GpuVectors {
    pub fn new(context: Rc<GpuContext>) -> Self {
        Self { context, scratch: RefCell::default(), segments: RefCell::default() }
    }

    /// A buffer of at least this size for values that the next kernel consumes.
    pub fn scratch(&self, factors: &[usize]) -> Result<Rc<DeviceBuffer>> {
        let elements = factors.iter().fold(1u64, |product, &factor| product.saturating_mul(factor as u64));
        let mut kept = self.scratch.borrow_mut();
        match &*kept {
            Some(buffer) if buffer.elements >= elements => Ok(buffer.clone()),
            _ => {
                let buffer = self.context.buffer("partial sums", elements)?;
                *kept = Some(buffer.clone());
                Ok(buffer)
            }
        }
    }

    fn tables(&self, segments: &Segments) -> Result<Rc<SegmentTables>> {
        let mut kept = self.segments.borrow_mut();
        if let Some((_, tables)) = kept.iter().find(|(known, _)| known == segments) {
            return Ok(tables.clone());
        }
        let tables = Rc::new(SegmentTables::new(&self.context, segments)?);
        if kept.len() == MAX_TABLES {
            kept.remove(0);
        }
        kept.push((segments.clone(), tables.clone()));
        Ok(tables)
    }
}

impl Vectors for GpuVectors {
    fn precision(&self) -> Precision {
        Precision::F32
    }

    fn zeros(&self, len: usize, columns: usize) -> Result<Vector> {
        let what = format!("a vector of {columns} × {len}");
        let buffer = self.context.buffer(&what, (len as u64).saturating_mul(columns as u64))?;
        Ok(Vector::new(len, columns, buffer))
    }

    fn upload(&self, values: &[f64], columns: usize) -> Result<Vector> {
        let len = shapes::upload(values, columns)?;
        let what = format!("a vector of {columns} × {len}");
        let rounded: Vec<f32> = collected(&what, values.iter().map(|&v| v as f32))?;
        Ok(Vector::new(len, columns, self.context.buffer_of(&what, &rounded)?))
    }

    fn download<'a>(&'a self, vector: &'a Vector) -> LocalFuture<'a, Result<Vec<f64>>> {
        Box::pin(async move {
            let found = self.context.read(values(vector)?, 0, vector.len() * vector.columns()).await?;
            collected("numbers read back", found.into_iter().map(f64::from))
        })
    }

    fn copy_columns(&self, from: &Vector, columns: Range<usize>, to: &mut Vector, to_column: usize) -> Result<()> {
        shapes::copy_columns(from, &columns, to, to_column)?;
        let len = from.len();
        let (source, target) = (values(from)?, values(to)?);
        self.context.copy(source, columns.start * len, &target.buffer, to_column * len, columns.len() * len)
    }

    fn copy_rows(&self, from: &Vector, rows: Range<usize>, to: &mut Vector, to_row: usize) -> Result<()> {
        shapes::copy_rows(from, &rows, to, to_row)?;
        let (source, target) = (values(from)?, values(to)?);
        for k in 0..from.columns() {
            let (start, to_start) = (k * from.len() + rows.start, k * to.len() + to_row);
            self.context.copy(source, start, &target.buffer, to_start, rows.len())?;
        }
        Ok(())
    }

    fn scale(&self, alpha: f64, y: &mut Vector) -> Result<()> {
        let parameters = Scale { len: y.len() as u32, alpha: alpha as f32, ..Default::default() };
        self.context.dispatch(Kernel::Scale, &parameters, &[values(y)?], Grid::elements(y.len(), y.columns()))
    }

    fn axpy(&self, alpha: f64, x: &Vector, y: &mut Vector) -> Result<()> {
        shapes::axpy(x, y)?;
        let x_column = if x.columns() == 1 { 0 } else { x.len() as u32 };
        let parameters = Axpy { len: y.len() as u32, x_column, alpha: alpha as f32, ..Default::default() };
        let buffers = [values(x)?, values(y)?];
        self.context.dispatch(Kernel::Axpy, &parameters, &buffers, Grid::elements(y.len(), y.columns()))
    }

    fn multiply_add(&self, alpha: f64, d: &Vector, x: &Vector, beta: f64, y: &mut Vector) -> Result<()> {
        shapes::multiply_add(d, x, y)?;
        let (alpha, beta) = (alpha as f32, beta as f32);
        let parameters = MultiplyAdd { len: y.len() as u32, alpha, beta, ..Default::default() };
        let buffers = [values(d)?, values(x)?, values(y)?];
        self.context.dispatch(Kernel::MultiplyAdd, &parameters, &buffers, Grid::elements(y.len(), y.columns()))
    }

    fn segment_inner(
        &self,
        segments: &Segments,
        a: &Vector,
        x: &Vector,
        columns: Range<usize>,
        out: &mut Vector,
        out_offset: usize,
    ) -> Result<()> {
        shapes::segment_inner(segments, a, x, &columns, out, out_offset)?;
        let (tables, count) = (self.tables(segments)?, segments.count());
        // Pairs, see shared/tree.wgsl.
        let partials = self.scratch(&[2, tables.tile_count, columns.len()])?;
        let parameters = SegmentInner {
            len: x.len() as u32,
            x_offset: (columns.start * x.len()) as u32,
            tiles: tables.tile_count as u32,
            ..Default::default()
        };
        let buffers = [&*tables.tiles, values(a)?, values(x)?, &*partials];
        let grid = Grid::workgroups(tables.tile_count, columns.len());
        self.context.dispatch(Kernel::SegmentInner, &parameters, &buffers, grid)?;
        let parameters = SumPartials {
            segments: count as u32,
            tiles: tables.tile_count as u32,
            out_offset: out_offset as u32,
            ..Default::default()
        };
        let buffers = [&*tables.runs, &*partials, values(out)?];
        self.context.dispatch(Kernel::SumPartials, &parameters, &buffers, Grid::workgroups(count, columns.len()))
    }

    fn segment_axpy(&self, segments: &Segments, coefficients: &Vector, a: &Vector, y: &mut Vector) -> Result<()> {
        shapes::segment_axpy(segments, coefficients, a, y)?;
        let tables = self.tables(segments)?;
        let parameters = SegmentAxpy { len: y.len() as u32, segments: segments.count() as u32, ..Default::default() };
        let buffers = [&*tables.ends, values(coefficients)?, values(a)?, values(y)?];
        self.context.dispatch(Kernel::SegmentAxpy, &parameters, &buffers, Grid::elements(y.len(), y.columns()))
    }

    fn combine<'a>(
        &'a self,
        alpha: f64,
        q: &'a Vector,
        columns: Range<usize>,
        c: &'a Vector,
        offset: usize,
        y: &'a mut Vector,
    ) -> LocalFuture<'a, Result<()>> {
        let terms = columns.len();
        let parameters = Combine {
            len: y.len() as u32,
            first: columns.start as u32,
            terms: terms as u32,
            c_offset: offset as u32,
            alpha: alpha as f32,
            ..Default::default()
        };
        let cost = 2.0 * (y.len() * y.columns() * terms) as f64;
        let grid = Grid { cost, ..Grid::elements(y.len(), y.columns()) };
        let enqueue = || {
            shapes::combine(q, &columns, c, offset, y)?;
            self.context.dispatch(Kernel::Combine, &parameters, &[values(q)?, values(c)?, values(y)?], grid)
        };
        Box::pin(ready(enqueue()))
    }

    fn normalize(&self, x: &Vector, q: &mut Vector, column: usize, norms: &mut Vector, index: usize) -> Result<()> {
        shapes::normalize(x, q, column, norms, index)?;
        let tables = self.tables(&Segments::whole(x.len()))?;
        let tiles = tables.tile_count;
        // A pair and an exponent a tile; those of the whole at the front when they are summed.
        let square = self.scratch(&[4, tiles.max(1)])?;
        let parameters = Squares { tiles: tiles as u32, ..Default::default() };
        let buffers = [&*tables.tiles, values(x)?, &*square];
        self.context.dispatch(Kernel::Squares, &parameters, &buffers, Grid::workgroups(tiles, 1))?;
        let parameters = Norm { tiles: tiles as u32, index: index as u32, ..Default::default() };
        self.context.dispatch(Kernel::Norm, &parameters, &[&*square, values(norms)?], Grid::workgroups(1, 1))?;
        let parameters = Normalize { len: x.len() as u32, q_offset: (column * x.len()) as u32, ..Default::default() };
        let buffers = [values(x)?, &*square, values(q)?];
        self.context.dispatch(Kernel::Normalize, &parameters, &buffers, Grid::elements(x.len(), 1))
    }

    fn adam(
        &self,
        step: &AdamStep,
        gradient: &Vector,
        mean: &mut Vector,
        square: &mut Vector,
        theta: &mut Vector,
    ) -> Result<()> {
        shapes::adam(gradient, mean, square, theta)?;
        let len = theta.len();
        let parameters = Adam {
            len: len as u32,
            learning_rate: step.learning_rate as f32,
            beta1: step.beta1 as f32,
            one_minus_beta1: (1.0 - step.beta1) as f32,
            beta2: step.beta2 as f32,
            one_minus_beta2: (1.0 - step.beta2) as f32,
            epsilon: step.epsilon as f32,
            mean_correction: (1.0 / (1.0 - step.beta1.powi(step.step))) as f32,
            square_correction: (1.0 / (1.0 - step.beta2.powi(step.step))) as f32,
            ..Default::default()
        };
        let buffers = [values(gradient)?, values(mean)?, values(square)?, values(theta)?];
        self.context.dispatch(Kernel::Adam, &parameters, &buffers, Grid::elements(len, 1))
    }
}
