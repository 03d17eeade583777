//! The iteration: steps until what is wanted has converged, and until it is known that nothing of it was missed.

use super::target::{SHARE, Target};
use super::verification::{Verdict, Verification};
use crate::control::{Control, Progress};
use crate::error::Result;
use crate::linalg::krylov::{Basis, CHECK_EVERY, RitzPairs};

/// Steps of a verification before it is clear how many more it takes.
const FIRST_LOOK: usize = 3;

/// The iteration.
pub(super) struct Search<'a, 'c> {
    pub max_products: usize,
    pub basis: Basis<'a>,
    /// Most columns of the basis.
    pub most: usize,
    pub target: &'a Target,
    pub control: &'a Control<'c>,
    pub products: usize,
}

/// Where a search stands once what is wanted has converged.
enum Outcome {
    /// At its end, verified or not.
    Found(RitzPairs, bool),
    /// It goes on from another vector.
    Restarted,
    /// It goes on.
    Unsettled(RitzPairs),
}

impl Search<'_, '_> {
    /// What is wanted, and whether nothing of it was missed.
    pub async fn run(&mut self) -> Result<(RitzPairs, bool)> {
        let Target { top, bottom, tolerance, .. } = *self.target;
        let n = self.basis.operator.len();
        // The wanted values that were kept when a search for missed ones from the beginning began.
        let mut kept: Option<Vec<f64>> = None;
        let mut pace = Pace::default();
        loop {
            let steps = pace.steps().min(until_look(self.products)).min(self.basis.capacity - self.basis.size);
            let phase = if kept.is_some() { "lanczos, verification" } else { "lanczos" };
            self.advance(steps).await?;
            let mut ritz = self.basis.ritz_pairs()?;
            let wanted = self.target.wanted(&ritz);
            let (scale, worst) = (ritz.scale, ritz.worst(&wanted));
            self.report(phase, &ritz, worst).await?;
            let is_enough = self.basis.size >= top + bottom;
            let holds = |rest: f64| is_enough && self.target.holds(&ritz, rest, self.basis.operator);
            if self.basis.size == n || self.basis.rest.is_some_and(holds) {
                return Ok((ritz, true));
            }
            if self.is_spent() {
                return Ok((ritz, false));
            }
            let goal = SHARE * tolerance * scale;
            pace.saw(self.products, (worst / goal).ln());
            // A remainder of 0 makes every residual 0 and says nothing of what the start vector lacked.
            if self.basis.beta > 0.0 && is_enough && worst <= goal {
                pace = Pace::default();
                ritz = match self.look_for_missed(ritz, wanted, &mut kept).await? {
                    Outcome::Found(ritz, verified) => return Ok((ritz, verified)),
                    Outcome::Restarted => continue,
                    Outcome::Unsettled(ritz) => ritz,
                };
            }
            if self.basis.size == self.basis.capacity && !self.grow().await? {
                self.basis.restart(&ritz, &self.target.guarded(&ritz, self.basis.capacity)).await?;
            }
        }
    }

    /// Twice as many columns, or all that there may be where more than half of them would be: what a restart drops takes products to be
    /// found again.
    async fn grow(&mut self) -> Result<bool> {
        let doubled = 2 * self.basis.capacity;
        let capacity = if 2 * doubled > self.most { self.most } else { doubled };
        if capacity > self.basis.capacity && self.basis.grow(capacity).await? {
            return Ok(true);
        }
        self.most = self.basis.capacity;
        Ok(false)
    }

    /// What is wanted has converged. Is it all there is? `kept` are the values that an iteration from the beginning has to meet again.
    async fn look_for_missed(
        &mut self,
        ritz: RitzPairs,
        wanted: Vec<usize>,
        kept: &mut Option<Vec<f64>>,
    ) -> Result<Outcome> {
        let target = self.target;
        if target.verify == [false; 2] {
            return Ok(Outcome::Found(ritz, true));
        }
        let values: Vec<f64> = wanted.iter().map(|&i| ritz.values[i]).collect();
        if let Some(kept) = kept {
            if target.differ(kept, &values, ritz.scale, self.basis.operator) {
                self.basis.restart_at_random(&ritz, &wanted).await?;
                *kept = values;
                return Ok(Outcome::Restarted);
            }
            let is_settled = target.is_settled(&ritz, &wanted);
            return Ok(if is_settled { Outcome::Found(ritz, true) } else { Outcome::Unsettled(ritz) });
        }
        let (ritz, verdict) = self.verify(ritz).await?;
        let wanted = target.wanted(&ritz);
        match verdict {
            Verdict::Complete => return Ok(Outcome::Found(ritz, true)),
            _ if self.is_spent() => return Ok(Outcome::Found(ritz, false)),
            Verdict::Missed(of) => self.basis.restart_from(&ritz, &wanted, &of).await?,
            Verdict::Open(_) | Verdict::Unclear => {
                self.basis.restart_at_random(&ritz, &wanted).await?;
                *kept = Some(values);
            }
        }
        Ok(Outcome::Restarted)
    }

