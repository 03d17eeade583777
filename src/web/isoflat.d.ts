/** What went wrong, for programs. */
export type IsoflatErrorCode =
  | "parse" | "invalid_network" | "invalid_problem" | "invalid_parameters" | "not_finite" | "invalid_option"
  | "invalid_transformation" | "not_homogeneous" | "too_large" | "backend_unavailable" | "device_lost" | "gpu" | "aborted";

/** Every error isoflat throws or rejects with. `message` names the fault, `code` is stable. */
export class IsoflatError extends Error {
  private constructor();
  readonly name: "IsoflatError";
  readonly code: IsoflatErrorCode;
}

// --- networks and problems --------------------------------------------------------------------------------------

/** Height and width of a window, a step or a frame: one whole number for both, or `[height, width]`. */
export type Size = number | [height: number, width: number];

export type LayerJSON =
  /** z = W a + b over a flat row; W is (units, inputs). `bias` is true by default. */
  | { type: "dense"; units: number; bias?: boolean }
  /**
   * Cross-correlation over images, W is (channels, input channels, kernel height, kernel width). `stride` is 1, `padding`
   * (zeros on each side) 0 and `bias` (a number a channel) true by default.
   */
  | { type: "conv2d"; channels: number; kernel: Size; stride?: Size; padding?: Size; bias?: boolean }
  /** The largest, or the mean, of each window. `stride` is `size` by default; what fills no window is left out. */
  | { type: "max_pool2d"; size: Size; stride?: Size }
  | { type: "avg_pool2d"; size: Size; stride?: Size }
  /** Images as flat rows, channel after channel: what a dense layer takes. */
  | { type: "flatten" }
  | { type: "relu" }
  /** z for z > 0, slope · z otherwise; the slope is positive. */
  | { type: "leaky_relu"; slope: number }
  | { type: "identity" }
  | { type: "tanh" };

/** Shape of one input: a flat row, or an image. Values of an image come channel after channel, row after row. */
export type InputShape = [features: number] | [channels: number, height: number, width: number];

export interface NetworkJSON {
  input: InputShape;
  layers: LayerJSON[];
}

/**
 * scale · (x − mean) / √(variance + epsilon) + shift, with one number of each a channel, or a feature of a flat row. In PyTorch's
 * names running_mean, running_var, weight (default 1), bias (default 0) and eps (default 1e-5).
 */
export interface BatchNormJSON {
  type: "batch_norm";
  mean: number[];
  variance: number[];
  scale?: number[];
  shift?: number[];
  epsilon?: number;
}

/** A network that `Network.foldBatchNorm` takes. */
export interface BatchNormNetworkJSON {
  input: InputShape;
  layers: (LayerJSON | BatchNormJSON)[];
}

/**
 * The papers' networks, and `small` (784-64-32-10). Over MNIST, 784 values or images of 1×28×28: `small`, `f1`, `c1`,
 * `mnist_fc`, `lenet`, `straight_mnist`, `petzka_mnist`. Over CIFAR-10, 3072 values or images of 3×32×32: `straight_cifar10`,
 * `lenet5`, `alexnet_cifar10`, `vgg16_cifar10`.
 */
export type PresetName =
  | "small" | "f1" | "c1" | "mnist_fc" | "lenet" | "straight_mnist" | "petzka_mnist"
  | "straight_cifar10" | "lenet5" | "alexnet_cifar10" | "vgg16_cifar10";

export type InitializeOptions = {
  /** Default 0. The same seed gives the same parameters everywhere. */
  seed?: number;
  /** Default `"zero"`. */
  bias?: "zero" | "uniform";
} & (
  | { scheme?: "kaiming_uniform" | "kaiming_normal" | "xavier_normal" }
  | { scheme: "uniform"; bound: number }
  | { scheme: "normal"; sigma: number }
);

/**
 * One W_l or b_l in the parameter vector: `parameters.subarray(start, end)`, weights (outputs, inputs) row-major. `outputs` are
 * units, or channels of a convolution; its `inputs` are input channels × kernel height × kernel width.
 */
