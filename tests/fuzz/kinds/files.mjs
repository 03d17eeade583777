/** Problem files, networks, batch normalisations, transformations and IDX bytes: valid ones, then changed; what opens is computed with. */

import { faultsOfAnswers } from "../compute.mjs";
import { garbled, mutated, mutatedNetwork } from "../mutate.mjs";
import { file, problem, statedBytes } from "../problems.mjs";
import { $, rawText } from "../values.mjs";

let golden = [];
/** The valid files of tests/golden, without what they expect. */
export function useGolden(files) {
  golden = files.map(({ expected: _expected, ...rest }) => rest);
}

const maps = (random) => {
  const drawn = { seed: random.int(9), low: 0.5, high: 2 };
  const all = [
    { type: "random_layerwise", ...drawn },
    { type: "random_nodewise", ...drawn },
    { type: "random_permutation", seed: 1 },
    { type: "alpha_scale", alpha: 2 },
  ];
  return random.some([...all, { type: "composition", of: all.slice(0, 3) }], random.int(3));
};

const valid = (random) => {
  if (golden.length > 0 && random.chance(0.3)) return random.pick(golden);
  return { ...file(problem(random)), ...(random.chance(0.4) && { transformations: maps(random) }) };
};

const numbers = (random, count) => random.normals(count).map((value) => Number(value.toFixed(3)));
function batchNorm(random) {
  const channels = random.between(1, 4);
  const isImage = random.chance(0.4);
  const norm = {
    type: "batch_norm",
    mean: numbers(random, channels),
    variance: numbers(random, channels).map(Math.abs),
    scale: numbers(random, channels),
    shift: numbers(random, channels),
    epsilon: 1e-5,
  };
  const first = isImage
    ? { type: "conv2d", channels, kernel: 2, padding: random.int(2) }
    : { type: "dense", units: channels };
  const input = isImage ? [2, 4, 4] : [3];
  const layers = random.chance(0.7) ? [first, norm, { type: "relu" }] : [{ type: "identity" }, first, { type: "relu" }];
  if (isImage) layers.push({ type: "flatten" });
  const parameters = numbers(random, (isImage ? 8 : 3) * channels + channels);
  return { network: { input, layers }, parameters };
}

/** Bytes of an IDX file: magic, dimensions, values. */
function idx(random) {
  const shape = Array.from({ length: random.between(1, 3) }, () => random.between(0, 4));
  const count = shape.reduce((a, b) => a * b, 1);
  const bytes = [
    0,
    0,
    8,
    shape.length,
    ...shape.flatMap((n) => [0, 0, 0, n]),
    ...Array.from({ length: count }, () => random.int(256)),
  ];
  for (let changes = random.int(4); changes > 0; changes--) {
    const at = random.int(Math.min(bytes.length, 20));
    if (random.chance(0.7)) bytes[at] = random.pick([0, 1, 8, 9, 0x0d, 0x0e, 127, 128, 255]);
    else if (random.chance(0.5)) bytes.length = at;
    else bytes.push(random.int(256));
  }
  return bytes;
}

const work = (random) => {
  const seed = random.int(100);
  const some = [
    { do: "measure", options: { measures: ["hessian.trace", "gauss_newton.max_eigenvalue"], probes: 9, seed } },
    { do: "petzka", options: { maxProducts: 50 } },
    { do: "landscape", options: { directions: [{ type: "random", seed }], points: 3 } },
    { do: "train", options: { epochs: 1, batchSize: 3 } },
    { do: "density", options: { probes: 2, steps: 4, points: 8 } },
    { do: "trace", options: { method: "hutch_plus_plus", probes: 9 } },
    { do: "diagonal", options: { probes: 4 } },
    { do: "sharpness", options: { restarts: 1, maxIterations: 4 } },
    { do: "averageSharpness", options: { pairs: 2 } },
    {
      do: "invariance",
      options: { measures: ["loss"], transformations: [{ type: "random_nodewise", seed, low: 0.5, high: 2 }] },
    },
    { do: "eigenvalues", options: { top: 1, bottom: 1, maxProducts: 60 } },
    { do: "report", options: { sections: ["point", "norms", "petzka"] } },
    { do: "sharpen", options: { target: 1e4, maxProducts: 60 } },
    { do: "constantInBall", options: { epsilon: 1 } },
    { do: "volumeFlatness", options: { samples: 4, boxes: 2 } },
    { do: "manyLargeEigenvalues", options: { target: 10 } },
    { do: "eigenvalues", options: { space: { type: "weight_norm" }, maxProducts: 60 } },
    { do: "train", options: { epochs: 1, space: { type: "g_space" } } },
  ];
  return [{ do: "evaluate" }, { do: "outputs" }, { do: "gradient" }, ...random.some(some, 2)];
};

