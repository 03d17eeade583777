//! One ascent: steps along the gradient and back into the region.
//!
//! A step is shorter until the loss rises by a share of what the gradient promises (Armijo), longer after each success: with long
//! steps it is the power iteration u ← ∇L / ‖∇L‖. Where units cross their kinks summits are ridges: the gradient jumps across them, so
//! that to first order much is left to gain, and hundreds of steps along one gain a millionth of the rise. There what the last steps have
//! gained says when it is enough.

use serde::Serialize;

use super::ascent::{Start, StartKind};
use super::probe::Probe;
use super::region::Coordinates;
use super::starts::START;
use crate::control::Control;
use crate::engine::Precision;
use crate::error::{Result, bail};
use crate::memory::{collected, zeros};

/// What may be left to gain, as a share of the rise, where an ascent is first compared with the highest before it.
const COMPARED: f64 = 1e-2;

/// The same at the end.
const ENOUGH: f64 = 1e-3;

/// What it goes on to in double precision then, if that takes few steps.
const FINE: f64 = 1e-6;

/// Share of the promised rise that a step must bring.
const ARMIJO: f64 = 1e-4;

/// Shortest and longest step, in units of the region.
const STEPS: (f64, f64) = (1e-9, 1e12);

/// The step before the first.
const FIRST_STEP: f64 = 16.0;

/// Gradients within which the gap has to halve for an ascent to go on beyond what was asked for.
const PATIENCE: usize = 8;

/// Gradients within which an ascent has to gain more than this share of what may be left for it to go on at all; with so many steps among
/// them, since one that has become too long takes many gradients to be short enough.
const SPAN: usize = 10;
const SPAN_STEPS: usize = 3;
const CREEP: f64 = 0.1;

/// Times what it has gained within the last [`SPAN`] an ascent along a ridge may still gain: gains shrink, but not evenly. One that gained
/// less than the least share, by chance, is taken to have gained that.
const AHEAD: f64 = 4.0;
const LEAST: f64 = 0.025;

/// Why an ascent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The optimality gap is within the tolerance.
    Stationary,
    /// No step along the gradient raises the loss any more: a kink, or rounding.
    Stalled,
    /// Along a ridge, where steps raise it by next to nothing.
    Creeping,
    /// The steps are used up.
    Limit,
    /// Another is higher than this one would come to.
    Surpassed,
}

/// What all ascents at a point share.
pub(super) struct Climb<'a> {
    pub probe: &'a Probe<'a>,
    pub theta: &'a [f64],
    pub coordinates: &'a Coordinates,
    /// L(θ).
    pub loss: f64,
    /// How much it changes when θ is rounded another way.
    pub resolution: f64,
    /// Most gradients of one ascent.
    pub max_iterations: usize,
}

/// An ascent, where it has come to.
pub(super) struct Ascent {
    pub u: Vec<f64>,
    /// L(θ + M u) − L(θ).
    pub rise: f64,
    gradient: Vec<f64>,
    /// What could be gained still, to first order.
    pub gap: f64,
    /// The same as steps tell it: the last one's gain, or, where it creeps, what those to come may gain.
    pub ahead: f64,
    pub iterations: usize,
    pub stop: Stop,
    step: f64,
}

impl Ascent {
    /// None: θ itself.
    pub fn at_rest(len: usize) -> Result<Self> {
        let (u, gradient) = (zeros(START, len)?, Vec::new());
        let (rise, gap, ahead, iterations, stop) = (0.0, 0.0, 0.0, 0, Stop::Stationary);
        Ok(Self { u, rise, gradient, gap, ahead, iterations, stop, step: FIRST_STEP })
    }

    /// What may be gained still, as far as where it ended says.
    pub fn left(&self) -> f64 {
        match self.stop {
            Stop::Stalled => self.ahead,
            Stop::Creeping => f64::min(self.ahead, self.gap),
            _ => self.gap,
        }
    }

    /// As it is told of.
    pub fn seen(&self, kind: StartKind, value: f64) -> Start {
        Start { kind, value, iterations: self.iterations, stop: self.stop }
    }
}

