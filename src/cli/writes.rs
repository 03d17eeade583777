//! What is written, and under which names.

use super::invocation::{Command, Invocation, SaveAs};
use super::open::{Origin, begins_at_random};
use crate::error::{Result, bail, ensure};

/// What a model's format is called that is written by its own file alone.
const ONNX: &str = "ONNX";

impl Invocation {
    /// The files that will be written, by their names: also the one that weights get where nobody names it.
    ///
    /// # Errors
    /// `InvalidOption` where it cannot be told what is written.
    pub fn writes(&self) -> Result<Vec<String>> {
        let out = if saves(self) { Some(save_format(self)?.0) } else { self.output.out.clone() };
        Ok(self.output.html.iter().cloned().chain(out).collect())
    }

    /// The one of them that nobody has named: what has this name already is somebody else's, and stays.
    ///
    /// # Errors
    /// As [`Invocation::writes`].
    pub fn names_itself(&self) -> Result<Option<String>> {
        let is_named = self.output.out.is_some() || !saves(self);
        if is_named { Ok(None) } else { Ok(Some(save_format(self)?.0)) }
    }
}

/// Are weights written?
fn saves(invocation: &Invocation) -> bool {
    matches!(invocation.command, Command::Convert | Command::Train)
}

/// Are the data a part of what is written?
///
/// # Errors
/// `InvalidOption` where it cannot be told what is written.
pub fn writes_data(invocation: &Invocation) -> Result<bool> {
    Ok(saves(invocation) && matches!(save_format(invocation)?.1, SaveAs::Json | SaveAs::Problem))
}

/// What words alone tell.
///
/// # Errors
/// What [`save_format`] says; `InvalidOption` for an ONNX file that there is not.
pub(super) fn check(invocation: &Invocation) -> Result<()> {
    if !saves(invocation) {
        return Ok(());
    }
    let (name, format) = save_format(invocation)?;
    ensure!(
        !(format == SaveAs::Onnx && begins_at_random(invocation)),
        InvalidOption,
        "{name}: an ONNX file is one that was read, with other weights, and --preset reads none: safetensors or npz have them"
    );
    Ok(())
}

/// What the model tells besides, before work whose result could not be written.
///
/// # Errors
/// `InvalidOption` for ONNX of a model that came as something else.
pub(super) fn ensure_savable(invocation: &Invocation, model: &Origin) -> Result<()> {
    let is_onnx = saves(invocation) && save_format(invocation)?.1 == SaveAs::Onnx;
    ensure!(
        !is_onnx || model.format == ONNX,
        InvalidOption,
        "{}: this is no ONNX file, so it cannot be saved as one: safetensors, npz or json can be written",
        model.files.first().map_or("the model", String::as_str)
    );
    Ok(())
}

/// Where parameters go, and as what.
///
/// # Errors
/// `InvalidOption` where neither `--to` nor the name in `--out` says it, and where there is no name.
pub(super) fn save_format(invocation: &Invocation) -> Result<(String, SaveAs)> {
    let out = invocation.output.out.as_deref();
    let by_name = out.and_then(SaveAs::of_name);
    let Some(format) = invocation.convert.to.or(by_name) else {
        match (invocation.command, out) {
            (Command::Convert, None) => {
                bail!(InvalidOption, "convert needs a format: --to {}", SaveAs::ALL.map(SaveAs::name).join("|"))
            }
            (_, None) => bail!(InvalidOption, "train needs a place for the weights: --out FILE.safetensors"),
            (_, Some(name)) => bail!(
                InvalidOption,
                "the name {name} tells no format: it ends with one of {}, or --to says it",
                SaveAs::ALL.map(SaveAs::extension).join(", ")
            ),
        }
    };
    let name = match out {
        Some(name) => name.into(),
        None => usual_name(invocation, format)?,
    };
    Ok((name, format))
}

/// The model's own name, in the folder that one is in.
fn usual_name(invocation: &Invocation, format: SaveAs) -> Result<String> {
    let (first, extension) = (invocation.files.first().map_or("model", String::as_str), format.extension());
    let base = first.trim_end_matches(['/', '\\']);
    let base = base.rsplit(['/', '\\']).next().unwrap_or(base);
    // Of dots alone would come a hidden file.
    ensure!(
        !base.trim_matches('.').is_empty(),
        InvalidOption,
        "{first} has no name that the weights could have: --out FILE.{extension}"
    );
    let stem = base.rsplit_once('.').map_or(base, |(stem, _)| if stem.is_empty() { base } else { stem });
    Ok(format!("{stem}.{extension}"))
}

#[cfg(test)]
mod tests {
    use crate::cli::{Invocation, open, parse};
    use crate::io::File;

    fn parsed(line: &str) -> Invocation {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        parse(&words).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[test]
    fn what_is_written_is_known_before_the_work() {
        for (line, names) in [
            ("report x", &[][..]),
            ("report x --out a.json --html a.html", &["a.html", "a.json"]),
            ("train x d --out a.npz --html a.html", &["a.html", "a.npz"]),
            ("convert x --out a.npz", &["a.npz"]),
            // Where nobody names a file it is the model's name in this folder, wherever the model is.
            ("convert a/model.npz --to npz", &["model.npz"]),
            ("convert ./model.npz --to problem", &["model.problem.safetensors"]),
            ("convert models/ --to npz", &["models.npz"]),
            ("convert ../.hidden --to json", &[".hidden.json"]),
        ] {
            assert_eq!(parsed(line).writes().expect(line), names, "{line}");
            let own = (line.starts_with("convert") && !line.contains("--out")).then(|| names[0].to_owned());
            assert_eq!(parsed(line).names_itself().expect(line), own, "{line}");
        }
    }

    #[test]
    fn an_onnx_file_is_written_of_one_that_was_read() {
        let case = File::new("m.json", &include_bytes!("../../tests/golden/mlp_bias.json")[..]);
        for line in ["train m.json --out x.onnx", "convert m.json --to onnx"] {
            let refused = open(&parsed(line), std::slice::from_ref(&case)).expect_err(line);
            assert!(refused.message.contains("m.json: this is no ONNX file"), "{line}: {refused}");
        }
        let model = File::new("m.onnx", &include_bytes!("../../tests/fixtures/onnx/lenet.onnx")[..]);
        open(&parsed("convert m.onnx --to onnx --out x.onnx"), &[model]).expect("an ONNX file");
    }
}
