//! Charts of parameter spaces. Twins of `shaders/space/`; in double precision also the spaces' own arithmetic on the host.
//! Vectors of several columns: column after column.

use std::ops::Range;

use super::super::chart::{Chart, NONE, Normalized, Quotient, Shear};
use super::real::Real;

/// θ(v), one column.
pub fn parameters<T: Real>(chart: &Chart, v: &[T], theta: &mut [T]) {
    match chart {
        Chart::Identity(_) => theta.copy_from_slice(v),
        Chart::Quotient(quotient) => quotient_parameters(quotient, v, theta),
        Chart::Normalized(normalized) => normalized_parameters(normalized, v, theta),
        Chart::Sheared(chart) => sheared(&chart.rows, v, theta),
    }
}

/// out = J(v) x, column by column.
pub fn tangent<T: Real>(chart: &Chart, v: &[T], x: &[T], out: &mut [T]) {
    for (x, out) in x.chunks_exact(chart.dimension()).zip(out.chunks_exact_mut(chart.parameter_count())) {
        match chart {
            Chart::Identity(_) => out.copy_from_slice(x),
            Chart::Quotient(quotient) => quotient_tangent(quotient, v, x, out),
            Chart::Normalized(normalized) => normalized_tangent(normalized, v, x, out),
            Chart::Sheared(chart) => sheared(&chart.rows, x, out),
        }
    }
}

/// out = J(v)ᵀ z, plus (g · ∇²θ(v)) x for `(g, x)`, column by column of z, x and out; g has one.
pub fn cotangent<T: Real>(chart: &Chart, v: &[T], z: &[T], second: Option<(&[T], &[T])>, out: &mut [T]) {
    let d = chart.dimension();
    for (k, (z, out)) in z.chunks_exact(chart.parameter_count()).zip(out.chunks_exact_mut(d)).enumerate() {
        let second = second.map(|(g, x)| (g, &x[k * d..][..d]));
        match chart {
            Chart::Identity(_) => out.copy_from_slice(z),
            Chart::Quotient(quotient) => {
                quotient_cotangent(quotient, v, z, second, out);
                quotient_anchors(quotient, v, z, second, out);
            }
            Chart::Normalized(normalized) => normalized_cotangent(normalized, v, z, second, out),
            // It has no second derivatives.
            Chart::Sheared(chart) => sheared(&chart.columns, z, out),
        }
    }
}

/// One parameter of a quotient: κ/v_a, v_n/v_a and the places n and a.
struct Entry {
    factor: f64,
    ratio: f64,
    numerator: usize,
    denominator: Option<usize>,
}

impl Entry {
    /// None for a constant.
    fn of<T: Real>(quotient: &Quotient, v: &[T], e: usize) -> Option<Self> {
        let (n, a) = (quotient.numerator[e], quotient.denominator[e]);
        if n == NONE {
            return None;
        }
        let denominator = (a != NONE).then_some(a as usize);
        let divisor = denominator.map_or(1.0, |a| v[a].to_f64());
        let value = v[n as usize].to_f64();
        Some(Self { factor: quotient.scale[e] / divisor, ratio: value / divisor, numerator: n as usize, denominator })
    }

    /// θ̇ = (κ/v_a) (ẋ_n − (v_n/v_a) ẋ_a).
    fn tangent<T: Real>(&self, x: &[T]) -> f64 {
        let below = self.denominator.map_or(0.0, |a| x[a].to_f64());
        self.factor * (x[self.numerator].to_f64() - self.ratio * below)
    }
}

fn quotient_parameters<T: Real>(quotient: &Quotient, v: &[T], theta: &mut [T]) {
    for (e, theta) in theta.iter_mut().enumerate() {
        let (n, a) = (quotient.numerator[e], quotient.denominator[e]);
        let value = if n == NONE { 1.0 } else { v[n as usize].to_f64() };
        let divisor = if a == NONE { 1.0 } else { v[a as usize].to_f64() };
        *theta = T::from_f64(quotient.scale[e] * value / divisor);
    }
}

fn quotient_tangent<T: Real>(quotient: &Quotient, v: &[T], x: &[T], out: &mut [T]) {
    for (e, out) in out.iter_mut().enumerate() {
        *out = T::from_f64(Entry::of(quotient, v, e).map_or(0.0, |entry| entry.tangent(x)));
    }
}

/// What reaches each coordinate through its own parameter: (κ/v_a) (z_e − g_e ẋ_a/v_a).
fn quotient_cotangent<T: Real>(quotient: &Quotient, v: &[T], z: &[T], second: Option<(&[T], &[T])>, out: &mut [T]) {
    for (&e, out) in quotient.parameter.iter().zip(out) {
        let e = e as usize;
        let mut value = z[e].to_f64();
        let a = quotient.denominator[e];
        let mut factor = quotient.scale[e];
        if a != NONE {
            let a = a as usize;
            let divisor = v[a].to_f64();
            factor /= divisor;
            if let Some((g, x)) = second {
                value -= g[e].to_f64() * x[a].to_f64() / divisor;
            }
        }
        *out = T::from_f64(factor * value);
    }
}

