//! One run: its state on the device, its steps and epochs.

use rand::seq::SliceRandom;

use super::checkpoint::chart_name;
use super::optimizer::State;
use super::snapshots::Kept;
use super::{Checkpoint, Epoch, Target, TrainOptions, Training};
use crate::control::{Control, Progress};
use crate::engine::{Engine, Evaluation, LoadedChart, Vector, ensure_number};
use crate::error::{ErrorCode, Result, bail, ensure};
use crate::linalg::generator;
use crate::memory::copied;
use crate::space::ParameterSpace;

/// Steps between two readbacks of the loss.
const REPORT_EVERY: usize = 8;

/// v on the device, and θ and ∇_v L beside it where they are not v and ∇_θ L themselves.
struct Point {
    v: Vector,
    /// ∇_θ L.
    gradient: Vector,
    /// Of a space that is not the weights' own.
    mapped: Option<Mapped>,
}

struct Mapped {
    chart: LoadedChart,
    theta: Vector,
    /// ∇_v L.
    gradient: Vector,
}

impl Mapped {
    fn theta_of(&mut self, engine: &Engine, v: &Vector) -> Result<&Vector> {
        engine.charts().parameters(&self.chart, v, &mut self.theta)?;
        Ok(&self.theta)
    }
}

impl Point {
    fn new(engine: &Engine, space: &dyn ParameterSpace, coordinates: &[f64]) -> Result<Self> {
        let (e, chart) = (engine.vectors(), space.chart());
        let n = chart.parameter_count();
        let mapped = if chart.is_identity() {
            None
        } else {
            let (theta, gradient) = (e.zeros(n, 1)?, e.zeros(chart.dimension(), 1)?);
            Some(Mapped { chart: engine.charts().load(chart)?, theta, gradient })
        };
        Ok(Self { v: e.upload(coordinates, 1)?, gradient: e.zeros(n, 1)?, mapped })
    }

    /// θ(v).
    fn theta(&mut self, engine: &Engine) -> Result<&Vector> {
        match &mut self.mapped {
            None => Ok(&self.v),
            Some(mapped) => mapped.theta_of(engine, &self.v),
        }
    }

    /// ∇_θ L over a batch, with its loss and accuracy in a slot of `outcomes`.
    async fn batch_gradient(
        &mut self,
        engine: &Engine,
        rows: &[u32],
        outcomes: &mut Vector,
        slot: usize,
    ) -> Result<()> {
        let Self { v, gradient, mapped } = self;
        let theta = match mapped {
            None => &*v,
            Some(mapped) => mapped.theta_of(engine, v)?,
        };
        engine.batch_gradient(theta, rows, gradient, outcomes, slot).await
    }

    /// ∇_v L from ∇_θ L, and v, both to write.
    fn gradient_and_v(&mut self, engine: &Engine) -> Result<(&mut Vector, &mut Vector)> {
        match &mut self.mapped {
            None => Ok((&mut self.gradient, &mut self.v)),
            Some(mapped) => {
                engine.charts().cotangent(&mapped.chart, &self.v, &self.gradient, None, &mut mapped.gradient)?;
                Ok((&mut mapped.gradient, &mut self.v))
            }
        }
    }
}

pub(super) struct Trainer<'a> {
    engine: &'a Engine,
    space: &'a dyn ParameterSpace,
    options: TrainOptions,
    samples: usize,
    order: Vec<u32>,
    rng: rand_chacha::ChaCha8Rng,
    point: Point,
    state: State,
    /// Loss and accuracy of the steps since the last readback, and how many samples each had.
    outcomes: Vector,
    pending: Vec<usize>,
    /// Steps done in the epoch under way, and the sums over them; none of an epoch that has not begun.
    batch: usize,
    loss_sum: f64,
    accuracy_sum: f64,
    history: Vec<Epoch>,
    stopped: bool,
    reached_target: bool,
    number: Option<usize>,
    snapshots: Option<Kept>,
}

impl<'a> Trainer<'a> {
    /// A run from these parameters.
    pub fn begin(
        engine: &'a Engine,
        space: &'a dyn ParameterSpace,
        parameters: &[f64],
        validation: Option<&Engine>,
        options: &TrainOptions,
    ) -> Result<Self> {
        options.check(engine.problem(), validation.map(Engine::problem))?;
        // What they cannot hold is refused before the first step.
        for engine in [engine].into_iter().chain(validation) {
            engine.upload_parameters(parameters)?;
        }
        Self::at(engine, space, &space.to_coordinates(parameters)?, options)
    }

