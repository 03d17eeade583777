//! Lanczos against operators of known spectrum: multiple eigenvalues, clusters, start vectors that lack what is wanted.

use std::cell::Cell;

use crate::support::reflected::{Reflected, any_engine};
use crate::support::*;
use isoflat::engine::{Device, Engine, Precision};
use isoflat::linalg::{Eigenpair, Goal, Lanczos, Spectrum, dense_eigenvectors, dense_spectrum};
use isoflat::operator::SymmetricOperator;
use isoflat::{Control, ErrorCode};
use rand::Rng;

/// ‖A v − λ v‖, by a product.
fn residual(engine: &Engine, operator: &dyn SymmetricOperator, value: f64, v: &[f64]) -> f64 {
    let x = engine.vectors().upload(v, 1).expect("a vector");
    let mut y = engine.vectors().zeros(v.len(), 1).expect("a vector");
    pollster::block_on(operator.apply(&x, &mut y)).expect("a product");
    let y = pollster::block_on(engine.vectors().download(&y)).expect("values");
    y.iter().zip(v).map(|(y, x)| (y - value * x).powi(2)).sum::<f64>().sqrt()
}

/// Both number formats of the CPU, and the GPU's.
fn devices() -> [Device; 3] {
    [Device::cpu(Precision::F64), Device::cpu(Precision::F32), gpu()]
}

fn run(operator: &dyn SymmetricOperator, lanczos: &Lanczos) -> Spectrum {
    pollster::block_on(lanczos.run(operator, &Control::default())).expect("a spectrum")
}

fn lanczos(top: usize, bottom: usize) -> Lanczos {
    Lanczos { goal: Goal::Extremes { top, bottom }, ..Lanczos::default() }
}

fn values(pairs: &[Eigenpair]) -> Vec<f64> {
    pairs.iter().map(|pair| pair.value).collect()
}

/// What a Rayleigh quotient may be off by, relative to the spectral norm: an eigenvalue is within the residual of it, and
/// that within the default tolerance.
fn limit(device: &Device) -> f64 {
    device.info().precision.eigenvalue_tolerance()
}

/// Fails unless the pairs are the ends of this spectrum, converged, verified and within the budget.
fn check(what: &str, device: &Device, found: &Spectrum, d: &[f64], top: usize, bottom: usize, budget: usize) {
    let mut sorted = d.to_vec();
    sorted.sort_by(f64::total_cmp);
    let scale = sorted.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let name = format!("{what} on {:?}", device.info());
    assert!(found.converged && found.verified, "{name}: {found:?}");
    assert_eq!((found.top.len(), found.bottom.len()), (top, bottom), "{name}");
    let pairs = found.top.iter().zip(sorted.iter().rev()).chain(found.bottom.iter().zip(&sorted));
    for (pair, expected) in pairs {
        assert!(
            (pair.value - expected).abs() <= limit(device) * scale,
            "{name}: {:?} and {:?}, expected {expected}",
            values(&found.top),
            values(&found.bottom)
        );
        assert!(pair.residual <= limit(device) * scale, "{name}: {pair:?}");
    }
    assert!(found.products <= budget, "{name} took {} products, more than {budget}", found.products);
}

/// The wanted values reach into the copies of an eigenvalue that others of both signs surround.
#[test]
fn copies_inside_a_spectrum_are_counted() {
    for device in devices() {
        let engine = any_engine(&device);
        let d = [vec![2.0, 1.0], vec![0.0; 70], vec![-0.5, -1.5]].concat();
        let operator = Reflected::new(&engine, &d);
        for (top, bottom) in [(6, 2), (3, 3), (2, 7), (9, 0), (0, 8)] {
            let found = run(&operator, &lanczos(top, bottom));
            check(&format!("{top} and {bottom} around zeros"), &device, &found, &d, top, bottom, 120);
        }
    }
}

/// A bulk between −0.1 and 0.5, crowded at both ends, as networks have it.
fn bulk(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.2 + 0.3 * (i as f64 * 1.7).sin()).collect()
}

