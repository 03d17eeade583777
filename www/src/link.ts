/** The page's state as an address: whoever opens it sees the same numbers. Short, and a person can read it. */

import type { BackendInfo, OperatorDescription } from "isoflat";
import { LANDSCAPE, MODEL } from "./arrival/arrival";
import { LAYER_DECADES, lambdaFor } from "./bends";
import { cameraText, type Look, lookOf, lookText } from "./charts/camera";
import { CONSTRUCTIONS, choiceOf } from "./constructions";
import { isArrival } from "./kept";
import { MNIST_SAMPLES } from "./networks";
import { same } from "./same";
import { seedsOf, TABLES } from "./seeds";
import { type SpacesChoice, spacesOf, spacesText } from "./spaces/settings";
import { SPECTRUM } from "./states";
import { type Asked, type Bend, found, type Sharpness, type State } from "./store";
import { checkTransformations, UNIT_RANGE } from "./transformations";
import type {
  AnyFound,
  BackendChoice,
  InitScheme,
  LandscapeChoice,
  ModelChoice,
  SpectrumChoice,
  TrainChoice,
} from "./worker/protocol";

/** What computes, as a person chooses it. */
type Device = Exclude<BackendChoice, "auto">;

export interface Link {
  /** Null for the network that the page comes with. */
  trained: { model: ModelChoice; training: TrainChoice | null } | null;
  /** Samples that are measured of the network that the page comes with; null for as many as it comes with. */
  measured: number | null;
  /** Null where any will do. */
  device: Device | null;
  /** What trained it, if another one measures. */
  trainedOn: Device | null;
  sharpness: Sharpness;
  powersOfTwo: boolean;
  /** Null where the slider alone says it. */
  lambda: number[] | null;
  nodewise: Bend["nodewise"];
  permutation: Bend["permutation"];
  landscape: LandscapeChoice;
  look: Look;
  spectrum: SpectrumChoice;
  /** Of the invariance check, where it was asked for. */
  check: { range: number; searches: boolean } | null;
  /** What else a person has asked for. */
  asked: Omit<Asked, "check">;
  /** Of the part on parameter spaces, where it is another setting than that opens with. */
  spaces: SpacesChoice | null;
  /** It says nothing of the stage, which stays as it is. */
  leavesStage: boolean;
  /** Parts of it that say nothing, as they stand there. */
  unread: string[];
}

/** What stands behind `#/part`; null where no address holds the state: of files, and of a training that was stopped. */
export function queryOf(state: State): string | null {
  const { modelChoice: model, training, engine, dinh, landscapeChoice: at, look, spectrumChoice: spectrum } = state;
  if (!model || training?.stopped) return null;
  const query = new URLSearchParams();
  const set = (name: string, value: string | null): void => {
    if (value !== null) query.set(name, value);
  };
  sayNetwork(state, model, set);
  // To a GPU's precision, or to the CPU's.
  if (engine) set("on", deviceOf(engine.info.backend));
  sayBend(state, set);
  if (dinh.powersOfTwo) set("pow2", "1");
  if (!same(at, LANDSCAPE)) set("view", [at.directions, at.normalization, at.seed, at.points, at.atBent].join("_"));
  set("show", lookText(look));
  set("cam", cameraText(look.orbit));
  if (!same(spectrum, SPECTRUM)) {
    set("spectrum", [spectrum.operator, spectrum.part, spectrum.probes, spectrum.steps].join("-"));
  }
  sayAsked(state, set);
  set("spaces", spacesText(state.spaces));
  return query.toString();
}

type Say = (name: string, value: string | null) => void;

export const deviceOf = (backend: BackendInfo["backend"]): Device => (backend === "gpu" ? "webgpu" : "cpu");

function sayNetwork({ stamp, trainChoice, training, engine }: State, model: ModelChoice, set: Say): void {
  const { network, init, data, measured } = model;
  // Trained here with the same options it is nearly the same, and has weights of its own.
  if (stamp !== null && isArrival(stamp)) {
    if (measured !== MODEL.measured) set("measured", String(measured));
    return;
  }
  set("net", network.kind === "preset" ? network.name : `${network.widths.join("-")}${network.bias ? "" : "!"}`);
  set("init", [init.scheme, init.scale, init.seed].join("_"));
  set("data", data.kind === "mnist" ? `mnist_${data.samples}` : `random_${data.samples}_${data.seed}`);
  set("measured", String(measured));
  if (!training || !trainChoice) return;
  const { optimizer, learningRate, batchSize, epochs, seed } = trainChoice;
  set("train", [optimizer, learningRate, batchSize, epochs, seed].join("_"));
  if (training.backend && training.backend !== engine?.info.backend) set("by", deviceOf(training.backend));
}

function sayBend({ model, sharpness, bend, dinh }: State, set: Say): void {
  const slider = model && lambdaFor(sharpness, model, found(dinh.valley), dinh.powersOfTwo);
  // With all digits: the same numbers come of the same factors.
  if (!same(slider, bend.lambda)) set("lambda", bend.lambda.join("_"));
  else {
    if (sharpness.way === "sharpen") set("way", "sharpen");
    if (sharpness.decades > 0) set("s", String(sharpness.decades));
  }
  if (bend.nodewise) set("units", `${bend.nodewise.seed}_${bend.nodewise.range}`);
  if (bend.permutation) set("order", String(bend.permutation.seed));
}

