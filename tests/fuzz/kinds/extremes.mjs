/**
 * Small dense networks with weights and inputs from 1e−200 to 1e200 times the usual, dead ReLUs and saturated tanhs: every number
 * that comes back is compared with the reference, or it is an error, or it says itself that it has not converged.
 */

import { faultsOfAnswers } from "../compute.mjs";
import { dense, file } from "../problems.mjs";
import { Random } from "../random.mjs";
import { norm, Reference, summary } from "../reference.mjs";

const EPSILON = { f64: 2 ** -52, f32: 2 ** -23 };
/** What an iteration may stop at, relative to what it looks for. */
const ITERATED = { f64: 1e-6, f32: 5e-3 };
const DIRECT = { f64: 1e-9, f32: 1e-4 };
const exponents = [0, 0, 0, 1, -1, 3, -3, 10, -10, 30, -30, 60, -60, 100, -100, 160, -160, 200, -200, 300];
/** Errors that are an honest answer to numbers so large or small. */
const honest = new Set([
  "not_finite",
  "out_of_range",
  "too_large",
  "invalid_problem",
  "invalid_parameters",
  "not_homogeneous",
  "invalid_option",
]);

const measures = [
  "loss",
  "gradient_norm",
  "hessian.max_eigenvalue",
  "hessian.min_eigenvalue",
  "hessian.spectral_norm",
  "hessian.trace",
  "hessian.frobenius_norm",
  "gauss_newton.max_eigenvalue",
  "gauss_newton.trace",
  "gauss_newton.frobenius_norm",
];

/** Shapes of trouble. Each changes a description, and the file made from it. */
const ways = {
  scaled: (random) => ({
    weightScale: 10 ** random.pick(exponents),
    inputScale: random.chance(0.5) ? 1 : 10 ** random.pick(exponents),
  }),
  dead: (random) => ({ live: random.int(4), weightScale: random.pick([1, 1, 10]) }),
  saturated: (random) => ({ activation: { type: "tanh" }, weightScale: random.pick([1, 5, 20, 100, 1e4]) }),
  confident: (random) => ({ weightScale: random.pick([3, 10, 30, 100]) }),
  plain: () => ({}),
  layers: (random) => ({ layerScales: [10 ** random.pick(exponents), 10 ** -random.pick(exponents)] }),
};

/** Shuts all but a few hidden units for good: their biases lie far below what any input reaches. */
function kill(made, live) {
  let at = 0;
  let width = made.network.input[0];
  const dense = made.network.layers.filter(({ type }) => type === "dense");
  dense.forEach(({ units, bias }, l) => {
    at += units * width;
    if (bias !== false) {
      if (l < dense.length - 1) for (let i = live; i < units; i++) made.parameters[at + i] = -1e3;
      at += units;
    }
    width = units;
  });
}

function scaleLayers(made, scales) {
  let at = 0;
  let width = made.network.input[0];
  made.network.layers
    .filter(({ type }) => type === "dense")
    .forEach(({ units, bias }, l) => {
      for (let i = 0; i < units * width; i++) made.parameters[at + i] *= scales[l % scales.length];
      at += units * width + (bias === false ? 0 : units);
      width = units;
    });
}

export function make(description) {
  const made = file(description);
  if (description.live !== undefined) kill(made, description.live);
  if (description.layerScales !== undefined) scaleLayers(made, description.layerScales);
  return made;
}

function generate(random) {
  const way = random.pick(Object.keys(ways));
  const { activation = { type: random.pick(["relu", "relu", "identity", "tanh"]) }, ...rest } = ways[way](random);
  const isDead = way === "dead";
  const widths =
    isDead && random.chance(0.3)
      ? [20, 30, 30, 5]
      : [
          random.between(1, 5),
          random.between(1, 8),
          ...(random.chance(0.4) ? [random.between(2, 6)] : []),
          random.between(2, 4),
        ];
  return {
    way,
    precision: random.chance(0.6) ? "f64" : "f32",
    description: {
      network: dense(widths, {
        activation: isDead ? { type: "relu" } : activation,
        bias: isDead || random.chance(0.6),
      }),
      loss: random.pick(["cross_entropy", "cross_entropy", "squared_error"]),
      samples: widths[0] === 20 ? 3 : random.between(1, 10),
      seed: random.int(1e6),
      ...rest,
    },
    probes: random.pick([9, 30, 60, 90, 100]),
    seed: random.int(1000),
  };
}

