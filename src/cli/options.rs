//! The options: one table for those who read words, and for those who want help.

use std::fmt::Display;
use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

use super::invocation::{Command, Invocation, OptimizerName, SaveAs};
use super::nearest::hint;
use crate::engine::gpu::Tune;
use crate::engine::{Backend, MOST_WORKERS, Precision};
use crate::error::{Result, bail, ensure};
use crate::measure::Measure;
use crate::network::Preset;
use crate::operator::OperatorKind;
use crate::problem::Loss;
use crate::report::Section;
use crate::space::{FixedValues, TreeValues};

/// An option.
pub(super) struct OptionRow {
    /// Its name, without dashes.
    pub name: &'static str,
    /// What it takes, for help; none for a flag.
    pub value: Option<&'static str>,
    /// The commands that have it; all that compute, where it is empty.
    pub of: &'static [Command],
    /// One line.
    pub says: &'static str,
    /// Takes it in. A flag's value is empty.
    pub set: fn(&mut Invocation, &str) -> Result<()>,
}

impl OptionRow {
    /// Does this command have it?
    pub fn is_of(&self, command: Command) -> bool {
        let computes = !matches!(command, Command::Help | Command::Version);
        computes && (self.of.is_empty() || self.of.contains(&command))
    }

    /// Does what is given again come on top of what is there?
    pub fn is_list(&self) -> bool {
        ["sections", "measures", "transformations", "data"].contains(&self.name)
    }
}

/// Those that need data.
const WITH_DATA: &[Command] = &[
    Command::Report,
    Command::Invariance,
    Command::Eigenvalues,
    Command::Landscape,
    Command::Train,
    Command::Convert,
    Command::Plan,
];
/// Those that have a device.
const ON_DEVICE: &[Command] =
    &[Command::Report, Command::Invariance, Command::Eigenvalues, Command::Landscape, Command::Train, Command::Plan];
/// Those whose work is long.
const COMPUTING: &[Command] =
    &[Command::Report, Command::Invariance, Command::Eigenvalues, Command::Landscape, Command::Train];

const fn row(
    name: &'static str,
    value: Option<&'static str>,
    of: &'static [Command],
    says: &'static str,
    set: fn(&mut Invocation, &str) -> Result<()>,
) -> OptionRow {
    OptionRow { name, value, of, says, set }
}

