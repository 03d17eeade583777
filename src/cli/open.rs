//! A model and data, opened as an invocation says; and weights written.

use serde::Serialize;
use serde_json::{Value, json};

use super::data;
use super::files::{Split, named, split};
use super::invocation::{Command, DataArguments, Invocation, ModelArguments, SaveAs};
use super::run::Outcome;
use super::writes::{ensure_savable, save_format, writes_data};
use crate::engine::Device;
use crate::error::{Error, Result, bail, ensure};
use crate::io::{
    BatchNormChoice, DataOptions, File, ModelOptions, SaveFormat, Sliced, open_dataset, open_model,
    open_share as open_data_share, save_model, save_parameters, save_problem,
};
use crate::network::{BatchStatistics, BiasInitialization, Initialization, Network, Preset};
use crate::problem::{Loss, Problem, ProblemFile};
use crate::ranks::{Meeting, Ranks};

/// A model, and what it is asked about.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The network.
    pub network: Network,
    /// Its parameters.
    pub parameters: Vec<f64>,
    /// Network, loss and data, where there are data.
    pub problem: Option<Problem>,
    /// The direction and transformations of a problem file, whose own data these are.
    pub file: Option<Box<ProblemFile>>,
    /// The softmax behind its outputs, where the file has one.
    softmax: Option<String>,
    /// Of its batch normalisations that are scales.
    pub statistics: Vec<BatchStatistics>,
    /// Where the model came from.
    pub model: Origin,
    /// Where the data came from.
    pub data: Origin,
}

/// Where something came from, for its readers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// Names of the files.
    pub files: Vec<String>,
    /// What the format is called.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub format: String,
    /// Of data: how many samples there are, of which the first may have been taken alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<usize>,
    /// What was assumed, taken off or changed, a sentence each.
    pub notes: Vec<String>,
}

impl Opened {
    /// The problem, which all but `convert` need.
    ///
    /// # Errors
    /// `InvalidOption` where there are no data.
    pub fn problem(&self) -> Result<&Problem> {
        match &self.problem {
            Some(problem) => Ok(problem),
            None => bail!(
                InvalidOption,
                "{} is a model without data: add the files of the data behind it",
                self.model.files.first().map_or("this", String::as_str)
            ),
        }
    }

    /// The same with no more of the data than an engine on this device needs, unless all of them are to be written.
    ///
    /// # Errors
    /// What [`Device::share`] says.
    pub fn share(self, invocation: &Invocation, device: &Device) -> Result<Self> {
        let Some(problem) = &self.problem else { return Ok(self) };
        if writes_data(invocation)? {
            return Ok(self);
        }
        let problem = device.share(problem)?;
        let file = self.file.map(|file| Box::new(ProblemFile { problem: problem.clone(), ..*file }));
        Ok(Self { problem: Some(problem), file, ..self })
    }
}

/// Which of the files that the door has read are data, by their names; of data files that are large their beginnings are enough.
pub fn data_names(invocation: &Invocation, files: &[File]) -> Vec<String> {
    split(invocation, files).data.into_iter().map(|file| file.name).collect()
}

/// Opens what the door has read: all files that [`Invocation::reads`] names, those of a folder with its name before their own.
///
/// # Errors
/// What [`open_model`] says, and readers of data; `InvalidOption` for options that these files have no use for.
pub fn open(invocation: &Invocation, files: &[File]) -> Result<Opened> {
    open_with(invocation, files, |network, files| {
        let data = open_dataset(files, &data::options(network, &invocation.data)?)?;
        data::problem(network, names_of(files), data, invocation.data.loss)
    })
}

