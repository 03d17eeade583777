/** From the stage's control to factors of the layers, and back. */

import type { FreeTensor } from "isoflat";
import type { Bend, Sharpness } from "./store";
import { factorsOf } from "./transformations";
import type { ModelInfo, Valley } from "./worker/protocol";

/** Ends of the layers' sliders, in powers of ten: what makes a layer's block of the Hessian 10⁶ times as large. */
export const LAYER_DECADES = 3;

/** The engine takes α this much smaller than the bound, for rounding. */
const MARGIN = 1e-3;

type Rescalable = Pick<ModelInfo, "depth" | "homogeneous" | "tensors">;

/** Why no rescaling of layers leaves what the network computes; null where some do. */
export function refusalToRescale({ depth, homogeneous, tensors }: Rescalable): string | null {
  if (!homogeneous) {
    return "This network has an activation that is not positively homogeneous: rescaling its layers would change what it computes.";
  }
  if (depth < 2) return "This network has a single layer, which leaves nothing to rescale against.";
  if (tensors?.length !== 0) return null;
  return "All that this network’s layers give is added to its inputs or outputs: no rescaling of layers leaves the function as it is.";
}

export function noBend(depth: number): Bend {
  return { lambda: new Array<number>(depth).fill(1), nodewise: null, permutation: null };
}

/** The α that Theorem 4 asks for: ‖H_l‖ / α² ≥ M. While the slider moves there is no time to ask the engine. */
export function alphaFor({ block, norm }: Valley, decades: number, powersOfTwo: boolean): number {
  if (decades <= 0) return 1;
  const alpha = Math.min(Math.sqrt(block / (norm * 10 ** decades)) * (1 - MARGIN), 1);
  return powersOfTwo ? 2 ** Math.floor(Math.log2(alpha)) : alpha;
}

/** The factors of the layers that the control asks for; null while the sharpest layer is not known. */
export function lambdaFor(
  { way, decades }: Sharpness,
  model: Rescalable,
  valley: Valley | null,
  powersOfTwo: boolean,
): number[] | null {
  if (decades <= 0) return noBend(model.depth).lambda;
  if (way === "bend") return layerBy(10 ** (-decades / 2), model);
  return valley && compensated(alphaFor(valley, decades, powersOfTwo), valley.layer, model);
}

/** The first layer's factor, the others evenly against it; in a graph the first layer's that can have one of its own. */
function layerBy(factor: number, model: Rescalable): number[] {
  const { depth, tensors } = model;
  if (!tensors) {
    return Array.from({ length: depth }, (_, index) => (index === 0 ? factor : factor ** (-1 / (depth - 1))));
  }
  const isFree = (layer: number) =>
    tensors.some(({ writers, readers }) => writers.includes(layer) !== readers.includes(layer));
  const first = Array.from({ length: depth }, (_, layer) => layer).find(isFree);
  return first === undefined ? noBend(depth).lambda : throughTensor(factor, first, tensors, depth);
}

/** One layer's factor, one neighbour against it: a factor that is a power of two then has one as its inverse. */
function compensated(factor: number, layer: number, { depth, tensors }: Rescalable): number[] {
  if (tensors) return throughTensor(factor, layer, tensors, depth);
  const neighbour = layer + 1 < depth ? layer + 1 : layer - 1;
  return Array.from({ length: depth }, (_, index) => (index === layer ? factor : index === neighbour ? 1 / factor : 1));
}

/** A layer that both writes and reads a tensor has nothing of its factor. */
function throughTensor(factor: number, layer: number, tensors: FreeTensor[], depth: number): number[] {
  const written = tensors.findIndex(({ writers, readers }) => writers.includes(layer) && !readers.includes(layer));
  const read = tensors.findIndex(({ writers, readers }) => readers.includes(layer) && !writers.includes(layer));
  const powers = tensors.map(() => 0);
  if (written >= 0) powers[written] = Math.log10(factor);
  else if (read >= 0) powers[read] = -Math.log10(factor);
  return factorsOf(tensors, powers, depth);
}

/** How much sharper the layer that has shrunk most is made, in powers of ten: its block of the Hessian grows by 1/λ². */
export function decadesOf({ lambda }: Bend): number {
  const smallest = Math.min(1, ...lambda);
  return -2 * Math.log10(smallest);
}
