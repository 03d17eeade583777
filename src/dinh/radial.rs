//! Radial maps, Appendix A of Dinh et al. 2017: η = θ̂ + ψ(r) (θ − θ̂)/r with r = ‖θ − θ̂‖. ψ is piecewise linear with ψ(0) = 0,
//! ψ(r̂) = ρ, ψ(δ) = δ and the identity beyond, so that only the ball of radius δ around θ̂ is touched: within r̂ curvature
//! is multiplied by (r̂/ρ)².

use super::reparametrization::{Direction, Reparametrization};
use crate::error::{Result, ensure, ensure_positive};
use crate::numbers::dot;

/// The map; g is its inverse, θ = g(η).
#[derive(Debug, Clone, PartialEq)]
pub struct RadialMap {
    center: Vec<f64>,
    delta: f64,
    inner: f64,
    rho: f64,
}

impl RadialMap {
    /// Around `center` θ̂, with δ, r̂ (`inner`) and ρ of the paper: r̂ and ρ between 0 and δ.
    ///
    /// # Errors
    /// `InvalidOption` outside these ranges; `NotFinite`.
    pub fn new(center: Vec<f64>, delta: f64, inner: f64, rho: f64) -> Result<Self> {
        crate::error::ensure_finite("centre", &center)?;
        ensure_positive("δ", delta)?;
        for (name, value) in [("r̂", inner), ("ρ", rho)] {
            ensure!(
                value > 0.0 && value < delta,
                InvalidOption,
                "{name} is {value}, but must be between 0 and δ = {delta}"
            );
        }
        Ok(Self { center, delta, inner, rho })
    }

    /// ψ(r) as slope · r + offset.
    fn psi(&self, r: f64) -> (f64, f64) {
        piece(r, self.delta, self.inner, self.rho)
    }

    /// ψ⁻¹(s) likewise: r̂ and ρ change places.
    fn inverse(&self, s: f64) -> (f64, f64) {
        piece(s, self.delta, self.rho, self.inner)
    }

    /// η of θ.
    ///
    /// # Errors
    /// `InvalidParameters` for a θ of another length than θ̂.
    pub fn eta(&self, parameters: &[f64]) -> Result<Vec<f64>> {
        self.ensure_len("θ", parameters)?;
        let y = self.offset(parameters);
        Ok(self.apply(&y, self.psi(dot(&y, &y).sqrt())))
    }

    /// (∇g⁻¹) x = ψ′(r) x + (offset/r)(x − e (e·x)), the paper's Jacobian at θ.
    ///
    /// # Errors
    /// As [`RadialMap::eta`], for θ and x.
    pub fn inverse_push(&self, parameters: &[f64], x: &[f64]) -> Result<Vec<f64>> {
        self.ensure_len("θ", parameters)?;
        self.ensure_len("x", x)?;
        let y = self.offset(parameters);
        Ok(derivative(&y, self.psi(dot(&y, &y).sqrt()), x))
    }

    fn ensure_len(&self, what: &str, values: &[f64]) -> Result<()> {
        let (found, wanted) = (values.len(), self.center.len());
        ensure!(found == wanted, InvalidParameters, "{what} has {found} coordinates, but the centre has {wanted}");
        Ok(())
    }

    fn offset(&self, point: &[f64]) -> Vec<f64> {
        point.iter().zip(&self.center).map(|(p, c)| p - c).collect()
    }

    fn apply(&self, y: &[f64], (slope, offset): (f64, f64)) -> Vec<f64> {
        let length = dot(y, y).sqrt();
        let factor = if offset == 0.0 { slope } else { slope + offset / length };
        self.center.iter().zip(y).map(|(c, y)| c + factor * y).collect()
    }
}

/// The piece of ψ that holds r: slope and offset.
fn piece(r: f64, delta: f64, inner: f64, rho: f64) -> (f64, f64) {
    if r > delta {
        (1.0, 0.0)
    } else if r <= inner {
        (rho / inner, 0.0)
    } else {
        let slope = (rho - delta) / (inner - delta);
        (slope, delta * (1.0 - slope))
    }
}

/// The derivative of y ↦ slope y + offset y/‖y‖, along x.
fn derivative(y: &[f64], (slope, offset): (f64, f64), x: &[f64]) -> Vec<f64> {
    if offset == 0.0 {
        return x.iter().map(|x| slope * x).collect();
    }
    let turned = Direction::new(y).derivative(x);
    x.iter().zip(turned).map(|(x, d)| slope * x + offset * d).collect()
}

impl Reparametrization for RadialMap {
    fn dimension(&self) -> usize {
        self.center.len()
    }

    fn parameters(&self, eta: &[f64]) -> Vec<f64> {
        let y = self.offset(eta);
        self.apply(&y, self.inverse(dot(&y, &y).sqrt()))
    }

    fn push(&self, eta: &[f64], x: &[f64]) -> Vec<f64> {
        let y = self.offset(eta);
        derivative(&y, self.inverse(dot(&y, &y).sqrt()), x)
    }

    fn pull(&self, eta: &[f64], p: &[f64]) -> Vec<f64> {
        // A gradient of a radial potential: the Jacobian is symmetric.
        self.push(eta, p)
    }

    fn bend(&self, eta: &[f64], p: &[f64], x: &[f64]) -> Vec<f64> {
        let y = self.offset(eta);
        let (_, offset) = self.inverse(dot(&y, &y).sqrt());
        if offset == 0.0 {
            return vec![0.0; x.len()];
        }
        Direction::new(&y).second_derivative(p, x).iter().map(|d| offset * d).collect()
    }
}
