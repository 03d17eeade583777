//! The way of a training on a landscape: its snapshots, their principal components as directions, and their projection onto a plane
//! (Li et al. 2018, section 7).

use serde::Serialize;

use crate::control::Control;
use crate::error::{Result, bail, ensure, ensure_finite};
use crate::linalg::symmetric_eigen;
use crate::memory::{copied, room, zeros};
use crate::numbers::{inner, largest, norm, power_near};

/// Multiplications between two looks at whether to stop.
const WORK: usize = 4_000_000;

/// Spreads below this beside the largest are the rounding of the products that they are found from.
const ROUNDING: f64 = 1e-13;

/// The snapshots of a run, θ_0 to θ_n in their order.
#[derive(Debug, Clone)]
pub struct Trajectory {
    snapshots: Vec<Vec<f64>>,
}

/// Orthonormal directions along which snapshots vary most.
#[derive(Debug, Clone, PartialEq)]
pub struct PrincipalComponents {
    /// Of length 1, the most telling one first. The snapshot that is farthest from the mean along one is on its positive side.
    pub directions: Vec<Vec<f64>>,
    /// The share of the snapshots' variance that each explains.
    pub explained: Vec<f64>,
}

/// The snapshots' projection onto a landscape's line or plane.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Path {
    /// Coordinates along the first direction.
    pub s: Vec<f64>,
    /// Coordinates along the second; empty for a line.
    pub t: Vec<f64>,
    /// The share of the snapshots' variance along each direction alone.
    pub explained: Vec<f64>,
    /// The share of it in the line or plane; of directions at right angles the sum of `explained`.
    pub share: f64,
}

impl Trajectory {
    /// Of two snapshots or more.
    ///
    /// # Errors
    /// `InvalidOption` for fewer, or where they are of different lengths; `NotFinite`.
    pub fn new(snapshots: Vec<Vec<f64>>) -> Result<Self> {
        ensure!(
            (2..=crate::train::MOST_SNAPSHOTS).contains(&snapshots.len()),
            InvalidOption,
            "a trajectory has 2 to {} snapshots, not {}",
            crate::train::MOST_SNAPSHOTS,
            snapshots.len()
        );
        for (i, snapshot) in snapshots.iter().enumerate() {
            ensure!(
                snapshot.len() == snapshots[0].len(),
                InvalidParameters,
                "snapshot {i} of the trajectory has {} parameters, but the first {}",
                snapshot.len(),
                snapshots[0].len()
            );
            ensure_finite("a snapshot of the trajectory", snapshot)?;
        }
        Ok(Self { snapshots })
    }

    /// The snapshots.
    pub fn snapshots(&self) -> &[Vec<f64>] {
        &self.snapshots
    }

    /// Parameters of one of them.
    fn len(&self) -> usize {
        self.snapshots[0].len()
    }

    fn end(&self) -> &[f64] {
        &self.snapshots[self.snapshots.len() - 1]
    }

    /// The principal components of [θ_0 − θ_n, …, θ_{n−1} − θ_n, 0], whose variance is about their mean: no plane keeps more of the
    /// squared distances between snapshots. Their eigenvectors come from the snapshots' own small Gram matrix, in double precision.
    ///
    /// # Errors
    /// `InvalidOption` where the snapshots do not differ, or not in so many directions; `Aborted`.
    pub async fn principal(&self, components: usize, control: &Control<'_>) -> Result<PrincipalComponents> {
        let count = self.snapshots.len();
        let scale = self.scale()?;
        let mut gram = zeros("a Gram matrix", count * count)?;
        self.centred(scale, control, |_, columns| {
            for i in 0..count {
                for j in 0..=i {
                    let product: f64 = columns[i].iter().zip(&columns[j]).map(|(a, b)| a * b).sum();
                    gram[j * count + i] += product;
                }
            }
        })
        .await?;
        for i in 0..count {
            for j in 0..i {
                gram[i * count + j] = gram[j * count + i];
            }
        }
        let variance: f64 = gram.iter().step_by(count + 1).sum();
        let eigen = symmetric_eigen(gram, count, control).await?;
        let top = eigen.values[count - 1];
        let there = eigen.values.iter().filter(|&&value| value > ROUNDING * count as f64 * top).count();
        ensure!(
            components <= there,
            InvalidOption,
            "the trajectory's {count} snapshots differ along {there} principal component{}, but number {} is asked for \
             (the first is 0)",
            if there == 1 { "" } else { "s" },
            components - 1
        );
        let mut directions = Vec::new();
        for _ in 0..components {
            directions.push(zeros("a principal component", self.len())?);
        }
        let weights: Vec<&[f64]> =
            (0..components).map(|k| &eigen.vectors[(count - 1 - k) * count..][..count]).collect();
        self.centred(scale, control, |start, columns| {
            for (direction, weights) in directions.iter_mut().zip(&weights) {
                for (column, weight) in columns.iter().zip(*weights) {
                    for (to, from) in direction[start..].iter_mut().zip(column) {
                        *to += weight * from;
                    }
                }
            }
        })
        .await?;
        for (k, weights) in weights.iter().enumerate() {
            let (before, rest) = directions.split_at_mut(k);
            orthonormalise(&mut rest[0], before);
            let farthest = weights.iter().fold(0.0, |far: f64, &w| if w.abs() > far.abs() { w } else { far });
            if farthest < 0.0 {
                rest[0].iter_mut().for_each(|x| *x = -*x);
            }
        }
        let explained = eigen.values.iter().rev().take(components).map(|value| value / variance).collect();
        Ok(PrincipalComponents { directions, explained })
    }

