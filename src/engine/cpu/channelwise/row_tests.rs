//! Steps whose channels see one channel each against sums that are written out, at every level of the machine.

use super::{Pull, PullTerm};
use crate::engine::cpu::activation::Finish;
use crate::engine::cpu::affine::{Affine, Backward, Forward};
use crate::engine::cpu::affine_block::{BackwardBlock, ForwardBlock};
use crate::engine::cpu::affine_work;
use crate::engine::cpu::net::Net;
use crate::engine::cpu::real::{Real, numbers};
use crate::engine::cpu::simd::{self, Level};
use crate::engine::plan::Plan;
use crate::network::Network;

fn assert_close<T: Real>(found: &[T], expected: &[f64], what: &str) {
    let tolerance = if size_of::<T>() == 4 { 1e-4 } else { 1e-11 };
    let largest = expected.iter().fold(1.0, |largest, value| f64::max(largest, value.abs()));
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a.to_f64() - b).abs() < tolerance * largest, "{what}, number {i}: {} instead of {b}", a.to_f64());
    }
}

/// Calls `f` with every weight's place, and where the output and the input that meet through it lie.
fn for_each_meeting(affine: &Affine, mut f: impl FnMut(usize, usize, usize)) {
    let (input, output, window) = (affine.input, affine.output, affine.window);
    let channels = input.channels;
    let met = |axis: usize, o: usize, k: usize, length: usize| {
        (o * window.stride[axis] + k * window.dilation[axis])
            .checked_sub(window.padding.before[axis])
            .filter(|&i| i < length)
    };
    for (oy, ox) in (0..output.height).flat_map(|y| (0..output.width).map(move |x| (y, x))) {
        for (ky, kx) in (0..window.size[0]).flat_map(|y| (0..window.size[1]).map(move |x| (y, x))) {
            let (Some(y), Some(x)) = (met(0, oy, ky, input.height), met(1, ox, kx, input.width)) else { continue };
            for c in 0..channels {
                let place = c * affine.columns + ky * window.size[1] + kx;
                f(place, (oy * output.width + ox) * channels + c, (y * input.width + x) * channels + c);
            }
        }
    }
}

/// Everything of one step, with and without a second term.
fn check<T: Real, const N: usize>(json: &str, level: Level) {
    let network = Network::from_json(json).expect("a network");
    let net = Net::new(Plan::new(&network), level).expect("a net");
    let (_, affine) = net.affine_steps().next().expect("a convolution");
    assert!(affine.is_channelwise(), "{json}");
    let [outputs, inputs] = [affine.output.len() * N, affine.input.len() * N];
    let (rows, weight) = (affine.rows, affine.weight.clone());
    let theta: [Vec<T>; 2] = [1, 2].map(|seed| numbers(seed, network.parameter_count()));
    let [x, x_too] = [3, 4].map(|seed| numbers::<T>(seed, inputs));
    let [delta, delta_too] = [5, 6].map(|seed| numbers::<T>(seed, outputs));
    let [a_in, a_out] = [numbers::<T>(7, inputs), numbers::<T>(8, outputs)];
    let slope = 0.25;
    let times = |value: f64, a: T| if a.to_f64() > 0.0 { value } else { slope * value };
    for terms in [1, 2] {
        let what = format!("{level:?}, {N} lanes of {}, {terms} terms, {json}", size_of::<T>());
        let mut z = vec![0.0; outputs];
        let (mut q, mut of_weights, mut of_bias) = (vec![0.0; inputs], vec![0.0; weight.len()], vec![0.0; rows]);
        for (i, z) in z.iter_mut().enumerate() {
            *z = theta[0][weight.len() + i / N % rows].to_f64();
        }
        for (i, delta) in delta.iter().enumerate() {
            of_bias[i / N % rows] += delta.to_f64();
        }
        let all = [(&theta[0], &x, &delta), (&theta[1], &x_too, &delta_too)];
        for (w, x, delta) in &all[..terms] {
            for_each_meeting(affine, |place, output, input| {
                for n in 0..N {
                    let [w, x, delta] = [w[place], x[input * N + n], delta[output * N + n]].map(T::to_f64);
                    z[output * N + n] += w * x;
                    q[input * N + n] += w * delta;
                    of_weights[place] += delta * x;
                }
            });
        }
        let activated: Vec<f64> = z.iter().map(|&z| if z > 0.0 { z } else { slope * z }).collect();
        z.iter_mut().zip(&a_out).for_each(|(z, &a)| *z = times(*z, a));
        q.iter_mut().zip(&a_in).for_each(|(q, &a)| *q = times(*q, a));

        let mut forward = [Forward::default(), Forward::default()];
        let mut backward = [Backward::default(), Backward::default()];
        for ((forward, backward), theta) in forward.iter_mut().zip(&mut backward).zip(&theta) {
            affine.pack_forward(theta, forward).expect("weights");
            affine.pack_backward(theta, backward).expect("weights");
        }
        let (bias, slope) = (Some(&theta[0][weight.len()..]), T::from_f64(slope));
        let (mut out, both) = (vec![T::ONE; outputs], [(&forward[0], &x[..]), (&forward[1], &x_too[..])]);
        let terms_forward = &both[..terms];
        let finish = Finish::Derivative { slope, a: &a_out };
        affine_work::run(level, ForwardBlock::<T, N> { affine, bias, terms: terms_forward, finish, out: &mut out });
        assert_close(&out, &z, &what);
        let finish = Finish::Activation { slope };
        affine_work::run(level, ForwardBlock::<T, N> { affine, bias, terms: terms_forward, finish, out: &mut out });
        assert_close(&out, &activated, &what);

        let (mut out, both) = (vec![T::ONE; inputs], [(&backward[0], &delta[..]), (&backward[1], &delta_too[..])]);
        let finish = Finish::Derivative { slope, a: &a_in };
        affine_work::run(level, BackwardBlock::<T, N> { affine, terms: &both[..terms], finish, out: &mut out });
        assert_close(&out, &q, &what);

        let (mut out, mut gradient) = (vec![T::ONE; inputs], vec![T::ONE; affine.parameters().len()]);
        let mut lanes = vec![T::ONE; affine.lane_sums::<N>()];
        let both = [
            PullTerm { weights: backward[0].as_ref(), delta: &delta, input: &x },
            PullTerm { weights: backward[1].as_ref(), delta: &delta_too, input: &x_too },
        ];
        let (terms, lanes) = (&both[..terms], &mut lanes[..]);
        let pull = Pull::<T, N> { affine, terms, finish, out: &mut out, lanes, gradient: &mut gradient };
        simd::run(level, pull);
        assert_close(&out, &q, &what);
        assert_close(&gradient, &[of_weights, of_bias].concat(), &what);
    }
}

