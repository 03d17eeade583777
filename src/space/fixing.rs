//! What the fixed weights and the tree are set to before a space is built on them (Jestädt 2025, sections 3.0.3, 3.0.4 and 6.3.1),
//! and warnings where scaling factors grow dangerous.

use serde::{Deserialize, Serialize};

use super::skeleton::{FixedChoice, Skeleton};
use crate::control::Control;
use crate::error::{Result, bail, ensure};
use crate::event_loop::now;
use crate::memory::copied;
use crate::network::Network;
use crate::symmetry::Transformation;

/// What becomes of the fixed weights.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixedValues {
    /// They stay as they are: for trained networks.
    #[default]
    Keep,
    /// All are set to this value, not 0. The thesis sets 1. This changes the function of the network.
    Set(f64),
    /// The network is rescaled node by node until each is 1 or −1, which leaves its function as it is.
    Reparametrize,
}

/// What becomes of the tree's weights that are not fixed. In a chain of layers without widening these are layer 1's, the thesis' w_j.
/// They train on, but every later path is divided by one of them: one that begins near 0 makes for large steps.
///
/// No choice rescales them to ±1, as [`FixedValues::Reparametrize`] does the fixed ones: a unit has one factor.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeValues {
    /// They begin as they are: for trained networks.
    #[default]
    Keep,
    /// All begin at this value, not 0. This changes the function of the network. For training from scratch, 1: the thesis sets fixed
    /// weights to 1, as Meng et al. do, so that few factors are left beside a path's own weight. Its text does not say where w_j, the
    /// last of them, begins; the code that its author published begins it at 1 too.
    Set(f64),
}

/// Scaling factors that grow numerically dangerous.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScalingWarning {
    /// The factor furthest from 1.
    pub factor: f64,
    /// The largest over the smallest factor.
    pub spread: f64,
    /// What they do, in a sentence.
    pub message: String,
}

impl ScalingWarning {
    /// A weight that a factor f multiplies has its gradient divided by f, so steps of one learning rate move the weights by
    /// shares that differ by up to the square of the factors' spread. Beyond 1/ε of single precision the smaller
    /// share is rounded away where the larger one is as large as the weight.
    pub(super) fn of(what: &str, factors: impl Iterator<Item = f64>) -> Option<Self> {
        let (mut smallest, mut largest) = (f64::INFINITY, 0.0_f64);
        for factor in factors.map(f64::abs) {
            smallest = smallest.min(factor);
            largest = largest.max(factor);
        }
        // Of factors too small to be told from 0 it is at least as large as numbers are.
        let smallest = smallest.max(f64::MIN_POSITIVE);
        let spread = (largest / smallest).min(f64::MAX);
        let limit = 1.0 / f64::from(f32::EPSILON).sqrt();
        if spread.is_nan() || spread <= limit || largest == 0.0 {
            return None;
        }
        let factor = if largest.ln().abs() >= smallest.ln().abs() { largest } else { smallest };
        let message = format!(
            "{what} by factors from {smallest:.1e} to {largest:.1e}: steps of one learning rate differ by up to {:.0e} relative to \
             the weights, beyond what single precision can tell apart",
            (spread * spread).min(f64::MAX)
        );
        Some(Self { factor, spread, message })
    }
}

const PARAMETERS: &str = "a vector of parameters";

/// A skeleton with the parameters that a space begins at.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixing {
    /// The fixed weights.
    pub skeleton: Skeleton,
    /// θ with the fixed weights at their values.
    pub parameters: Vec<f64>,
    /// Is the function of the network as before? Not where weights were set to values that they did not have.
    pub keeps_function: bool,
    /// The rescaling that was applied, where there was one.
    pub rescaling: Option<Transformation>,
    /// Where its factors are dangerous.
    pub warning: Option<ScalingWarning>,
}

