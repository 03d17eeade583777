/** What the page and its worker say to each other. Large arrays stay in the worker; the page gets what it shows. */

import type {
  BackendInfo,
  ConstantInBall,
  EigenResult,
  EngineOptions,
  FreeTensor,
  GradientNorms,
  InvarianceTable,
  IsoflatErrorCode,
  Landscape,
  LossName,
  ManyEigenvalues,
  MeasureDescription,
  MeasureKey,
  MeasureReport,
  NetworkJSON,
  NormalizationName,
  OperatorDescription,
  OutputChange,
  PetzkaReport,
  PowerPoint,
  PresetName,
  Progress,
  ReportSection,
  Sharpened,
  SpectralDensity,
  TrainResult,
  Transformation,
  VolumeFlatness,
  WholeOperatorName,
} from "isoflat";
import type { TableName } from "../seeds";

export type BackendChoice = "auto" | "webgpu" | "cpu";

export type NetworkChoice = { kind: "preset"; name: PresetName } | { kind: "widths"; widths: number[]; bias: boolean };

export type InitScheme = "kaiming_uniform" | "kaiming_normal" | "xavier_normal" | "pytorch" | "uniform" | "normal";

export interface InitChoice {
  scheme: InitScheme;
  /** The bound of `uniform`, the σ of `normal`. */
  scale: number;
  seed: number;
}

/** `mnist`: the first `samples` of its training images. */
export type DataChoice = { kind: "mnist"; samples: number } | { kind: "synthetic"; samples: number; seed: number };

export interface ModelChoice {
  network: NetworkChoice;
  init: InitChoice;
  data: DataChoice;
  /** Landscape and measures are of so many of the samples. */
  measured: number;
}

export interface ModelInfo {
  /** `MNIST`, `500 random samples`, or the opened file's name. */
  data: string;
  summary: string;
  parameterCount: number;
  /** Values that come into it, and that it gives. */
  inputs: number;
  outputs: number;
  /** Does all that comes in meet in its first layer with weights, rather than channel by channel? */
  beginsDense: boolean;
  depth: number;
  homogeneous: boolean;
  piecewiseLinear: boolean;
  /** Dense layers and piecewise linear activations alone: what the path norm is defined for. */
  dense: boolean;
  loss: LossName;
  samples: number;
  validationSamples: number;
  /** Of how many samples the measures and the landscape are. */
  measuredSamples: number;
  /** One a parametric layer: `784 → 64`. */
  layers: string[];
  /** Of a graph, what layer-wise factors can be; null of a chain, where they only have to multiply to 1. */
  tensors: FreeTensor[] | null;
}

export interface TrainChoice {
  optimizer: "sgd" | "momentum" | "adam";
  learningRate: number;
  batchSize: number;
  epochs: number;
  seed: number;
}

export interface TrainSummary {
  /** What trained it; none of what comes with the page or was trained before this was kept. */
  backend?: BackendInfo["backend"];
  /** With the part of the one in which it was stopped. */
  epochs: number;
  stopped: boolean;
  loss: number;
  accuracy: number;
  validationLoss?: number;
  validationAccuracy?: number;
  /** Outcomes of whole epochs; none of what was trained before they were kept. */
  history?: TrainResult["history"];
}

/** What files do not say; "" where that is left to them. */
export interface OpenChoice {
  /** Of weights without a graph: a preset's name, or a network's JSON. */
  network: string;
  batchNorm: "fold" | "scale";
  normalization: NormalizationName | "";
  split: "train" | "test" | "";
}

/** Data as they came in. */
export interface DataSummary {
  /** The files, in words. */
  from: string;
  samples: number;
  minimum: number;
  maximum: number;
  /** Samples of each class; none where targets are no classes. */
  counts: number[];
  /** The first ones, with their targets. */
  labels: number[];
  images: Picture[];
}

/** An input to look at, four bytes a pixel. */
export interface Picture {
  width: number;
  height: number;
  pixels: Uint8ClampedArray;
}