    /// A run that goes on.
    pub fn resume(
        engine: &'a Engine,
        space: &'a dyn ParameterSpace,
        checkpoint: &Checkpoint,
        validation: Option<&Engine>,
        options: &TrainOptions,
    ) -> Result<Self> {
        options.check(engine.problem(), validation.map(Engine::problem))?;
        checkpoint.check(space, options, engine.problem().samples())?;
        let parameters = space.to_parameters(&checkpoint.coordinates)?;
        for engine in [engine].into_iter().chain(validation) {
            engine.upload_parameters(&parameters)?;
        }
        let mut trainer = Self::at(engine, space, &checkpoint.coordinates, options)?;
        let vectors = engine.vectors();
        for (what, mine, saved) in [
            ("mean", &mut trainer.state.mean, &checkpoint.mean),
            ("square", &mut trainer.state.square, &checkpoint.square),
        ] {
            match (mine, saved) {
                (None, None) => {}
                (Some(mine), Some(saved)) => *mine = vectors.upload(saved, 1)?,
                _ => bail!(InvalidOption, "the checkpoint is of another optimizer: its {what} gradient tells"),
            }
        }
        trainer.state.steps = checkpoint.steps;
        trainer.batch = checkpoint.batch;
        (trainer.loss_sum, trainer.accuracy_sum) = (checkpoint.loss_sum, checkpoint.accuracy_sum);
        trainer.history = checkpoint.history.clone();
        // The order of an epoch is that of the one before, shuffled again.
        for _ in 0..trainer.history.len() + usize::from(trainer.batch > 0) {
            trainer.order.shuffle(&mut trainer.rng);
        }
        Ok(trainer)
    }

    fn at(
        engine: &'a Engine,
        space: &'a dyn ParameterSpace,
        coordinates: &[f64],
        options: &TrainOptions,
    ) -> Result<Self> {
        let vectors = engine.vectors();
        let samples = engine.problem().samples();
        if space.chart().parameter_count() != engine.problem().network().parameter_count() {
            bail!(InvalidParameters, "the space is of another network than the engine's problem");
        }
        if let Some(snapshots) = options.snapshots {
            snapshots.check(options, samples, space.chart().parameter_count())?;
        }
        Ok(Self {
            engine,
            space,
            options: *options,
            samples,
            order: crate::memory::collected("the order of samples", 0..samples as u32)?,
            rng: generator(options.seed),
            point: Point::new(engine, space, coordinates)?,
            state: State::new(vectors, options.optimizer, space.dimension())?,
            outcomes: vectors.zeros(2 * REPORT_EVERY, 1)?,
            pending: Vec::new(),
            batch: 0,
            loss_sum: 0.0,
            accuracy_sum: 0.0,
            history: Vec::new(),
            stopped: false,
            reached_target: false,
            number: None,
            snapshots: options.snapshots.map(Kept::new),
        })
    }

    /// The same run, with its number in progress.
    pub fn numbered(self, number: usize) -> Self {
        Self { number: Some(number), ..self }
    }

    /// All epochs.
    pub async fn run(mut self, validation: Option<&Engine>, control: &Control<'_>) -> Result<Training> {
        while !self.is_done() {
            self.next_epoch(validation, control).await?;
        }
        self.finish().await
    }

    /// Is there nothing left to do?
    pub fn is_done(&self) -> bool {
        self.stopped || self.reached_target || self.history.len() >= self.options.epochs
    }

    /// The rest of the epoch under way, or the next one. A wish to finish is no error: it is kept in mind.
    pub async fn next_epoch(&mut self, validation: Option<&Engine>, control: &Control<'_>) -> Result<()> {
        // Where the run begins, or goes on.
        self.keep_snapshot(false).await?;
        match self.epoch(validation, &control.finishable()).await {
            Err(error) if error.code == ErrorCode::Aborted && !control.is_stopped() => {
                // The last epoch is whole: a wish to finish after it stops nothing.
                self.stopped = !self.is_done();
                self.read_outcomes().await.map(|_| ())
            }
            other => other,
        }
    }