export interface ParameterBlock {
  /** Index of the parametric layer, from 0. */
  layer: number;
  kind: "weight" | "bias";
  start: number;
  end: number;
  inputs: number;
  outputs: number;
}

/** A map on the parameters that leaves every output as it is. */
export type Transformation =
  /** W_l → λ_l W_l, b_l → (Π_{k≤l} λ_k) b_l; one positive factor a parametric layer, their product 1. */
  | { type: "layerwise"; lambda: number[] }
  /** Dinh: (α W_1, W_2 / α), two-layer networks. */
  | { type: "alpha_scale"; alpha: number }
  /** W_l → Λ_l W_l Λ_{l−1}⁻¹; a positive factor for every unit or channel of every hidden layer. */
  | { type: "nodewise"; factors: number[][] }
  /** New unit or channel i of hidden layer l is old one `permutations[l][i]`. */
  | { type: "permutation"; permutations: number[][] }
  /** The first is applied first. */
  | { type: "composition"; of: Transformation[] }
  /** Factors drawn log-uniformly in [low, high]; the last layer's makes the product 1. */
  | { type: "random_layerwise"; seed: number; low: number; high: number }
  | { type: "random_nodewise"; seed: number; low: number; high: number }
  | { type: "random_permutation"; seed: number };

/** A feed-forward network. Parameters are not part of it; they are one flat array, layer by layer, weight then bias. */
export class Network {
  private constructor();
  /** From an object or a JSON text. A batch normalisation is refused; `foldBatchNorm` makes a network without it. */
  static fromJSON(json: NetworkJSON | string): Network;
  /**
   * Folds batch normalisations with frozen statistics into the dense or convolutional layers straight before them (then rows and
   * biases are scaled) or straight behind them (columns; refused where such a convolution pads and the shift is not 0). The
   * outputs stay. `parameters` are those of the other layers alone; layers that were folded into come back with a bias.
   */
  static foldBatchNorm(json: BatchNormNetworkJSON | string, parameters: Float64Array | Float32Array):
    { network: Network; parameters: Float64Array };
  /** A ReLU network of these widths, input first. */
  static dense(widths: number[], bias?: boolean): Network;
  static preset(name: PresetName): Network;
  toJSON(): NetworkJSON;
  readonly inputShape: InputShape;
  /** Values in one input: the product of its shape. */
  readonly inputLength: number;
  readonly outputLength: number;
  readonly parameterCount: number;
  /** Number of parametric layers L. */
  readonly depth: number;
  /** `784-300-100-10`, `1×28×28-conv5×5×10-pool2×2-conv5×5×20-pool2×2-120-84-10`. */
  readonly summary: string;
  /** Are all activations positively homogeneous? If not, rescalings are refused. */
  readonly homogeneous: boolean;
  blocks(): ParameterBlock[];
  /** Default scheme `kaiming_uniform`. */
  initialize(options?: InitializeOptions): Float64Array;
  /** The parameters after a transformation; the ones given are left as they are. */
  transform(parameters: Float64Array | Float32Array, transformation: Transformation): Float64Array;
  /** The transformation that undoes this one (random ones are drawn first). */
  invert(transformation: Transformation): Transformation;
  free(): void;
  [Symbol.dispose](): void;
}

export type LossName = "cross_entropy" | "squared_error";

export interface ProblemData {
  loss: LossName;
  /** samples × inputLength, row-major; images channel after channel, row after row. */
  inputs: Float32Array | Float64Array;
  /** Class numbers (cross-entropy), or samples × outputLength values (squared error). */
  targets: Uint8Array | Uint32Array | number[] | Float64Array | Float32Array;
}

/** What a problem file holds. */
export interface OpenedProblem {
  name?: string;
  problem: Problem;
  parameters: Float64Array;
  direction?: Float64Array;
  transformations: Transformation[];
}

