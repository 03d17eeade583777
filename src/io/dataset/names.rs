//! What the names of arrays, files and folders say: whether they are inputs or targets, of training or of test.

use std::cmp::Ordering;

/// What an array is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Inputs,
    Targets,
}

/// A part of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Split {
    Test,
    Validation,
    Train,
}

impl Split {
    /// The name in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Validation => "validation",
            Self::Train => "train",
        }
    }
}

const INPUTS: [&str; 11] =
    ["inputs", "input", "x", "xs", "images", "image", "imgs", "img", "data", "features", "pixels"];
const TARGETS: [&str; 8] = ["targets", "target", "y", "ys", "labels", "label", "classes", "class"];
const SPLITS: [(&str, Split); 10] = [
    ("training", Split::Train),
    ("train", Split::Train),
    ("testing", Split::Test),
    ("test", Split::Test),
    ("t10k", Split::Test),
    ("eval", Split::Test),
    ("validation", Split::Validation),
    ("valid", Split::Validation),
    ("val", Split::Validation),
    ("dev", Split::Validation),
];

/// A name's words, in small letters: at what is no letter or digit, and where a capital follows a small letter.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A word as a split and what is beside it, as in `xtrain`.
fn split_off(word: &str) -> Option<(Split, &str)> {
    let is_role = |rest: &str| rest.is_empty() || INPUTS.contains(&rest) || TARGETS.contains(&rest);
    SPLITS.into_iter().find_map(|(name, split)| {
        let rest = [word.strip_prefix(name), word.strip_suffix(name)].into_iter().flatten().find(|rest| is_role(rest));
        rest.map(|rest| (split, rest))
    })
}

/// What a name says that an array is for. Of both, as in `image_labels`, it is the targets.
pub(super) fn role(name: &str) -> Option<Role> {
    let words = words(name);
    let has = |known: &[&str]| {
        words.iter().any(|word| known.contains(&split_off(word).map_or(word.as_str(), |(_, rest)| rest)))
    };
    if has(&TARGETS) {
        Some(Role::Targets)
    } else if has(&INPUTS) {
        Some(Role::Inputs)
    } else {
        None
    }
}

/// Which split a name says that something is of. CIFAR's `data_batch_1` is of training.
pub(super) fn split(name: &str) -> Option<Split> {
    let words = words(name);
    let found = words.iter().find_map(|word| split_off(word)).map(|(split, _)| split);
    found.or_else(|| words.windows(2).any(|pair| pair == ["data", "batch"]).then_some(Split::Train))
}

/// The first of a list of names, each with the beginning of what it is, for notes and messages.
pub(in crate::io) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    const MOST: usize = 20;
    const LONGEST: usize = 60;
    let short = |name: &S| match name.as_ref().char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", name.as_ref().get(..end).unwrap_or_default()),
        None => name.as_ref().to_owned(),
    };
    let some: Vec<String> = names.iter().take(MOST).map(short).collect();
    let more = names.len().saturating_sub(MOST);
    format!("{}{}", some.join(", "), if more > 0 { format!(" and {more} more") } else { String::new() })
}

/// Names in the order in which people count: 2 before 10.
pub(in crate::io) fn natural(a: &str, b: &str) -> Ordering {
    let (mut rest_a, mut rest_b) = (a, b);
    while let (Some(first_a), Some(first_b)) = (rest_a.chars().next(), rest_b.chars().next()) {
        let order = if first_a.is_ascii_digit() && first_b.is_ascii_digit() {
            let [number_a, number_b] = [&mut rest_a, &mut rest_b].map(number);
            (number_a.len(), number_a).cmp(&(number_b.len(), number_b))
        } else {
            rest_a = rest_a.get(first_a.len_utf8()..).unwrap_or_default();
            rest_b = rest_b.get(first_b.len_utf8()..).unwrap_or_default();
            first_a.cmp(&first_b)
        };
        if order.is_ne() {
            return order;
        }
    }
    rest_a.len().cmp(&rest_b.len()).then_with(|| a.cmp(b))
}

/// Takes the digits in front of a text off; they come without zeros before them.
fn number<'a>(rest: &mut &'a str) -> &'a str {
    let end = rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, behind) = rest.split_at(end);
    *rest = behind;
    digits.trim_start_matches('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_arrays_are_for() {
        for name in [
            "inputs",
            "x",
            "X",
            "x_test",
            "X_train",
            "images",
            "test_images",
            "xTrain",
            "trainX",
            "xtest",
            "data",
            "t10k-images-idx3-ubyte",
            "train-images.idx3-ubyte",
            "data_batch_1",
        ] {
            assert_eq!(role(name), Some(Role::Inputs), "{name}");
        }
        for name in [
            "targets",
            "y",
            "Y",
            "y_test",
            "labels",
            "label",
            "test_labels",
            "ytrain",
            "t10k-labels-idx1-ubyte",
            "image_labels",
            "fine_labels",
            "testTargets",
        ] {
            assert_eq!(role(name), Some(Role::Targets), "{name}");
        }
        for name in ["", "arr_0", "weight", "axis", "why", "conv1.bias", "coarse", "mydata"] {
            assert_eq!(role(name), None, "{name}");
        }
    }

    #[test]
    fn names_say_which_split_it_is() {
        for (name, expected) in [
            ("x_train", Some(Split::Train)),
            ("train-labels-idx1-ubyte", Some(Split::Train)),
            ("data_batch_3.bin", Some(Split::Train)),
            ("t10k-images-idx3-ubyte", Some(Split::Test)),
            ("test_batch.bin", Some(Split::Test)),
            ("xtest", Some(Split::Test)),
            ("val_images", Some(Split::Validation)),
            ("cifar10_test_256", Some(Split::Test)),
            ("images", None),
            ("contest", None),
            ("trainer", None),
        ] {
            assert_eq!(split(name), expected, "{name}");
        }
    }

    #[test]
    fn numbers_in_names_are_counted() {
        let mut names = ["b10", "b9", "b2/x", "b010", "a", "b", "b2", "ä1"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(listed(&["ä".repeat(61)]), format!("{}…", "ä".repeat(60)));
        assert!(listed(&["a"; 30]).ends_with("a, a and 10 more"));
        assert_eq!(names, ["a", "b", "b2", "b2/x", "b9", "b010", "b10", "ä1"]);
    }
}