#[test]
fn copies_of_multiple_eigenvalues_are_counted() {
    for device in devices() {
        let engine = any_engine(&device);
        for copies in [2, 3, 5] {
            let d = [vec![4.0; copies], vec![2.0, 1.5], bulk(300), vec![-1.0; copies]].concat();
            let operator = Reflected::new(&engine, &d);
            // Every copy is a start and a convergence of its own, of some 30 products.
            let found = run(&operator, &lanczos(copies + 2, copies));
            check(&format!("{copies} copies"), &device, &found, &d, copies + 2, copies, 100 + 60 * copies);
            let found = run(&operator, &lanczos(1, 0));
            check(&format!("{copies} copies, one wanted"), &device, &found, &d, 1, 0, 80);
        }
    }
}

#[test]
fn the_second_eigenvalue_is_not_the_third() {
    // Two eigenvalues 1e-6 apart, relatively: with one start vector and f32 they look like one for as long as anybody waits.
    for device in devices() {
        let engine = any_engine(&device);
        let d = [vec![4.0, 4.0 * (1.0 - 1e-6), 1.0], bulk(400)].concat();
        let operator = Reflected::new(&engine, &d);
        check("a close pair", &device, &run(&operator, &lanczos(2, 0)), &d, 2, 0, 150);
    }
}

/// What a restart drops takes products to be found again: a basis that may grow needs fewer.
#[test]
fn a_basis_grows_where_a_small_one_is_slow() {
    for device in devices() {
        let engine = any_engine(&device);
        // As at a minimum that is bent: all sizes of both signs, and the lowest value small beside the largest.
        let sizes = |from: f64, decades: f64| (0..100).map(move |i| from * 10f64.powf(-decades * f64::from(i) / 100.0));
        let d: Vec<f64> = sizes(1.0, 6.0).chain(sizes(-1e-4, 4.0)).chain([0.0; 300]).collect();
        let operator = Reflected::new(&engine, &d);
        let grown = run(&operator, &lanczos(1, 1));
        check("all sizes", &device, &grown, &d, 1, 1, 150);
        let tolerance = Some(1e-7);
        let grown = run(&operator, &Lanczos { tolerance, ..lanczos(1, 1) });
        let small = run(&operator, &Lanczos { tolerance, basis: Some(44), ..lanczos(1, 1) });
        assert!(3 * grown.products < small.products, "{} and {}", grown.products, small.products);
    }
}

/// A lowest value that is tiny beside the largest, next to a bulk at 0: some hundred columns tell it, and no restart has to find again what
/// it has dropped.
#[test]
fn an_end_that_is_tiny_beside_the_other_takes_no_restart() {
    let device = Device::cpu(Precision::F64);
    let engine = any_engine(&device);
    let bulk = (0..1500).map(|i| 1e3 * (f64::from(i) / 1500.0).powi(12));
    let d: Vec<f64> = bulk.chain([-0.5, -0.2]).collect();
    let operator = Reflected::new(&engine, &d);
    let found = run(&operator, &lanczos(1, 1));
    check("tiny", &device, &found, &d, 1, 1, 384);
    let restarted = run(&operator, &Lanczos { basis: Some(192), ..lanczos(1, 1) });
    assert!(found.products + 50 < restarted.products, "{} and {}", found.products, restarted.products);
}

/// Spectra that fall off without a gap, with copies anywhere among what is wanted or next to it: none is missed, whatever the
/// seed.
#[test]
fn no_copy_is_missed_in_two_hundred_spectra() {
    let engine = any_engine(&Device::cpu(Precision::F64));
    let control = Control::default();
    for seed in 0..200 {
        let mut rng = rng(seed);
        let power = rng.random_range(0.3..2.0);
        let mut d: Vec<f64> = (1..=400).map(|i| f64::from(i).powf(-power)).collect();
        for _ in 0..rng.random_range(1..=3) {
            let (from, to) = (rng.random_range(0..8), rng.random_range(0..400));
            d[to] = d[from];
        }
        let operator = Reflected::new(&engine, &d);
        let top = rng.random_range(2..=8);
        let lanczos = Lanczos { tolerance: Some(1e-6), seed, max_products: 5000, ..lanczos(top, 0) };
        let found = pollster::block_on(lanczos.run(&operator, &control)).expect("a spectrum");
        d.sort_by(|a, b| b.total_cmp(a));
        assert!(found.converged && found.verified, "{seed}: {found:?}");
        assert!(error(&values(&found.top), &d[..top]) < 1e-6, "{seed}: {:?}, expected {:?}", found.top, &d[..top]);
    }
}

