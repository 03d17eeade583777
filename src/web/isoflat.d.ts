import type { OpenedData } from "./files.js";

declare global {
  // What is named here of browsers, for programs that have no types of theirs (`lib` without "DOM"): those that have add to it. By
  // methods: a property would have to be one wherever else it is declared, and Cloudflare's are accessors.
  interface AbortSignal {
    throwIfAborted(): void;
  }
  interface Blob {
    arrayBuffer(): Promise<ArrayBuffer>;
  }
  interface File extends Blob {}
  interface Request {
    clone(): Request;
  }
  interface Response {
    clone(): Response;
  }
  interface URL {
    href: string;
  }
  namespace WebAssembly {
    interface Memory {
      grow(delta: number): number;
    }
    interface Module {}
  }

  /** What `using` calls: as in TypeScript's esnext.disposable, which a program may have and need not. */
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

/** Where the module comes from: its address, a response, its bytes, or a compiled module. */
export type InitInput = string | Request | URL | Response | ArrayBufferView | ArrayBuffer | WebAssembly.Module;

/** The same by name, as for `initSync`; or by the name that wasm-bindgen's modules know it by. */
export type InitSource =
  | { module: InitInput | Promise<InitInput>; module_or_path?: undefined }
  | { module_or_path: InitInput | Promise<InitInput>; module?: undefined };

export interface InitOutput {
  readonly memory: WebAssembly.Memory;
}

/**
 * Loads the WebAssembly module; everything else wants it loaded. Without an argument it is found wherever this runs: as a file or an address
 * beside the package's JavaScript, or else as a text that is imported; `isoflat/inline` has it in its JavaScript and looks nowhere.
 * A second call does nothing, unless the module has crashed (code `crashed`): then it is made anew, without being loaded again.
 * Handles that were made before a crash are lost.
 * @example
 * ```js
 * import init, { Network } from "isoflat";
 *
 * await init();
 * console.log(Network.dense([784, 300, 10]).parameterCount); // 238510
 * ```
 */
export default function init(input?: InitSource | InitInput | Promise<InitInput>): Promise<InitOutput>;

/**
 * The same from bytes or a compiled module, at once.
 * @example
 * ```js
 * import { readFileSync } from "node:fs";
 * import { initSync, Network } from "isoflat";
 *
 * // In Node the module is a file of the package.
 * initSync({ module: readFileSync(new URL(import.meta.resolve("isoflat/isoflat_bg.wasm"))) });
 * console.log(Network.dense([2, 3, 1]).parameterCount); // 13
 * ```
 */
export function initSync(
  input: { module: ArrayBufferView | ArrayBuffer | WebAssembly.Module } | ArrayBufferView | ArrayBuffer | WebAssembly.Module,
): InitOutput;

/**
 * Ends the module, that of an engine if one is given, as a fault of isoflat would, so that a program can see how it takes code `crashed`.
 * @example
 * ```js
 * import { crash } from "isoflat";
 *
 * crash(engine);
 * const { code } = await engine.gradient(problem, parameters).catch((error) => error);
 * console.log(code); // crashed
 * await init();
 * console.log(Network.dense([2, 3, 1]).parameterCount); // 13
 * ```
 */
export function crash(engine?: Engine): void;

/** What went wrong, for programs. */
export type IsoflatErrorCode =
  | "parse" | "invalid_network" | "invalid_problem" | "invalid_parameters" | "invalid_option" | "invalid_transformation"
  /** A handle that was freed, that `new` made, or that is of another class; or a method called on something else. */
  | "invalid_handle"
  /** `init` has not been awaited, or could not load the module. */
  | "not_initialized"
  /** A number that must be finite is not: in what was given, or in a result that overflows. */
  | "not_finite"
  /** Numbers too large or too small for the device's precision. */
  | "out_of_range"
  | "not_homogeneous" | "too_large" | "backend_unavailable" | "device_lost" | "gpu"
  /** In results that hold an error of their own. A call that is stopped rejects with its signal's reason. */
  | "aborted"
  /** The module has crashed: a fault of isoflat, or memory has run out. `init()` makes it anew; of an engine's worker another engine does. */
  | "crashed"
  /** `Engine.create({ worker: true })` where there are no workers, or where a Content-Security-Policy forbids this one. */
  | "worker_unavailable";

/**
 * Every error isoflat throws or rejects with, but for what the caller brings: a signal's reason, and what `onProgress` throws.
 * `message` names the fault, `code` is stable, `stack` has the caller, and `structuredClone` and `postMessage` keep these and `name`.
 * Methods that return promises never throw.
 */
export class IsoflatError extends Error {
  private constructor();
  readonly name: "IsoflatError";
  readonly code: IsoflatErrorCode;
}

// --- networks and problems --------------------------------------------------------------------------------------

/** Height and width of a window, a step or a frame: one whole number for both, or `[height, width]`. */
export type Size = number | [height: number, width: number];

/** What is put around an image: one number for all sides, `[vertical, horizontal]`, or each side. */
export type Padding = Size | [top: number, left: number, bottom: number, right: number];

/**
 * A layer. `name` is what others read it by, `from` what it reads: a name, or a list of them for `add` and `concat`, with `"input"`
 * for what comes into the network. Without `from` it reads the layer before it.
 */
export type LayerJSON = { name?: string; from?: string | string[] } & (
  /** z = W a + b over a flat row; W is (units, inputs). `bias` is true by default. */
  | { type: "dense"; units: number; bias?: boolean }
  /**
   * Cross-correlation over images, W is (channels, input channels / groups, kernel height, kernel width). `stride`, `dilation` and
   * `groups` are 1, `padding` (zeros) 0 and `bias` (a number a channel) true by default.
   */
  | {
      type: "conv2d"; channels: number; kernel: Size; stride?: Size; padding?: Padding; dilation?: Size; groups?: number;
      bias?: boolean;
    }
  /** w_c a_c + b_c for every channel or feature: what a batch normalisation with frozen statistics is. */
  | { type: "scale"; bias?: boolean }
  /**
   * The largest, or the mean, of each window. `stride` is `size` by default; what fills no window is left out. `padding` is never the
   * largest, and counts as zeros in a mean.
   */
  | { type: "max_pool2d"; size: Size; stride?: Size; padding?: Padding }
  | { type: "avg_pool2d"; size: Size; stride?: Size; padding?: Padding }
  /** The mean of each channel. */
  | { type: "global_avg_pool2d" }
  /** The sum of what several layers give, of one shape; or their channels, or features, one after the other. */
  | { type: "add" | "concat" }
  /** Channels, or features, of zeros around those that come in; 0 by default. */
  | { type: "pad_channels"; before?: number; after?: number }
  /** Images as flat rows, channel after channel: what a dense layer takes. */
  | { type: "flatten" }
  | { type: "relu" }
  /** z for z > 0, slope · z otherwise; the slope is positive. */
  | { type: "leaky_relu"; slope: number }
  | { type: "identity" }
  /** min(max(z, 0), 6): of this one, and of those that follow, there are no rescalings. */
  | { type: "relu6" }
  | { type: "tanh" | "sigmoid" | "softplus" | "silu" }
  /** `approximate` as in PyTorch; "none" by default. */
  | { type: "gelu"; approximate?: "none" | "tanh" }
);

/** Shape of one input: a flat row, or an image. Values of an image come channel after channel, row after row. */
export type InputShape = [features: number] | [channels: number, height: number, width: number];

export interface NetworkJSON {
  input: InputShape;
  layers: LayerJSON[];
}

/** The same, also where nobody may change it: as it is when it is written `as const`. */
export type Constant<T> = T extends object ? { readonly [K in keyof T]: Constant<T[K]> } : T;

/**
 * scale · (x − mean) / √(variance + epsilon) + shift, with one number of each a channel, or a feature of a flat row. In PyTorch's
 * names running_mean, running_var, weight (default 1), bias (default 0) and eps (default 1e-5).
 */
export interface BatchNormJSON {
  type: "batch_norm";
  name?: string;
  from?: string;
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
 * `mnist_fc`, `lenet`, `straight_mnist`, `petzka_mnist`, and `resnet8`, which learns it in a minute. Over CIFAR-10, 3072 values or
 * images of 3×32×32: `straight_cifar10`, `lenet5`, `alexnet_cifar10`, `vgg16_cifar10`, He's ResNets (shortcuts padded with zeros,
 * or projections), one that activates before its convolutions, and one of depthwise separable convolutions.
 */
export type PresetName =
  | "small" | "f1" | "c1" | "mnist_fc" | "lenet" | "straight_mnist" | "petzka_mnist"
  | "straight_cifar10" | "lenet5" | "alexnet_cifar10" | "vgg16_cifar10"
  | "resnet8" | "resnet20" | "resnet32" | "resnet56" | "resnet20_projection" | "resnet32_projection" | "resnet56_projection"
  | "preact_resnet20" | "mobilenet_cifar10";

export type InitializeOptions = {
  /** Default 0. The same seed gives the same parameters everywhere. */
  seed?: number;
  /** Default `"zero"`. */
  bias?: "zero" | "uniform";
} & (
  /**
   * Kaiming's schemes take the gain of the activation that follows each layer: √2 before ReLU, √(2 / (1 + slope²)) before a leaky one, and 1
   * before all others (tanh, sigmoid, softplus, SiLU, GELU, identity) and at the outputs, where PyTorch's `kaiming_uniform_`, told that all
   * are ReLUs, takes √2. `pytorch` is what PyTorch's layers draw by themselves: uniform in ±1/√inputs, in all layers, and biases
   * too with `bias: "uniform"`.
   */
  | { scheme?: "kaiming_uniform" | "kaiming_normal" | "xavier_normal" | "pytorch" }
  | { scheme: "uniform"; bound: number }
  | { scheme: "normal"; sigma: number }
);

export interface EquivalenceOptions {
  /**
   * What maps may lead from one vector to the other: layer-wise rescalings, node-wise ones (default; layer-wise ones are among them,
   * but for their factors on weights that read the zeros of a `pad_channels`), or permutations of hidden units with node-wise rescalings (of a
   * network that cannot be rescaled, permutations alone).
   */
  group?: "layerwise" | "nodewise" | "permutation";
  /** The largest `error` at which vectors are equivalent, at most 1e-3; default 1e-6, what rounding to f32 leaves through some layers. */
  tolerance?: number;
}

/** Are two parameter vectors one, but for a symmetry (Rangamani, Proposition 2.1)? */
export type Equivalence =
  | {
      equivalent: true;
      /** T with T(a) = b. */
      transformation: Transformation;
      /** The largest difference between T(a) and b, relative to the largest weight of its row, with every unit divided by the length of what it reads. */
      error: number;
    }
  | {
      /**
       * `null`: not decided. Some units are so much alike that others than those that were taken might be their counterparts, and with
       * those that were taken the vectors differ.
       */
      equivalent: false | null;
      /** Which unit has no counterpart, or where the vectors differ. */
      reason: string;
      /** Of the map that fits best; absent where none could be made. */
      error?: number;
    };

/**
 * One W_l or b_l in the parameter vector: `parameters.subarray(start, end)`, weights (outputs, inputs) row-major. `outputs` are
 * units, or channels of a convolution; its `inputs` are input channels × kernel height × kernel width.
 */
export interface ParameterBlock {
  /** Which of the layers with parameters, counted from 1 as in `OperatorName`. */
  layer: number;
  kind: "weight" | "bias";
  start: number;
  end: number;
  inputs: number;
  outputs: number;
}

/**
 * Something between layers that can be rescaled as a whole; sums and concatenations tie tensors together. In a chain, what each hidden
 * layer gives.
 */
export interface FreeTensor {
  /** Layers with parameters, counted from 1, that write it. */
  writers: number[];
  /** Those that read it. */
  readers: number[];
}

/** A map on the parameters that leaves every output as it is. */
export type Transformation =
  /**
   * W_l → λ_l W_l, b_l → (Π λ_k over a way from the inputs to l) b_l; one positive factor a parametric layer. Over every way from the
   * inputs to the outputs, and over ways that meet, the products agree; to the outputs they are 1.
   */
  | { type: "layerwise"; lambda: readonly number[] | Float64Array }
  /** Dinh: (α W_1, W_2 / α), two-layer networks. */
  | { type: "alpha_scale"; alpha: number }
  /**
   * W_l → Λ_l W_l Λ_{l−1}⁻¹; a positive factor for every unit or channel of every hidden layer. In a graph those that sums unite have one,
   * listed with the first layer that writes them.
   */
  | { type: "nodewise"; factors: readonly (readonly number[])[] }
  /** New unit or channel i of hidden layer l is old one `permutations[l][i]`; in a graph, of those that the layer is the first to write. */
  | { type: "permutation"; permutations: readonly (readonly number[])[] }
  /** The first is applied first. */
  | { type: "composition"; of: readonly Transformation[] }
  /** Factors drawn log-uniformly in [low, high]; the last layer's makes the product 1. */
  | { type: "random_layerwise"; seed: number; low: number; high: number }
  | { type: "random_nodewise"; seed: number; low: number; high: number }
  | { type: "random_permutation"; seed: number };

/** A feed-forward network. Parameters are not part of it; they are one flat array, layer by layer, weight then bias. */
export class Network {
  private constructor();
  /**
   * From an object or a JSON text. A batch normalisation is refused; `foldBatchNorm` makes a network without it.
   * @example
   * ```js
   * using lenet = Network.fromJSON({
   *   input: [1, 8, 8],
   *   layers: [
   *     { type: "conv2d", channels: 4, kernel: 3, padding: 1 },
   *     { type: "relu" },
   *     { type: "max_pool2d", size: 2 },
   *     { type: "flatten" },
   *     { type: "dense", units: 10 },
   *   ],
   * });
   * console.log(lenet.summary); // 1×8×8-conv3×3×4-pool2×2-10
   * ```
   */
  static fromJSON(json: Constant<NetworkJSON> | string): Network;
  /**
   * Folds batch normalisations with frozen statistics into the dense or convolutional layers straight before them (then rows and
   * biases are scaled) or straight behind them (columns; refused where such a convolution pads and the shift is not 0). The
   * outputs stay. `parameters` are those of the other layers alone; layers that were folded into come back with a bias.
   * @example
   * ```js
   * const folded = Network.foldBatchNorm(
   *   {
   *     input: [1],
   *     layers: [
   *       { type: "dense", units: 1, bias: false },
   *       { type: "batch_norm", mean: [4], variance: [4], scale: [3], shift: [7], epsilon: 0 },
   *     ],
   *   },
   *   new Float64Array([2]),
   * );
   * // 3 · (2 x − 4) / 2 + 7 = 3 x + 1
   * console.log([...folded.parameters]); // [ 3, 1 ]
   * ```
   */
  static foldBatchNorm(json: Constant<BatchNormNetworkJSON> | string, parameters: Float64Array | Float32Array):
    { network: Network; parameters: Float64Array };
  /**
   * A ReLU network of these widths, input first; `bias` is true by default.
   * @example
   * ```js
   * using narrow = Network.dense([4, 16, 3], false);
   * console.log(network.parameterCount, narrow.parameterCount); // 131 112
   * ```
   */
  static dense(widths: readonly number[], bias?: boolean | { bias?: boolean }): Network;
  /**
   * A network of the papers, by its name.
   * @example
   * ```js
   * using resnet = Network.preset("resnet20");
   * console.log(resnet.inputShape, resnet.parameterCount); // [ 3, 32, 32 ] 269722
   * ```
   */
  static preset(name: PresetName): Network;
  /**
   * What `fromJSON` takes.
   * @example
   * ```js
   * using copy = Network.fromJSON(network.toJSON());
   * console.log(copy.summary, network.toJSON().layers.length); // 4-16-3 3
   * ```
   */
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
  /** Are all activations piecewise linear? If not, Petzka's measures are not defined, and fewer traces and diagonals are exact. */
  readonly piecewiseLinear: boolean;
  /**
   * Where each W_l and b_l lies in the parameter vector.
   * @example
   * ```js
   * const lengths = network
   *   .blocks()
   *   .filter(({ kind }) => kind === "weight")
   *   .map(({ start, end }) => Math.hypot(...parameters.subarray(start, end)).toFixed(2));
   * console.log(lengths); // [ '10.72', '7.32' ]
   * ```
   */
  blocks(): ParameterBlock[];
  /**
   * What layer-wise maps are made of: one factor a tensor, by which its writers are multiplied and its readers divided.
   * @example
   * ```js
   * using deep = Network.dense([4, 8, 8, 3]);
   * const [first] = deep.freeTensors();
   * console.log(first); // { writers: [ 1 ], readers: [ 2 ] }
   * ```
   */
  freeTensors(): FreeTensor[];
  /**
   * Default scheme `kaiming_uniform`.
   * @example
   * ```js
   * const drawn = network.initialize({ seed: 7, scheme: "normal", sigma: 0.1, bias: "uniform" });
   * console.log(drawn.length === network.parameterCount); // true
   * ```
   */
  initialize(options?: InitializeOptions): Float64Array;
  /**
   * The parameters after a transformation; the ones given are left as they are.
   * @example
   * ```js
   * const bent = network.transform(parameters, { type: "layerwise", lambda: [1000, 1 / 1000] });
   * const { loss } = await engine.evaluate(problem, parameters);
   * const same = await engine.evaluate(problem, bent);
   * console.log(Math.abs(same.loss - loss) < 1e-12); // true
   * ```
   */
  transform(parameters: Float64Array | Float32Array, transformation: Transformation): Float64Array;
  /**
   * Are two parameter vectors the same network, but for a symmetry? With the map that leads from `a` to `b`, and how near it comes.
   * @example
   * ```js
   * const maps = [
   *   { type: "random_permutation", seed: 1 },
   *   { type: "random_nodewise", seed: 2, low: 0.1, high: 10 },
   * ];
   * const other = network.transform(parameters, { type: "composition", of: maps });
   * console.log(network.equivalence(parameters, other).equivalent); // false
   * const found = network.equivalence(parameters, other, { group: "permutation" });
   * console.log(found.equivalent, found.error < 1e-12); // true true
   * ```
   */
  equivalence(
    a: Float64Array | Float32Array,
    b: Float64Array | Float32Array,
    options?: EquivalenceOptions,
  ): Equivalence;
  /**
   * The transformation that undoes this one (random ones are drawn first).
   * @example
   * ```js
   * const rescaling = { type: "random_nodewise", seed: 1, low: 0.2, high: 5 };
   * const there = network.transform(parameters, rescaling);
   * const back = network.transform(there, network.invert(rescaling));
   * console.log(back.every((w, i) => Math.abs(w - parameters[i]) < 1e-14)); // true
   * ```
   */
  invert(transformation: Transformation): Transformation;
  /**
   * A parameter space at these parameters.
   * @example
   * ```js
   * using space = network.space(parameters, { type: "g_space", biases: "paths" });
   * // One weight of each of the 16 hidden units is fixed.
   * console.log(network.parameterCount, space.dimension); // 131 115
   * ```
   */
  space(parameters: Float64Array | Float32Array, spec: SpaceSpec): ParameterSpace;
  /**
   * The directions along which a training's snapshots vary most (Li et al. 2018, section 7), 2 of them by default: orthonormal, the most
   * telling one first, with the share of the variance that each explains. A landscape's `principal` directions are these.
   * @example
   * ```js
   * const { snapshots } = await engine.train(problem, start, { epochs: 20, snapshots: { count: 9 } });
   * const trajectory = snapshots.map((snapshot) => snapshot.parameters);
   * const { explained } = await network.principalComponents(trajectory, { components: 2 });
   * console.log(explained[0] > explained[1], explained[0] + explained[1] <= 1); // true true
   * ```
   */
  principalComponents(trajectory: readonly (Float64Array | Float32Array)[], options?: RunOptions & { components?: number }): Promise<PrincipalComponents>;
  /**
   * The rescaling of least norm, one factor a layer or one a unit (default).
   * @example
   * ```js
   * const bent = network.transform(parameters, { type: "layerwise", lambda: [1000, 1 / 1000] });
   * const { squaredNormBefore, squaredNorm, converged } = await network.balance(bent);
   * console.log(squaredNormBefore > 1e6, squaredNorm < 1e3, converged); // true true true
   * ```
   */
  balance(parameters: Float64Array | Float32Array, options?: RunOptions & { per?: "layer" | "node" }): Promise<Balanced>;
  /**
   * Gives the handle’s memory back at once; without it, that is done when the handle is collected.
   * @example
   * ```js
   * const large = Network.preset("vgg16_cifar10");
   * console.log(large.parameterCount); // 14982474
   * large.free();
   * ```
   */
  free(): void;
  /**
   * `free`, as `using` calls it.
   * @example
   * ```ts
   * using small = Network.preset("small");
   * const count: number = small.parameterCount;
   * ```
   */
  [Symbol.dispose](): void;
}

export type LossName = "cross_entropy" | "squared_error";

/**
 * Data, and what becomes of them: classes by cross-entropy, or vectors by squared error. Losses are means over samples; the squared error of
 * a sample is the sum over its outputs, Σ (f(x) − y)², without a ½ and not divided by their number, as `nn.MSELoss` has it.
 */
export type ProblemData = {
  /** samples × inputLength, row-major; images channel after channel, row after row. Pixels that are bytes are to be scaled first. */
  inputs: Float32Array | Float64Array | readonly number[];
} & (
  | {
      loss: "cross_entropy";
      /** A class number a sample, from 0; floating-point numbers must be whole. */
      targets: Uint8Array | Uint16Array | Uint32Array | Int8Array | Int16Array | Int32Array | Float64Array | Float32Array | readonly number[];
    }
  | {
      loss: "squared_error";
      /** samples × outputLength values, row-major. */
      targets: Float64Array | Float32Array | readonly number[];
    }
);

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
  /**
   * Copies the data, and refuses what does not fit the network.
   * @example
   * ```js
   * const inputs = new Float32Array([0, 0, 0, 1, 1, 0, 1, 1]);
   * const targets = [0, 1, 1, 0];
   * using small = Network.dense([2, 8, 2]);
   * using exclusiveOr = new Problem(small, { loss: "cross_entropy", inputs, targets });
   * console.log(exclusiveOr.samples); // 4
   * ```
   */
  constructor(network: Network, data: ProblemData | OpenedData);
  /**
   * As in Rangamani 3.1: inputs, here standard normal, with uniformly random labels.
   * @example
   * ```js
   * using noise = Problem.synthetic(network, { samples: 100, seed: 3 });
   * console.log(noise.loss, noise.samples); // cross_entropy 100
   * ```
   */
  static synthetic(network: Network, options: { samples: number; seed?: number }): Problem;
  /**
   * Reads a problem file (JSON text).
   * @example
   * ```js
   * const text = problem.save(parameters, "mine");
   * const opened = Problem.open(text);
   * using same = opened.problem;
   * console.log(opened.name, same.samples, opened.parameters.length); // mine 30 131
   * ```
   */
  static open(json: string): OpenedProblem;
  /**
   * The problem file for these parameters (JSON text).
   * @example
   * ```js
   * const file = JSON.parse(problem.save(parameters, "mine"));
   * console.log(Object.keys(file).includes("network"), file.loss); // true cross_entropy
   * ```
   */
  save(parameters: Float64Array | Float32Array, name?: string): string;
  readonly samples: number;
  readonly loss: LossName;
  /** A new handle to the network. */
  readonly network: Network;
  /**
   * The problem over the first samples, at least 1, or over all if there are fewer. It shares the data.
   * @example
   * ```js
   * using few = problem.first(10);
   * console.log(few.samples, (await engine.evaluate(few, parameters)).accuracy); // 10 1
   * ```
   */
  first(samples: number): Problem;
  /** The data, copies: inputs row after row. What another problem can be made of. */
  readonly data: { inputs: Float32Array | Float64Array }
    & ({ loss: "cross_entropy"; targets: Uint32Array } | { loss: "squared_error"; targets: Float64Array });
  /**
   * Gives the data’s memory back at once; without it, that is done when the handle is collected.
   * @example
   * ```js
   * const other = Problem.synthetic(network, { samples: 5 });
   * const { loss } = await engine.evaluate(other, parameters);
   * other.free();
   * console.log(Number.isFinite(loss)); // true
   * ```
   */
  free(): void;
  /**
   * `free`, as `using` calls it.
   * @example
   * ```ts
   * using data = Problem.synthetic(network, { samples: 5 });
   * const { loss } = await engine.evaluate(data, parameters);
   * ```
   */
  [Symbol.dispose](): void;
}

