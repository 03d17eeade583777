/** Files that a person opens: a model and the data for it, in one go or one after the other. */

import {
  IsoflatError,
  type LayerJSON,
  Network,
  type NetworkJSON,
  type OpenedModel,
  openData,
  openModel,
  type PresetName,
  Problem,
  proposeNetwork,
  sortFiles,
} from "isoflat";
import { forPage, ofFile } from "./faults";
import { type Fold, type Folded, withoutBatchNorm } from "./fold";
import { type Came, type Given, listed, namesOf, onTop, withoutOldest } from "./given";
import { imageShape, imagesOf } from "./images";
import type { Mnist } from "./mnist";
import { Parts } from "./parts";
import { type DataSummary, LabFailure, type LayerCheck, type OpenChoice } from "./protocol";

/** What was opened, before the session has it. */
export interface Opening {
  network: Network;
  parameters: Float64Array;
  /** None while the data are still to come. */
  train: Problem | null;
  format: string;
  name: string;
  notes: string[];
  data: DataSummary | null;
  /** The network, where only weights were there. */
  layers: NetworkJSON | null;
  /** What the package gave: weights are saved under its file's own names. */
  opened: OpenedModel;
}

/** Formats that say which network they are. */
const WITH_NETWORK = /ONNX|TensorFlow|isoflat/;

/** So many images are shown. */
const IMAGES = 10;

/** MNIST's images as the lab has them beside it, normalised as usual. */
const MNIST_MEAN = 0.1307;
const MNIST_DEVIATION = 0.3081;