/// All of them: first a command's own, then what all have.
pub(super) const OPTIONS: &[OptionRow] = &[
    row(
        "sections",
        Some("NAME,…"),
        &[Command::Report],
        "only these parts: point, norms, petzka, gauss_newton, …",
        sections,
    ),
    row(
        "everything",
        None,
        &[Command::Report, Command::Invariance],
        "also what takes longest: densities and sharpness",
        |to, _| {
            to.report.everything = true;
            to.invariance.everything = true;
            Ok(())
        },
    ),
    row(
        "transformations",
        Some("NAME,…|JSON"),
        &[Command::Invariance, Command::Convert],
        "layerwise, nodewise, permutation (drawn by --seed), or as JSON; repeatable",
        transformations,
    ),
    row(
        "alpha",
        Some("FACTOR"),
        &[Command::Invariance, Command::Convert],
        "Dinh's rescaling: the first layer times this, the last divided",
        |to, v| {
            to.maps.alpha = Some(positive("alpha", v)?);
            Ok(())
        },
    ),
    row("measures", Some("KEY,…"), &[Command::Invariance], "only these measures, such as hessian.trace", |to, v| {
        for key in listed("measures", v)? {
            to.invariance.measures.push(chosen("measure", key, Measure::all().map(|measure| measure.key))?.into());
        }
        Ok(())
    }),
    row("nodes", Some("N"), &[Command::Plan], "ranks at most, each on a machine of its own (64)", |to, v| {
        to.plan.nodes = Some(count("nodes", v)?);
        Ok(())
    }),
    row("count", Some("N"), &[Command::Eigenvalues], "how many of the largest (10)", |to, v| {
        to.eigenvalues.count = Some(count("count", v)?);
        Ok(())
    }),
    row("lowest", None, &[Command::Eigenvalues], "as many of the smallest too", |to, _| {
        to.eigenvalues.lowest = true;
        Ok(())
    }),
    row(
        "operator",
        Some("NAME"),
        &[Command::Eigenvalues],
        "hessian, gauss_newton, riemannian.layerwise_flat, …; .layer_1 or .weights behind it for a part",
        operator,
    ),
    row("density", None, &[Command::Eigenvalues], "the density of the whole spectrum too", |to, _| {
        to.eigenvalues.density = true;
        Ok(())
    }),
    row(
        "directions",
        Some("NAME[,NAME]"),
        &[Command::Landscape],
        "one for a line, two for a plane: filter, layer, random, eigen, eigen:1 (filter,filter)",
        directions,
    ),
    row("points", Some("N"), &[Command::Landscape], "points along each direction (21, on a line 51)", |to, v| {
        to.landscape.points = Some(count("points", v)?);
        Ok(())
    }),
    row("extent", Some("LENGTH"), &[Command::Landscape], "how far it reaches on both sides (1)", |to, v| {
        to.landscape.extent = positive("extent", v)?;
        Ok(())
    }),
    row(
        "preset",
        Some("NAME|FILE.json"),
        &[Command::Train],
        "begin at random in this network, not in a model's weights",
        |to, v| {
            to.train.preset = Some(network(v)?);
            Ok(())
        },
    ),
    row("epochs", Some("N"), &[Command::Train], "passes over the data (10)", |to, v| {
        to.train.epochs = count("epochs", v)?;
        Ok(())
    }),
    row("optimizer", Some("NAME"), &[Command::Train], "sgd, momentum, adam (the default), adam_w", |to, v| {
        to.train.optimizer = match chosen("optimizer", v, ["sgd", "momentum", "adam", "adam_w"])? {
            "sgd" => OptimizerName::Sgd,
            "momentum" => OptimizerName::Momentum,
            "adam" => OptimizerName::Adam,
            _ => OptimizerName::AdamW,
        };
        Ok(())
    }),
    row("rate", Some("NUMBER"), &[Command::Train], "learning rate (0.001; for sgd and momentum 0.05)", |to, v| {
        to.train.rate = Some(positive("rate", v)?);
        Ok(())
    }),
    row("batch", Some("N"), &[Command::Train], "samples a step (64)", |to, v| {
        to.train.batch = count("batch", v)?;
        Ok(())
    }),
    row(
        "space",
        Some("NAME"),
        &[Command::Train, Command::Eigenvalues],
        "coordinates: weights, g_space, weight_fixing, weight_norm, batch_norm (γ and β of scales)",
        |to, v| {
            to.space = chosen("space", v, super::run::SPACES)?.into();
            Ok(())
        },
    ),
    row(
        "values",
        Some("keep|reparametrize|NUMBER"),
        &[Command::Train],
        "fixed weights of g_space and weight_fixing (1 with --preset, else keep)",
        |to, v| {
            to.train.values = Some(match v {
                "keep" => FixedValues::Keep,
                "reparametrize" => FixedValues::Reparametrize,
                _ => FixedValues::Set(settable("values", "keep, reparametrize", v)?),
            });
            Ok(())
        },
    ),
    row(
        "tree",
        Some("keep|NUMBER"),
        &[Command::Train],
        "where the weights of the g_space's tree begin (1 with --preset, else keep)",
        |to, v| {
            to.train.tree = Some(match v {
                "keep" => TreeValues::Keep,
                _ => TreeValues::Set(settable("tree", "keep", v)?),
            });
            Ok(())
        },
    ),
    row(
        "to",
        Some("FORMAT"),
        &[Command::Convert],
        "safetensors, npz, onnx, json or problem; else by the name in --out",
        |to, v| {
            let name = chosen("format", v, SaveAs::ALL.map(SaveAs::name))?;
            to.convert.to = SaveAs::ALL.into_iter().find(|format| format.name() == name);
            Ok(())
        },
    ),
    row("data", Some("FILE"), WITH_DATA, "a file or folder that is data, whatever its place; repeatable", |to, v| {
        to.data_files.push(v.into());
        Ok(())
    }),
    row("network", Some("NAME|FILE.json"), &[], "the network that weights without a graph are of", |to, v| {
        to.model.network = Some(network(v)?);
        Ok(())
    }),
    row("output-name", Some("TENSOR"), &[], "of an ONNX file of several outputs: the one that is meant", |to, v| {
        to.model.output = Some(v.into());
        Ok(())
    }),
    row("input", Some("1x28x28"), &[], "shape of one input, where files do not tell", |to, v| {
        to.model.input = Some(shape(v)?);
        Ok(())
    }),
    row(
        "batch-norm",
        Some("fold|scale"),
        &[],
        "fold batch normalisations into their layers (default), or keep scales",
        |to, v| {
            to.model.batch_norm_as_scale = chosen("batch-norm", v, ["fold", "scale"])? == "scale";
            Ok(())
        },
    ),
    row("loss", Some("NAME"), WITH_DATA, "cross_entropy or squared_error; else by the targets", |to, v| {
        to.data.loss = Some(Loss::from_name(chosen("loss", v, ["cross_entropy", "squared_error"])?)?);
        Ok(())
    }),
    row("samples", Some("N"), WITH_DATA, "the first so many samples (all)", |to, v| {
        to.data.samples = Some(count("samples", v)?);
        Ok(())
    }),
    row(
        "normalize",
        Some("NAME|M,…/D,…"),
        WITH_DATA,
        "a data set's usual one, or means and deviations of channels",
        |to, v| {
            super::data::normalization(v)?;
            to.data.normalize = Some(v.into());
            Ok(())
        },
    ),
    row("split", Some("test|train|validation"), WITH_DATA, "which part, where files have both (test)", |to, v| {
        to.data.split = Some(chosen("split", v, ["test", "train", "validation"])?.into());
        Ok(())
    }),
    row("inputs", Some("NAME"), WITH_DATA, "which array has the inputs", |to, v| {
        to.data.inputs = Some(v.into());
        Ok(())
    }),
    row("targets", Some("NAME"), WITH_DATA, "which array has the targets", |to, v| {
        to.data.targets = Some(v.into());
        Ok(())
    }),
    row(
        "backend",
        Some("auto|cpu|gpu"),
        ON_DEVICE,
        "what computes: auto takes a hardware GPU if there is one",
        |to, v| {
            to.device.backend = match chosen("backend", v, ["auto", "cpu", "gpu"])? {
                "cpu" => Backend::Cpu,
                "gpu" => Backend::Gpu,
                _ => Backend::Auto,
            };
            Ok(())
        },
    ),
    row("precision", Some("f64|f32"), ON_DEVICE, "number format of the CPU (f64); a GPU computes in f32", |to, v| {
        let is_double = chosen("precision", v, ["f64", "f32"])? == "f64";
        to.device.precision = Some(if is_double { Precision::F64 } else { Precision::F32 });
        Ok(())
    }),
    row("threads", Some("N"), ON_DEVICE, "threads of the CPU", |to, v| {
        to.device.threads = Some(match count("threads", v)? {
            threads @ ..=MOST_THREADS => threads,
            _ => return wrong("threads", &format!("at most {MOST_THREADS}"), v),
        });
        Ok(())
    }),
    row(
        "adapter",
        Some("N"),
        ON_DEVICE,
        "which GPU, from 0 (the fastest; the ranks of a machine take turns; the native program)",
        |to, v| {
            to.device.adapter = Some(whole("adapter", v, 0, usize::MAX)?);
            Ok(())
        },
    ),
    row(
        "tune",
        Some("auto|never|anew"),
        ON_DEVICE,
        "when a GPU's fastest tiles are found, in seconds: auto does once on hardware, and keeps them (the native program)",
        |to, v| {
            to.device.tune = match chosen("tune", v, ["auto", "never", "anew"])? {
                "never" => Tune::Never,
                "anew" => Tune::Anew,
                _ => Tune::Auto,
            };
            Ok(())
        },
    ),
    row("seed", Some("N"), &[], "of all that is drawn (0)", |to, v| {
        to.seed = whole("seed", v, 0, u64::MAX)?;
        Ok(())
    }),
    row("json", None, &[], "JSON on standard output instead of a table", |to, _| {
        to.output.json = true;
        Ok(())
    }),
    row("html", Some("FILE"), ON_DEVICE, "a page with figures too, in one file", |to, v| {
        to.output.html = Some(named("html", v)?);
        Ok(())
    }),
    row(
        "out",
        Some("FILE"),
        &[],
        "weights (train; convert, which else names them after the model) or the result's JSON into this file",
        |to, v| {
            to.output.out = Some(named("out", v)?);
            Ok(())
        },
    ),
    row(
        "checkpoint",
        Some("FOLDER"),
        COMPUTING,
        "keep what is found there, and go on from what is there already (the native program)",
        |to, v| {
            to.output.checkpoint = Some(named("checkpoint", v)?);
            Ok(())
        },
    ),
    row("checkpoint-every", Some("SECONDS"), COMPUTING, "how often (10)", |to, v| {
        to.output.checkpoint_every = Some(positive("checkpoint-every", v)?);
        Ok(())
    }),
    row("quiet", None, &[], "neither table nor progress", |to, _| {
        to.output.quiet = true;
        Ok(())
    }),
];

