//! Charts of parameter spaces on the device: `shaders/space/`.

use std::rc::Rc;

use super::context::DeviceBuffer;
use super::kernel::Kernel;
use super::recorder::Grid;
use super::uniforms::{
    Normalized as NormalizedUniform, NormalizedCotangent, NormalizedTangent, Quotient as QuotientUniform,
    QuotientAnchors, QuotientCotangent, QuotientTangent, Sheared as ShearedUniform,
};
use super::vectors::{GpuVectors, values};
use crate::engine::chart::{Chart, Charts, LoadedChart, NONE, Normalized, Quotient, Shear, Sheared};
use crate::engine::{Vector, Vectors};
use crate::error::Result;
use crate::memory::room;

/// A chart's tables in device memory.
enum Tables {
    Identity,
    Quotient {
        /// (κ, n, a) of every parameter.
        entries: Rc<DeviceBuffer>,
        /// The parameter of every coordinate.
        parameter: Rc<DeviceBuffer>,
        /// The anchors and their members; see `space/quotient_anchors.wgsl`.
        table: Rc<DeviceBuffer>,
        anchors: usize,
        /// Parameters that are divided.
        members: usize,
    },
    Normalized {
        /// (first parameter, count, group or NONE) of every run.
        runs: Rc<DeviceBuffer>,
        run_count: usize,
        groups: usize,
    },
    Sheared {
        /// (e, κ, λ, p) of the rows of J that are not the identity's, and of Jᵀ.
        rows: Rc<DeviceBuffer>,
        columns: Rc<DeviceBuffer>,
        count: usize,
    },
}

impl Charts for GpuVectors {
    fn load(&self, chart: &Chart) -> Result<LoadedChart> {
        let tables = match chart {
            Chart::Identity(_) => Tables::Identity,
            Chart::Quotient(quotient) => self.load_quotient(quotient)?,
            Chart::Normalized(normalized) => self.load_normalized(normalized)?,
            Chart::Sheared(sheared) => self.load_sheared(sheared)?,
        };
        Ok(LoadedChart::new(chart, tables))
    }

    fn parameters(&self, chart: &LoadedChart, v: &Vector, theta: &mut Vector) -> Result<()> {
        let len = chart.parameter_count();
        chart.check_parameters(v, theta)?;
        let (v_data, theta_data) = (values(v)?, values(theta)?);
        match chart.storage()? {
            Tables::Identity => self.copy_columns(v, 0..1, theta, 0),
            Tables::Quotient { entries, .. } => {
                let parameters = QuotientUniform { len: len as u32, ..Default::default() };
                let buffers = [&**entries, v_data, theta_data];
                self.context.dispatch(Kernel::Quotient, &parameters, &buffers, Grid::elements(len, 1))
            }
            Tables::Normalized { runs, run_count, groups } => {
                let parameters =
                    NormalizedUniform { runs: *run_count as u32, groups: *groups as u32, ..Default::default() };
                let buffers = [&**runs, v_data, theta_data];
                let grid = Grid { cost: 4.0 * len as f64, ..Grid::workgroups(*run_count, 1) };
                self.context.dispatch(Kernel::Normalized, &parameters, &buffers, grid)
            }
            Tables::Sheared { rows, count, .. } => self.shear((rows, *count), v, theta),
        }
    }

    fn tangent(&self, chart: &LoadedChart, v: &Vector, x: &Vector, out: &mut Vector) -> Result<()> {
        let (len, columns) = (chart.parameter_count(), x.columns());
        chart.check_tangent(v, x, out)?;
        let (v_data, x_data, out_data) = (values(v)?, values(x)?, values(out)?);
        match chart.storage()? {
            Tables::Identity => self.copy_columns(x, 0..columns, out, 0),
            Tables::Quotient { entries, .. } => {
                let parameters =
                    QuotientTangent { len: len as u32, coordinates: chart.dimension() as u32, ..Default::default() };
                let buffers = [&**entries, v_data, x_data, out_data];
                self.context.dispatch(Kernel::QuotientTangent, &parameters, &buffers, Grid::elements(len, columns))
            }
            Tables::Normalized { runs, run_count, groups } => {
                let parameters = NormalizedTangent {
                    runs: *run_count as u32,
                    groups: *groups as u32,
                    len: len as u32,
                    ..Default::default()
                };
                let buffers = [&**runs, v_data, x_data, out_data];
                let grid = Grid { cost: 8.0 * (len * columns) as f64, ..Grid::workgroups(*run_count, columns) };
                self.context.dispatch(Kernel::NormalizedTangent, &parameters, &buffers, grid)
            }
            Tables::Sheared { rows, count, .. } => self.shear((rows, *count), x, out),
        }
    }