/// The same of a rank, which reads its samples of these data and no others: of their files the names are enough. `None` where what the
/// data are depends on which of the samples one sees, so that all of them have to be read.
///
/// # Errors
/// As [`open`], any rank's; `InvalidProblem` for more ranks than samples.
pub fn open_share(invocation: &Invocation, files: &[File], data: &[Sliced], ranks: &Ranks) -> Result<Option<Opened>> {
    let mut is_alike = true;
    let opened = open_with(invocation, files, |network, files| {
        let options = data::options(network, &invocation.data)?;
        let own = open_data_share(data, &options, |samples| ranks.own_of(samples));
        let own = own.map_err(|error| named(error, &names_of(files)));
        let share = ranks.agree(Meeting::new("data", &[]), own)?;
        is_alike = ranks.first_other(&[share.reading().as_bytes()])?.is_none();
        let (problem, origin) = data::problem(network, names_of(files), share.data, invocation.data.loss)?;
        Ok((problem.as_share(share.held.start, share.samples)?, origin))
    });
    if is_alike { opened.map(Some) } else { Ok(None) }
}

fn names_of(files: &[File]) -> Vec<String> {
    files.iter().map(|file| file.name.clone()).collect()
}

fn open_with(
    invocation: &Invocation,
    files: &[File],
    mut data: impl FnMut(&Network, &[File]) -> Result<(Problem, Origin)>,
) -> Result<Opened> {
    let split = split(invocation, files);
    let mut opened = if begins_at_random(invocation) {
        at_random(invocation, &split)?
    } else {
        let found = of_files(&split, &model_options(invocation, &split)?);
        match found.is_err().then(|| over_data(invocation, &split)).flatten() {
            Some(fitting) => fitting,
            None => found?,
        }
    };
    ensure_savable(invocation, &opened.model)?;
    if !split.data.is_empty() {
        let mut found = data(&opened.network, &split.data);
        if let Some(other) = found.is_err().then(|| over_data(invocation, &split)).flatten()
            && let Ok(fitting) = data(&other.network, &split.data)
        {
            (opened, found) = (other, Ok(fitting));
        }
        let (problem, origin) = found.map_err(|error| named(error, &names_of(&split.data)))?;
        if let (Some(softmax), Loss::SquaredError) = (&opened.softmax, problem.loss()) {
            bail!(
                InvalidProblem,
                "{}: squared error is of what the model gives behind its {softmax}, which isoflat takes off, since cross-entropy has one of \
                 its own: that takes a class a sample (--loss cross_entropy)",
                opened.model.files.first().map_or("the model", String::as_str)
            );
        }
        (opened.problem, opened.data, opened.file) = (Some(problem), origin, None);
    } else if let Some(file) = &mut opened.file {
        ensure_unused(invocation, &opened.model.files[0], file)?;
        opened.data.available = Some(file.problem.samples());
        file.problem = file.problem.first(invocation.data.samples.unwrap_or(usize::MAX));
        opened.data.files = opened.model.files.clone();
        opened.problem = Some(file.problem.clone());
    } else if invocation.command == Command::Convert {
        // Whatever computes will say that there are no data.
        let model = opened.model.files.first().map_or("the model", String::as_str);
        if let Some(option) = given(&invocation.data).next() {
            bail!(
                InvalidOption,
                "--{option} is of data, and {model} is a model without: add the files of the data behind it"
            );
        }
    }
    let passed_over =
        split.passed_over.iter().map(|name| format!("{name} is of no format that isoflat reads, and was passed over"));
    opened.model.notes.extend(passed_over);
    Ok(opened)
}

/// The model of these files.
fn of_files(split: &Split, options: &ModelOptions) -> Result<Opened> {
    let found = open_model(&split.model, options).map_err(|error| named(error, &names_of(&split.model)))?;
    let (format, statistics) = (found.format.to_string(), found.model.statistics());
    let softmax = found.model.softmax().map(str::to_owned);
    let model = Origin { files: names_of(&split.model), format, available: None, notes: found.model.notes };
    Ok(Opened {
        network: found.model.network,
        parameters: found.model.parameters,
        problem: None,
        file: found.problem,
        softmax,
        statistics,
        model,
        data: Origin::default(),
    })
}