function generate(random) {
  const dice = random.next();
  const precision = random.pick(["f64", "f32"]);
  if (dice < 0.08) return { what: "idx", bytes: idx(random) };
  if (dice < 0.2) {
    const { network, parameters } = batchNorm(random);
    const changed = random.chance(0.8) ? mutated(random, { network, parameters }) : { network, parameters };
    return { what: "batch_norm", json: changed };
  }
  if (dice < 0.3) {
    const { network, parameters } = file(problem(random));
    const map = random.chance(0.2)
      ? $("composition", {
          depth: random.pick([100, 127, 128, 5000, 50_000]),
          core: { type: "random_permutation", seed: 1 },
        })
      : mutated(random, random.pick([...maps(random), { type: "permutation", permutations: [[1, 0]] }]), 2);
    return { what: "transformation", network, parameters, json: map };
  }
  const base = valid(random);
  if (dice < 0.45) {
    const network = random.chance(0.6) ? mutatedNetwork(random, base.network) : mutated(random, base.network);
    return { what: "network", json: network };
  }
  if (dice < 0.5) return { what: "file", precision, text: garbled(random, JSON.stringify(base)), work: work(random) };
  if (dice < 0.65) {
    // A network that states large things, with data that fit it as far as they go.
    const network = mutatedNetwork(random, base.network);
    const made = fitting(network, random);
    return { what: "file", precision, json: made ?? { ...base, network }, work: work(random) };
  }
  return { what: "file", precision, json: random.chance(0.9) ? mutated(random, base) : base, work: work(random) };
}

/** Data for a network whose text is small, if they are. */
function fitting(network, random) {
  if (
    statedBytes({ ...network, layers: network.layers.filter(({ type }) => type === "dense" || type === "conv2d") }, 0) >
    1e5
  )
    return undefined;
  const description = { network, loss: "cross_entropy", samples: random.between(1, 3), seed: random.int(100) };
  try {
    const made = file(description);
    return made.parameters.every(Number.isFinite) && made.inputs[0].length < 1e4 && made.targets.every(Number.isFinite)
      ? made
      : undefined;
  } catch {
    return undefined;
  }
}

const textOf = ({ json, text }) => text ?? rawText(plain(json));

/**
 * Deep nesting and compositions are written out, the first few of them: in a list that says one thing a thousand times they would
 * take all memory. What JSON has no word for stays tagged until `rawText`.
 */
function plain(value, left = { deep: 8 }) {
  if (Array.isArray(value)) return value.map((inner) => plain(inner, left));
  if (value === null || typeof value !== "object") return value;
  if (value.$ === "deep" || value.$ === "composition") return left.deep-- > 0 ? { $: "raw text", at: value } : [];
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner, left)]));
}

/** JSON of something too deep for `JSON.stringify`. */
function deepText({ $: name, depth, shape, core: innermost }) {
  if (name === "composition") {
    return '{"type":"composition","of":['.repeat(depth) + JSON.stringify(innermost) + "]}".repeat(depth);
  }
  const [open, core, close] = shape === "array" ? ["[", "", "]"] : ['{"of":', "{}", "}"];
  return open.repeat(depth) + core + close.repeat(depth);
}

const written = (test) => {
  let text = textOf(test);
  for (let at = text.indexOf('{"$":"raw text"'); at >= 0; at = text.indexOf('{"$":"raw text"')) {
    const end = endOf(text, at);
    text = text.slice(0, at) + deepText(JSON.parse(text.slice(at, end)).at) + text.slice(end);
  }
  return text;
};

/** Where the object that begins here ends. */
function endOf(text, from) {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    if (text[i] === "{") depth++;
    if (text[i] === "}" && --depth === 0) return i + 1;
  }
  return text.length;
}

async function execute(test, host) {
  const { what, precision, work = [] } = test;
  if (what === "file") {
    const answers = await host.compute({ file: written(test), precision, work });
    return { faults: faultsOfAnswers(answers, work), calls: answers.length, opened: answers[0]?.ok !== undefined };
  }
  const answers = await host.parse({
    what,
    bytes: test.bytes,
    network: test.network,
    parameters: test.parameters,
    text: what === "idx" ? undefined : written(test),
  });
  return {
    faults: faultsOfAnswers(
      answers,
      answers.map(() => ({ do: what })),
    ),
    calls: answers.length,
    opened: answers[0]?.ok !== undefined,
  };
}

/** Bytes that the case may take, by what its text states. */
function stated({ json, text, network }) {
  const written = (text?.length ?? 0) + (json === undefined ? 0 : JSON.stringify(json).length);
  const of = json?.network ?? network ?? json;
  const samples = Array.isArray(json?.inputs) ? json.inputs.length : 1;
  return 100 * written + (of?.layers === undefined ? 0 : statedBytes(of, samples));
}

export default { name: "files", targets: ["wasm", "cpu", "gpu"], generate, execute, stated };
