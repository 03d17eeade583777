//! The thesis' experiments: which methods each compares, and at which learning rates.

use isoflat::network::Preset;
use isoflat::space::{Biases, FixedChoice, FixedValues, SpaceKind, TreeValues};
use isoflat::train::Optimizer;

use super::images::DataSet;

/// A row of an experiment's table.
pub struct Method {
    pub name: &'static str,
    pub kind: SpaceKind,
    pub optimizer: fn(f64) -> Optimizer,
}

/// What is compared together.
pub struct Experiment {
    /// Asks for it; nothing does for the first.
    pub option: Option<&'static str>,
    /// Ends the name of its results.
    pub suffix: &'static str,
    pub methods: &'static [Method],
    pub rates: &'static [f64],
    /// If nobody says how many: as docs/results have them, of MNIST and of CIFAR-10.
    epochs: [usize; 2],
}

pub const GRID: &str = "--grid";
pub const DEFECTS: &str = "--defects";

const RATES: [f64; 5] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5];
/// Figure 4.3's.
const HIGH_AND_LOW: [f64; 2] = [0.05, 0.0005];

const fn all(option: &'static str, suffix: &'static str, methods: &'static [Method], epochs: [usize; 2]) -> Experiment {
    Experiment { option: Some(option), suffix, methods, rates: &RATES, epochs }
}

pub static EXPERIMENTS: [Experiment; 6] = [
    Experiment { option: None, suffix: "", methods: &SPACES, rates: &RATES, epochs: [20, 5] },
    all(DEFECTS, "-adam", &ANEW, [20, 5]),
    Experiment {
        option: Some("--low-high"),
        suffix: "-low-high",
        methods: &SIX,
        rates: &HIGH_AND_LOW,
        epochs: [20, 5],
    },
    all("--kept", "-kept", &KEPT, [5, 5]),
    all(GRID, "-grid", &VALUES, [5, 2]),
    all("--reparametrized", "-reparametrized", &REPARAMETRIZED, [5, 5]),
];

impl Experiment {
    pub fn epochs(&self, set: DataSet) -> usize {
        match set {
            DataSet::Mnist => self.epochs[0],
            DataSet::Cifar10 => self.epochs[1],
        }
    }
}

/// What is trained, without biases.
pub fn preset(set: DataSet) -> Preset {
    match set {
        DataSet::Mnist => Preset::StraightMnist,
        DataSet::Cifar10 => Preset::StraightCifar10,
    }
}

const fn g_space(values: FixedValues, tree: TreeValues) -> SpaceKind {
    SpaceKind::GSpace { choice: FixedChoice::Diagonal, values, tree, biases: Biases::Appended }
}

const fn fixed(values: FixedValues) -> SpaceKind {
    SpaceKind::WeightFixing { choice: FixedChoice::Diagonal, values }
}

const fn sgd(name: &'static str, kind: SpaceKind) -> Method {
    Method { name, kind, optimizer: Optimizer::sgd }
}

const fn adam(name: &'static str, kind: SpaceKind) -> Method {
    Method { name, kind, optimizer: Optimizer::adam }
}

const ONES: FixedValues = FixedValues::Set(1.0);

/// With the whole skeleton at 1, as the author's code begins.
const G_SPACE: SpaceKind = g_space(ONES, TreeValues::Set(1.0));
/// Fixed weights of 1 alone, as one may read the text.
const G_SPACE_AS_DRAWN: SpaceKind = g_space(ONES, TreeValues::Keep);
const FIXED: SpaceKind = fixed(ONES);

static SPACES: [Method; 4] = [
    sgd("SGD", SpaceKind::Weights),
    sgd("G-SGD", G_SPACE),
    sgd("G-SGD, w_j as drawn", G_SPACE_AS_DRAWN),
    sgd("Fixed SGD", FIXED),
];

/// The published code makes Adam anew at every step in the G-space. Its other defect, that it takes fixed weights for 1 whatever they
/// are, is none at fixed weights of 1.
static ANEW: [Method; 4] = [
    adam("Adam", SpaceKind::Weights),
    adam("G-Adam", G_SPACE),
    Method { name: "G-Adam, anew at every step", kind: G_SPACE, optimizer: adam_anew },
    adam("Fixed Adam", FIXED),
];

/// At Adam's first step the means are the gradient and its square, whatever their decays: g / (|g| + ε), the sign. So at every step
/// of an Adam that forgets at once.
fn adam_anew(learning_rate: f64) -> Optimizer {
    Optimizer::Adam { learning_rate, beta1: 0.0, beta2: 0.0, epsilon: 1e-8 }
}

/// As the lab has them under *Low and high*.
static SIX: [Method; 6] = [
    sgd("SGD", SpaceKind::Weights),
    sgd("G-SGD", G_SPACE),
    sgd("Fixed SGD", FIXED),
    adam("Adam", SpaceKind::Weights),
    adam("G-Adam", G_SPACE),
    adam("Fixed Adam", FIXED),
];

/// Setting fixed weights to 1 changes the function that training begins with; kept as they are drawn, nothing but the symmetry is gone.
static KEPT: [Method; 5] = [
    sgd("SGD", SpaceKind::Weights),
    sgd("G-SGD", G_SPACE),
    sgd("G-SGD, kept", g_space(FixedValues::Keep, TreeValues::Keep)),
    sgd("Fixed SGD", FIXED),
    sgd("Fixed SGD, kept", fixed(FixedValues::Keep)),
];

const fn set_to(name: &'static str, value: f64) -> Method {
    sgd(name, fixed(FixedValues::Set(value)))
}

static VALUES: [Method; 6] = [
    set_to("Fixed SGD at 0.1", 0.1),
    set_to("Fixed SGD at 0.3", 0.3),
    set_to("Fixed SGD at 0.6", 0.6),
    set_to("Fixed SGD at 1", 1.0),
    set_to("Fixed SGD at 1.7", 1.7),
    set_to("Fixed SGD at 3", 3.0),
];

/// Section 4.2.2: the network is rescaled until the fixed weights are ±1, which leaves its function as it is. The thesis' advanced choice
/// is that of least distance to ±1; ours needs the least rescaling.
static REPARAMETRIZED: [Method; 4] = [
    sgd("SGD", SpaceKind::Weights),
    reparametrized("Fixed SGD, rescaled", FixedChoice::Diagonal),
    reparametrized("Fixed SGD, rescaled, least distance", FixedChoice::HungarianDistance),
    reparametrized("Fixed SGD, rescaled, least factors", FixedChoice::Hungarian),
];

const fn reparametrized(name: &'static str, choice: FixedChoice) -> Method {
    sgd(name, SpaceKind::WeightFixing { choice, values: FixedValues::Reparametrize })
}
