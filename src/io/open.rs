//! Opening a model, whatever its files are.

use serde::Deserialize;
use serde_json::Value;

use super::format::{Content, Together, read_as};
use super::onnx::Asked;
use super::sort::are_data;
use super::{Arrays, File, Graph, GraphNode, Model, Operation, Slot, checkpoint, shards};
use crate::error::{Error, Result, bail, ensure};
use crate::memory::copied;
use crate::network::{Network, Preset};
use crate::problem::ProblemFile;

/// What files do not say of a model.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelOptions {
    /// Of weights without a graph: the network, as a preset's name or as its JSON.
    pub network: Option<Value>,
    /// Of weights that no network is named for, and of an ONNX file whose axes are open: the shape of one input.
    pub input: Option<Vec<usize>>,
    /// Of an ONNX file: the tensor that is the network's output; where nothing is said its only output, or its first where the others
    /// lie on the way to that.
    pub output: Option<String>,
    /// What becomes of batch normalisations.
    #[serde(default)]
    pub batch_norm: BatchNormChoice,
}

/// What becomes of batch normalisations with frozen statistics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchNormChoice {
    /// Folded into a neighbour where one takes it, unless the network that was named, or that weights alone were found to be, has scales
    /// there; else a scale.
    #[default]
    Fold,
    /// A scale, w x + b, each.
    Scale,
}

/// What was opened.
#[derive(Debug, Clone)]
pub struct OpenedModel {
    /// The network and its parameters.
    pub model: Model,
    /// What the format is called.
    pub format: &'static str,
    /// The data too, where the file is a problem of isoflat's own.
    pub problem: Option<Box<ProblemFile>>,
    /// The arrays that the weights came from, where they came without a graph.
    pub(super) arrays: Option<Arrays>,
    /// Which of the files has the weights.
    pub(super) file: usize,
}

/// Opens a model: one file, or several that belong together.
///
/// # Errors
/// `Parse` for what cannot be read, `InvalidNetwork` for what is no network that isoflat knows, with what would do instead;
/// `InvalidOption`.
pub fn open_model(files: &[File], options: &ModelOptions) -> Result<OpenedModel> {
    let named = options.network.as_ref().map(network_of).transpose()?;
    let asked = Asked { output: options.output.as_deref(), input: options.input.as_deref() };
    let Found { file, format, content, named } = found(files, named, asked)?;
    let is_scale = options.batch_norm == BatchNormChoice::Scale;
    let (graph, problem, arrays) = match content {
        Content::Graph(graph) => {
            ensure!(named.is_none(), InvalidOption, "{} says itself which network it is", files[file].name);
            (graph, None, None)
        }
        Content::Arrays(arrays) => {
            (checkpoint::graph(&arrays, named.as_ref(), options.input.as_deref())?, None, Some(arrays))
        }
        Content::Problem(problem) => {
            ensure!(named.is_none(), InvalidOption, "{} says itself which network it is", files[file].name);
            (of_network(problem.problem.network(), &problem.parameters)?, Some(problem), None)
        }
        Content::Network(_) | Content::Part => unreachable!("taken out above"),
    };
    if let Some(given) = &options.input {
        let values = |shape: &[usize]| shape.iter().fold(1, |values: usize, n| values.saturating_mul(*n));
        ensure!(
            values(given) == values(&graph.input),
            InvalidOption,
            "{}: its inputs are {:?}, not {given:?}",
            files[file].name,
            graph.input
        );
    }
    let of_file = |error: Error| Error::new(error.code, format!("{}: {}", files[file].name, error.message));
    let model = Model::new(if is_scale { kept(graph) } else { graph }).map_err(of_file)?;
    Ok(OpenedModel { model, format, problem, arrays, file })
}

