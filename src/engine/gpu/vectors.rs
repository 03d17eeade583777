//! Operations on vectors.

use std::ops::Range;
use std::rc::Rc;

use super::context::{DeviceBuffer, GpuContext};
use super::executor::GpuExecutor;
use super::kernel::Kernel;
use super::recorder::Grid;
use super::uniforms::{
    Adam, Axpy, Combine, MultiplyAdd, Norm, Normalize, Scale, SegmentAxpy, SegmentInner, Squares, SumPartials,
};
use crate::engine::{AdamStep, Segments, Vector};
use crate::error::{Result, ensure};

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
    len: usize,
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
            len: ends.last().map_or(0, |&end| end as usize),
            tiles: context.buffer_of("segment tiles", tiles.as_flattened())?,
            runs: context.buffer_of("segment runs", runs.as_flattened())?,
            ends: context.buffer_of("segment ends", &ends)?,
        })
    }
}

/// The shapes of a vector operation do not fit each other: a fault of the caller.
fn fits(condition: bool, operation: &str) -> Result<()> {
    ensure!(condition, InvalidParameters, "the vectors of a {operation} do not fit each other");
    Ok(())
}

impl GpuExecutor {
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

    pub(super) fn copy_columns_of(
        &self,
        from: &Vector,
        columns: Range<usize>,
        to: &Vector,
        to_column: usize,
    ) -> Result<()> {
        let is_inside = columns.end <= from.columns && to_column + columns.len() <= to.columns;
        fits(from.len == to.len && is_inside, "copy")?;
        let len = from.len;
        let (source, target) = (self.data_of(from)?, self.data_of(to)?);
        self.context.copy(source, columns.start * len, &target.buffer, to_column * len, columns.len() * len)
    }

    pub(super) fn copy_rows_of(&self, from: &Vector, rows: Range<usize>, to: &Vector, to_row: usize) -> Result<()> {
        let is_inside = rows.end <= from.len && to_row + rows.len() <= to.len;
        fits(from.columns == to.columns && is_inside, "copy")?;
        let (source, target) = (self.data_of(from)?, self.data_of(to)?);
        for k in 0..from.columns {
            let (start, to_start) = (k * from.len + rows.start, k * to.len + to_row);
            self.context.copy(source, start, &target.buffer, to_start, rows.len())?;
        }
        Ok(())
    }

    pub(super) fn scale_by(&self, alpha: f64, y: &Vector) -> Result<()> {
        let parameters = Scale { len: y.len as u32, alpha: alpha as f32, ..Default::default() };
        self.context.dispatch(Kernel::Scale, &parameters, &[self.data_of(y)?], Grid::elements(y.len, y.columns))
    }

    pub(super) fn add(&self, alpha: f64, x: &Vector, y: &Vector) -> Result<()> {
        fits(x.len == y.len && (x.columns == y.columns || x.columns == 1), "sum")?;
        let x_column = if x.columns == 1 { 0 } else { x.len as u32 };
        let parameters = Axpy { len: y.len as u32, x_column, alpha: alpha as f32, ..Default::default() };
        let buffers = [self.data_of(x)?, self.data_of(y)?];
        self.context.dispatch(Kernel::Axpy, &parameters, &buffers, Grid::elements(y.len, y.columns))
    }

    pub(super) fn multiply_add_to(&self, alpha: f64, d: &Vector, x: &Vector, beta: f64, y: &Vector) -> Result<()> {
        fits(d.len == y.len && x.len == y.len && x.columns == y.columns, "elementwise product")?;
        let (alpha, beta) = (alpha as f32, beta as f32);
        let parameters = MultiplyAdd { len: y.len as u32, alpha, beta, ..Default::default() };
        let buffers = [self.data_of(d)?, self.data_of(x)?, self.data_of(y)?];
        self.context.dispatch(Kernel::MultiplyAdd, &parameters, &buffers, Grid::elements(y.len, y.columns))
    }

