//! One error type, with a stable code for programs and a sentence for people.

use std::fmt;

/// Result of everything in isoflat that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of fault it is. The spelling of [`ErrorCode::as_str`] is stable: programs may match on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorCode {
    /// Text that is not the JSON (or the file format) that was expected.
    Parse,
    /// A network that cannot be: unknown layer, zero width, shapes that do not fit.
    InvalidNetwork,
    /// Data that do not fit the network or the loss: wrong lengths, zero samples, label out of range.
    InvalidProblem,
    /// A parameter vector, or a direction, of the wrong length.
    InvalidParameters,
    /// A number that must be finite and is not.
    NotFinite,
    /// A tensor too large or too small, as a whole, for the device's number format. The message says which, and what would hold it.
    OutOfRange,
    /// An option outside its range.
    InvalidOption,
    /// A transformation that would change the function: a factor ≤ 0, a product that is not 1, a wrong count.
    InvalidTransformation,
    /// A rescaling asked of a network with an activation that is not positively homogeneous.
    NotHomogeneous,
    /// More than the device, or the memory, can hold. The message says what was asked and what the limit is.
    TooLarge,
    /// The backend that was asked for is not there.
    BackendUnavailable,
    /// The GPU, or a thread, was lost in the middle of the work; create a new engine.
    DeviceLost,
    /// The GPU refused a command: a fault of isoflat, please report it.
    Gpu,
    /// The caller stopped the work.
    Aborted,
    /// A handle that was freed, or is none; JavaScript only.
    InvalidHandle,
}

impl ErrorCode {
    /// The stable name, as JavaScript sees it in `error.code`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::InvalidNetwork => "invalid_network",
            Self::InvalidProblem => "invalid_problem",
            Self::InvalidParameters => "invalid_parameters",
            Self::NotFinite => "not_finite",
            Self::OutOfRange => "out_of_range",
            Self::InvalidOption => "invalid_option",
            Self::InvalidTransformation => "invalid_transformation",
            Self::NotHomogeneous => "not_homogeneous",
            Self::TooLarge => "too_large",
            Self::BackendUnavailable => "backend_unavailable",
            Self::DeviceLost => "device_lost",
            Self::Gpu => "gpu",
            Self::Aborted => "aborted",
            Self::InvalidHandle => "invalid_handle",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error: a stable code and a message that names the fault.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Error {
    /// The kind of fault.
    pub code: ErrorCode,
    /// What is wrong, what was expected, and where.
    pub message: String,
}

impl Error {
    /// An error of this kind with this message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: shortened(message.into()) }
    }

    /// An error with a formatted message. A function of its own, since there are a thousand places that call it.
    #[cold]
    #[inline(never)]
    pub(crate) fn formatted(code: ErrorCode, message: fmt::Arguments<'_>) -> Self {
        Self::new(code, message.to_string())
    }
}

/// Most characters of a message, and how many of them stay at its end where it is longer.
const LONGEST: usize = 1800;
const END: usize = 300;

/// A message that quotes what is of any length does not become as long.
fn shortened(message: String) -> String {
    if message.len() <= LONGEST {
        return message;
    }
    let [start, end] = [LONGEST - END, message.len() - END].map(|at| message.floor_char_boundary(at));
    format!("{} … {}", &message[..start], &message[end..])
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Of messages that isoflat writes itself; what others write is read by `crate::json`.
impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::new(ErrorCode::Parse, format!("a message between threads cannot be read: {error}"))
    }
}

/// `Err` with a code and a formatted message: `bail!(InvalidNetwork, "layer {i} …")`.
macro_rules! bail {
    ($code:ident, $($message:tt)+) => {
        return Err($crate::error::Error::formatted($crate::error::ErrorCode::$code, format_args!($($message)+)))
    };
}
pub(crate) use bail;

/// [`bail!`] unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $code:ident, $($message:tt)+) => {
        if !$condition {
            $crate::error::bail!($code, $($message)+);
        }
    };
}
pub(crate) use ensure;

/// `InvalidOption` unless it is positive and finite, saying which of the two it is not.
pub(crate) fn ensure_positive(what: &str, value: f64) -> Result<()> {
    ensure!(!value.is_infinite(), InvalidOption, "{what} is {value}, but must be finite");
    let is_positive = value > 0.0;
    ensure!(is_positive, InvalidOption, "{what} is {value}, but must be positive");
    Ok(())
}

/// `NotFinite` if any of the values is NaN or infinite, saying which.
pub(crate) fn ensure_finite(what: &str, values: &[f64]) -> Result<()> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(i) => bail!(NotFinite, "{what}[{i}] is {}, but must be finite", values[i]),
    }
}

/// Names in a sentence: the first ones, of so many.
pub(crate) fn some_of(names: &[impl AsRef<str>], count: usize) -> String {
    let mut text = String::new();
    for (i, name) in names.iter().enumerate() {
        text.push_str(if i > 0 { ", " } else { "" });
        text.push_str(name.as_ref());
    }
    match count.saturating_sub(names.len()) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}
