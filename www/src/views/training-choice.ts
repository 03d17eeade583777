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

/** The options as they were for a network that a reload brings back. */
export function writeChoices(model: ModelChoice | null, training: TrainChoice | null): void {
  const write = (id: keyof typeof FIELDS | typeof WIDTHS, value: number | string) => {
    part("input", id).value = String(value);
  };
  if (model) {
    const { network, init, data, measured } = model;
    part("select", "network").value = network.kind === "preset" ? network.name : "widths";
    if (network.kind === "widths") {
      write(WIDTHS, network.widths.join("-"));
      part("input", "bias").checked = network.bias;
    }
    part("select", "init").value = init.scheme;
    if (isScaled(init.scheme)) write("scale", init.scale);
    part("select", "data").value = data.kind;
    write("samples", data.samples);
    write("measured", measured);
    write("seed", init.seed);
  }
  if (training) {
    part("select", "optimizer").value = training.optimizer;
    write("learning-rate", training.learningRate);
    write("batch", training.batchSize);
    write("epochs", training.epochs);
    // One field is for both.
    write("seed", training.seed);
  }
}