/// Outliers that fall off to a bulk, as networks have them: what was seen bounds the rest after a few products more, where a second search
/// would take as many again.
#[test]
fn what_may_have_been_missed_is_bounded_by_few_products() {
    let outliers: Vec<f64> = (1..=12).map(|i| 8.0 * f64::from(i).powf(-0.8)).collect();
    let d = [outliers, bulk(2000)].concat();
    for device in devices() {
        let engine = any_engine(&device);
        let operator = Reflected::new(&engine, &d);
        for top in [2, 6, 10] {
            let [search, verification] = [Cell::new(0), Cell::new(0)];
            let control = Control::default().on_progress(|progress| match progress.phase.as_str() {
                "lanczos" => search.set(progress.done),
                _ => verification.set(progress.done - search.get()),
            });
            let found = pollster::block_on(lanczos(top, 0).run(&operator, &control)).expect("a spectrum");
            check("outliers", &device, &found, &d, top, 0, 60);
            let counts = (search.get(), verification.get());
            assert!(counts.1 > 0 && counts.1 <= 3 + counts.0 / 5, "{top} on {:?}: {counts:?}", device.info());
        }
    }
}

/// The other end, which nobody asked for, is larger and crowded: what has not converged there says nothing of what has here.
#[test]
fn an_end_that_is_not_wanted_does_not_count() {
    let d: Vec<f64> = [6.0].into_iter().chain((0..600).map(|i| -10.0 * (f64::from(i) / 600.0).powf(0.1))).collect();
    for device in devices() {
        let engine = any_engine(&device);
        let operator = Reflected::new(&engine, &d);
        let found = run(&operator, &lanczos(1, 0));
        check("the smaller end", &device, &found, &d, 1, 0, 120);
    }
}

/// Restarts leave remainders out: what they leave out is part of the residuals all the same.
#[test]
fn residuals_are_not_too_small() {
    let engine = any_engine(&Device::cpu(Precision::F64));
    let slow: Vec<f64> = (1..=500).map(|i| 1.0 / f64::from(i).sqrt()).collect();
    let copies = [vec![4.0; 3], vec![3.0, 2.0, 2.0], bulk(400)].concat();
    for (what, d) in [("no gap", &slow), ("copies", &copies)] {
        let operator = Reflected::new(&engine, d);
        for tolerance in [1e-3, 1e-6, 1e-9] {
            let options = Lanczos { tolerance: Some(tolerance), vectors: true, ..lanczos(6, 0) };
            let found = run(&operator, &options);
            assert!(found.converged && found.verified, "{what}, {tolerance}: {found:?}");
            for pair in &found.top {
                let v = pair.vector.as_ref().expect("a vector");
                let off = residual(&engine, &operator, pair.value, v);
                // Rounding of a product of this size.
                assert!(off <= 1.01 * pair.residual + 1e-14, "{what}, {tolerance}: {off} but {}", pair.residual);
            }
        }
    }
}

#[test]
fn clusters_come_out_whole() {
    for device in devices() {
        let engine = any_engine(&device);
        let cluster: Vec<f64> = (0..4).map(|i| 3.0 * (1.0 - 1e-6 * f64::from(i))).collect();
        let d = [bulk(250), cluster, vec![1.0, -1.0]].concat();
        let operator = Reflected::new(&engine, &d);
        check("a cluster", &device, &run(&operator, &lanczos(5, 1)), &d, 5, 1, 400);
    }
}

