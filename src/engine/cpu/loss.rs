//! The losses, their first and second derivatives in the outputs, one block of N samples at a time. Twin of
//! `shaders/loss/`.

use super::real::Real;
use crate::problem::Targets;

/// What the loss of a block leaves behind beside δ and probabilities.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BlockLoss {
    /// Loss of each sample that counts.
    pub losses: Vec<f64>,
    /// Samples whose first largest output is the target's; 0 for squared error.
    pub hits: usize,
    /// Where the likeliest class of each sample lies; empty for squared error.
    pub likeliest: Vec<u32>,
}

/// A share of a mean below this is 0, and so is its probability: 8e-34 in single precision. It is far below the rounding of any other, but
/// on the way back through the layers it would become a subnormal number, at which processors take ten times as long: networks that are
/// trained to losses of 1e-10, whose minima people ask about, have most of theirs down there. GPUs take subnormal numbers for 0 as they come.
fn smallest_share<T: Real>() -> f64 {
    T::PRECISION.smallest() * f64::from(1 << 16)
}

/// Losses and δ_L: (p − y)/count, or 2(ŷ − y)/count. Outputs, probabilities and δ are (outputs, N), in the order in which
/// they lie, whose place `places[c]` holds output c. Only the first `valid` lanes count; the others' δ is 0.
#[allow(clippy::too_many_arguments, reason = "the parts of one block, kept apart by their owners")]
pub fn evaluate<T: Real, const N: usize>(
    outputs: &[T],
    places: &[u32],
    targets: &Targets,
    samples: &[usize; N],
    valid: usize,
    count: usize,
    probabilities: &mut [T],
    delta: &mut [T],
) -> BlockLoss {
    let weight = 1.0 / count as f64;
    let least = smallest_share::<T>() / weight;
    let kept = |share: f64| if share.abs() < least { 0.0 } else { share };
    let z = outputs.as_chunks::<N>().0;
    let delta = delta.as_chunks_mut::<N>().0;
    let mut found = BlockLoss { losses: Vec::with_capacity(valid), ..BlockLoss::default() };
    delta.as_flattened_mut().fill(T::ZERO);
    match targets {
        Targets::Classes(labels) => {
            found.likeliest.reserve(valid);
            let p = probabilities.as_chunks_mut::<N>().0;
            // Softmax in double precision whatever T is: a few numbers a sample, and the loss needs their digits.
            let mut exponentials = vec![0.0f64; places.len()];
            for n in 0..valid {
                let at = |c: usize| z[places[c] as usize][n];
                let label = labels[samples[n]] as usize;
                let largest = (1..places.len()).fold(0, |best, c| if at(c) > at(best) { c } else { best });
                found.hits += usize::from(largest == label);
                found.likeliest.push(places[largest]);
                let max = at(largest).to_f64();
                // Two sums without the 1 of the likeliest and without the label's term: where p_y is near 1, 1 − p_y and
                // log p_y then keep their digits.
                let (mut beside_best, mut beside_label) = (0.0, 0.0);
                for (c, e) in exponentials.iter_mut().enumerate() {
                    *e = (at(c).to_f64() - max).exp();
                    beside_best += if c == largest { 0.0 } else { *e };
                    beside_label += if c == label { 0.0 } else { *e };
                }
                let sum = 1.0 + beside_best;
                found.losses.push(beside_best.ln_1p() + (max - at(label).to_f64()));
                for (c, e) in exponentials.iter().enumerate() {
                    let share = kept(e / sum);
                    let difference = if c == label { kept(-beside_label / sum) } else { share };
                    p[places[c] as usize][n] = T::from_f64(share);
                    delta[places[c] as usize][n] = T::from_f64(difference * weight);
                }
            }
        }
        Targets::Vectors(values) => {
            for n in 0..valid {
                let target = &values[samples[n] * places.len()..][..places.len()];
                let mut loss = 0.0;
                for (&place, &y) in places.iter().zip(target) {
                    let difference = z[place as usize][n].to_f64() - y;
                    loss += difference * difference;
                    delta[place as usize][n] = T::from_f64(2.0 * difference * weight);
                }
                found.losses.push(loss);
            }
        }
    }
    found
}

/// ż_L → δ̇_L in place: (diag p − p pᵀ) ż / count, or 2 ż / count; 0 beyond the first `valid` lanes. `likeliest` is
/// [`BlockLoss`]'s.
pub fn second_derivative<T: Real, const N: usize>(
    probabilities: &[T],
    likeliest: &[u32],
    valid: usize,
    count: usize,
    tangent: &mut [T],
) {
    let weight = T::from_f64(1.0 / count as f64);
    let tangent = tangent.as_chunks_mut::<N>().0;
    if probabilities.is_empty() {
        for z in tangent.iter_mut() {
            *z = z.map(|z| z * (weight + weight));
        }
    } else {
        let p = probabilities.as_chunks::<N>().0;
        // (diag p − p pᵀ) 1 = 0, so ż may be taken relative to the likeliest class: no cancellation where its p is near 1.
        let mut reference = [T::ZERO; N];
        for (n, (reference, &place)) in reference.iter_mut().zip(likeliest).enumerate() {
            *reference = tangent[place as usize][n];
        }
        let mut means = [T::ZERO; N];
        for (z, p) in tangent.iter_mut().zip(p) {
            for n in 0..N {
                z[n] = z[n] - reference[n];
                means[n] += z[n] * p[n];
            }
        }
        for (z, p) in tangent.iter_mut().zip(p) {
            for n in 0..N {
                z[n] = p[n] * (z[n] - means[n]) * weight;
            }
        }
    }
    for z in tangent {
        z[valid..].fill(T::ZERO);
    }
}
