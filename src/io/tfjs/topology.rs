//! `modelTopology`: which layers there are, and which read which. Models within models are laid open; what remains is a list of
//! calls of layers, each after those that it reads.

use std::collections::HashMap;

use serde_json::Value;

use super::config::{input_shape, items};
use super::references::{Point, ensure_plain, points, tensors};
use crate::error::{Error, ErrorCode, Result, bail, ensure};

/// Models within models that are followed: a stack is finite.
const DEEPEST: usize = 16;

/// Layers that are looked at, those of a model within a model at every use of it.
const MOST: usize = 1 << 18;

/// The longest name of a layer or a class, in bytes: names are put together and repeated.
const LONGEST: usize = 256;

/// A layer at work.
pub(super) struct Call<'a> {
    /// What kind of layer it is.
    pub class: &'a str,
    /// Its name, by which the manifest knows its weights.
    pub name: &'a str,
    /// What messages call it.
    pub what: String,
    /// Its configuration.
    pub config: Option<&'a Value>,
    /// What it reads: 0 is the input, n + 1 what call n gives.
    pub reads: Vec<usize>,
}

/// A model's layers.
pub(super) struct Topology<'a> {
    /// Shape of one input in the file.
    pub input: Vec<usize>,
    /// Calls, each after those that it reads. All of them are needed for the output.
    pub calls: Vec<Call<'a>>,
    /// What the model gives, numbered as in [`Call::reads`].
    pub output: usize,
}

impl<'a> Topology<'a> {
    /// Of `modelTopology`, with or without `model_config` around the model.
    ///
    /// # Errors
    /// `Parse` for what is no topology; `InvalidNetwork` for several inputs or outputs.
    pub fn new(topology: &'a Value) -> Result<Self> {
        let model = topology.get("model_config").filter(|model| !model.is_null()).unwrap_or(topology);
        let model = Model::new("the model", model)?;
        let mut walk = Walk { calls: Vec::new(), seen: 0 };
        let input = model.input_shape(0)?;
        let output = walk.model(&model, "", &[0], 0)?;
        Ok(Self { input, calls: walk.calls, output })
    }
}

/// A model, or a model that is a layer of another.
struct Model<'a> {
    what: String,
    layers: Vec<&'a Value>,
    /// A functional model's inputs and outputs; none of a chain.
    ends: Option<[Vec<Point<'a>>; 2]>,
    /// A chain's, where it keeps the shape for itself.
    build_input_shape: Option<&'a Value>,
}

impl<'a> Model<'a> {
    fn new(what: &str, model: &'a Value) -> Result<Self> {
        let class = model.get("class_name").and_then(Value::as_str);
        let config = model.get("config");
        let list = |key: &str| config.and_then(|config| config.get(key)).and_then(items);
        // The oldest chains are nothing but their layers.
        let layers = list("layers").or_else(|| config.and_then(items));
        let (Some(class), Some(layers)) = (class, layers) else {
            bail!(Parse, "{what}: modelTopology has no class_name, or no config with layers")
        };
        let ends = match class {
            "Sequential" => None,
            "Functional" | "Model" => {
                let points = |key: &str| -> Result<Vec<Point<'a>>> {
                    let value = config.and_then(|config| config.get(key));
                    value.map_or_else(|| bail!(Parse, "{what} has no {key}"), |value| points(what, value))
                };
                Some([points("input_layers")?, points("output_layers")?])
            }
            _ => bail!(
                InvalidNetwork,
                "{what} is a {class}, whose layers are in a program: isoflat reads Sequential and Functional models"
            ),
        };
        let build_input_shape = config.and_then(|config| config.get("build_input_shape"));
        Ok(Self { what: what.into(), layers, ends, build_input_shape })
    }

    /// The shape of its one input.
    fn input_shape(&self, depth: usize) -> Result<Vec<usize>> {
        ensure!(depth <= DEEPEST, TooLarge, "there are models within models, more than {DEEPEST} deep");
        let first = match &self.ends {
            None => self.layers.first().copied(),
            Some([inputs, _]) => {
                ensure!(
                    inputs.len() == 1,
                    InvalidNetwork,
                    "{} has {} inputs, but isoflat's networks have one",
                    self.what,
                    inputs.len()
                );
                inputs.first().and_then(|input| self.layers.iter().copied().find(|layer| name_of(layer) == input.layer))
            }
        };
        let Some(first) = first else { bail!(Parse, "{} has no layer that is its input", self.what) };
        let keys = ["batch_input_shape", "batch_shape"];
        let own = keys.iter().find_map(|key| first.get("config")?.get(key)).filter(|value| !value.is_null());
        if let Some(value) = own.or(self.build_input_shape.filter(|value| !value.is_null())) {
            return input_shape(&self.what, value);
        }
        if is_model(first) {
            return Model::new(&title(name_of(first), first), first)?.input_shape(depth + 1);
        }
        bail!(
            InvalidNetwork,
            "{} does not say what shape its inputs have: build it with an input shape before it is saved",
            self.what
        )
    }
}

