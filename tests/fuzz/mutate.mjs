/** Changes to a JSON value, one at a time, at a place found by walking down from its root, so that small parts are hit as often as long lists. */

import { $ } from "./values.mjs";

const numbers = [
  0,
  -1,
  1,
  2,
  0.5,
  1e300,
  -1e300,
  1e-300,
  5e-324,
  2 ** 31,
  2 ** 31 - 1,
  2 ** 32,
  2 ** 32 + 1,
  2 ** 53,
  2 ** 53 + 2,
  2 ** 63,
  2 ** 64,
  3,
  7,
  100,
  255,
  8000,
  10_000,
  65_535,
  65_536,
  100_000,
  1e6,
  1e8,
  1e38,
  1e39,
  3.5e38,
  1e-46,
  1e200,
  $("NaN"),
  $("Infinity"),
  $("-Infinity"),
  $("raw", { text: "1e999" }),
  $("raw", { text: "-0" }),
  $("raw", { text: "0x10" }),
  $("raw", { text: "01" }),
  $("raw", { text: "1." }),
  $("raw", { text: "18446744073709551617" }),
];
const others = [
  null,
  true,
  false,
  "",
  "1",
  "NaN",
  [],
  {},
  [[]],
  [1],
  { type: "dense" },
  "\u0000",
  "\ud800",
  "☃",
  "a".repeat(1000),
];
const keys = [
  "type",
  "units",
  "input",
  "layers",
  "kernel",
  "stride",
  "padding",
  "size",
  "slope",
  "bias",
  "name",
  "from",
  "groups",
  "dilation",
  "of",
  "lambda",
  "alpha",
  "__proto__",
  "constructor",
  "",
  "toString",
];
const layers = [
  { type: "conv2d", channels: 1, kernel: 1, stride: 10_000 },
  { type: "conv2d", channels: 2, kernel: 2, stride: 100_000 },
  { type: "conv2d", channels: 1, kernel: 1, padding: 8000 },
  { type: "conv2d", channels: 1, kernel: [1, 2], stride: [3, 100_000], padding: [0, 2] },
  { type: "max_pool2d", size: 1, stride: 100_000 },
  { type: "avg_pool2d", size: 2, stride: 65_536 },
  { type: "conv2d", channels: 65_536, kernel: 65_536 },
  { type: "dense", units: 2 ** 31 },
  { type: "dense", units: 1e6 },
  { type: "flatten" },
  { type: "relu" },
  { type: "leaky_relu", slope: 0 },
  { type: "leaky_relu", slope: 1e300 },
  { type: "leaky_relu", slope: -1 },
  { type: "leaky_relu", slope: 1e-320 },
  { type: "relu6" },
  { type: "tanh" },
  { type: "sigmoid" },
  { type: "softplus" },
  { type: "silu" },
  { type: "gelu" },
  { type: "gelu", approximate: "tanh" },
  { type: "batch_norm", mean: [0], variance: [1] },
  { type: "dense", units: 3 },
  { type: "scale" },
  { type: "add", from: ["input"] },
  { type: "add", from: [] },
  { type: "concat", from: ["input", "input"] },
  { type: "concat", from: "nothing" },
  { type: "relu", from: "input", name: "input" },
  { type: "pad_channels", before: 2 ** 31, after: 1 },
  { type: "pad_channels", after: 2 },
  { type: "global_avg_pool2d" },
  { type: "conv2d", channels: 4, kernel: 1, groups: 3 },
  { type: "conv2d", channels: 2, kernel: 2, dilation: 2 ** 31 },
  { type: "conv2d", channels: 2, kernel: 1, padding: [0, 8000, 0, 0], groups: 0 },
  { type: "max_pool2d", size: 2, padding: 2 },
  { type: "avg_pool2d", size: 1, padding: [0, 0, 3, 3] },
  { type: "dropout" },
  { type: "conv2d", channels: 1, kernel: 1, padding: 2 ** 31 },
];

/** A random place: the object or list that holds it, and its key there. */
function place(random, root) {
  let [holder, key] = [{ root }, "root"];
  for (;;) {
    const value = holder[key];
    const inner = value !== null && typeof value === "object" ? Object.keys(value) : [];
    if (inner.length === 0 || value.$ !== undefined || random.chance(0.2)) return { holder, key };
    [holder, key] = [value, random.pick(inner)];
  }
}

