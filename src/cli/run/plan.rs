//! `plan`: what work would take on more machines like this one, by a trial here and a sum over the ranks that there are.

use serde_json::{Map, Value, json};

use super::{Outcome, whole};
use crate::cli::invocation::Invocation;
use crate::cli::open::Opened;
use crate::control::{Control, Progress, now};
use crate::engine::{Curvature, Device, Engine};
use crate::error::{Error, ErrorCode, Result};
use crate::problem::Problem;
use crate::ranks::Link;

/// Ranks to plan for where nobody says.
const NODES: usize = 64;

/// Samples of the first trial; each further one has twice as many, until a product takes so long that it can be timed.
const FIRST: usize = 32;
const LONG: f64 = 0.25;

/// Products of a trial, of which the fastest counts.
const ROUNDS: usize = 3;

/// What more ranks have to save of the time, when they are doubled, to be worth it.
const WORTH: f64 = 0.25;

/// Vectors of parameters that a search for eigenvalues keeps: its basis, and what it works with.
const VECTORS: u64 = 80;

pub(super) async fn run(
    invocation: &Invocation,
    opened: &Opened,
    device: &Device,
    control: &Control<'_>,
    result: &mut Map<String, Value>,
) -> Result<Outcome> {
    let problem = opened.problem()?;
    let samples = problem.samples();
    let precision = device.info().precision;
    result.insert("backend".into(), json!(device.info()));
    let numbers = problem.network().parameter_count();
    let link = match device.ranks() {
        Some(ranks) => Link::measured(ranks, numbers)?,
        None => Link::ASSUMED,
    };
    let (trial, stopped) = Trial::of(device, problem, &opened.parameters, &control.finishable()).await?;
    let most = invocation.plan.nodes.unwrap_or(NODES).min(samples);
    let seconds = |ranks: usize| {
        let waiting = link.seconds(ranks, numbers, precision.bytes());
        (trial.seconds(samples.div_ceil(ranks)) + waiting, waiting)
    };
    let alone = seconds(1).0;
    let rows: Vec<Value> = doublings(most)
        .map(|ranks| {
            let (share, (product, waiting)) = (samples.div_ceil(ranks), seconds(ranks));
            json!({
                "ranks": ranks,
                "samples": share,
                "bytes": trial.bytes(share, problem),
                "seconds": product,
                "waiting": waiting / product,
                "speedup": alone / product,
            })
        })
        .collect();
    let enough =
        doublings(most).take_while(|&ranks| ranks == 1 || seconds(ranks).0 <= (1.0 - WORTH) * seconds(ranks / 2).0);
    result.insert(
        "plan".into(),
        json!({
            "enough": enough.last(),
            "nodes": most,
            "rows": rows,
            "trial": { "samples": trial.samples, "fixed": trial.fixed, "perSample": trial.each },
            "link": { "latency": link.latency, "rate": link.rate, "ranks": link.measured },
        }),
    );
    Ok(Outcome { stopped, ..whole() })
}

/// 1, 2, 4, … up to `most`, which is among them.
fn doublings(most: usize) -> impl Iterator<Item = usize> {
    let powers =
        std::iter::successors(Some(1usize), |ranks| ranks.checked_mul(2)).take_while(move |&ranks| ranks < most);
    powers.chain(std::iter::once(most))
}

/// A Hessian product on this machine alone, as a time of its own and one for each sample.
struct Trial {
    samples: usize,
    fixed: f64,
    each: f64,
    /// Bytes of a point and its products over one sample, and whatever the samples.
    memory: Option<[u64; 2]>,
    parameters: u64,
    number: u64,
}

impl Trial {
    /// The last of several, each of more samples than the one before; and whether it was asked to finish before it had enough.
    async fn of(device: &Device, problem: &Problem, theta: &[f64], control: &Control<'_>) -> Result<(Self, bool)> {
        let alone = device.alone();
        let here = problem.held().len();
        let (mut before, mut samples): (Option<(usize, f64)>, usize) = (None, FIRST);
        let mut last: Option<Self> = None;
        loop {
            let some = problem.first(samples);
            samples = some.samples();
            let engine = Engine::new(&alone, &some)?;
            let fastest = match (fastest(&engine, theta, here, control).await, last) {
                // The trial before it is a rougher plan.
                (Err(Error { code: ErrorCode::Aborted, .. }), Some(last)) if !control.is_stopped() => {
                    return Ok((last, true));
                }
                (found, _) => found?,
            };
            // Ranks are together as fast as the slowest, and all come to the same plan.
            let fastest = device.slowest(fastest)?;
            let (fixed, each) = line(before, (samples, fastest));
            let memory = engine.bytes_for(1).zip(engine.bytes_for(2)).map(|(one, two)| {
                let each = two.saturating_sub(one);
                [each, one.saturating_sub(each)]
            });
            let number = device.info().precision.bytes() as u64;
            let trial = Self { samples, fixed, each, memory, parameters: theta.len() as u64, number };
            if fastest >= LONG || device.slowest((here - samples) as f64)? == 0.0 {
                return Ok((trial, false));
            }
            (before, last) = (Some((samples, fastest)), Some(trial));
            samples *= 2;
        }
    }

