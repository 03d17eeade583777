/** What the options of training say. Fields that belong to what is not chosen are not read. */

import type { PresetName } from "isoflat";
import { type Field, type FieldFault, widthsOf } from "../fields";
import { MNIST_SAMPLES } from "../networks";
import type { InitScheme, ModelChoice, NetworkChoice, TrainChoice } from "../worker/protocol";
import { clearFault, goTo, readNumber, showFault } from "./fields";
import { part } from "./train-form";

const FIELDS = {
  samples: { name: "The number of samples", whole: true },
  measured: { name: "The number of samples measured", whole: true },
  scale: { name: "The initialisation’s scale", above: 0 },
  "learning-rate": { name: "The learning rate", above: 0 },
  batch: { name: "The batch size", whole: true },
  epochs: { name: "The number of epochs", whole: true },
  seed: { name: "The seed", whole: true },
} satisfies Record<string, Field>;

const WIDTHS = "widths";

const read = (id: keyof typeof FIELDS): number => readNumber(part("input", id), FIELDS[id]);
const readWidths = (): number[] => widthsOf(WIDTHS, part("input", WIDTHS).value);

export function readNetwork(): NetworkChoice {
  const network = part("select", "network").value;
  return network === "widths"
    ? { kind: "widths", widths: readWidths(), bias: part("input", "bias").checked }
    : { kind: "preset", name: network as PresetName };
}

export function readModelChoice(): ModelChoice {
  const network = readNetwork();
  const samples = read("samples");
  const measured = readMeasured();
  const scheme = part("select", "init").value as InitScheme;
  const scale = isScaled(scheme) ? read("scale") : 1;
  const seed = read("seed");
  return {
    network,
    init: { scheme, scale, seed },
    data:
      part("select", "data").value === "synthetic"
        ? { kind: "synthetic", samples, seed }
        : { kind: "mnist", samples: Math.min(samples, MNIST_SAMPLES) },
    measured,
  };
}

export const readMeasured = (): number => read("measured");

export const isScaled = (scheme: string): boolean => scheme === "uniform" || scheme === "normal";

export function readTrainChoice(): TrainChoice {
  return {
    optimizer: part("select", "optimizer").value as TrainChoice["optimizer"],
    learningRate: read("learning-rate"),
    batchSize: read("batch"),
    epochs: read("epochs"),
    seed: read("seed"),
  };
}

/** Shows what is wrong at its field until it is mended; `go`: and goes there, since a button waits for it. */
export function showAtField(fault: FieldFault, onMended: () => void, go: boolean): void {
  const { field } = fault;
  const isMended = () => {
    try {
      if (field === WIDTHS) readWidths();
      else read(field as keyof typeof FIELDS);
      return true;
    } catch {
      return false;
    }
  };
  const input = part("input", field);
  showFault(input, fault, isMended, onMended);
  if (go) goTo(input);
}

/** What was wrong may be right now, or belong to what is not chosen any more. */
export function clearFaults(): void {
  for (const id of [WIDTHS, ...Object.keys(FIELDS)]) clearFault(part("input", id));
}

/** The options as they were for a network that a reload brings back; but for these fields. */
export function writeChoices(model: ModelChoice | null, training: TrainChoice | null, but: ReadonlySet<string>): void {
  const write = (tag: "input" | "select", id: string, value: number | string) => {
    if (!but.has(id)) part(tag, id).value = String(value);
  };
  if (model) {
    const { network, init, data, measured } = model;
    write("select", "network", network.kind === "preset" ? network.name : "widths");
    if (network.kind === "widths") {
      write("input", WIDTHS, network.widths.join("-"));
      if (!but.has("bias")) part("input", "bias").checked = network.bias;
    }
    write("select", "init", init.scheme);
    if (isScaled(init.scheme)) write("input", "scale", init.scale);
    write("select", "data", data.kind);
    write("input", "samples", data.samples);
    write("input", "measured", measured);
    write("input", "seed", init.seed);
  }
  if (training) {
    write("select", "optimizer", training.optimizer);
    write("input", "learning-rate", training.learningRate);
    write("input", "batch", training.batchSize);
    write("input", "epochs", training.epochs);
    // One field is for both.
    write("input", "seed", training.seed);
  }
}
