//! An executor of one's own: the seam is open to what is not in the crate.

use std::cell::Cell;
use std::rc::Rc;

use crate::support::*;
use isoflat::control::LocalFuture;
use isoflat::engine::{
    BackendInfo, Charts, Cotangent, Curvature, Device, Engine, Executor, LayerSums, Precision, Vector, Vectors,
    cpu_executor,
};
use isoflat::linalg::Lanczos;
use isoflat::operator::OperatorKind;
use isoflat::{Control, ErrorCode, Loss, Network, Result};
use pollster::block_on;

/// The CPU's executor, and how many columns it has multiplied.
struct Counting {
    inner: Box<dyn Executor>,
    columns: Rc<Cell<usize>>,
}

impl Executor for Counting {
    fn info(&self) -> &BackendInfo {
        self.inner.info()
    }

    fn vectors(&self) -> &dyn Vectors {
        self.inner.vectors()
    }

    fn charts(&self) -> &dyn Charts {
        self.inner.charts()
    }

    fn prepare<'a>(&'a self, theta: &'a Vector) -> LocalFuture<'a, Result<()>> {
        self.inner.prepare(theta)
    }

    fn loss(&self) -> LocalFuture<'_, Result<f64>> {
        self.inner.loss()
    }

    fn outputs(&self) -> LocalFuture<'_, Result<Vec<f64>>> {
        self.inner.outputs()
    }

    fn gradient(&self, out: &mut Vector) -> Result<()> {
        self.inner.gradient(out)
    }

    fn product<'a>(&'a self, curvature: Curvature, v: &'a Vector, out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        self.columns.set(self.columns.get() + v.columns());
        self.inner.product(curvature, v, out)
    }

    fn evaluate<'a>(&'a self, theta: &'a Vector, out: &'a mut Vector, index: usize) -> LocalFuture<'a, Result<()>> {
        self.inner.evaluate(theta, out, index)
    }

    fn prepare_plane<'a>(
        &'a self,
        theta: &'a Vector,
        u: &'a Vector,
        v: Option<&'a Vector>,
    ) -> LocalFuture<'a, Result<()>> {
        self.inner.prepare_plane(theta, u, v)
    }

    fn evaluate_plane<'a>(&'a self, points: &'a [[f64; 2]], out: &'a mut Vector) -> LocalFuture<'a, Result<()>> {
        self.inner.evaluate_plane(points, out)
    }

    fn sweep<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<Vec<LayerSums>>>> {
        self.inner.sweep(cotangents)
    }

    fn squared_gradients<'a>(&'a self, cotangents: &'a [Cotangent]) -> LocalFuture<'a, Result<Vec<f64>>> {
        self.inner.squared_gradients(cotangents)
    }

    fn batch_gradient<'a>(
        &'a self,
        theta: &'a Vector,
        rows: &'a [u32],
        gradient: &'a mut Vector,
        out: &'a mut Vector,
        index: usize,
    ) -> LocalFuture<'a, Result<()>> {
        self.inner.batch_gradient(theta, rows, gradient, out, index)
    }
}

#[test]
fn an_executor_of_ones_own_computes_for_estimators() {
    let mut rng = rng(3);
    let network = Network::dense(&[4, 6, 3], true).expect("a network");
    let problem = random_problem(&mut rng, network.clone(), Loss::CrossEntropy);
    let parameters = random_parameters(&mut rng, &network);
    let columns = Rc::new(Cell::new(0));
    let inner = cpu_executor(&problem, Precision::F64, None).expect("an executor");
    let counting = Counting { inner, columns: columns.clone() };
    let found = [
        Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine"),
        Engine::with_executor(&problem, Box::new(counting)).expect("an engine"),
    ]
    .map(|engine| {
        block_on(engine.prepare(&parameters)).expect("a point");
        let operator = block_on(OperatorKind::HESSIAN.operator(&engine)).expect("an operator");
        block_on(Lanczos::default().run(&operator, &Control::default())).expect("a spectrum")
    });
    assert_eq!(found[0].top[0].value.to_bits(), found[1].top[0].value.to_bits());
    assert_eq!(columns.get(), found[1].products);
}

/// What goes into a pass is checked before it, whatever executor makes it.
#[test]
fn what_does_not_fit_is_refused_before_the_pass() {
    let mut rng = rng(4);
    let network = Network::dense(&[4, 6, 3], true).expect("a network");
    let n = network.parameter_count();
    for loss in [Loss::CrossEntropy, Loss::SquaredError] {
        let problem = random_problem(&mut rng, network.clone(), loss);
        let parameters = random_parameters(&mut rng, &network);
        for engine in [
            Engine::new(&Device::cpu(Precision::F64), &problem).expect("an engine"),
            Engine::new(&gpu(), &problem).expect("an engine"),
        ] {
            block_on(engine.prepare(&parameters)).expect("a point");
            let e = engine.vectors();
            let zeros = |len, columns| e.zeros(len, columns).expect("a vector");
            let code = |found: Result<()>| found.expect_err("a fault").code;
            let (v, short) = (zeros(n, 1), zeros(n - 1, 1));
            let (mut out, mut two, mut slots) = (zeros(n, 1), zeros(n, 2), zeros(2, 1));
            let vector = ErrorCode::InvalidParameters;
            assert_eq!(code(engine.gradient_into(&mut two)), vector);
            assert_eq!(code(block_on(engine.apply(Curvature::Hessian, &short, &mut out))), vector);
            assert_eq!(code(block_on(engine.apply(Curvature::Hessian, &v, &mut two))), vector);
            assert_eq!(code(block_on(engine.evaluate_into(&short, &mut slots, 0))), vector);
            assert_eq!(code(block_on(engine.evaluate_into(&v, &mut slots, 1))), vector);
            assert_eq!(code(block_on(engine.prepare_plane(&v, &short, None))), vector);
            assert_eq!(code(block_on(engine.evaluate_plane(&[[0.0; 2]; 2], &mut slots))), vector);
            assert_eq!(code(e.axpy(1.0, &short, &mut out)), vector);
            assert_eq!(code(e.copy_columns(&two, 1..3, &mut out, 0)), vector);
            let option = ErrorCode::InvalidOption;
            let none = Cotangent::Class(3);
            let other = Cotangent::Signs(vec![1.0; problem.samples()]);
            for cotangents in [[none], [other]] {
                assert_eq!(code(block_on(engine.sweep(&cotangents)).map(|_| ())), option);
                assert_eq!(code(block_on(engine.squared_gradients(&cotangents)).map(|_| ())), option);
            }
            let samples = problem.samples() as u32;
            for rows in [vec![], vec![samples]] {
                assert_eq!(code(block_on(engine.batch_gradient(&v, &rows, &mut out, &mut slots, 0))), option);
            }
        }
    }
}
