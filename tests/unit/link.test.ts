import { describe, expect, test } from "vitest";
import { LANDSCAPE, MODEL, TRAINING } from "../../www/src/arrival/arrival";
import { checkChoiceOf } from "../../www/src/asking";
import { lambdaFor } from "../../www/src/bends";
import { cameraText, FIRST_LOOK } from "../../www/src/charts/camera";
import { moved } from "../../www/src/charts/orbit";
import { PARTS } from "../../www/src/kept";
import { type Link, noSpectrum, queryOf, readQuery } from "../../www/src/link";
import { LONGER, QUICK, spacesAddress } from "../../www/src/spaces/settings";
import { FIRST_STATE, SPECTRUM } from "../../www/src/states";
import { type Key, NO_DINH, NOT_SHARP, type State } from "../../www/src/store";
import type { ModelChoice, TrainChoice } from "../../www/src/worker/protocol";
import { model, state } from "./states";

const own: ModelChoice = {
  network: { kind: "widths", widths: [784, 30, 10], bias: false },
  init: { scheme: "xavier_normal", scale: 1.5, seed: 4 },
  data: { kind: "synthetic", samples: 200, seed: 4 },
  measured: 50,
};
const adam: TrainChoice = { optimizer: "adam", learningRate: 0.001, batchSize: 32, epochs: 2, seed: 4 };
const training = { epochs: 2, stopped: false, loss: 1, accuracy: 0.5 };
const arrived = state({
  stamp: "arrival x",
  modelChoice: MODEL,
  trainChoice: TRAINING,
  training,
  landscapeChoice: LANDSCAPE,
  spectrumChoice: SPECTRUM,
});
const NOTHING: Link = {
  trained: null,
  measured: null,
  device: null,
  trainedOn: null,
  sharpness: NOT_SHARP,
  powersOfTwo: false,
  lambda: null,
  nodewise: null,
  permutation: null,
  landscape: LANDSCAPE,
  look: FIRST_LOOK,
  spectrum: SPECTRUM,
  check: null,
  asked: {},
  spaces: null,
  leavesStage: false,
  unread: [],
};

/** Bent as the slider says. */
const slid = (at: State, sharpness: State["sharpness"]): State => ({
  ...at,
  sharpness,
  bend: { ...at.bend, lambda: lambdaFor(sharpness, model(), null, false) ?? [] },
});

const CHOSEN = { ball: 0.01, radial: 100, normalized: true, inputs: "whiten" } as const;

/** Another network than the page comes with, and everything chosen otherwise than the page opens. */
const rich = (): State => {
  const at = state({
    stamp: "1 2",
    modelChoice: own,
    trainChoice: adam,
    training,
    bend: { lambda: [4, 0.25], nodewise: { seed: 3, range: 10 }, permutation: { seed: 2 } },
    landscapeChoice: { directions: "eigenvectors", normalization: "layer", seed: 7, points: 31, atBent: "anew" },
    look: { view: "contour", height: "linear", orbit: moved(FIRST_LOOK.orbit, { around: 1 }) },
    spectrumChoice: { operator: "gauss_newton", part: "layer_2", probes: 10, steps: 100 },
    dinh: { ...NO_DINH, powersOfTwo: true },
    spaces: { experiment: "grid", setting: LONGER },
    asked: { check: true, spectrum: true, boxes: true, many: true, table2: 5, table3: 1, ...CHOSEN },
  });
  return { ...at, checkChoice: checkChoiceOf(at, 5, true) };
};

/** Of each part of the state: does an address say it, does it follow from what an address says, or is it of this visit alone? */
const PLACES: Record<Key, "said" | "follows" | "here"> = {
  modelChoice: "said",
  trainChoice: "said",
  engine: "said",
  sharpness: "said",
  bend: "said",
  landscapeChoice: "said",
  look: "said",
  spectrumChoice: "said",
  dinh: "said",
  checkChoice: "said",
  asked: "said",
  spaces: "said",
  descriptions: "follows",
  operators: "follows",
  model: "follows",
  training: "follows",
  way: "follows",
  bendSummary: "follows",
  examples: "follows",
  accuracy: "follows",
  lines: "follows",
  surfaces: "follows",
  measures: "follows",
  layers: "follows",
  spectra: "follows",
  densities: "follows",
  invariance: "follows",
  table2: "follows",
  table3: "follows",
  task: "here",
  progress: "here",
  waiting: "here",
  paused: "here",
  isWanted: "here",
  backend: "here",
  costs: "here",
  opened: "here",
  unfinished: "here",
  stamp: "here",
  shelf: "here",
  undo: "here",
  redo: "here",
  ready: "here",
  preview: "here",
  growing: "here",
};

