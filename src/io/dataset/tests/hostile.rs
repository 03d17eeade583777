//! Files that are broken on purpose: an error or data, and soon.

use rand::Rng;

use super::*;
use crate::random::generator;

/// Bytes changed as a hostile file's are: bits, pieces, lengths.
fn mutated(bytes: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..out.len().max(1)).min(out.len());
        match rng.random_range(0..6) {
            0 | 1 => out.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << rng.random_range(0..8)),
            2 => out.truncate(at),
            3 => {
                let piece = out[at..(at + rng.random_range(0..64)).min(out.len())].to_vec();
                let to = rng.random_range(0..=out.len());
                out.splice(to..to, piece);
            }
            4 => {
                let huge = [[0xff; 4], [0, 0, 0, 0], [0x7f, 0xff, 0xff, 0xff], [0, 0, 1, 0]][rng.random_range(0..4)];
                out.iter_mut().skip(at).zip(huge).for_each(|(byte, new)| *byte = new);
            }
            // The header's own fields, in which lengths are.
            _ => out.iter_mut().skip(rng.random_range(0..32)).take(1).for_each(|byte| *byte = rng.random()),
        }
    }
    out
}

#[test]
fn hostile_files_are_an_error_or_data() {
    let mut rng = generator(5);
    let (mut read, mut slowest) = (0, (std::time::Duration::ZERO, ""));
    for (name, bytes) in FILES {
        for _ in 0..if bytes.len() > 4000 { 300 } else { 2000 } {
            let file = File::new(name, mutated(bytes, &mut rng));
            let began = std::time::Instant::now();
            if let Ok(data) = open(&[file], &DataOptions::default()) {
                assert_eq!(data.samples() * data.shape.iter().product::<usize>(), data.inputs.len());
                data.overview();
                read += 1;
            }
            slowest = slowest.max((began.elapsed(), name));
        }
    }
    assert!(read > 1000, "only {read} were still data");
    assert!(slowest.0.as_secs_f64() < 1.0, "{slowest:?}");
}