/** Network, loss and data. */
export class Problem {
  constructor(network: Network, data: ProblemData);
  /** Rangamani 3.1: standard normal inputs with uniformly random labels. */
  static synthetic(network: Network, options: { samples: number; seed?: number }): Problem;
  /** Reads a problem file (JSON text). */
  static open(json: string): OpenedProblem;
  /** The problem file for these parameters (JSON text). */
  save(parameters: Float64Array | Float32Array, name?: string): string;
  readonly samples: number;
  readonly loss: LossName;
  /** A new handle to the network. */
  readonly network: Network;
  /** The problem over the first samples. */
  first(samples: number): Problem;
  free(): void;
  [Symbol.dispose](): void;
}

/** An IDX file, as MNIST comes in; unsigned bytes. */
export interface IdxFile {
  shape: number[];
  values: Uint8Array;
}
export function parseIdx(bytes: Uint8Array): IdxFile;

// --- the engine -------------------------------------------------------------------------------------------------

export interface BackendInfo {
  backend: "cpu" | "gpu";
  adapter: string;
  api: string;
  precision: "f32" | "f64";
  /** Does the GPU API run on a CPU (SwiftShader, llvmpipe)? */
  isSoftware: boolean;
  /** Threads that compute on the CPU, the engine's own among them; 1 on a GPU. */
  threads: number;
  /** Why there are fewer threads than were asked for. */
  threadsReason?: string;
}

export interface Progress {
  phase: string;
  done: number;
  total: number;
  estimate?: number;
  residual?: number;
  /** Landscapes: the losses of the row that is done with this step. */
  losses?: number[];
  /** Training: the running epoch's number. */
  epoch?: number;
  /** Training: mean loss and accuracy over the steps since the last report. */
  loss?: number;
  accuracy?: number;
  /** Training: on the validation problem, after each epoch. */
  validationLoss?: number;
  validationAccuracy?: number;
}

export interface RunOptions {
  onProgress?: (progress: Progress) => void;
  /** Aborting rejects with code `aborted` within a step. */
  signal?: AbortSignal;
}

export interface EngineOptions {
  /** Default `auto`: a hardware GPU where there is one, otherwise the CPU. */
  backend?: "auto" | "webgpu" | "cpu";
  /** CPU only; default `f64`. The GPU computes in f32. */
  precision?: "f32" | "f64";
  /** Bytes of data and activations kept between passes, about; what does not fit is computed again in each product. */
  memoryBudget?: number;
  /**
   * CPU only: a number from 1 (the default) to 64, or `"auto"` for as many as the computer has, 8 at most. More than one takes a
   * cross-origin isolated page (`crossOriginIsolated`), an engine that is created in a Worker, and a Content-Security-Policy
   * that allows `worker-src blob:`, if there is one; elsewhere there is one, and `info.threadsReason` says why. The engine then
   * starts workers of its own, each with a share of the samples in its own memory, and `free()` ends them. Results differ by
   * rounding between numbers of threads, and are the same in every run with the same number. If one of the workers fails, calls
   * reject with code `device_lost`.
   */
  threads?: number | "auto";
}

/** What work will take, from the network's shape and trial runs of a few samples; times err upwards. */
export interface Estimate {
  gradientSeconds: number;
  /** The part of it that is the same for any number of samples, as for a batch of them: a GPU's way there and back. */
  callSeconds: number;
  /** One product with the Hessian. */
  productSeconds: number;
  /** The loss over all samples; a landscape takes at most this for each of its points. */
  evaluationSeconds: number;
  dataBytes: number;
  /** Activations and derivatives that one point keeps for its products, if the memory budget allows. */
  pointBytes: number;
  /** One vector of parameters. */
  vectorBytes: number;
  /** Threads that a pass over the data is shared out to: the engine's, or one where more would not help. */
  threads: number;
}