/// What reaches a coordinate a through the parameters that it divides: −(1/v_a) Σ_e (z_e θ_e + g_e (θ̇_e − θ_e ẋ_a/v_a)).
fn quotient_anchors<T: Real>(quotient: &Quotient, v: &[T], z: &[T], second: Option<(&[T], &[T])>, out: &mut [T]) {
    for (a, members) in &quotient.anchors {
        let a = *a as usize;
        let divisor = v[a].to_f64();
        let mut sum = 0.0;
        for &e in &quotient.members[members.clone()] {
            let e = e as usize;
            let Some(entry) = Entry::of(quotient, v, e) else { continue };
            let theta = quotient.scale[e] * entry.ratio;
            sum += z[e].to_f64() * theta;
            if let Some((g, x)) = second {
                sum += g[e].to_f64() * (entry.tangent(x) - theta * x[a].to_f64() / divisor);
            }
        }
        out[a] = T::from_f64(out[a].to_f64() - sum / divisor);
    }
}

/// out_e = κ_e x_e + λ_e x_{p(e)} in these rows, x_e in the others.
fn sheared<T: Real>(rows: &[Shear], x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
    for row in rows {
        let other = if row.at == NONE { 0.0 } else { row.other * x[row.at as usize].to_f64() };
        out[row.place as usize] = T::from_f64(row.own * x[row.place as usize].to_f64() + other);
    }
}

/// Σ a_i b_i.
fn inner<A: Real, B: Real>(a: &[A], b: &[B]) -> f64 {
    super::vector_ops::dot(a, b)
}

/// n = ‖v‖ and v̂ = v/n in double precision, of a v of any size.
fn direction<T: Real>(v: &[T]) -> (f64, Vec<f64>) {
    let mut unit: Vec<f64> = v.iter().map(|v| v.to_f64()).collect();
    let norm = crate::numbers::norm(unit.iter().copied());
    unit.iter_mut().for_each(|v| *v /= norm);
    (norm, unit)
}

fn normalized_parameters<T: Real>(chart: &Normalized, v: &[T], theta: &mut [T]) {
    for (range, group) in chart.runs() {
        let (s, w) = split(chart, v, &range, group);
        let theta = &mut theta[range];
        let Some(s) = s else {
            theta.copy_from_slice(w);
            continue;
        };
        for (theta, unit) in theta.iter_mut().zip(direction(w).1) {
            *theta = T::from_f64(s * unit);
        }
    }
}

/// s (None outside the groups) and v of a run.
fn split<'a, T: Real>(
    chart: &Normalized,
    v: &'a [T],
    range: &Range<usize>,
    group: Option<usize>,
) -> (Option<f64>, &'a [T]) {
    let first = chart.groups.len();
    (group.map(|q| v[q].to_f64()), &v[first + range.start..first + range.end])
}

/// θ̇ = v̂ ṡ + (s/n) (ẋ − v̂ (v̂·ẋ)), n = ‖v‖, v̂ = v/n.
fn normalized_tangent<T: Real>(chart: &Normalized, v: &[T], x: &[T], out: &mut [T]) {
    for (range, group) in chart.runs() {
        let ((s, w), (s_dot, x)) = (split(chart, v, &range, group), split(chart, x, &range, group));
        let out = &mut out[range];
        let (Some(s), Some(s_dot)) = (s, s_dot) else {
            out.copy_from_slice(x);
            continue;
        };
        let (norm, unit) = direction(w);
        let along = s_dot - s / norm * inner(&unit, x);
        for ((out, &unit), &x) in out.iter_mut().zip(&unit).zip(x) {
            *out = T::from_f64(along * unit + s / norm * x.to_f64());
        }
    }
}

/// With p = g − v̂ (v̂·g) and u = ẋ: to s, v̂·z + p·u/n; to v,
/// (s/n) (z − v̂ (v̂·z)) + ṡ p/n − (s/n²) (p (v̂·u) + v̂ (p·u) + (v̂·g) (u − v̂ (v̂·u))).
fn normalized_cotangent<T: Real>(chart: &Normalized, v: &[T], z: &[T], second: Option<(&[T], &[T])>, out: &mut [T]) {
    let (to_s, to_v) = out.split_at_mut(chart.groups.len());
    for (range, group) in chart.runs() {
        let (s, w) = split(chart, v, &range, group);
        let (z, to_v) = (&z[range.clone()], &mut to_v[range.clone()]);
        let (Some(s), Some(group)) = (s, group) else {
            to_v.copy_from_slice(z);
            continue;
        };
        let (norm, unit) = direction(w);
        let along = inner(&unit, z);
        to_s[group] = T::from_f64(along);
        for ((to_v, &unit), &z) in to_v.iter_mut().zip(&unit).zip(z) {
            *to_v = T::from_f64(s / norm * (z.to_f64() - unit * along));
        }
        let Some((g, x)) = second else { continue };
        let (s_dot, u) = split(chart, x, &range, Some(group));
        let (s_dot, g) = (s_dot.unwrap_or_default(), &g[range]);
        let (along_g, along_u) = (inner(&unit, g), inner(&unit, u));
        let pu = inner(g, u) - along_g * along_u;
        to_s[group] = T::from_f64(to_s[group].to_f64() + pu / norm);
        // As multiples of p, v̂ and u.
        let of_p = (s_dot - s / norm * along_u) / norm;
        let of_u = -(s / norm * along_g) / norm;
        let of_unit = -(s / norm * pu) / norm - of_u * along_u - of_p * along_g;
        for (((to_v, &unit), &g), &u) in to_v.iter_mut().zip(&unit).zip(g).zip(u) {
            let more = of_p * g.to_f64() + of_unit * unit + of_u * u.to_f64();
            *to_v = T::from_f64(to_v.to_f64() + more);
        }
    }
}