/** Files that were opened. */
export interface OpenedFiles {
  name: string;
  format: string;
  summary: string;
  parameterCount: number;
  notes: string[];
  /** None while data are missing, or the network could not be made out. */
  model: ModelInfo | null;
  /** Why there is no network, where a choice may mend that. */
  fault: string | null;
  data: DataSummary | null;
  /** Of weights that say no network: the one that they are taken for. */
  layers: NetworkJSON | null;
  loss: number;
  accuracy: number;
  choice: OpenChoice;
  /** As of what was trained; null too while there is no model. */
  stamp: string | null;
}

/** Layers as a person has set them. */
export interface LayerCheck {
  /** Values that each gives; null where there is no telling. */
  lengths: (number | null)[];
  /** Why the weights are not theirs. */
  fault: string | null;
}

/** What training came to. */
export interface Trained {
  summary: TrainSummary;
  /** How many snapshots of its way are kept; 0 where the network is too large for that. */
  way: number;
  /** The name of what is kept for a reload; null where the browser keeps nothing. */
  stamp: string | null;
}

/** What was kept, and is the worker's network again. */
export interface Restored {
  /** None for files. */
  choice: ModelChoice | null;
  opened: OpenedFiles | null;
  model: ModelInfo | null;
  /** Snapshots of the way of its training; 0 where there is none. */
  way: number;
  /** What its training came to; null where it was not trained here. */
  summary: TrainSummary | null;
}

/** A training that was broken off: its network, with the weights that it began with. */
export interface Resumed extends Restored {
  training: TrainChoice;
}

/** Weights that a file is made of: as trained, where the bend has put them, or as *Sharpen* left them. */
export type SavedPoint = Point | "balanced" | "sharpened";

/** What they are written as: a problem with its data, or weights for other programs. */
export type SaveChoice = "problem.json" | "problem.safetensors" | "safetensors" | "npz" | "onnx";

export interface SavedFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Which of the two points: the trained one, or where the bend has put it. */
export type Point = "trained" | "bent";

/** `way`: the principal components of the snapshots of the training. */
export type DirectionKind = "random" | "eigenvectors" | "way";
export type NormalizationKind = "none" | "layer" | "filter";

export interface LandscapeChoice {
  directions: DirectionKind;
  normalization: NormalizationKind;
  seed: number;
  points: number;
  /** At the bent point: the same vectors as at the trained one, or normalised anew by the bent weights. */
  atBent: "same" | "anew";
}

/** Seconds that grow with the samples, and those that any number of them takes: a GPU's way there and back, a fork and a join. */
export interface Line {
  call: number;
  sample: number;
}

/** What work costs on the device in use, tried out at the sizes that are used, threads and all. */
export interface SampleCosts {
  /** A step of training, of so many samples. */
  step: Line;
  /** A product with the Hessian at a prepared point. */
  product: Line;
  /** The loss; of one sample. */
  evaluation: number;
  /** A landscape: what it begins with, and each of its points; of one sample. */
  plane: { begin: number; point: number };
  dataBytes: number;
  pointBytes: number;
  /** Fixed: one vector of parameters. */
  vectorBytes: number;
}

export interface BendSummary {
  /** max over samples and outputs of |Δ output|. */
  maxDifference: number;
  /** max |output| before, to see the difference against. */
  maxOutput: number;
  /** What the bent network says of the examples. */
  answers: number[][];
}

/** A few samples, of each class one, and what the trained network says of them: to see that a bend leaves it. */
export interface Examples {
  /** Of the test set, or of the samples that are measured where there is none. */
  of: "test" | "measured";
  /** Their classes; none where targets are no classes. */
  labels: number[];
  /** None where inputs are no pictures. */
  images: Picture[];
  /** Sample by sample the probability of each class, or the outputs themselves. */
  answers: number[][];
}

/** A coarse look while a slider moves: fewer points and samples, as many as there is time for. */
export interface Preview {
  surface: Landscape;
  samples: number;
  answers: number[][];
}

/** How coarse. */
export interface PreviewChoice {
  points: number;
  samples: number;
}

export interface MeasureChoice {
  keys?: MeasureKey[];
  epsilon: number;
  probes: number;
}

