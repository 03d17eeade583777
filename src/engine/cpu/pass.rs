//! The passes over a plan: forward, backward, and the tangent passes of Pearlmutter's R-operator.
//!
//! Activations are (samples, width) row-major; tangents of K directions are (K, samples, width).

use super::activation;
use super::loss::{self, LossPoint, TargetRows};
use super::matrix::{Matrix, Write, dot, multiply};
use super::real::Real;
use crate::engine::executor::Curvature;
use crate::engine::plan::{Plan, Step};

/// a_1 … a_L for `samples` rows of inputs; a_L are the outputs.
pub fn forward<T: Real>(plan: &Plan, theta: &[T], inputs: &[T], samples: usize) -> Vec<Vec<T>> {
    let mut activations: Vec<Vec<T>> = Vec::with_capacity(plan.steps.len());
    for step in &plan.steps {
        let input = activations.last().map_or(inputs, Vec::as_slice);
        let mut z = start_with_bias(step, theta, samples);
        let write = if step.bias().is_some() { Write::Add } else { Write::Set };
        multiply(
            Matrix::new(input, samples, step.input.len()),
            Matrix::new(&theta[step.weight()], step.output.len(), step.input.len()).transposed(),
            write,
            &mut z,
        );
        activation::apply(step.activation, &mut z);
        activations.push(z);
    }
    activations
}

/// A matrix whose rows are the bias in `theta`, or zeros.
fn start_with_bias<T: Real>(step: &Step, theta: &[T], samples: usize) -> Vec<T> {
    match &step.bias() {
        Some(bias) => theta[bias.clone()].repeat(samples),
        None => vec![T::ZERO; samples * step.output.len()],
    }
}

/// A point at which products are taken: everything that does not depend on the direction.
pub struct Point<T> {
    pub theta: Vec<T>,
    /// a_1 … a_L.
    pub activations: Vec<Vec<T>>,
    /// δ_1 … δ_L; empty where only the gradient was wanted.
    pub deltas: Vec<Vec<T>>,
    /// c of [`activation::curvature`] for each layer that needs one.
    pub curvatures: Vec<Option<Vec<T>>>,
    pub probabilities: Vec<T>,
    pub sample_losses: Vec<f64>,
    pub accuracy: f64,
    pub gradient: Vec<T>,
}

/// Forward and backward at θ. `keep` says whether the δ are kept for products.
pub fn point<T: Real>(plan: &Plan, theta: &[T], inputs: &[T], targets: &TargetRows<T>, keep: bool) -> Point<T> {
    let samples = inputs.len() / plan.steps[0].input.len();
    let activations = forward(plan, theta, inputs, samples);
    let outputs = activations.last().expect("a plan has a step");
    let LossPoint { sample_losses, accuracy, probabilities, mut delta } =
        loss::evaluate(outputs, targets, plan.steps[plan.steps.len() - 1].output.len());
    let mut gradient = vec![T::ZERO; plan.parameter_count];
    let mut deltas = Vec::new();
    let mut curvatures = vec![None; plan.steps.len()];
    for (l, step) in plan.steps.iter().enumerate().rev() {
        let input = if l == 0 { inputs } else { &activations[l - 1] };
        let delta_matrix = Matrix::new(&delta, samples, step.output.len());
        multiply(
            delta_matrix.transposed(),
            Matrix::new(input, samples, step.input.len()),
            Write::Set,
            &mut gradient[step.weight()],
        );
        if let Some(bias) = &step.bias() {
            add_column_sums(&delta, step.output.len(), &mut gradient[bias.clone()]);
        }
        if l > 0 {
            let mut q = vec![T::ZERO; samples * step.input.len()];
            let weight = Matrix::new(&theta[step.weight()], step.output.len(), step.input.len());
            multiply(delta_matrix, weight, Write::Set, &mut q);
            let before = plan.steps[l - 1].activation;
            if keep {
                curvatures[l - 1] = activation::curvature(before, input, &q);
            }
            activation::multiply_derivative(before, input, &mut q);
            let done = std::mem::replace(&mut delta, q);
            if keep {
                deltas.push(done);
            }
        }
    }
    if keep {
        deltas.push(delta);
    }
    deltas.reverse();
    Point { theta: theta.to_vec(), activations, deltas, curvatures, probabilities, sample_losses, accuracy, gradient }
}