#[test]
fn sums_are_those_written_out() {
    for (input, geometry) in [
        // More channels than a band; an image as wide as runs are, and wider and narrower.
        ("40, 5, 16", r#""channels": 40, "kernel": [3, 3], "padding": [1, 1]"#),
        ("70, 4, 70", r#""channels": 70, "kernel": [5, 5], "padding": [2, 2]"#),
        ("3, 2, 1", r#""channels": 3, "kernel": [3, 3], "padding": [1, 1]"#),
        ("5, 7, 9", r#""channels": 5, "kernel": [3, 3]"#),
        // δ that see nothing but what is around the image.
        ("2, 4, 5", r#""channels": 2, "kernel": [3, 3], "padding": [3, 4]"#),
        // Windows that are not square, zeros that are not even, and what is left out.
        ("4, 9, 11", r#""channels": 4, "kernel": [2, 5], "padding": [0, 1, 2, 3]"#),
        ("4, 9, 13", r#""channels": 4, "kernel": [3, 3], "stride": [2, 2], "padding": [1, 1]"#),
        ("3, 11, 12", r#""channels": 3, "kernel": [5, 5], "stride": [2, 2], "padding": [2, 1]"#),
        ("3, 9, 10", r#""channels": 3, "kernel": [3, 3], "stride": [1, 3], "padding": [1, 0]"#),
        ("3, 12, 12", r#""channels": 3, "kernel": [3, 3], "dilation": [2, 1], "padding": [2, 1]"#),
        ("3, 17, 12", r#""channels": 3, "kernel": [3, 3], "dilation": [4, 1], "padding": [1, 1]"#),
        // By no such loops.
        ("3, 9, 9", r#""channels": 3, "kernel": [3, 3], "dilation": [1, 2], "padding": [1, 1]"#),
    ] {
        let groups = input.split(',').next().unwrap_or_default();
        let json = format!(
            r#"{{"input": [{input}], "layers": [{{"type": "conv2d", {geometry}, "groups": {groups}, "bias": true}},
                {{"type": "flatten"}}, {{"type": "dense", "units": 1}}]}}"#
        );
        check::<f64, 8>(&json, Level::Baseline);
        check::<f32, 16>(&json, Level::Baseline);
        #[cfg(target_arch = "x86_64")]
        {
            if Level::detect() != Level::Baseline {
                check::<f64, 8>(&json, Level::Avx2);
                check::<f32, 16>(&json, Level::Avx2);
            }
            if Level::detect() == Level::Avx512 {
                check::<f64, 16>(&json, Level::Avx512);
                check::<f32, 32>(&json, Level::Avx512);
            }
        }
    }
}

/// Where rows lie apart, the first row of points may meet rows behind one that a later row of points meets.
#[test]
fn rows_that_lie_apart_are_all_met() {
    for (rows, stride, dilation, padding) in
        (1..=3).flat_map(|rows| (1..=3).map(move |stride| (rows, stride))).flat_map(|(rows, stride)| {
            (1..=4).flat_map(move |dilation| (0..=4).map(move |padding| (rows, stride, dilation, padding)))
        })
    {
        let json = format!(
            r#"{{"input": [3, 11, 4], "layers": [{{"type": "conv2d", "channels": 3, "kernel": [{rows}, 3], "stride": [{stride}, 1],
                "dilation": [{dilation}, 1], "padding": [{padding}, 1, 0, 0], "groups": 3, "bias": true}},
                {{"type": "flatten"}}, {{"type": "dense", "units": 1}}]}}"#
        );
        check::<f64, 8>(&json, Level::Baseline);
    }
}