impl Climb<'_> {
    /// The beginning of an ascent.
    ///
    /// # Errors
    /// `NotFinite` where the loss overflows; the device's.
    pub async fn begin(&self, u: Vec<f64>) -> Result<Ascent> {
        let (rise, gradient) = self.at(&u).await?;
        if !rise.is_finite() || gradient.iter().any(|g| !g.is_finite()) {
            bail!(NotFinite, "the loss overflows within the region: a smaller ε is needed");
        }
        let gap = self.coordinates.gap(&u, &gradient);
        Ok(Ascent { u, rise, gradient, gap, ahead: 0.0, iterations: 1, stop: Stop::Limit, step: FIRST_STEP })
    }

    /// Goes on until no step gains more than this share of the rise, to first order, or all of them far less. Where nobody says how much,
    /// until it is little or not enough to reach the `highest` ascent before it; the highest of all is polished then ([`Climb::polish`]).
    ///
    /// # Errors
    /// `TooLarge`; `Aborted`; the device's.
    pub async fn all_the_way(
        &self,
        ascent: &mut Ascent,
        highest: Option<f64>,
        tolerance: Option<f64>,
        control: &Control<'_>,
    ) -> Result<()> {
        if let Some(tolerance) = tolerance {
            return self.climb(ascent, tolerance, control).await;
        }
        for tolerance in [COMPARED, ENOUGH] {
            self.climb(ascent, tolerance, control).await?;
            if !matches!(ascent.stop, Stop::Stationary | Stop::Creeping) {
                return Ok(());
            }
            if highest.is_some_and(|highest| ascent.rise + ascent.left() < highest) {
                ascent.stop = Stop::Surpassed;
                return Ok(());
            }
        }
        Ok(())
    }

    /// Goes on to this tolerance.
    async fn climb(&self, ascent: &mut Ascent, tolerance: f64, control: &Control<'_>) -> Result<()> {
        let (mut since, mut from, mut steps) = (ascent.iterations, ascent.rise, 0);
        ascent.stop = loop {
            if self.has_arrived(ascent, tolerance) {
                break Stop::Stationary;
            }
            if ascent.iterations >= since + SPAN && steps >= SPAN_STEPS {
                let gained = ascent.rise - from;
                if gained <= CREEP * tolerance * self.size(ascent) {
                    ascent.ahead = AHEAD * gained.max(LEAST * tolerance.min(ENOUGH) * self.size(ascent));
                    break Stop::Creeping;
                }
                (since, from, steps) = (ascent.iterations, ascent.rise, 0);
            }
            if let Some(stop) = self.step(ascent, control).await? {
                break stop;
            }
            steps += 1;
        };
        Ok(())
    }

    /// Goes on beyond what was asked for, in double precision and as long as it nears its summit fast.
    ///
    /// # Errors
    /// As [`Climb::all_the_way`].
    pub async fn polish(&self, ascent: &mut Ascent, control: &Control<'_>) -> Result<()> {
        if ascent.stop != Stop::Stationary || self.probe.engine().info().precision != Precision::F64 {
            return Ok(());
        }
        let (mut gap, mut since) = (ascent.gap, ascent.iterations);
        while !self.has_arrived(ascent, FINE)
            && ascent.iterations < since + PATIENCE
            && self.step(ascent, control).await?.is_none()
        {
            if ascent.gap <= 0.5 * gap {
                (gap, since) = (ascent.gap, ascent.iterations);
            }
        }
        Ok(())
    }

    fn has_arrived(&self, ascent: &Ascent, tolerance: f64) -> bool {
        ascent.gap <= tolerance * self.size(ascent)
    }

    /// The rise, as far as it is known.
    fn size(&self, ascent: &Ascent) -> f64 {
        f64::max(ascent.rise.abs(), self.resolution)
    }

    /// A step, or why there is none.
    async fn step(&self, ascent: &mut Ascent, control: &Control<'_>) -> Result<Option<Stop>> {
        let unit = self.coordinates.size(&ascent.gradient);
        let mut length = f64::min(ascent.step * 4.0, STEPS.1);
        while length > STEPS.0 {
            control.breathe().await?;
            if ascent.iterations >= self.max_iterations {
                return Ok(Some(Stop::Limit));
            }
            let along = ascent.u.iter().zip(&ascent.gradient).map(|(u, g)| u + length / unit * g);
            let mut next: Vec<f64> = collected("a step of an ascent", along)?;
            self.coordinates.project(&mut next);
            let moves = next.iter().zip(&ascent.u).zip(&ascent.gradient);
            let promised: f64 = moves.map(|((next, u), g)| (next - u) * g).sum();
            let (rise, gradient) = self.at(&next).await?;
            ascent.iterations += 1;
            // A loss that overflows compares false: the step was too long.
            let gain = rise - ascent.rise;
            if promised > 0.0 && gain >= ARMIJO * promised && gradient.iter().all(|g| g.is_finite()) {
                ascent.gap = self.coordinates.gap(&next, &gradient);
                (ascent.u, ascent.rise, ascent.gradient) = (next, rise, gradient);
                (ascent.step, ascent.ahead) = (length, gain);
                return Ok(None);
            }
            length /= 4.0;
        }
        Ok(Some(Stop::Stalled))
    }

    /// L(θ + M u) − L(θ), and its gradient in u.
    async fn at(&self, u: &[f64]) -> Result<(f64, Vec<f64>)> {
        let mut moved = self.coordinates.delta(u)?;
        moved.iter_mut().zip(self.theta).for_each(|(d, w)| *d += w);
        let (loss, gradient) = self.probe.gradient(&moved).await?;
        Ok((loss - self.loss, self.coordinates.pull(&gradient)?))
    }
}