/// The parts of a list, of which there is one at least.
fn listed<'a>(name: &str, value: &'a str) -> Result<Vec<&'a str>> {
    let parts: Vec<&str> = value.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { wrong(name, "one name or several", value) } else { Ok(parts) }
}

/// One of these names.
fn chosen<'a>(what: &str, value: &str, names: impl IntoIterator<Item = &'a str>) -> Result<&'a str> {
    let names: Vec<&str> = names.into_iter().collect();
    if let Some(name) = names.iter().find(|name| **name == value) {
        return Ok(name);
    }
    // A long list is not read in an error; help has it.
    const MOST: usize = 10;
    let hint = hint(value, names.iter().copied(), "");
    let some = names.iter().take(MOST).copied().collect::<Vec<&str>>().join(", ");
    let more = if names.len() > MOST { ", …" } else { "" };
    bail!(InvalidOption, "there is no {what} \"{value}\"{hint} (there are {some}{more})")
}

/// Beyond these, threads wait for each other longer than they compute.
const MOST_THREADS: usize = if cfg!(target_arch = "wasm32") { MOST_WORKERS } else { 1024 };

fn wrong<T>(name: &str, expected: &str, value: &str) -> Result<T> {
    bail!(InvalidOption, "--{name} is {expected}, not \"{value}\"")
}

