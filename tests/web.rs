//! The crate in a headless browser. `ISOFLAT_TEST_WEBGPU`, read when this is compiled, says whether the browser has
//! WebGPU: "1" or "0". Nothing is skipped in silence: without WebGPU, its absence is what is tested.
#![cfg(target_arch = "wasm32")]

#[path = "native/support/golden.rs"]
mod golden;

use isoflat::engine::{Backend, Curvature, Device, Engine, Precision};
use isoflat::invariance::invariance;
use isoflat::measure::{Measure, MeasureOptions};
use isoflat::network::{BiasInitialization, Initialization};
use isoflat::symmetry::Transformation;
use isoflat::train::{TrainOptions, train};
use isoflat::{Control, ErrorCode, Network, data};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

/// Has the browser WebGPU? The test driver must have said so.
fn expects_webgpu() -> bool {
    match option_env!("ISOFLAT_TEST_WEBGPU") {
        Some("1") => true,
        Some("0") => false,
        other => panic!("ISOFLAT_TEST_WEBGPU must be 1 or 0 when these tests are compiled, but is {other:?}"),
    }
}

/// The GPU, where there is to be one; where not, its absence is checked.
async fn gpu() -> Option<Device> {
    match (Device::request(Backend::Gpu, Precision::F32).await, expects_webgpu()) {
        (Ok(device), true) => Some(device),
        (Err(error), false) => {
            assert_eq!(error.code, ErrorCode::BackendUnavailable, "{error}");
            None
        }
        (Ok(device), false) => panic!("this browser should have no WebGPU, but gave {:?}", device.info()),
        (Err(error), true) => panic!("this browser should have WebGPU: {error}"),
    }
}

const _: () = assert!(cfg!(target_feature = "simd128"), "the package is built with SIMD, and so must its tests be");

#[wasm_bindgen_test]
async fn golden_cases_on_the_cpu() {
    golden::check_on(&Device::cpu(Precision::F64), |_| 1e-9).await;
    golden::check_on(&Device::cpu(Precision::F32), golden::f32_tolerance).await;
}

#[wasm_bindgen_test]
async fn golden_cases_on_webgpu() {
    if let Some(device) = gpu().await {
        assert_eq!((device.info().backend, device.info().api.as_str()), ("gpu", "webgpu"));
        golden::check_on(&device, golden::f32_tolerance).await;
    }
}

/// Convolutions that are met in Winograd's form here, and nowhere natively, against the same windows with zeros around them, which are not.
#[wasm_bindgen_test]
async fn windows_of_3_are_windows_of_5_with_zeros_around() {
    const SIZES: [[usize; 2]; 3] = [[3, 16], [16, 40], [40, 8]];
    let network = |side: usize| {
        let padding = side / 2;
        let layers = SIZES.map(|[_, channels]| {
            format!(
                r#"{{"type": "conv2d", "channels": {channels}, "kernel": [{side}, {side}], "padding": [{padding}, {padding}], "bias": true}},
                {{"type": "relu"}}"#
            )
        });
        let json = format!(
            r#"{{"input": [3, 9, 8], "layers": [{}, {{"type": "flatten"}}, {{"type": "dense", "units": 4}}]}}"#,
            layers.join(",")
        );
        Network::from_json(&json).expect("a network")
    };
    let [three, five] = [3, 5].map(network);
    // Where the parameters of the one are among the other's.
    let (mut places, mut next) = (Vec::new(), 0);
    for [seen, channels] in SIZES {
        for window in 0..seen * channels {
            places.extend((0..9).map(|tap| next + 25 * window + 5 * (tap / 3 + 1) + tap % 3 + 1));
        }
        next += 25 * seen * channels;
        places.extend(next..next + channels);
        next += channels;
    }
    places.extend(next..five.parameter_count());
    let all: Vec<usize> = (0..three.parameter_count()).collect();
    assert_eq!(places.len(), all.len());
    let spread = |values: &[f64]| {
        let mut wide = vec![0.0; five.parameter_count()];
        places.iter().zip(values).for_each(|(&place, &value)| wide[place] = value);
        wide
    };
    let [theta, direction] = [1, 2].map(|seed| {
        three.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, seed).expect("weights")
    });
    for (precision, tolerance) in [(Precision::F64, 1e-13), (Precision::F32, 3e-6)] {
        let mut found = Vec::new();
        for (network, theta, direction, places) in
            [(&three, theta.clone(), direction.clone(), &all), (&five, spread(&theta), spread(&direction), &places)]
        {
            // Blocks that are whole, and one that is not.
            let problem = data::synthetic(network.clone(), 21, 1).expect("a problem");
            let engine = Engine::new(&Device::cpu(precision), &problem).expect("an engine");
            engine.prepare(&theta).await.expect("a point");
            let loss = engine.loss().await.expect("a loss");
            let gradient = engine.gradient().await.expect("a gradient");
            let product = engine.product(Curvature::Hessian, &direction).await.expect("a product");
            let pick = |values: &[f64]| places.iter().map(|&place| values[place]).collect::<Vec<_>>();
            found.push([vec![loss], pick(&gradient), pick(&product)]);
        }
        for (what, (three, five)) in ["loss", "gradient", "product"].iter().zip(found[0].iter().zip(&found[1])) {
            let largest = five.iter().fold(0.0, |largest, value| f64::max(largest, value.abs()));
            let off = three.iter().zip(five).fold(0.0, |off, (a, b)| f64::max(off, (a - b).abs()));
            assert!(
                largest > 0.0 && off <= tolerance * largest,
                "{what}, {precision:?}: off by {off:e} of {largest:e}"
            );
        }
    }
}

