//! Weights in several files: `model-00001-of-00002.safetensors` is one of two, and by itself half a network, which may be one too.

use super::File;
use crate::error::{Result, bail, some_of};

/// Digits of a part's number and of how many there are, at least: fewer are anything's.
const DIGITS: usize = 5;

/// The names of the other parts, where a name says that there are some: so many, and the first of them.
fn others(name: &str) -> Option<(usize, Vec<String>)> {
    const MOST: usize = 4;
    let (rest, end) = name.rsplit_once('.').map_or((name, String::new()), |(rest, end)| (rest, format!(".{end}")));
    let (rest, all) = rest.rsplit_once("-of-")?;
    let (head, own) = rest.rsplit_once('-')?;
    let number = |text: &str| -> Option<usize> {
        let is_number = text.len() >= DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { text.parse().ok() } else { None }
    };
    let (i, count) = (number(own)?, number(all)?);
    if count < 2 || !(1..=count).contains(&i) {
        return None;
    }
    let name = |part: usize| format!("{head}-{part:0width$}-of-{all}{end}", width = own.len());
    Some((count - 1, (1..=count).filter(|&part| part != i).take(MOST).map(name).collect()))
}

/// Fails where a file of weights is a part of a model.
///
/// # Errors
/// `InvalidOption`, with the names of the other parts.
pub(super) fn ensure_whole(file: &File) -> Result<()> {
    let Some((count, names)) = others(file.base()) else { return Ok(()) };
    bail!(
        InvalidOption,
        "{}: by its name it has a part of a model's weights, and the others are in {}: put all tensors into one file first, as \
         model.save_pretrained does with a large max_shard_size, or safetensors.torch.save_file",
        file.name,
        some_of(&names, count)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_model_name_the_others() {
        let told = |name: &str| ensure_whole(&File::new(name, &b""[..])).map_err(|error| error.message);
        let said = told("a/model-00002-of-00002.safetensors").expect_err("a half");
        assert!(
            said.starts_with("a/model-00002-of-00002.safetensors: ")
                && said.contains("in model-00001-of-00002.safetensors:"),
            "{said}"
        );
        let said = told("pytorch_model-00001-of-99999.bin").expect_err("a part");
        assert!(said.contains("pytorch_model-00002-of-99999.bin") && said.contains("99994 more"), "{said}");
        for whole in [
            "model.safetensors",
            "model-00001-of-00001.safetensors",
            "epoch-001-of-100.pt",
            "model-00003-of-00002.pt",
            "x-of-00002.pt",
            "model-1e001-of-00002.pt",
        ] {
            told(whole).expect("a model");
        }
    }
}