/** An IDX file, as MNIST comes in; unsigned bytes. */
export interface IdxFile {
  shape: number[];
  values: Uint8Array;
}
/**
 * Reads an IDX file of unsigned bytes.
 * @example
 * ```js
 * import { parseIdx } from "isoflat";
 *
 * // Two bytes of which the first says "unsigned", one dimension, of length 3.
 * const labels = parseIdx(new Uint8Array([0, 0, 8, 1, 0, 0, 0, 3, 5, 0, 4]));
 * console.log(labels.shape, [...labels.values]); // [ 3 ] [ 5, 0, 4 ]
 * ```
 */
export function parseIdx(bytes: Uint8Array): IdxFile;

// --- the engine -------------------------------------------------------------------------------------------------

export interface BackendInfo {
  /** What `Engine.create` takes: `gpu` is its `webgpu` too. */
  backend: "cpu" | "gpu";
  adapter: string;
  /** What it computes with. */
  api: "wasm" | "webgpu";
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
  /** Likewise the accuracies. */
  accuracies?: number[];
  /** Reports: which section of how many, and an estimate of the time that is left. */
  section?: number;
  sections?: number;
  remainingSeconds?: number;
  /** `trainSideBySide`: the run's index. */
  run?: number;
  /** Training: the running epoch's number. */
  epoch?: number;
  /** Training: mean loss and accuracy over the steps since the last report. */
  loss?: number;
  accuracy?: number;
  /** Training: on the validation problem, after each epoch. */
  validationLoss?: number;
  validationAccuracy?: number;
  /** `balance`: the largest change of a factor's logarithm in the last sweep; infinite before the first. */
  change?: number;
}