/// Weights alone do not tell how large images are, but data do: the model over inputs such as theirs, if the weights can be such a
/// one's. Of a rank that reads its own samples alone there are no data yet, and `--input` has to say it.
fn over_data(invocation: &Invocation, split: &Split) -> Option<Opened> {
    let is_told = invocation.model.input.is_some() || invocation.model.network.is_some();
    if is_told || begins_at_random(invocation) {
        return None;
    }
    let DataArguments { split: part, inputs, .. } = invocation.data.clone();
    let one = DataOptions { split: part, inputs, samples: Some(1), ..DataOptions::default() };
    let shape = open_dataset(&split.data, &one).ok()?.shape;
    let note = format!("the inputs are taken to be {shape:?}, as the data's are");
    let options = model_options(invocation, split).ok()?;
    let mut opened = of_files(split, &ModelOptions { input: Some(shape), ..options }).ok()?;
    opened.model.notes.push(note);
    Some(opened)
}

/// A problem file has its own network, data and loss.
fn ensure_unused(invocation: &Invocation, name: &str, file: &ProblemFile) -> Result<()> {
    let arguments = &invocation.data;
    let input = &invocation.model.input;
    ensure!(
        input.as_ref().is_none_or(|shape| shape == file.problem.network().input()),
        InvalidOption,
        "--input is of models that do not say it, but {name} is a problem file, whose inputs are {:?}",
        file.problem.network().input()
    );
    let is_its_own = |option: &str| match option {
        "samples" => true,
        "loss" => arguments.loss == Some(file.problem.loss()),
        _ => false,
    };
    if let Some(option) = given(arguments).find(|option| !is_its_own(option)) {
        bail!(
            InvalidOption,
            "--{option} is of data files, but {name} is a problem file, with data and loss of its own"
        );
    }
    Ok(())
}

/// The options on data that were given.
fn given(arguments: &DataArguments) -> impl Iterator<Item = &'static str> {
    let all = [
        ("normalize", arguments.normalize.is_some()),
        ("split", arguments.split.is_some()),
        ("inputs", arguments.inputs.is_some()),
        ("targets", arguments.targets.is_some()),
        ("loss", arguments.loss.is_some()),
        ("samples", arguments.samples.is_some()),
    ];
    all.into_iter().filter_map(|(option, is_given)| is_given.then_some(option))
}

/// Are there no weights yet?
pub(super) fn begins_at_random(invocation: &Invocation) -> bool {
    invocation.command == Command::Train && invocation.train.preset.is_some()
}

/// A preset's name, or the text of the file of this name.
fn network_text(name: &str, split: &Split) -> Result<String> {
    match &split.network {
        Some(file) => match str::from_utf8(&file.bytes) {
            Ok(text) => Ok(text.into()),
            Err(_) => bail!(Parse, "{name}: the text is not valid UTF-8"),
        },
        None => Ok(name.into()),
    }
}

fn model_options(invocation: &Invocation, split: &Split) -> Result<ModelOptions> {
    let network = invocation.model.network.as_deref().map(|name| network_text(name, split)).transpose()?;
    let batch_norm = if invocation.model.batch_norm_as_scale { BatchNormChoice::Scale } else { BatchNormChoice::Fold };
    let ModelArguments { input, output, .. } = invocation.model.clone();
    Ok(ModelOptions { network: network.map(Value::String), input, output, batch_norm })
}

/// A network with weights that are drawn.
fn at_random(invocation: &Invocation, split: &Split) -> Result<Opened> {
    let name = invocation.train.preset.as_deref().unwrap_or_default();
    let network = match &split.network {
        Some(_) => Network::from_json(&network_text(name, split)?)?,
        None => Preset::from_name(name)?.network(),
    };
    let parameters =
        network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, invocation.seed)?;
    let notes = vec![format!("begins at random weights of the seed {}", invocation.seed)];
    let model = Origin { files: vec![name.into()], format: "at random".into(), available: None, notes };
    Ok(Opened {
        network,
        parameters,
        problem: None,
        file: None,
        softmax: None,
        statistics: Vec::new(),
        model,
        data: Origin::default(),
    })
}

