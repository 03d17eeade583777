//! The minimum of a sum of exponentials, f(u) = Σ w_e, w_e = share_e · e^(2 (u_column − u_row)), where every term lies on a circle.
//!
//! Let in_k be the sum of the terms of row k, out_k that of the terms of column k. Then ∂f/∂u_k = 2 (out_k − in_k), and as a term has the
//! second derivatives 4 w in its two factors and −4 w across them, the Hessian is 4 𝓛, 𝓛 the Laplacian of the graph whose edges weigh w_e:
//! (𝓛 x)_k = Σ w_e (x_k − x_other). At the minimum every factor is balanced: what writes a neuron has as large a trace as what reads it.
//! Newton's step solves 𝓛 x = b, b = (in − out) / 2, with one factor of each component held fast; its decrement squared is −gᵀx = 4 b·x, half
//! of which is what f is above its minimum, to second order.
//!
//! The system is solved by conjugate gradients, preconditioned by 𝓛's diagonal in + out. Far from balance, where Newton's method takes a step
//! of ½ for every exponential, factors are balanced one by one instead, all at once by half: with d_k = ¼ ln(in_k / out_k), which minimises
//! f in u_k alone, f(u + d/2) = Σ w_e e^(d_column) e^(−d_row) ≤ ½ Σ_k (out_k e^(2 d_k) + in_k e^(−2 d_k)) = Σ_k √(in_k out_k) ≤ f(u).

use super::Terms;
use super::ways::{Ways, weight};
use crate::control::{Control, Progress};
use crate::error::Result;
use crate::memory::{copied, zeros};
use crate::numbers::dot;

const WHAT: &str = "factors of a measure";

/// |ln(in / out)| up to which Newton's method is at home.
const NEAR: f64 = 1.0;

/// Most rounds of balancing before it, and most of its steps. From factors of 10^±8 in a chain of 25 layers 20 steps are enough.
const ROUNDS: usize = 200;
const STEPS: usize = 200;

/// Most products of one step.
const PRODUCTS: usize = 2000;

/// What f may be above its minimum, relative to it: half of f64's digits remain for the factors, whose square that is.
const TOLERANCE: f64 = 1e-16;

/// Below this share of f a step is taken as it is: the change is lost in the rounding of f.
const UNSEEN: f64 = 1e-9;

/// The minimum.
pub(in crate::measure) struct Minimum {
    pub logarithms: Vec<f64>,
    /// Without what no factor changes.
    pub value: f64,
    /// What it may be too large by.
    pub error: f64,
    pub iterations: usize,
    pub converged: bool,
}

/// The minimum over all factors but the fixed one of each component, from 0 on, told as `phase`.
pub(in crate::measure) async fn minimum(
    phase: &'static str,
    terms: &Terms,
    ways: &Ways,
    control: &Control<'_>,
) -> Result<Minimum> {
    let mut at = Point::new(terms, ways)?;
    for _ in 0..ROUNDS {
        if at.imbalance() <= NEAR {
            break;
        }
        control.breathe().await?;
        at.balance();
    }
    let (mut iterations, mut error) = (0, at.value);
    while iterations < STEPS {
        let progress = Progress::new(phase, iterations, STEPS);
        control.step(progress.with_estimate(at.value * terms.unit, error * terms.unit)).await?;
        let step = at.newton(control).await?;
        error = 2.0 * dot(&at.gradient, &step);
        iterations += 1;
        if !at.take(&step, error) {
            at.balance();
        }
        if error <= TOLERANCE * at.value {
            break;
        }
    }
    Ok(Minimum { converged: error <= TOLERANCE * at.value, value: at.value, logarithms: at.u, error, iterations })
}

/// f and its derivatives at a point.
struct Point<'a> {
    terms: &'a Terms,
    is_ground: Vec<bool>,
    u: Vec<f64>,
    value: f64,
    weights: Vec<f64>,
    /// Sums of the terms of each row and of each column.
    rows: Vec<f64>,
    columns: Vec<f64>,
    /// b = (in − out) / 2, 0 where a factor is held.
    gradient: Vec<f64>,
}