export interface TrainOptions extends RunOptions {
  optimizer?: { type: "sgd"; learningRate: number; momentum?: number }
    | { type: "adam"; learningRate: number; beta1?: number; beta2?: number; epsilon?: number };
  batchSize?: number;
  epochs?: number;
  seed?: number;
  /** Evaluated after each epoch. */
  validation?: Problem;
}

export interface TrainResult {
  parameters: Float64Array;
  epochs: number;
  steps: number;
  /** Did the signal stop it? The parameters reached until then are handed over all the same. */
  stopped: boolean;
  history: { epoch: number; loss: number; accuracy: number; validationLoss?: number; validationAccuracy?: number }[];
}

/** The operators whose spectra can be asked for. */
export type OperatorName =
  | "hessian" | "gauss_newton"
  | "riemannian.layerwise_flat" | "riemannian.layerwise_levi_civita"
  | "riemannian.nodewise_flat" | "riemannian.nodewise_levi_civita";

export interface Eigenpair {
  value: number;
  /** ‖A v − λ v‖ at ‖v‖ = 1. */
  residual: number;
  converged: boolean;
  vector?: Float64Array;
}

export interface EigenOptions extends RunOptions {
  operator?: OperatorName;
  /** `power` is Rangamani's Algorithm 1: the eigenvalue largest in magnitude alone. Default `lanczos`. */
  method?: "lanczos" | "power";
  /** How many of the largest; default 1. */
  top?: number;
  /** How many of the smallest (most negative first); default 0. */
  bottom?: number;
  /** Relative to the spectral norm; default from the precision. */
  tolerance?: number;
  maxProducts?: number;
  seed?: number;
  vectors?: boolean;
}

export interface EigenResult {
  top: Eigenpair[];
  bottom: Eigenpair[];
  /** Products with the operator. */
  products: number;
  converged: boolean;
}

/** A measure of one number, by its key. */
export type MeasureKey =
  | "loss" | "gradient_norm"
  | "hessian.max_eigenvalue" | "hessian.min_eigenvalue" | "hessian.spectral_norm" | "hessian.trace"
  | "gauss_newton.max_eigenvalue" | "gauss_newton.trace"
  | "epsilon_sharpness_quadratic"
  | `riemannian.${"layerwise" | "nodewise"}_${"flat" | "levi_civita"}.spectral_norm`
  | `riemannian.${"layerwise" | "nodewise"}_gradient_norm`
  | `petzka.${"kappa" | "kappa_trace" | "rho"}_${"max" | "sum"}` | "petzka.relative_flatness_sum"
  | "fisher_rao_norm";

export interface MeasureValue {
  key: MeasureKey;
  value: number;
  /** An eigenvalue's residual ‖A v − λ v‖. */
  residual?: number;
  /** Products it took. */
  iterations?: number;
  /** Of a trace by Hutchinson's method. */
  standardError?: number;
  converged: boolean;
}

export interface MeasureOptions extends RunOptions {
  /** Default: all that are defined for the network (Petzka's need a piecewise linear one). */
  measures?: MeasureKey[];
  /** ε of `epsilon_sharpness_quadratic`; default 1e-3. */
  epsilon?: number;
  /** Probes of Hutchinson's method; default 100. The trace is exact for networks of up to a few hundred parameters. */
  probes?: number;
  tolerance?: number;
  maxProducts?: number;
  seed?: number;
}

export interface MeasureReport {
  values: MeasureValue[];
  backend: BackendInfo;
  parameterCount: number;
  samples: number;
}

export interface MeasureDescription {
  key: MeasureKey;
  /** Where it comes from. */
  paper: string;
  /** One sentence. */
  description: string;
  /** Should it stand still under this kind of map (THEORY of the papers)? */
  invariant: { layerwise: boolean; nodewise: boolean; permutation: boolean };
}
/** All measures with their meaning. */
export function describeMeasures(): MeasureDescription[];