export interface RunOptions {
  /** What it throws rejects the call. */
  onProgress?: (progress: Progress) => void;
  /**
   * Gives the call up: it rejects with the signal's `reason` at once, and nothing is handed over. The engine is free for
   * the next call within milliseconds on one thread, and elsewhere within a step, of one pass over the data at most.
   */
  signal?: AbortSignal;
}

/** Of work that can hand over what it has. */
export interface FinishOptions extends RunOptions {
  /** Ends the call early: it resolves, within a step, with what is finished, and `stopped` says so. Which weights a space fixes is chosen before there is a step. */
  finish?: AbortSignal;
}

/** Progress is of the trials of `tune`. */
export interface EngineOptions extends RunOptions {
  /** Default `auto`: a hardware GPU where there is one, otherwise the CPU. `gpu` and `webgpu` are one and the same. */
  backend?: "auto" | "gpu" | "webgpu" | "cpu";
  /** Default `f64` on the CPU. The GPU computes in f32: `auto` with `f64` is the CPU, and a GPU with it is refused. */
  precision?: "f32" | "f64";
  /** Bytes of data and activations kept between passes, about; what does not fit is computed again in each product. */
  memoryBudget?: number;
  /**
   * CPU only: a number from 1 (the default) to 64, or `"auto"` for as many as the computer has, 8 at most. More than one takes a
   * cross-origin isolated page (`crossOriginIsolated`), an engine in a worker (`worker`, or one of yours that creates it), and a
   * Content-Security-Policy that allows `worker-src blob:`, if there is one; elsewhere there is one, and `info.threadsReason` says why. The engine then
   * starts workers of its own, each with a share of the samples in its own memory, and `free()` ends them. Results differ by
   * rounding between numbers of threads, and are the same in every run with the same number. If one of the workers fails, calls
   * reject with code `device_lost`.
   */
  threads?: number | "auto";
  /**
   * GPU only: when the tiles that are the fastest for its matrix products are found, by some seconds of trials. `auto` (default) does so
   * once on hardware, and keeps what it found in IndexedDB; `never` takes what is usual; `anew` measures again. Results differ by
   * rounding between tiles.
   */
  tune?: "auto" | "never" | "anew";
  /**
   * Computes in a worker of the engine's own, so that a page goes on while it does; all else is as without it, to the last bit. Problems,
   * networks and spaces stay here; a problem's data are copied there when it is first used, and freed there with the problem. `free()` ends
   * the worker. If it crashes, calls reject with `crashed`, and only this engine is lost. Where there can be no worker (Cloudflare's
   * Workers, service workers, a Content-Security-Policy without `worker-src blob:`) this rejects with `worker_unavailable`. Default false.
   */
  worker?: boolean;
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
  /**
   * Activations and derivatives that one point keeps for its products, if the memory budget allows. Searches of a large problem in
   * f64 on the CPU begin in f32, and take half as much again of this and of `dataBytes`, where no `memoryBudget` is given.
   */
  pointBytes: number;
  /** One vector of parameters. */
  vectorBytes: number;
  /** Threads that a pass over the data is shared out to: the engine's, or one where more would not help. */
  threads: number;
}

/** Which weights are fixed: one that leaves each hidden unit. */
export type FixedChoice =
  /** Entry (j mod outputs, j) for unit j: the thesis' choice. */
  | "diagonal"
  /** The assignment that needs the least rescaling, Σ |ln |w|| (Hungarian method). */
  | "hungarian"
  /** The same with the thesis' cost, Σ ||w| − 1|. */
  | "hungarian_distance";

/** What the fixed weights are: as they are (default), set to a value (which changes the function), or rescaled to ±1. */
export type FixedValues = "keep" | "reparametrize" | { set: number };

/**
 * Where the in-tree weights of the G-space begin that are not fixed (in a chain of layers that does not widen, the first layer’s, the thesis’ w_j): as they are (default, for
 * trained networks), or set to a value, which changes the function. Paths are divided by them, so that small ones make for large steps: train from
 * scratch at 1, as the thesis’ own code does.
 */
export type TreeValues = "keep" | { set: number };

/** A space to train in, and to take the curvature in. */
export type SpaceSpec =
  | { type: "weights" }
  /** Jestädt's G-space: path values, which no node-wise rescaling changes, nor a layer-wise one but for weights that read the zeros of a `pad_channels`. Biases stay as they are, or become paths too. */
  | { type: "g_space"; choice?: FixedChoice; values?: FixedValues; tree?: TreeValues; biases?: "appended" | "paths" }
  | { type: "weight_fixing"; choice?: FixedChoice; values?: FixedValues }
  /** w = s v / ‖v‖, one v a unit or channel (default) or one a layer. */
  | { type: "weight_norm"; grouping?: "unit" | "layer" }
  /** γ = √(σ² + ε) w and β = b + μ w in place of the w and b of scales: the coordinates of frameworks. */
  | { type: "batch_norm"; statistics: readonly BatchStatistics[] };

/** The frozen statistics of a batch normalisation that is a `scale` here. */
export interface BatchStatistics {
  /** Which of the layers with parameters, counted from 1. */
  layer: number;
  mean: number[];
  /** √(σ² + ε). */
  deviation: number[];
}

/** Where factors between coordinates and parameters are numerically dangerous. */
export interface ScalingWarning {
  /** The factor furthest from 1. */
  factor: number;
  /** The largest over the smallest factor. */
  spread: number;
  message: string;
}

/** A parameter space at some parameters of a network. */
export class ParameterSpace {
  private constructor();
  readonly name: SpaceSpec["type"];
  /** m − H for the G-space and for fixed weights. */
  readonly dimension: number;
  /** The parameters to begin at, with the fixed weights and the tree at their values. */
  readonly parameters: Float64Array;
  /** Is their function that of the parameters the space was opened at? */
  readonly keepsFunction: boolean;
  readonly warning: ScalingWarning | undefined;
  /**
   * The coordinates of parameters. Those that have not the space’s fixed weights are refused.
   * @example
   * ```js
   * using space = network.space(parameters, { type: "g_space", biases: "paths" });
   * const paths = space.toCoordinates(space.parameters);
   * const bent = network.transform(space.parameters, { type: "layerwise", lambda: [8, 1 / 8] });
   * using there = network.space(bent, { type: "g_space", biases: "paths" });
   * const bentPaths = there.toCoordinates(bent);
   * // Path values stay where the weights do not.
   * console.log(paths.every((v, i) => Math.abs(v - bentPaths[i]) < 1e-12)); // true
   * ```
   */
  toCoordinates(parameters: Float64Array | Float32Array): Float64Array;
  /**
   * The parameters that coordinates stand for.
   * @example
   * ```js
   * using space = network.space(parameters, { type: "weight_norm" });
   * const coordinates = space.toCoordinates(parameters);
   * const back = space.toParameters(coordinates);
   * console.log(coordinates.length > back.length, back.every((w, i) => Math.abs(w - parameters[i]) < 1e-12)); // true true
   * ```
   */
  toParameters(coordinates: Float64Array | Float32Array): Float64Array;
  /**
   * ∇_v L from ∇_θ L.
   * @example
   * ```js
   * using space = network.space(parameters, { type: "weight_fixing" });
   * const gradient = await engine.gradient(problem, space.parameters);
   * const ofCoordinates = space.pullBack(space.toCoordinates(space.parameters), gradient);
   * console.log(gradient.length - ofCoordinates.length); // 16
   * ```
   */
  pullBack(coordinates: Float64Array | Float32Array, gradient: Float64Array | Float32Array): Float64Array;
  /**
   * Gives the handle’s memory back at once; without it, that is done when the handle is collected.
   * @example
   * ```js
   * const space = network.space(parameters, { type: "g_space" });
   * console.log(space.name, space.keepsFunction); // g_space true
   * space.free();
   * ```
   */
  free(): void;
  /**
   * `free`, as `using` calls it.
   * @example
   * ```ts
   * using space = network.space(parameters, { type: "g_space" });
   * const coordinates: Float64Array = space.toCoordinates(space.parameters);
   * ```
   */
  [Symbol.dispose](): void;
}

/** The rescaling of least norm. */
export interface Balanced {
  parameters: Float64Array;
  transformation: Transformation;
  squaredNormBefore: number;
  squaredNorm: number;
  /**
   * Is that the least norm? Not where units have weights on one side alone, incoming or outgoing (they keep their factor), nor where all that
   * a part of the network gives goes through weights that are 0: the norm falls without an end as the weights that lead there are made small.
   */
  attained: boolean;
  /** How often it went through all factors. */
  sweeps: number;
  /** The largest change of a ln Λ in the last sweep. */
  change: number;
  /** Did that fall to 1e-12? */
  converged: boolean;
}