/// out += the sum of the rows.
fn add_column_sums<T: Real>(rows: &[T], width: usize, out: &mut [T]) {
    for row in rows.chunks_exact(width) {
        for (sum, &v) in out.iter_mut().zip(row) {
            *sum += v;
        }
    }
}

/// C v for K directions, given and returned column after column.
pub fn product<T: Real>(
    plan: &Plan,
    point: &Point<T>,
    inputs: &[T],
    curvature: Curvature,
    directions: &[T],
    out: &mut [T],
) {
    let parameters = plan.parameter_count;
    let k_count = directions.len() / parameters;
    let samples = inputs.len() / plan.steps[0].input.len();
    let is_hessian = curvature == Curvature::Hessian;
    let activation_before = |l: usize| if l == 0 { inputs } else { point.activations[l - 1].as_slice() };

    let mut tangents: Vec<Vec<T>> = Vec::with_capacity(plan.steps.len());
    for (l, step) in plan.steps.iter().enumerate() {
        let mut z = Vec::with_capacity(k_count * samples * step.output.len());
        for v in directions.chunks_exact(parameters) {
            let start = z.len();
            z.extend(start_with_bias(step, v, samples));
            multiply(
                Matrix::new(activation_before(l), samples, step.input.len()),
                Matrix::new(&v[step.weight()], step.output.len(), step.input.len()).transposed(),
                Write::Add,
                &mut z[start..],
            );
        }
        if let Some(before) = tangents.last() {
            multiply(
                Matrix::new(before, k_count * samples, step.input.len()),
                Matrix::new(&point.theta[step.weight()], step.output.len(), step.input.len()).transposed(),
                Write::Add,
                &mut z,
            );
        }
        activation::multiply_derivative(step.activation, &point.activations[l], &mut z);
        tangents.push(z);
    }

    let mut delta_dot = tangents.pop().expect("a plan has a step");
    let classes = plan.steps[plan.steps.len() - 1].output.len();
    loss::second_derivative(&point.probabilities, samples, classes, &mut delta_dot);

    for (l, step) in plan.steps.iter().enumerate().rev() {
        let delta = Matrix::new(&point.deltas[l], samples, step.output.len());
        let row_len = samples * step.output.len();
        let input_len = samples * step.input.len();
        for (k, hv) in out.chunks_exact_mut(parameters).enumerate() {
            let rows = &delta_dot[k * row_len..(k + 1) * row_len];
            multiply(
                Matrix::new(rows, samples, step.output.len()).transposed(),
                Matrix::new(activation_before(l), samples, step.input.len()),
                Write::Set,
                &mut hv[step.weight()],
            );
            if is_hessian && l > 0 {
                let tangent = &tangents[l - 1][k * input_len..(k + 1) * input_len];
                multiply(
                    delta.transposed(),
                    Matrix::new(tangent, samples, step.input.len()),
                    Write::Add,
                    &mut hv[step.weight()],
                );
            }
            if let Some(bias) = &step.bias() {
                hv[bias.clone()].fill(T::ZERO);
                add_column_sums(rows, step.output.len(), &mut hv[bias.clone()]);
            }
        }
        if l == 0 {
            break;
        }
        let mut q = vec![T::ZERO; k_count * input_len];
        multiply(
            Matrix::new(&delta_dot, k_count * samples, step.output.len()),
            Matrix::new(&point.theta[step.weight()], step.output.len(), step.input.len()),
            Write::Set,
            &mut q,
        );
        if is_hessian {
            for (v, q) in directions.chunks_exact(parameters).zip(q.chunks_exact_mut(input_len)) {
                multiply(delta, Matrix::new(&v[step.weight()], step.output.len(), step.input.len()), Write::Add, q);
            }
        }
        activation::multiply_derivative(plan.steps[l - 1].activation, activation_before(l), &mut q);
        if let (true, Some(c)) = (is_hessian, &point.curvatures[l - 1]) {
            for (q, tangent) in q.chunks_exact_mut(input_len).zip(tangents[l - 1].chunks_exact(input_len)) {
                for ((q, &c), &t) in q.iter_mut().zip(c).zip(tangent) {
                    *q += c * t;
                }
            }
        }
        delta_dot = q;
    }
}

/// The mean of per-sample losses.
pub fn mean(values: &[f64]) -> f64 {
    dot(values, &vec![1.0; values.len()]) / values.len() as f64
}
