//! Tiles of every shape give the same numbers, and what an adapter's tiles take can be measured, kept and used.

use isoflat::engine::gpu::{TileTime, TileTimes, Tiles, Tune, Tuning};
use isoflat::engine::{Backend, Device, Engine, Precision};
use isoflat::network::{Conv2d, Layer};
use isoflat::{Control, ErrorCode, Loss, Network};
use pollster::block_on;

use super::support::twins::{Case, context};

/// As in `twins.rs`.
const TOLERANCE: f64 = 1e-6;

fn dense(units: usize) -> Layer {
    Layer::Dense { units, bias: true }
}

fn only(at: usize) -> Tiles {
    let mut times = TileTimes::default();
    let time = Some(TileTime { first: 0.0, each: 1.0 });
    match at.checked_sub(5) {
        None => times.registers[at] = time,
        Some(i) => times.workgroup[i] = time,
    }
    Tiles { gather: times, weights: times, threads: 1024 }
}

#[test]
fn every_tile_gives_the_same_numbers() {
    let wide = Network::new(vec![70], vec![dense(150), Layer::Relu, dense(10)]).unwrap();
    let convolution = |channels| Layer::Conv2d(Conv2d::new(channels, [3, 3]));
    let layers = vec![convolution(37), Layer::Relu, convolution(5), Layer::Relu, Layer::Flatten, dense(4)];
    let image = Network::new(vec![3, 8, 7], layers).unwrap();
    let mut faults = Vec::new();
    for at in 0..8 {
        let context = context(Some(only(at)));
        for (seed, network) in [(1, &wide), (2, &image)] {
            let case = Case::new(network.clone(), 75, Loss::CrossEntropy, seed);
            case.agrees_with_the_cpu(&context, TOLERANCE, &mut faults);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn an_adapter_is_measured_and_its_tuning_is_kept_and_used() {
    let mut phases = 0;
    let control = Control::default().on_progress(|progress| phases += usize::from(progress.phase == "tuning"));
    let request = || block_on(Device::request(Backend::Gpu, Precision::F32)).unwrap();
    let (device, measured) = block_on(request().tuned(Tune::Anew, &[], &control)).unwrap();
    drop(control);
    assert_eq!(phases, 16);
    let tuning = measured.expect("something measured");
    assert!(tuning.is_of(device.info()));
    let tiles = tuning.tiles();
    for times in [tiles.gather, tiles.weights] {
        let known: Vec<TileTime> = times.registers.into_iter().chain(times.workgroup).flatten().collect();
        assert!(!known.is_empty());
        assert!(known.iter().all(|time| time.each > 0.0 && time.first >= time.each), "{known:?}");
    }
    let kept = Tuning::from_json(&tuning.to_json()).unwrap();
    assert_eq!(kept, tuning);
    assert!(kept.name().chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{}", kept.name());

    // What is kept is taken, and gives the bits that it gave when it was measured; nothing is measured again.
    let case =
        Case::new(Network::new(vec![70], vec![dense(150), Layer::Relu, dense(10)]).unwrap(), 75, Loss::CrossEntropy, 3);
    let gradient = |device: &Device| {
        let engine = Engine::new(device, &case.problem).unwrap();
        block_on(engine.prepare(&case.theta)).unwrap();
        block_on(engine.gradient()).unwrap()
    };
    let found = gradient(&device);
    let (again, measured) = block_on(request().tuned(Tune::Auto, &[kept], &Control::default())).unwrap();
    assert!(measured.is_none());
    assert_eq!(gradient(&again), found);
    let exact = gradient(&Device::cpu(Precision::F64));
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let error: Vec<f64> = found.iter().zip(&exact).map(|(a, b)| a - b).collect();
    assert!(norm(&error) <= TOLERANCE * norm(&exact), "{:e}", norm(&error) / norm(&exact));
}

#[test]
fn nothing_is_measured_where_nobody_wants_it() {
    let measured = |device: Device, when| block_on(device.tuned(when, &[], &Control::default())).unwrap().1;
    let gpu = || block_on(Device::request(Backend::Gpu, Precision::F32)).unwrap();
    assert!(measured(Device::cpu(Precision::F64), Tune::Anew).is_none());
    assert!(measured(gpu(), Tune::Never).is_none());
    if gpu().info().is_software {
        assert!(measured(gpu(), Tune::Auto).is_none());
    }
    let stopped = Control::default().stop_when(|| true);
    let error = block_on(gpu().tuned(Tune::Anew, &[], &stopped)).expect_err("it was stopped");
    assert_eq!(error.code, ErrorCode::Aborted);
}

#[test]
fn what_is_no_tuning_is_refused() {
    let good = |tiles: &str| format!(r#"{{"version":"0.1.0","adapter":"a","api":"vulkan","tiles":{tiles}}}"#);
    let times = r#"{"registers":[{"first":1,"each":1},null,null,null,null],"workgroup":[null,null,null]}"#;
    let tiles = |gather: &str, threads: &str| format!(r#"{{"gather":{gather},"weights":{times},"threads":{threads}}}"#);
    assert!(Tuning::from_json(&good(&tiles(times, "64"))).is_ok());
    let none = r#"{"registers":[null,null,null,null,null],"workgroup":[null,null,null]}"#;
    let negative = times.replace(r#""each":1"#, r#""each":-1"#);
    for (text, code) in [
        (String::new(), ErrorCode::Parse),
        ("{}".into(), ErrorCode::Parse),
        (good("1"), ErrorCode::Parse),
        (good(&tiles(none, "64")), ErrorCode::InvalidOption),
        (good(&tiles(&negative, "64")), ErrorCode::InvalidOption),
        (good(&tiles(times, "0")), ErrorCode::InvalidOption),
        (good(&tiles(times, "1e9")), ErrorCode::Parse),
    ] {
        assert_eq!(Tuning::from_json(&text).unwrap_err().code, code, "{text}");
    }
}
