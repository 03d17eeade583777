//! An executor whose passes are in a journal: those that are known are not made again.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Entry, Journal};
use crate::control::LocalFuture;
use crate::engine::chart::Charts;
use crate::engine::executor::{BackendInfo, Curvature, Executor, Precision};
use crate::engine::sharded::{Pass, bytes, product};
use crate::engine::sweep::{Cotangent, LayerSums};
use crate::engine::vector::{Vector, Vectors};
use crate::error::{Error, ErrorCode, Result, bail};
use crate::event_loop::now;
use crate::memory::{collected, room};
use crate::ranks::Meeting;

/// An executor over another one, which makes the passes that the journal does not have.
pub(in crate::engine) fn journaled(journal: &Rc<Journal>, own: Box<dyn Executor>) -> Box<dyn Executor> {
    Box::new(Journaled {
        number: journal.engine(),
        journal: journal.clone(),
        own,
        point: RefCell::default(),
        plane: RefCell::default(),
    })
}

struct Journaled {
    journal: Rc<Journal>,
    own: Box<dyn Executor>,
    number: usize,
    /// A point, and a plane, that have been asked for and that nothing has been computed at yet.
    point: RefCell<Option<Vector>>,
    plane: RefCell<Option<(Vector, Vector, Option<Vector>)>>,
}

impl Journaled {
    /// What was asked, as a number.
    fn asked(&self, pass: Pass<'_>) -> Result<u64> {
        let (command, parts) = pass.message(|v| Ok(bytes(v).unwrap_or_default()))?;
        Ok(Meeting::new(&format!("{} {command:?}", self.number), &parts).number())
    }

    /// The same, and what the journal knows of it.
    fn look_up(&self, pass: Pass<'_>) -> Result<(u64, Entry)> {
        let asked = self.asked(pass)?;
        Ok((asked, self.journal.next(asked)?))
    }

    /// Losses and accuracies at points of the plane. Each is known by itself, since how many are asked for at once may be another number when
    /// work goes on.
    async fn at_points(&self, points: &[[f64; 2]]) -> Result<Vec<f64>> {
        let precision = self.vectors().precision();
        let mut numbers = room("a landscape's points", 2 * points.len())?;
        for (i, point) in points.iter().enumerate() {
            let (asked, entry) = self.look_up(Pass::EvaluatePlane(std::slice::from_ref(point)))?;
            if let Entry::Found(bytes) = &entry {
                numbers.extend(unpacked(precision, bytes)?);
                continue;
            }
            self.go_to_plane().await?;
            let left = &points[i..];
            let mut own = self.vectors().zeros(2 * left.len(), 1)?;
            let found = match self.own.evaluate_plane(left, &mut own).await {
                Ok(()) => self.vectors().download(&own).await,
                Err(error) => Err(error),
            };
            if matches!(entry, Entry::New) {
                let Ok(found) = &found else {
                    self.keep(asked, &found, |_| Ok(Vec::new()))?;
                    return found;
                };
                for (point, found) in left.iter().zip(found.chunks_exact(2)) {
                    let asked = self.asked(Pass::EvaluatePlane(std::slice::from_ref(point)))?;
                    self.journal.keep(asked, Some(&packed(precision, found)?))?;
                }
            }
            numbers.extend(found?);
            break;
        }
        Ok(numbers)
    }

    /// The numbers that a pass gives, known or new; `precision` is that of the numbers.
    async fn numbers(
        &self,
        pass: Pass<'_>,
        precision: Precision,
        make: impl Future<Output = Result<Vec<f64>>>,
    ) -> Result<Vec<f64>> {
        let (asked, entry) = self.look_up(pass)?;
        if let Entry::Found(bytes) = &entry {
            return unpacked(precision, bytes);
        }
        if !matches!(pass, Pass::Evaluate(_)) {
            self.go_to_point().await?;
        }
        let found = make.await;
        if matches!(entry, Entry::New) {
            self.keep(asked, &found, |numbers| packed(precision, numbers))?;
        }
        found
    }

    /// The same of a vector of so many columns.
    async fn vector(
        &self,
        pass: Pass<'_>,
        columns: usize,
        make: impl Future<Output = Result<Vector>>,
    ) -> Result<Vector> {
        let vectors = self.own.vectors();
        let make = async { vectors.download(&make.await?).await };
        let numbers = self.numbers(pass, vectors.precision(), make).await?;
        vectors.upload(&numbers, columns)
    }