/** Everything that is asked, and what it should be: `[work, expected(reference) → {path: number or list}]`. */
function questions({ probes, seed }, direction) {
  const operators = ["hessian", "gauss_newton"];
  const whole = (key) => (r) => {
    const own = { loss: r.loss, gradient_norm: norm(r.gradient) };
    const [operator, name] = key.split(".");
    const value = own[key] ?? r[operator]?.[name];
    if (value === undefined) throw new Error(`the reference has no ${key}`);
    return { value };
  };
  return [
    [{ do: "evaluate" }, (r) => ({ loss: r.loss })],
    [{ do: "outputs" }, (r) => ({ "": r.outputs })],
    [{ do: "gradient" }, (r) => ({ "": r.gradient })],
    ...operators.map((operator) => [
      { do: "product", direction, options: { operator } },
      (r) => ({ "": r.products[operator] }),
    ]),
    ...["auto", "hutchinson", "hutch_plus_plus"].map((method) => [
      { do: "trace", options: { method, probes, seed } },
      (r) => ({ value: r.hessian.trace }),
    ]),
    [{ do: "diagonal", options: { probes, seed } }, (r) => ({ values: r.hessian.diagonal })],
    ...["lanczos", "power"].map((method) => [
      { do: "eigenvalues", options: { method, seed } },
      (r) => ({ "top.0.value": method === "power" ? r.hessian.dominant : r.hessian.max_eigenvalue }),
    ]),
    ...measures.map((key) => [
      { do: "measure", options: { measures: [key], probes, seed } },
      (r) => mapKeys(whole(key)(r), (path) => `values.0.${path}`),
    ]),
  ];
}

const mapKeys = (object, f) => Object.fromEntries(Object.entries(object).map(([key, value]) => [f(key), value]));
const at = (value, path) => (path === "" ? value : path.split(".").reduce((of, key) => of?.[key], value));
/** A number too small for the format stays what it is: a tensor of such numbers is no tensor of zeros. */
const round = { f64: (x) => x, f32: (x) => (Math.fround(x) === 0 ? x : Math.fround(x)) };

/** All reference numbers; with noise, of a problem that differs by rounding. */
function answersOf(made, direction, options) {
  const reference = new Reference(made, options);
  if (!reference.isRepresentable) return undefined;
  const found = {
    loss: reference.loss(),
    outputs: reference.outputs(),
    gradient: [...reference.gradient()],
    products: {},
  };
  for (const operator of ["hessian", "gauss_newton"]) {
    found.products[operator] = [...reference.product(Float64Array.from(direction), operator)];
    found[operator] = summary(reference.matrix(operator));
    const { max_eigenvalue: max, min_eigenvalue: min } = found[operator];
    found[operator].dominant = Math.abs(max) >= Math.abs(min) ? max : min;
  }
  return found;
}

const list = (value) => (typeof value === "number" ? [value] : [...(value ?? [])]);
const distance = (a, b) => norm(Float64Array.from(a, (value, i) => value - b[i]));

/** One number or list against what it should be; undefined where nothing can be said against it. */
function compare({ found, answer, expected, blurred, precision, method, scale, spread, lost, probes }) {
  const own = list(found);
  const right = list(expected);
  const size = norm(Float64Array.from(right));
  if (!Number.isFinite(size) || right.length === 0 || own.length !== right.length) return undefined;
  // Near the smallest number of the format, products on the way lose their digits.
  const floor = Math.max(
    precision === "f32" ? 1e-32 : 1e-280,
    lost(/evaluate|outputs|gradient|loss/.test(method) ? 1 : 2),
  );
  const sensitivity = distance(right, list(blurred)) / NOISE;
  const error =
    answer.standardError ?? answer.values?.[0]?.standardError ?? norm(Float64Array.from(answer.standardErrors ?? []));
  const iterated = /eigen|spectral|power|lanczos/.test(method) ? ITERATED[precision] : DIRECT[precision];
  const residual = answer.top?.[0]?.residual ?? answer.values?.[0]?.residual ?? 0;
  const allowed =
    iterated * Math.max(size, scale) +
    300 * EPSILON[precision] * sensitivity +
    errors(method, probes) * (Number.isFinite(error) ? error : 0) +
    2 * residual +
    spread +
    floor;
  const off = distance(own, right);
  if (off <= allowed || !Number.isFinite(allowed)) return undefined;
  return `is ${own.length === 1 ? own[0] : `off by ${off.toExponential(2)}`}, should be ${right.length === 1 ? right[0] : `of norm ${size.toExponential(2)}`}; allowed ± ${allowed.toExponential(1)}`;
}

const NOISE = 1e-7;

/**
 * How many of its own standard errors an estimate may be off in one of millions of cases: one that is made of few samples
 * tells little. Hutch++ takes a third of its probes for the rest, and these samples have but a few values each.
 */
