//! Parameter spaces: other coordinates v for the same functions, θ = θ(v), in which a network is trained and its curvature taken.
//!
//! The [`GSpace`] and [`WeightFixing`] (Jestädt 2025) have m − H coordinates and no rescalings left; [`WeightNorm`] has more than m,
//! and [`BatchNormSpace`] γ and β where networks here have scales.
//! A space is a [`Chart`], which every device evaluates, and the way back from θ to v. [`balance()`] needs no space: it picks the
//! representative of least norm among the rescalings.

mod assignment;
mod balance;
mod batch_norm;
mod fixing;
mod forest;
mod g_space;
mod operator;
mod report;
mod skeleton;
mod squares;
mod tree;
mod weight_fixing;
mod weight_norm;

use std::rc::Rc;

pub use balance::{Balance, BalanceOptions, Balancing, balance};
pub use batch_norm::BatchNormSpace;
pub use fixing::{FixedValues, Fixing, ScalingWarning, TreeValues};
pub use g_space::{Biases, GSpace};
pub use operator::{SecondOrder, SpaceCurvature};
pub(crate) use report::report;
use serde::{Deserialize, Serialize};
pub use skeleton::{Edge, FixedChoice, Skeleton};
pub use weight_fixing::WeightFixing;
pub use weight_norm::{Grouping, WeightNorm};

use crate::control::Control;
use crate::engine::{Chart, NONE};
use crate::error::{Result, ensure, ensure_finite};
use crate::event_loop::now;
use crate::memory::{copied, room};
use crate::network::{BatchStatistics, Network};

/// Coordinates v for the parameters θ of one network.
pub trait ParameterSpace {
    /// Its name in reports and checkpoints.
    fn name(&self) -> &'static str;

    /// θ(v), as devices evaluate it.
    fn chart(&self) -> &Rc<Chart>;

    /// v of these parameters, in double precision on the host.
    ///
    /// # Errors
    /// What [`Network::check_parameters`] says; `InvalidParameters` where they have no coordinates in the space.
    fn to_coordinates(&self, parameters: &[f64]) -> Result<Vec<f64>>;

    /// Where the factors between coordinates and parameters are numerically dangerous. `None` for coordinates of another number too.
    fn scaling_warning(&self, _coordinates: &[f64]) -> Option<ScalingWarning> {
        None
    }

    /// Number of coordinates.
    fn dimension(&self) -> usize {
        self.chart().dimension()
    }

    /// θ(v).
    ///
    /// # Errors
    /// `InvalidParameters` for a wrong length; `NotFinite` for such coordinates, or a division by 0.
    fn to_parameters(&self, coordinates: &[f64]) -> Result<Vec<f64>> {
        check(self.name(), coordinates, self.dimension(), "coordinates")?;
        let parameters = self.chart().try_parameters(coordinates)?;
        ensure_finite("parameters of the coordinates", &parameters)?;
        Ok(parameters)
    }

    /// ∇_v L = J(v)ᵀ ∇_θ L.
    ///
    /// # Errors
    /// `InvalidParameters` for wrong lengths, `NotFinite`.
    fn pull_back(&self, coordinates: &[f64], gradient: &[f64]) -> Result<Vec<f64>> {
        check(self.name(), coordinates, self.dimension(), "coordinates")?;
        check(self.name(), gradient, self.chart().parameter_count(), "gradient")?;
        let pulled = self.chart().try_cotangent(coordinates, gradient)?;
        ensure_finite("gradient in the coordinates", &pulled)?;
        Ok(pulled)
    }
}

fn check(space: &str, values: &[f64], expected: usize, what: &str) -> Result<()> {
    let found = values.len();
    ensure!(found == expected, InvalidParameters, "the {what} in {space} have {found} values, but need {expected}");
    ensure_finite(what, values)
}

/// For each parameter its coordinate ([`NONE`] if fixed), and for each coordinate its parameter.
fn chart_of_free(free: &[bool]) -> Result<(Vec<u32>, Vec<usize>)> {
    const WHAT: &str = "a chart's constants";
    let mut parameters = room(WHAT, free.iter().filter(|&&free| free).count())?;
    let mut coordinates = room(WHAT, free.len())?;
    for (e, &free) in free.iter().enumerate() {
        coordinates.push(if free { parameters.len() as u32 } else { NONE });
        if free {
            parameters.push(e);
        }
    }
    Ok((coordinates, parameters))
}

/// The parameters themselves.
pub struct Weights {
    network: Network,
    chart: Rc<Chart>,
}

