//! Which word was meant.

/// The word nearest to this one, if it is so near that it may have been meant: by letters that are other, missing, too many or
/// swapped, fewer than half of them, or by being its beginning.
pub(super) fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A word of any length is not compared with letters of any number.
    const LONGEST: usize = 64;
    let letters: Vec<char> = word.to_lowercase().chars().take(LONGEST).collect();
    let plain = |word: &str| word.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>().to_lowercase();
    let own = plain(word);
    let near = |(distance, candidate): &(usize, &str)| {
        let length = letters.len().max(candidate.chars().count());
        is_beginning(&own, &plain(candidate)) || 2 * distance <= length
    };
    // Of words that are as near the one with the same letters: `adam_w` for adamw, and not `adam`.
    words
        .into_iter()
        .map(|candidate| (distance(&letters, &candidate.chars().collect::<Vec<char>>()), candidate))
        .filter(near)
        .min_by_key(|(distance, candidate)| (*distance, plain(candidate) != own))
        .map(|(_, found)| found)
}

/// Is it so much of a word that the rest can be told?
fn is_beginning(own: &str, of: &str) -> bool {
    const FEWEST: usize = 3;
    own.chars().count() >= FEWEST && of.starts_with(own)
}

/// “: did you mean X?”, or nothing.
pub(super) fn hint<'a>(word: &str, words: impl IntoIterator<Item = &'a str>, dashes: &str) -> String {
    nearest(word, words).map_or(String::new(), |found| format!(": did you mean {dashes}{found}?"))
}

/// Edits between two words, neighbours that are swapped being one (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let mut least = (last[j] + usize::from(a[i] != b[j])).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn edits_are_counted() {
        for (a, b, expected) in [
            ("", "", 0),
            ("abc", "", 3),
            ("", "ab", 2),
            ("report", "report", 0),
            ("reprot", "report", 1),
            ("rport", "report", 1),
            ("eigenvalue", "eigenvalues", 1),
            ("kitten", "sitting", 3),
        ] {
            let [left, right] = [a, b].map(|word| word.chars().collect::<Vec<char>>());
            assert_eq!(distance(&left, &right), expected, "{a} and {b}");
            assert_eq!(distance(&right, &left), expected, "{b} and {a}");
        }
    }

    #[test]
    fn what_is_far_from_everything_is_nothing() {
        let words = ["report", "invariance", "eigenvalues"];
        assert_eq!(nearest("Raport", words), Some("report"));
        assert_eq!(nearest("eigenvalus", words), Some("eigenvalues"));
        assert_eq!(nearest("model.onnx", words), None);
        assert_eq!(nearest("adamw", ["sgd", "adam", "adam_w"]), Some("adam_w"));
        assert_eq!(nearest("eigen", words), Some("eigenvalues"));
        assert_eq!(nearest("in", ["invariance"]), None);
        assert_eq!(nearest("x", []), None);
    }
}