function errors(method, probes) {
  const samples = /hutch_plus|frobenius|trace/.test(method) && !/hutchinson/.test(method) ? probes / 3 : probes;
  return samples < 8 ? 1000 : samples < 15 ? 40 : 12;
}

/** What a mean over a few random signs may be off though all of them agreed, as they do on few coordinates: its own spread. */
function ofSigns(method, { frobenius_norm: norm, diagonal }, probes = 100) {
  if (!/hutchinson|diagonal/.test(method) || probes >= 15) return 0;
  const beside = Math.max(norm ** 2 - diagonal.reduce((sum, x) => sum + x * x, 0), 0);
  return 12 * Math.sqrt((2 * beside) / probes);
}

/**
 * What can be lost in numbers of this order in the weights (1: outputs and gradients, 2: curvatures) because something on the way
 * is below the format's smallest number and is then multiplied by large weights or inputs.
 */
function losses(made, precision) {
  const largest = (values) => values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const sizes = [largest(made.inputs.flat())];
  let at = 0;
  let width = made.network.input[0];
  for (const { type, units, bias } of made.network.layers) {
    if (type !== "dense") continue;
    const end = at + units * width + (bias === false ? 0 : units);
    sizes.push(largest(made.parameters.slice(at, end)));
    [at, width] = [end, units];
  }
  const product = (of) => sizes.map(of).reduce((a, b) => a * b, 1);
  const [small, large] = [product((x) => Math.min(x, 1)), product((x) => Math.max(x, 1))];
  const [least, tiny] = precision === "f32" ? [1e-30, 1e-45] : [1e-290, 5e-324];
  return (order) => (small ** 2 > least ? 0 : 1e3 * tiny * large ** order);
}

const claims = (answer) => (answer.converged ?? answer.values?.[0]?.converged ?? true) === true;

async function execute(test, host) {
  const made = make(test.description);
  const direction = new Random(`direction ${test.seed}`).normals(made.parameters.length);
  const asked = questions(test, direction);
  const work = asked.map(([of]) => of);
  const answers = await host.compute({ file: made, precision: test.precision, work });
  const faults = faultsOfAnswers(answers, work);
  if (answers[0].ok === undefined) return { faults, calls: 1 };
  const reference = answersOf(made, direction, { round: round[test.precision] });
  if (reference === undefined) {
    const taken = work.filter((_, i) => answers[i + 1]?.ok !== undefined && claims(answers[i + 1].ok));
    const detail = "numbers beyond the format are taken as if they were within";
    for (const of of taken) faults.push({ failure: "range", where: `${of.do} in ${test.precision}`, detail });
    return { faults, calls: work.length };
  }
  // A large network's reference takes seconds; once is enough.
  const blurred =
    made.parameters.length > 300
      ? reference
      : answersOf(made, direction, { round: round[test.precision], noise: NOISE, seed: 1 });
  const lost = losses(made, test.precision);
  asked.forEach(([of, expect], i) => {
    const answer = answers[i + 1];
    const method = `${of.do} ${of.options?.method ?? of.options?.measures?.[0] ?? ""}`.trim();
    const [expected, around] = [expect(reference), expect(blurred)];
    if (answer?.error !== undefined && !honest.has(answer.error.code)) return;
    if (answer?.error !== undefined) {
      const isPlain =
        ["plain", "saturated", "confident", "dead"].includes(test.way) && answer.error.code !== "not_homogeneous";
      if (isPlain)
        faults.push({ failure: "refused", where: method, detail: `${answer.error.code}: ${answer.error.message}` });
      return;
    }
    if (answer?.ok === undefined || !claims(answer.ok)) return;
    // An eigenvalue is as exact as the spectrum is large.
    const spread = /hutch|diagonal|trace/.test(method)
      ? 300 * EPSILON[test.precision] * reference.hessian.frobenius_norm +
        ofSigns(method, reference.hessian, test.probes)
      : 0;
    const scale = /eigen|spectral/.test(method)
      ? reference[/gauss/.test(method) ? "gauss_newton" : "hessian"].spectral_norm
      : 0;
    for (const [path, value] of Object.entries(expected)) {
      const found = {
        found: at(answer.ok, path),
        answer: answer.ok,
        expected: value,
        blurred: around[path],
        precision: test.precision,
        method,
        scale,
        spread,
        lost,
        probes: test.probes ?? 100,
      };
      const wrong = compare(found);
      if (wrong !== undefined)
        faults.push({ failure: "wrong", where: `${method} in ${test.precision}`, detail: wrong });
    }
  });
  return { faults, calls: work.length };
}

/** A large network's reference takes seconds, more on a busy computer. */
const TIME = 45_000;

export default { name: "extremes", time: TIME, targets: ["wasm", "cpu", "gpu"], generate, execute };