/** In PyTorch's conventions. */
export type Optimizer =
  | { type: "sgd"; learningRate: number; momentum?: number }
  | { type: "adam"; learningRate: number; beta1?: number; beta2?: number; epsilon?: number }
  /** Adam with decoupled weight decay. */
  | { type: "adam_w"; learningRate: number; beta1?: number; beta2?: number; epsilon?: number };

export interface Schedule {
  /** Steps over which the rate grows linearly; it decays by the epoch meanwhile, too. */
  warmUpSteps?: number;
  /** Factors on the rate, `minimum` too: a share of it, where PyTorch’s `eta_min` is a rate. Default constant. */
  decay?: { type: "constant" } | { type: "step"; every: number; factor: number } | { type: "exponential"; factor: number }
    | { type: "cosine"; epochs: number; minimum?: number } | { type: "linear"; epochs: number; minimum?: number };
}

export interface TrainOptions extends FinishOptions {
  /** Default Adam at 0.001. */
  optimizer?: Optimizer;
  /** Of the coordinates; fixed weights never feel it. Default 0. */
  weightDecay?: number;
  schedule?: Schedule;
  /** Default 64. */
  batchSize?: number;
  /** At most; default 10. */
  epochs?: number;
  /** Ends the run before: asked of all training samples after every epoch. An accuracy is of cross entropy alone. */
  target?: { loss: number } | { accuracy: number };
  seed?: number;
  /** Evaluated after each epoch; of the same loss as what is trained on. */
  validation?: Problem;
  /** Default the weights themselves. */
  space?: SpaceSpec;
  /** Goes on from here, with the same space, seed and batch size, to the same bits on the same device. */
  checkpoint?: Checkpoint;
  /**
   * Which parameters on the way to keep, the beginning and the end always: after `every` so many steps, or at most `count`, whenever
   * the run ends (the steps between two are then a power of two, which doubles where they would become more). At most 1024, and 256 MiB
   * together. They change nothing in the run.
   */
  snapshots?: { every: number } | { count: number };
}

/** The state of a run between two steps. Structured cloning (IndexedDB, postMessage) keeps it as it is. */
export interface Checkpoint {
  space: SpaceSpec["type"];
  /** What tells the space's own numbers, such as its fixed weights, from those of another. */
  chart: string;
  coordinates: Float64Array;
  /** Momentum or the mean gradient, and the mean squared gradient, where the optimiser has them. */
  mean?: Float64Array;
  square?: Float64Array;
  steps: number;
  batch: number;
  lossSum: number;
  accuracySum: number;
  history: TrainResult["history"];
  seed: number;
  batchSize: number;
  samples: number;
}

export interface TrainResult {
  parameters: Float64Array;
  /** In the space that was trained in. */
  coordinates: Float64Array;
  epochs: number;
  steps: number;
  /** Did `finish` end it early? */
  stopped: boolean;
  reachedTarget: boolean;
  history: { epoch: number; loss: number; accuracy: number; validationLoss?: number; validationAccuracy?: number }[];
  warning?: ScalingWarning;
  /** The state between two steps, to go on from. */
  checkpoint: Checkpoint;
  /** Where they were asked for. Of a run that goes on from a checkpoint: those from there on, at the steps of the whole run. */
  snapshots?: Snapshot[];
}

export interface PrincipalComponents {
  directions: Float64Array[];
  explained: number[];
}

/** The parameters at one step of a run. */
export interface Snapshot {
  /** Steps done. */
  step: number;
  /** Passes over the data so far, with the part of the one under way. */
  epoch: number;
  /** The mean loss, at these parameters, over the samples of the step that follows; at a run's end over as many others. */
  loss: number;
  /** θ, in whatever space the run is. */
  parameters: Float64Array;
}

/** An operator over all parameters. The Riemannian Gauss–Newton ones are D G D, never negative. */
export type WholeOperatorName = string; // The build writes the names of describeOperators().

export interface OperatorDescription {
  name: WholeOperatorName;
  /** Its name for people. */
  title: string;
  /** The metric that it is relative to; null for the weights as they are. */
  metric: "layerwise" | "nodewise" | null;
}
/**
 * All operators over all parameters, those of reports first.
 * @example
 * ```js
 * import { describeOperators } from "isoflat";
 *
 * const names = describeOperators().map(({ name }) => name);
 * console.log(names[0], names.includes("riemannian.layerwise_flat")); // hessian true
 * ```
 */
export function describeOperators(): OperatorDescription[];

/** The same on part of the parameters: all weights without the biases, or one W_l, layers counted from 1 as in the papers. */
export type OperatorName = WholeOperatorName | `${WholeOperatorName}.weights` | `${WholeOperatorName}.layer_${number}`;

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
  /** At least 1; default 1000. What was found may take a few more to be measured. */
  maxProducts?: number;
  seed?: number;
  vectors?: boolean;
  /**
   * The layer-wise Riemannian operators: over horizontal vectors alone, those without a part along a rescaling of layers, as in
   * Rangamani’s Definition 3, max of g(ξ, Hess f[ξ]) over ‖ξ‖_g = 1. `top` is the signed maximum, and with `bottom` or `power` the largest
   * magnitude is seen too; vertical vectors count as eigenvectors with eigenvalue 0. At a critical point nothing changes; elsewhere the
   * paper’s flat connection sees vertical vectors, and without this option so do the numbers. Default false.
   */
  horizontal?: boolean;
  /** Lanczos, `hessian` and `gauss_newton`: the curvature in this space's coordinates, Jᵀ H J + ∇L · ∇²θ. */
  space?: SpaceSpec;
}

export interface EigenResult {
  top: Eigenpair[];
  bottom: Eigenpair[];
  /** Products with the operator. */
  products: number;
  converged: boolean;
  /**
   * Lanczos: has a random vector in the complement of what was seen shown that nothing was missed (but for a chance of one in a
   * thousand)? Copies of multiple eigenvalues, and eigenvectors that the start lacked, are found this way. Of a single eigenvalue at
   * an end, copies would be the same number, and a random start is itself such a vector: then nothing more is computed, and this is
   * true once the iteration has settled.
   */
  verified?: boolean;
  /** Power iteration: ‖A u‖ after each step, its estimates of the largest magnitude on the way (Rangamani, Figure 1); they never fall. */
  norms?: Float64Array;
}

export interface DensityOptions extends RunOptions {
  /** Default `hessian`. */
  operator?: OperatorName;
  /** At least 2; default 10. */
  probes?: number;
  /** Lanczos steps for each; default 80. */
  steps?: number;
  /** Of the grid; default 512. */
  points?: number;
  /** Standard deviation of the Gaussian that each eigenvalue is broadened to; default a hundredth of the spectrum. */
  width?: number;
  seed?: number;
}

/** The density of a spectrum by stochastic Lanczos quadrature; exact, without error bands, for small networks. */
export interface SpectralDensity {
  grid: number[];
  /** Share of the eigenvalues per unit of λ: it integrates to 1. */
  density: number[];
  /** Standard error of each, over the probes. */
  densityError: number[];
  cumulative: number[];
  cumulativeError: number[];
  width: number;
  /** Means of λ, λ², λ³ and λ⁴. */
  moments: { order: number; value: number; standardError: number }[];
  /** The largest change of the density when the last quarter of the steps is left out. */
  quadratureError: number;
  /** The same of `cumulative`. */
  cumulativeQuadratureError: number;
  /** Number of eigenvalues. */
  dimension: number;
  probes: number;
  steps: number;
  seed: number;
  products: number;
}

export interface TraceOptions extends RunOptions {
  /** Default `hessian`. */
  operator?: OperatorName;
  /**
   * `auto` (default): exactly by the cotangent sweep where it gives the trace (every operator of a piecewise linear network), by
   * Hutch++ elsewhere. `hutchinson` and `hutch_plus_plus` estimate in any case.
   */
  method?: "auto" | "hutchinson" | "hutch_plus_plus";
  /** Products for an estimate, at least 4 of Hutch++ and 2 of Hutchinson's method; default 100. */
  probes?: number;
  seed?: number;
}

export interface TraceResult {
  value: number;
  /** Absent where the trace is exact. */
  standardError?: number;
  probes?: number;
  method: "sweep" | "hutchinson" | "hutch_plus_plus";
}

export interface DiagonalOptions extends RunOptions {
  /** Default `hessian`. */
  operator?: OperatorName;
  /** Products for an estimate, at least 2; default 100. As many as there are entries give them exactly, one by one. */
  probes?: number;
  seed?: number;
}

/** An operator's diagonal, entry by entry: how curved the loss is along each parameter by itself. */
export interface DiagonalResult {
  /** As long as the parameters, or as the operator's part of them. */
  values: Float64Array;
  /** Of each entry. Absent where the diagonal is exact. */
  standardErrors?: Float64Array;
  /** Random probes of an estimate. */
  probes?: number;
  /**
   * `sweep`: exactly by one backward pass for each output (every operator of a piecewise linear network, and the Gauss–Newton ones
   * of any). Elsewhere `products`, exactly by one product for each entry, or `probes`, estimated.
   */
  method: "sweep" | "products" | "probes";
}

export interface LeastTraceOptions extends RunOptions {
  /** What rescalings are tried: layer-wise or node-wise ones (default). Permutations move no trace: with them it is that of node-wise ones. */
  group?: "layerwise" | "nodewise" | "permutation";
  /** Are biases counted? Default true; without them it is the trace over the weights. */
  biases?: boolean;
}

/** The least trace that the Hessian, and so the Gauss–Newton matrix, has after any rescaling of the weights (Ibayashi et al. 2021). */
export interface LeastTrace {
  /** The infimum over the rescalings: the same at every point that rescaling can reach. */
  value: number;
  /** Has some rescaling this trace? If not, factors run away on the way there: `loose` has them, as `grows` and `shrinks`. */
  attained: boolean;
  /** The trace at the parameters. */
  before: number;
  /** The trace behind `transformation`: `value`, or where that is not attained, within a millionth of it (of `before`, where it is 0). */
  after: number;
  /** The rescaling that leads there, for `Network.transform`. */
  transformation: Transformation;
  /**
   * Neurons (of layer-wise rescalings, all that a layer writes) whose factor the infimum does not say, by the layer with parameters that is
   * the first to write them, counted from 1, and its unit or channel, from 0. `any`: nothing depends on it, as on that of a unit that is 0
   * at every sample.
   */
  loose: { layer: number; unit?: number; tendency: "grows" | "shrinks" | "any" }[];
  /** Steps of Newton's method. */
  iterations: number;
  /** How far `value` may be too large. */
  error: number;
  converged: boolean;
}

/** Petzka's Table 1, layer by layer and neuron by neuron. */
export interface PetzkaReport {
  /** ‖W_l‖² λ_max(H_l). */
  kappa: Eigenpair[];
  /** ‖W_l‖² Tr H_l. */
  kappaTrace: number[];
  /** ρ_l(j) of every unit or channel j that comes into layer l. */
  rho: Float64Array[];
  /** Σ ⟨w_s, w_s'⟩ Tr H_(s, s') over the pairs of a layer's rows (Petzka et al. 2021), of a convolution its channels; of several groups, pairs within a group. */
  relativeFlatness: number[];
  /** Standard errors, where cotangents were drawn and not all taken. */
  errors?: { kappaTrace: number[]; rho: Float64Array[]; relativeFlatness: number[] };
  backend: BackendInfo;
}