    /// Where the snapshots lie in the plane (or line) through θ: the nearest point of each, in units of the directions.
    ///
    /// # Errors
    /// `NotFinite` where that overflows; `InvalidOption` where the snapshots do not differ.
    pub(super) fn projected(&self, parameters: &[f64], directions: &[Vec<f64>]) -> Result<Path> {
        let scale = self.scale()?;
        // At right angles: the second one without its part along the first.
        let mut axes: Vec<Axis> = Vec::new();
        for direction in directions {
            axes.push(Axis::new(direction, axes.first())?);
        }
        let mut path = Path { s: Vec::new(), t: Vec::new(), explained: Vec::new(), share: 0.0 };
        let mut along: Vec<Vec<f64>> = vec![Vec::new(); directions.len()];
        let mut alone: Vec<Vec<f64>> = vec![Vec::new(); directions.len()];
        let units: Vec<Vec<f64>> = directions.iter().map(|direction| unit(direction)).collect::<Result<_>>()?;
        let mut difference = zeros("a difference of snapshots", self.len())?;
        for snapshot in &self.snapshots {
            for ((to, a), b) in difference.iter_mut().zip(snapshot).zip(parameters) {
                *to = a - b;
            }
            let found: Vec<f64> = axes.iter().map(|axis| inner(&difference, &axis.unit)).collect();
            let t = axes.get(1).map(|axis| axis.coordinate(found[1]));
            path.s.push((found[0] - t.unwrap_or(0.0) * axes.get(1).map_or(0.0, |axis| axis.skew)) / axes[0].length);
            path.t.extend(t);
            for ((along, alone), (found, unit)) in along.iter_mut().zip(&mut alone).zip(found.iter().zip(&units)) {
                along.push(found / scale);
                alone.push(inner(&difference, unit) / scale);
            }
        }
        let variance = self.variance(scale);
        path.explained = alone.iter().map(|values| spread(values) / variance).collect();
        path.share = along.iter().map(|values| spread(values)).sum::<f64>() / variance;
        ensure_finite("the trajectory's projection", &path.s)?;
        ensure_finite("the trajectory's projection", &path.t)?;
        Ok(path)
    }

    /// A power of two of the size of the largest difference from the end.
    fn scale(&self) -> Result<f64> {
        let end = self.end();
        let far = self.snapshots.iter().flat_map(|snapshot| snapshot.iter().zip(end).map(|(a, b)| a - b));
        let far = largest(far);
        ensure!(far != 0.0, InvalidOption, "the trajectory's snapshots are all the same: the training has not moved");
        ensure!(far.is_finite(), NotFinite, "the differences between the trajectory's snapshots overflow");
        Ok(power_near(far))
    }

    /// Σ ‖(θ_i − mean) / scale‖².
    fn variance(&self, scale: f64) -> f64 {
        let end = self.end();
        let count = self.snapshots.len() as f64;
        (0..self.len())
            .map(|k| {
                let at = |snapshot: &Vec<f64>| (snapshot[k] - end[k]) / scale;
                let mean = self.snapshots.iter().map(at).sum::<f64>() / count;
                self.snapshots.iter().map(|snapshot| (at(snapshot) - mean).powi(2)).sum::<f64>()
            })
            .sum()
    }