/** What else a leaf of those parts could be. Null: an address need not say it, for the reason beside it. */
const OTHERWISE: Record<string, unknown> = {
  "modelChoice.network.kind": null, // With its fields, below.
  "modelChoice.network.widths": [784, 20, 10],
  "modelChoice.network.bias": true,
  "modelChoice.init.scheme": "kaiming_normal",
  "modelChoice.init.scale": 2,
  "modelChoice.init.seed": 5,
  "modelChoice.data.kind": null, // With its fields, below.
  "modelChoice.data.samples": 300,
  "modelChoice.data.seed": 6,
  "modelChoice.measured": 60,
  "trainChoice.optimizer": "sgd",
  "trainChoice.learningRate": 0.0123,
  "trainChoice.batchSize": 16,
  "trainChoice.epochs": 3,
  "trainChoice.seed": 5,
  "engine.info.backend": "gpu",
  "engine.info.adapter": null, // Another computer's is another one.
  "engine.info.api": null, // Follows from the backend, as the precision does.
  "engine.info.precision": null,
  "engine.info.isSoftware": null, // Another computer's.
  "engine.info.threads": null, // Only the order of sums: the last digits of doubles.
  "sharpness.way": "sharpen",
  "sharpness.decades": 1.25,
  "bend.lambda": [0.1, 10],
  "bend.nodewise.seed": 4,
  "bend.nodewise.range": 12.5,
  "bend.permutation.seed": 3,
  "landscapeChoice.directions": "random",
  "landscapeChoice.normalization": "none",
  "landscapeChoice.seed": 8,
  "landscapeChoice.points": 21,
  "landscapeChoice.atBent": "same",
  "look.view": "line",
  "look.height": "log",
  "look.orbit.position": moved(FIRST_LOOK.orbit, { around: 2, lift: 0.2, closer: 1.2 }).position,
  "look.orbit.zoom": null, // Hands come closer and do not zoom: it is 1.
  "spectrumChoice.operator": "riemannian.layerwise_flat",
  "spectrumChoice.part": "weights",
  "spectrumChoice.probes": 11,
  "spectrumChoice.steps": 101,
  "dinh.decades": null, // The slider's.
  "dinh.powersOfTwo": false,
  "dinh.valley": null, // Results, as the others that are null as the page begins.
  "dinh.sharpened": null,
  "dinh.boxes": null,
  "dinh.many": null,
  "dinh.ball": null,
  "dinh.radial": null,
  "dinh.normalized": null,
  "dinh.inputs": null,
  "checkChoice.range": 6,
  "checkChoice.searches": false,
  "checkChoice.transformations": null, // Follow from range and bend.
  "checkChoice.keys": null, // Follow from the searches.
  "asked.check": null, // With the check's choice.
  "asked.spectrum": undefined,
  "asked.boxes": undefined,
  "asked.many": undefined,
  "asked.table2": 20,
  "asked.table3": 3,
  "asked.ball": 0.02,
  "asked.radial": 0.01,
  "asked.normalized": undefined,
  "asked.inputs": "gaussianize",
  "spaces.experiment": "kept",
  "spaces.setting.images": 384,
  "spaces.setting.testImages": 100,
  "spaces.setting.batch": 32,
  "spaces.setting.epochs": 2,
  "spaces.setting.seed": 9,
  "spaces.setting.repeats": 5,
};

const isBranch = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Map);

const leavesOf = (value: unknown, path: string): string[] =>
  isBranch(value) ? Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, `${path}.${name}`)) : [path];