    /// What was reached.
    pub async fn finish(mut self) -> Result<Training> {
        self.keep_snapshot(true).await?;
        self.check_last_step().await?;
        let vectors = self.engine.vectors();
        let coordinates = self.coordinates().await?;
        let parameters = self.space.to_parameters(&coordinates)?;
        let mut kept = [None, None];
        for (kept, vector) in kept.iter_mut().zip([&self.state.mean, &self.state.square]) {
            if let Some(vector) = vector {
                let values = vectors.download(vector).await?;
                ensure_number("a mean of the gradients that a checkpoint keeps", vectors.precision(), &values)?;
                *kept = Some(values);
            }
        }
        let [mean, square] = kept;
        let checkpoint = Checkpoint {
            space: self.space.name().into(),
            chart: chart_name(self.space),
            coordinates: copied("a training's checkpoint", &coordinates)?,
            mean,
            square,
            steps: self.state.steps,
            batch: self.batch,
            loss_sum: self.loss_sum,
            accuracy_sum: self.accuracy_sum,
            history: self.history.clone(),
            seed: self.options.seed,
            batch_size: self.options.batch_size,
            samples: self.samples,
        };
        Ok(Training {
            parameters,
            warning: self.space.scaling_warning(&coordinates),
            coordinates,
            epochs: self.history.len(),
            steps: self.state.steps,
            stopped: self.stopped,
            reached_target: self.reached_target,
            history: self.history,
            checkpoint,
            snapshots: self.snapshots.map(Kept::into_list).unwrap_or_default(),
        })
    }

    /// Each step's loss is the one before it: what the last step led to is looked at on the samples that begin the order.
    async fn check_last_step(&mut self) -> Result<()> {
        let has_snapshot = self.snapshots.as_ref().is_some_and(|kept| kept.has(self.state.steps));
        if self.state.steps == 0 && !has_snapshot {
            return Ok(());
        }
        let rows: Vec<u32> = self.order.iter().copied().take(self.options.batch_size).collect();
        self.point.batch_gradient(self.engine, &rows, &mut self.outcomes, 0).await?;
        let outcome = self.engine.vectors().download(&self.outcomes).await?;
        if !outcome[0].is_finite() {
            bail!(NotFinite, "training diverged in its last step, {}: try a smaller learning rate", self.state.steps);
        }
        if let Some(kept) = &mut self.snapshots {
            kept.found(self.state.steps, outcome[0]);
        }
        Ok(())
    }

    /// v after the steps so far. It overflows before a loss says so: these are read some steps later.
    async fn coordinates(&self) -> Result<Vec<f64>> {
        let coordinates = self.engine.vectors().download(&self.point.v).await?;
        let (steps, is_finite) = (self.state.steps, coordinates.iter().all(|v| v.is_finite()));
        ensure!(is_finite, NotFinite, "training diverged by step {steps}: try a smaller learning rate");
        Ok(coordinates)
    }

    /// Keeps the parameters of this step if it is one of those that were asked for, or the last one.
    async fn keep_snapshot(&mut self, is_last: bool) -> Result<()> {
        let step = self.state.steps;
        let wants = |kept: &Kept| kept.wants(step) || is_last && !kept.has(step);
        if !self.snapshots.as_ref().is_some_and(wants) {
            return Ok(());
        }
        let parameters = self.space.to_parameters(&self.coordinates().await?)?;
        let epoch = step as f64 / self.options.steps_per_epoch(self.samples) as f64;
        self.snapshots.as_mut().map_or(Ok(()), |kept| kept.push(step, epoch, &parameters))
    }

    async fn epoch(&mut self, validation: Option<&Engine>, control: &Control<'_>) -> Result<()> {
        control.breathe().await?;
        if self.batch == 0 {
            self.order.shuffle(&mut self.rng);
            (self.loss_sum, self.accuracy_sum) = (0.0, 0.0);
        }
        let order = std::mem::take(&mut self.order);
        let found = self.batches(&order, control).await;
        self.order = order;
        found?;
        let number = self.history.len() + 1;
        let (loss, accuracy) = (self.loss_sum / self.samples as f64, self.accuracy_sum / self.samples as f64);
        let mut epoch = Epoch { epoch: number, loss, accuracy, validation_loss: None, validation_accuracy: None };
        let mut progress = self.progress(number).with("loss", loss).with("accuracy", accuracy);
        if let Some(validation) = validation {
            let found = self.evaluate(validation).await?;
            if !found.loss.is_finite() {
                bail!(NotFinite, "training diverged in epoch {number}: the validation loss is {}", found.loss);
            }
            epoch.validation_loss = Some(found.loss);
            epoch.validation_accuracy = Some(found.accuracy);
            progress = progress.with("validationLoss", found.loss).with("validationAccuracy", found.accuracy);
        }
        if let Some(target) = self.options.target {
            let found = self.evaluate(self.engine).await?;
            self.reached_target = match target {
                Target::Loss(loss) => found.loss <= loss,
                Target::Accuracy(accuracy) => found.accuracy >= accuracy,
            };
        }
        self.batch = 0;
        (self.loss_sum, self.accuracy_sum) = (0.0, 0.0);
        self.history.push(epoch);
        control.step(progress).await
    }

