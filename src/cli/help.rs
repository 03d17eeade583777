//! What help says.

use super::invocation::Command;
use super::options::OPTIONS;

/// Longest line.
const WIDTH: usize = 100;

/// What a command is for: a word on it, a sentence more, and an example.
struct About {
    line: &'static str,
    more: &'static str,
    example: &'static str,
}

fn about(command: Command) -> About {
    let (line, more, example) = match command {
        Command::Report => (
            "the measures of flatness at a model's weights",
            "Loss, accuracy, gradient norms, spectra of the Hessian, the Gauss–Newton matrix and the Riemannian Hessians, Petzka's \
             measures and norms, and for each which rescalings of the weights leave it as it is. Ctrl-C keeps what is finished.",
            "isoflat report model.safetensors test.npz --samples 500 --html report.html",
        ),
        Command::Invariance => (
            "which measures rescaling the weights can fake",
            "Rescales and permutes the weights so that the network computes the same, takes every measure before and after, and holds \
             what it finds against theory.",
            "isoflat invariance model.safetensors test.npz --transformations layerwise,nodewise --alpha 100",
        ),
        Command::Eigenvalues => (
            "the largest eigenvalues of the Hessian, with residuals",
            "Of the Hessian, the Gauss–Newton matrix, Rangamani's Riemannian Hessians, or a layer's block of one.",
            "isoflat eigenvalues model.safetensors test.npz --count 20 --lowest --operator hessian",
        ),
        Command::Landscape => (
            "the loss along one direction, or over a plane of two",
            "Directions are drawn at random and scaled to the filters' lengths (Li et al. 2018), to the layers' or to 1, or are \
             eigenvectors of the Hessian: eigen:0 that of the largest eigenvalue, eigen:-1 that of the smallest.",
            "isoflat landscape model.safetensors test.npz --directions eigen:0,eigen:1 --html landscape.html",
        ),
        Command::Train => (
            "train a network, in the weights or in a space without the symmetry",
            "From random weights (--preset), or from a model's. The weights go into --out. Ctrl-C keeps what was reached.",
            "isoflat train --preset lenet train.npz --epochs 3 --precision f32 --out lenet.safetensors",
        ),
        Command::Convert => (
            "a model's weights in another format, bent if that is asked for",
            "With data beside the model, JSON is a problem file, which has everything in it, and problem the same as safetensors; without, \
             JSON is the network alone. Transformations leave what the network computes, and change its weights.",
            "isoflat convert model.onnx --to safetensors --out model.safetensors",
        ),
        Command::Plan => (
            "what work would take on more machines, and where more stop helping",
            "Times Hessian products of more and more samples here, and says for 1, 2, 4, … ranks the memory of each, the time of a product, \
             and how much of it is waiting for the others. Under mpirun the network between the ranks is measured.",
            "isoflat plan model.safetensors test.npz --nodes 64",
        ),
        Command::Help => ("what there is, or what a command takes", "", "isoflat help report"),
        Command::Version => ("the version", "", "isoflat version"),
    };
    About { line, more, example }
}

/// What `isoflat help` says of everything, or of one command.
pub fn help(topic: Option<Command>) -> String {
    match topic {
        None => overview(),
        Some(command) => of_command(command),
    }
}

fn overview() -> String {
    let mut out = String::from(
        "isoflat: how flat is a trained network's minimum, in a way that rescaling its weights cannot fake.\n\
         It opens a model and data as other programs write them, and says which of its numbers to trust.\n\n\
         isoflat COMMAND MODEL [DATA …] [--options]\n",
    );
    for command in Command::ALL {
        let About { line, example, .. } = about(command);
        out += &format!("\n  {:<11} {line}\n{:4}{example}\n", command.name(), "");
    }
    out.push('\n');
    out += &wrapped(
        "The first file is the model; those that belong to it, and data, follow in any order. A folder stands for all that is in it. \
         isoflat help COMMAND lists the options. It ends with 0, with 1 where the work failed, with 2 where the words were wrong, and \
         with 130 after Ctrl-C, which keeps what is finished; a second Ctrl-C ends at once.",
        "",
    );
    out
}

fn of_command(command: Command) -> String {
    let About { line, more, example } = about(command);
    let mut out = format!("isoflat {}: {line}\n\n", command.name());
    if !more.is_empty() {
        out += &wrapped(more, "");
        out.push('\n');
    }
    out += &format!("  {example}\n");
    let rows: Vec<_> = OPTIONS.iter().filter(|row| row.is_of(command)).collect();
    let words = |row: &super::options::OptionRow| match row.value {
        Some(value) => format!("--{} {value}", row.name),
        None => format!("--{}", row.name),
    };
    let width = rows.iter().map(|row| words(row).chars().count()).max().unwrap_or(0);
    if !rows.is_empty() {
        out.push('\n');
    }
    let indent = " ".repeat(width + 4);
    for row in rows {
        let lines = wrapped(row.says, &indent);
        out += &format!("  {:<width$}  {}", words(row), lines.strip_prefix(&indent).unwrap_or(&lines));
    }
    out
}

/// Text in lines.
pub(super) fn wrapped(text: &str, indent: &str) -> String {
    let (mut out, mut line) = (String::new(), String::from(indent));
    for word in text.split_whitespace() {
        let is_begun = line.len() > indent.len();
        if is_begun && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out += &line;
            out.push('\n');
            line = String::from(indent);
        } else if is_begun {
            line.push(' ');
        }
        line += word;
    }
    out + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::{WIDTH, about, help};
    use crate::cli::{Command, parse};

    #[test]
    fn every_example_is_a_command() {
        for command in Command::ALL {
            let words: Vec<String> = about(command).example.split_whitespace().skip(1).map(String::from).collect();
            let found = parse(&words).unwrap_or_else(|error| panic!("{}: {error}", words.join(" ")));
            assert_eq!(found.command, command);
        }
    }

    #[test]
    fn help_names_all_there_is_in_lines_that_fit() {
        let all = help(None);
        for command in Command::ALL {
            assert!(all.contains(&format!("  {} ", command.name())), "{}", command.name());
            for line in help(Some(command)).lines().chain(all.lines()) {
                assert!(line.chars().count() <= WIDTH, "{line}");
            }
        }
        let train = help(Some(Command::Train));
        for option in ["--epochs N", "--samples N", "--backend auto|cpu|gpu", "--out FILE"] {
            assert!(train.contains(option), "{option}");
        }
        assert!(!train.contains("--count"));
    }
}
