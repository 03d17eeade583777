//! Sorting, compiled once. The standard library's sorts are compiled anew, some kilobytes each, for every type and every comparison; none of
//! ours takes time that counts, and a page has to fetch them.

use std::cmp::Ordering;

/// The places of `count` things in their order, equal ones as they are.
pub(crate) fn places(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|&a, &b| compare(a, b));
    places
}

/// Sorts values, equal ones as they are.
pub(crate) fn sort_by<T>(values: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut sources = places(values.len(), &|a, b| compare(&values[a], &values[b]));
    for place in 0..values.len() {
        let mut source = sources[place];
        // What was there has been swapped to where its successor came from.
        while source < place {
            source = sources[source];
        }
        sources[place] = source;
        values.swap(place, source);
    }
}

/// Sorts values by what a key says of them, likewise.
pub(crate) fn sort_by_key<T, K: Ord>(values: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(values, |a, b| key(a).cmp(&key(b)));
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::{sort_by, sort_by_key};
    use crate::random::generator;

    #[test]
    fn sorts_as_the_standard_library_does() {
        let mut rng = generator(1);
        for count in [0, 1, 2, 3, 10, 100, 1000] {
            for most in [1, 5, 1000] {
                let values: Vec<(u32, usize)> = (0..count).map(|at| (rng.random_range(0..most), at)).collect();
                let (mut own, mut reversed, mut expected) = (values.clone(), values.clone(), values);
                expected.sort_by_key(|&(key, _)| key);
                sort_by_key(&mut own, |&(key, _)| key);
                assert_eq!(own, expected, "{count} values below {most}");
                expected.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
                sort_by(&mut reversed, |a, b| b.0.cmp(&a.0));
                assert_eq!(reversed, expected, "{count} values below {most}, the largest first");
            }
        }
    }
}