    async fn evaluate(&mut self, engine: &Engine) -> Result<Evaluation> {
        let mut out = engine.vectors().zeros(2, 1)?;
        let theta = self.point.theta(self.engine)?;
        engine.evaluate_into(theta, &mut out, 0).await?;
        let out = engine.vectors().download(&out).await?;
        Ok(Evaluation { loss: out[0], accuracy: out[1] })
    }

    /// The steps of the epoch that are left.
    async fn batches(&mut self, order: &[u32], control: &Control<'_>) -> Result<()> {
        let number = self.history.len() + 1;
        let steps = self.options.steps_per_epoch(order.len());
        for rows in order.chunks(self.options.batch_size).skip(self.batch) {
            self.step(rows).await?;
            self.keep_snapshot(false).await?;
            if self.pending.len() < REPORT_EVERY && self.batch < steps {
                control.breathe().await?;
                continue;
            }
            let [loss, accuracy] = self.read_outcomes().await?;
            if self.batch < steps {
                let progress = self.progress(number);
                control.step(progress.with("loss", loss).with("accuracy", accuracy)).await?;
            }
        }
        Ok(())
    }

    /// Adds the outcomes of the last steps to the epoch's sums; their means.
    async fn read_outcomes(&mut self) -> Result<[f64; 2]> {
        let outcomes = self.engine.vectors().download(&self.outcomes).await?;
        let (mut loss, mut accuracy, mut samples) = (0.0, 0.0, 0);
        // Each step's loss is at the parameters where it began.
        let first = self.state.steps - self.pending.len();
        if let Some(kept) = &mut self.snapshots {
            for (i, outcome) in outcomes.chunks_exact(2).take(self.pending.len()).enumerate() {
                kept.found(first + i, outcome[0]);
            }
        }
        // Step by step, so that the epoch's sums do not depend on when they were read.
        for (outcome, rows) in outcomes.chunks_exact(2).zip(self.pending.drain(..)) {
            let terms = [outcome[0] * rows as f64, outcome[1] * rows as f64];
            (self.loss_sum, self.accuracy_sum) = (self.loss_sum + terms[0], self.accuracy_sum + terms[1]);
            (loss, accuracy, samples) = (loss + terms[0], accuracy + terms[1], samples + rows);
        }
        if !loss.is_finite() {
            let (epoch, step) = (self.history.len() + 1, self.batch);
            bail!(NotFinite, "training diverged in epoch {epoch}, step {step}: try a smaller learning rate");
        }
        Ok([loss / samples as f64, accuracy / samples as f64])
    }

    fn progress(&self, epoch: usize) -> Progress {
        // Whoever trains until told to stop has asked for more epochs than there are numbers.
        let total = self.options.epochs.saturating_mul(self.options.steps_per_epoch(self.samples));
        let progress = Progress::new("training", self.state.steps, total).with("epoch", epoch as f64);
        match self.number {
            Some(number) => progress.with("run", number as f64),
            None => progress,
        }
    }

    /// One step on these samples.
    async fn step(&mut self, rows: &[u32]) -> Result<()> {
        let engine = self.engine;
        let slot = self.pending.len();
        self.point.batch_gradient(engine, rows, &mut self.outcomes, slot).await?;
        let factor = self.options.schedule.factor(self.history.len(), self.state.steps + 1);
        let learning_rate = self.options.optimizer.learning_rate() * factor;
        let (optimizer, decay) = (self.options.optimizer, self.options.weight_decay);
        let (gradient, v) = self.point.gradient_and_v(engine)?;
        self.state.step(engine.vectors(), optimizer, learning_rate, decay, gradient, v)?;
        self.pending.push(rows.len());
        self.batch += 1;
        Ok(())
    }
}
