//! A problem: network, loss and data. What everything is asked of. Also the problem file, its JSON form.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::error::{Result, bail, ensure, ensure_finite};
use crate::network::{Network, RawNetwork};
use crate::symmetry::Transformation;

/// The loss of one sample; a problem's loss is its mean over the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// −log softmax(ŷ)_y, for class numbers y.
    CrossEntropy,
    /// Σ_c (ŷ_c − y_c)², without ½ and without division by C, for vectors y.
    SquaredError,
}

impl Loss {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::CrossEntropy => "cross_entropy",
            Self::SquaredError => "squared_error",
        }
    }

    /// The loss of this name.
    ///
    /// # Errors
    /// `InvalidOption`.
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "cross_entropy" => Ok(Self::CrossEntropy),
            "squared_error" => Ok(Self::SquaredError),
            _ => bail!(InvalidOption, "no loss is named \"{name}\"; there are cross_entropy and squared_error"),
        }
    }
}

/// Input values, in the precision they came in: images stay small.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
}

impl Values {
    /// How many values.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::F64(v) => v.len(),
        }
    }

    /// None at all?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Value `i`, in double precision.
    pub fn get(&self, i: usize) -> f64 {
        match self {
            Self::F32(v) => f64::from(v[i]),
            Self::F64(v) => v[i],
        }
    }

    /// All of them in double precision.
    pub fn to_f64(&self) -> Vec<f64> {
        (0..self.len()).map(|i| self.get(i)).collect()
    }

    /// All of them in single precision.
    pub fn to_f32(&self) -> Vec<f32> {
        match self {
            Self::F32(v) => v.clone(),
            Self::F64(v) => v.iter().map(|&x| x as f32).collect(),
        }
    }
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Self {
        Self::F32(values)
    }
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        Self::F64(values)
    }
}

/// What the outputs are compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// A class number a sample, for cross-entropy.
    Classes(Vec<u32>),
    /// A vector of the output's length a sample, row after row, for squared error.
    Vectors(Vec<f64>),
}

/// Network, loss and data, checked against each other. Cheap to clone: the parts are shared.
#[derive(Debug, Clone)]
pub struct Problem {
    network: Rc<Network>,
    loss: Loss,
    inputs: Rc<Values>,
    targets: Rc<Targets>,
    samples: usize,
}