    fn seconds(&self, samples: usize) -> f64 {
        self.fixed + self.each * samples as f64
    }

    fn bytes(&self, samples: usize, problem: &Problem) -> Option<u64> {
        let [each, fixed] = self.memory?;
        let data = problem.sample_bytes() * samples as u64;
        Some(fixed + each * samples as u64 + data + VECTORS * self.parameters * self.number)
    }
}

/// Seconds of a Hessian product, of some the fastest.
async fn fastest(engine: &Engine, theta: &[f64], here: usize, control: &Control<'_>) -> Result<f64> {
    engine.prepare(theta).await?;
    let v = engine.upload_directions(theta)?;
    let mut out = engine.vectors().zeros(v.len(), 1)?;
    let mut fastest = f64::INFINITY;
    for _ in 0..ROUNDS {
        control.step(Progress::new("trial", engine.problem().samples(), here)).await?;
        let begin = now();
        engine.apply(Curvature::Hessian, &v, &mut out).await?;
        // On a GPU it has come to its end then.
        engine.vectors().download(&out).await?;
        fastest = fastest.min(now() - begin);
    }
    Ok(fastest)
}

/// The line through two points, or through 0 and one.
fn line(before: Option<(usize, f64)>, (samples, seconds): (usize, f64)) -> (f64, f64) {
    let through_zero = (0.0, seconds / samples as f64);
    let Some((fewer, less)) = before.filter(|&(fewer, _)| fewer < samples) else { return through_zero };
    let each = (seconds - less) / (samples - fewer) as f64;
    let fixed = seconds - each * samples as f64;
    if each > 0.0 && fixed >= 0.0 { (fixed, each) } else { through_zero }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use pollster::block_on;

    use super::{FIRST, doublings, line};
    use crate::cli::{open, parse, run, text};
    use crate::control::Control;
    use crate::engine::{Device, Precision};
    use crate::error::ErrorCode;
    use crate::io::File;

    #[test]
    fn a_wish_to_finish_keeps_the_trial_before_it() {
        let words = ["plan", "m.json"].map(String::from);
        let invocation = parse(&words).expect("words");
        // Twice the samples, so that there are two trials.
        let text_of_case = include_str!("../../../tests/golden/mlp_bias.json");
        let mut case: serde_json::Value = serde_json::from_str(text_of_case).expect("a JSON");
        for key in ["inputs", "targets"] {
            let rows = case[key].as_array_mut().expect("rows");
            rows.extend_from_within(..);
        }
        let opened = open(&invocation, &[File::new("m.json", case.to_string().into_bytes())]).expect("a problem");
        assert!(opened.problem().expect("data").samples() > FIRST);
        let device = Device::cpu(Precision::F64);
        let begun = Cell::new(0);
        let after = |trials: usize| {
            begun.set(0);
            let begun = &begun;
            Control::default()
                .on_progress(|progress| begun.set(progress.done.div_ceil(FIRST)))
                .finish_when(move || begun.get() > trials)
        };
        for (trials, samples) in [(0, None), (1, Some(FIRST))] {
            let found = block_on(run(&invocation, &opened, &device, &after(trials))).expect("what there is");
            assert!(found.stopped && found.result["stopped"] == true);
            assert_eq!(found.result["plan"]["trial"]["samples"].as_u64(), samples.map(|samples| samples as u64));
            assert!(text(&invocation, &found.result, false).contains("Interrupted"));
        }
        let control = Control::default().stop_when(|| true);
        let stopped = block_on(run(&invocation, &opened, &device, &control));
        assert_eq!(stopped.expect_err("a stop").code, ErrorCode::Aborted);
    }

    #[test]
    fn ranks_double_up_to_the_last() {
        assert_eq!(doublings(1).collect::<Vec<_>>(), [1]);
        assert_eq!(doublings(8).collect::<Vec<_>>(), [1, 2, 4, 8]);
        assert_eq!(doublings(100).collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 64, 100]);
    }

    #[test]
    fn a_product_takes_a_time_of_its_own_and_one_a_sample() {
        assert_eq!(line(Some((100, 3.0)), (200, 5.0)), (1.0, 0.02));
        // Noise is no time below 0.
        assert_eq!(line(Some((100, 1.0)), (200, 5.0)), (0.0, 0.025));
        assert_eq!(line(Some((100, 6.0)), (200, 5.0)), (0.0, 0.025));
        assert_eq!(line(None, (50, 5.0)), (0.0, 0.1));
    }
}