const copy = (value) => JSON.parse(JSON.stringify(value));

const changes = {
  number: (random, holder, key) => {
    holder[key] = random.pick(numbers);
  },
  other: (random, holder, key) => {
    holder[key] = copy(random.pick(others));
  },
  drop: (_random, holder, key) => void (Array.isArray(holder) ? holder.splice(key, 1) : delete holder[key]),
  duplicate: (random, holder, key) => {
    if (Array.isArray(holder)) holder.splice(key, 0, copy(holder[key]));
    else holder[random.pick(keys)] = copy(holder[key]);
  },
  many: (random, holder, key) => {
    if (Array.isArray(holder)) holder.splice(key, 0, ...Array(random.pick([10, 100, 3000])).fill(holder[key]));
    else holder[key] = Array(random.pick([10, 1000])).fill(holder[key]);
  },
  rename: (random, holder, key) => {
    if (Array.isArray(holder)) return;
    const value = holder[key];
    delete holder[key];
    holder[random.pick([...keys, key.toUpperCase(), `${key} `])] = value;
  },
  swap: (random, holder, key) => {
    const other = random.pick(Object.keys(holder));
    [holder[key], holder[other]] = [holder[other], holder[key]];
  },
  scale: (random, holder, key) => {
    const scale = (value) => (typeof value === "number" ? value * 10 ** random.between(-320, 300) : value);
    holder[key] = Array.isArray(holder[key]) ? holder[key].map(scale) : scale(holder[key]);
  },
  bury: (random, holder, key) => {
    holder[key] = random.chance(0.5) ? [holder[key]] : { of: holder[key] };
  },
  deep: (random, holder, key) => {
    const depth = random.pick([100, 130, 5000, 100_000]);
    holder[key] = $("deep", { depth, shape: random.pick(["array", "object"]) });
  },
};

/** A copy with some changes. */
export function mutated(random, value, most = 3) {
  const root = { root: copy(value) };
  for (let left = random.between(1, most); left > 0; left--) {
    const { holder, key } = place(random, root.root);
    const isRoot = holder[key] === root.root;
    const change = changes[random.chance(0.5) ? "number" : random.pick(Object.keys(changes))];
    if (isRoot && !random.chance(0.05)) left++;
    else change(random, isRoot ? root : holder, isRoot ? "root" : key);
    if (root.root === undefined) root.root = null;
  }
  return root.root;
}

/** A layer more, or other sizes: the changes that make large things of small text. */
export function mutatedNetwork(random, network) {
  const changed = copy(network);
  const index = random.int(changed.layers.length + 1);
  const dice = random.next();
  if (dice < 0.5) changed.layers.splice(index, random.int(2), copy(random.pick(layers)));
  else if (dice < 0.75) {
    const images = {
      input: random.pick([
        [1, 2, 2],
        [1, 1, 1],
        [2, 3, 3],
        [1, 1e5, 1e5],
        [1, 4000, 4000],
      ]),
      layers: [copy(random.pick(layers)), { type: "flatten" }, { type: "dense", units: 2 }],
    };
    return images;
  } else
    changed.input = random.pick([
      [2 ** 31],
      [0],
      [2 ** 32 + 1],
      [1e6],
      [1, 65_536, 65_536],
      [3, 1, 1],
      [],
      [1, 2],
      [1, 2, 3, 4],
      [0.5],
      [1, 1, 2 ** 53],
    ]);
  return changed;
}

/** Cuts, doubled pieces and single characters in a text. */
export function garbled(random, text) {
  const at = random.int(text.length);
  const end = Math.min(text.length, at + random.pick([1, 2, 10, 100]));
  return random.pick([
    text.slice(0, at),
    text.slice(0, at) + text.slice(end),
    text.slice(0, end) + text.slice(at),
    text.slice(0, at) +
      random.pick([
        '"',
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\u0000",
        "9",
        "e",
        "-",
        ".",
        "\\",
        "\ufeff",
        "NaN",
        "//",
        "\u{1f600}",
      ]) +
      text.slice(random.chance(0.5) ? at : at + 1),
  ]);
}