/// The way through a model.
struct Walk<'a> {
    calls: Vec<Call<'a>>,
    seen: usize,
}

impl<'a> Walk<'a> {
    /// What a model gives for these inputs.
    fn model(&mut self, model: &Model<'a>, path: &str, inputs: &[usize], depth: usize) -> Result<usize> {
        ensure!(depth <= DEEPEST, TooLarge, "there are models within models, more than {DEEPEST} deep");
        self.see(model.layers.len())?;
        match &model.ends {
            None => self.chain(model, path, inputs, depth),
            Some([sources, outputs]) => {
                ensure!(
                    sources.len() == inputs.len(),
                    InvalidNetwork,
                    "{} has {} inputs, but reads {}",
                    model.what,
                    sources.len(),
                    inputs.len()
                );
                let [output] = outputs[..] else {
                    bail!(
                        InvalidNetwork,
                        "{} has {} outputs, but isoflat's networks have one: save a model of one of them",
                        model.what,
                        outputs.len()
                    )
                };
                let sources = sources.iter().zip(inputs).map(|(source, &input)| (source.layer, input)).collect();
                Graph::new(model, path, sources, depth)?.output(self, output)
            }
        }
    }

    /// So many layers more.
    fn see(&mut self, layers: usize) -> Result<()> {
        self.seen = self.seen.saturating_add(layers).saturating_add(1);
        ensure!(
            self.seen <= MOST,
            TooLarge,
            "the model has over {MOST} layers, those of models within it at every use"
        );
        Ok(())
    }

    fn chain(&mut self, model: &Model<'a>, path: &str, inputs: &[usize], depth: usize) -> Result<usize> {
        let &[mut at] = inputs else {
            bail!(InvalidNetwork, "{} is a chain, but reads {} things", model.what, inputs.len())
        };
        for layer in &model.layers {
            if class_of(layer)? != "InputLayer" {
                at = self.layer(layer, path, vec![at], depth)?;
            }
        }
        Ok(at)
    }

    /// What a layer gives for these inputs.
    fn layer(&mut self, layer: &'a Value, path: &str, reads: Vec<usize>, depth: usize) -> Result<usize> {
        self.see(0)?;
        let (name, class) = (short_name_of(layer)?, class_of(layer)?);
        // Of a long path the end is enough.
        let path = &path[path.ceil_char_boundary(path.len().saturating_sub(LONGEST))..];
        let full = if path.is_empty() { name.to_string() } else { format!("{path}/{name}") };
        let what = title(&full, layer);
        if is_model(layer) {
            return self.model(&Model::new(&what, layer)?, &full, &reads, depth + 1);
        }
        self.calls.push(Call { class, name, what, config: layer.get("config"), reads });
        Ok(self.calls.len())
    }
}

/// A functional model on the way: its layers by name, and what their calls give where that is known.
struct Graph<'m, 'a> {
    model: &'m Model<'a>,
    path: &'m str,
    depth: usize,
    layers: HashMap<&'a str, &'a Value>,
    known: HashMap<(&'a str, usize), Option<usize>>,
}

/// A call that waits for what it reads.
struct Frame<'a> {
    key: (&'a str, usize),
    layer: &'a Value,
    reads: Vec<Point<'a>>,
    /// What is known of it so far.
    given: Vec<usize>,
}

impl<'m, 'a> Graph<'m, 'a> {
    fn new(model: &'m Model<'a>, path: &'m str, sources: Vec<(&'a str, usize)>, depth: usize) -> Result<Self> {
        let mut layers = HashMap::new();
        for &layer in &model.layers {
            let name = short_name_of(layer)?;
            ensure!(
                layers.insert(name, layer).is_none(),
                Parse,
                "{} has two layers of the name \"{name}\"",
                model.what
            );
        }
        let known = sources.into_iter().map(|(name, input)| ((name, 0), Some(input))).collect();
        Ok(Self { model, path, depth, layers, known })
    }