/// A file's name, or a folder's.
fn named(name: &str, value: &str) -> Result<String> {
    let kind = if name == "checkpoint" { "a folder's name" } else { "a file's name" };
    if value.is_empty() { wrong(name, kind, value) } else { Ok(value.into()) }
}

fn count(name: &str, value: &str) -> Result<usize> {
    whole(name, value, 1, usize::MAX)
}

fn whole<N>(name: &str, value: &str, least: N, most: N) -> Result<N>
where
    N: FromStr<Err = ParseIntError> + PartialOrd + Display,
{
    match value.parse::<N>() {
        Ok(number) if number >= least => Ok(number),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => wrong(name, &format!("at most {most}"), value),
        _ => wrong(name, &format!("a whole number of at least {least}"), value),
    }
}

fn positive(name: &str, value: &str) -> Result<f64> {
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => wrong(name, "a positive number", value),
    }
}

/// What weights that others are divided by can be set to.
fn settable(name: &str, words: &str, value: &str) -> Result<f64> {
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() && number != 0.0 => Ok(number),
        _ => wrong(name, &format!("{words} or a number that is not 0"), value),
    }
}

fn sections(to: &mut Invocation, value: &str) -> Result<()> {
    let sections = to.report.sections.get_or_insert_default();
    for name in listed("sections", value)? {
        let name = chosen("section", name, Section::ALL.map(Section::name))?;
        sections.extend(Section::ALL.into_iter().filter(|section| section.name() == name));
    }
    Ok(())
}

fn transformations(to: &mut Invocation, value: &str) -> Result<()> {
    let list = &mut to.maps.transformations;
    if value.trim_start().starts_with(['{', '[']) {
        let maps = super::run::maps::from_json(value)?;
        ensure!(!maps.is_empty(), InvalidOption, "--transformations names none: {value}");
        list.push(value.into());
        return Ok(());
    }
    for name in listed("transformations", value)? {
        list.push(chosen("transformation", name, super::run::maps::DRAWN)?.into());
    }
    Ok(())
}

fn operator(to: &mut Invocation, value: &str) -> Result<()> {
    if let Err(error) = OperatorKind::from_name(value) {
        // Of a part that there is not, how parts are called.
        let (whole, names) = (value.rsplit_once('.').map_or(value, |(whole, _)| whole), crate::operator::Whole::all());
        ensure!(!names.iter().any(|row| row.name == whole), InvalidOption, "{}", error.message);
        chosen("operator", value, names.iter().map(|row| row.name))?;
    }
    to.eigenvalues.operator = value.into();
    Ok(())
}

fn directions(to: &mut Invocation, value: &str) -> Result<()> {
    let names = listed("directions", value)?;
    ensure!(
        matches!(names.len(), 1 | 2),
        InvalidOption,
        "--directions names one direction or two, not {}",
        names.len()
    );
    for name in &names {
        super::run::direction(name, 0)?;
    }
    to.landscape.directions = names.into_iter().map(String::from).collect();
    Ok(())
}

/// A preset's name, or a file.
fn network(value: &str) -> Result<String> {
    if !value.ends_with(".json") {
        chosen("preset", value, Preset::ALL.map(Preset::name))?;
    }
    Ok(value.into())
}

/// `1x28x28`, `1×28×28`, `784` or `1,28,28`.
fn shape(value: &str) -> Result<Vec<usize>> {
    let sizes: Option<Vec<usize>> =
        value.split(['x', '×', ',']).map(|size| size.trim().parse().ok().filter(|&size| size > 0)).collect();
    match sizes {
        Some(sizes) if matches!(sizes.len(), 1 | 3) => Ok(sizes),
        _ => wrong("input", "a number of features, or channels, height and width, such as 1x28x28", value),
    }
}
