//! The benchmark's work natively, by Criterion: `cargo bench`, or `npm run bench -- --native`.
//!
//! The same sizes as in benches/web/problems.mjs; the values come from isoflat's own seeds, which natively have no rival to
//! share them with. All CPU threads in both precisions, and the GPU where there is one, a software one included.

#[cfg(not(target_arch = "wasm32"))]
mod native {
    // criterion_group! makes a public function.
    #![allow(missing_docs)]

    use std::hint::black_box;
    use std::time::{Duration, Instant};

    use criterion::{BatchSize, Criterion, criterion_group};
    use isoflat::engine::{Backend, Curvature, Device, Engine, Precision};
    use isoflat::landscape::{Axis, Direction, Normalization, landscape};
    use isoflat::network::{BiasInitialization, Initialization, Preset};
    use isoflat::{Control, Network, data};

    /// Points along each side of the landscape.
    const POINTS: usize = 21;

    fn devices() -> Vec<(&'static str, Device)> {
        let mut devices = vec![("cpu-f32", Device::cpu(Precision::F32)), ("cpu-f64", Device::cpu(Precision::F64))];
        match pollster::block_on(Device::request(Backend::Gpu, Precision::F32)) {
            Ok(device) => {
                eprintln!("GPU: {}", device.info().adapter);
                devices.push(("gpu", device));
            }
            Err(error) => eprintln!("no GPU: {}", error.message),
        }
        devices
    }

    /// How many samples Criterion takes is for this one call to say: the slow work would otherwise take an hour.
    fn budget(c: &mut Criterion, work: impl Fn()) {
        let start = Instant::now();
        work();
        let time = start.elapsed();
        let samples = if time > Duration::from_millis(300) { 10 } else { 30 };
        *c = std::mem::take(c)
            .sample_size(samples)
            .warm_up_time(Duration::from_secs(1))
            .measurement_time((time * samples as u32).clamp(Duration::from_secs(3), Duration::from_secs(60)));
    }

    fn derivatives(c: &mut Criterion, work: &str, network: &Network, samples: usize) {
        let problem = data::synthetic(network.clone(), samples, 1).expect("valid sizes");
        let initial = |seed| network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, seed);
        let (parameters, vector) = (initial(1).expect("valid"), initial(2).expect("valid"));
        for (name, device) in devices() {
            let engine = match Engine::new(&device, &problem) {
                Ok(engine) => engine,
                Err(error) => {
                    eprintln!("{work} on {name} is not available: {}", error.message);
                    continue;
                }
            };
            let e = engine.executor();
            let upload = |values: &[f64]| e.upload(values, 1).expect("memory");
            let (theta, direction) = (upload(&parameters), upload(&vector));
            let (mut product, two) = (upload(&vector), upload(&[0.0; 2]));
            // Two numbers read back: everything enqueued before has been done then.
            let finish = || black_box(pollster::block_on(e.download(&two)).expect("a device that works"));
            let gradient = || {
                e.prepare(&theta).expect("a device that works");
                finish();
            };
            budget(c, gradient);
            c.bench_function(&format!("{work}/gradient/{name}"), |b| b.iter(gradient));
            c.bench_function(&format!("{work}/product/{name}"), |b| {
                b.iter(|| {
                    e.product(Curvature::Hessian, &direction, &mut product).expect("a device that works");
                    finish()
                })
            });
        }
    }

    fn f1(c: &mut Criterion) {
        derivatives(c, "f1", &Preset::F1.network(), 500);
    }

    fn c1(c: &mut Criterion) {
        derivatives(c, "c1", &Preset::C1.network(), 500);
    }

    fn wide(c: &mut Criterion) {
        derivatives(c, "wide", &Preset::MnistFc.network(), 2000);
    }

    fn grid(c: &mut Criterion) {
        let network = Preset::F1.network();
        let initial = |seed| network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, seed);
        let parameters = initial(1).expect("valid");
        let problem = data::synthetic(network.clone(), 500, 1).expect("valid sizes");
        let axis = Axis { from: -1.0, to: 1.0, points: POINTS };
        let directions = [2, 3].map(|seed| (Direction::Vector(initial(seed).expect("valid")), axis));
        for (name, device) in devices() {
            let engine = Engine::new(&device, &problem).expect("F1 fits everywhere");
            let work = || {
                let control = Control::default();
                let found = landscape(&engine, &parameters, &directions, Normalization::None, &control);
                black_box(pollster::block_on(found).expect("a device that works"));
            };
            budget(c, work);
            c.bench_function(&format!("landscape/losses/{name}"), |b| {
                b.iter_batched(|| (), |()| work(), BatchSize::PerIteration)
            });
        }
    }

    criterion_group!(benches, f1, c1, wide, grid);
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    native::benches();
    criterion::Criterion::default().configure_from_args().final_summary();
}

/// scripts/bench.mjs measures in a browser.
#[cfg(target_arch = "wasm32")]
fn main() {}
