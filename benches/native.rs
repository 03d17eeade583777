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
    use isoflat::linalg::{TraceEstimate, hutchinson};
    use isoflat::measure::petzka;
    use isoflat::network::{BiasInitialization, Initialization, Preset};
    use isoflat::operator::CurvatureOperator;
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

    /// How many samples Criterion takes is for this one call to say: the slow work would otherwise take an hour. Returns what
    /// the call took.
    fn budget(c: &mut Criterion, work: impl Fn()) -> Duration {
        let start = Instant::now();
        work();
        let time = start.elapsed();
        let samples = if time > Duration::from_millis(300) { 10 } else { 30 };
        *c = std::mem::take(c)
            .sample_size(samples)
            .warm_up_time(Duration::from_secs(1))
            .measurement_time((time * samples as u32).clamp(Duration::from_secs(3), Duration::from_secs(60)));
        time
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
            let e = engine.vectors();
            let upload = |values: &[f64]| e.upload(values, 1).expect("memory");
            let (theta, direction) = (upload(&parameters), upload(&vector));
            let (mut product, two) = (upload(&vector), upload(&[0.0; 2]));
            // Two numbers read back: everything enqueued before has been done then.
            let finish = || black_box(pollster::block_on(e.download(&two)).expect("a device that works"));
            let gradient = || {
                pollster::block_on(engine.prepare_vector(&theta)).expect("a device that works");
                finish();
            };
            budget(c, gradient);
            c.bench_function(&format!("{work}/gradient/{name}"), |b| b.iter(gradient));
            c.bench_function(&format!("{work}/product/{name}"), |b| {
                b.iter(|| {
                    pollster::block_on(engine.apply(Curvature::Hessian, &direction, &mut product))
                        .expect("a device that works");
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

    fn lenet(c: &mut Criterion) {
        derivatives(c, "lenet", &Preset::LeNet.network(), 500);
    }

    fn resnet8(c: &mut Criterion) {
        derivatives(c, "resnet8", &Preset::ResNet8.network(), 128);
    }

    fn resnet20(c: &mut Criterion) {
        derivatives(c, "resnet20", &Preset::ResNet20.network(), 32);
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

    /// What one product at a time would have to do for the sweep's numbers.
    struct Naive<'a> {
        engine: &'a Engine,
        parameters: &'a [f64],
    }

    impl Naive<'_> {
        /// ρ of every neuron by a product along the weights that leave it, as many together as `COLUMNS`.
        fn rho(&self) -> f64 {
            const COLUMNS: usize = 32;
            let n = self.parameters.len();
            let layers = self.engine.problem().network().layout().layers();
            let neurons: Vec<_> = layers.iter().flat_map(|layer| (0..layer.inputs).map(move |j| (layer, j))).collect();
            let mut sum = 0.0;
            for some in neurons.chunks(COLUMNS) {
                let mut directions = vec![0.0; n * some.len()];
                for ((layer, j), v) in some.iter().zip(directions.chunks_exact_mut(n)) {
                    for i in layer.weight.clone().skip(*j).step_by(layer.inputs) {
                        v[i] = self.parameters[i];
                    }
                }
                let products = self.engine.product(Curvature::GaussNewton, &directions);
                let products = pollster::block_on(products).expect("a device that works");
                sum += directions.iter().zip(products).map(|(v, p)| v * p).sum::<f64>();
            }
            sum
        }

        /// The trace by Hutchinson's method.
        fn trace(&self, probes: usize) -> TraceEstimate {
            let operator = CurvatureOperator::new(self.engine, Curvature::GaussNewton);
            let control = Control::default();
            pollster::block_on(hutchinson(&operator, probes, 1, &control)).expect("a device that works")
        }

        /// Probes after which its standard error is 1 % of the trace, by what 30 of them say of their spread.
        fn probes_to_one_percent(&self) -> usize {
            let pilot = self.trace(30);
            (30.0 * (pilot.standard_error / (0.01 * pilot.value)).powi(2)).ceil().max(2.0) as usize
        }
    }

    /// Every ρ and every trace of Petzka's Table 1 from one sweep, and what they cost one product at a time: all ρ by a product
    /// for each neuron, or one trace alone by Hutchinson's method to 1 %.
    fn sweep(c: &mut Criterion) {
        let network = Preset::Small.network();
        let problem = data::synthetic(network.clone(), 500, 1).expect("valid sizes");
        let parameters =
            network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, 1).expect("valid");
        for (name, device) in devices() {
            let engine = Engine::new(&device, &problem).expect("it fits everywhere");
            pollster::block_on(engine.prepare(&parameters)).expect("a device that works");
            let naive = Naive { engine: &engine, parameters: &parameters };
            let probes = naive.probes_to_one_percent();
            let swept = || {
                black_box(pollster::block_on(petzka::traces(&engine, &Control::default())).expect("traces"));
            };
            let rho = || {
                black_box(naive.rho());
            };
            let trace = || {
                black_box(naive.trace(probes));
            };
            let time = budget(c, swept);
            c.bench_function(&format!("sweep/all/{name}"), |b| b.iter(swept));
            let rho_time = budget(c, rho);
            c.bench_function(&format!("sweep/rho-by-products/{name}"), |b| b.iter(rho));
            let trace_time = budget(c, trace);
            c.bench_function(&format!("sweep/trace-by-{probes}-probes/{name}"), |b| b.iter(trace));
            let ratio = |other: Duration| other.as_secs_f64() / time.as_secs_f64();
            eprintln!(
                "{name}: ρ by products takes {:.1} sweeps, one trace to 1 % by {probes} probes {:.1}",
                ratio(rho_time),
                ratio(trace_time)
            );
        }
    }

    criterion_group!(benches, f1, c1, wide, lenet, resnet8, resnet20, grid, sweep);
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    native::benches();
    criterion::Criterion::default().configure_from_args().final_summary();
}

/// scripts/bench.mjs measures in a browser.
#[cfg(target_arch = "wasm32")]
fn main() {}
