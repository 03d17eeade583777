//! Any bytes are an answer or an error, quickly: thousands of changes to every fixture, and files that ask for more than they have.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::Asked;
use super::super::wire::{Fields, Payload, put_key, put_number};
use super::*;
use crate::error::ErrorCode;

/// A message with one of its parts changed, at any depth.
fn mutated(message: &[u8], random: &mut ChaCha8Rng, depth: usize) -> Vec<u8> {
    let fields: Option<Vec<_>> = Fields::of(message).collect::<crate::error::Result<_>>().ok();
    let Some(fields) = fields.filter(|fields| !fields.is_empty() && depth < 8) else { return flipped(message, random) };
    let chosen = random.random_range(0..fields.len());
    let mut out = Vec::new();
    for (i, field) in fields.iter().enumerate() {
        if i != chosen {
            out.extend(field.bytes);
            continue;
        }
        match (random.random_range(0..10), field.payload) {
            // Deeper, mostly.
            (0..=5, Payload::Bytes(content)) => {
                let content = mutated(content, random, depth + 1);
                put_key(&mut out, field.number, content.len());
                out.extend(content);
            }
            (0..=5, Payload::Number) => {
                put_number(&mut out, field.number << 3);
                let values = [0, 1, 2, 7, 1 << 31, u64::MAX, i64::MAX as u64, random.random_range(0..40)];
                put_number(&mut out, values[random.random_range(0..values.len())]);
            }
            (6, _) => {}
            (7, _) => out.extend([field.bytes, field.bytes].concat()),
            (8, Payload::Bytes(content)) => {
                // A length that is not there.
                put_key(&mut out, field.number, if random.random() { usize::MAX >> 1 } else { content.len() + 1 });
                out.extend(content);
            }
            _ => out.extend(fields[random.random_range(0..fields.len())].bytes),
        }
    }
    out
}

fn flipped(bytes: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    if out.is_empty() {
        return vec![random.random()];
    }
    let at = random.random_range(0..out.len());
    match random.random_range(0..3) {
        0 => out.truncate(at),
        1 => out[at] ^= 1 << random.random_range(0..8),
        _ => out[at] = random.random(),
    }
    out
}

/// Reads it, makes a network and writes it again.
fn used(file: Vec<u8>) -> bool {
    let files = [File::new("m.onnx", file), File::new("external.onnx.data", EXTERNAL)];
    let Ok(graph) = super::super::read(&files[0], &files, Asked::default()) else { return false };
    let Ok(model) = Model::new(graph) else { return false };
    if let Ok(tensors) = model.tensors(&model.parameters) {
        let _ = super::super::write(&files[0], &files, &tensors);
    }
    true
}

#[test]
fn changed_files_give_a_network_or_an_error() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let (mut read, mut refused) = (0, 0);
    for (name, bytes) in FIXTURES {
        for _ in 0..1500 {
            let mut file = bytes.to_vec();
            for _ in 0..random.random_range(1..4) {
                file = if random.random_range(0..8) == 0 {
                    flipped(&file, &mut random)
                } else {
                    mutated(&file, &mut random, 0)
                };
            }
            let begun = std::time::Instant::now();
            if used(file) {
                read += 1
            } else {
                refused += 1
            }
            assert!(begun.elapsed().as_secs() < 2, "{name} took long");
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} were read and {refused} refused: the changes are too wild, or none");
}

#[test]
fn files_that_would_take_much_more_than_they_have_are_refused() {
    // A graph of empty nodes, and one of empty tensors.
    for number in [1u64, 5] {
        let mut graph = Vec::new();
        for _ in 0..1 << 20 {
            put_key(&mut graph, number, 0);
        }
        let mut file = vec![8, 8];
        put_key(&mut file, 7, graph.len());
        file.extend(graph);
        let error = super::super::read(&File::new("m.onnx", file), &[], Asked::default()).expect_err("a bomb");
        assert_eq!(error.code, ErrorCode::TooLarge, "{error}");
    }
}