/** Which operator, on which part of the parameters, and how finely its density is sampled. */
export interface SpectrumChoice {
  operator: WholeOperatorName;
  part: "all" | "weights" | `layer_${number}`;
  /** Random vectors that the density is the mean over. */
  probes: number;
  /** Lanczos steps with each. */
  steps: number;
}

/** Losses along a line, from left to right; not evenly spaced. */
export interface Curve {
  s: number[];
  loss: number[];
}

/** The trained point along the steepest direction of the layer that takes the least to be made sharp. */
export interface Valley {
  layer: number;
  /** Spectral norm of that layer's block of the Hessian. */
  block: number;
  /** Spectral norm of the whole Hessian. */
  norm: number;
  /** The loss has risen by about 2 at s = ±span. */
  span: number;
  /** Far beyond the span, and closer together near the middle. */
  line: Curve;
}

export interface SharpenChoice {
  /** M. */
  target: number;
  powersOfTwo: boolean;
}

/** The rescaling of the layers behind which the Hessian has the least trace (Ibayashi et al. 2021). */
export interface FlattestBend {
  lambda: number[];
  /** The traces at the weights, and behind the rescaling. */
  before: number;
  after: number;
  /** Is there none with less? If not, factors would have to grow without end; these come within a millionth of the infimum. */
  attained: boolean;
}

/** The line is along the valley's direction, at the sharpened weights. */
export type SharpenFinding = Omit<Sharpened, "parameters"> & { line: Curve };
export type ManyFinding = Omit<ManyEigenvalues, "parameters">;
export type BallFinding = Omit<ConstantInBall, "parameters">;

/** Section 5.1 with Appendix A's radial map around the trained point. */
export interface RadialFinding {
  /** How many times as flat in η as in θ: below 1 it is sharper. */
  flatter: number;
  /** The map's, as the paper has them: what lies within `inner` goes to what lies within ρ, and nothing beyond δ moves. */
  delta: number;
  inner: number;
  rho: number;
  /** The Hessian's largest eigenvalue in θ. */
  before: { value: number; residual: number; converged: boolean };
  /** In η: of the whole Hessian there, whose second term vanishes at the map's centre. */
  after: number;
  relativeTerm: number;
}

/** How far what an ascent has found is to be trusted, and what it found. */
export interface Climbed {
  value: number;
  converged: boolean;
}

/** Section 5.1: rows w = s v/‖v‖ with v → αv. */
export interface NormalizedFinding {
  epsilon: number;
  /** ε-sharpness where v alone moves, and where s and the biases do too; `outputs`: against those at α = 1. */
  scales: { alpha: number; directions: Climbed; whole: Climbed; outputs: OutputChange }[];
  /** Boxes in (v, s), which v → αv carries to others of the same losses; natural logarithms. */
  volumes: { alpha: number; logVolume: number }[];
  /** Of the boxes: up to where the loss is to stay below, how large the first one is, and whether they have no point in common. */
  boxes: { epsilon: number; radius: number; largestDifference: number; disjoint: boolean };
}

/** Section 5.2: features of mean 0 and variance 1, of covariance 1, or each of a normal distribution. */
export type InputMap = "standardize" | "whiten" | "gaussianize";

export interface InputsFinding {
  map: InputMap;
  samples: number;
  predictionGradients: GradientNorms;
  lossGradients: GradientNorms;
  chainRuleError: number;
  outputs: OutputChange;
}

/** Dinh's constructions: what each is asked with, true where there is nothing to choose, and what it finds. */
export interface Constructed {
  /** Theorem 2. */
  boxes: { asked: true; found: VolumeFlatness };
  /** Section 4.3, with ε. */
  ball: { asked: number; found: BallFinding };
  /** Theorem 5. */
  many: { asked: true; found: ManyFinding };
  /** Section 5.1, with how many times as flat it is to be. */
  radial: { asked: number; found: RadialFinding };
  normalized: { asked: true; found: NormalizedFinding };
  /** Section 5.2. */
  inputs: { asked: InputMap; found: InputsFinding };
}
export type Construction = keyof Constructed;
export type AskedWith = Constructed[Construction]["asked"];