export interface PetzkaOptions extends RunOptions {
  /**
   * Random cotangents instead of one for each class: for networks of very many outputs. At least 2; of fewer than ten the errors are rough
   * guesses themselves (draws that are alike by chance have an error of 0).
   */
  draws?: number;
  /** Of κ's eigenvalues. */
  tolerance?: number;
  /** At least 1; default 1000. */
  maxProducts?: number;
  seed?: number;
}

/** Where the loss is searched for its highest point. */
export type Region =
  /** ‖Δ‖₂ ≤ ε. */
  | { type: "ball" }
  /** |Δ_i| ≤ ε (|θ_i| + 1). */
  | { type: "box" }
  /** ‖Δ‖_∞ ≤ ε. */
  | { type: "cube" }
  /** The ball, or Keskar's box, within a random subspace. */
  | { type: "subspace"; dimension: number }
  | { type: "subspace_box"; dimension: number }
  /**
   * ‖ξ‖_g ≤ ε in Rangamani's metrics. Node-wise it is the region of Kwon et al.'s adaptive sharpness by elements, in the Euclidean norm, with ρ
   * for ε and biases taken as weights are.
   */
  | { type: "riemannian_layerwise" }
  | { type: "riemannian_nodewise" };

export interface SharpnessOptions extends RunOptions {
  /** Default the ball. */
  region?: Region;
  /** Default 1e-3. */
  epsilon?: number;
  /**
   * Ascents beside those along ± the top eigenvector and the gradient: the first two from gradients of random halves of the samples, the
   * others from random directions; default 4.
   */
  restarts?: number;
  /** Most steps of one ascent; default 200. */
  maxIterations?: number;
  /**
   * What a step within the region may gain still, as a share of the rise; default 1e-3, and on to 1e-6 in f64 where that takes few steps.
   * Along a ridge, where ReLUs flip, an ascent ends where ten gradients gain less than a tenth of it.
   */
  tolerance?: number;
  seed?: number;
}

/** One ascent. */
export interface SharpnessStart {
  /** Where it began: at the ball's end along the top eigenvector or against it, along the gradient, at random, or where a construction says. */
  kind: "eigenvector" | "minus_eigenvector" | "gradient" | "random" | "given";
  value: number;
  /** Gradients it took. */
  iterations: number;
  /**
   * Why it ended: the gap is within the tolerance, no step rises any more, steps along a ridge, where ReLUs flip, rise by next to nothing,
   * the steps are used up, or another is higher than it would come to.
   */
  stop: "stationary" | "stalled" | "creeping" | "limit" | "surpassed";
}

/**
 * ε-sharpness by projected ascent: the highest point that any ascent has found, and so no more than what the region holds. In regions that are
 * large for the network, cubes and boxes above all, there may be higher ones, which more `restarts` find.
 */
export interface Sharpness {
  region: Region;
  epsilon: number;
  /** (max L − L) / (1 + L). */
  value: number;
  /** max L − L. */
  rise: number;
  loss: number;
  /** The second-order approximation, of balls in all parameters and of Riemannian ones. */
  quadratic?: number;
  /** What could be gained still, to first order, over 1 + L as `value` is. */
  gap: number;
  error: number;
  /**
   * Has the ascent to the highest point come to its end: a summit within the tolerance, or, `stalled` or `creeping`, a place where no step
   * that it tries rises any more, or by next to nothing? At the latter, a kink where ReLUs flip, `gap` may remain, and other directions may rise by some percents still. That
   * there is no higher summit, nothing says.
   */
  converged: boolean;
  iterations: number;
  starts: SharpnessStart[];
  /** Largest less smallest `value` over the ascents, those that were left before their summits too. */
  spread: number;
  precision: "f32" | "f64";
  /** Was the engine's precision too coarse for the difference of losses, so that the CPU took over in f64? */
  fellBack: boolean;
  /** How much the loss (and so `rise`) changes when θ is rounded another way. */
  resolution: number;
  /** Is the rise more than rounding, to three digits? */
  resolved: boolean;
  /** The Δ of the highest point found. */
  delta: Float64Array;
}

export interface AverageSharpnessOptions extends RunOptions {
  /** `scaled`: noise in proportion to each weight, which no rescaling changes. Default `plain`. */
  noise?: "plain" | "scaled";
  /** Default 0.01, scaled 0.05. */
  sigma?: number;
  /** Pairs ±z; default 50. */
  pairs?: number;
  seed?: number;
}

export interface AverageSharpness {
  value: number;
  standardError: number;
  pairs: number;
  sigma: number;
  noise: "plain" | "scaled";
  precision: "f32" | "f64";
  /** Was the engine's precision too coarse, so that the CPU took over in f64? */
  fellBack: boolean;
  /** How much the loss changes when θ is rounded another way. */
  resolution: number;
  /** Is the mean more than rounding, to three digits? */
  resolved: boolean;
}

export interface FeatureOptions extends RunOptions {
  /** Which of the layers with parameters, counted from 1: its inputs are perturbed. */
  layer: number;
  /** φ becomes φ + δ A φ. */
  delta: number;
  /** Random orthogonal matrices A to average over (at least 2; noise injection), default 10. */
  draws?: number;
  seed?: number;
}

export interface FeatureRobustnessOptions extends RunOptions {
  /** Which of the layers with parameters, counted from 1: its inputs are changed. */
  layer: number;
  /** φ becomes φ + δ A φ. */
  delta: number;
  /**
   * A, row by row: m × m numbers for m units that enter the layer (channels before a convolution, or behind a flatten). Without it a
   * uniformly random orthogonal one is drawn.
   */
  matrix?: Float64Array | Float32Array | readonly number[];
  /** Of the matrix that is drawn. */
  seed?: number;
}

/** The rise of the loss with φ + δ A φ in place of φ, the inputs of one layer, for one matrix A. */
export interface FeatureRobustness {
  layer: number;
  delta: number;
  value: number;
  /** What the gradient alone makes of it: 0 at a minimum. */
  firstOrder: number;
  /** (δ²/2) ‖A‖² κ: at a minimum, to second order, the value is no larger. */
  bound: number;
  matrixNorm: number;
  kappa: Eigenpair;
  precision: "f32" | "f64";
  /** Was the engine's precision too coarse for the difference, so that the CPU took over in f64? */
  fellBack: boolean;
  /** How much the loss changes when θ is rounded another way. */
  resolution: number;
  /** Is the value more than rounding, to three digits? */
  resolved: boolean;
}

/** After Petzka, Appendix D, which has ‖A‖ ≤ 1: the mean over orthogonal A of the loss with φ + δ A φ, minus the loss, and the bound (δ²/2) κ. */
export interface NoiseInjection {
  layer: number;
  delta: number;
  value: number;
  standardError: number;
  bound: number;
  /** The mean to second order, of dense layers that are not behind a flattened image. */
  secondOrder?: number;
  /** One a matrix, of the first thousand. */
  draws: FeatureRobustness[];
}

// --- Dinh's constructions ---------------------------------------------------------------------------------------

/** What the outputs did. */
export interface OutputChange {
  /** Largest change of an output. */
  largest: number;
  /** The same over the largest output. */
  relative: number;
  /** Are all outputs the same to the last bit? */
  bitwise: boolean;
}

export interface SpectrumEnds {
  max: Eigenpair;
  min: Eigenpair;
  norm: number;
  products: number;
  converged: boolean;
}

export interface SharpenOptions extends RunOptions {
  /** M: the spectral norm to reach. */
  target: number;
  /** Which of the layers with parameters to shrink, counted from 1; default the one that takes the least. */
  layer?: number;
  /** α as a power of two: no output changes in a single bit. */
  powersOfTwo?: boolean;
  /** Of the spectra's ends, relative to the spectral norm; default from the precision. */
  tolerance?: number;
  /** For each spectrum, at least 1; default 1000. */
  maxProducts?: number;
}

/** Theorem 4: the same function with a Hessian as large as one likes. */
export interface Sharpened {
  target: number;
  alpha: number;
  layer: number;
  compensatingLayer: number;
  transformation: Transformation;
  block: Eigenpair;
  guaranteed: number;
  before: SpectrumEnds;
  /** Of diag(α⁻¹, α) H diag(α⁻¹, α). */
  predicted: SpectrumEnds;
  measured: SpectrumEnds;
  relativeDifference: number;
  /** Is the measured norm at least M, and has its eigenvalue converged? */
  reached: boolean;
  outputs: OutputChange;
  lossBefore: number;
  lossAfter: number;
  parameters: Float64Array;
}

export interface VolumeOptions extends RunOptions {
  /** The loss in the boxes stays below L(θ) + ε; default 0.1. */
  epsilon?: number;
  /**
   * r′, at most half of the largest weight that the boxes are disjoint along (`largestWeight`); default the largest at which neither samples
   * nor ascents within the box find L(θ) + ε.
   */
  radius?: number;
  boxes?: number;
  samples?: number;
  seed?: number;
  /** θ itself, or (v, s) of weight normalisation, w = s v/‖v‖, whose v → αv carries boxes to larger ones (section 5.1). */
  coordinates?: "parameters" | "weight_normalization";
}

/**
 * Theorem 2: disjoint boxes T_α^k B of the same loss, α = 2 (‖θ_1‖_∞ + r′) / (‖θ_1‖_∞ − r′), whose volumes add up to infinity. Volumes are natural
 * logarithms. That B lies where the loss is below L(θ) + ε is searched for counterexamples, not proven, so that r′ may be too large, and no sum
 * of volumes is a proven lower bound.
 */
export interface VolumeFlatness {
  epsilon: number;
  radius: number;
  /** Was r′ searched for, rather than given? */
  radiusFound: boolean;
  /** ‖θ_1‖_∞, and the coordinate of θ_1 that has it: the boxes are disjoint along that one. */
  largestWeight: number;
  separatingCoordinate: number;
  alpha: number;
  /** Do the boxes go the other way, since T_α would shrink volumes? */
  inverted: boolean;
  /** What a box's log-volume grows by. */
  logDeterminant: number;
  loss: number;
  /** Largest L(θ′) − L(θ) over the samples of the first box. */
  sampledRise: number;
  /** The ascents within it; none where its losses overflow. */
  ascent?: Omit<Sharpness, "delta">;
  /** The larger of the two rises. */
  largestRise: number;
  /** Is it below ε? Then the search has met nothing to the contrary, which is no proof. */
  inside: boolean;
  /** Have the boxes' intervals, measured on moved points, no point in common? */
  disjoint: boolean;
  /** `interval`: what a box covers of the separating coordinate's magnitude. */
  boxes: { power: number; interval: [number, number]; logVolume: number; totalLogVolume: number; largestDifference: number }[];
  samples: number;
}

/** Theorem 5: many eigenvalues above M at once. Small networks: whole spectra are computed. */
export interface ManyEigenvalues {
  target: number;
  beta: number;
  /** The layer of fewest weights, which grows while the others shrink, and how many it has. */
  smallestLayer: number;
  smallestSize: number;
  /** Parameters that do not shrink by 1/β at least, biases included. */
  heldBack: number;
  rank: number;
  /** λ_r, the smallest eigenvalue that does not count as 0, and up to what size they do. */
  smallestPositive: number;
  rankThreshold: number;
  /** rank − heldBack, or 0. */
  promised: number;
  /** How many exceed M afterwards: by the signs of H − M I, since small ones of `spectrumAfter` are rounding. */
  measured: number;
  before: number;
  holds: boolean;
  spectrumBefore: number[];
  spectrumAfter: number[];
  /** Up to this size numbers of `spectrumAfter` are rounding. */
  rounding: number;
  outputs: OutputChange;
  transformation: Transformation;
  parameters: Float64Array;
}

