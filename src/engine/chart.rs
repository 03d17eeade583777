//! Charts: how parameters follow from the coordinates of a parameter space, as a device evaluates it.
//!
//! Three shapes are enough for all spaces. A quotient θ_e = κ_e v_{n(e)} / v_{a(e)} with constants κ is the G-space at any
//! widths, and with no denominators the fixed weights; a normalisation θ = s v/‖v‖ over groups is weight normalisation; a shear
//! θ_e = κ_e v_e + λ_e v_{p(e)} of some parameters is γ and β of batch normalisations with frozen statistics.

use std::any::Any;
use std::ops::Range;

use super::cpu::chart as twin;
use super::vector::Vector;
use crate::error::{Error, ErrorCode, Result, ensure};
use crate::memory::{copied, filled, room, zeros};
use crate::sorting::sort_by_key;

/// In a [`Quotient`]: no numerator, or no denominator.
pub(crate) const NONE: u32 = u32::MAX;

/// θ = θ(v), with what its derivatives need. Vectors: v of [`Chart::dimension`], θ of [`Chart::parameter_count`].
#[derive(Debug, Clone, PartialEq)]
pub enum Chart {
    /// θ = v, of this length.
    Identity(usize),
    /// θ_e = κ_e v_{n(e)} / v_{a(e)}.
    Quotient(Quotient),
    /// θ = s v/‖v‖, group by group.
    Normalized(Normalized),
    /// θ_e = κ_e v_e + λ_e v_{p(e)}.
    Sheared(Sheared),
}

/// A number of a linear map that is not its own: `own` times the number in its `place`, and `other` times that at `at` ([`NONE`]: no
/// second term).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shear {
    pub place: u32,
    pub own: f64,
    pub other: f64,
    pub at: u32,
}

/// θ_e = κ_e v_e + λ_e v_{p(e)} for some parameters, and v_e for the others; every coordinate is the second term of at most one.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheared {
    pub(super) parameters: usize,
    /// The rows of J that are not those of the identity.
    pub(super) rows: Vec<Shear>,
    /// Those of Jᵀ, of the same places.
    pub(super) columns: Vec<Shear>,
}

impl Sheared {
    /// Of so many parameters these; a second term is at the place of another of them.
    ///
    /// # Errors
    /// `InvalidParameters` for a κ that is 0, or constants that are not finite; `TooLarge`.
    pub(crate) fn new(parameters: usize, mut rows: Vec<Shear>) -> Result<Self> {
        sort_by_key(&mut rows, |row| row.place);
        for row in &rows {
            ensure!(
                row.own.is_finite() && row.own != 0.0 && row.other.is_finite(),
                InvalidParameters,
                "parameter {} would be {} times its coordinate: a statistic of its channel is too large or small",
                row.place,
                row.own
            );
        }
        let mut columns = room("a chart's constants", rows.len())?;
        columns.extend(rows.iter().map(|row| Shear { other: 0.0, at: NONE, ..*row }));
        for row in rows.iter().filter(|row| row.at != NONE) {
            let column: &mut Shear = &mut columns[rows.partition_point(|other| other.place < row.at)];
            debug_assert_eq!(
                (column.place, column.at),
                (row.at, NONE),
                "a coordinate is the second term of two parameters"
            );
            (column.other, column.at) = (row.other, row.place);
        }
        Ok(Self { parameters, rows, columns })
    }
}

/// θ_e = κ_e v_{n(e)} / v_{a(e)}; without n(e) the parameter is the constant κ_e, without a(e) nothing divides.
#[derive(Debug, Clone, PartialEq)]
pub struct Quotient {
    pub(super) scale: Vec<f64>,
    pub(super) numerator: Vec<u32>,
    pub(super) denominator: Vec<u32>,
    /// The parameter whose numerator a coordinate is.
    pub(super) parameter: Vec<u32>,
    /// The coordinates that divide, with the range of `members` that each divides.
    pub(super) anchors: Vec<(u32, Range<usize>)>,
    /// Parameters that are divided, anchor by anchor.
    pub(super) members: Vec<u32>,
}