export interface InvarianceCell {
  measure: MeasureKey | "outputs";
  /** Index into `transformations`. */
  transformation: number;
  before: number;
  after: number;
  /** |after − before| / max(|before|, floor). */
  relativeChange: number;
  expected: "invariant" | "changes";
  /** `invariant`: within tolerance. `changed`: beyond it. `unresolved`: an estimate did not converge. */
  verdict: "invariant" | "changed" | "unresolved";
  /** Is the verdict what theory says? (A measure that may change but happens not to agrees too.) */
  agrees: boolean;
  tolerance: number;
  /** Why this tolerance. */
  reason: string;
}

export interface InvarianceOptions extends MeasureOptions {
  transformations: Transformation[];
}

export interface InvarianceTable {
  transformations: Transformation[];
  /** Measure-major. */
  cells: InvarianceCell[];
  backend: BackendInfo;
}

export type DirectionSpec =
  | { type: "random"; seed: number }
  /** Eigenvector `index` (0 is the largest; −1 the most negative) of the operator, default `hessian`. */
  | { type: "eigenvector"; operator?: OperatorName; index: number }
  /** Towards other parameters: s = 1 is there. */
  | { type: "towards"; parameters: Float64Array }
  | { type: "vector"; values: Float64Array };

export interface LandscapeOptions extends RunOptions {
  /** One direction gives a line, two a grid. */
  directions: [DirectionSpec] | [DirectionSpec, DirectionSpec];
  /**
   * Lengths of random directions and eigenvectors. `none` (default): 1 over all parameters. `layer`: each W_l and b_l as
   * long as the parameters'. `filter`: each row of W_l as long as the parameters' row, biases not moved (Li et al. 2018).
   */
  normalization?: "none" | "layer" | "filter";
  /** Ends of s (and of t); default [−1, 1]. */
  range?: [number, number];
  rangeT?: [number, number];
  /** Points along s (and t); default 21. */
  points?: number;
  pointsT?: number;
}

export interface Landscape {
  s: Float64Array;
  /** Empty for a line. */
  t: Float64Array;
  /** loss[i + j · s.length] = L(θ + s_i u + t_j v). */
  loss: Float64Array;
  accuracy: Float64Array;
  /** L(θ). */
  center: number;
  backend: BackendInfo;
}

/** Computes on one device. Calls on one engine run one after the other, in the order they were made. */
export class Engine {
  private constructor();
  static create(options?: EngineOptions): Promise<Engine>;
  readonly info: BackendInfo;
  /** Seconds and bytes that work on this problem will take. */
  estimate(problem: Problem, parameters: Float64Array | Float32Array): Promise<Estimate>;
  /** Loss, and accuracy (0 for squared error). */
  evaluate(problem: Problem, parameters: Float64Array | Float32Array): Promise<{ loss: number; accuracy: number }>;
  /** samples × outputLength. */
  outputs(problem: Problem, parameters: Float64Array | Float32Array): Promise<Float64Array>;
  gradient(problem: Problem, parameters: Float64Array | Float32Array): Promise<Float64Array>;
  /** One or several directions, one after the other in `directions`; as many products. */
  product(problem: Problem, parameters: Float64Array | Float32Array, directions: Float64Array | Float32Array,
    options?: { operator?: OperatorName }): Promise<Float64Array>;
  train(problem: Problem, parameters: Float64Array | Float32Array, options?: TrainOptions): Promise<TrainResult>;
  eigenvalues(problem: Problem, parameters: Float64Array | Float32Array, options?: EigenOptions): Promise<EigenResult>;
  measure(problem: Problem, parameters: Float64Array | Float32Array, options?: MeasureOptions): Promise<MeasureReport>;
  invariance(problem: Problem, parameters: Float64Array | Float32Array, options: InvarianceOptions): Promise<InvarianceTable>;
  landscape(problem: Problem, parameters: Float64Array | Float32Array, options: LandscapeOptions): Promise<Landscape>;
  /** Destroys the GPU device, so that a program can see how it takes a lost device. No effect on the CPU. */
  loseDevice(): void;
  /** Ends the engine's threads too, once calls that were made before have ended. */
  free(): void;
  [Symbol.dispose](): void;
}