/** Section 4.3: a ball of radius ε that holds a constant function, or Keskar's box in the full space, or a cube. */
export interface ConstantInBall {
  region: { type: "ball" } | { type: "box" } | { type: "cube" };
  epsilon: number;
  alpha: number;
  distance: number;
  loss: number;
  constantLoss: number;
  /** The least loss of a constant function on these targets. */
  bestConstantLoss: number;
  /** The sharpness is no less, which says something where they are positive: by the constant function in the ball, and by the best one, the paper's bound. */
  guaranteed: number;
  least: number;
  before: Omit<Sharpness, "delta">;
  measured: Omit<Sharpness, "delta">;
  holds: boolean;
  outputs: OutputChange;
  transformation: Transformation;
  parameters: Float64Array;
}

export interface NormalizedSharpnessOptions extends RunOptions {
  /** Factors of v, none of them 0. */
  alphas: readonly number[];
  /** Radius of the ball ‖Δη‖₂ ≤ ε; default 1e-3. */
  epsilon?: number;
  /** As those of `sharpness`; default 4. */
  restarts?: number;
  maxIterations?: number;
  seed?: number;
}

/** Section 5.1: ε-sharpness in (v, s) of weight normalisation after v → αv, by ascent. */
export interface NormalizedSharpness {
  alpha: number;
  /** Where v alone moves: that at α = 1 for ε/α. */
  directions: Omit<Sharpness, "delta">;
  /** Where s and the biases move too. */
  whole: Omit<Sharpness, "delta">;
  /** Against the outputs at α = 1. */
  outputs: OutputChange;
}

/** Coordinates η of the parameters. */
export type Reparametrization =
  /**
   * Appendix A: η = θ̂ + ψ(r) (θ − θ̂)/r with r = ‖θ − θ̂‖ and ψ piecewise linear through ψ(0) = 0, ψ(`inner`) = ρ and ψ(δ) = δ. Default center θ̂: the
   * parameters themselves.
   */
  | { type: "radial"; center?: Float64Array | readonly number[]; delta: number; inner: number; rho: number }
  /** Section 5.1: rows w = s v/‖v‖, with v = αw; default α: 1. */
  | { type: "weight_normalization"; alpha?: number };

/** Section 5.1: ∇²L_η = (∇g)ᵀ ∇²L (∇g) + Σ_k ∂_k L ∇²g_k for θ = g(η). Up to 2048 coordinates. */
export interface ReparametrizedHessian {
  dimension: number;
  loss: number;
  /** ‖∇L‖₂ in θ and in η: 0 at a critical point. */
  gradientNorm: number;
  gradientNormEta: number;
  /** Eigenvalues of the first term, the paper's at a critical point, and of both, ascending. */
  transformed: number[];
  full: number[];
  /** Spectral norm of the second term, and over that of the whole. */
  termNorm: number;
  relativeTerm: number;
  /** η. */
  coordinates: Float64Array;
}

/** Lengths of every sample's gradient by x and by u, their means, and the smallest and largest ratio. */
export interface GradientNorms {
  before: number[];
  after: number[];
  meanBefore: number;
  meanAfter: number;
  /** None where all of the first are 0. */
  ratios?: [number, number];
}

/** Section 5.2: the same function of inputs u with x = ξ(u). */
export interface InputRepresentation {
  /** ‖∂ℓ/∂x‖₂ of the loss: 0 at interpolation. */
  lossGradients: GradientNorms;
  /** ‖∂f/∂x‖_F of the prediction function, which are the paper's. */
  predictionGradients: GradientNorms;
  /** Largest difference of a gradient by u from (∂ξ/∂u)ᵀ that by x, over the largest of all these gradients. */
  chainRuleError: number;
  outputs: OutputChange;
  /** The network of u, into whose first layer ξ is folded; none for gaussianisation, which no weights can take. */
  network?: NetworkJSON;
  /** Its parameters, or those that were given. */
  parameters: Float64Array;
  /** u of every sample. */
  inputs: Float64Array;
}

/** A point of a loss in one dimension, in both coordinates. */
export interface PowerPoint {
  theta: number;
  eta: number;
  loss: number;
  /** dL/dη and d²L/dη²; none where the map is singular (b = 0 at θ̂). */
  slope?: number;
  curvature?: number;
}

/**
 * Dinh et al. 2017, Figure 5: η = (|θ − θ̂|² + b)^a (θ − θ̂), with b ≥ 0 and a > −½, and what it makes of a loss whose points are [θ, L, L′, L″].
 * @example
 * ```js
 * import { powerMap } from "isoflat";
 *
 * // A minimum at 0 with L″ = 4: the map's slope there is b^a, a tenth.
 * const [{ curvature }] = powerMap({ center: 0, a: 0.5, b: 0.01, points: [[0, 0, 0, 4]] });
 * console.log(curvature.toFixed(6)); // 400.000000
 * ```
 */
export function powerMap(options: {
  /** θ̂; default 0. */
  center?: number;
  a: number;
  b: number;
  points: readonly (readonly [theta: number, loss: number, slope: number, curvature: number])[];
}): PowerPoint[];

/** A measure of one number, by its key. */
export type MeasureKey = string; // The build writes the keys of describeMeasures().

export interface MeasureValue {
  key: MeasureKey;
  value: number;
  /** An eigenvalue's residual ‖A v − λ v‖. */
  residual?: number;
  /** Products it took. */
  iterations?: number;
  /** Of a mean over random draws, such as a trace or norm from random probes. */
  standardError?: number;
  /** What gave the number, where it may not have been the engine's own precision. */
  precision?: "f32" | "f64";
  /** Is it within the tolerance: an eigenvalue by its residual, or by the residual's square over the distance to the next? */
  converged: boolean;
}

export interface MeasureOptions extends RunOptions {
  /** Default: all that are defined for the network (Petzka's need a piecewise linear one). */
  measures?: readonly MeasureKey[];
  /** ε of `epsilon_sharpness_quadratic`; default 1e-3. */
  epsilon?: number;
  /**
   * Products by which Hutch++ estimates Frobenius norms, and traces of networks that are not piecewise linear; at least 4, default 100, as few
   * as a sixth of them for an operator whose eigenvalues are asked for too. Up to 1024 parameters spectra are computed whole, and both are
   * exact.
   */
  probes?: number;
  tolerance?: number;
  /** At least 1; default 1000. */
  maxProducts?: number;
  seed?: number;
}

export interface MeasureReport {
  values: MeasureValue[];
  backend: BackendInfo;
  parameterCount: number;
  samples: number;
}

/**
 * What measures are about: `point` (loss, gradient), `curvature` and `sharpness` in the weights as they are, rises under `noise`, lengths,
 * curvature and sharpness relative to the weights (`riemannian`), curvature of a layer times its size (`petzka`), the least that
 * rescaling can make of the curvature, or of it and the weights' size (`orbit`), sizes of the network (`norms`).
 */
export type MeasureFamily = "point" | "curvature" | "sharpness" | "noise" | "riemannian" | "petzka" | "orbit" | "norms";

/**
 * What a measure takes, about, the least first: a `pass` or two over the data; a `sweep` of backward passes, one for each output, for all such
 * measures together; tens of products for `eigenvalues`, for all measures of one operator; products with random `probes`; a `search` of
 * hundreds of losses and gradients. Traces of networks that are not piecewise linear take probes.
 */
export type MeasureCost = "pass" | "sweep" | "eigenvalues" | "probes" | "search";

export interface MeasureDescription {
  key: MeasureKey;
  /** Its name for people. */
  title: string;
  /** Where it comes from. */
  paper: string;
  /** One sentence. */
  description: string;
  family: MeasureFamily;
  cost: MeasureCost;
  /** The networks that have it: all, those of piecewise linear activations, or those of dense layers and positively homogeneous activations. */
  definedFor: "any" | "piecewise_linear" | "dense";
  /** Should it stand still under this kind of map, by the papers’ theory? */
  invariant: { layerwise: boolean; nodewise: boolean; permutation: boolean };
}
/**
 * All measures with their meaning, family by family: the order in which they are computed by default.
 * @example
 * ```js
 * import { describeMeasures } from "isoflat";
 *
 * const invariant = describeMeasures().filter(({ invariant }) => invariant.nodewise);
 * console.log(invariant.some(({ key }) => key === "riemannian.nodewise_flat.spectral_norm")); // true
 * console.log(invariant.some(({ key }) => key === "hessian.spectral_norm")); // false
 * ```
 */
export function describeMeasures(): MeasureDescription[];

export interface InvarianceCell {
  measure: MeasureKey | "outputs";
  /** Index into `transformations`. */
  transformation: number;
  /** NaN where there is no finite number. */
  before: number;
  after: number;
  /** |after − before| / |before|, and / |after| where that is 0. NaN where one of them is no finite number. */
  relativeChange: number;
  expected: "invariant" | "changes";
  /**
   * `invariant`: within tolerance. `changed`: beyond it. `unresolved`: nothing can be said, and `reason` says why: an estimate did
   * not converge, a number is not finite, or units lie within rounding of their kink.
   */
  verdict: "invariant" | "changed" | "unresolved";
  /** Does nothing speak against theory? `false` alone where what should stand still has changed. */
  agrees: boolean;
  tolerance: number;
  /** Why this tolerance, or why nothing can be said. */
  reason: string;
  /** Units within rounding of 0 (or of 6 before a ReLU6) at some sample, and pools whose maximum is of another; where they were counted. */
  kinks?: number;
}

export interface InvarianceOptions extends MeasureOptions {
  transformations: readonly Transformation[];
  /** Residual of eigenvalues relative to the norm; default 1e-6 in f64, 2e-5 in f32. */
  tolerance?: number;
}

export interface InvarianceTable {
  transformations: Transformation[];
  /** Measure-major. */
  cells: InvarianceCell[];
  backend: BackendInfo;
}

/** Parts of a report, in the order in which they are computed: what is quick, and what others share, first. */
export type ReportSection =
  | "point" | "norms" | "petzka" | "orbit" | "gauss_newton" | "hessian" | "riemannian" | "density" | "sharpness" | "spaces";

export interface ReportOptions extends Omit<MeasureOptions, "measures">, FinishOptions {
  /** Default: all that are defined for the network. */
  sections?: readonly ReportSection[];
}

/** One operator's spectrum in a report. Of up to 1024 parameters it is exact, of more its ends are, and norms are estimated. */
export interface ReportSpectrum {
  maxEigenvalue: number;
  maxEigenvalueResidual: number;
  minEigenvalue: number;
  minEigenvalueResidual: number;
  spectralNorm: number;
  /** Descending. */
  topEigenvalues: number[];
  /** Of the Hessian of a small network: all of them, ascending. */
  eigenvalues?: number[];
  trace: number;
  frobeniusNorm: number;
  products: number;
  /** These are of larger networks: what says how far to trust the numbers. */
  topResiduals?: number[];
  converged?: boolean;
  verified?: boolean;
  /** Where the trace is estimated. */
  traceStandardError?: number;
  traceProducts?: number;
  frobeniusNormStandardError?: number;
}

type ReportMetric = "layerwise" | "nodewise";

/**
 * The values of a report; those of a section that was not asked for, not finished or is not defined are absent. Keys are those of report
 * files (`isoflat report --json`) in camel case. So are those of most measures: `hessian.spectral_norm` is `values.hessian.spectralNorm`.
 * Measures of sharpness are searches under `sharpness`, with their numbers in `value` and `quadratic`, and a sum that has no key of its
 * own, `petzka.relative_flatness_sum`, is that of a list that has no null.
 */