    fn keep<R>(&self, asked: u64, found: &Result<R>, bytes: impl Fn(&R) -> Result<Vec<u8>>) -> Result<()> {
        use ErrorCode::{NotFinite, OutOfRange, TooLarge};
        match found {
            Ok(found) => self.journal.keep(asked, Some(&bytes(found)?)),
            // Work may go on without what its numbers did not allow.
            Err(error) if [NotFinite, OutOfRange, TooLarge].contains(&error.code) => self.journal.keep(asked, None),
            Err(_) => Ok(()),
        }
    }

    /// What is prepared is prepared where something is computed there.
    async fn go_to_point(&self) -> Result<()> {
        let point = self.point.borrow_mut().take();
        match point {
            Some(theta) => self.own.prepare(&theta).await,
            None => Ok(()),
        }
    }

    async fn go_to_plane(&self) -> Result<()> {
        let plane = self.plane.borrow_mut().take();
        match plane {
            Some((theta, u, v)) => self.own.prepare_plane(&theta, &u, v.as_ref()).await,
            None => Ok(()),
        }
    }

    fn copy(&self, v: &Vector) -> Result<Vector> {
        let mut copy = self.vectors().zeros(v.len(), v.columns())?;
        self.vectors().copy_columns(v, 0..v.columns(), &mut copy, 0)?;
        Ok(copy)
    }

    async fn multiply(&self, curvature: Curvature, layer: Option<usize>, v: &Vector, out: &mut Vector) -> Result<()> {
        let pass = Pass::Product { curvature, layer, v };
        *out = self
            .vector(pass, v.columns(), async {
                let mut own = self.vectors().zeros(v.len(), v.columns())?;
                product(&*self.own, curvature, layer, v, &mut own).await?;
                Ok(own)
            })
            .await?;
        Ok(())
    }

    /// Losses and accuracies, from place `at` of `out` on.
    async fn outcomes(
        &self,
        pass: Pass<'_>,
        make: impl Future<Output = Result<Vector>>,
        out: &mut Vector,
        at: usize,
    ) -> Result<()> {
        let found = self.vector(pass, 1, make).await?;
        self.vectors().copy_rows(&found, 0..found.len(), out, at)
    }
}

impl Executor for Journaled {
    fn info(&self) -> &BackendInfo {
        self.own.info()
    }

    fn threads(&self, samples: usize) -> usize {
        self.own.threads(samples)
    }

    fn vectors(&self) -> &dyn Vectors {
        self.own.vectors()
    }

    fn charts(&self) -> &dyn Charts {
        self.own.charts()
    }

