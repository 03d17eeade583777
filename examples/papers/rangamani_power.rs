//! Rangamani et al. (2019), Figure 1: Algorithm 1 step by step, for F₁ (784-300-100-10) on 500 standard normal samples with random
//! labels. Each product gives two estimates, ‖A u‖ and the Rayleigh quotient uᵀA u, the residual ‖A u − (uᵀA u) u‖, and how far the vector
//! turns, which is what the paper stops at. Lanczos says where they should arrive. In the layer-wise metric, as in the paper, and then likewise
//! in the node-wise one, which the paper leaves to others.
//!
//! Networks, data and start vectors are those of `examples/tables.rs`: the first seeds of Table 2. The paper gives neither the
//! point nor the tolerance; here networks are as they are drawn, and the vector has settled when it turns by less than 1e-6.

use std::cell::RefCell;

use isoflat::control::LocalFuture;
use isoflat::engine::{Device, Engine, Precision, Vector, Vectors};
use isoflat::linalg::{Goal, Lanczos, PowerIteration};
use isoflat::network::{BiasInitialization, Initialization, Preset};
use isoflat::operator::{Connection, Metric, OperatorKind, SymmetricOperator};
use isoflat::{Control, Result, data};
use pollster::block_on;
use serde_json::{Value, json};

use super::Arguments;
use super::runs::{self, short};

const SAMPLES: usize = 500;
/// Of the first network.
const FIRST: u64 = 2019;
const TOLERANCE: f64 = 1e-6;

pub fn run(arguments: &Arguments) -> Result<()> {
    let (seeds, products) = if arguments.quick { (2, 100) } else { (10, 1000) };
    let seeds: Vec<u64> = (FIRST..FIRST + arguments.seeds.unwrap_or(seeds)).collect();
    let found_in = |metric, of: &str| {
        let name = |seed: &u64| format!("{of}seed-{seed}");
        runs::all(&arguments.runs, arguments.jobs, &seeds, name, |seed| block_on(one(metric, *seed, products)))
    };
    let (layerwise, nodewise) = (found_in(Metric::Layerwise, "")?, found_in(Metric::Nodewise, "nodewise-")?);
    let result = json!({
        "paper": "Rangamani et al. 2019, Figure 1",
        "network": Preset::F1.network().summary(),
        "samples": SAMPLES,
        "tolerance": TOLERANCE,
        "products": products,
        "seconds": runs::seconds(&layerwise) + runs::seconds(&nodewise),
        "settled": settled(&layerwise),
        "runs": layerwise,
        "nodewise": {
            "seconds": runs::seconds(&nodewise),
            "settled": settled(&nodewise),
            "runs": nodewise,
        },
    });
    runs::write(&arguments.out, &result)?;
    println!("Layer-wise\n\n{}\n\nNode-wise\n\n{}", table(&layerwise), table(&nodewise));
    println!("\nwritten to {}", arguments.out.display());
    Ok(())
}

fn settled(found: &[Value]) -> usize {
    found.iter().filter(|run| run["converged"] == true).count()
}

async fn one(metric: Metric, seed: u64, products: usize) -> Result<Value> {
    let network = Preset::F1.network();
    let parameters = network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, seed)?;
    let problem = data::synthetic(network, SAMPLES, seed)?;
    let engine = Engine::new(&Device::cpu(Precision::F64), &problem)?;
    engine.prepare(&parameters).await?;
    let operator = OperatorKind::riemannian(metric, Connection::Flat).operator(&engine).await?;
    let control = Control::default();
    let lanczos = Lanczos { goal: Goal::SpectralNorm, seed: 3 * seed, ..Lanczos::default() };
    let known = lanczos.run(&operator, &control).await?;
    let dominant = known.dominant().map_or(0.0, |pair| pair.value);

    let watched = Watched { operator: &operator, steps: RefCell::default() };
    let power = PowerIteration { tolerance: Some(TOLERANCE), max_products: products, seed, vector: false };
    let found = power.run(&watched, &control).await?;
    // The last product is not a step: it is taken at the vector that was found.
    let steps = &watched.steps.borrow()[..found.norms.len()];
    let series = |of: fn(&Step) -> f64| steps.iter().map(|step| short(of(step))).collect::<Vec<_>>();
    Ok(json!({
        "seed": seed,
        "lanczos": { "value": dominant, "products": known.products, "converged": known.converged },
        "value": found.pair.value,
        "residual": found.pair.residual,
        "difference": (found.pair.value - dominant).abs() / dominant.abs(),
        "converged": found.pair.converged,
        "steps": found.norms.len(),
        "norms": series(|step| step.norm),
        "distances": steps.iter().map(|step| short((step.norm / dominant.abs() - 1.0).abs())).collect::<Vec<_>>(),
        "quotients": series(|step| step.quotient),
        "residuals": series(|step| step.residual),
        "changes": series(|step| step.change),
    }))
}

/// What one product A u tells, for u of length 1.
struct Step {
    /// ‖A u‖.
    norm: f64,
    /// uᵀA u.
    quotient: f64,
    /// ‖A u − (uᵀA u) u‖.
    residual: f64,
    /// ‖A u / ‖A u‖ ∓ u‖.
    change: f64,
}

/// An operator that keeps what each of its products tells.
struct Watched<'a> {
    operator: &'a dyn SymmetricOperator,
    steps: RefCell<Vec<Step>>,
}

impl SymmetricOperator for Watched<'_> {
    fn vectors(&self) -> &dyn Vectors {
        self.operator.vectors()
    }

    fn len(&self) -> usize {
        self.operator.len()
    }

    fn apply<'a>(&'a self, x: &'a Vector, y: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            self.operator.apply(x, y).await?;
            let (u, product) = (self.vectors().download(x).await?, self.vectors().download(y).await?);
            self.steps.borrow_mut().push(Step::of(&u, &product));
            Ok(())
        })
    }
}

impl Step {
    fn of(u: &[f64], product: &[f64]) -> Self {
        let sum = |term: &dyn Fn(f64, f64) -> f64| u.iter().zip(product).map(|(u, p)| term(*u, *p)).sum::<f64>();
        let quotient = sum(&|u, p| u * p);
        let norm = sum(&|_, p| p * p).sqrt();
        Self {
            norm,
            quotient,
            residual: sum(&|u, p| (p - quotient * u).powi(2)).sqrt(),
            change: sum(&|u, p| (p / norm - quotient.signum() * u).powi(2)).sqrt(),
        }
    }
}

fn table(found: &[Value]) -> String {
    let mut lines = vec![
        "| seed | Lanczos | power iteration | relative difference | residual | steps | settled |".into(),
        "| --- | --- | --- | --- | --- | --- | --- |".into(),
    ];
    for run in found {
        let number = |key: &str| run[key].as_f64().unwrap_or(f64::NAN);
        lines.push(format!(
            "| {} | {:.6} in {} products | {:.6} | {:.1e} | {:.1e} | {} | {} |",
            run["seed"],
            run["lanczos"]["value"].as_f64().unwrap_or(f64::NAN),
            run["lanczos"]["products"],
            number("value"),
            number("difference"),
            number("residual"),
            run["steps"],
            run["converged"],
        ));
    }
    lines.join("\n")
}
