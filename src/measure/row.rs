//! A measure as a row of the table: what it is called, what it is about, and how it is computed.

use serde::Serialize;

use super::custom::CustomMeasure;
use super::known::Known;
use super::sharpness::Region;
use super::trace::has_exact_trace;
use super::{MeasureValue, gradient, hessian, least_trace, normalized_sharpness, norms, petzka, riemannian, sharpness};
use crate::control::LocalFuture;
use crate::error::{Result, bail};
use crate::linalg::Goal;
use crate::network::{Layer, Network};
use crate::operator::OperatorKind;
use crate::symmetry::Kinds;

/// A measure of one number.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Measure {
    /// Its stable name, e.g. `hessian.trace`.
    pub key: &'static str,
    /// Its name for people, e.g. “Hessian, trace”.
    pub title: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// One sentence on what it is.
    pub description: &'static str,
    /// What it is about.
    pub family: Family,
    /// What it takes.
    pub cost: Cost,
    /// The networks that have it.
    pub defined_for: Domain,
    /// The symmetries under which it stands still, at every point.
    pub invariant: Kinds,
    #[serde(skip)]
    pub(super) compute: Compute,
}

/// What measures are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// The point itself: its loss, and how near to a critical point it is.
    Point,
    /// The loss's curvature in the weights as they are.
    Curvature,
    /// How far the loss rises at most nearby, likewise.
    Sharpness,
    /// How far it rises on average under noise in the weights.
    Noise,
    /// Lengths, curvature and sharpness relative to the size of the weights (Rangamani et al.).
    Riemannian,
    /// Curvature of a layer or neuron times the size of its weights (Petzka et al.).
    Petzka,
    /// What no rescaling can make less: the flattest that the network can be bent (Ibayashi et al.), or its layers by themselves
    /// (Tsuzuku et al.).
    Orbit,
    /// Sizes of the network rather than of its valley.
    Norms,
    /// [`Measure::custom`].
    Own,
}

/// What a measure takes, about, of a piecewise linear network above [`DENSE_LIMIT`](super::DENSE_LIMIT) parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// A pass or two over the data.
    Pass,
    /// A backward pass for each output: one sweep for all such measures together.
    Sweep,
    /// Tens of products with an operator, for the ends of its spectrum; they are shared by the measures of one operator.
    Eigenvalues,
    /// As many products as there are probes, for an estimate; as few as a sixth beside a spectrum's ends.
    Probes,
    /// Hundreds of losses and gradients nearby.
    Search,
}

/// The networks that have a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// All.
    Any,
    /// Those of piecewise linear activations.
    PiecewiseLinear,
    /// Those of dense layers and positively homogeneous activations.
    Dense,
}

impl Domain {
    /// Is this network one of them?
    pub fn includes(self, network: &Network) -> bool {
        let is_dense = |layer: &Layer| match layer {
            Layer::Conv2d(_) | Layer::MaxPool2d(_) | Layer::AvgPool2d(_) | Layer::GlobalAvgPool2d => false,
            _ => layer.is_positively_homogeneous(),
        };
        match self {
            Self::Any => true,
            Self::PiecewiseLinear => network.is_piecewise_linear(),
            Self::Dense => network.layers().all(is_dense),
        }
    }
}

type Value<'k> = LocalFuture<'k, Result<MeasureValue>>;

pub(super) type AtPoint = for<'k, 'a, 'c> fn(&'k mut Known<'a, 'c>, &'k Measure) -> Value<'k>;

pub(super) type OfSpectrum = for<'k, 'a, 'c> fn(&'k mut Known<'a, 'c>, &'k Measure, OperatorKind) -> Value<'k>;

/// How a measure is computed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Compute {
    /// From what is known at the point.
    Point(AtPoint),
    /// By ascents in a region.
    Highest(Region),
    /// From an operator's spectrum, ends of which may be needed.
    Spectrum(OperatorKind, Option<Goal>, OfSpectrum),
    /// By a function of the caller's.
    Custom(CustomMeasure),
}

pub(super) const NEVER_BUT_PERMUTED: Kinds = Kinds { layerwise: false, nodewise: false, permutation: true };
pub(super) const LAYERWISE: Kinds = Kinds { layerwise: true, nodewise: false, permutation: true };
pub(super) const ALWAYS: Kinds = Kinds { layerwise: true, nodewise: true, permutation: true };

impl Measure {
    /// All measures, family by family.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        gradient::MEASURES
            .iter()
            .chain(hessian::MEASURES)
            .chain(sharpness::MEASURES)
            .chain(riemannian::MEASURES)
            .chain(petzka::MEASURES)
            .chain(least_trace::MEASURES)
            .chain(normalized_sharpness::MEASURES)
            .chain(norms::MEASURES)
    }

    /// Those that are defined for a network.
    pub fn defined_for(network: &Network) -> impl Iterator<Item = &'static Self> {
        Self::all().filter(|measure| measure.defined_for.includes(network))
    }

    /// The measure of this name.
    ///
    /// # Errors
    /// `InvalidOption`, with the names there are.
    pub fn from_key(key: &str) -> Result<&'static Self> {
        match Self::all().find(|measure| measure.key == key) {
            Some(measure) => Ok(measure),
            None => {
                let keys: Vec<_> = Self::all().map(|measure| measure.key).collect();
                bail!(InvalidOption, "no measure is named \"{key}\"; there are {}", keys.join(", "))
            }
        }
    }

    /// A row that moves under rescalings and has no names yet.
    pub(super) const fn new(family: Family, cost: Cost, compute: Compute) -> Self {
        let (key, title, paper, description) = ("", "", "—", "");
        let (defined_for, invariant) = (Domain::Any, NEVER_BUT_PERMUTED);
        Self { key, title, paper, description, family, cost, defined_for, invariant, compute }
    }

    /// Says which ends of a spectrum, estimates or eigenvectors it will ask for.
    pub(super) fn announce(&self, known: &mut Known<'_, '_>) {
        match self.compute {
            Compute::Spectrum(of, Some(ends), _) => known.want(of, ends),
            Compute::Spectrum(of, None, _) => {
                let network = known.engine.problem().network();
                if self.cost == Cost::Probes || !has_exact_trace(network, of) {
                    known.want_estimates(of);
                }
            }
            Compute::Highest(region) => region.operator().into_iter().for_each(|kind| known.want_direction(kind)),
            Compute::Point(_) | Compute::Custom(_) => {}
        }
    }

    /// Its value at the point.
    pub(super) async fn compute(&self, known: &mut Known<'_, '_>) -> Result<MeasureValue> {
        let found = match self.compute {
            Compute::Point(by) => by(known, self).await?,
            Compute::Highest(region) => sharpness::highest(known, self, region).await?,
            Compute::Spectrum(of, _, by) => by(known, self, of).await?,
            Compute::Custom(by) => by(known.engine, known.options, &known.control).await?,
        };
        Ok(MeasureValue { key: self.key, ..found })
    }

    /// A value of it that is exact but for rounding, relative to numbers of size `scale`.
    pub(super) fn exact(&self, value: f64, scale: f64) -> MeasureValue {
        MeasureValue::exact(self.key, value, scale)
    }
}
