//! Words become an invocation.

use lexopt::Arg;

use super::invocation::{Command, Invocation};
use super::nearest::hint;
use super::options::{OPTIONS, OptionRow};
use crate::engine::gpu::Tune;
use crate::engine::{Backend, Precision};
use crate::error::{Result, bail, ensure};

/// Reads the words of a command line, without the program's own name.
///
/// # Errors
/// `InvalidOption` for what is no command or option, or takes another value; the message names what was probably meant.
pub fn parse(arguments: &[String]) -> Result<Invocation> {
    let mut words = lexopt::Parser::from_args(arguments);
    let mut invocation: Option<Invocation> = None;
    let mut wants_help = false;
    // Options may stand before the command too: which ones it has is known when it is.
    let mut given: Vec<(&'static OptionRow, String)> = Vec::new();
    while let Some(word) = words.next().map_err(in_words)? {
        let name = match word {
            Arg::Value(word) => {
                let word = text(word)?;
                match &mut invocation {
                    None => invocation = Some(Invocation::new(command(&word)?)),
                    Some(to) => positional(to, word)?,
                }
                continue;
            }
            Arg::Short('h') | Arg::Long("help") => {
                wants_help = true;
                continue;
            }
            Arg::Short('V') | Arg::Long("version") => return Ok(Invocation::new(Command::Version)),
            Arg::Short('o') => "out".to_string(),
            Arg::Short('q') => "quiet".to_string(),
            Arg::Short(letter) => {
                bail!(InvalidOption, "there is no option -{letter}; there are -h, -V, -o FILE and -q")
            }
            Arg::Long(name) => name.to_string(),
        };
        let row = option(&name, invocation.as_ref().map(|to| to.command))?;
        let value = match row.value {
            None => String::new(),
            Some(value) => match words.value() {
                Ok(found) => valued(&name, value, text(found)?)?,
                Err(_) => bail!(InvalidOption, "--{name} needs a value: --{name} {value}"),
            },
        };
        given.push((row, value));
    }
    let Some(mut invocation) = invocation else {
        ensure!(
            given.is_empty() || wants_help,
            InvalidOption,
            "no command was given: {}, and then the files",
            computing().join(", ")
        );
        return Ok(Invocation::new(Command::Help));
    };
    if wants_help {
        let topic = Some(invocation.command).filter(|command| !matches!(command, Command::Help | Command::Version));
        return Ok(Invocation { topic: topic.or(invocation.topic), ..Invocation::new(Command::Help) });
    }
    for (i, (row, value)) in given.iter().enumerate() {
        belongs(row, invocation.command)?;
        let other = given[..i].iter().find(|(other, earlier)| other.name == row.name && earlier != value);
        if let Some((_, earlier)) = other.filter(|_| !row.is_list()) {
            bail!(InvalidOption, "--{} is given twice: \"{earlier}\" and \"{value}\"", row.name);
        }
        (row.set)(&mut invocation, value)?;
    }
    check(&invocation)?;
    Ok(invocation)
}

/// A value, which is no option: somebody has forgotten the value, and a file of such a name would be made.
fn valued(name: &str, form: &str, value: String) -> Result<String> {
    let long = value.strip_prefix("--").and_then(|word| word.split('=').next());
    let is_option = long.is_some_and(|word| word == "help" || OPTIONS.iter().any(|row| row.name == word))
        || ["-h", "-V", "-o", "-q"].contains(&&value[..]);
    ensure!(!is_option, InvalidOption, "--{name} needs a value: --{name} {form}; {value} is an option itself");
    Ok(value)
}

fn computing() -> Vec<&'static str> {
    Command::ALL.iter().map(|command| command.name()).collect()
}

fn command(word: &str) -> Result<Command> {
    match Command::from_name(word) {
        Some(command) => Ok(command),
        None => bail!(
            InvalidOption,
            "there is no command \"{word}\"{} (there are {})",
            hint(word, computing(), ""),
            computing().join(", ")
        ),
    }
}