    /// Steps until the basis has so many columns, if it may; what is found is in the first ones still.
    pub async fn widen(&mut self, columns: usize) -> Result<()> {
        while self.basis.size < columns && columns <= self.basis.capacity && !self.is_spent() {
            self.control.breathe().await?;
            self.advance(CHECK_EVERY.min(columns - self.basis.size)).await?;
        }
        Ok(())
    }

    /// Are all products taken that may be?
    fn is_spent(&self) -> bool {
        self.products >= self.max_products
    }

    /// Steps, at most as many as products are left but at least one.
    async fn advance(&mut self, steps: usize) -> Result<()> {
        let steps = steps.min(self.max_products.saturating_sub(self.products).max(1));
        self.products += self.basis.advance(steps).await?;
        Ok(())
    }

    /// Says how far it has come; `worst` is the largest residual of what is wanted.
    async fn report(&self, phase: &str, ritz: &RitzPairs, worst: f64) -> Result<()> {
        let scale = ritz.scale;
        let change = if scale > 0.0 { worst / scale } else { 0.0 };
        let progress = Progress::new(phase, self.products, self.max_products).with_estimate(ritz.dominant(), change);
        self.control.step(progress).await
    }

    /// Were values missed that these lack? To have room for the answer the basis may keep fewer pairs, which are returned then. It is
    /// open where no place or no product is left.
    async fn verify(&mut self, mut ritz: RitzPairs) -> Result<(RitzPairs, Verdict)> {
        let capacity = self.basis.capacity;
        let guarded = self.target.guarded(&ritz, capacity);
        if guarded.len() < ritz.values.len() {
            self.basis.restart(&ritz, &guarded).await?;
            ritz = ritz.only(&guarded)?;
        }
        let verification =
            Verification::new(&ritz, &self.target.limits(&ritz, self.basis.operator), self.basis.operator.len());
        let worst = ritz.worst(&self.target.wanted(&ritz));
        self.basis.start_anew().await?;
        // Of the vector alone nothing is known but that it is random.
        let mut pace = Pace::default();
        pace.saw(self.products, verification.excess(1.0));
        let mut steps = FIRST_LOOK;
        loop {
            self.advance(steps.min(capacity - self.basis.size)).await?;
            self.report("lanczos, verification", &ritz, worst).await?;
            match verification.verdict(&self.basis)? {
                Verdict::Open(excess) if self.basis.size < capacity && !self.is_spent() => {
                    pace.saw(self.products, excess);
                    steps = pace.steps();
                }
                verdict => return Ok((ritz, verdict)),
            }
        }
    }
}

/// Most steps before the next look: those that were not needed any more are few beside those that were.
fn until_look(products: usize) -> usize {
    if products == 0 { CHECK_EVERY } else { (products / 4).clamp(CHECK_EVERY / 2, CHECK_EVERY) }
}

/// How many steps to take before the next look: as many as the last ones say will do.
#[derive(Default)]
struct Pace {
    /// Products at the last two looks, and the logarithm of the factor that was left to go.
    seen: [Option<(usize, f64)>; 2],
}

impl Pace {
    fn saw(&mut self, products: usize, left: f64) {
        self.seen = [self.seen[1], Some((products, left))];
    }

    fn steps(&self) -> usize {
        let [Some((before, more)), Some((now, left))] = self.seen else { return CHECK_EVERY };
        let each = (more - left) / (now - before).max(1) as f64;
        let steps = (left / each).ceil();
        if steps >= 1.0 && steps < CHECK_EVERY as f64 { steps as usize } else { CHECK_EVERY }
    }
}
