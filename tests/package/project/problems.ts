/** Only type-checked: data of which problems can be made, and what is refused at compile time since it is refused at run time. */

import {
  type LossName,
  Network,
  type OpenedData,
  openData,
  Problem,
  type ProblemData,
  saveModel,
  type Transformation,
} from "isoflat";

const network = Network.dense([2, 3]);
const inputs = new Float32Array(4);
const rows = [
  [1, 0],
  [0, 1],
];
/** Typed as it stands there, so that nothing else is wrong with what is refused. */
const problemOf = (data: ProblemData): Problem => new Problem(network, data);

// Classes, in whatever whole numbers they come.
const classes = [
  new Uint8Array(2),
  new Uint32Array(2),
  new Float64Array(2),
  new Float32Array(2),
  [0, 2],
  [0, 2] as const,
];
for (const targets of classes) problemOf({ loss: "cross_entropy", inputs, targets });
problemOf({ loss: "cross_entropy", inputs: new Float64Array(4), targets: [0, 2] });
// Vectors.
const vectors = [new Float64Array(6), new Float32Array(6), [1, 0, 0, 0, 1, 0]];
for (const targets of vectors) problemOf({ loss: "squared_error", inputs, targets });
// Numbers that either loss takes, with a loss that is known at run time alone.
export const either = (loss: LossName, targets: Float64Array): Problem => problemOf({ loss, inputs, targets });
// Of a thread's memory.
problemOf({ loss: "cross_entropy", inputs: new Float32Array(new SharedArrayBuffer(16)), targets: [0, 2] });

// A network that is written as a constant is one.
Network.fromJSON({ input: [1, 8, 8], layers: [{ type: "conv2d", channels: 2, kernel: [3, 3] }] } as const);
Network.fromJSON(network.toJSON());
// Bytes that were saved go where bytes go.
export const kept = async (parameters: Float64Array): Promise<Blob> => new Blob([await saveModel(network, parameters)]);

// What other calls give is data as it is.
export const again = (problem: Problem): Problem => problemOf(problem.data);
export async function opened(file: File): Promise<Problem | undefined> {
  const data: OpenedData = await openData(file);
  if (!data.loss) {
    // @ts-expect-error without targets there is no problem
    problemOf(data);
    return undefined;
  }
  if (data.loss === "cross_entropy") data.targets satisfies Uint32Array;
  else data.targets satisfies Float64Array;
  return problemOf(data);
}

// @ts-expect-error classes are no vectors
problemOf({ loss: "squared_error", inputs, targets: new Uint8Array(2) });
// @ts-expect-error nor are class numbers that a data set has
problemOf({ loss: "squared_error", inputs, targets: new Uint32Array(2) });
// Whole numbers of any kind are class numbers.
problemOf({ loss: "cross_entropy", inputs, targets: new Int32Array(2) });
// @ts-expect-error but for those of 64 bits, as NumPy has them
problemOf({ loss: "cross_entropy", inputs, targets: new BigInt64Array(2) });
// @ts-expect-error names are no classes
problemOf({ loss: "cross_entropy", inputs, targets: ["cat", "dog"] });
// @ts-expect-error one row after the other, and no rows
problemOf({ loss: "squared_error", inputs, targets: rows });
// @ts-expect-error pixels are to be scaled first
problemOf({ loss: "cross_entropy", inputs: new Uint8Array(4), targets: [0, 2] });
// @ts-expect-error nor here
problemOf({ loss: "cross_entropy", inputs: rows, targets: [0, 2] });
// @ts-expect-error a loss by another name
problemOf({ loss: "mse", inputs, targets: [1, 0, 0, 0, 1, 0] });
// @ts-expect-error a loss in other letters
problemOf({ loss: "crossEntropy", inputs, targets: [0, 2] });
// @ts-expect-error no loss
problemOf({ inputs, targets: [0, 2] });
// @ts-expect-error no targets
problemOf({ loss: "cross_entropy", inputs });
// @ts-expect-error no inputs
problemOf({ loss: "cross_entropy", targets: [0, 2] });
// @ts-expect-error targets by another name
problemOf({ loss: "cross_entropy", inputs, labels: [0, 2] });
// @ts-expect-error null is nothing
problemOf({ loss: "cross_entropy", inputs, targets: null });
// @ts-expect-error a buffer is no array
problemOf({ loss: "cross_entropy", inputs: new ArrayBuffer(16), targets: [0, 2] });
// @ts-expect-error targets are there, or to be waited for
problemOf({ loss: "cross_entropy", inputs, targets: Promise.resolve([0, 2]) });
// @ts-expect-error data are one object
new Problem(network, inputs, [0, 2]);
// @ts-expect-error network first
new Problem({ loss: "cross_entropy", inputs, targets: [0, 2] }, network);
// @ts-expect-error a network's handle, and not its JSON
new Problem(network.toJSON(), { loss: "cross_entropy", inputs, targets: [0, 2] });
// @ts-expect-error samples are to be said
Problem.synthetic(network, {});
// @ts-expect-error samples by another name
Problem.synthetic(network, { count: 5 });

// Lists that nobody may write to are lists.
const lambda = [2, 0.5] as const;
export const maps = [{ type: "layerwise", lambda }] as const satisfies readonly Transformation[];