/** What is there, or on its way. */
function sayAsked(state: State, set: Say): void {
  const { asked, spectra, densities, dinh, invariance, checkChoice, bend, model } = state;
  const isAsked: Partial<Record<keyof Asked, boolean>> = {
    spectrum: asked.spectrum === true || (spectra.trained ?? densities.trained) !== undefined,
  };
  for (const what of CONSTRUCTIONS) {
    const choice = choiceOf(what);
    if (!choice) isAsked[what] = asked[what] !== undefined || dinh[what] !== null;
  }
  const names = Object.entries(isAsked).flatMap(([name, is]) => (is ? [name] : []));
  if (names.length > 0) set("with", names.join("_"));
  for (const what of CONSTRUCTIONS) {
    const there = found<AnyFound>(dinh[what]);
    const chosen = asked[what] ?? (there && choiceOf(what)?.of(there));
    if (choiceOf(what) && chosen) set(what, String(chosen));
  }
  for (const name of TABLES) {
    const seeds = asked[name] ?? state[name]?.seeds.length;
    if (seeds !== undefined) set(name, String(seeds));
  }
  if (!checkChoice || !(asked.check || invariance)) return;
  const { range, searches, transformations } = checkChoice;
  // One of a bend that the page has left is none that opening the address would find.
  if (!same(transformations, checkTransformations(bend, model?.depth ?? 1, range))) return;
  set("check", searches ? `${range}_searches` : String(range));
}

/** Null where the address says nothing but a part. What it says wrongly is left out, and told. */
export function readQuery(text: string): Link | null {
  const query = new URLSearchParams(text);
  if (!KNOWN.some((name) => query.has(name))) return null;
  const unread: string[] = [];
  const read = <T>(name: string, parse: (text: string) => T | null): T | null => {
    const text = query.get(name);
    if (!text) return null;
    const found = parse(text);
    if (found === null) unread.push(`${name}=${text}`);
    return found;
  };
  // Its parts are of use together.
  const trained = query.has("net") ? trainedOf(query) : null;
  const ofNetwork = ["net", "init", "data", "measured"].filter((name) => query.has(name));
  if (query.has("net") && !trained) unread.push(ofNetwork.map((name) => `${name}=${query.get(name)}`).join("&"));
  const measured = query.has("net") ? null : read("measured", measuredOf);
  return {
    trained,
    measured,
    device: read("on", device),
    trainedOn: read("by", device),
    sharpness: {
      way: query.get("way") === "sharpen" ? "sharpen" : "bend",
      decades: read("s", (text) => between(Number(text), 0, 2 * LAYER_DECADES)) ?? 0,
    },
    powersOfTwo: query.get("pow2") === "1",
    lambda: read("lambda", lambdaOf),
    nodewise: read("units", unitsOf),
    permutation: read("order", orderOf),
    landscape: read("view", viewOf) ?? LANDSCAPE,
    look: lookOf(query.get("show"), query.get("cam")),
    spectrum: read("spectrum", spectrumOf) ?? SPECTRUM,
    check: read("check", checkOf),
    asked: askedOf(query),
    spaces: read("spaces", spacesOf),
    leavesStage: !KNOWN.some((name) => name !== "spaces" && query.has(name)),
    unread,
  };
}

function measuredOf(text: string): number | null {
  const samples = Number(text);
  return whole(samples) && samples > 0 ? samples : null;
}

function lambdaOf(text: string): number[] | null {
  const factors = numbers(text);
  return factors.length > 0 && factors.every((factor) => factor > 0) ? factors : null;
}

function unitsOf(text: string): Bend["nodewise"] {
  const [seed, range] = numbers(text);
  return whole(seed) && range !== undefined && between(range, ...UNIT_RANGE) !== null ? { seed, range } : null;
}

function orderOf(text: string): Bend["permutation"] {
  const [seed] = numbers(text);
  return whole(seed) ? { seed } : null;
}

const KNOWN = [
  ...["net", "measured", "on", "way", "s", "pow2", "lambda", "units", "order"],
  ...["view", "show", "cam", "spectrum", "with", "check", "spaces"],
  ...TABLES,
  ...CONSTRUCTIONS.filter((what) => choiceOf(what)),
];

const device = (text: string): Device | null => (text === "cpu" || text === "webgpu" ? text : null);

function askedOf(query: URLSearchParams): Link["asked"] {
  const names = new Set((query.get("with") ?? "").split("_"));
  const built = CONSTRUCTIONS.flatMap((what) => {
    const choice = choiceOf(what);
    const asked = choice ? choice.read(query.get(what) ?? "") : names.has(what) || null;
    return asked === null ? [] : [[what, asked] as const];
  });
  return {
    ...(names.has("spectrum") && { spectrum: true }),
    ...Object.fromEntries(built),
    ...Object.fromEntries(
      TABLES.flatMap((name) => {
        const seeds = seedsOf(Number(query.get(name)));
        return seeds === null ? [] : [[name, seeds]];
      }),
    ),
  };
}