impl<'a> Point<'a> {
    fn new(terms: &'a Terms, ways: &Ways) -> Result<Self> {
        let count = terms.count;
        let of_nodes = || zeros(WHAT, count);
        let mut point = Self {
            terms,
            is_ground: crate::memory::collected(WHAT, (0..count).map(|node| ways.is_ground(node)))?,
            u: of_nodes()?,
            value: 0.0,
            weights: zeros(WHAT, terms.list.len())?,
            rows: of_nodes()?,
            columns: of_nodes()?,
            gradient: of_nodes()?,
        };
        point.evaluate();
        Ok(point)
    }

    fn evaluate(&mut self) {
        self.rows.fill(0.0);
        self.columns.fill(0.0);
        for (term, found) in self.terms.list.iter().zip(&mut self.weights) {
            *found = weight(&self.u, term);
            self.rows[term.row as usize] += *found;
            self.columns[term.column as usize] += *found;
        }
        // Node by node, so that rounding does not grow with the number of terms.
        self.value = self.rows.iter().sum();
        for (node, b) in self.gradient.iter_mut().enumerate() {
            *b = if self.is_ground[node] { 0.0 } else { (self.rows[node] - self.columns[node]) / 2.0 };
        }
    }

    /// ln(in / out) of a factor that is not held.
    fn imbalance_of(&self, node: usize) -> f64 {
        if self.is_ground[node] {
            return 0.0;
        }
        let [row, column] = [self.rows[node], self.columns[node]].map(|sum| sum.max(f64::MIN_POSITIVE));
        let ratio = row / column;
        // What is hundreds of orders apart has no ratio that a number holds.
        if ratio.is_normal() { ratio.ln() } else { row.ln() - column.ln() }
    }

    fn imbalance(&self) -> f64 {
        (0..self.u.len()).map(|node| self.imbalance_of(node).abs()).fold(0.0, f64::max)
    }

    /// Half of what balances each factor by itself.
    fn balance(&mut self) {
        for node in 0..self.u.len() {
            self.u[node] += self.imbalance_of(node) / 8.0;
        }
        self.evaluate();
    }

    /// 𝓛 x.
    fn laplacian(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for (term, weight) in self.terms.list.iter().zip(&self.weights) {
            let (row, column) = (term.row as usize, term.column as usize);
            let flow = weight * (x[row] - x[column]);
            y[row] += flow;
            y[column] -= flow;
        }
        y.iter_mut().zip(&self.is_ground).filter(|(_, is_ground)| **is_ground).for_each(|(y, _)| *y = 0.0);
    }

