import type {
  BatchStatistics,
  Constant,
  InputShape,
  LossName,
  Network,
  NetworkJSON,
  PresetName,
  Problem,
  Transformation,
} from "./isoflat.js";

/** Bytes in memory of their own: what a `Blob` and a `Response` take. */
export type Bytes = ReturnType<Uint8ArrayConstructor["from"]>;

/** A file: of a file input or a drop, or its bytes. Files without a name are told apart by their content alone. */
export type FileInput = File | Blob | Uint8Array | ArrayBuffer | { name?: string; bytes: Uint8Array | ArrayBuffer };

export interface OpenModelOptions {
  /**
   * Of weights without a graph (a state_dict, safetensors, npz): whose they are. Without it, the preset that they fit, a
   * residual network where the names come in blocks, or a chain.
   */
  network?: PresetName | Constant<NetworkJSON> | Network;
  /**
   * Of weights that no network is named for, and of an ONNX file whose axes are open: the shape of one input, such as the `shape` of
   * `openData`’s.
   */
  input?: InputShape;
  /**
   * Of an ONNX file: the tensor that is the network's output. Default its only output, or its first where the others lie on the way to
   * that.
   */
  output?: string;
  /**
   * What becomes of batch normalisations with frozen statistics: folded into a neighbour where one takes it (a network that was named,
   * or that weights alone were found to be, keeps the scales that it has there), or each a `scale`, w x + b. Default "fold".
   */
  batchNorm?: "fold" | "scale";
}

export interface OpenedModel {
  network: Network;
  parameters: Float64Array;
  /** What was folded, taken off or assumed, a sentence each. */
  notes: string[];
  /** What the file's format is called. */
  format: string;
  /** Of the batch normalisations that are scales here: with them, `{ type: "batch_norm", statistics }` is the space of γ and β. */
  statistics: BatchStatistics[];
  /** Of a problem file: its data too. */
  problem?: Problem;
  name?: string;
  direction?: Float64Array;
  transformations?: Transformation[];
}

/**
 * Opens a model: one file, or several that belong together. The module that reads files is loaded when this is called first; nothing
 * leaves the computer. Rejects with `parse` for what cannot be read, `invalid_network` for what is no network that isoflat knows, or is
 * data: a table, or arrays that are called `x` and `y` and such, unless `network` says whose weights they are.
 * @example
 * ```js
 * import { readFile } from "node:fs/promises";
 * import { openModel } from "isoflat";
 *
 * // A published LeNet, of this repository's tests/fixtures/published; in a page, the File of an input or a drop.
 * const bytes = await readFile("lenet_example.pth");
 * const lenet = await openModel({ name: "lenet_example.pth", bytes });
 * using opened = lenet.network;
 * console.log(lenet.format, opened.summary); // PyTorch 1×28×28-conv5×5×6-pool2×2-conv5×5×16-pool2×2-120-84-10
 * console.log(lenet.notes.length > 0); // true
 * ```
 */
export function openModel(files: FileInput | ArrayLike<FileInput>, options?: OpenModelOptions): Promise<OpenedModel>;

/**
 * Layers of weights without a graph, as their names and shapes tell them: a chain in the file's order with ReLU between, to be
 * completed with what weights do not tell and given to `openModel` as `network`. It need not fit, and may be no network yet; where
 * it does, `openModel` finds it by itself. Rejects with `invalid_option` for files that say themselves which network they are.
 * @example
 * ```js
 * import { proposeNetwork, saveModel } from "isoflat";
 *
 * const bytes = await saveModel(network, parameters, { format: "npz" });
 * const proposal = await proposeNetwork({ name: "weights.npz", bytes });
 * console.log(proposal.layers.map(({ type }) => type)); // [ 'dense', 'relu', 'dense' ]
 * ```
 */
export function proposeNetwork(
  files: FileInput | ArrayLike<FileInput>,
  options?: { input?: InputShape },
): Promise<NetworkJSON>;

/** By name: `none` leaves pixels as they are, `unit` makes 0 to 1 of them, `minus_one_to_one` has mean and deviation 0.5. */
export type NormalizationName =
  | "none"
  | "unit"
  | "mnist"
  | "fashion_mnist"
  | "cifar10"
  | "cifar100"
  | "imagenet"
  | "minus_one_to_one";