/// A file that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// The file of an outcome's parameters, where it has some; the outcome then says so too.
///
/// # Errors
/// What [`save_model`] and [`save_parameters`] say; `TooLarge`.
pub fn save(
    invocation: &Invocation,
    files: &[File],
    opened: &Opened,
    outcome: &mut Outcome,
) -> Result<Option<Written>> {
    let Some(parameters) = &outcome.parameters else { return Ok(None) };
    let (name, format) = save_format(invocation)?;
    let split = split(invocation, files);
    let format_of_arrays = match format {
        SaveAs::Safetensors => Some(SaveFormat::Safetensors),
        SaveAs::Npz => Some(SaveFormat::Npz),
        SaveAs::Onnx => Some(SaveFormat::Onnx),
        SaveAs::Json | SaveAs::Problem => None,
    };
    let bytes = match format_of_arrays {
        None if format == SaveAs::Problem => save_problem(&problem_file(opened, parameters)?)?,
        None => own_json(opened, parameters)?.into_bytes(),
        Some(format) if begins_at_random(invocation) => save_parameters(&opened.network, parameters, format)?,
        Some(format) => save_model(&split.model, &model_options(invocation, &split)?, parameters, format)?,
    };
    ensure!(
        !files.iter().any(|file| file.name == name),
        InvalidOption,
        "{name} is a file that was read: --out names another one"
    );
    outcome.result["written"] = json!({ "file": name, "format": format, "bytes": bytes.len() });
    Ok(Some(Written { name, bytes }))
}

/// A problem file; without data the network alone.
fn own_json(opened: &Opened, parameters: &[f64]) -> Result<String> {
    if opened.problem.is_none() {
        return serde_json::to_string(&opened.network).map_err(Error::from);
    }
    problem_file(opened, parameters)?.try_to_json()
}

