//! isoflat's side of `npm run bench`, for the browser: engines whose vectors stay on the device, and the machine's ceiling.
//!
//! The package's own calls take and give whole arrays (2 MB a Hessian product of F1), which the other libraries of the
//! benchmark, measured with their arrays in place, need not; so this goes through the vectors of the device, as eigenvalue runs do.

#[cfg(target_arch = "wasm32")]
mod web {
    use isoflat::engine::{Backend, Curvature, Device, Engine, Precision, Vector};
    use isoflat::landscape::{Axis, Direction, Normalization, landscape};
    use isoflat::threads::cpu_with_threads;
    use isoflat::{Control, Loss, Network, Problem, Result, Targets};
    use wasm_bindgen::prelude::*;

    /// One problem on one device.
    #[wasm_bindgen]
    #[derive(Debug)]
    pub struct Bench {
        engine: Engine,
        parameters: Vec<f64>,
        theta: Vector,
        direction: Vector,
        product: Vector,
        two: Vector,
        axes: [Vec<f64>; 2],
    }

    fn thrown<T>(result: Result<T>) -> std::result::Result<T, JsError> {
        result.map_err(|error| JsError::new(&error.message))
    }

    impl Bench {
        async fn new(
            device: &Device,
            network: &str,
            inputs: Vec<f32>,
            labels: Vec<u32>,
            parameters: Vec<f64>,
            vectors: [Vec<f64>; 3],
        ) -> Result<Self> {
            let problem =
                Problem::new(Network::from_json(network)?, Loss::CrossEntropy, inputs, Targets::Classes(labels))?;
            let engine = Engine::new(device, &problem)?;
            let [direction, u, v] = vectors;
            let e = engine.vectors();
            let (theta, direction) = (e.upload(&parameters, 1)?, e.upload(&direction, 1)?);
            let (product, two) = (e.zeros(parameters.len(), 1)?, e.zeros(2, 1)?);
            engine.prepare(&parameters).await?;
            Ok(Self { parameters, theta, direction, product, two, axes: [u, v], engine })
        }

        /// Two numbers read back: everything enqueued before has been done then.
        async fn finish(&self) -> Result<()> {
            self.engine.vectors().download(&self.two).await.map(|_| ())
        }

        async fn grid(&self, points: usize) -> Result<Vec<f64>> {
            let axis = Axis { from: -1.0, to: 1.0, points };
            let directions = self.axes.clone().map(|vector| (Direction::Vector(vector), axis));
            let none = Normalization::None;
            let found = landscape(&self.engine, &self.parameters, &directions, none, &Control::default()).await?;
            Ok(found.loss)
        }
    }

    #[wasm_bindgen]
    impl Bench {
        /// `backend` is `cpu-f32`, `cpu-f64` or `webgpu`; `threads` are the CPU's.
        #[allow(clippy::too_many_arguments)] // as they come from JavaScript, which has no arrays of arrays to give
        pub async fn open(
            backend: String,
            threads: usize,
            network: String,
            inputs: Vec<f32>,
            labels: Vec<u32>,
            parameters: Vec<f64>,
            direction: Vec<f64>,
            u: Vec<f64>,
            v: Vec<f64>,
        ) -> std::result::Result<Bench, JsError> {
            let device = match backend.as_str() {
                "webgpu" => thrown(Device::request(Backend::Gpu, Precision::F32).await)?,
                "cpu-f64" => cpu_with_threads(Precision::F64, threads).await,
                _ => cpu_with_threads(Precision::F32, threads).await,
            };
            thrown(Self::new(&device, &network, inputs, labels, parameters, [direction, u, v]).await)
        }

        /// The adapter's name, or what the CPU executor is made of.
        pub fn adapter(&self) -> String {
            self.engine.info().adapter.clone()
        }

        /// Activations, δ and the gradient at the parameters.
        pub async fn gradient(&self) -> std::result::Result<(), JsError> {
            thrown(self.engine.prepare_vector(&self.theta).await)?;
            thrown(self.finish().await)
        }

        /// The Hessian times the direction.
        pub async fn product(&mut self) -> std::result::Result<(), JsError> {
            thrown(self.engine.apply(Curvature::Hessian, &self.direction, &mut self.product).await)?;
            thrown(self.finish().await)
        }

        /// Losses over points × points, the first direction running fastest.
        pub async fn landscape(&self, points: usize) -> std::result::Result<Vec<f64>, JsError> {
            thrown(self.grid(points).await)
        }

        /// The whole gradient.
        #[wasm_bindgen(js_name = readGradient)]
        pub async fn read_gradient(&self) -> std::result::Result<Vec<f64>, JsError> {
            thrown(self.engine.gradient().await)
        }

        /// The whole of the last product.
        #[wasm_bindgen(js_name = readProduct)]
        pub async fn read_product(&self) -> std::result::Result<Vec<f64>, JsError> {
            thrown(self.engine.vectors().download(&self.product).await)
        }
    }

    /// The ceiling: C = A B for n × n matrices by nothing but a tile of 4 rows × 8 columns in SIMD registers, over
    /// packed strips. n is a multiple of 8. Knows nothing of isoflat's own kernels.
    #[wasm_bindgen(js_name = plainProduct)]
    pub fn plain_product(n: usize, a: &[f32], b: &[f32]) -> Vec<f32> {
        use std::arch::wasm32::{f32x4, f32x4_extract_lane as lane, f32x4_splat, v128};

        // Fused where the module may, as isoflat's own kernels are there.
        #[cfg(target_feature = "relaxed-simd")]
        let add_product = |sum: v128, a: v128, b: v128| std::arch::wasm32::f32x4_relaxed_madd(a, b, sum);
        #[cfg(not(target_feature = "relaxed-simd"))]
        let add_product =
            |sum: v128, a: v128, b: v128| std::arch::wasm32::f32x4_add(sum, std::arch::wasm32::f32x4_mul(a, b));
        assert!(n.is_multiple_of(8) && a.len() == n * n && b.len() == n * n, "not {n} × {n}, n a multiple of 8");
        let mut c = vec![0.0; n * n];
        // Strips of four rows of A, k running slowest: [n / 4][n][4].
        let rows: Vec<[f32; 4]> =
            (0..n * n / 4).map(|at| std::array::from_fn(|r| a[(at / n * 4 + r) * n + at % n])).collect();
        let mut columns = vec![[f32x4_splat(0.0); 2]; n];
        for j in (0..n).step_by(8) {
            for (column, b) in columns.iter_mut().zip(b.chunks_exact(n)) {
                let b = &b[j..j + 8];
                *column = [f32x4(b[0], b[1], b[2], b[3]), f32x4(b[4], b[5], b[6], b[7])];
            }
            for (strip, rows) in rows.chunks_exact(n).enumerate() {
                let mut sums = [[f32x4_splat(0.0); 2]; 4];
                for (b, row) in columns.iter().zip(rows) {
                    for r in 0..4 {
                        let a = f32x4_splat(row[r]);
                        sums[r][0] = add_product(sums[r][0], a, b[0]);
                        sums[r][1] = add_product(sums[r][1], a, b[1]);
                    }
                }
                for (r, [left, right]) in sums.into_iter().enumerate() {
                    let at = (4 * strip + r) * n + j;
                    let store = |x| [lane::<0>(x), lane::<1>(x), lane::<2>(x), lane::<3>(x)];
                    c[at..at + 4].copy_from_slice(&store(left));
                    c[at + 4..at + 8].copy_from_slice(&store(right));
                }
            }
        }
        c
    }
}

/// There is nothing to do natively: `cargo bench` is the native side.
fn main() {}