export interface OpenDataOptions {
  /** Shape of one input, as the network takes it: images are put channels first, or into rows. */
  shape?: InputShape;
  /** How many outputs the network has. With one, whole numbers are quantities, not classes. */
  outputs?: number;
  /**
   * Without it, whole numbers from 0 are classes, and so are one-hot rows, as many columns as there are outputs; all else are quantities,
   * of squared error. What could have been meant otherwise, such as labels −1 and 1, is in `notes`.
   */
  loss?: LossName;
  /** Of files with two sets; default "test". */
  split?: "train" | "validation" | "test";
  /** Names of the arrays or columns, where they are not the usual ones. */
  inputs?: string;
  targets?: string;
  /** Takes the first so many. */
  samples?: number;
  /** (x − mean) / deviation, after pixels are divided by 255; a number a channel, or one for all. */
  normalization?: NormalizationName | { mean: number[]; deviation: number[]; divisor?: number };
}

/** Data of which a `Problem` can be made, where they have targets. */
export type OpenedData = OpenedInputs &
  /** Classes. */
  (
    | { loss: "cross_entropy"; targets: Uint32Array }
    /** Rows of numbers. */
    | { loss: "squared_error"; targets: Float64Array }
    /** None came with them. */
    | { loss?: undefined; targets?: undefined }
  );

/** What there is of opened data with targets or without. */
export interface OpenedInputs {
  shape: InputShape;
  samples: number;
  /** Row after row. */
  inputs: Float32Array | Float64Array;
  /** Names of the classes, where there are some. */
  classes: string[];
  /** What was done to the files' numbers, if anything was. */
  normalization?: { divisor: number; mean: number[]; deviation: number[] };
  /** What was assumed, left out or changed, a sentence each. */
  notes: string[];
  /** What came in, in a few numbers; mean and deviation of the inputs a channel. */
  overview: {
    samples: number;
    shape: number[];
    counts: number[];
    minimum: number;
    maximum: number;
    mean: number[];
    deviation: number[];
  };
}

/**
 * Opens data: npz, npy, IDX (gzipped too), CIFAR's binaries, CSV, a zip or folder of images; several files are one data set. Rejects
 * with `parse` for what cannot be read, `invalid_problem` where it is not told which are inputs and targets.
 * @example
 * ```js
 * import { openData } from "isoflat";
 *
 * const csv = new TextEncoder().encode("width,height,label\n1,2,0\n3,4,1\n5,7,1\n");
 * const data = await openData({ name: "points.csv", bytes: csv });
 * console.log(data.samples, data.shape, [...data.targets]); // 3 [ 2 ] [ 0, 1, 1 ]
 * ```
 */
export function openData(files: FileInput | ArrayLike<FileInput>, options?: OpenDataOptions): Promise<OpenedData>;

/**
 * Which of several files are a model and which are data, as indices.
 * @example
 * ```js
 * import { saveModel, sortFiles } from "isoflat";
 *
 * const weights = { name: "model.safetensors", bytes: await saveModel(network, parameters) };
 * const table = { name: "points.csv", bytes: new TextEncoder().encode("x,label\n1,0\n2,1\n") };
 * console.log(await sortFiles([table, weights])); // { model: [ 1 ], data: [ 0 ] }
 * ```
 */
export function sortFiles(files: FileInput | ArrayLike<FileInput>): Promise<{ model: number[]; data: number[] }>;

/**
 * What `saveModel` writes: names, shapes and precision as in the file of weights that was opened (PyTorch, safetensors, npz). What came from
 * no file, or from one that is a graph (TensorFlow.js; ONNX, unless as `"onnx"`), has isoflat's own: a weight of (outputs, inputs, height,
 * width) under its layer's name, batch normalisations folded into it, which the other program does not take back. Half precisions become single, whole numbers double, and single double in a tensor with a number that it does not hold. But `"onnx"` is the
 * file that was opened, whose tensors keep their types: what is in half precision there is rounded to it.
 */
export type SaveFormat = "safetensors" | "npz" | "onnx";

/**
 * Parameters as other programs read them. Of what `openModel` gave, the same file with these parameters (batch normalisations that
 * were folded change nothing any more there); of a network, its weights by layer numbers or names, `0.weight`; of a problem,
 * network, data and parameters in one safetensors file, which opens again to the same numbers.
 *
 * `format` is `"safetensors"` by default; `"npz"` of weights, and `"onnx"` of a model that was opened from ONNX alone. `name` is what a
 * problem is called when it is opened again, and of nothing else.
 * @example
 * ```js
 * import { openModel, saveModel } from "isoflat";
 *
 * const bytes = await saveModel(problem, parameters);
 * const again = await openModel({ name: "problem.safetensors", bytes });
 * using same = again.problem;
 * console.log(same.samples, again.parameters.every((w, i) => w === parameters[i])); // 30 true
 * ```
 */
export function saveModel(
  model: OpenedModel | Network | Problem,
  parameters: Float64Array | Float32Array,
  options?: { format?: SaveFormat; name?: string },
): Promise<Bytes>;
