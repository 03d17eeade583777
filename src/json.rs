//! Reading JSON, with errors in the words of the format: which value it is, what it must be, which choices there are. serde's
//! own speak of Rust's types.

mod strict;

use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::Value;

use strict::{Choices, Segment, Strict, Way};

use crate::error::{Error, ErrorCode, Result};

/// A value from a JSON text.
///
/// # Errors
/// `Parse`, with the path of what is wrong and its line and column.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = tracked(&mut deserializer).map_err(|(place, error)| invalid(&placed(&place, &error.to_string())))?;
    deserializer.end().map_err(|error| invalid(&in_words(&error.to_string(), None)))?;
    Ok(value)
}

#[cold]
#[inline(never)]
fn invalid(message: &str) -> Error {
    Error::new(ErrorCode::Parse, format!("not a valid isoflat JSON: {message}"))
}

/// A value from a plain one; the message says what is wrong with what.
pub(crate) fn from_value<T: DeserializeOwned>(value: &Value) -> std::result::Result<T, String> {
    tracked(value).map_err(|(place, error)| said_of(value, place, &error))
}

/// The message for a value. Here and below what no type is needed for is apart: of the rest there is one a type.
#[cold]
#[inline(never)]
fn said_of(value: &Value, mut place: Place, error: &serde_json::Error) -> String {
    let error = error.to_string();
    let message = placed(&place, &error);
    match key_of(value, &place.0, &message) {
        Some(key) if message.contains("must ") => {
            place.0.push(Segment::Key(key));
            placed(&place, &error)
        }
        _ => message,
    }
}

/// The way to what is wrong, and the choices that there are for it.
type Place = (Vec<Segment>, Choices);

/// A value, or where in it what is wrong.
fn tracked<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> std::result::Result<T, (Place, D::Error)> {
    let way = Way::default();
    let found = T::deserialize(Strict(from, &way));
    found.map_err(|error| (way.into_parts(), error))
}

/// For `deserialize_with`, of a list of objects inside one that is read by its `type`.
pub(crate) fn objects<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<Vec<T>, D::Error> {
    Vec::deserialize(Strict(from, &Way::default()))
}

/// serde loses the path inside an object that is read by its type: the one key whose value is what the message speaks of.
fn key_of(value: &Value, path: &[Segment], message: &str) -> Option<String> {
    let (_, found) = message.split_once(", not ")?;
    let inner = path.iter().try_fold(value, |value, segment| match segment {
        Segment::Key(key) => value.get(key),
        Segment::Index(index) => value.get(index),
    })?;
    let said = |value: &Value| match value {
        Value::String(text) => format!("the string {text:?}"),
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
        // As `given` has it.
        other => other.to_string().trim_end_matches(".0").into(),
    };
    let mut keys = inner.as_object()?.iter().filter(|(_, value)| said(value) == found);
    let (key, _) = keys.next()?;
    keys.next().is_none().then(|| key.clone())
}

/// For `deserialize_with`, of a choice with nothing beside its `type`: serde would pass over other keys.
pub(crate) fn nothing<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<(), D::Error> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    Nothing::deserialize(from).map(|_| ())
}

/// A message with the path of what it speaks of; none for the whole.
fn placed((path, choices): &Place, message: &str) -> String {
    let message = in_words(message, *choices);
    let mut place = String::new();
    for segment in path {
        match segment {
            Segment::Key(key) if place.is_empty() => place.push_str(key),
            Segment::Key(key) => place.extend([".", key]),
            Segment::Index(index) => place.push_str(&format!("[{index}]")),
        }
    }
    if place.is_empty() {
        return message;
    }
    // Some of our own types say themselves what they are called.
    let own = match path.last() {
        Some(Segment::Key(key)) => message.strip_prefix(key.as_str()).map(str::trim_start),
        _ => None,
    };
    let said = own.unwrap_or(&message);
    if said.starts_with("must ") { format!("{place} {said}") } else { format!("{place}: {message}") }
}

/// serde's message without Rust's types.
fn in_words(message: &str, choices: Choices) -> String {
    let (message, place) = match message.rsplit_once(" at line ") {
        Some((message, place)) => (message, format!(" (line {})", place.replacen(" column", ", column", 1))),
        None => (message, String::new()),
    };
    let found = sentence(message, choices).unwrap_or_else(|| message.to_owned());
    format!("{found}{place}")
}

