/** Trains the network that the page opens with, and looks at it. The build runs this in Node, by the lab's own operations. */

import init, { type InitInput } from "isoflat";
import { lambdaFor } from "../bends";
import { EPSILON, PROBES } from "../completion";
import { SWINGS } from "../gauges";
import { Lab } from "../worker/lab";
import type { ModelChoice, Outcome } from "../worker/protocol";
import { BACKEND, encoded, type Frame, LANDSCAPE, MODEL, TRAINING } from "./arrival";

/** Powers of ten along the slider, and points a side of the surfaces there. */
const [END, STEP, POINTS] = [6, 0.5, 15];

export interface Made {
  text: string;
  /** In f32, which the numbers are of. */
  weights: Float32Array;
}

/** `mnist`: address of the folder with the data files. `network`: another one than the page's own, for its tests. */
export async function make(module: InitInput, mnist: string, network = MODEL.network): Promise<Made> {
  await init({ module_or_path: module });
  const lab = new Lab();
  lab.connect(mnist, () => {});
  await of(lab.startEngine(BACKEND, 1));
  const modelChoice: ModelChoice = { ...MODEL, network };
  await of(lab.setModel(modelChoice));
  const { epochs, stopped, history } = (await of(lab.train(TRAINING))).summary;
  const weights = Float32Array.from(lab.trained);
  const model = await of(lab.arrive(modelChoice, weights));
  const { loss, accuracy } = await of(lab.evaluate());
  const tested = await of(lab.accuracy("trained"));
  const choice = { epsilon: EPSILON, probes: PROBES };
  const arrival = {
    ...(await of(lab.describe())),
    modelChoice,
    trainChoice: TRAINING,
    model,
    training: {
      epochs,
      stopped,
      loss,
      accuracy,
      ...(tested !== null && { validationAccuracy: tested }),
      ...(history && { history }),
    },
    line: await of(lab.line("trained", LANDSCAPE)),
    surface: await of(lab.surface("trained", LANDSCAPE, "", null)),
    examples: await of(lab.examples()),
    measures: (await of(lab.measure("trained", choice))).values,
    layers: await of(lab.layers("trained")),
    accuracy: tested,
    frames: await frames(lab, model),
  };
  return { text: encoded({ build: hash(encoded(arrival)), ...arrival }), weights };
}

/** Fowler, Noll and Vo's. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return (value >>> 0).toString(36);
}

async function frames(lab: Lab, model: Parameters<typeof lambdaFor>[1]): Promise<Frame[]> {
  const found: Frame[] = [];
  for (let decades = 0; decades <= END; decades += STEP) {
    const lambda = lambdaFor({ way: "bend", decades }, model, null, false);
    if (!lambda) break;
    const transformation = { type: "layerwise", lambda } as const;
    await of(lab.bend(transformation));
    const { values } = await of(lab.measure("bent", { keys: [SWINGS], epsilon: EPSILON, probes: PROBES }));
    const coarse = { points: POINTS, samples: MODEL.measured };
    const { surface } = await of(lab.preview(transformation, LANDSCAPE, coarse));
    const [norm] = values;
    if (norm) found.push({ decades, surface, norm });
  }
  return found;
}

async function of<T>(outcome: Promise<Outcome<T>>): Promise<T> {
  const found = await outcome;
  if (found.ok) return found.value;
  throw new Error(`${found.failure.code}: ${found.failure.message}`);
}
