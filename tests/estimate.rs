//! Estimates of time and memory: against the work itself, and in what they must add up to. A process of its own: the
//! clock is read, and other tests would be in its way.
#![cfg(not(target_arch = "wasm32"))]

use std::time::Instant;

use isoflat::engine::{Backend, Device, Engine, Precision};
use isoflat::network::Preset;
use isoflat::{Loss, Problem, Targets};
use pollster::block_on;

fn engine(device: &Device, samples: usize) -> (Engine, Vec<f64>) {
    let network = Preset::Small.network();
    let inputs: Vec<f32> = (0..samples * network.input_len()).map(|i| (i % 17) as f32 / 17.0).collect();
    let targets = Targets::Classes((0..samples as u32).map(|i| i % 10).collect());
    let theta = (0..network.parameter_count()).map(|i| ((i * 37) % 101) as f64 / 500.0 - 0.1).collect();
    let problem = Problem::new(network, Loss::CrossEntropy, inputs, targets).expect("a problem");
    (Engine::new(device, &problem).expect("an engine"), theta)
}

#[test]
fn an_estimate_is_of_the_works_own_size() {
    for device in [Device::cpu(Precision::F32), block_on(Device::request(Backend::Gpu, Precision::F32)).expect("a GPU")]
    {
        let (engine, theta) = engine(&device, 4000);
        let estimate = block_on(engine.estimate(&theta)).expect("an estimate");
        let rows: Vec<u32> = (0..4000).collect();
        let e = engine.vectors();
        let (theta, mut gradient) = (e.upload(&theta, 1).unwrap(), e.zeros(theta.len(), 1).unwrap());
        let mut out = e.zeros(2, 1).unwrap();
        let mut seconds = f64::INFINITY;
        for _ in 0..3 {
            let start = Instant::now();
            block_on(engine.batch_gradient(&theta, &rows, &mut gradient, &mut out, 0)).unwrap();
            block_on(e.download(&out)).unwrap();
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
        // Trials are shorter than the work and other programs may disturb either: what must not happen is another order
        // of magnitude.
        let ratio = estimate.gradient_seconds / seconds;
        assert!((0.1..10.0).contains(&ratio), "{}: estimated {ratio} times what it took", engine.info().adapter);
        assert!((0.0..=estimate.gradient_seconds).contains(&estimate.call_seconds));
        assert!(estimate.evaluation_seconds < estimate.gradient_seconds);
        assert!(estimate.gradient_seconds < estimate.product_seconds);
        assert_eq!(estimate.data_bytes, 4000 * 784 * 4);
        assert_eq!(estimate.vector_bytes, 4 * gradient.len() as u64);
    }
}

#[test]
fn one_sample_can_be_estimated() {
    let (engine, theta) = engine(&Device::cpu(Precision::F64), 1);
    let estimate = block_on(engine.estimate(&theta)).expect("an estimate");
    assert!(estimate.gradient_seconds > 0.0 && estimate.gradient_seconds.is_finite());
}