/// Layers of weights without a graph, as their names and shapes tell them: a chain in the file's order, as a network's JSON, for
/// somebody who sets what weights do not tell; or the network that lies beside them. It need not fit, and is then no network yet; where
/// it does, [`open_model`] finds it too.
///
/// # Errors
/// As [`open_model`]; `InvalidOption` for files that say themselves which network they are.
pub fn propose_network(files: &[File], input: Option<&[usize]>) -> Result<Value> {
    let Found { file, content, named, .. } = found(files, None, Asked::default())?;
    if let Some(network) = named {
        return Ok(serde_json::to_value(&network)?);
    }
    let Content::Arrays(arrays) = content else {
        bail!(InvalidOption, "{} says itself which network it is", files[file].name)
    };
    checkpoint::draft(&arrays, input)
}

/// The one of several files that has weights.
struct Found {
    file: usize,
    format: &'static str,
    content: Content,
    /// The network, where somebody or a file names one.
    named: Option<Network>,
}

fn found(files: &[File], mut named: Option<Network>, asked: Asked) -> Result<Found> {
    ensure!(!files.is_empty(), InvalidOption, "no file was given");
    let mut found: Option<(usize, &'static str, Content)> = None;
    let together = Together::new(files);
    for (i, file) in files.iter().enumerate() {
        match read_as(&together, file, asked)? {
            (_, Content::Part) => {}
            (_, Content::Network(json)) => {
                ensure!(named.is_none(), InvalidOption, "{}: a network is given twice", file.name);
                named = Some(Network::from_json(&json)?);
            }
            (format, content) => {
                if matches!(content, Content::Arrays(_)) {
                    shards::ensure_whole(file)?;
                }
                if let Some((first, ..)) = found {
                    bail!(
                        InvalidOption,
                        "{} and {} are both models or weights: open one at a time",
                        files[first].name,
                        file.name
                    );
                }
                let content = match content {
                    Content::Arrays(arrays) => {
                        let of_file =
                            |error: Error| Error::new(error.code, format!("{}: {}", file.name, error.message));
                        Content::Arrays(checkpoint::prepared(arrays).map_err(of_file)?)
                    }
                    other => other,
                };
                found = Some((i, format, content));
            }
        }
    }
    let Some((file, format, content)) = found else {
        bail!(InvalidOption, "{}: there are no weights: add the file that has them", files[0].name)
    };
    if let (Content::Arrays(arrays), None) = (&content, &named) {
        ensure!(
            !are_data(format, arrays),
            InvalidNetwork,
            "{}: these are data, by their format or names, and no weights: {}. Open them as data, or say which network they are of",
            files[file].name,
            arrays.listed()
        );
    }
    Ok(Found { file, format, content, named })
}

/// A network by its preset's name or its JSON.
fn network_of(given: &Value) -> Result<Network> {
    match given {
        Value::String(text) if text.trim_start().starts_with('{') => Network::from_json(text),
        Value::String(name) => Ok(Preset::from_name(name)?.network()),
        other => Network::from_json(&other.to_string()),
    }
}

/// With every normalisation a scale.
fn kept(mut graph: Graph) -> Graph {
    for node in &mut graph.nodes {
        if let Operation::BatchNorm(norm) = &mut node.operation {
            norm.is_scale = true;
        }
    }
    graph
}

/// A network of isoflat's own as a graph whose weights have no places in another file.
fn of_network(network: &Network, parameters: &[f64]) -> Result<Graph> {
    let mut graph = Graph { input: network.input().to_vec(), ..Graph::default() };
    let mut places = network.layout().layers().iter().peekable();
    for (i, named) in network.named_layers().iter().enumerate() {
        let (mut weight, mut bias) = (None, None);
        if let Some(place) = places.next_if(|place| place.layer == i) {
            let slot = |range: &std::ops::Range<usize>| -> Result<Slot> {
                Ok(Slot { values: copied("parameters", &parameters[range.clone()])?, place: None })
            };
            weight = Some(slot(&place.weight)?);
            bias = place.bias.as_ref().map(slot).transpose()?;
        }
        let operation = Operation::Layer { layer: named.layer.clone(), weight, bias };
        graph.nodes.push(GraphNode { operation, name: named.name.clone(), from: named.from.clone() });
    }
    Ok(graph)
}
