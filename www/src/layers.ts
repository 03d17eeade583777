/** A chain of layers row by row: what weights tell of it stands, what they do not tell can be set. */

import type { LayerJSON, NetworkJSON } from "isoflat";

export interface Row {
  layer: LayerJSON;
  /** Of a sum: the row whose result is added to that of the row before. */
  shortcut?: Row;
}

/** What can be put between layers with weights. */
export const BETWEEN: Record<string, { label: string; layer: LayerJSON }> = {
  relu: { label: "ReLU", layer: { type: "relu" } },
  leaky_relu: { label: "leaky ReLU, slope 0.01", layer: { type: "leaky_relu", slope: 0.01 } },
  gelu: { label: "GELU", layer: { type: "gelu" } },
  silu: { label: "SiLU", layer: { type: "silu" } },
  tanh: { label: "tanh", layer: { type: "tanh" } },
  sigmoid: { label: "sigmoid", layer: { type: "sigmoid" } },
  softplus: { label: "softplus", layer: { type: "softplus" } },
  max_pool2d: { label: "largest of each 2 × 2", layer: { type: "max_pool2d", size: 2 } },
  avg_pool2d: { label: "mean of each 2 × 2", layer: { type: "avg_pool2d", size: 2 } },
  global_avg_pool2d: { label: "mean of each channel", layer: { type: "global_avg_pool2d" } },
  flatten: { label: "flatten", layer: { type: "flatten" } },
  scale: { label: "scale, of a batch normalisation", layer: { type: "scale" } },
  add: { label: "a shortcut’s sum", layer: { type: "add" } },
};

/** The rows of a network; none of one that is no chain. */
export function rowsOf({ layers }: NetworkJSON): Row[] | null {
  const isChain = layers.every(({ name, from, type }) => !name && !from && type !== "add" && type !== "concat");
  return isChain ? layers.map((layer) => ({ layer })) : null;
}

/** The network of rows. Those that sums read have names. */
export function networkOf(input: NetworkJSON["input"], rows: Row[]): NetworkJSON {
  const names = new Map<Row, string>();
  rows.forEach((row, index) => {
    const before = rows[index - 1];
    if (row.layer.type !== "add" || !before || !row.shortcut) return;
    for (const read of [before, row.shortcut]) names.set(read, `layer_${rows.indexOf(read) + 1}`);
  });
  const layers = rows.map((row, index): LayerJSON => {
    const name = names.get(row);
    const before = rows[index - 1];
    const from = [before, row.shortcut].flatMap((read) => (read && names.get(read)) ?? []);
    return { ...row.layer, ...(name && { name }), ...(row.layer.type === "add" && { from }) };
  });
  return { input, layers };
}

/** A row's kind and what its weights tell. */
export function title({ type, ...layer }: LayerJSON): string {
  if (type === "dense" && "units" in layer) return `dense, ${layer.units} units`;
  if (type === "conv2d" && "channels" in layer) {
    const [height, width] = pair(layer.kernel);
    return `convolution ${height} × ${width}, ${layer.channels} channels`;
  }
  return BETWEEN[type]?.label ?? type;
}

/** May this row be taken out, or become another one? Weights of dense layers and convolutions say that they are there. */
export const isSet = ({ layer }: Row): boolean => layer.type in BETWEEN;

/** `3 × 32 × 32`, or `784`; null for what is neither. */
export function inputOf(text: string): NetworkJSON["input"] | null {
  const sizes = text
    .split(/[×x,\s]+/)
    .filter(Boolean)
    .map(Number);
  if (!sizes.every((size) => Number.isInteger(size) && size > 0)) return null;
  const [first, height, width] = sizes;
  if (first !== undefined && sizes.length === 1) return [first];
  if (first === undefined || height === undefined || width === undefined || sizes.length !== 3) return null;
  return [first, height, width];
}

const pair = (size: number | [number, number]): [number, number] => (typeof size === "number" ? [size, size] : size);

/** `16 × 28 × 28` for so many values, as far as squares go. */
export function shapes({ input, layers }: NetworkJSON, lengths: (number | null)[]): string[] {
  let channels = input.length === 3 ? input[0] : undefined;
  return layers.map((layer, index) => {
    const length = lengths[index];
    if (layer.type === "conv2d") channels = layer.channels;
    if (layer.type === "dense" || layer.type === "flatten" || layer.type === "global_avg_pool2d") channels = undefined;
    if (length === undefined || length === null) return "";
    if (channels === undefined) return String(length);
    const side = Math.sqrt(length / channels);
    return Number.isInteger(side) ? `${channels} × ${side} × ${side}` : `${channels} × ${length / channels}`;
  });
}