#[test]
fn a_start_vector_without_the_wanted_eigenvector_is_no_obstacle() {
    let n = 304;
    let d = [vec![5.0, 3.0, 2.0, -1.0], bulk(n - 4)].concat();
    for device in devices() {
        let engine = any_engine(&device);
        let operator = Reflected::new(&engine, &d);
        let wanted = operator.eigenvector(0);
        let random = random_direction(&mut rng(5), n);
        let length = dot(&random, &random).sqrt();
        // Nothing of the eigenvector but rounding, and ever more of it.
        for share in [0.0, 1e-15, 1e-12, 1e-8, 1e-4] {
            let component = share * length - dot(&random, &wanted);
            let start: Vec<f64> = random.iter().zip(&wanted).map(|(r, w)| r + component * w).collect();
            for (goal, top) in [(Goal::Extremes { top: 1, bottom: 0 }, 1), (Goal::Extremes { top: 3, bottom: 1 }, 3)] {
                let found = run(&operator, &Lanczos { goal, start: Some(start.clone()), ..Lanczos::default() });
                check(&format!("a share of {share}"), &device, &found, &d, top, usize::from(top == 3), 250);
            }
            let norm = Lanczos { goal: Goal::SpectralNorm, start: Some(start), ..Lanczos::default() };
            let found = run(&operator, &norm);
            let dominant = found.dominant().expect("a pair");
            assert!(found.verified && (dominant.value - 5.0).abs() <= 5.0 * limit(&device), "{share}: {found:?}");
        }
        // An eigenvector itself, of a value that is not wanted.
        let start = Some(operator.eigenvector(2));
        check("an eigenvector", &device, &run(&operator, &Lanczos { start, ..lanczos(2, 1) }), &d, 2, 1, 250);
    }
}

#[test]
fn degenerate_operators_are_settled_in_few_products() {
    let n = 120;
    let rank_one = [vec![7.0], vec![0.0; n - 1]].concat();
    let negative = [vec![-7.0], vec![0.0; n - 1]].concat();
    for device in devices() {
        let engine = any_engine(&device);
        for (what, d) in [
            ("identity", vec![1.0; n]),
            ("minus identity", vec![-2.5; n]),
            ("zero", vec![0.0; n]),
            ("rank one", rank_one.clone()),
            ("negative rank one", negative.clone()),
        ] {
            let operator = Reflected::new(&engine, &d);
            for (top, bottom) in [(1, 0), (0, 1), (3, 2), (6, 6)] {
                let found = run(&operator, &lanczos(top, bottom));
                check(what, &device, &found, &d, top, bottom, 80 + 10 * (top + bottom));
            }
        }
    }
}

#[test]
fn every_number_of_eigenvalues_up_to_all_of_them() {
    let spectra = [
        (0..12).map(|i| f64::from(i) - 4.0).collect::<Vec<_>>(),
        [vec![2.0; 5], vec![0.0; 4], vec![-1.0; 3]].concat(),
        vec![1.0; 12],
    ];
    for device in devices() {
        let engine = any_engine(&device);
        for d in &spectra {
            let operator = Reflected::new(&engine, d);
            for k in 1..=12 {
                // All of a space of 12 dimensions, and the check of each pair.
                check("top", &device, &run(&operator, &lanczos(k, 0)), d, k, 0, 24 + k);
                check("bottom", &device, &run(&operator, &lanczos(0, k)), d, 0, k, 24 + k);
                check("both", &device, &run(&operator, &lanczos(k, k)), d, k, k, 24 + 2 * k);
            }
        }
    }
}

/// A tolerance is relative to the spectral norm, also where that is at the end that nobody has asked for, of which a search for missed values
/// keeps nothing: no more than it is asked for, and no residual is told that a product cannot have.
#[test]
fn one_end_has_the_scale_of_the_other() {
    for device in devices() {
        let engine = any_engine(&device);
        // In single precision it is measured.
        let is_double = device.info().precision == Precision::F64;
        let least = if is_double { Precision::F64.epsilon() / 8.0 } else { 0.0 };
        for (high, sign) in [(10.0, 1.0), (10.0, -1.0), (100.0, 1.0), (3e4, -1.0)] {
            let mut d = [vec![high, high / 2.0, high / 3.0, -1.0, -0.7, -0.4, -0.2], bulk(100)].concat();
            d.iter_mut().for_each(|value| *value *= sign);
            let operator = Reflected::new(&engine, &d);
            let (top, bottom) = if sign > 0.0 { (0, 4) } else { (4, 0) };
            for seed in 0..8 {
                let found = run(&operator, &Lanczos { seed, ..lanczos(top, bottom) });
                check("one end", &device, &found, &d, top, bottom, 200);
                let pairs = found.top.iter().chain(&found.bottom);
                assert!(pairs.clone().all(|pair| pair.residual >= least * high), "{seed}: {found:?}");
            }
        }
    }
}

