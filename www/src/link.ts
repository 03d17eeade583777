/** The page's state as an address: whoever opens it sees the same numbers. Short, and a person can read it. */

import { LANDSCAPE, MODEL, TRAINING } from "./arrival/arrival";
import { LAYER_DECADES } from "./bends";
import type { Bend, Sharpness, State } from "./store";
import type { InitScheme, LandscapeChoice, ModelChoice, TrainChoice } from "./worker/protocol";

export interface Link {
  /** Null for the network that the page comes with. */
  trained: { model: ModelChoice; training: TrainChoice | null } | null;
  sharpness: Sharpness;
  /** Null where the slider alone says it. */
  lambda: number[] | null;
  nodewise: Bend["nodewise"];
  permutation: Bend["permutation"];
  landscape: LandscapeChoice;
}

type Linked = Pick<
  State,
  "modelChoice" | "trainChoice" | "training" | "sharpness" | "bend" | "landscapeChoice" | "opened"
>;

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What stands behind `#/part`; null where the network came in files, which no address holds. */
export function queryOf(state: Linked, isBySlider: boolean): string | null {
  const { modelChoice: model, trainChoice, training, sharpness, bend, landscapeChoice: at } = state;
  if (!model) return null;
  const query = new URLSearchParams();
  if (!same(model, MODEL) || !same(trainChoice, TRAINING)) {
    const { network, init, data, measured } = model;
    query.set(
      "net",
      network.kind === "preset" ? network.name : `${network.widths.join("-")}${network.bias ? "" : "!"}`,
    );
    query.set("init", [init.scheme, init.scale, init.seed].join("_"));
    query.set("data", data.kind === "mnist" ? `mnist_${data.samples}` : `random_${data.samples}_${data.seed}`);
    query.set("measured", String(measured));
    if (training && trainChoice) {
      const { optimizer, learningRate, batchSize, epochs, seed } = trainChoice;
      query.set("train", [optimizer, learningRate, batchSize, epochs, seed].join("_"));
    }
  }
  if (isBySlider) {
    if (sharpness.way === "sharpen") query.set("way", "sharpen");
    if (sharpness.decades > 0) query.set("s", String(Number(sharpness.decades.toFixed(2))));
  } else query.set("lambda", bend.lambda.map((factor) => Number(factor.toPrecision(6))).join("_"));
  if (bend.nodewise) query.set("units", `${bend.nodewise.seed}_${bend.nodewise.range}`);
  if (bend.permutation) query.set("order", String(bend.permutation.seed));
  if (!same(at, LANDSCAPE)) {
    query.set("view", [at.directions, at.normalization, at.seed, at.points, at.atBent].join("_"));
  }
  return query.toString();
}

/** Null where the address says nothing but a part. What it says wrongly is left out. */
export function readQuery(text: string): Link | null {
  const query = new URLSearchParams(text);
  const known = ["net", "way", "s", "lambda", "units", "order", "view"];
  if (!known.some((name) => query.has(name))) return null;
  const decades = between(Number(query.get("s") ?? 0), 0, 2 * LAYER_DECADES) ?? 0;
  const lambda = numbers(query.get("lambda"));
  const [unitSeed, range] = numbers(query.get("units"));
  const [order] = numbers(query.get("order"));
  return {
    trained: trainedOf(query),
    sharpness: { way: query.get("way") === "sharpen" ? "sharpen" : "bend", decades },
    lambda: lambda.length > 0 && lambda.every((factor) => factor > 0) ? lambda : null,
    nodewise: whole(unitSeed) && range !== undefined && range > 1 ? { seed: unitSeed, range } : null,
    permutation: whole(order) ? { seed: order } : null,
    landscape: viewOf(query.get("view")),
  };
}

function trainedOf(query: URLSearchParams): Link["trained"] {
  const network = networkOf(query.get("net"));
  const [scheme = "", scale, initSeed] = parts(query.get("init"));
  const [kind, samples, dataSeed] = parts(query.get("data"));
  const count = Number(samples);
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

function viewOf(text: string | null): LandscapeChoice {
  const [directions, normalization, seed, points, atBent] = parts(text);
  const [drawn, side] = [Number(seed), Number(points)];
  if (!whole(drawn) || !whole(side) || between(side, 11, 31) === null || side % 2 === 0) return LANDSCAPE;
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