fn positional(to: &mut Invocation, word: String) -> Result<()> {
    match to.command {
        Command::Version => bail!(InvalidOption, "version takes nothing, not \"{word}\""),
        Command::Help => {
            let topic = command(&word)?;
            ensure!(to.topic.is_none(), InvalidOption, "help is of one command, and not of \"{word}\" too");
            to.topic = Some(topic);
        }
        _ => {
            ensure!(!word.is_empty(), InvalidOption, "\"\" is no file's name");
            to.files.push(word);
        }
    }
    Ok(())
}

/// The option of this name.
fn option(name: &str, command: Option<Command>) -> Result<&'static OptionRow> {
    if let Some(row) = OPTIONS.iter().find(|row| row.name == name) {
        return Ok(row);
    }
    let names = OPTIONS.iter().filter(|row| command.is_none_or(|command| row.is_of(command))).map(|row| row.name);
    let hint = hint(name, names.chain(["help", "version"]), "--");
    let list = match command {
        Some(command) if hint.is_empty() => format!(": isoflat help {} lists those there are", command.name()),
        None if hint.is_empty() => ": isoflat help lists those there are".into(),
        _ => hint,
    };
    bail!(InvalidOption, "there is no option --{name}{list}")
}

/// Fails where a command does not have an option.
fn belongs(row: &OptionRow, command: Command) -> Result<()> {
    let of: Vec<&str> =
        Command::ALL.into_iter().filter(|&command| row.is_of(command)).map(|command| command.name()).collect();
    ensure!(
        row.is_of(command),
        InvalidOption,
        "--{} is an option of {}, not of {}",
        row.name,
        of.join(", "),
        command.name()
    );
    Ok(())
}

/// What must go together.
fn check(found: &Invocation) -> Result<()> {
    let computes = !matches!(found.command, Command::Help | Command::Version);
    let begins_at_random = found.command == Command::Train && found.train.preset.is_some();
    let has_files = !found.files.is_empty() || (begins_at_random && !found.data_files.is_empty());
    if computes && !has_files {
        let name = found.command.name();
        bail!(InvalidOption, "{name} needs files: isoflat {name} MODEL DATA (isoflat help {name} has an example)");
    }
    ensure!(
        !(found.device.backend == Backend::Gpu && found.device.precision == Some(Precision::F64)),
        InvalidOption,
        "a GPU computes in f32 alone: leave out --precision f64, or take --backend cpu"
    );
    ensure!(
        !(begins_at_random && found.model.network.is_some()),
        InvalidOption,
        "--preset begins at random and --network says what weights are of: one of them"
    );
    for (name, is_given) in [
        ("input", found.model.input.is_some()),
        ("output-name", found.model.output.is_some()),
        ("batch-norm", found.model.batch_norm_as_scale),
    ] {
        ensure!(
            !(begins_at_random && is_given),
            InvalidOption,
            "--{name} is of a model that is read, and --preset begins at random in a network that says it itself"
        );
    }
    for (name, is_given, spaces) in [
        ("values", found.train.values.is_some(), &["g_space", "weight_fixing"][..]),
        ("tree", found.train.tree.is_some(), &["g_space"]),
    ] {
        ensure!(
            !is_given || spaces.contains(&found.space.as_str()),
            InvalidOption,
            "--{name} is of --space {}, not of {}",
            spaces.join(" and "),
            found.space
        );
    }
    let (is_cpu, keeps) = (found.device.backend == Backend::Cpu, found.output.checkpoint.is_some());
    for (name, is_given, is_of_use, needs) in [
        ("checkpoint-every", found.output.checkpoint_every.is_some(), keeps, "a --checkpoint"),
        ("adapter", found.device.adapter.is_some(), !is_cpu, "a GPU, not --backend cpu"),
        ("tune", found.device.tune != Tune::Auto, !is_cpu, "a GPU, not --backend cpu"),
    ] {
        ensure!(!is_given || is_of_use, InvalidOption, "--{name} needs {needs}");
    }
    ensure!(
        !(found.report.sections.is_some() && found.report.everything),
        InvalidOption,
        "--sections names what to compute and --everything takes it all: one of them"
    );
    ensure!(
        found.invariance.measures.is_empty() || !found.invariance.everything,
        InvalidOption,
        "--measures names what to compute and --everything takes it all: one of them"
    );
    ensure!(
        found.output.out.is_none() || found.output.out != found.output.html,
        InvalidOption,
        "--out and --html name one file: each has its own"
    );
    super::run::check(found)?;
    super::writes::check(found)
}

