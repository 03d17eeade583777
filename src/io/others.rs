//! What other programs write and isoflat does not read, and what to do instead: a refusal should not leave anybody where they were.

use self::Sign::{Begins, Ends, Is};
use super::File;
use super::archive::{Archive, is_zip};

/// A kind of file: how it is known, what it is, and what would do.
struct Kind {
    sign: Sign,
    what: &'static str,
    instead: &'static str,
}

enum Sign {
    /// First bytes.
    Begins(&'static [u8]),
    /// The end of a name.
    Ends(&'static str),
    Is(fn(&File) -> bool),
}

const TABLE: &str = "save the table as CSV";
const UNPACK: &str = "unpack it and open the files that were in it";

/// The surer ones first.
const KINDS: &[Kind] = &[
    Kind {
        sign: Is(is_saved_model),
        what: "a part of a TensorFlow SavedModel",
        instead: "convert the folder (python -m tf2onnx.convert --saved-model FOLDER --output model.onnx)",
    },
    Kind {
        sign: Is(|file| file.bytes.get(4..8) == Some(b"TFL3")),
        what: "a TensorFlow Lite model",
        instead: "convert it (python -m tf2onnx.convert --tflite FILE --output model.onnx)",
    },
    Kind {
        sign: Ends("pb"),
        what: "a TensorFlow graph",
        instead: "convert it (python -m tf2onnx.convert --graphdef FILE --output model.onnx …)",
    },
    Kind { sign: Begins(b"PAR1"), what: "Parquet", instead: TABLE },
    Kind { sign: Begins(b"ARROW1"), what: "Arrow", instead: TABLE },
    Kind { sign: Is(is_workbook), what: "an Excel workbook", instead: TABLE },
    Kind { sign: Begins(b"SQLite format 3"), what: "an SQLite database", instead: TABLE },
    Kind {
        sign: Begins(b"MATLAB "),
        what: "a MATLAB file",
        instead: "save its arrays (scipy.io.loadmat, then np.savez(\"arrays.npz\", …))",
    },
    Kind {
        sign: Begins(b"GGUF"),
        what: "a GGUF model, whose weights are quantised",
        instead: "open the safetensors that it was made of",
    },
    Kind {
        sign: Ends("msgpack"),
        what: "weights of Flax",
        instead: "save them with safetensors.flax.save_file, or as np.savez(\"weights.npz\", …)",
    },
    Kind { sign: Ends("mlmodel"), what: "a Core ML model", instead: "open the model that it was converted from" },
    Kind {
        sign: Is(is_pickle),
        what: "a pickle",
        instead: "it is a program, and isoflat executes none; save weights or data as arrays (np.savez(\"arrays.npz\", …)), a PyTorch \
                  model as torch.save(model.state_dict(), …)",
    },
    Kind { sign: Is(|file| file.bytes.get(257..262) == Some(b"ustar")), what: "a tar archive", instead: UNPACK },
    Kind { sign: Begins(b"7z\xbc\xaf\x27\x1c"), what: "a 7-Zip archive", instead: UNPACK },
    Kind { sign: Begins(b"Rar!"), what: "a RAR archive", instead: UNPACK },
    Kind { sign: Begins(b"\xfd7zXZ\0"), what: "an XZ file", instead: UNPACK },
    Kind { sign: Begins(b"BZh"), what: "a bzip2 file", instead: UNPACK },
    Kind { sign: Begins(b"\x28\xb5\x2f\xfd"), what: "a Zstandard file", instead: UNPACK },
    Kind { sign: Is(|file| is_zip(&file.bytes)), what: "a zip archive without arrays or images", instead: UNPACK },
];

/// What a file is that isoflat does not read, and what to do, if that is known.
pub(super) fn told(file: &File) -> Option<String> {
    let kind = KINDS.iter().find(|kind| match kind.sign {
        Begins(bytes) => file.bytes.starts_with(bytes),
        Ends(end) => file.has_extension(end),
        Is(is) => is(file),
    })?;
    Some(format!("{}, which isoflat does not read: {}", kind.what, kind.instead))
}

/// Its folder has the same names everywhere.
fn is_saved_model(file: &File) -> bool {
    let base = file.base();
    let is_variables = base == "variables.index" || base.starts_with("variables.data-");
    is_variables || ["saved_model.pb", "keras_metadata.pb", "fingerprint.pb"].contains(&base)
}

fn is_workbook(file: &File) -> bool {
    is_zip(&file.bytes) && Archive::open(&file.bytes).is_ok_and(|archive| archive.has("xl/workbook.xml"))
}

/// By its first bytes, since protocol 2, or by its name.
fn is_pickle(file: &File) -> bool {
    let is_protocol = matches!(file.bytes[..], [0x80, 2..=5, ..]);
    is_protocol || ["pkl", "pickle", "joblib"].iter().any(|end| file.has_extension(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_programs_are_told_what_to_do() {
        let tar: Vec<u8> = [vec![0; 257], b"ustar\0".to_vec()].concat();
        for (name, bytes, what, instead) in [
            ("m/saved_model.pb", &b"\x08\x01"[..], "SavedModel", "--saved-model"),
            ("m/variables/variables.data-00000-of-00001", b"\0\0", "SavedModel", "--saved-model"),
            ("frozen.pb", b"\n\x10", "TensorFlow graph", "--graphdef"),
            ("a.tflite", b"\x1c\0\0\0TFL3\x14", "TensorFlow Lite", "--tflite"),
            ("a.parquet", b"PAR1\x15", "Parquet", "CSV"),
            ("a.mat", b"MATLAB 5.0 MAT-file", "MATLAB", "loadmat"),
            ("a.gguf", b"GGUF\x03", "GGUF", "safetensors"),
            ("model.joblib", b"\x80\x04\x95", "a pickle", "np.savez"),
            ("old.pkl", b"(dp0", "a pickle", "state_dict"),
            ("a.tar", &tar, "tar archive", "unpack"),
            ("a.zip", b"PK\x03\x04", "zip archive", "unpack"),
        ] {
            let found = told(&File::new(name, bytes)).expect(name);
            assert!(found.contains(what) && found.contains(instead), "{name}: {found}");
        }
        assert_eq!(told(&File::new("README.md", &b"# A model"[..])), None);
    }
}
