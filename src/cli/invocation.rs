//! What was asked for, as plain data: JavaScript gets it as JSON.

use serde::{Deserialize, Serialize};

use crate::engine::gpu::Tune;
use crate::engine::{Backend, Precision};
use crate::problem::Loss;
use crate::report::Section;
use crate::space::{FixedValues, TreeValues};

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// The measures of a point.
    Report,
    /// Measures before and after rescaling.
    Invariance,
    /// The ends of a spectrum.
    Eigenvalues,
    /// The loss around the point.
    Landscape,
    /// Weights in another format.
    Convert,
    /// Training.
    Train,
    /// What work takes on many machines.
    Plan,
    /// What there is.
    Help,
    /// The version.
    Version,
}

impl Command {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Report,
        Self::Invariance,
        Self::Eigenvalues,
        Self::Landscape,
        Self::Train,
        Self::Convert,
        Self::Plan,
        Self::Help,
        Self::Version,
    ];

    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Invariance => "invariance",
            Self::Eigenvalues => "eigenvalues",
            Self::Landscape => "landscape",
            Self::Convert => "convert",
            Self::Train => "train",
            Self::Plan => "plan",
            Self::Help => "help",
            Self::Version => "version",
        }
    }

    /// The command of this word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }
}

/// A command with its files and options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Invocation {
    /// What to do.
    pub command: Command,
    /// Of `help`: of which command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<Command>,
    /// Files and folders in their order: the model's first, then data.
    #[serde(default)]
    pub files: Vec<String>,
    /// Files and folders that are data, whatever their place.
    #[serde(default)]
    pub data_files: Vec<String>,
    /// How the model is opened.
    #[serde(default)]
    pub model: ModelArguments,
    /// How the data are.
    #[serde(default)]
    pub data: DataArguments,
    /// What computes.
    #[serde(default)]
    pub device: DeviceArguments,
    /// Where results go.
    #[serde(default)]
    pub output: OutputArguments,
    /// Of all that is drawn.
    #[serde(default)]
    pub seed: u64,
    /// Transformations of the weights.
    #[serde(default)]
    pub maps: MapArguments,
    /// Of `report`.
    #[serde(default)]
    pub report: ReportArguments,
    /// Of `invariance`.
    #[serde(default)]
    pub invariance: InvarianceArguments,
    /// The coordinates in which `train` trains and `eigenvalues` has its matrix.
    #[serde(default = "weights")]
    pub space: String,
    /// Of `eigenvalues`.
    #[serde(default)]
    pub eigenvalues: EigenvalueArguments,
    /// Of `landscape`.
    #[serde(default)]
    pub landscape: LandscapeArguments,
    /// Of `train`.
    #[serde(default)]
    pub train: TrainArguments,
    /// Of `convert`.
    #[serde(default)]
    pub convert: ConvertArguments,
    /// Of `plan`.
    #[serde(default)]
    pub plan: PlanArguments,
}

impl Invocation {
    /// A command without files and options.
    pub fn new(command: Command) -> Self {
        Self {
            command,
            topic: None,
            files: Vec::new(),
            data_files: Vec::new(),
            model: ModelArguments::default(),
            data: DataArguments::default(),
            device: DeviceArguments::default(),
            output: OutputArguments::default(),
            seed: 0,
            maps: MapArguments::default(),
            report: ReportArguments::default(),
            invariance: InvarianceArguments::default(),
            space: weights(),
            eigenvalues: EigenvalueArguments::default(),
            landscape: LandscapeArguments::default(),
            train: TrainArguments::default(),
            convert: ConvertArguments::default(),
            plan: PlanArguments::default(),
        }
    }

    /// The files and folders that are to be read.
    pub fn reads(&self) -> Vec<&str> {
        let networks = [&self.model.network, &self.train.preset];
        let networks = networks.into_iter().flatten().filter(|name| name.ends_with(".json"));
        self.files.iter().chain(&self.data_files).chain(networks).map(String::as_str).collect()
    }
}

/// How the model is opened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ModelArguments {
    /// A preset's name, or a file with a network's JSON: what weights without a graph are of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// Shape of one input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Vec<usize>>,
    /// Of an ONNX file: the tensor that is the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Batch normalisations as scales, and not folded.
    pub batch_norm_as_scale: bool,
}

/// How the data are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct DataArguments {
    /// The first so many samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<usize>,
    /// What is done to inputs: a name, or means and deviations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalize: Option<String>,
    /// `test`, `train` or `validation`, where the files have several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Which array has the inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// Which array has the targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<String>,
    /// The loss of one sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
}

/// What computes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct DeviceArguments {
    /// `auto`, `cpu` or `gpu`.
    #[serde(with = "backend")]
    pub backend: Backend,
    /// Number format; on a CPU f64 where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// Threads of the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// Which GPU, of several of the best kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<usize>,
    /// When a GPU's tiles are measured.
    pub tune: Tune,
}

