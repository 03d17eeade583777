//! The helper's side: executors of its own over its shares, and the answers to commands.

use std::collections::HashMap;
use std::ops::Range;

use super::message::{Command, CotangentKind, Load, Reply, Request, numbers, open};
use super::numbers::{bytes, from_bytes};
use super::pass::product;
use super::shares::own_rows;
use crate::engine::cpu::cpu_executor;
use crate::engine::executor::{Executor, Precision};
use crate::engine::sweep::{Cotangent, LayerSums};
use crate::engine::vector::Vector;
use crate::error::{Result, ensure};
use crate::event_loop::now;
use crate::memory::copied;
use crate::network::Network;
use crate::problem::{Loss, Problem, Targets, Values};

const REPLY: &str = "a thread's reply";

/// One of the threads that an executor shares its samples with. It knows nothing of how commands come to it.
#[derive(Default)]
pub struct Helper {
    loaded: HashMap<u32, Share>,
}

/// Some of a problem's samples.
struct Share {
    executor: Box<dyn Executor>,
    parameters: usize,
    outputs: usize,
    /// Which of the whole problem's they are.
    samples: Range<usize>,
}

impl Helper {
    /// Obeys a command of the sharded executor; the reply is the message to send back. Errors are replies too.
    pub fn answer(&mut self, request: &[u8]) -> Vec<u8> {
        Reply::encode(self.obey(request))
    }

    fn obey(&mut self, request: &[u8]) -> Result<Vec<Vec<u8>>> {
        let (request, parts) = open::<Request>(request)?;
        match request.command {
            Command::Load(load) => {
                self.loaded.insert(request.problem, Share::new(&load, &parts)?);
                Ok(Vec::new())
            }
            Command::Unload => {
                self.loaded.remove(&request.problem);
                Ok(Vec::new())
            }
            command => {
                let share = self.loaded.get(&request.problem);
                ensure!(share.is_some(), InvalidProblem, "a thread was asked of a problem that it does not have");
                share.map_or(Ok(Vec::new()), |share| now(share.obey(&command, &parts)))
            }
        }
    }
}

impl Share {
    fn new(load: &Load, parts: &[&[u8]]) -> Result<Self> {
        ensure!(parts.len() == 2, Parse, "a share is inputs and targets, not {} lists", parts.len());
        let network = Network::from_json(&load.network)?;
        let inputs = match load.inputs {
            Precision::F32 => Values::F32(numbers(parts[0])?),
            Precision::F64 => Values::F64(numbers(parts[0])?),
        };
        let targets = match load.loss {
            Loss::CrossEntropy => Targets::Classes(numbers(parts[1])?),
            Loss::SquaredError => Targets::Vectors(numbers(parts[1])?),
        };
        let (parameters, outputs) = (network.parameter_count(), network.output_len());
        let problem = Problem::new(network, load.loss, inputs, targets)?;
        let executor = cpu_executor(&problem, load.precision, Some(load.memory_budget))?;
        Ok(Self { executor, parameters, outputs, samples: load.first..load.first + problem.samples() })
    }

    fn vector(&self, bytes: &[u8], columns: usize) -> Result<Vector> {
        let vector = from_bytes(self.executor.info().precision, bytes, columns)?;
        ensure!(vector.len() == self.parameters, InvalidParameters, "a vector for {} parameters", vector.len());
        Ok(vector)
    }

    async fn obey(&self, command: &Command, parts: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        let e = &*self.executor;
        let part = |index: usize| parts.get(index).copied().unwrap_or_default();
        match command {
            Command::Load(_) | Command::Unload => Ok(Vec::new()),
            Command::Prepare => {
                e.prepare(&self.vector(part(0), 1)?).await?;
                Ok(Vec::new())
            }
            Command::Loss => Ok(vec![bytes_of(&[e.loss().await?])?]),
            Command::Outputs => Ok(vec![bytes_of(&e.outputs().await?)?]),
            Command::Gradient => {
                let mut out = e.vectors().zeros(self.parameters, 1)?;
                e.gradient(&mut out)?;
                Ok(vec![copied(REPLY, bytes(&out)?)?])
            }
            Command::Product { curvature, layer, columns } => {
                let mut out = e.vectors().zeros(self.parameters, *columns)?;
                let v = self.vector(part(0), *columns)?;
                product(e, *curvature, *layer, &v, &mut out).await?;
                Ok(vec![copied(REPLY, bytes(&out)?)?])
            }
            Command::Evaluate => {
                let mut out = e.vectors().zeros(2, 1)?;
                e.evaluate(&self.vector(part(0), 1)?, &mut out, 0).await?;
                Ok(vec![bytes_of(&e.vectors().download(&out).await?)?])
            }
            Command::PreparePlane => {
                let (theta, u) = (self.vector(part(0), 1)?, self.vector(part(1), 1)?);
                let v = parts.get(2).map(|v| self.vector(v, 1)).transpose()?;
                e.prepare_plane(&theta, &u, v.as_ref()).await?;
                Ok(Vec::new())
            }
            Command::EvaluatePlane => {
                let points: Vec<[f64; 2]> = numbers(part(0))?;
                let mut out = e.vectors().zeros(2 * points.len(), 1)?;
                e.evaluate_plane(&points, &mut out).await?;
                Ok(vec![bytes_of(&e.vectors().download(&out).await?)?])
            }
            Command::Sweep(kinds) => {
                let found = e.sweep(&self.cotangents(kinds, parts)?).await?;
                let numbers: Vec<f64> = found.iter().flatten().flat_map(LayerSums::numbers).collect();
                Ok(vec![bytes_of(&numbers)?])
            }
            Command::SquaredGradients(kinds) => {
                Ok(vec![bytes_of(&e.squared_gradients(&self.cotangents(kinds, parts)?).await?)?])
            }
            Command::BatchGradient => {
                let rows = own_rows(&numbers(part(1))?, &self.samples)?;
                if rows.is_empty() {
                    return Ok(Vec::new());
                }
                let (mut gradient, mut out) = (e.vectors().zeros(self.parameters, 1)?, e.vectors().zeros(2, 1)?);
                e.batch_gradient(&self.vector(part(0), 1)?, &rows, &mut gradient, &mut out, 0).await?;
                Ok(vec![copied(REPLY, bytes(&gradient)?)?, bytes_of(&e.vectors().download(&out).await?)?])
            }
        }
    }

    /// The cotangents of this share's samples, of lists for the whole problem.
    fn cotangents(&self, kinds: &[CotangentKind], parts: &[&[u8]]) -> Result<Vec<Cotangent>> {
        let mut lists = parts.iter();
        let mut list = || {
            let width = self.outputs;
            let range = 4 * width * self.samples.start..4 * width * self.samples.end;
            let own = lists.next().and_then(|list| list.get(range));
            ensure!(own.is_some(), InvalidOption, "a cotangent has fewer values than there are samples");
            Ok(own.unwrap_or_default())
        };
        let cotangent = |kind: &CotangentKind| {
            Ok(match kind {
                CotangentKind::Class(class) => Cotangent::Class(*class),
                CotangentKind::Signs => Cotangent::Signs(numbers(list()?)?),
            })
        };
        kinds.iter().map(cotangent).collect()
    }
}

fn bytes_of(numbers: &[f64]) -> Result<Vec<u8>> {
    copied(REPLY, bytemuck::cast_slice(numbers))
}