export class Files {
  #given: Given<File> = { model: [], data: [], waited: [], unused: [] };
  readonly #parts = new Parts<File>(
    (files) => this.#sort(files),
    (model) => this.#opens(model),
  );
  /** Of those of the model that have batch normalisations, what they are without. */
  readonly #folded = new WeakMap<File, Promise<Folded>>();
  /** Do the model's files make no network by themselves? */
  #isIncomplete = false;

  constructor(private readonly mnist: () => Mnist) {}

  get opened(): { model: File[]; data: File[] } {
    const { model, data } = this.#given;
    return { model, data };
  }

  /** Brings back the files that there are now. */
  here(): () => void {
    const [given, isIncomplete] = [this.#given, this.#isIncomplete];
    return () => {
      this.#given = given;
      this.#isIncomplete = isIncomplete;
    };
  }

  /** Files that were here before. */
  restore({ model, data }: { model: File[]; data: File[] }): void {
    this.#given = { model, data, waited: [], unused: [] };
  }

  /**
   * Files that come on top of what there is: data for the model, or another model. Returns the choice without what was chosen of
   * files that they replace.
   */
  async add(files: File[], choice: OpenChoice): Promise<OpenChoice> {
    const came = await this.#parts.sorted(files).catch((error: unknown) => {
      throw ofFile(error);
    });
    this.#given = onTop(this.#given, this.#isIncomplete, came);
    if (this.#given.model.length === 0) {
      const { data, waited } = this.#given;
      const kept = waited.length > 1 ? `; kept for it are ${listed(namesOf(data))}` : "";
      throw new LabFailure("not_possible", `these are data: drop the model that they are for, too${kept}`);
    }
    const { network, normalization, split } = choice;
    const hasData = came.data.length > 0;
    return {
      ...choice,
      network: came.model.length > 0 ? "" : network,
      normalization: hasData ? "" : normalization,
      split: hasData ? "" : split,
    };
  }

  /** What the files are, by this choice. */
  async read(choice: OpenChoice): Promise<Opening> {
    this.#isIncomplete = false;
    const { files, notes: before } = await this.#fold(this.#given.model);
    const { opened, found } = await this.#fittingLast(files, choice);
    const { network, parameters, format, notes } = opened;
    const name = opened.name ?? this.#given.model[0]?.name ?? "a model";
    const { problem, from, notes: more } = found;
    const layers = WITH_NETWORK.test(format) ? null : network.toJSON();
    const data = problem && summaryOf(problem, from);
    return {
      network,
      parameters,
      train: problem,
      format,
      name,
      notes: [...before, ...notes, ...more, ...this.#given.unused],
      data,
      layers,
      opened,
    };
  }

  async #sort(files: File[]): Promise<Came<File>> {
    const { files: folded } = await this.#fold(files);
    const sorted = await sortFiles(folded);
    const of = (indices: number[]) => indices.flatMap((index) => files[index] ?? []);
    return { model: of(sorted.model), data: of(sorted.data) };
  }

  async #opens(model: File[]): Promise<boolean> {
    try {
      free(await openModel((await this.#fold(model)).files));
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  }

  /** Data that waited for the model, and are not for it, are let go of: what came last is what a person means. */
  async #fittingLast(files: File[], choice: OpenChoice): Promise<Fitting> {
    const given = this.#given;
    let first: unknown;
    for (;;) {
      try {
        const fitting = await this.#fitting(files, choice);
        // From now on they are the model's as any others.
        this.#given = { ...this.#given, waited: [] };
        return fitting;
      } catch (error) {
        first ??= error;
        const left = isOfData(error) ? withoutOldest(this.#given, (first as Error).message) : null;
        if (!left) {
          this.#given = given;
          throw first;
        }
        this.#given = left;
      }
    }
  }

  /** The model of these files, and what there is of data for it. */
  async #fitting(files: File[], choice: OpenChoice): Promise<Fitting> {
    const named = choice.network === "" ? {} : { network: networkOf(choice.network) };
    let opened: OpenedModel | undefined;
    try {
      opened = await openModel(files, { ...named, batchNorm: choice.batchNorm });
      return { opened, found: await this.#problem(opened, choice) };
    } catch (error) {
      if (opened) free(opened);
      const other = isRefusal(error) && choice.network === "" ? await this.#overData(files, choice) : null;
      if (other) return other;
      if (opened) throw error;
      this.#isIncomplete = wantsNetwork(error);
      if (this.#isIncomplete) this.#parts.hold(this.#given.model);
      throw wantsNetwork(error) ? new NetworkWanted(forPage(error.message)) : error;
    }
  }

  /**
   * Weights alone do not tell how large images are, but data do: the model over inputs such as theirs. Null where the weights cannot be
   * such a one's.
   */
  async #overData(files: File[], { split, ...choice }: OpenChoice): Promise<Fitting | null> {
    if (this.#given.data.length === 0) return null;
    let opened: OpenedModel | undefined;
    try {
      const { shape } = await openData(this.#given.data, { samples: 1, ...(split !== "" && { split }) });
      opened = await openModel(files, { input: shape, batchNorm: choice.batchNorm });
      const found = await this.#problem(opened, { split, ...choice });
      const note = `the inputs are taken to be ${shape.join("×")}, as the data’s are`;
      return { opened, found: { ...found, notes: [note, ...found.notes] } };
    } catch (error) {
      if (opened) free(opened);
      if (!isRefusal(error)) throw error;
      return null;
    }
  }

  /** Layers to be completed, where weights fit no network: as they were given, else as their shapes tell them. */
  async draft(choice: OpenChoice): Promise<NetworkJSON | null> {
    if (choice.network.trimStart().startsWith("{")) {
      const given = JSON.parse(choice.network) as Partial<NetworkJSON>;
      const { input, layers } = given;
      return Array.isArray(input) && Array.isArray(layers) ? { input, layers } : null;
    }
    return proposeNetwork(this.#given.model).catch((error: unknown) => {
      if (!wantsNetwork(error)) throw error;
      return null;
    });
  }

  /** What each of these layers gives, and whether they are those of the weights. */
  async check(text: string): Promise<LayerCheck> {
    const { input, layers } = JSON.parse(text) as NetworkJSON;
    const lengths = layers.map((_, index) => {
      // What a dense layer behind it would take.
      const dense: LayerJSON = { type: "dense", units: 1 };
      const before = upTo(layers, index);
      return (
        lengthBefore({ input, layers: [...before, dense] }) ??
        lengthBefore({ input, layers: [...before, { type: "flatten" }, dense] })
      );
    });
    try {
      const { network } = await openModel(this.#given.model, { network: { input, layers } });
      network.free();
      return { lengths, fault: null };
    } catch (error) {
      if (!wantsNetwork(error)) throw error;
      return { lengths, fault: forPage(error.message) };
    }
  }

  /** Each file without batch normalisations, if the package would refuse it for them. */
  async #fold(files: File[]): Promise<{ files: File[]; notes: string[] }> {
    const all = await Promise.all(
      files.map((file) => {
        const found = this.#folded.get(file) ?? withoutBatchNorm(file, fold);
        this.#folded.set(file, found);
        return found;
      }),
    ).catch((error: unknown) => {
      throw ofFile(error);
    });
    return { files: all.map(({ file }) => file), notes: all.flatMap(({ notes }) => notes) };
  }

  async #problem(opened: OpenedModel, choice: OpenChoice): Promise<Found> {
    const { network } = opened;
    if (opened.problem && this.#given.data.length === 0)
      return { problem: opened.problem, from: "the same file", notes: [] };
    if (this.#given.data.length > 0) {
      const { normalization, split } = choice;
      const found = await openData(this.#given.data, {
        shape: network.inputShape,
        outputs: network.outputLength,
        ...(normalization !== "" && { normalization }),
        ...(split !== "" && { split }),
      });
      if (!found.loss) {
        throw new LabFailure("not_possible", "there are no targets among the data: drop their labels along with them");
      }
      const from = this.#given.data.map(({ name }) => name).join(", ");
      const own = opened.problem ? [`the model’s file has data itself, which are not used: those of ${from} are`] : [];
      opened.problem?.free();
      return { problem: new Problem(network, found), from, notes: [...found.notes, ...own] };
    }
    const takesDigits = network.inputLength === 784 && network.outputLength === 10;
    return takesDigits ? this.#digits(network, choice) : { problem: null, from: "", notes: [] };
  }

  async #digits(network: Network, choice: OpenChoice): Promise<Found> {
    const test = await this.mnist().test();
    const isStandard = choice.normalization === "mnist";
    const inputs = isStandard ? test.inputs.map((x) => (x - MNIST_MEAN) / MNIST_DEVIATION) : test.inputs;
    const problem = new Problem(network, { loss: "cross_entropy", inputs, targets: test.targets });
    return { problem, from: "MNIST’s test images, which the lab has", notes: [] };
  }
}

const fold: Fold = (json, values) => {
  const { network, parameters } = Network.foldBatchNorm(json, Float64Array.from(values));
  const found = network.toJSON();
  network.free();
  return { network: found, parameters };
};

/** A layer and those that it is computed from. */
function upTo(layers: LayerJSON[], last: number): LayerJSON[] {
  const needed = new Set([last]);
  for (let index = last; index >= 0; index--) {
    if (!needed.has(index)) continue;
    const from = [layers[index]?.from ?? []].flat();
    if (from.length === 0) needed.add(index - 1);
    for (const read of from) needed.add(layers.findIndex(({ name }) => name === read));
  }
  return layers.filter((_, index) => needed.has(index));
}

/** How many values the last layer, which is dense, takes. */
function lengthBefore(json: NetworkJSON): number | null {
  try {
    const network = Network.fromJSON(json);
    const last = network.blocks().at(-1);
    network.free();
    return last?.inputs ?? null;
  } catch (error) {
    if (error instanceof IsoflatError) return null;
    throw error;
  }
}

interface Fitting {
  opened: OpenedModel;
  found: Found;
}

function free({ network, problem }: OpenedModel): void {
  problem?.free();
  network.free();
}

interface Found {
  problem: Problem | null;
  from: string;
  notes: string[];
}

/** What may be otherwise with other data. */
const isOfData = (error: unknown): boolean => isRefusal(error) || error instanceof LabFailure;

/** A name that is no preset's is refused by its own words. */
function networkOf(text: string): Network | PresetName {
  if (!text.trimStart().startsWith("{")) return text as PresetName;
  try {
    return Network.fromJSON(text);
  } catch (error) {
    if (wantsNetwork(error)) error.message = forPage(error.message);
    throw error;
  }
}

/** What a person looks at to see whether data came in as they should. */
function summaryOf(problem: Problem, from: string): DataSummary {
  const { inputs, targets, loss } = problem.data;
  const network = problem.network;
  let [minimum, maximum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const x of inputs) {
    if (x < minimum) minimum = x;
    if (x > maximum) maximum = x;
  }
  const counts = loss === "cross_entropy" ? new Array<number>(network.outputLength).fill(0) : [];
  if (counts.length > 0) for (const target of targets) counts[target] = (counts[target] ?? 0) + 1;
  const shape = imageShape(network);
  network.free();
  const labels = Array.from(targets.subarray(0, IMAGES));
  const images = shape && imagesOf(inputs, shape, { minimum, maximum }, IMAGES);
  return { from, samples: problem.samples, minimum, maximum, counts, labels, images: images ?? [] };
}

/** The weights fit no network that there is: a person may choose one, or set its layers. */
export class NetworkWanted extends Error {}

/** Files that do not go together, and no fault of the module. */
const isRefusal = (error: unknown): boolean =>
  error instanceof IsoflatError && (error.code === "parse" || error.code.startsWith("invalid_"));

/** May a person mend this by another choice? */
export function wantsNetwork(error: unknown): error is IsoflatError {
  return error instanceof IsoflatError && (error.code === "invalid_network" || error.code === "invalid_option");
}