    /// Inner products over segments.
    pub(super) fn inner(
        &self,
        segments: &Segments,
        a: &Vector,
        x: &Vector,
        columns: Range<usize>,
        out: &Vector,
        out_offset: usize,
    ) -> Result<()> {
        let tables = self.tables(segments)?;
        let count = segments.count();
        let is_inside = columns.end <= x.columns && out_offset + count * columns.len() <= out.len * out.columns;
        fits(a.len == x.len && tables.len <= a.len && is_inside, "inner product")?;
        // Pairs, see shared/tree.wgsl.
        let partials = self.scratch(&[2, tables.tile_count, columns.len()])?;
        let parameters = SegmentInner {
            len: x.len as u32,
            x_offset: (columns.start * x.len) as u32,
            tiles: tables.tile_count as u32,
            ..Default::default()
        };
        let buffers = [&*tables.tiles, self.data_of(a)?, self.data_of(x)?, &*partials];
        let grid = Grid::workgroups(tables.tile_count, columns.len());
        self.context.dispatch(Kernel::SegmentInner, &parameters, &buffers, grid)?;
        let parameters = SumPartials {
            segments: count as u32,
            tiles: tables.tile_count as u32,
            out_offset: out_offset as u32,
            ..Default::default()
        };
        let buffers = [&*tables.runs, &*partials, self.data_of(out)?];
        self.context.dispatch(Kernel::SumPartials, &parameters, &buffers, Grid::workgroups(count, columns.len()))
    }

    pub(super) fn segment_add(&self, segments: &Segments, coefficients: &Vector, a: &Vector, y: &Vector) -> Result<()> {
        let tables = self.tables(segments)?;
        let is_inside = segments.count() * y.columns <= coefficients.len * coefficients.columns;
        fits(a.len == y.len && tables.len == a.len && is_inside, "sum over segments")?;
        let parameters = SegmentAxpy { len: y.len as u32, segments: segments.count() as u32, ..Default::default() };
        let buffers = [&*tables.ends, self.data_of(coefficients)?, self.data_of(a)?, self.data_of(y)?];
        self.context.dispatch(Kernel::SegmentAxpy, &parameters, &buffers, Grid::elements(y.len, y.columns))
    }

    pub(super) fn combine_to(
        &self,
        alpha: f64,
        q: &Vector,
        columns: Range<usize>,
        c: &Vector,
        offset: usize,
        y: &Vector,
    ) -> Result<()> {
        let terms = columns.len();
        let is_inside = columns.end <= q.columns && offset + terms * y.columns <= c.len * c.columns;
        fits(q.len == y.len && is_inside, "combination")?;
        let parameters = Combine {
            len: y.len as u32,
            first: columns.start as u32,
            terms: terms as u32,
            c_offset: offset as u32,
            alpha: alpha as f32,
            ..Default::default()
        };
        let buffers = [self.data_of(q)?, self.data_of(c)?, self.data_of(y)?];
        let cost = 2.0 * (y.len * y.columns * terms) as f64;
        let grid = Grid { cost, ..Grid::elements(y.len, y.columns) };
        self.context.dispatch(Kernel::Combine, &parameters, &buffers, grid)
    }

    pub(super) fn normalize_to(
        &self,
        x: &Vector,
        q: &Vector,
        column: usize,
        norms: &Vector,
        index: usize,
    ) -> Result<()> {
        fits(x.len == q.len && column < q.columns && index < norms.len * norms.columns, "normalisation")?;
        let tables = self.tables(&Segments::whole(x.len))?;
        let tiles = tables.tile_count;
        // A pair and an exponent a tile; those of the whole at the front when they are summed.
        let square = self.scratch(&[4, tiles.max(1)])?;
        let parameters = Squares { tiles: tiles as u32, ..Default::default() };
        let buffers = [&*tables.tiles, self.data_of(x)?, &*square];
        self.context.dispatch(Kernel::Squares, &parameters, &buffers, Grid::workgroups(tiles, 1))?;
        let parameters = Norm { tiles: tiles as u32, index: index as u32, ..Default::default() };
        self.context.dispatch(Kernel::Norm, &parameters, &[&*square, self.data_of(norms)?], Grid::workgroups(1, 1))?;
        let parameters = Normalize { len: x.len as u32, q_offset: (column * x.len) as u32, ..Default::default() };
        let buffers = [self.data_of(x)?, &*square, self.data_of(q)?];
        self.context.dispatch(Kernel::Normalize, &parameters, &buffers, Grid::elements(x.len, 1))
    }

    pub(super) fn adam_step(
        &self,
        step: &AdamStep,
        gradient: &Vector,
        mean: &Vector,
        square: &Vector,
        theta: &Vector,
    ) -> Result<()> {
        let len = theta.len;
        fits(gradient.len == len && mean.len == len && square.len == len, "step of Adam")?;
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
        let buffers = [self.data_of(gradient)?, self.data_of(mean)?, self.data_of(square)?, self.data_of(theta)?];
        self.context.dispatch(Kernel::Adam, &parameters, &buffers, Grid::elements(len, 1))
    }
}