#[test]
fn eigenvectors_are_orthogonal_and_belong_to_their_values() {
    for device in devices() {
        let engine = any_engine(&device);
        let d = [vec![4.0, 4.0, 4.0, 2.0, -1.0], bulk(200)].concat();
        let operator = Reflected::new(&engine, &d);
        let found = run(&operator, &Lanczos { vectors: true, ..lanczos(4, 1) });
        check("vectors", &device, &found, &d, 4, 1, 250);
        let vectors: Vec<&Vec<f64>> =
            found.top.iter().chain(&found.bottom).map(|pair| pair.vector.as_ref().expect("a vector")).collect();
        for (i, a) in vectors.iter().enumerate() {
            for (j, b) in vectors.iter().enumerate() {
                // Columns of one orthonormal basis, each a sum over up to 50 others: √50 ε, and residuals over gaps.
                let limit = 16.0 * device.info().precision.epsilon() + limit(&device);
                assert!((dot(a, b) - f64::from(i == j)).abs() < limit, "{i}, {j}: {}", dot(a, b));
            }
        }
        // The three copies span the eigenspace: its parts outside them are what the residuals allow.
        for i in 0..3 {
            let expected = operator.eigenvector(i);
            let inside: f64 = vectors[..3].iter().map(|v| dot(v, &expected).powi(2)).sum();
            assert!((inside - 1.0).abs() < 10.0 * limit(&device), "{inside}");
        }
    }
}

#[test]
fn a_search_that_was_cut_short_says_so() {
    let engine = any_engine(&Device::cpu(Precision::F64));
    let d = [vec![4.0, 4.0, 2.0], bulk(300)].concat();
    let operator = Reflected::new(&engine, &d);
    // Enough to converge on 4 and 2, too little to find the other 4.
    let found = run(&operator, &Lanczos { max_products: 28, ..lanczos(2, 0) });
    assert!(!found.verified, "{found:?}");
}

#[test]
fn start_vectors_are_checked() {
    let engine = any_engine(&Device::cpu(Precision::F64));
    let operator = Reflected::new(&engine, &bulk(10));
    for (start, code) in [
        (vec![1.0; 9], ErrorCode::InvalidOption),
        (vec![0.0; 10], ErrorCode::InvalidOption),
        (vec![f64::NAN; 10], ErrorCode::NotFinite),
    ] {
        let lanczos = Lanczos { start: Some(start), ..lanczos(1, 0) };
        let error = pollster::block_on(lanczos.run(&operator, &Control::default())).expect_err("a fault");
        assert_eq!(error.code, code, "{error}");
    }
}

#[test]
fn dense_eigenvectors_diagonalise() {
    let engine = any_engine(&Device::cpu(Precision::F64));
    let d = [vec![3.0, 3.0, -1.0], bulk(20)].concat();
    let operator = Reflected::new(&engine, &d);
    let control = Control::default();
    let (found, vectors) = pollster::block_on(dense_eigenvectors(&operator, &control)).expect("eigenvectors");
    let spectrum = pollster::block_on(dense_spectrum(&operator, 1e-9, &control)).expect("a spectrum");
    assert_eq!(found, spectrum.values);
    let norm = d.iter().map(|v| v * v).sum::<f64>().sqrt();
    assert!((spectrum.frobenius_norm() - norm).abs() < 1e-12 * norm);
    for (value, vector) in found.iter().zip(vectors.chunks_exact(d.len())) {
        let residual = residual(&engine, &operator, *value, vector);
        assert!(residual < 1e-13 && (dot(vector, vector) - 1.0).abs() < 1e-13, "{value}: {residual}");
    }
}