    /// Shows a part of the parameters after the other, each with the snapshots' differences from their mean in units of `scale`.
    async fn centred(&self, scale: f64, control: &Control<'_>, mut see: impl FnMut(usize, &[Vec<f64>])) -> Result<()> {
        let (count, end) = (self.snapshots.len(), self.end());
        let part = (WORK / (count * count)).clamp(16, 4096);
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for _ in 0..count {
            columns.push(room("a part of the snapshots", part)?);
        }
        for start in (0..self.len()).step_by(part) {
            let range = start..(start + part).min(self.len());
            for (column, snapshot) in columns.iter_mut().zip(&self.snapshots) {
                column.clear();
                let pairs = snapshot[range.clone()].iter().zip(&end[range.clone()]);
                column.extend(pairs.map(|(a, b)| (a - b) / scale));
            }
            for k in 0..range.len() {
                let mean = columns.iter().map(|column| column[k]).sum::<f64>() / count as f64;
                columns.iter_mut().for_each(|column| column[k] -= mean);
            }
            see(start, &columns);
            control.breathe().await?;
        }
        Ok(())
    }
}

/// One of a plane's axes at right angles.
struct Axis {
    /// Of length 1; of 0 where the direction is the other one's.
    unit: Vec<f64>,
    /// How far a unit of the direction leads along it.
    length: f64,
    /// How far a unit of the direction leads along the first axis.
    skew: f64,
}

impl Axis {
    fn new(direction: &[f64], first: Option<&Axis>) -> Result<Self> {
        let whole = norm(direction.iter().copied());
        let mut rest = unit(direction)?;
        let Some(first) = first else { return Ok(Self { unit: rest, length: whole, skew: 0.0 }) };
        let cosine = inner(&rest, &first.unit);
        rest.iter_mut().zip(&first.unit).for_each(|(x, y)| *x -= cosine * y);
        let sine = norm(rest.iter().copied());
        let is_other = sine > 1e-9;
        rest.iter_mut().for_each(|x| *x = if is_other { *x / sine } else { 0.0 });
        Ok(Self { unit: rest, length: whole * sine, skew: whole * cosine })
    }

    fn coordinate(&self, along: f64) -> f64 {
        if along == 0.0 { 0.0 } else { along / self.length }
    }
}

fn unit(direction: &[f64]) -> Result<Vec<f64>> {
    let length = norm(direction.iter().copied());
    ensure!(length.is_finite(), NotFinite, "the length of a landscape's direction overflows");
    let mut unit = copied("a direction", direction)?;
    unit.iter_mut().for_each(|x| *x /= length);
    Ok(unit)
}

/// Takes the parts along others, which are orthonormal, out of a vector, twice, and gives it length 1.
fn orthonormalise(vector: &mut [f64], others: &[Vec<f64>]) {
    for _ in 0..2 {
        let length = norm(vector.iter().copied());
        vector.iter_mut().for_each(|x| *x /= length);
        for other in others {
            let along = inner(vector, other);
            vector.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
        }
    }
    let length = norm(vector.iter().copied());
    vector.iter_mut().for_each(|x| *x /= length);
}

/// Σ (x − mean)².
fn spread(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|x| (x - mean).powi(2)).sum()
}

/// An axis that has all of a path, and θ at 0, well inside.
pub(super) fn around(coordinates: &[f64]) -> Result<(f64, f64)> {
    let (from, to) = coordinates.iter().fold((0.0, 0.0), |(from, to): (f64, f64), &x| (from.min(x), to.max(x)));
    let extent = to - from;
    if extent == 0.0 {
        return Ok((-1.0, 1.0));
    }
    let range = (from - MARGIN * extent, to + MARGIN * extent);
    if !(range.0.is_finite() && range.1.is_finite() && range.0 < range.1) {
        bail!(NotFinite, "the trajectory goes from {from} to {to}, which leaves no room for a landscape around it");
    }
    Ok(range)
}

/// What an axis has beyond the path at either end, as a share of it.
const MARGIN: f64 = 0.2;