impl Quotient {
    /// κ, n and a of every parameter; every coordinate is the numerator of exactly one.
    ///
    /// # Errors
    /// `InvalidParameters` for a κ that is 0 or not finite where there is a numerator: the coordinate could not be found again.
    pub(crate) fn new(scale: Vec<f64>, numerator: Vec<u32>, denominator: Vec<u32>) -> Result<Self> {
        for (e, (&scale, &n)) in scale.iter().zip(&numerator).enumerate() {
            ensure!(
                scale.is_finite() && (n == NONE || scale != 0.0),
                InvalidParameters,
                "parameter {e} would be {scale} times its coordinate: a weight on its path is 0, or too large or small"
            );
        }
        let dimension = numerator.iter().filter(|&&n| n != NONE).count();
        const WHAT: &str = "a chart's constants";
        let mut parameter = filled(WHAT, NONE, dimension)?;
        // How many each coordinate divides; then where the next of them goes.
        let mut places = zeros(WHAT, dimension)?;
        for (e, (&n, &a)) in numerator.iter().zip(&denominator).enumerate() {
            if n != NONE {
                debug_assert_eq!(parameter[n as usize], NONE, "two parameters with one numerator");
                parameter[n as usize] = e as u32;
            }
            if a != NONE {
                places[a as usize] += 1;
            }
        }
        let mut anchors = room(WHAT, places.iter().filter(|&&count| count > 0).count())?;
        let mut end = 0;
        for (a, place) in places.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            let start = end;
            end += std::mem::replace(place, start);
            anchors.push((a as u32, start..end));
        }
        let mut members = zeros(WHAT, end)?;
        for (e, &a) in denominator.iter().enumerate().filter(|(_, a)| **a != NONE) {
            members[places[a as usize]] = e as u32;
            places[a as usize] += 1;
        }
        Ok(Self { scale, numerator, denominator, parameter, anchors, members })
    }

    /// κ_e / v_{a(e)} = ∂θ_e/∂v_{n(e)} of every parameter that has a coordinate, with its index.
    pub(crate) fn factors<'a>(&'a self, v: &'a [f64]) -> impl Iterator<Item = (usize, f64)> + 'a {
        self.parameter.iter().map(move |&e| {
            let e = e as usize;
            let a = self.denominator[e];
            (e, self.scale[e] / if a == NONE { 1.0 } else { v[a as usize] })
        })
    }
}

/// For each group q of consecutive parameters θ_q = s_q v_q / ‖v_q‖; the others are their own coordinates. Coordinates: all s_q,
/// then one for each parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalized {
    pub(super) parameters: usize,
    pub(super) groups: Vec<Range<usize>>,
}

impl Normalized {
    /// Over these groups, ascending and disjoint, of `parameters` parameters.
    pub(crate) fn new(parameters: usize, groups: Vec<Range<usize>>) -> Self {
        debug_assert!(groups.windows(2).all(|pair| pair[0].end <= pair[1].start));
        Self { parameters, groups }
    }

    /// All parameters in runs: the groups with their numbers, and what lies between them.
    pub(super) fn runs(&self) -> Vec<(Range<usize>, Option<usize>)> {
        let mut runs = Vec::new();
        let mut at = 0;
        for (q, group) in self.groups.iter().enumerate() {
            if at < group.start {
                runs.push((at..group.start, None));
            }
            runs.push((group.clone(), Some(q)));
            at = group.end;
        }
        if at < self.parameters {
            runs.push((at..self.parameters, None));
        }
        runs
    }
}

impl Chart {
    /// A copy of it.
    ///
    /// # Errors
    /// `TooLarge` where it does not fit in memory.
    pub(super) fn try_clone(&self) -> Result<Self> {
        const WHAT: &str = "a chart's constants";
        Ok(match self {
            Self::Identity(len) => Self::Identity(*len),
            Self::Normalized(chart) => {
                Self::Normalized(Normalized { parameters: chart.parameters, groups: copied(WHAT, &chart.groups)? })
            }
            Self::Sheared(chart) => Self::Sheared(Sheared {
                parameters: chart.parameters,
                rows: copied(WHAT, &chart.rows)?,
                columns: copied(WHAT, &chart.columns)?,
            }),
            Self::Quotient(chart) => Self::Quotient(Quotient {
                scale: copied(WHAT, &chart.scale)?,
                numerator: copied(WHAT, &chart.numerator)?,
                denominator: copied(WHAT, &chart.denominator)?,
                parameter: copied(WHAT, &chart.parameter)?,
                anchors: copied(WHAT, &chart.anchors)?,
                members: copied(WHAT, &chart.members)?,
            }),
        })
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Identity(len) => *len,
            Self::Quotient(quotient) => quotient.parameter.len(),
            Self::Normalized(normalized) => normalized.groups.len() + normalized.parameters,
            Self::Sheared(sheared) => sheared.parameters,
        }
    }

    /// Number of parameters.
    pub fn parameter_count(&self) -> usize {
        match self {
            Self::Identity(len) => *len,
            Self::Quotient(quotient) => quotient.scale.len(),
            Self::Normalized(normalized) => normalized.parameters,
            Self::Sheared(sheared) => sheared.parameters,
        }
    }

    /// Are the coordinates the parameters themselves?
    pub fn is_identity(&self) -> bool {
        matches!(self, Self::Identity(_))
    }

    /// θ(v), in double precision on the host.
    pub fn parameters(&self, v: &[f64]) -> Vec<f64> {
        let mut theta = vec![0.0; self.parameter_count()];
        twin::parameters(self, v, &mut theta);
        theta
    }

    /// [`Chart::parameters`], or `TooLarge`.
    pub(crate) fn try_parameters(&self, v: &[f64]) -> Result<Vec<f64>> {
        let mut theta = zeros("a vector of parameters", self.parameter_count())?;
        twin::parameters(self, v, &mut theta);
        Ok(theta)
    }

    /// J(v) x, on the host.
    pub fn tangent(&self, v: &[f64], x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.parameter_count()];
        twin::tangent(self, v, x, &mut out);
        out
    }

    /// J(v)ᵀ z, plus (g · ∇²θ(v)) x where `(g, x)` is given, on the host.
    pub fn cotangent(&self, v: &[f64], z: &[f64], second: Option<(&[f64], &[f64])>) -> Vec<f64> {
        let mut out = vec![0.0; self.dimension()];
        twin::cotangent(self, v, z, second, &mut out);
        out
    }

    /// [`Chart::cotangent`] without a second derivative, or `TooLarge`.
    pub(crate) fn try_cotangent(&self, v: &[f64], z: &[f64]) -> Result<Vec<f64>> {
        let mut out = zeros("coordinates", self.dimension())?;
        twin::cotangent(self, v, z, None, &mut out);
        Ok(out)
    }

    /// The same number for the same chart, and most probably another for another (FNV-1a over all constants).
    pub fn fingerprint(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |value: u64| {
            for byte in value.to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        match self {
            Self::Identity(len) => add(*len as u64),
            Self::Quotient(quotient) => {
                quotient.scale.iter().for_each(|scale| add(scale.to_bits()));
                quotient.numerator.iter().chain(&quotient.denominator).for_each(|&place| add(place.into()));
            }
            Self::Normalized(normalized) => {
                add(normalized.parameters as u64);
                normalized.groups.iter().for_each(|group| add(((group.start as u64) << 32) | group.end as u64));
            }
            Self::Sheared(sheared) => {
                add(sheared.parameters as u64);
                for row in &sheared.rows {
                    let places = (u64::from(row.place) << 32) | u64::from(row.at);
                    [row.own.to_bits(), row.other.to_bits(), places].into_iter().for_each(&mut add);
                }
            }
        }
        hash
    }
}