/// A module has 4 GiB, of which one vector can have half: what takes more than that is taken in several, and what takes more than all is
/// refused before it begins.
#[wasm_bindgen_test]
fn networks_may_take_more_than_one_vector_can() {
    let engine = |width: usize| {
        let network = Network::dense(&[width, width, width, width, 10], true).expect("a network");
        let problem = data::synthetic(network, 1, 1).expect("a problem");
        Engine::new(&Device::cpu(Precision::F64), &problem).map(|_| ())
    };
    engine(3450).expect("2.1 GiB");
    let error = engine(8000).expect_err("11 GiB");
    assert_eq!(error.code, ErrorCode::TooLarge, "{error}");
}

/// Without a hardware GPU, `auto` is the CPU: a software adapter is slower than the CPU executor.
#[wasm_bindgen_test]
async fn auto_never_takes_a_software_adapter() {
    let device = Device::request(Backend::Auto, Precision::F64).await.expect("a device");
    assert!(!device.info().is_software, "{:?}", device.info());
    if !expects_webgpu() {
        assert_eq!(device.info().backend, "cpu");
    }
}

#[wasm_bindgen_test]
async fn trains_and_checks_invariance_on_every_device() {
    let network = Network::dense(&[8, 12, 6, 3], true).expect("a network");
    let problem = data::synthetic(network.clone(), 60, 1).expect("a problem");
    let start = network.initialize(Initialization::KaimingNormal, BiasInitialization::Uniform, 2).expect("parameters");
    let maps = [
        Transformation::Layerwise { lambda: vec![5.0, 4.0, 0.05] },
        Transformation::RandomNodewise { seed: 1, low: 0.2, high: 5.0 },
        Transformation::RandomPermutation { seed: 1 },
    ];
    let measures: Vec<_> = Measure::all().collect();
    for device in [Some(Device::cpu(Precision::F64)), gpu().await].into_iter().flatten() {
        let engine = Engine::new(&device, &problem).expect("an engine");
        let options = TrainOptions { batch_size: 20, epochs: 60, ..TrainOptions::default() };
        let control = Control::default();
        let trained = train(&engine, &start, None, &options, &control).await.expect("training");
        assert!(trained.history[59].loss < 0.8 * trained.history[0].loss, "{:?}", trained.history[59]);
        let options = MeasureOptions::default();
        let table = invariance(&engine, &trained.parameters, &measures, &maps, &options, &control).await;
        let table = table.expect("a table");
        let odd: Vec<_> = table.cells.iter().filter(|cell| !cell.agrees).collect();
        assert!(odd.is_empty(), "{odd:?}");
    }
}

#[wasm_bindgen_test]
async fn a_lost_device_is_an_error_and_another_one_works() {
    let Some(device) = gpu().await else { return };
    let network = Network::dense(&[3, 4, 2], true).expect("a network");
    let problem = data::synthetic(network.clone(), 10, 1).expect("a problem");
    let theta = network.initialize(Initialization::KaimingNormal, BiasInitialization::Zero, 2).expect("parameters");
    let engine = Engine::new(&device, &problem).expect("an engine");
    device.destroy();
    let lost = engine.evaluate(&theta).await.expect_err("the device is lost");
    assert_eq!(lost.code, ErrorCode::DeviceLost, "{lost}");
    let again = Engine::new(&gpu().await.expect("another device"), &problem).expect("an engine");
    again.evaluate(&theta).await.expect("a loss");
}
