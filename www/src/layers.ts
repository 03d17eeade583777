/** A network's layers row by row: what weights tell of them stands, what they do not tell can be set. */

import type { LayerJSON, NetworkJSON } from "isoflat";

export interface Row {
  layer: LayerJSON;
  /** The weights' own name, by which they find the layer. */
  name?: string;
  /** What it reads, where that is not the row before it. */
  reads?: Row | Input;
  /** Of a sum: the row whose result is added to what it reads. */
  shortcut?: Row | Input;
}

/** The network's input, read as a row is. */
export const INPUT = "input";
type Input = typeof INPUT;

/** What can be put between layers with weights. */
export const BETWEEN: Record<string, { label: string; layer: LayerJSON }> = {
  relu: { label: "ReLU", layer: { type: "relu" } },
  leaky_relu: { label: "leaky ReLU, slope 0.01", layer: { type: "leaky_relu", slope: 0.01 } },
  relu6: { label: "ReLU6, from 0 to 6", layer: { type: "relu6" } },
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

/** The rows of a network; none of one whose layers read more than rows can say. */
export function rowsOf({ layers }: NetworkJSON): Row[] | null {
  const rows: Row[] = [];
  const byName = new Map<string, Row | Input>([[INPUT, INPUT]]);
  for (const { name, from, ...layer } of layers) {
    const before = rows.at(-1) ?? INPUT;
    const read = [from ?? []].flat().map((other) => byName.get(other));
    if (layer.type === "concat" || read.length > 2 || read.includes(undefined)) return null;
    const isSum = layer.type === "add";
    if (isSum ? read.length !== 2 : read.length > 1) return null;
    // What a sum adds to the row before it is its shortcut, whichever is named first.
    if (isSum && read[1] === before) read.reverse();
    const [reads, shortcut] = read;
    const row: Row = { layer, ...(name && { name }) };
    if (reads && reads !== before) row.reads = reads;
    if (shortcut) row.shortcut = shortcut;
    rows.push(row);
    if (name) byName.set(name, row);
  }
  return rows;
}

/** The network of rows. Those that others read have names. */
export function networkOf(input: NetworkJSON["input"], rows: Row[]): NetworkJSON {
  const names = new Map<Row, string>();
  const taken = new Set(rows.map(({ name }) => name));
  const nameOf = (row: Row | Input): string => {
    if (row === INPUT) return INPUT;
    const known = row.name ?? names.get(row);
    if (known !== undefined) return known;
    let name = `layer_${rows.indexOf(row) + 1}`;
    while (taken.has(name)) name += "_";
    names.set(row, name);
    return name;
  };
  const from = rows.map(({ layer, reads, shortcut }, index): string | string[] | undefined => {
    const before = rows[index - 1] ?? INPUT;
    if (layer.type === "add") return [nameOf(reads ?? before), nameOf(shortcut ?? before)];
    return reads && reads !== before ? nameOf(reads) : undefined;
  });
  const layers = rows.map((row, index): LayerJSON => {
    const [name, read] = [row.name ?? names.get(row), from[index]];
    return { ...row.layer, ...(name && { name }), ...(read && { from: read }) };
  });
  return { input, layers };
}

/** What a sum put at this place adds to the row before it, where nobody has said so: the row before that. */
export const usualShortcut = (rows: Row[], index: number): Row | Input => rows[index - 2] ?? INPUT;

/** Takes a row out: who read it reads what it read. */
export function remove(rows: Row[], index: number): void {
  const [gone] = rows.splice(index, 1);
  const instead = gone?.reads ?? rows[index - 1] ?? INPUT;
  const behind = rows[index];
  if (behind && !behind.reads && gone?.reads) behind.reads = gone.reads;
  rows.forEach((row, at) => {
    if (row.shortcut === gone) row.shortcut = instead;
    if (row.reads !== gone) return;
    if (instead === (rows[at - 1] ?? INPUT)) delete row.reads;
    else row.reads = instead;
  });
}

/** A row's kind and what its weights tell, with their name. */
export function title({ layer, name }: Row): string {
  const kind = kindOf(layer);
  return name && !isSet({ layer, name }) ? `${name}: ${kind}` : kind;
}

function kindOf({ type, ...layer }: LayerJSON): string {
  if (type === "dense" && "units" in layer) return `dense, ${layer.units} units`;
  if (type === "conv2d" && "channels" in layer) {
    const [height, width] = pair(layer.kernel);
    return `convolution ${height} × ${width}, ${layer.channels} channels`;
  }
  return BETWEEN[type]?.label ?? type;
}

/** May this row be taken out, or become another one? Of the others weights say that they are there. */
export const isSet = ({ layer, name }: Row): boolean => layer.type in BETWEEN && !(layer.type === "scale" && name);

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
export function shapes(input: NetworkJSON["input"], rows: Row[], lengths: (number | null)[]): string[] {
  const channels = new Map<Row | Input | undefined, number | undefined>([
    [INPUT, input.length === 3 ? input[0] : undefined],
  ]);
  return rows.map((row, index) => {
    channels.set(row, channelsOf(row.layer, channels.get(row.reads ?? rows[index - 1] ?? INPUT)));
    const [length, count] = [lengths[index], channels.get(row)];
    if (length === undefined || length === null) return "";
    if (count === undefined) return String(length);
    const side = Math.sqrt(length / count);
    return Number.isInteger(side) ? `${count} × ${side} × ${side}` : `${count} × ${length / count}`;
  });
}

/** The channels that a layer gives; none of rows of features. */
function channelsOf(layer: LayerJSON, before: number | undefined): number | undefined {
  if (layer.type === "conv2d") return layer.channels;
  if (layer.type === "dense" || layer.type === "flatten" || layer.type === "global_avg_pool2d") return undefined;
  return layer.type === "pad_channels" && before !== undefined
    ? before + (layer.before ?? 0) + (layer.after ?? 0)
    : before;
}