function checkOf(text: string): Link["check"] {
  const [range, searches] = text.split("_");
  const wanted = between(Number(range), ...UNIT_RANGE);
  return wanted === null ? null : { range: wanted, searches: searches === "searches" };
}

/** Which operators there are the engine says. */
function spectrumOf(text: string): SpectrumChoice | null {
  const [operator = "", part = "", ...counts] = text.split("-");
  const [probes, steps] = counts.map(Number);
  const isPart = part === "all" || part === "weights" || /^layer_[1-9]\d*$/.test(part);
  if (!operator || !isPart || !whole(probes) || !whole(steps)) return null;
  if (between(probes, 1, MOST_PROBES) === null || between(steps, 2, MOST_STEPS) === null) return null;
  return { operator: operator as SpectrumChoice["operator"], part: part as SpectrumChoice["part"], probes, steps };
}

/** Why there is no such spectrum; null where there is. */
export function noSpectrum(
  { operator, part }: SpectrumChoice,
  operators: readonly Pick<OperatorDescription, "name">[],
  depth: number,
): string | null {
  if (operators.every(({ name }) => name !== operator))
    return `The address asks for a spectrum of “${operator}”, and there is no such operator`;
  const [, layer] = /^layer_(.+)$/.exec(part) ?? [];
  if (Number(layer ?? 0) <= depth) return null;
  return `The address asks for the spectrum of layer ${layer}, and this network has ${depth} layers`;
}

/** More than any choice of the page: an address should not hold a computer up. */
const [MOST_PROBES, MOST_STEPS] = [100, 1000];

function trainedOf(query: URLSearchParams): Link["trained"] {
  const network = networkOf(query.get("net"));
  const [scheme = "", scale, initSeed] = parts(query.get("init"));
  const [kind, samples, dataSeed] = parts(query.get("data"));
  const asked = Number(samples);
  const count = kind === "random" ? asked : Math.min(asked, MNIST_SAMPLES);
  const measured = Number(query.get("measured"));
  if (!network || !SCHEMES.has(scheme) || !whole(count) || count < 1 || !whole(measured) || measured < 1) return null;
  const model: ModelChoice = {
    network,
    init: { scheme: scheme as InitScheme, scale: Number(scale) || 1, seed: Number(initSeed) || 0 },
    data:
      kind === "random"
        ? { kind: "synthetic", samples: count, seed: Number(dataSeed) || 0 }
        : { kind: "mnist", samples: count },
    measured,
  };
  const [optimizer = "", ...rest] = parts(query.get("train"));
  const [learningRate = 0, batchSize = 0, epochs = 0, seed = 0] = rest.map(Number);
  const isTraining = OPTIMIZERS.has(optimizer) && learningRate > 0 && whole(batchSize) && whole(epochs) && epochs > 0;
  const training = { optimizer: optimizer as TrainChoice["optimizer"], learningRate, batchSize, epochs, seed };
  return { model, training: isTraining ? training : null };
}

const SCHEMES: ReadonlySet<string> = new Set<InitScheme>([
  "kaiming_uniform",
  "kaiming_normal",
  "xavier_normal",
  "pytorch",
  "uniform",
  "normal",
]);
const OPTIMIZERS: ReadonlySet<string> = new Set<TrainChoice["optimizer"]>(["sgd", "momentum", "adam"]);

function networkOf(text: string | null): ModelChoice["network"] | null {
  if (!text) return null;
  const widths = text.replace("!", "").split("-").map(Number);
  if (widths.length > 1 && widths.every((width) => whole(width) && width > 0)) {
    return { kind: "widths", widths, bias: !text.endsWith("!") };
  }
  // The engine says which presets there are.
  return { kind: "preset", name: text as Extract<ModelChoice["network"], { kind: "preset" }>["name"] };
}

function viewOf(text: string): LandscapeChoice | null {
  const [directions, normalization, seed, points, atBent] = parts(text);
  const [drawn, side] = [Number(seed), Number(points)];
  if (!whole(drawn) || !whole(side) || between(side, 11, 31) === null || side % 2 === 0) return null;
  return {
    directions: directions === "eigenvectors" || directions === "way" ? directions : "random",
    normalization: normalization === "layer" || normalization === "none" ? normalization : "filter",
    seed: drawn,
    points: side,
    atBent: atBent === "anew" ? "anew" : "same",
  };
}

/** Names have single underscores in them: `kaiming_uniform`. */
function parts(text: string | null): string[] {
  const found = (text ?? "").split("_").filter((part) => part !== "");
  const [first, second] = found;
  return first && second && SCHEMES.has(`${first}_${second}`) ? [`${first}_${second}`, ...found.slice(2)] : found;
}

const numbers = (text: string | null): number[] => parts(text).map(Number).filter(Number.isFinite);
const whole = (value: number | undefined): value is number => Number.isSafeInteger(value) && (value ?? -1) >= 0;
const between = (value: number, low: number, high: number): number | null =>
  value >= low && value <= high ? value : null;