impl Fixing {
    /// Chooses the fixed weights and sets them.
    ///
    /// # Errors
    /// As [`Skeleton::new`]; `InvalidOption` for a value that is 0 or not finite; `InvalidParameters` for a fixed weight of 0 to be
    /// rescaled; `NotFinite` where factors overflow.
    pub fn new(network: &Network, parameters: &[f64], choice: FixedChoice, values: FixedValues) -> Result<Self> {
        now(Self::new_under(network, parameters, choice, values, &Control::default()))
    }

    /// [`Fixing::new`] where an event loop must run.
    ///
    /// # Errors
    /// As [`Fixing::new`]; `Aborted`.
    pub async fn new_under(
        network: &Network,
        parameters: &[f64],
        choice: FixedChoice,
        values: FixedValues,
        control: &Control<'_>,
    ) -> Result<Self> {
        let skeleton = Skeleton::new_under(network, parameters, choice, control).await?;
        match values {
            FixedValues::Keep => Ok(Self {
                skeleton,
                parameters: copied(PARAMETERS, parameters)?,
                keeps_function: true,
                rescaling: None,
                warning: None,
            }),
            FixedValues::Set(value) => {
                ensure_settable("fixed weights are", value)?;
                let mut moved = copied(PARAMETERS, parameters)?;
                for index in skeleton.fixed_indices() {
                    moved[index] = value;
                }
                let keeps_function = moved == parameters;
                Ok(Self { skeleton, parameters: moved, keeps_function, rescaling: None, warning: None })
            }
            FixedValues::Reparametrize => Self::reparametrize(network, parameters, skeleton),
        }
    }

    /// With the tree's weights that are not fixed at their values.
    ///
    /// # Errors
    /// `InvalidOption` for a value that is 0 or not finite; `InvalidParameters` where the skeleton is of another network.
    pub fn with_tree(mut self, network: &Network, values: TreeValues) -> Result<Self> {
        let TreeValues::Set(value) = values else { return Ok(self) };
        ensure_settable("the tree's weights are", value)?;
        self.skeleton.check(network)?;
        let free = self.skeleton.try_free(network)?;
        for edge in self.skeleton.tree().iter().flatten().filter(|edge| free[edge.index]) {
            let old = std::mem::replace(&mut self.parameters[edge.index], value);
            self.keeps_function &= old == value;
        }
        Ok(self)
    }

    /// W_l → D_rows W_l D_columns⁻¹ with D of a node the magnitude of the product of fixed weights from there on: in a chain, D_{l−1} those of
    /// the fixed entries of D_l W_l, last layer first.
    fn reparametrize(network: &Network, parameters: &[f64], skeleton: Skeleton) -> Result<Self> {
        let nodes = skeleton.check(network)?;
        if let Some((edge, node)) = skeleton.fixed_zero(parameters) {
            bail!(
                InvalidParameters,
                "the fixed weight of {}, parameter {}, is 0: no rescaling makes it 1",
                nodes.title(network, node),
                edge.index
            );
        }
        let mut factors = skeleton.out(parameters)?;
        factors.iter_mut().for_each(|factor| *factor = factor.abs());
        let factors = nodes.in_lists(&factors)?;
        let rescaling = Transformation::Nodewise { factors };
        let mut moved = rescaling.apply(network, parameters)?;
        // Rounding may have left the last digit.
        for index in skeleton.fixed_indices() {
            moved[index] = parameters[index].signum();
        }
        let factors = moved.iter().zip(parameters).filter(|(_, old)| **old != 0.0).map(|(new, old)| new / old);
        let warning = ScalingWarning::of("making the fixed weights ±1 multiplies weights", factors);
        Ok(Self { skeleton, parameters: moved, keeps_function: true, rescaling: Some(rescaling), warning })
    }
}

/// Nothing can be divided by 0.
fn ensure_settable(what: &str, value: f64) -> Result<()> {
    ensure!(
        value.is_finite() && value != 0.0,
        InvalidOption,
        "{what} to be set to {value}, but that must be finite and not 0"
    );
    Ok(())
}