export interface ReportValues {
  loss?: number;
  gradientNorm?: number;
  fisherRaoNorm?: number;
  /** Of networks of dense layers. */
  pathNormSquared?: number;
  /** Lists have an entry a layer. */
  petzka?: {
    kappa: number[];
    kappaMax: number;
    kappaSum: number;
    kappaTrace: number[];
    kappaTraceMax: number;
    kappaTraceSum: number;
    rho: number[][];
    rhoMaxPerLayer: number[];
    rhoSumPerLayer: number[];
    rhoMax: number;
    rhoSum: number;
    /** Of dense layers, as Petzka et al. 2021 have it; null for convolutions, which `petzka` and the measure's sum have too, row by channel. */
    relativeFlatness: (number | null)[];
  };
  /** The least traces of the Hessian over layer-wise and over node-wise rescalings, and whether some rescaling has them. */
  leastTrace?: { [key in ReportMetric]: number } & { [key in `${ReportMetric}Attained`]: boolean };
  /** The least of curvature and size of all layers' weights together, whatever factors their rows and columns have. */
  normalizedSharpness?: number;
  gaussNewton?: ReportSpectrum;
  hessian?: ReportSpectrum;
  riemannian?: { [key in `${ReportMetric}${"Flat" | "LeviCivita"}`]: ReportSpectrum }
    & { [key in `${ReportMetric}GradientNorm`]: number };
  density?: { hessian: SpectralDensity };
  sharpness?: {
    epsilonSharpness: Omit<Sharpness, "delta">;
    epsilonSharpnessBox: Omit<Sharpness, "delta">;
    riemannianSharpnessLayerwise: Omit<Sharpness, "delta">;
    riemannianSharpnessNodewise: Omit<Sharpness, "delta">;
    averageSharpness: AverageSharpness;
    averageSharpnessScaled: AverageSharpness;
  };
  /** With the diagonal choice of fixed weights. */
  spaces?: {
    /** 1 for each parameter that is free, 0 for each that is fixed. */
    free: number[];
    weightFixing: { gradient: number[]; parametersReparametrized?: number[] };
    gSpace?: {
      dimensionWithoutBiases: number;
      values: number[];
      gradient: number[];
      learningRate: number;
      parametersAfterOneSgdStep?: number[];
      lossAfterOneSgdStep?: number;
    };
  };
}

/** What was finished, by section. */
export interface Report {
  /** Did `finish` end it early? What was finished until then is here. */
  stopped: boolean;
  sections: { section: ReportSection; seconds: number; finished: boolean }[];
  values: ReportValues;
}

export type DirectionSpec =
  | { type: "random"; seed: number }
  /** Eigenvector `index` (0 is the largest; −1 the most negative) of the operator, default `hessian`. */
  | { type: "eigenvector"; operator?: OperatorName; index: number }
  /** Towards other parameters: s = 1 is there. */
  | { type: "towards"; parameters: Float64Array | Float32Array }
  | { type: "vector"; values: Float64Array | Float32Array }
  /** Principal component `component` (0 explains most) of `trajectory`, of length 1; the components are orthonormal. */
  | { type: "principal"; component: number };

export interface LandscapeOptions extends RunOptions {
  /** One direction gives a line, two a grid. */
  directions: readonly [DirectionSpec] | readonly [DirectionSpec, DirectionSpec];
  /**
   * Lengths of random directions and eigenvectors. `none` (default): 1 over all parameters. `layer`: each W_l and b_l as
   * long as the parameters'. `filter`: each row of W_l as long as the parameters' row, biases not moved (Li et al. 2018).
   * A part of an eigenvector that is within its error, such as the row of a unit that is 0 at every sample, is not moved.
   */
  normalization?: "none" | "layer" | "filter";
  /**
   * The way of a training, to be drawn along any directions: its snapshots' parameters in order, 2 to 1024. `principal` directions are
   * those of [θ_0 − θ_n, …, θ_{n−1} − θ_n, 0] (Li et al. 2018, section 7), about their mean.
   */
  trajectory?: readonly (Float64Array | Float32Array)[];
  /** Ends of s (and of t); default [−1, 1], or what has all of the trajectory inside. */
  range?: readonly [number, number];
  /** Of t alone, where there are two directions; default as `range`. */
  rangeT?: readonly [number, number];
  /** Points along s (and t); default 21. */
  points?: number;
  /** Along t alone, where there are two directions; default as `points`. */
  pointsT?: number;
  /**
   * Of a grid: the row of t to begin with, where those before it are there already, as `onProgress` has given them; default 0. `t`, losses and
   * accuracies are those of the other rows, to the last bit as in the whole.
   */
  firstRow?: number;
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
  /** Points whose loss is not finite: they stay in the map, as NaN or Infinity. */
  notFinite: number;
  /** Where the trajectory runs, projected onto the line or plane: s_i and t_i of the nearest point to snapshot i. */
  path?: {
    s: Float64Array;
    /** Empty for a line. */
    t: Float64Array;
    /** The share of the snapshots' variance along each direction alone. */
    explained: number[];
    /** The share of it in the line or plane; of directions at right angles the sum of `explained`. */
    share: number;
  };
  backend: BackendInfo;
}