fn sentence(message: &str, choices: Choices) -> Option<String> {
    let names = || choices.map_or("one of the names there are".into(), |list| format!("one of {}", list.join(", ")));
    let (kind, rest) = message.split_once(' ')?;
    match kind {
        "invalid" => {
            let (found, expected) = rest.split_once(", expected ")?;
            // What serde_json wants for a choice, whether or not it carries something.
            if expected == "map with a single key" {
                return Some(format!("must name {}, and one alone", names()));
            }
            if let ("string or map", Some(found)) = (expected, found.strip_prefix("type: ")) {
                return Some(format!("must name {}, not {}", names(), given(found)));
            }
            if let Some(found) = found.strip_prefix("type: ").or_else(|| found.strip_prefix("value: ")) {
                return Some(format!("must be {}, not {}", wanted(expected), given(found)));
            }
            let count = found.strip_prefix("length ")?;
            Some(format!("must be {}, but has {count}", wanted(expected)))
        }
        "unknown" => {
            let (what, choices) = rest.split_once(", ")?;
            let name = what.split_once(' ')?.1.replace('`', "\"");
            let choices = match choices.strip_prefix("expected ") {
                Some(choices) => format!("there are {}", listed(choices.strip_prefix("one of ").unwrap_or(choices))),
                None => "there are none".into(),
            };
            let kind = if what.starts_with("variant") { "choice" } else { "key" };
            Some(format!("there is no {kind} {name}; {choices}"))
        }
        "expected" if rest == "value" && choices.is_some() => Some(format!("must name {}", names())),
        "missing" => Some(format!("the key {} is missing", rest.strip_prefix("field ")?.replace('`', "\""))),
        "duplicate" => Some(format!("the key {} is there twice", rest.strip_prefix("field ")?.replace('`', "\""))),
        "data" => {
            rest.starts_with("did not match any variant").then(|| "has none of the forms that it may have".into())
        }
        _ => None,
    }
}

/// `` `a`, `b` or `c` `` as `a, b, c`.
fn listed(choices: &str) -> String {
    choices.replace(" or ", ", ").replace('`', "")
}

/// What was found, from serde's name of it.
fn given(found: &str) -> String {
    if let Some(text) = found.strip_prefix("string ") {
        return format!("the string {text}");
    }
    match found {
        "sequence" => "an array".into(),
        "map" => "an object".into(),
        "unit value" | "Option value" => "null".into(),
        "unit variant" => "a name alone".into(),
        _ => match found.split_once('`') {
            // serde puts a point behind whole numbers that only a float holds.
            Some((_, value)) => value.trim_end_matches('`').trim_end_matches(".0").into(),
            None => found.into(),
        },
    }
}

/// What is wanted, from serde's name of it.
fn wanted(expected: &str) -> String {
    match expected {
        "usize" if usize::BITS == 32 => "a whole number from 0 to 4294967295".into(),
        // A number of JavaScript's counts no further.
        "u64" if usize::BITS == 32 => "a whole number from 0 to 9007199254740991 (2^53 − 1)".into(),
        "usize" | "u64" => "a whole number of at least 0".into(),
        "u32" => "a whole number from 0 to 4294967295".into(),
        "isize" | "i64" | "i32" => "a whole number".into(),
        "f64" | "f32" => "a number".into(),
        "a sequence" => "an array".into(),
        "a map" => "an object".into(),
        "newtype variant" => "an object with it as its one key".into(),
        "unit" => "a name alone".into(),
        "variant identifier" => "a string".into(),
        "a boolean" => "true or false".into(),
        _ if expected.starts_with("struct ") => "an object".into(),
        _ if expected.starts_with("internally tagged enum ") => "an object with a type".into(),
        _ if expected.contains("enum ") => "one of the names there are".into(),
        _ => expected
            .replace("a tuple of size ", "an array of ")
            .replace("tuple of ", "an array of ")
            .replace("an array of length ", "an array of "),
    }
}

#[cfg(all(test, computes))]
mod tests {
    use serde_json::json;

    use super::{from_value, read};
    use crate::report::Section;
    use crate::space::SpaceKind;
    use crate::symmetry::Transformation;
    use crate::train::{Schedule, Target};

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only what is wrong with it is looked at")]
    struct Options {
        count: Option<usize>,
        seed: Option<u64>,
        range: Option<(f64, f64)>,
        space: Option<SpaceKind>,
        names: Option<Vec<String>>,
        schedule: Option<Schedule>,
        target: Option<Target>,
        sections: Option<Vec<Section>>,
    }