impl Problem {
    /// A problem over `inputs` (samples × input_len, row-major) and `targets`.
    ///
    /// # Errors
    /// `InvalidProblem` for zero samples, wrong lengths, labels out of range or targets that do not suit the loss;
    /// `NotFinite` for NaN and infinities.
    pub fn new(network: Network, loss: Loss, inputs: impl Into<Values>, targets: Targets) -> Result<Self> {
        let inputs = inputs.into();
        let (width, classes) = (network.input_len(), network.output_len());
        ensure!(!inputs.is_empty(), InvalidProblem, "the problem has no samples");
        ensure!(
            inputs.len().is_multiple_of(width),
            InvalidProblem,
            "the inputs have {} values, which is no multiple of the network's input length {width}",
            inputs.len()
        );
        let samples = inputs.len() / width;
        if let Some(i) = (0..inputs.len()).find(|&i| !inputs.get(i).is_finite()) {
            bail!(NotFinite, "input {} of sample {} is {}, but must be finite", i % width, i / width, inputs.get(i));
        }
        match (&targets, loss) {
            (Targets::Classes(labels), Loss::CrossEntropy) => {
                ensure!(
                    labels.len() == samples,
                    InvalidProblem,
                    "there are {} targets for {samples} samples",
                    labels.len()
                );
                if let Some(i) = labels.iter().position(|&y| y as usize >= classes) {
                    bail!(
                        InvalidProblem,
                        "the target of sample {i} is class {}, but the network has {classes} outputs (classes 0 to {})",
                        labels[i],
                        classes - 1
                    );
                }
            }
            (Targets::Vectors(values), Loss::SquaredError) => {
                ensure!(
                    values.len() == samples * classes,
                    InvalidProblem,
                    "the targets have {} values, but {samples} samples of {classes} outputs need {}",
                    values.len(),
                    samples * classes
                );
                ensure_finite("targets", values)?;
            }
            (Targets::Vectors(_), Loss::CrossEntropy) => {
                bail!(InvalidProblem, "cross_entropy needs a class number a sample, but the targets are vectors")
            }
            (Targets::Classes(_), Loss::SquaredError) => {
                bail!(InvalidProblem, "squared_error needs a vector a sample, but the targets are class numbers")
            }
        }
        Ok(Self { network: Rc::new(network), loss, inputs: Rc::new(inputs), targets: Rc::new(targets), samples })
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The loss of one sample.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// Inputs, samples × input_len, row-major.
    pub fn inputs(&self) -> &Values {
        &self.inputs
    }

    /// Targets, a sample each.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Number of samples N.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// The problem over the first `samples` samples, or over all if there are fewer.
    pub fn first(&self, samples: usize) -> Self {
        let samples = samples.clamp(1, self.samples);
        let inputs = match &*self.inputs {
            Values::F32(v) => Values::F32(v[..samples * self.network.input_len()].to_vec()),
            Values::F64(v) => Values::F64(v[..samples * self.network.input_len()].to_vec()),
        };
        let targets = match &*self.targets {
            Targets::Classes(v) => Targets::Classes(v[..samples].to_vec()),
            Targets::Vectors(v) => Targets::Vectors(v[..samples * self.network.output_len()].to_vec()),
        };
        Self { inputs: Rc::new(inputs), targets: Rc::new(targets), samples, ..self.clone() }
    }

    /// Fails unless `parameters` has the network's length and is finite.
    ///
    /// # Errors
    /// `InvalidParameters`, `NotFinite`.
    pub fn check_parameters(&self, parameters: &[f64]) -> Result<()> {
        self.network.check_parameters(parameters)
    }
}

/// A problem file: a problem, its parameters, and optionally a direction and transformations for the report.
#[derive(Debug, Clone)]
pub struct ProblemFile {
    /// A name, if the file has one.
    pub name: Option<String>,
    /// Network, loss, data.
    pub problem: Problem,
    /// The point θ.
    pub parameters: Vec<f64>,
    /// The v of the Hessian and Gauss–Newton products.
    pub direction: Option<Vec<f64>>,
    /// Transformations after which the report is computed again.
    pub transformations: Vec<Transformation>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RawTargets {
    Classes(Vec<u32>),
    Vectors(Vec<Vec<f64>>),
}

#[derive(Deserialize)]
struct RawFile {
    name: Option<String>,
    network: RawNetwork,
    loss: Loss,
    parameters: Vec<f64>,
    inputs: Vec<Vec<f64>>,
    targets: RawTargets,
    direction: Option<Vec<f64>>,
    #[serde(default)]
    transformations: Vec<Transformation>,
}

#[derive(Serialize)]
struct FileOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: &'a Option<String>,
    network: &'a Network,
    loss: Loss,
    parameters: &'a [f64],
    inputs: Vec<Vec<f64>>,
    targets: RawTargets,
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: &'a Option<Vec<f64>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    transformations: &'a [Transformation],
}

impl ProblemFile {
    /// Reads a problem file. Keys it does not know are left alone.
    ///
    /// # Errors
    /// `Parse` with line and column, and what [`Network::new`] and [`Problem::new`] say.
    pub fn from_json(json: &str) -> Result<Self> {
        ensure!(
            json.trim_start().starts_with('{'),
            Parse,
            "a problem file is one JSON object with network, loss, parameters, inputs and targets; this is something else"
        );
        let raw: RawFile = crate::json::read(json)?;
        let network: Network = raw.network.try_into()?;
        let width = network.input_len();
        if let Some(i) = raw.inputs.iter().position(|row| row.len() != width) {
            bail!(InvalidProblem, "input row {i} has {} values, but the network takes {width}", raw.inputs[i].len());
        }
        let targets = match raw.targets {
            RawTargets::Classes(labels) => Targets::Classes(labels),
            RawTargets::Vectors(rows) => {
                let outputs = network.output_len();
                if let Some(i) = rows.iter().position(|row| row.len() != outputs) {
                    bail!(
                        InvalidProblem,
                        "target row {i} has {} values, but the network has {outputs} outputs",
                        rows[i].len()
                    );
                }
                Targets::Vectors(rows.concat())
            }
        };
        let problem = Problem::new(network, raw.loss, raw.inputs.concat(), targets)?;
        problem.check_parameters(&raw.parameters)?;
        if let Some(direction) = &raw.direction {
            ensure!(
                direction.len() == raw.parameters.len(),
                InvalidParameters,
                "the direction has {} values, but the network {} parameters",
                direction.len(),
                raw.parameters.len()
            );
            ensure_finite("direction", direction)?;
        }
        Ok(Self {
            name: raw.name,
            problem,
            parameters: raw.parameters,
            direction: raw.direction,
            transformations: raw.transformations,
        })
    }

    /// The file as JSON, numbers written so that they read back the same.
    pub fn to_json(&self) -> String {
        let rows = |values: &[f64], width: usize| values.chunks(width).map(<[f64]>::to_vec).collect::<Vec<_>>();
        let network = self.problem.network();
        let out = FileOut {
            name: &self.name,
            network,
            loss: self.problem.loss(),
            parameters: &self.parameters,
            inputs: rows(&self.problem.inputs().to_f64(), network.input_len()),
            targets: match self.problem.targets() {
                Targets::Classes(labels) => RawTargets::Classes(labels.clone()),
                Targets::Vectors(values) => RawTargets::Vectors(rows(values, network.output_len())),
            },
            direction: &self.direction,
            transformations: &self.transformations,
        };
        serde_json::to_string(&out).expect("a problem of finite numbers has a JSON form")
    }
}