impl DeviceArguments {
    /// The backend to ask for: who wants double precision wants the CPU.
    pub fn backend(&self) -> Backend {
        match (self.backend, self.precision) {
            (Backend::Auto, Some(Precision::F64)) => Backend::Cpu,
            (backend, _) => backend,
        }
    }
}

/// Backends by their names.
mod backend {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::engine::Backend;

    pub fn serialize<S: Serializer>(backend: &Backend, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(match backend {
            Backend::Auto => "auto",
            Backend::Cpu => "cpu",
            Backend::Gpu => "gpu",
        })
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Backend, D::Error> {
        match String::deserialize(from)?.as_str() {
            "auto" => Ok(Backend::Auto),
            "cpu" => Ok(Backend::Cpu),
            "gpu" => Ok(Backend::Gpu),
            other => Err(serde::de::Error::custom(format!("no backend is named {other:?}"))),
        }
    }
}

/// Where results go.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct OutputArguments {
    /// JSON instead of a table.
    pub json: bool,
    /// A page, into this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// What was made, into this file: weights, or the result's JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    /// Neither table nor progress.
    pub quiet: bool,
    /// What was found, into this folder as it is found, and what is there already is not computed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// Seconds between two of its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_every: Option<f64>,
}

/// Of `report`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ReportArguments {
    /// These alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sections: Option<Vec<Section>>,
    /// Also those that take longest.
    pub everything: bool,
}

/// Of `invariance`, which compares each, and of `convert`, which applies them one after the other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct MapArguments {
    /// Names, or JSON; each is one transformation.
    pub transformations: Vec<String>,
    /// The factor of one more: Dinh's α-scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
}

/// Of `invariance`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct InvarianceArguments {
    /// Keys of measures.
    pub measures: Vec<String>,
    /// Also measures that take longest.
    pub everything: bool,
}

/// The parameters themselves.
fn weights() -> String {
    "weights".into()
}

/// Of `eigenvalues`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct EigenvalueArguments {
    /// The operator's name.
    pub operator: String,
    /// How many of the largest; 10, or all there are, where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// As many of the smallest too.
    pub lowest: bool,
    /// The spectrum's density too.
    pub density: bool,
}

impl Default for EigenvalueArguments {
    fn default() -> Self {
        Self { operator: "hessian".into(), count: None, lowest: false, density: false }
    }
}

/// Of `landscape`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct LandscapeArguments {
    /// One for a line, two for a plane: `filter`, `layer`, `random`, `eigen`, `eigen:1`.
    pub directions: Vec<String>,
    /// Points along each; 21 in a plane, 51 on a line, where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<usize>,
    /// How far it reaches on both sides of the parameters.
    pub extent: f64,
}

impl Default for LandscapeArguments {
    fn default() -> Self {
        Self { directions: vec!["filter".into(), "filter".into()], points: None, extent: 1.0 }
    }
}

/// The rules of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptimizerName {
    /// Stochastic gradient descent.
    Sgd,
    /// The same with momentum 0.9.
    Momentum,
    /// Adam.
    #[default]
    Adam,
    /// Adam with decoupled weight decay.
    AdamW,
}

/// Of `train`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct TrainArguments {
    /// A preset, or a file with a network's JSON, to begin at random; without it a model's weights are where it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Passes over the data.
    pub epochs: usize,
    /// The rule of a step.
    pub optimizer: OptimizerName,
    /// Learning rate; the optimiser's own where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Samples a step.
    pub batch: usize,
    /// What the space's fixed weights are; where nothing is said, 1 of a network that begins at random, and else as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<FixedValues>,
    /// Where the weights of the G-space's tree begin; where nothing is said, 1 of a network that begins at random, and else as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeValues>,
}

impl Default for TrainArguments {
    fn default() -> Self {
        let optimizer = OptimizerName::default();
        Self { preset: None, epochs: 10, optimizer, rate: None, batch: 64, values: None, tree: None }
    }
}

/// What weights are written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SaveAs {
    /// safetensors.
    Safetensors,
    /// NumPy's.
    Npz,
    /// The ONNX file with these weights.
    Onnx,
    /// isoflat's own: a problem file, or without data the network alone.
    Json,
    /// The problem file as safetensors.
    Problem,
}

impl SaveAs {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Safetensors, Self::Npz, Self::Onnx, Self::Json, Self::Problem];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Safetensors => "safetensors",
            Self::Npz => "npz",
            Self::Onnx => "onnx",
            Self::Json => "json",
            Self::Problem => "problem",
        }
    }

    /// What a file's name ends with.
    pub fn extension(self) -> &'static str {
        if self == Self::Problem { "problem.safetensors" } else { self.name() }
    }

    /// The one that a file's name says.
    pub fn of_name(name: &str) -> Option<Self> {
        // A problem's ends as that of weights does, with more before it.
        Self::ALL.into_iter().rev().find(|format| name.ends_with(&format!(".{}", format.extension())))
    }
}

/// Of `convert`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ConvertArguments {
    /// The format; that of the name in `out` where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<SaveAs>,
}

/// Of `plan`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct PlanArguments {
    /// Ranks at most, each on a machine of its own; 64 where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<usize>,
}