    #[test]
    fn errors_are_in_the_words_of_the_format() {
        for (value, says) in [
            (json!({ "count": -1 }), "count must be a whole number"),
            (json!({ "count": 1.5 }), ", not 1.5"),
            (json!({ "seed": "five" }), "seed must be a whole number of at least 0, not the string \"five\""),
            (json!({ "range": [1] }), "range must be an array of 2, but has 1"),
            (json!({ "range": {} }), "range must be an array of 2, not an object"),
            (json!({ "names": [true] }), "names[0] must be a string, not true"),
            (
                json!({ "nonsense": 1 }),
                "there is no key \"nonsense\"; there are count, seed, range, space, names, schedule, target, sections",
            ),
            (json!({ "space": { "type": "g" } }), "there is no choice \"g\"; there are weights, g_space"),
            (json!({ "space": {} }), "space: the key \"type\" is missing"),
            (json!({ "space": 3 }), "space must be an object with a type, not 3"),
            (json!({ "space": { "type": "g_space", "choice": 5 } }), "choice"),
            (
                json!({ "space": { "type": "g_space", "tree": "reparametrize" } }),
                "there is no choice \"reparametrize\"; there are keep, set",
            ),
            (
                json!({ "space": { "type": "weight_fixing", "tree": "keep" } }),
                "there is no key \"tree\"; there are choice, values",
            ),
            (json!({ "space": ["weights"] }), "space must be an object with a type, not an array"),
            (json!({ "schedule": [] }), "schedule must be an object, not an array"),
            (
                json!({ "schedule": { "decay": ["constant"] } }),
                "schedule.decay must be an object with a type, not an array",
            ),
            (
                json!({ "schedule": { "warmup": 5 } }),
                "schedule: there is no key \"warmup\"; there are warmUpSteps, decay",
            ),
            (json!({ "schedule": { "decay": { "type": "constant", "x": 1 } } }), "there is no key \"x\""),
            (
                json!({ "space": { "type": "g_space", "values": 3 } }),
                "space.values must name one of the names there are, not 3",
            ),
            (
                json!({ "space": { "type": "g_space", "values": {} } }),
                "must name one of the names there are, and one alone",
            ),
            (
                json!({ "space": { "type": "g_space", "tree": { "set": "x" } } }),
                "must be a number, not the string \"x\"",
            ),
            (json!({ "space": { "type": 3 } }), "space.type must be a string, not 3"),
            (json!({ "target": 3 }), "target must name one of loss, accuracy, not 3"),
            (json!({ "target": "loss" }), "target must be an object with it as its one key, not a name alone"),
            (
                json!({ "target": { "loss": 1, "accuracy": 1 } }),
                "target must name one of loss, accuracy, and one alone",
            ),
            (json!({ "target": { "loss": "x" } }), "must be a number, not the string \"x\""),
            (json!({ "sections": [3] }), "sections[0] must name one of point, norms,"),
            (json!({ "sections": [{ "point": 3 }] }), "must be a name alone, not 3"),
            (json!({ "seed": 9_007_199_254_740_992.0_f64 }), ", not 9007199254740992"),
            (json!([]), "must be an object, not an array"),
            (json!("x"), "must be an object, not the string \"x\""),
        ] {
            let message = from_value::<Options>(&value).expect_err("a fault");
            assert!(message.contains(says), "{value}: {message}");
        }
    }

    #[test]
    fn a_text_says_where() {
        let message =
            read::<Transformation>("{\"type\": \"alpha_scale\",\n\"alpha\": \"x\"}").expect_err("a fault").message;
        assert!(message.contains("must be a number, not the string \"x\"") && !message.contains("f64"), "{message}");
        let large = json!({ "type": "random_permutation", "seed": 9_007_199_254_740_992.0_f64 });
        let message = from_value::<Transformation>(&large).expect_err("a fault");
        assert!(
            message.starts_with("seed must be a whole number") && message.ends_with(", not 9007199254740992"),
            "{message}"
        );
        let nested = r#"{"type": "composition", "of": [["alpha_scale", 2]]}"#;
        let message = read::<Transformation>(nested).expect_err("a fault").message;
        assert!(message.contains("must be an object with a type, not an array"), "{message}");
        let message = read::<Options>("{\"count\": [").expect_err("a fault").message;
        assert!(message.contains("line 1, column"), "{message}");
        let message = read::<Options>("{} {}").expect_err("a fault").message;
        assert!(message.contains("trailing characters (line 1, column 4)"), "{message}");
    }
}