impl Weights {
    /// The ordinary space of this network.
    pub fn new(network: &Network) -> Self {
        Self { network: network.clone(), chart: Rc::new(Chart::Identity(network.parameter_count())) }
    }
}

impl ParameterSpace for Weights {
    fn name(&self) -> &'static str {
        "weights"
    }

    fn chart(&self) -> &Rc<Chart> {
        &self.chart
    }

    fn to_coordinates(&self, parameters: &[f64]) -> Result<Vec<f64>> {
        self.network.check_parameters(parameters)?;
        copied("coordinates", parameters)
    }
}

/// A space by name, as JSON spells it: `{"type": "g_space", "values": {"set": 1}, "tree": {"set": 1}, "biases": "paths"}`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum SpaceKind {
    /// [`Weights`].
    #[default]
    #[serde(deserialize_with = "crate::json::nothing")]
    Weights,
    /// [`GSpace`].
    GSpace {
        /// Which weights are fixed.
        #[serde(default)]
        choice: FixedChoice,
        /// At what.
        #[serde(default)]
        values: FixedValues,
        /// What the weights of the tree begin at.
        #[serde(default)]
        tree: TreeValues,
        /// What biases are.
        #[serde(default)]
        biases: Biases,
    },
    /// [`WeightFixing`].
    WeightFixing {
        /// Which weights are fixed.
        #[serde(default)]
        choice: FixedChoice,
        /// At what.
        #[serde(default)]
        values: FixedValues,
    },
    /// [`WeightNorm`].
    WeightNorm {
        /// What is normalised together.
        #[serde(default)]
        grouping: Grouping,
    },
    /// [`BatchNormSpace`].
    BatchNorm {
        /// Of the layers whose γ and β are the coordinates.
        statistics: Vec<BatchStatistics>,
    },
}

/// A space with the parameters to begin at.
pub struct OpenSpace {
    /// The space.
    pub space: Box<dyn ParameterSpace>,
    /// The parameters, with the fixed weights and the tree at their values.
    pub parameters: Vec<f64>,
    /// Is their function that of the parameters it was opened at?
    pub keeps_function: bool,
    /// Where factors are numerically dangerous.
    pub warning: Option<ScalingWarning>,
}

impl SpaceKind {
    /// Builds the space at these parameters.
    ///
    /// # Errors
    /// What [`Fixing::new`], [`Fixing::with_tree`], [`GSpace::new`], [`BatchNormSpace::new`] and [`WeightNorm`]'s coordinates say.
    pub fn open(&self, network: &Network, parameters: &[f64]) -> Result<OpenSpace> {
        now(self.open_under(network, parameters, &Control::default()))
    }

    /// [`SpaceKind::open`] where an event loop must run: the Hungarian choice takes a while in wide layers.
    ///
    /// # Errors
    /// As [`SpaceKind::open`]; `Aborted`.
    pub async fn open_under(&self, network: &Network, parameters: &[f64], control: &Control<'_>) -> Result<OpenSpace> {
        network.check_parameters(parameters)?;
        let plain = |space: Box<dyn ParameterSpace>| {
            let parameters = copied("a vector of parameters", parameters)?;
            Ok(OpenSpace { space, parameters, keeps_function: true, warning: None })
        };
        let (fixing, space): (Fixing, Box<dyn ParameterSpace>) = match *self {
            Self::Weights => return plain(Box::new(Weights::new(network))),
            Self::WeightNorm { grouping } => return plain(Box::new(WeightNorm::new(network, grouping))),
            Self::BatchNorm { ref statistics } => return plain(Box::new(BatchNormSpace::new(network, statistics)?)),
            Self::GSpace { choice, values, tree, biases } => {
                let fixing = Fixing::new_under(network, parameters, choice, values, control).await?;
                let fixing = fixing.with_tree(network, tree)?;
                let space = GSpace::new(network, &fixing.skeleton, &fixing.parameters, biases)?;
                (fixing, Box::new(space))
            }
            Self::WeightFixing { choice, values } => {
                let fixing = Fixing::new_under(network, parameters, choice, values, control).await?;
                let space = WeightFixing::new(network, &fixing.skeleton, &fixing.parameters)?;
                (fixing, Box::new(space))
            }
        };
        let coordinates = space.to_coordinates(&fixing.parameters)?;
        let warning = fixing.warning.or_else(|| space.scaling_warning(&coordinates));
        Ok(OpenSpace { space, parameters: fixing.parameters, keeps_function: fixing.keeps_function, warning })
    }
}