fn problem_file(opened: &Opened, parameters: &[f64]) -> Result<ProblemFile> {
    let problem = opened.problem()?;
    let name = opened.file.as_ref().and_then(|file| file.name.clone());
    let (direction, transformations) = match &opened.file {
        Some(file) => (file.direction.clone(), file.transformations.clone()),
        None => (None, Vec::new()),
    };
    Ok(ProblemFile { name, problem: problem.clone(), parameters: parameters.to_vec(), direction, transformations })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::parse;

    /// NumPy's file of f32, all 0.5, or of labels, all 1.
    fn npy(shape: &[usize], kind: &str) -> Vec<u8> {
        let lengths = shape.iter().map(|n| format!("{n},")).collect::<String>();
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({lengths}), }}\n");
        let count = shape.iter().product::<usize>();
        let values: Vec<u8> = match kind {
            "<f4" => std::iter::repeat_n(0.5f32.to_le_bytes(), count).flatten().collect(),
            _ => std::iter::repeat_n(1i64.to_le_bytes(), count).flatten().collect(),
        };
        [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes(), &values].concat()
    }

    #[test]
    fn data_tell_how_large_the_images_of_weights_alone_are() {
        let json = r#"{"input": [3, 10, 10], "layers": [
            {"type": "conv2d", "channels": 4, "kernel": 3, "padding": 1}, {"type": "relu"}, {"type": "max_pool2d", "size": 2},
            {"type": "conv2d", "channels": 6, "kernel": 3, "padding": 1}, {"type": "relu"}, {"type": "max_pool2d", "size": 2},
            {"type": "flatten"}, {"type": "dense", "units": 5}]}"#;
        let network = Network::from_json(json).expect("a network");
        let parameters =
            network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, 3).expect("parameters");
        let weights = save_parameters(&network, &parameters, SaveFormat::Safetensors).expect("a file");
        let opened = |words: &str, shape: &[usize]| {
            let words: Vec<String> = words.split(' ').map(String::from).collect();
            let files = [
                File::new("w.safetensors", weights.clone()),
                File::new("X.npy", npy(shape, "<f4")),
                File::new("y.npy", npy(&shape[..1], "<i8")),
            ];
            open(&parse(&words).expect("words"), &files)
        };
        for shape in [[2, 3, 10, 10], [2, 10, 10, 3]] {
            let found = opened("report w.safetensors X.npy y.npy", &shape).expect("a problem");
            assert_eq!(found.network.input(), [3, 10, 10]);
            assert_eq!(found.parameters, parameters);
            assert!(found.model.notes.iter().any(|note| note.contains("as the data's are")), "{:?}", found.model.notes);
        }
        // Of images that are no squares there is not even a first guess.
        let json = r#"{"input": [1, 12, 10], "layers": [
            {"type": "conv2d", "channels": 4, "kernel": 3, "padding": 1}, {"type": "relu"}, {"type": "max_pool2d", "size": 2},
            {"type": "flatten"}, {"type": "dense", "units": 5}]}"#;
        let network = Network::from_json(json).expect("a network");
        let oblong = vec![0.25; network.parameter_count()];
        let files = [
            File::new("w.npz", save_parameters(&network, &oblong, SaveFormat::Npz).expect("a file")),
            File::new("X.npy", npy(&[2, 1, 12, 10], "<f4")),
            File::new("y.npy", npy(&[2], "<i8")),
        ];
        let words = ["report", "w.npz", "X.npy", "y.npy"].map(String::from);
        let found = open(&parse(&words).expect("words"), &files).expect("a problem");
        assert_eq!(found.network.input(), [1, 12, 10]);
        // Where somebody says it, or nothing fits, what is wrong is said of the first.
        for (words, shape) in [
            ("report w.safetensors X.npy y.npy --input 3x11x11", [2, 3, 10, 10]),
            ("report w.safetensors X.npy y.npy", [2, 3, 5, 50]),
        ] {
            let error = opened(words, &shape).expect_err(words);
            assert!(error.message.contains("but the network takes"), "{error}");
        }
    }

    #[test]
    fn options_on_data_need_data() {
        let model = File::new("m.onnx", &include_bytes!("../../tests/fixtures/onnx/lenet.onnx")[..]);
        for option in
            ["--samples 5", "--normalize mnist", "--loss squared_error", "--targets y", "--inputs x", "--split test"]
        {
            let line = format!("convert m.onnx --to json {option}");
            let words: Vec<String> = line.split(' ').map(String::from).collect();
            let refused = open(&parse(&words).expect("words"), std::slice::from_ref(&model)).expect_err(&line);
            let says = option.split_once(' ').map_or(option, |(name, _)| name);
            assert!(
                refused.message.starts_with(&format!("{says} is of data, and m.onnx is a model without")),
                "{refused}"
            );
        }
    }

    #[test]
    fn squared_error_is_not_of_what_comes_before_a_softmax() {
        let files = |targets: Vec<u8>| {
            let model = include_bytes!("../../tests/fixtures/onnx/lenet.onnx");
            [
                File::new("m.onnx", &model[..]),
                File::new("X.npy", npy(&[2, 1, 10, 8], "<f4")),
                File::new("y.npy", targets),
            ]
        };
        let opened = |words: &str, targets| {
            let words: Vec<String> = words.split(' ').map(String::from).collect();
            open(&parse(&words).expect("words"), &files(targets))
        };
        let classes = opened("report m.onnx X.npy y.npy", npy(&[2], "<i8")).expect("a problem");
        let outputs = classes.network.output_len();
        let refused = opened("report m.onnx X.npy y.npy", npy(&[2, outputs], "<f4")).expect_err("shares as targets");
        assert!(refused.message.contains("LogSoftmax"), "{refused}");
        assert!(opened("report m.onnx X.npy y.npy --loss squared_error", npy(&[2], "<i8")).is_err());
    }
}