export type AnyFound = Constructed[Construction]["found"];

export type LossPoint = readonly [theta: number, loss: number, slope: number, curvature: number];

/** Figure 5: η = (|θ − θ̂|² + b)^a (θ − θ̂). */
export interface PowerChoice {
  center: number;
  a: number;
  b: number;
}

export type DeviceOfTable = Pick<BackendInfo, "backend" | "precision">;

/** Of one map, at one seed. */
export interface TableRow {
  lambda: number[];
  after: number;
  relativeDifference: number;
  converged: boolean;
  /** Units that are on at one of the points alone, and pools that choose another value there, each counted once a sample. */
  flips: number;
}

export interface TableSeed {
  seed: number;
  before: number;
  rows: TableRow[];
}

/** Algorithm 1: ‖A u‖ after each of its steps, and whether its vector has settled. */
export interface PowerFound {
  norms: number[];
  settled: boolean;
}

/** Rangamani's Table 2 or 3, as far as it has come: in the order of seeds. */
export interface TableFound {
  device: DeviceOfTable;
  seeds: TableSeed[];
  /** On the network of the first seed of Table 2. */
  power: PowerFound | null;
}

/** At one ε of Petzka's appendix D.2: a feature robustness, and the bound that it parts from. */
export interface NeighboursFound {
  epsilon: number;
  value: number;
  bound: number;
  matrixNorm: number;
  kappa: number;
  /** Is the value more than rounding, and has κ's search converged? */
  trusted: boolean;
}

export interface EngineStart {
  info: BackendInfo;
  /** Why it is not the backend asked for. */
  note?: string;
}

/** `download`: of data. `not_fetched`: of a piece of the page itself. */
export type LabFailureCode =
  | ("download" | "not_fetched" | "not_possible" | "aborted")
  | ("crashed" | "not_finite" | "device_lost");

/** What goes wrong in the lab's own part of the worker. */
export class LabFailure extends Error {
  constructor(
    readonly code: LabFailureCode,
    message: string,
  ) {
    super(message);
  }
}

/** `aborted`: by Stop. `crashed`: the module was made anew. `unexpected`: neither isoflat's nor the lab's error, so the worker may be broken and is replaced. */
export interface Failure {
  code: IsoflatErrorCode | LabFailureCode | "unexpected";
  message: string;
}

/** Errors lose their `code` on the way between threads, so they travel as values. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; failure: Failure };

export type WorkerEvent =
  | { type: "progress"; progress: Progress }
  /** A surface's rows so far, from the first: its `loss` is as long as they are. `about` is what `surface` was told. */
  | { type: "rows"; point: Point; about: string; landscape: Landscape }
  /** The device was lost, and the engine was set up anew. */
  | { type: "engine"; start: EngineStart };

/** What the package says of itself. */
export interface Descriptions {
  descriptions: MeasureDescription[];
  operators: OperatorDescription[];
}