    /// Calls all that an output needs, each layer when what it reads is known. Those that wait are in a list, since a model may be
    /// deeper than a program's stack.
    fn output(mut self, walk: &mut Walk<'a>, output: Point<'a>) -> Result<usize> {
        let mut open = Vec::new();
        self.enter(walk, output, &mut open)?;
        while let Some(frame) = open.last_mut() {
            if let Some(&next) = frame.reads.get(frame.given.len()) {
                match self.known.get(&self.key(next)) {
                    Some(&Some(given)) => frame.given.push(given),
                    Some(None) => {
                        bail!(Parse, "{}: layer \"{}\" reads what it gives itself", self.model.what, next.layer)
                    }
                    None => self.enter(walk, next, &mut open)?,
                }
                continue;
            }
            let Some(Frame { key, layer, given, .. }) = open.pop() else { break };
            let given = walk.layer(layer, self.path, given, self.depth)?;
            self.known.insert(key, Some(given));
        }
        let found = self.known.get(&self.key(output)).copied().flatten();
        found.ok_or_else(|| Error::new(ErrorCode::Parse, format!("{} gives nothing", self.model.what)))
    }

    /// Begins with a call that is not known yet.
    fn enter(&mut self, walk: &mut Walk<'a>, point: Point<'a>, open: &mut Vec<Frame<'a>>) -> Result<()> {
        let key = self.key(point);
        if self.known.contains_key(&key) {
            return Ok(());
        }
        let Some(&layer) = self.layers.get(key.0) else {
            bail!(Parse, "{} has no layer \"{}\", but reads from it", self.model.what, key.0)
        };
        let reads = self.reads(layer, key.1)?;
        walk.see(reads.len())?;
        self.known.insert(key, None);
        open.push(Frame { key, layer, reads, given: Vec::new() });
        Ok(())
    }

    /// Which call is meant: a layer that is called once may be numbered otherwise, as a model within a model is.
    fn key(&self, point: Point<'a>) -> (&'a str, usize) {
        let nodes = self.layers.get(point.layer).and_then(|layer| layer.get("inbound_nodes")).and_then(Value::as_array);
        (point.layer, if nodes.map_or(0, Vec::len) <= 1 { 0 } else { point.call })
    }

    /// What a layer reads at one of its calls.
    fn reads(&self, layer: &'a Value, call: usize) -> Result<Vec<Point<'a>>> {
        let what = title(name_of(layer), layer);
        let nodes = layer.get("inbound_nodes").and_then(Value::as_array);
        let Some(node) = nodes.and_then(|nodes| nodes.get(call)) else {
            bail!(
                InvalidNetwork,
                "{what} reads nothing{}",
                if class_of(layer)? == "InputLayer" { ", and is not the model's one input" } else { "" }
            )
        };
        let found = match node.get("args") {
            // Keras 3: arguments as a function has them.
            Some(args) => {
                ensure_plain(&what, node.get("kwargs"))?;
                let mut found = Vec::new();
                tensors(&what, args, &mut found, 0)?;
                found
            }
            None => points(&what, node)?,
        };
        ensure!(!found.is_empty(), Parse, "{what} reads nothing");
        Ok(found)
    }
}

fn class_of(layer: &Value) -> Result<&str> {
    let class = layer.get("class_name").and_then(Value::as_str).filter(|class| class.len() <= LONGEST);
    class.ok_or_else(|| Error::new(ErrorCode::Parse, format!("layer \"{}\" has no class_name", name_of(layer))))
}

/// A layer's name, which is beside its class or in its configuration.
fn name_of(layer: &Value) -> &str {
    let inner = || layer.get("config").and_then(|config| config.get("name"));
    layer.get("name").or_else(inner).and_then(Value::as_str).unwrap_or_default()
}

/// The same, where it is of a length to be repeated.
fn short_name_of(layer: &Value) -> Result<&str> {
    let name = name_of(layer);
    ensure!(name.len() <= LONGEST, TooLarge, "the name of layer \"{name}\" is longer than {LONGEST} bytes");
    Ok(name)
}

fn is_model(layer: &Value) -> bool {
    layer.get("class_name").is_some_and(|class| class == "Sequential" || class == "Functional" || class == "Model")
}

/// What messages call a layer.
fn title(name: &str, layer: &Value) -> String {
    format!("layer \"{name}\" ({})", layer.get("class_name").and_then(Value::as_str).unwrap_or("of no class"))
}
