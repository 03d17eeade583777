//! A problem: network, loss and data. What everything is asked of. Also the problem file, its JSON form.

mod json;

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use self::json::{FileOut, Numbers, RawFile, RawTargets, RowsOut};
use crate::error::{Result, bail, ensure, ensure_finite};
use crate::memory::{collected, copied};
use crate::network::Network;
use crate::symmetry::Transformation;

/// The most samples of a problem: what 32-bit numbers of samples tell apart.
const MAX_SAMPLES: usize = 1 << 31;

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

    /// The first `count` of them in single precision.
    ///
    /// # Errors
    /// `TooLarge`.
    pub(crate) fn first_in_f32(&self, count: usize) -> Result<Vec<f32>> {
        const WHAT: &str = "a copy of the inputs";
        match self {
            Self::F32(v) => copied(WHAT, &v[..count]),
            Self::F64(v) => collected(WHAT, v[..count].iter().map(|&x| x as f32)),
        }
    }

    /// The first `count` of them in double precision.
    ///
    /// # Errors
    /// `TooLarge`.
    pub(crate) fn first_in_f64(&self, count: usize) -> Result<Vec<f64>> {
        const WHAT: &str = "a copy of the inputs";
        match self {
            Self::F32(v) => collected(WHAT, v[..count].iter().map(|&x| f64::from(x))),
            Self::F64(v) => copied(WHAT, &v[..count]),
        }
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

impl Targets {
    /// The loss that such targets are for.
    pub fn usual_loss(&self) -> Loss {
        match self {
            Self::Classes(_) => Loss::CrossEntropy,
            Self::Vectors(_) => Loss::SquaredError,
        }
    }
}

/// Inputs and targets of all samples, however few of them a problem is over.
#[derive(Debug)]
struct Data {
    inputs: Values,
    targets: Targets,
    samples: usize,
}

/// Network, loss and data, checked against each other. Cheap to clone and to cut short: the parts are shared.
#[derive(Debug, Clone)]
pub struct Problem {
    network: Rc<Network>,
    loss: Loss,
    data: Rc<Data>,
    samples: usize,
    /// The first samples' data by themselves, where they are fewer than there are and somebody has asked.
    part: OnceCell<Rc<Data>>,
    /// Where only a share of the samples is here: the number of its first one, and how many there are in all.
    share: Option<(usize, usize)>,
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
        ensure!(
            samples <= MAX_SAMPLES,
            TooLarge,
            "the problem has {samples} samples, but isoflat takes {MAX_SAMPLES} at most"
        );
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
                let needed = samples as u64 * classes as u64;
                ensure!(
                    values.len() as u64 == needed,
                    InvalidProblem,
                    "the targets have {} values, but {samples} samples of {classes} outputs need {needed}",
                    values.len()
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
        let data = Rc::new(Data { inputs, targets, samples });
        Ok(Self { network: Rc::new(network), loss, data, samples, part: OnceCell::new(), share: None })
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The loss of one sample.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// Inputs, samples × input_len, row-major. Of a problem that [`Problem::first`] made they are copied when first asked for. Of a
    /// [`Problem::share`] they are those that are here.
    pub fn inputs(&self) -> &Values {
        &self.here().inputs
    }

    /// Targets, a sample each; copied likewise.
    pub fn targets(&self) -> &Targets {
        &self.here().targets
    }

    /// The inputs of these samples and perhaps of more behind them: nothing is copied.
    pub(crate) fn shared_inputs(&self) -> &Values {
        &self.data.inputs
    }

    /// The targets likewise.
    pub(crate) fn shared_targets(&self) -> &Targets {
        &self.data.targets
    }

    fn here(&self) -> &Data {
        if self.samples == self.data.samples {
            return &self.data;
        }
        self.part.get_or_init(|| {
            let (width, outputs) = (self.network.input_len(), self.network.output_len());
            let inputs = match &self.data.inputs {
                Values::F32(v) => Values::F32(v[..self.samples * width].to_vec()),
                Values::F64(v) => Values::F64(v[..self.samples * width].to_vec()),
            };
            let targets = match &self.data.targets {
                Targets::Classes(v) => Targets::Classes(v[..self.samples].to_vec()),
                Targets::Vectors(v) => Targets::Vectors(v[..self.samples * outputs].to_vec()),
            };
            Rc::new(Data { inputs, targets, samples: self.samples })
        })
    }

    /// The same targets for another network, with these inputs.
    ///
    /// # Errors
    /// As [`Problem::new`]; `TooLarge` where another copy of the targets does not fit in memory.
    pub(crate) fn with_inputs(&self, network: Network, inputs: Values) -> Result<Self> {
        const WHAT: &str = "a copy of the targets";
        let targets = match &self.data.targets {
            Targets::Classes(v) => Targets::Classes(copied(WHAT, &v[..self.samples])?),
            Targets::Vectors(v) => Targets::Vectors(copied(WHAT, &v[..self.samples * self.network.output_len()])?),
        };
        Self::new(network, self.loss, inputs, targets)
    }

    /// Number of samples N, wherever they are.
    pub fn samples(&self) -> usize {
        self.share.map_or(self.samples, |(_, all)| all)
    }

    /// Which of the samples are here: all of them, but of a [`Problem::share`] those of the share.
    pub fn held(&self) -> Range<usize> {
        let first = self.share.map_or(0, |(first, _)| first);
        first..first + self.samples
    }

    /// Bytes that a sample's inputs and target take.
    pub(crate) fn sample_bytes(&self) -> u64 {
        let inputs = self.network.input_len() * if matches!(self.inputs(), Values::F32(_)) { 4 } else { 8 };
        let target = match self.targets() {
            Targets::Classes(_) => 4,
            Targets::Vectors(_) => 8 * self.network.output_len(),
        };
        (inputs + target) as u64
    }

    /// The problem over the first `samples` samples (at least one), or over all if there are fewer. It shares this one's data. Of a
    /// share they are the first of those that are here.
    pub fn first(&self, samples: usize) -> Self {
        let samples = samples.clamp(1, self.samples);
        Self { samples, part: OnceCell::new(), share: None, ..self.clone() }
    }

    /// The same problem, of which only these samples' data are here: others have the rest, and an engine needs them all
    /// ([`crate::engine::Device::with_ranks`]).
    ///
    /// # Errors
    /// `InvalidProblem` for no samples, or some that are not here; `TooLarge`.
    pub fn share(&self, samples: Range<usize>) -> Result<Self> {
        const WHAT: &str = "a share of the data";
        let held = self.held();
        ensure!(
            held.start <= samples.start && samples.start < samples.end && samples.end <= held.end,
            InvalidProblem,
            "samples {} to {} are no share of the samples {} to {}",
            samples.start,
            samples.end,
            held.start,
            held.end
        );
        let (width, outputs) = (self.network.input_len(), self.network.output_len());
        let here = samples.start - held.start..samples.end - held.start;
        let values = |width: usize| width * here.start..width * here.end;
        let inputs = match &self.data.inputs {
            Values::F32(v) => Values::F32(copied(WHAT, &v[values(width)])?),
            Values::F64(v) => Values::F64(copied(WHAT, &v[values(width)])?),
        };
        let targets = match &self.data.targets {
            Targets::Classes(v) => Targets::Classes(copied(WHAT, &v[values(1)])?),
            Targets::Vectors(v) => Targets::Vectors(copied(WHAT, &v[values(outputs)])?),
        };
        let data = Rc::new(Data { inputs, targets, samples: here.len() });
        let share = Some((samples.start, self.samples()));
        Ok(Self { data, samples: here.len(), part: OnceCell::new(), share, ..self.clone() })
    }

    /// These samples as a share of so many, of which the first one here is number `first`: what [`Problem::share`] gives, of a problem of
    /// which the others' data were never here.
    ///
    /// # Errors
    /// `InvalidProblem` where so many are not there, or this is a share already; `TooLarge` for more samples than isoflat takes.
    pub fn as_share(&self, first: usize, samples: usize) -> Result<Self> {
        ensure!(self.share.is_none(), InvalidProblem, "these samples are a share already");
        let end = first.checked_add(self.samples).filter(|&end| end <= samples);
        ensure!(
            end.is_some(),
            InvalidProblem,
            "{} samples from number {first} on are no share of {samples}",
            self.samples
        );
        ensure!(
            samples <= MAX_SAMPLES,
            TooLarge,
            "the problem has {samples} samples, but isoflat takes {MAX_SAMPLES} at most"
        );
        Ok(Self { share: Some((first, samples)), ..self.clone() })
    }

    /// The samples that are here, as a problem of their own. It shares this one's data.
    pub(crate) fn own(&self) -> Self {
        Self { share: None, ..self.clone() }
    }

    /// Fails where samples are elsewhere.
    ///
    /// # Errors
    /// `InvalidProblem`.
    pub(crate) fn ensure_whole(&self) -> Result<()> {
        let held = self.held();
        ensure!(
            held.len() == self.samples(),
            InvalidProblem,
            "only samples {} to {} of {} are here",
            held.start,
            held.end,
            self.samples()
        );
        Ok(())
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
        let raw: RawFile = json::read(json)?;
        let network: Network = raw.network.try_into()?;
        let inputs = raw.inputs.flat(network.input_len(), |i, found, width| {
            format!("input row {i} has {found} values, but the network takes {width}")
        })?;
        let targets = match raw.targets {
            RawTargets::Classes(labels) => Targets::Classes(labels),
            RawTargets::Vectors(rows) => Targets::Vectors(rows.flat(network.output_len(), |i, found, outputs| {
                format!("target row {i} has {found} values, but the network has {outputs} outputs")
            })?),
        };
        let problem = Problem::new(network, raw.loss, inputs, targets)?;
        problem.check_parameters(&raw.parameters.0)?;
        let parameters = raw.parameters.0;
        let direction = raw.direction.map(|Numbers(direction)| direction);
        if let Some(direction) = &direction {
            ensure!(
                direction.len() == parameters.len(),
                InvalidParameters,
                "the direction has {} values, but the network {} parameters",
                direction.len(),
                parameters.len()
            );
            ensure_finite("direction", direction)?;
        }
        Ok(Self { name: raw.name, problem, parameters, direction, transformations: raw.transformations })
    }

    /// The file as JSON, numbers written so that they read back the same.
    ///
    /// # Panics
    /// Where the text does not fit in memory, or of a [`Problem::share`]: [`ProblemFile::try_to_json`] does not.
    pub fn to_json(&self) -> String {
        self.try_to_json().expect("a problem of finite numbers has a JSON form that fits in memory")
    }

    /// The file as JSON.
    ///
    /// # Errors
    /// `TooLarge` where the text does not fit in memory; `InvalidProblem` where only a share of the samples is here.
    pub fn try_to_json(&self) -> Result<String> {
        self.problem.ensure_whole()?;
        let network = self.problem.network();
        let samples = self.problem.samples();
        json::write(&FileOut {
            name: &self.name,
            network,
            loss: self.problem.loss(),
            parameters: &self.parameters,
            inputs: match self.problem.shared_inputs() {
                Values::F32(v) => RowsOut::F32(&v[..samples * network.input_len()], network.input_len()),
                Values::F64(v) => RowsOut::F64(&v[..samples * network.input_len()], network.input_len()),
            },
            targets: match self.problem.shared_targets() {
                Targets::Classes(v) => RowsOut::Classes(&v[..samples]),
                Targets::Vectors(v) => RowsOut::F64(&v[..samples * network.output_len()], network.output_len()),
            },
            direction: &self.direction,
            transformations: &self.transformations,
        })
    }
}