/// What was given that the native program alone has use for: the package's has no GPU, and keeps nothing between two runs.
pub fn native_option(found: &Invocation) -> Option<&'static str> {
    let given = [
        ("adapter", found.device.adapter.is_some()),
        ("tune", found.device.tune != Tune::Auto),
        ("checkpoint", found.output.checkpoint.is_some()),
    ];
    given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
}

fn text(word: std::ffi::OsString) -> Result<String> {
    match word.into_string() {
        Ok(text) => Ok(text),
        Err(word) => bail!(InvalidOption, "{} is no valid Unicode", word.to_string_lossy()),
    }
}

/// lexopt's errors as isoflat says things.
fn in_words(error: lexopt::Error) -> crate::Error {
    let message = match &error {
        lexopt::Error::UnexpectedValue { option, value } => {
            format!("{option} takes no value, not {:?} either", value.to_string_lossy())
        }
        other => other.to_string(),
    };
    crate::Error::new(crate::ErrorCode::InvalidOption, message)
}

#[cfg(test)]
mod tests {
    use super::{native_option, parse};
    use crate::cli::{Command, Invocation};
    use crate::engine::{Backend, Precision};
    use crate::report::Section;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(String::from).collect()
    }

    fn parsed(line: &str) -> Invocation {
        parse(&words(line)).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    fn refused(line: &str) -> String {
        parse(&words(line)).expect_err(line).message
    }

    #[test]
    fn words_become_an_invocation() {
        let found =
            parsed("report model.onnx a.npz --backend gpu --sections point,hessian --samples=50 -q --json -o x.json");
        assert_eq!(found.command, Command::Report);
        assert_eq!(found.files, ["model.onnx", "a.npz"]);
        assert_eq!(found.device.backend, Backend::Gpu);
        assert_eq!(found.report.sections, Some(vec![Section::Point, Section::Hessian]));
        assert_eq!(found.data.samples, Some(50));
        assert!(found.output.quiet && found.output.json);
        assert_eq!(found.output.out.as_deref(), Some("x.json"));
        let found = parsed(
            "--precision f32 eigenvalues m.npz --data d --data e --lowest --operator hessian.layer_2 --input 1x28x28",
        );
        assert_eq!(found.device.precision, Some(Precision::F32));
        assert_eq!(found.data_files, ["d", "e"]);
        assert!(found.eigenvalues.lowest);
        assert_eq!(found.eigenvalues.operator, "hessian.layer_2");
        assert_eq!(found.model.input, Some(vec![1, 28, 28]));
        let found = parsed("train --preset lenet images labels -o x.npz --epochs 3 --optimizer adam_w --rate 1e-3");
        assert_eq!((found.train.epochs, found.train.rate), (3, Some(1e-3)));
        assert_eq!(parsed("report -- --odd-name").files, ["--odd-name"]);
        assert_eq!(parsed("report x --samples 5 --samples 5 -q -q").data.samples, Some(5));
        assert_eq!(parsed("report x --data d --data d").data_files, ["d", "d"]);
        let lists = "invariance x --measures hessian.trace --measures hessian.max_eigenvalue --transformations layerwise --transformations nodewise";
        let found = parsed(lists);
        assert_eq!((found.invariance.measures.len(), found.maps.transformations.len()), (2, 2));
        assert!(parse(&["report".to_owned(), String::new()]).is_err());
    }

    #[test]
    fn help_and_version_need_no_files() {
        assert_eq!(parsed("").command, Command::Help);
        assert_eq!(parsed("--help").command, Command::Help);
        assert_eq!(parsed("-V").command, Command::Version);
        assert_eq!(parsed("version").command, Command::Version);
        for line in ["help train", "train --help", "help --help train", "train x --epochs 3 -h"] {
            let found = parsed(line);
            assert_eq!((found.command, found.topic), (Command::Help, Some(Command::Train)), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_what_was_meant() {
        for (line, says) in [
            ("reprot x", "did you mean report?"),
            ("eigen x", "did you mean eigenvalues?"),
            ("help report convert", "help is of one command, and not of \"convert\" too"),
            ("report x --samples 5 --samples 7", "--samples is given twice: \"5\" and \"7\""),
            ("--samples 5 report x --samples 7", "--samples is given twice"),
            ("model.onnx data.npz", "there is no command \"model.onnx\" (there are report, invariance"),
            ("report x --sample 5", "there is no option --sample: did you mean --samples?"),
            ("report x --smaples 5", "did you mean --samples?"),
            ("report x --xyzzy", "isoflat help report lists those there are"),
            ("report x --epochs 5", "--epochs is an option of train, not of report"),
            ("report x --samples", "--samples needs a value: --samples N"),
            ("report x --html --quiet", "--html needs a value: --html FILE; --quiet is an option itself"),
            ("report x --out -q", "--out needs a value"),
            ("report x --html y --out y", "each has its own"),
            ("report x --threads 5000", "--threads is at most 1024, not \"5000\""),
            ("report x --out=", "--out is a file's name, not \"\""),
            ("report x --seed 18446744073709551616", "--seed is at most 18446744073709551615, not"),
            ("report x --samples 99999999999999999999", "--samples is at most "),
            ("report x --samples 0", "--samples is a whole number of at least 1, not \"0\""),
            ("report x --samples -5", "--samples is a whole number of at least 1, not \"-5\""),
            ("report x --json=5", "takes no value"),
            ("report x --backend gup", "there is no backend \"gup\": did you mean gpu?"),
            ("report x --sections hesian", "there is no section \"hesian\": did you mean hessian?"),
            ("report x --precision f16", "there are f64, f32"),
            ("report x --backend gpu --precision f64", "a GPU computes in f32"),
            ("report x --sections point --everything", "one of them"),
            ("invariance x --measures loss --everything", "--measures names what to compute"),
            ("invariance x --measures=", "--measures is one name or several, not \"\""),
            ("report x --sections point --sections=,", "--sections is one name or several, not \",\""),
            ("convert x --to npz --transformations=", "--transformations is one name or several"),
            ("invariance x --transformations []", "--transformations names none: []"),
            ("landscape x --directions=", "--directions is one name or several"),
            ("report x --checkpoint=", "--checkpoint is a folder's name, not \"\""),
            ("report x --checkpoint-every 5", "--checkpoint-every needs a --checkpoint"),
            ("report x --backend cpu --adapter 1", "--adapter needs a GPU, not --backend cpu"),
            ("report x --tune anew --backend cpu", "--tune needs a GPU, not --backend cpu"),
            ("report", "report needs files: isoflat report MODEL DATA"),
            ("train --preset lenet", "train needs files"),
            ("train --preset lenett x", "there is no preset \"lenett\": did you mean lenet?"),
            ("train --preset lenet --network lenet x", "one of them"),
            ("train --preset lenet --input 1x28x28 x", "--input is of a model that is read"),
            ("train --preset lenet --output-name y x", "--output-name is of a model that is read"),
            ("train --preset lenet --batch-norm scale x", "--batch-norm is of a model that is read"),
            ("train x --optimizer adm", "did you mean adam?"),
            ("train x --space g-space", "did you mean g_space?"),
            ("train x --space g_space --tree 0", "--tree is keep or a number that is not 0, not \"0\""),
            ("train x --space g_space --tree inf", "--tree is keep or a number that is not 0, not \"inf\""),
            ("train x --space g_space --tree reparametrize", "--tree is keep or a number"),
            ("train x --space g_space --values one", "--values is keep, reparametrize or a number that is not 0"),
            ("train x --space weight_fixing --tree 1", "--tree is of --space g_space, not of weight_fixing"),
            ("train x --values 1", "--values is of --space g_space and weight_fixing, not of weights"),
            ("eigenvalues x --space g_space --tree 1", "--tree is an option of train"),
            ("eigenvalues x --operator hessian.layer_01", "each also with .weights or .layer_1"),
            ("eigenvalues x --operator hesian", "there is no operator \"hesian\": did you mean hessian?"),
            ("invariance x --measures hessian.trase", "did you mean hessian.trace?"),
            ("invariance x --alpha -1", "--alpha is a positive number, not \"-1\""),
            ("invariance x --transformations layer-wise", "did you mean layerwise?"),
            ("invariance x --transformations {\"type\":\"layerwise\"}", "lambda"),
            ("landscape x --directions filter,filter,filter", "one direction or two, not 3"),
            ("landscape x --directions filtr", "did you mean filter?"),
            ("landscape x --directions filter,random", "filter and random have lengths that are measured differently"),
            ("landscape x --directions eigen --points 1", "has 1 points, but needs 2 or more"),
            ("landscape x --extent 1e308", "must be of finite numbers and length"),
            (
                "eigenvalues x --space g_space --density",
                "--density is of the weights' own coordinates, not of --space g_space",
            ),
            ("eigenvalues x --operator riemannian.layerwise_flat --space weight_norm", "in a space there are hessian"),
            ("eigenvalues x --operator hessian.layer_1 --space weight_norm", "not hessian.layer_1"),
            ("convert x --to safetensor", "did you mean safetensors?"),
            ("convert x", "--to"),
            ("convert . --to npz", ". has no name that the weights could have: --out FILE.npz"),
            ("convert a/../ --to json", "a/../ has no name that the weights could have: --out FILE.json"),
            ("convert / --to npz", "/ has no name"),
            ("train x", "--out FILE.safetensors"),
            ("train x --out weights.pt", "it ends with one of safetensors"),
            ("train --preset lenet x --out w.onnx", "w.onnx: an ONNX file is one that was read"),
            ("report x --input 28x28", "1x28x28"),
            ("report x --normalize mnits", "did you mean mnist?"),
            ("report x -z", "there is no option -z"),
            ("help reprot", "did you mean report?"),
            ("--samples 5", "no command was given"),
            ("version 5", "version takes nothing"),
        ] {
            let message = refused(line);
            assert!(message.contains(says), "{line}: {message}");
        }
    }

    #[test]
    fn the_packages_program_has_no_gpu_and_no_checkpoints() {
        for (line, option) in [
            ("report x --adapter 0", Some("adapter")),
            ("report x --tune never", Some("tune")),
            ("train x d -o a.npz --checkpoint c", Some("checkpoint")),
            ("report x --tune auto --threads 2", None),
        ] {
            assert_eq!(native_option(&parsed(line)), option, "{line}");
        }
    }

    #[test]
    fn json_takes_it_there_and_back() {
        for line in [
            "report m.npz d.npz --backend cpu --precision f32 --sections petzka --html a.html",
            "invariance m.npz --transformations layerwise,permutation --alpha 5 --measures loss",
            "landscape m.npz --directions eigen:0,eigen:-1 --points 5 --extent 0.5",
            "train --preset lenet d --out a.npz --epochs 3 --optimizer sgd --rate 0.1 --space g_space",
            "train x d --out a.npz --space g_space --values reparametrize --tree 0.5",
            "convert m.npz --to safetensors --transformations nodewise,permutation --seed 3",
            "help train",
        ] {
            let found = parsed(line);
            let json = serde_json::to_string(&found).expect("a JSON");
            assert!(!json.contains("data_files") && json.contains("\"command\""), "{json}");
            assert_eq!(serde_json::from_str::<Invocation>(&json).expect("an invocation"), found, "{line}");
        }
    }
}