function changed<T>(of: T, [name = "", ...rest]: string[], value: unknown): T {
  const inner = (of as Record<string, unknown>)[name];
  return { ...of, [name]: rest.length > 0 ? changed(inner, rest, value) : value };
}

const at = (of: unknown, path: string[]): unknown =>
  path.reduce((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], of);

/** What opening an address makes of the state, as far as it is said there. */
const opened = (link: Link | null): Record<string, unknown> => ({
  modelChoice: link?.trained?.model,
  trainChoice: link?.trained?.training,
  engine: { info: { backend: link?.device === "webgpu" ? "gpu" : link?.device } },
  sharpness: link?.sharpness,
  bend: link,
  landscapeChoice: link?.landscape,
  look: link?.look,
  spectrumChoice: link?.spectrum,
  dinh: { powersOfTwo: link?.powersOfTwo },
  checkChoice: link?.check,
  asked: link?.asked,
  spaces: link?.spaces,
});

describe("A link", () => {
  test("of the page as it opens says nothing but the slider and the device", () => {
    const at = slid(arrived, { way: "bend", decades: 3.5 });
    expect(queryOf(at)).toBe("on=cpu&s=3.5");
    expect(queryOf({ ...at, spaces: { experiment: "rates", setting: QUICK } })).toBe("on=cpu&s=3.5");
    expect(readQuery("s=3.5")).toEqual({ ...NOTHING, sharpness: { way: "bend", decades: 3.5 } });
    expect(readQuery("on=cpu&s=3.5")).toEqual({ ...NOTHING, device: "cpu", sharpness: { way: "bend", decades: 3.5 } });
  });

  test("tells the network that the page comes with from one that was trained alike", () => {
    expect(queryOf({ ...arrived, modelChoice: { ...MODEL, measured: 100 } })).toBe("measured=100&on=cpu");
    expect(readQuery("measured=100")).toEqual({ ...NOTHING, measured: 100 });
    expect(readQuery(queryOf({ ...arrived, stamp: "1 2" }) ?? "")?.trained).toEqual({
      model: MODEL,
      training: TRAINING,
    });
  });

  test("says which device has trained, where another one measures", () => {
    const by = { ...training, backend: "gpu" } as const;
    const link = readQuery(queryOf({ ...rich(), training: by }) ?? "");
    expect([link?.device, link?.trainedOn]).toEqual(["cpu", "webgpu"]);
  });

  test("leaves no part of the state out without a reason", () => {
    for (const key of Object.keys(FIRST_STATE)) {
      expect(PLACES, `say in PLACES what an address makes of ${key}`).toHaveProperty(key);
    }
  });

  test("says what a reload keeps, too", () => {
    // The device is kept as what was chosen, what was asked for is begun by nobody but a person, and the spaces keep their own.
    const said = Object.entries(PLACES).flatMap(([key, place]) => (place === "said" ? [key] : []));
    expect(said.filter((key) => !(PARTS as readonly string[]).includes(key))).toEqual(["engine", "asked", "spaces"]);
  });

  test("holds each thing that numbers follow from, and gives it back", () => {
    const whole = rich();
    const slider = { ...whole, bend: { ...whole.bend, lambda: [1, 1] } };
    for (const [key, place] of Object.entries(PLACES)) {
      if (place !== "said") continue;
      // The slider says where the twin is, or the layers' factors do.
      const from = key === "sharpness" ? slider : whole;
      for (const leaf of leavesOf(from[key as Key], key)) {
        expect(OTHERWISE, `say in OTHERWISE what else ${leaf} could be`).toHaveProperty([leaf]);
        const other = OTHERWISE[leaf];
        if (other === null) continue;
        const path = leaf.split(".");
        let to = changed(from, path, other);
        if (key === "sharpness") {
          if (leaf === "sharpness.way") to = changed(to, ["sharpness", "decades"], 0);
          to = { ...to, bend: { ...to.bend, lambda: lambdaFor(to.sharpness, model(), null, true) ?? [] } };
        }
        if (to.checkChoice && key === "bend") to.checkChoice = checkChoiceOf(to, 5, true);
        if (key === "checkChoice")
          to.checkChoice = checkChoiceOf(to, to.checkChoice?.range ?? 0, to.checkChoice?.searches ?? true);
        const query = queryOf(to) ?? "";
        expect(query, `${leaf} is in the address`).not.toBe(queryOf(from));
        const back = at(opened(readQuery(query)), path);
        if (leaf === "look.orbit.position")
          expect(cameraText({ position: back as never, zoom: 1 })).toBe(cameraText(to.look.orbit));
        else expect(back, leaf).toEqual(other);
      }
    }
  });

  test("has factors with all their digits", () => {
    const lambda = [2 ** -20, 2 ** 20];
    expect(readQuery(queryOf({ ...rich(), bend: { ...rich().bend, lambda } }) ?? "")?.lambda).toEqual(lambda);
  });

  test("leaves out a check of a bend that the page has left", () => {
    const at = { ...rich(), bend: { ...rich().bend, lambda: [2, 0.5] } };
    expect(readQuery(queryOf(at) ?? "")?.check).toBeNull();
  });

  test("is none for a network out of files, and for a training that was stopped", () => {
    expect(queryOf(state({ modelChoice: null }))).toBeNull();
    expect(queryOf({ ...rich(), training: { ...training, stopped: true } })).toBeNull();
  });

  test("leaves out what it says wrongly, and a bare part is none", () => {
    expect(readQuery("")).toBeNull();
    expect(readQuery("nonsense=1")).toBeNull();
    // No more images than there are, and units within what the form takes.
    const many = readQuery("net=784-5-10&init=pytorch_1_1&data=mnist_100000000&measured=10");
    expect(many?.trained?.model.data).toEqual({ kind: "mnist", samples: 60000 });
    expect(readQuery("units=1_1e300")?.nodewise).toBeNull();
    expect(readQuery("units=1_1000")?.nodewise).toEqual({ seed: 1, range: 1000 });
    const wrong = [
      "s=99&lambda=1_-2&units=x&order=1.5&view=sideways_1&net=784-30-10&init=magic&measured=-1",
      "on=abacus&by=hand&pow2=yes&show=sideways&cam=1_2&spectrum=hessian-all-0-60&with=magic&ball=-1&check=0&spaces=grid-1-2",
    ];
    const told = ["on=abacus", "by=hand", "s=99", "lambda=1_-2", "units=x", "order=1.5", "view=sideways_1"];
    const others = ["spectrum=hessian-all-0-60", "check=0", "spaces=grid-1-2"];
    const unread = ["net=784-30-10&init=magic&measured=-1", ...told, ...others];
    expect(readQuery(wrong.join("&"))).toEqual({ ...NOTHING, unread });
    const tooMany = "spectrum=hessian-all-4-99999999";
    expect(readQuery(tooMany)).toEqual({ ...NOTHING, unread: [tooMany] });
    const tooLarge = "spaces=rates-99999999-1000-64-3-1-1";
    expect(readQuery(tooLarge)).toEqual({ ...NOTHING, leavesStage: true, unread: [tooLarge] });
  });

  test("that says nothing of the stage leaves it as it is", () => {
    const choice = { experiment: "grid", setting: QUICK } as const;
    const [part, query = ""] = spacesAddress(choice).split("?");
    expect(part).toBe("#/spaces");
    expect(readQuery(query)).toEqual({ ...NOTHING, spaces: choice, leavesStage: true });
    expect(readQuery(`${query}&s=2`)?.leavesStage).toBe(false);
  });
});

test("what an address wants the spectrum of may not be there, which is said", () => {
  const operators = [{ name: "hessian" }, { name: "gauss_newton" }] as const;
  const of = (text: string) => noSpectrum(readQuery(`spectrum=${text}`)?.spectrum ?? SPECTRUM, operators, 3);
  expect([of("hessian-all-4-60"), of("gauss_newton-layer_3-4-60"), of("hessian-weights-4-60")]).toEqual([
    null,
    null,
    null,
  ]);
  expect(of("hessian-layer_99-4-60")).toMatch(/spectrum of layer 99, and this network has 3 layers/);
  expect(of("nothing-all-4-60")).toMatch(/“nothing”, and there is no such operator/);
});