    fn cotangent(
        &self,
        chart: &LoadedChart,
        v: &Vector,
        z: &Vector,
        second: Option<(&Vector, &Vector)>,
        out: &mut Vector,
    ) -> Result<()> {
        let (len, coordinates, columns) = (chart.parameter_count(), chart.dimension(), z.columns());
        chart.check_cotangent(v, z, second, out)?;
        let (v_data, z_data, out_data) = (values(v)?, values(z)?, values(out)?);
        // Every binding needs a buffer, read or not.
        let (g_data, x_data) = match second {
            Some((g, x)) => (values(g)?, values(x)?),
            None => (z_data, v_data),
        };
        let is_second = u32::from(second.is_some());
        match chart.storage()? {
            Tables::Identity => self.copy_columns(z, 0..columns, out, 0),
            Tables::Quotient { entries, parameter, table, anchors, members } => {
                let parameters = QuotientCotangent {
                    len: len as u32,
                    coordinates: coordinates as u32,
                    second: is_second,
                    ..Default::default()
                };
                let buffers = [&**entries, &**parameter, v_data, z_data, g_data, x_data, out_data];
                let grid = Grid::elements(coordinates, columns);
                self.context.dispatch(Kernel::QuotientCotangent, &parameters, &buffers, grid)?;
                let parameters = QuotientAnchors {
                    anchors: *anchors as u32,
                    len: len as u32,
                    coordinates: coordinates as u32,
                    second: is_second,
                    ..Default::default()
                };
                let buffers = [&**entries, &**table, v_data, z_data, g_data, x_data, out_data];
                let grid = Grid { cost: 16.0 * (members * columns) as f64, ..Grid::workgroups(*anchors, columns) };
                self.context.dispatch(Kernel::QuotientAnchors, &parameters, &buffers, grid)
            }
            Tables::Normalized { runs, run_count, groups } => {
                let parameters = NormalizedCotangent {
                    runs: *run_count as u32,
                    groups: *groups as u32,
                    len: len as u32,
                    second: is_second,
                    ..Default::default()
                };
                let buffers = [&**runs, v_data, z_data, g_data, x_data, out_data];
                let grid = Grid { cost: 16.0 * (len * columns) as f64, ..Grid::workgroups(*run_count, columns) };
                self.context.dispatch(Kernel::NormalizedCotangent, &parameters, &buffers, grid)
            }
            // It has no second derivatives.
            Tables::Sheared { columns: table, count, .. } => self.shear((table, *count), z, out),
        }
    }
}

impl GpuVectors {
    fn load_quotient(&self, quotient: &Quotient) -> Result<Tables> {
        let places = quotient.numerator.iter().zip(&quotient.denominator);
        let entries: Vec<[u32; 3]> =
            quotient.scale.iter().zip(places).map(|(&scale, (&n, &a))| [(scale as f32).to_bits(), n, a]).collect();
        let head = 3 * quotient.anchors.len();
        let mut table = Vec::with_capacity(head + quotient.members.len());
        for (a, members) in &quotient.anchors {
            table.extend([*a, (head + members.start) as u32, (head + members.end) as u32]);
        }
        table.extend(&quotient.members);
        // A buffer has at least one element, a table need not.
        table.resize(table.len().max(1), 0);
        Ok(Tables::Quotient {
            entries: self.context.buffer_of("a chart's constants", entries.as_flattened())?,
            parameter: self.context.buffer_of("a chart's coordinates", &quotient.parameter)?,
            table: self.context.buffer_of("a chart's divisors", &table)?,
            anchors: quotient.anchors.len(),
            members: quotient.members.len(),
        })
    }

    fn load_sheared(&self, sheared: &Sheared) -> Result<Tables> {
        let table = |rows: &[Shear]| {
            let entry = |row: &Shear| [row.place, (row.own as f32).to_bits(), (row.other as f32).to_bits(), row.at];
            // A buffer has at least one element, a table need not.
            let mut entries = room("a chart's constants", rows.len().max(1))?;
            entries.extend(rows.iter().map(entry));
            entries.resize(rows.len().max(1), [0; 4]);
            self.context.buffer_of("a chart's constants", entries.as_flattened())
        };
        let (rows, columns) = (table(&sheared.rows)?, table(&sheared.columns)?);
        Ok(Tables::Sheared { rows, columns, count: sheared.rows.len() })
    }

    /// One of a shear's two tables, times the columns of x.
    fn shear(&self, (table, count): (&DeviceBuffer, usize), x: &Vector, out: &mut Vector) -> Result<()> {
        let (len, columns) = (x.len(), x.columns());
        self.copy_columns(x, 0..columns, out, 0)?;
        if count == 0 {
            return Ok(());
        }
        let parameters = ShearedUniform { count: count as u32, len: len as u32, ..Default::default() };
        let buffers = [table, values(x)?, values(out)?];
        self.context.dispatch(Kernel::Sheared, &parameters, &buffers, Grid::elements(count, columns))
    }

    fn load_normalized(&self, normalized: &Normalized) -> Result<Tables> {
        let runs: Vec<[u32; 3]> = normalized
            .runs()
            .into_iter()
            .map(|(range, group)| [range.start as u32, range.len() as u32, group.map_or(NONE, |q| q as u32)])
            .collect();
        Ok(Tables::Normalized {
            runs: self.context.buffer_of("a chart's groups", runs.as_flattened())?,
            run_count: runs.len(),
            groups: normalized.groups.len(),
        })
    }
}