/// The maps of parameter spaces on a device.
pub trait Charts {
    /// A chart's constants on the device.
    fn load(&self, chart: &Chart) -> Result<LoadedChart>;

    /// `theta = θ(v)`, both one column. A constant parameter is the chart's constant, bit for bit, rounded to the precision.
    fn parameters(&self, chart: &LoadedChart, v: &Vector, theta: &mut Vector) -> Result<()>;

    /// `out[:, k] = J(v) x[:, k]`, J = ∂θ/∂v, v one column.
    fn tangent(&self, chart: &LoadedChart, v: &Vector, x: &Vector, out: &mut Vector) -> Result<()>;

    /// `out[:, k] = J(v)ᵀ z[:, k]`, and where `second` is (g, x), `+ (g · ∇²θ(v)) x[:, k]`; v and g one column.
    fn cotangent(
        &self,
        chart: &LoadedChart,
        v: &Vector,
        z: &Vector,
        second: Option<(&Vector, &Vector)>,
        out: &mut Vector,
    ) -> Result<()>;
}

/// A chart on the device that loaded it, and opaque to everything else.
pub struct LoadedChart {
    dimension: usize,
    parameter_count: usize,
    storage: Box<dyn Any>,
}

impl LoadedChart {
    /// A chart whose constants are in a device's own storage.
    pub fn new(chart: &Chart, storage: impl Any) -> Self {
        Self { dimension: chart.dimension(), parameter_count: chart.parameter_count(), storage: Box::new(storage) }
    }

    /// Its storage, for the device that loaded it.
    ///
    /// # Errors
    /// `InvalidParameters` for a chart of another device.
    pub fn storage<S: Any>(&self) -> Result<&S> {
        let found = self.storage.downcast_ref();
        found.ok_or_else(|| Error::new(ErrorCode::InvalidParameters, "this chart was loaded by another device"))
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of parameters.
    pub fn parameter_count(&self) -> usize {
        self.parameter_count
    }

    fn fits(&self, vectors: &[(&Vector, usize, usize)]) -> Result<()> {
        let fits = vectors.iter().all(|&(vector, len, columns)| vector.len() == len && vector.columns() == columns);
        ensure!(fits, InvalidParameters, "the vectors do not fit a chart of {} coordinates", self.dimension);
        Ok(())
    }

    /// Fails where the shapes are not those of [`Charts::parameters`].
    pub fn check_parameters(&self, v: &Vector, theta: &Vector) -> Result<()> {
        self.fits(&[(v, self.dimension, 1), (theta, self.parameter_count, 1)])
    }

    /// Fails where the shapes are not those of [`Charts::tangent`].
    pub fn check_tangent(&self, v: &Vector, x: &Vector, out: &Vector) -> Result<()> {
        let columns = x.columns();
        self.fits(&[(v, self.dimension, 1), (x, self.dimension, columns), (out, self.parameter_count, columns)])
    }

    /// Fails where the shapes are not those of [`Charts::cotangent`].
    pub fn check_cotangent(
        &self,
        v: &Vector,
        z: &Vector,
        second: Option<(&Vector, &Vector)>,
        out: &Vector,
    ) -> Result<()> {
        let (d, n, columns) = (self.dimension, self.parameter_count, z.columns());
        self.fits(&[(v, d, 1), (z, n, columns), (out, d, columns)])?;
        second.map_or(Ok(()), |(g, x)| self.fits(&[(g, n, 1), (x, d, columns)]))
    }
}