/** Computes on one device. Calls on one engine run one after the other, in the order they were made. */
export class Engine {
  private constructor();
  /**
   * An engine on the device that is asked for; without a hardware GPU, on the CPU.
   * @example
   * ```js
   * using quick = await Engine.create({ backend: "cpu", precision: "f32" });
   * console.log(quick.info.backend, quick.info.precision); // cpu f32
   * quick.free();
   * ```
   */
  static create(options?: EngineOptions & { signal?: AbortSignal }): Promise<Engine>;
  readonly info: BackendInfo;
  /**
   * Seconds and bytes that work on this problem will take.
   * @example
   * ```js
   * const { gradientSeconds, productSeconds, pointBytes } = await engine.estimate(problem, parameters);
   * console.log(gradientSeconds < 1, productSeconds < 1, pointBytes > 0); // true true true
   * ```
   */
  estimate(problem: Problem, parameters: Float64Array | Float32Array, options?: RunOptions): Promise<Estimate>;
  /**
   * Loss, and accuracy (0 for squared error).
   * @example
   * ```js
   * const { loss, accuracy } = await engine.evaluate(problem, parameters);
   * console.log(loss.toFixed(3), accuracy.toFixed(3)); // 0.020 1.000
   * ```
   */
  evaluate(problem: Problem, parameters: Float64Array | Float32Array, options?: RunOptions): Promise<{ loss: number; accuracy: number }>;
  /**
   * samples × outputLength.
   * @example
   * ```js
   * const outputs = await engine.outputs(problem, parameters);
   * console.log(outputs.length === problem.samples * network.outputLength); // true
   * ```
   */
  outputs(problem: Problem, parameters: Float64Array | Float32Array, options?: RunOptions): Promise<Float64Array>;
  /**
   * ∇L, as long as the parameters.
   * @example
   * ```js
   * const gradient = await engine.gradient(problem, parameters);
   * console.log(Math.hypot(...gradient).toPrecision(2)); // 0.017
   * ```
   */
  gradient(problem: Problem, parameters: Float64Array | Float32Array, options?: RunOptions): Promise<Float64Array>;
  /**
   * One or several directions, one after the other in `directions`; as many products. Directions and products of an operator's part
   * (`hessian.layer_2`, `gauss_newton.weights`) have that part's parameters, in the order of the parameters, as its eigenvectors do.
   * @example
   * ```js
   * const v = network.initialize({ seed: 5 });
   * const Hv = await engine.product(problem, parameters, v);
   * const Gv = await engine.product(problem, parameters, v, { operator: "gauss_newton" });
   * const inner = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
   * console.log(inner(v, Hv).toFixed(2), inner(v, Gv).toFixed(2)); // 0.86 0.85
   * ```
   */
  product(problem: Problem, parameters: Float64Array | Float32Array, directions: Float64Array | Float32Array,
    options?: RunOptions & { operator?: OperatorName }): Promise<Float64Array>;
  /**
   * Trains from these parameters, in the weights or in another space; a checkpoint goes on to the same bits.
   * @example
   * ```js
   * const trained = await engine.train(problem, start, {
   *   optimizer: { type: "adam", learningRate: 0.02 },
   *   batchSize: 10,
   *   epochs: 50,
   *   seed: 1,
   * });
   * const { history, checkpoint } = trained;
   * console.log(history.length, history.at(-1).loss < history[0].loss); // 50 true
   * // Ten epochs more, to the bits of a run of sixty.
   * const more = await engine.train(problem, start, {
   *   optimizer: { type: "adam", learningRate: 0.02 },
   *   batchSize: 10,
   *   epochs: 60,
   *   seed: 1,
   *   checkpoint,
   * });
   * console.log(more.epochs); // 60
   * ```
   */
  train(problem: Problem, parameters: Float64Array | Float32Array, options?: TrainOptions): Promise<TrainResult>;
  /**
   * Several runs, an epoch of each in turn; one that diverges leaves the others going and has `error` instead.
   * @example
   * ```js
   * const options = { epochs: 20, batchSize: 10 };
   * const runs = [0.01, 0.1, 1e300].map((learningRate) => ({
   *   parameters: start,
   *   options: { ...options, optimizer: { type: "sgd", learningRate } },
   * }));
   * const results = await engine.trainSideBySide(problem, runs);
   * console.log(results.map((result) => (result.error ? result.error.code : `${result.epochs} epochs`))); // [ '20 epochs', '20 epochs', 'not_finite' ]
   * ```
   */
  trainSideBySide(problem: Problem, runs: { parameters: Float64Array | Float32Array; options?: Omit<TrainOptions, "validation" | "checkpoint" | keyof FinishOptions> }[],
    options?: FinishOptions & { validation?: Problem }): Promise<((TrainResult & { error?: undefined }) | { error: IsoflatError })[]>;
  /**
   * The largest and smallest eigenvalues of an operator, with residuals.
   * @example
   * ```js
   * const { top, verified } = await engine.eigenvalues(problem, parameters, { top: 3 });
   * console.log(top.map(({ value }) => value.toPrecision(3)), verified); // [ '1.05', '0.563', '0.271' ] true
   * // Relative to the weights, which no rescaling of layers changes:
   * const operator = "riemannian.layerwise_flat";
   * const riemannian = await engine.eigenvalues(problem, parameters, { operator });
   * console.log(riemannian.top[0].value.toPrecision(3)); // 74.8
   * ```
   */
  eigenvalues(problem: Problem, parameters: Float64Array | Float32Array, options?: EigenOptions): Promise<EigenResult>;
  /**
   * Measures of one number each, by their keys.
   * @example
   * ```js
   * const { values } = await engine.measure(problem, parameters, {
   *   measures: ["hessian.spectral_norm", "riemannian.nodewise_flat.spectral_norm"],
   * });
   * console.log(values.map(({ value, converged }) => `${value.toPrecision(3)} ${converged}`)); // [ '1.05 true', '1.39 true' ]
   * ```
   */
  measure(problem: Problem, parameters: Float64Array | Float32Array, options?: MeasureOptions): Promise<MeasureReport>;
  /**
   * Measures before and after transformations, each with a verdict, a tolerance and its reason.
   * @example
   * ```js
   * const { cells } = await engine.invariance(problem, parameters, {
   *   measures: ["hessian.spectral_norm", "riemannian.layerwise_flat.spectral_norm"],
   *   transformations: [{ type: "layerwise", lambda: [100, 0.01] }],
   * });
   * console.log(cells.map(({ verdict }) => verdict)); // [ 'invariant', 'changed', 'invariant' ]
   * console.log(cells.every(({ agrees }) => agrees)); // true
   * ```
   */
  invariance(problem: Problem, parameters: Float64Array | Float32Array, options: InvarianceOptions): Promise<InvarianceTable>;
  /**
   * The loss along a line or over a plane through these parameters.
   * @example
   * ```js
   * const { loss, s, t, center } = await engine.landscape(problem, parameters, {
   *   directions: [
   *     { type: "eigenvector", index: 0 },
   *     { type: "random", seed: 1 },
   *   ],
   *   normalization: "filter",
   *   range: [-1, 1],
   *   points: 11,
   * });
   * console.log(s.length, t.length, loss.length, loss[60] === center); // 11 11 121 true
   * ```
   */
  landscape(problem: Problem, parameters: Float64Array | Float32Array, options: LandscapeOptions): Promise<Landscape>;
  /**
   * How an operator’s eigenvalues are distributed.
   * @example
   * ```js
   * const { grid, density, moments } = await engine.density(problem, parameters);
   * const mean = moments[0].value * network.parameterCount;
   * const { value } = await engine.trace(problem, parameters);
   * console.log(grid.length === density.length, Math.abs(mean - value) < 1e-9 * value); // true true
   * ```
   */
  density(problem: Problem, parameters: Float64Array | Float32Array, options?: DensityOptions): Promise<SpectralDensity>;
  /**
   * The sum of an operator’s diagonal.
   * @example
   * ```js
   * const exact = await engine.trace(problem, parameters);
   * const estimate = await engine.trace(problem, parameters, { method: "hutch_plus_plus", probes: 60, seed: 1 });
   * console.log(exact.method, Math.abs(estimate.value - exact.value) <= 4 * estimate.standardError); // sweep true
   * ```
   */
  trace(problem: Problem, parameters: Float64Array | Float32Array, options?: TraceOptions): Promise<TraceResult>;
  /**
   * Exact for every piecewise linear network, estimated with standard errors where it is not.
   * @example
   * ```js
   * const { values, method } = await engine.diagonal(problem, parameters);
   * const sum = values.reduce((total, value) => total + value, 0);
   * const trace = await engine.trace(problem, parameters);
   * console.log(method, Math.abs(sum - trace.value) < 1e-9 * trace.value); // sweep true
   * ```
   */
  diagonal(problem: Problem, parameters: Float64Array | Float32Array, options?: DiagonalOptions): Promise<DiagonalResult>;
  /**
   * The least trace of the Hessian that rescaling can reach, and the rescaling that reaches it: the flattest bend of the network.
   * @example
   * ```js
   * const least = await engine.leastTrace(problem, parameters);
   * const flattest = network.transform(parameters, least.transformation);
   * const trace = await engine.trace(problem, flattest);
   * console.log(least.value < least.before, Math.abs(trace.value - least.after) < 1e-9 * trace.value); // true true
   * // No rescaling moves it.
   * const bent = network.transform(parameters, { type: "random_nodewise", seed: 1, low: 0.1, high: 10 });
   * const same = await engine.leastTrace(problem, bent);
   * console.log(Math.abs(same.value - least.value) < 1e-9 * least.value); // true
   * ```
   */
  leastTrace(problem: Problem, parameters: Float64Array | Float32Array, options?: LeastTraceOptions): Promise<LeastTrace>;
  /**
   * κ, κ_τ, ρ and the relative flatness of every layer and neuron.
   * @example
   * ```js
   * const { kappa, kappaTrace, rho } = await engine.petzka(problem, parameters);
   * console.log(kappa.map(({ value }) => value.toPrecision(3))); // [ '51.2', '27.4' ]
   * console.log(kappaTrace.length, rho.map((units) => units.length)); // 2 [ 4, 16 ]
   * ```
   */
  petzka(problem: Problem, parameters: Float64Array | Float32Array, options?: PetzkaOptions): Promise<PetzkaReport>;
  /**
   * How far the loss rises at most within a region.
   * @example
   * ```js
   * const { value, resolved, converged } = await engine.sharpness(problem, parameters, {
   *   region: { type: "riemannian_layerwise" },
   *   epsilon: 0.01,
   * });
   * console.log(value > 0, resolved, converged); // true true true
   * ```
   */
  sharpness(problem: Problem, parameters: Float64Array | Float32Array, options?: SharpnessOptions): Promise<Sharpness>;
  /**
   * How far the loss rises in the mean under Gaussian noise.
   * @example
   * ```js
   * const { value, standardError } = await engine.averageSharpness(problem, parameters, {
   *   noise: "scaled",
   *   sigma: 0.05,
   *   pairs: 20,
   * });
   * console.log(value > 3 * standardError); // true
   * ```
   */
  averageSharpness(problem: Problem, parameters: Float64Array | Float32Array, options?: AverageSharpnessOptions): Promise<AverageSharpness>;
  /**
   * Petzka’s feature robustness at one matrix A, which is given or drawn: the mean rise of the loss when a layer’s inputs φ become
   * φ + δ A φ, beside the bound (δ²/2) ‖A‖² κ. Their Appendix D.2: moving (1, 0) along itself and its neighbour (1, ε) across takes
   * ‖A‖ ≥ √2/ε, so that the bound says nothing of samples that are moved independently.
   * @example
   * ```js
   * const near = 0.01;
   * const neighbours = new Problem(Network.dense([2, 1], { bias: false }), {
   *   loss: "squared_error",
   *   inputs: new Float64Array([1, 0, 1, near]),
   *   targets: [1, 1 + near],
   * });
   * const apart = { layer: 1, delta: 0.01, matrix: [1, -1 / near, 0, 1 / near] };
   * const { value, bound, matrixNorm } = await engine.featureRobustness(neighbours, new Float64Array([1, 1]), apart);
   * console.log(matrixNorm > Math.SQRT2 / near, bound > 1e4 * value); // true true
   * ```
   */
  featureRobustness(problem: Problem, parameters: Float64Array | Float32Array, options: FeatureRobustnessOptions): Promise<FeatureRobustness>;
  /**
   * How far the loss rises when a layer’s inputs are perturbed, beside Petzka’s bound.
   * @example
   * ```js
   * const { value, bound, draws } = await engine.noiseInjection(problem, parameters, { layer: 2, delta: 0.01 });
   * console.log(draws.length, Number.isFinite(value), bound > 0); // 10 true true
   * ```
   */
  noiseInjection(problem: Problem, parameters: Float64Array | Float32Array, options: FeatureOptions): Promise<NoiseInjection>;
  /**
   * Dinh et al. 2017, Theorem 4.
   * @example
   * ```js
   * const { reached, measured, outputs, lossBefore, lossAfter } = await engine.sharpen(problem, parameters, {
   *   target: 1e6,
   *   powersOfTwo: true,
   * });
   * console.log(reached, measured.norm >= 1e6); // true true
   * console.log(outputs.bitwise, lossBefore === lossAfter); // true true
   * ```
   */
  sharpen(problem: Problem, parameters: Float64Array | Float32Array, options: SharpenOptions): Promise<Sharpened>;
  /**
   * Dinh et al. 2017, Theorem 2.
   * @example
   * ```js
   * const { boxes, disjoint, inside } = await engine.volumeFlatness(problem, parameters, { boxes: 4 });
   * console.log(boxes.length, disjoint, inside); // 4 true true
   * ```
   */
  volumeFlatness(problem: Problem, parameters: Float64Array | Float32Array, options?: VolumeOptions): Promise<VolumeFlatness>;
  /**
   * Dinh et al. 2017, Theorem 5.
   * @example
   * ```js
   * const { promised, measured, holds } = await engine.manyLargeEigenvalues(problem, parameters, { target: 1000 });
   * console.log(holds, measured >= promised); // true true
   * ```
   */
  manyLargeEigenvalues(problem: Problem, parameters: Float64Array | Float32Array, options: RunOptions & { target: number; powersOfTwo?: boolean }): Promise<ManyEigenvalues>;
  /**
   * Dinh et al. 2017, section 4.3.
   * @example
   * ```js
   * const { guaranteed, measured, holds } = await engine.constantInBall(problem, parameters, { epsilon: 0.1 });
   * console.log(holds, measured.value >= guaranteed); // true true
   * ```
   */
  constantInBall(problem: Problem, parameters: Float64Array | Float32Array, options?: RunOptions & { region?: ConstantInBall["region"]; epsilon?: number; seed?: number }): Promise<ConstantInBall>;
  /**
   * Dinh et al. 2017, section 5.1: weight normalisation makes every minimum as sharp, or as flat, in v as one likes.
   * @example
   * ```js
   * const [sharp, flat] = await engine.normalizedSharpness(problem, parameters, { alphas: [0.1, 10], epsilon: 0.01 });
   * console.log(sharp.directions.value > flat.directions.value, sharp.outputs.relative < 1e-9); // true true
   * ```
   */
  normalizedSharpness(problem: Problem, parameters: Float64Array | Float32Array, options: NormalizedSharpnessOptions): Promise<NormalizedSharpness[]>;
  /**
   * Dinh et al. 2017, section 5.1 and Appendix A.
   * @example
   * ```js
   * // Within r̂ the map stretches by ρ/r̂ = 2, and curvature is a quarter.
   * const radial = { type: "radial", delta: 1, inner: 0.25, rho: 0.5 };
   * const { full } = await engine.reparametrizedHessian(problem, parameters, { map: radial });
   * const { top } = await engine.eigenvalues(problem, parameters);
   * console.log((top[0].value / full.at(-1)).toFixed(4)); // 4.0000
   * ```
   */
  reparametrizedHessian(problem: Problem, parameters: Float64Array | Float32Array, options: RunOptions & { map: Reparametrization }): Promise<ReparametrizedHessian>;
  /**
   * Dinh et al. 2017, section 5.2: features of mean 0 and variance 1, of covariance 1, or each of a normal distribution.
   * @example
   * ```js
   * const { outputs, predictionGradients } = await engine.inputRepresentation(problem, parameters, { map: "standardize" });
   * console.log(outputs.relative < 1e-6, predictionGradients.before.length === problem.samples); // true true
   * ```
   */
  inputRepresentation(problem: Problem, parameters: Float64Array | Float32Array, options: RunOptions & { map: "standardize" | "whiten" | "gaussianize" }): Promise<InputRepresentation>;
  /**
   * All that was asked for in the cheapest order.
   * @example
   * ```js
   * const { values, sections } = await engine.report(problem, parameters, {
   *   sections: ["point", "hessian", "riemannian"],
   * });
   * console.log(sections.map(({ section }) => section)); // [ 'point', 'hessian', 'riemannian' ]
   * console.log(values.hessian.spectralNorm.toPrecision(3)); // 1.05
   * ```
   */
  report(problem: Problem, parameters: Float64Array | Float32Array, options?: ReportOptions): Promise<Report>;
  /**
   * Destroys the GPU device, so that a program can see how it takes a lost device. No effect on the CPU.
   * @example
   * ```js
   * engine.loseDevice(); // of a GPU: calls then reject with the code "device_lost"
   * console.log((await engine.gradient(problem, parameters)).length); // 131
   * ```
   */
  loseDevice(): void;
  /**
   * Ends the engine's threads and its worker too, once calls that were made before have ended.
   * @example
   * ```js
   * const another = await Engine.create({ backend: "cpu" });
   * const { loss } = await another.evaluate(problem, parameters);
   * another.free();
   * console.log(Number.isFinite(loss)); // true
   * ```
   */
  free(): void;
  /**
   * `free`, as `using` calls it.
   * @example
   * ```ts
   * using own = await Engine.create({ backend: "cpu" });
   * const { loss } = await own.evaluate(problem, parameters);
   * ```
   */
  [Symbol.dispose](): void;
}

export * from "./files.js";