    fn prepare<'a>(&'a self, theta: &'a Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let (asked, entry) = self.look_up(Pass::Prepare(theta))?;
            if let Entry::Found(_) = entry {
                *self.point.borrow_mut() = Some(self.copy(theta)?);
                return Ok(());
            }
            *self.point.borrow_mut() = None;
            let found = self.own.prepare(theta).await;
            if matches!(entry, Entry::New) {
                self.keep(asked, &found, |()| Ok(Vec::new()))?;
            }
            found
        })
    }

    fn loss(&self) -> LocalFuture<'_, Result<f64>> {
        Box::pin(async move {
            let found = self.numbers(Pass::Loss, Precision::F64, async { Ok(vec![self.own.loss().await?]) }).await?;
            found.first().copied().ok_or_else(other)
        })
    }

    fn outputs(&self) -> LocalFuture<'_, Result<Vec<f64>>> {
        // An executor may make a pass when it is asked for it, and not when it is waited for: each is asked for in here.
        Box::pin(self.numbers(Pass::Outputs, Precision::F64, async { self.own.outputs().await }))
    }

    fn gradient(&self, out: &mut Vector) -> Result<()> {
        let length = out.len();
        *out = now(self.vector(Pass::Gradient, 1, async {
            let mut own = self.vectors().zeros(length, 1)?;
            self.own.gradient(&mut own)?;
            Ok(own)
        }))?;
        Ok(())
    }

    fn product<'a>(&'a self, curvature: Curvature, v: &'a Vector, out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(self.multiply(curvature, None, v, out))
    }

    fn layer_product<'a>(
        &'a self,
        curvature: Curvature,
        layer: usize,
        v: &'a Vector,
        out: &'a mut Vector,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(self.multiply(curvature, Some(layer), v, out))
    }

    fn evaluate<'a>(&'a self, theta: &'a Vector, out: &'a mut Vector, index: usize) -> LocalFuture<'a, Result<()>> {
        let make = async {
            let mut own = self.vectors().zeros(2, 1)?;
            self.own.evaluate(theta, &mut own, 0).await?;
            Ok(own)
        };
        Box::pin(self.outcomes(Pass::Evaluate(theta), make, out, 2 * index))
    }

    fn prepare_plane<'a>(
        &'a self,
        theta: &'a Vector,
        u: &'a Vector,
        v: Option<&'a Vector>,
    ) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            *self.plane.borrow_mut() = Some((self.copy(theta)?, self.copy(u)?, v.map(|v| self.copy(v)).transpose()?));
            if self.journal.has_more()? { Ok(()) } else { self.go_to_plane().await }
        })
    }

    fn evaluate_plane<'a>(&'a self, points: &'a [[f64; 2]], out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        Box::pin(async move {
            let found = self.vectors().upload(&self.at_points(points).await?, 1)?;
            self.vectors().copy_rows(&found, 0..found.len(), out, 0)
        })
    }

    fn sweep<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<Vec<LayerSums>>>> {
        Box::pin(async move {
            let make = async { Ok(listed(&self.own.sweep(cotangents).await?)) };
            let numbers = self.numbers(Pass::Sweep(cotangents), Precision::F64, make).await?;
            sums(&numbers)
        })
    }

    fn squared_gradients<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<f64>>> {
        let make = async { self.own.squared_gradients(cotangents).await };
        Box::pin(self.numbers(Pass::SquaredGradients(cotangents), Precision::F64, make))
    }

    /// Not in the journal: a training keeps its own state, and trials for estimates are of this moment.
    fn batch_gradient<'a>(
        &'a self,
        theta: &'a Vector,
        rows: &'a [u32],
        gradient: &'a mut Vector,
        out: &'a mut Vector,
        index: usize,
    ) -> LocalFuture<'a, Result<()>> {
        self.own.batch_gradient(theta, rows, gradient, out, index)
    }

    fn total(&self, numbers: &mut [f64]) -> Result<()> {
        self.own.total(numbers)
    }
}

fn other() -> Error {
    Error::new(ErrorCode::Parse, "the checkpoint has another number of numbers than a pass gives")
}

/// Numbers as a file has them, in their own precision.
fn packed(precision: Precision, numbers: &[f64]) -> Result<Vec<u8>> {
    const WHAT: &str = "what a pass has found";
    match precision {
        Precision::F64 => collected(WHAT, numbers.iter().flat_map(|x| x.to_le_bytes())),
        Precision::F32 => collected(WHAT, numbers.iter().flat_map(|&x| (x as f32).to_le_bytes())),
    }
}

fn unpacked(precision: Precision, bytes: &[u8]) -> Result<Vec<f64>> {
    const WHAT: &str = "what a pass has found";
    match precision {
        Precision::F64 => collected(WHAT, bytes.as_chunks::<8>().0.iter().map(|&x| f64::from_le_bytes(x))),
        Precision::F32 => collected(WHAT, bytes.as_chunks::<4>().0.iter().map(|&x| f64::from(f32::from_le_bytes(x)))),
    }
}

/// Sums as one list: how many lists there are; of each how many layers; of each how many numbers, and these.
fn listed(sums: &[Vec<LayerSums>]) -> Vec<f64> {
    let mut numbers = vec![sums.len() as f64];
    for layers in sums {
        numbers.push(layers.len() as f64);
        for layer in layers {
            numbers.push(layer.column_forms.len() as f64);
            numbers.extend(layer.numbers());
        }
    }
    numbers
}

fn sums(numbers: &[f64]) -> Result<Vec<Vec<LayerSums>>> {
    let mut rest = numbers.iter().copied();
    let mut next = || rest.next().ok_or_else(other);
    let mut all = Vec::new();
    for _ in 0..next()? as usize {
        let mut layers = Vec::new();
        for _ in 0..next()? as usize {
            let units = next()?;
            if !(0.0..=numbers.len() as f64).contains(&units) {
                bail!(Parse, "the checkpoint has a layer of {units} units");
            }
            let mut layer = LayerSums::zeros(units as usize)?;
            for number in layer.numbers_mut() {
                *number = next()?;
            }
            layers.push(layer);
        }
        all.push(layers);
    }
    Ok(all)
}