    /// Newton's step, the more exactly the nearer the minimum is, so that the last ones double the digits.
    async fn newton(&self, control: &Control<'_>) -> Result<Vec<f64>> {
        let count = self.u.len();
        let precondition = |r: &[f64], z: &mut [f64]| {
            for (node, z) in z.iter_mut().enumerate() {
                let diagonal = self.rows[node] + self.columns[node];
                *z = if diagonal > 0.0 { r[node] / diagonal } else { 0.0 };
            }
        };
        let mut x: Vec<f64> = zeros(WHAT, count)?;
        let mut r = copied(WHAT, &self.gradient)?;
        let mut z = zeros(WHAT, count)?;
        precondition(&r, &mut z);
        let mut p = copied(WHAT, &z)?;
        let mut product = zeros(WHAT, count)?;
        let mut square = dot(&r, &z);
        // Of f's dimension: its root is how far factors are from balance.
        let goal = square * (square / self.value).min(0.01);
        for _ in 0..PRODUCTS {
            if square <= goal || square <= 0.0 {
                break;
            }
            control.breathe().await?;
            self.laplacian(&p, &mut product);
            let curvature = dot(&p, &product);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let length = square / curvature;
            x.iter_mut().zip(&p).for_each(|(x, p)| *x += length * p);
            r.iter_mut().zip(&product).for_each(|(r, product)| *r -= length * product);
            precondition(&r, &mut z);
            let next = dot(&r, &z);
            p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + next / square * *p);
            square = next;
        }
        Ok(x)
    }

    /// Goes the step, or as much of it as lowers f by a tenth of what its slope promises; `false` where that is nothing.
    fn take(&mut self, step: &[f64], error: f64) -> bool {
        let (before, mut length) = (self.value, 1.0);
        let mut gone = 0.0;
        while length > 1e-3 {
            self.u.iter_mut().zip(step).for_each(|(u, step)| *u += (length - gone) * step);
            gone = length;
            self.evaluate();
            // The slope along the step is twice what the whole step gains. What is lost in rounding is no gain that can be seen, but no loss
            // either: of factors whose terms are next to nothing the step may be as long as it likes.
            let is_unseen = error <= UNSEEN * before && self.value <= before * (1.0 + UNSEEN);
            if is_unseen || self.value <= before - 0.1 * length * 2.0 * error {
                return true;
            }
            length /= 2.0;
        }
        self.u.iter_mut().zip(step).for_each(|(u, step)| *u -= gone * step);
        self.evaluate();
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::balance::Term;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Factors on a circle, with terms of all sizes between some more of them.
    fn terms(rng: &mut ChaCha8Rng, count: usize) -> Terms {
        let any = |rng: &mut ChaCha8Rng, row: usize, column: usize| {
            let share = rng.random_range(-6.0..0.0_f64).exp();
            Term { row: row as u32, column: column as u32, share }
        };
        let mut list: Vec<Term> = (0..count).map(|node| any(rng, (node + 1) % count, node)).collect();
        for _ in 0..3 * count {
            let (row, column) = (rng.random_range(0..count), rng.random_range(0..count));
            if row != column {
                list.push(any(rng, row, column));
            }
        }
        Terms { list, fixed: 0.0, count, unit: 1.0 }
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        for seed in 0..10 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut terms = terms(&mut rng, 7);
            let ways = Ways::part(&mut terms).expect("components");
            let mut at = Point::new(&terms, &ways).expect("a point");
            at.u.iter_mut().skip(1).for_each(|u| *u = rng.random_range(-1.0..1.0));
            at.evaluate();
            let x: Vec<f64> = at.is_ground.iter().map(|held| if *held { 0.0 } else { rng.random() }).collect();
            assert_eq!(at.is_ground.iter().filter(|held| **held).count(), 1);
            let mut product = vec![0.0; 7];
            at.laplacian(&x, &mut product);
            let (b, value, h) = (at.gradient.clone(), at.value, 1e-5);
            let mut beside = [h, -h].map(|h| {
                let mut other = Point::new(&terms, &ways).expect("a point");
                other.u = at.u.iter().zip(&x).map(|(u, x)| u + h * x).collect();
                other.evaluate();
                (other.value, other.gradient)
            });
            // ∇f = −4 b, and H = 4 𝓛.
            let slope = (beside[0].0 - beside[1].0) / (2.0 * h);
            assert!((slope + 4.0 * dot(&b, &x)).abs() < 1e-8 * value, "{slope}, {}", dot(&b, &x));
            let [(_, after), (_, before)] = &mut beside;
            for ((after, before), product) in after.iter().zip(before.iter()).zip(&product) {
                let difference = -4.0 * (after - before) / (2.0 * h);
                assert!((difference - 4.0 * product).abs() < 1e-8 * value, "{difference}, {product}");
            }
        }
    }

    #[test]
    fn half_of_what_balances_single_factors_never_goes_up() {
        for seed in 0..40 {
            let mut rng = ChaCha8Rng::seed_from_u64(100 + seed);
            let mut terms = terms(&mut rng, 9);
            let ways = Ways::part(&mut terms).expect("components");
            let mut at = Point::new(&terms, &ways).expect("a point");
            at.u.iter_mut().skip(1).for_each(|u| *u = rng.random_range(-12.0..12.0));
            at.evaluate();
            for _ in 0..30 {
                let before = at.value;
                at.balance();
                assert!(at.value <= before * (1.0 + 1e-14), "{before}, then {}", at.value);
            }
        }
    }
}