export interface LabApi {
  /** `mnistFolder`: address of the folder with the data files. */
  connect(mnistFolder: string, listener: (event: WorkerEvent) => void): void;
  /** Answers while the worker hears at all. */
  hear(): void;
  describe(): Promise<Outcome<Descriptions>>;
  /** By default with as many threads as can be had. */
  startEngine(choice: BackendChoice, threads?: EngineOptions["threads"]): Promise<Outcome<EngineStart>>;
  setModel(choice: ModelChoice): Promise<Outcome<ModelInfo>>;
  /** The same network where it stands, measured on another number of samples. */
  setMeasured(samples: number): Promise<Outcome<ModelInfo>>;
  /** Of the model there is. A trial run of well under a second but for the largest networks; it touches no state. */
  /** Thoroughly where nothing else runs: that takes about a second. */
  costs(isThorough: boolean): Promise<Outcome<SampleCosts>>;
  /** Files on top of those that there are, or none to read the same ones by another choice. */
  openFiles(files: File[], choice: OpenChoice): Promise<Outcome<OpenedFiles>>;
  /** Does this network fit the weights that are open? */
  checkLayers(network: string): Promise<Outcome<LayerCheck>>;
  /** What is kept under the stamp; null where it is kept no longer, or `isStart` and it has brought the page down too often. */
  restore(stamp: string, isStart: boolean): Promise<Outcome<Restored | null>>;
  /** Keeps the weights that there are; null where the browser keeps nothing. */
  keep(): Promise<Outcome<string | null>>;
  save(point: SavedPoint, choice: SaveChoice): Promise<Outcome<SavedFile>>;
  /** A network of the options with weights that it was trained to elsewhere. */
  arrive(choice: ModelChoice, weights: Float32Array): Promise<Outcome<ModelInfo>>;
  train(choice: TrainChoice): Promise<Outcome<Trained>>;
  /** The network of the training that was broken off; null where none was. */
  resume(run: string): Promise<Outcome<Resumed | null>>;
  /** Goes on with that training, on the network that `resume` has put here. */
  goOn(): Promise<Outcome<Trained>>;
  evaluate(): Promise<Outcome<{ loss: number; accuracy: number }>>;
  bend(transformation: Transformation | null): Promise<Outcome<BendSummary>>;
  examples(): Promise<Outcome<Examples>>;
  /** Of the test set, or of all data where there is none; null where targets are no classes. */
  accuracy(point: Point): Promise<Outcome<number | null>>;
  /** Where a bend would put the weights; nothing is kept of it. */
  preview(transformation: Transformation, choice: LandscapeChoice, coarse: PreviewChoice): Promise<Outcome<Preview>>;
  measure(point: Point, choice: MeasureChoice): Promise<Outcome<MeasureReport>>;
  /** Petzka's measures layer by layer and neuron by neuron. */
  layers(point: Point): Promise<Outcome<PetzkaReport>>;
  /** The largest and the smallest eigenvalues. */
  spectrum(point: Point, choice: SpectrumChoice): Promise<Outcome<EigenResult>>;
  density(point: Point, choice: SpectrumChoice): Promise<Outcome<SpectralDensity>>;
  line(point: Point, choice: LandscapeChoice): Promise<Outcome<Landscape>>;
  /**
   * `about` comes back with each `rows` event, so that the page can tell those of another choice. `before`: the first rows of the
   * same, as such an event had them; what is missing is computed alone.
   */
  surface(point: Point, choice: LandscapeChoice, about: string, before: Landscape | null): Promise<Outcome<Landscape>>;
  invariance(transformations: Transformation[], choice: MeasureChoice): Promise<Outcome<InvarianceTable>>;
  /** Of the trained point. */
  flattest(): Promise<Outcome<FlattestBend>>;
  /** Dinh et al. 2017, all at the trained point: what `sharpen` begins with. */
  valley(): Promise<Outcome<Valley>>;
  /** Theorem 4. */
  sharpen(valley: Valley, choice: SharpenChoice): Promise<Outcome<SharpenFinding>>;
  /** One of the others; `target`: what Theorem 5's M is, null for those that need none. */
  construct(what: Construction, asked: AskedWith, target: SharpenChoice | null): Promise<Outcome<AnyFound>>;
  /** Of a loss in one dimension, whose points are [θ, L, L′, L″]: at any time, since it is no work. */
  powerMap(choice: PowerChoice, points: LossPoint[]): Promise<Outcome<PowerPoint[]>>;
  /** One seed of Rangamani's Table 2 or 3. */
  table(name: TableName, seed: number): Promise<Outcome<{ device: DeviceOfTable; found: TableSeed }>>;
  /** Rangamani's Figure 1. */
  power(): Promise<Outcome<PowerFound>>;
  /** Petzka's appendix D.2, at each ε; beside all tasks. */
  neighbours(epsilons: number[], delta: number): Promise<Outcome<NeighboursFound[]>>;
  /** The report of the trained weights, as JSON text; null for all the sections that there are. */
  report(sections: ReportSection[] | null): Promise<Outcome<string>>;
  /** Aborts what is running; resolves at once. */
  stop(): void;
  loseDevice(): void;
  crash(): void;
}

/** The worker's first message, before any call: wasm takes a moment to load, or fails to. */
export type WorkerReady = { ready: true } | { ready: false; message: string };
