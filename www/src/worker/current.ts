/** The network that there is: where it came from, how it is made again, and how it is kept. */

import { type Engine, Problem } from "isoflat";
import { type About, type Last, remember } from "./last";
import { Mnist } from "./mnist";
import { Files, NetworkWanted, wantsNetwork } from "./open";
import { firstOf, infoOf, networkOf } from "./options";
import {
  LabFailure,
  type ModelChoice,
  type ModelInfo,
  type OpenChoice,
  type OpenedFiles,
  type Restored,
  type TrainChoice,
  type TrainSummary,
} from "./protocol";
import { figuresOf, type Handles, type Session } from "./session";
import type { Way } from "./way";

const dataName = ({ data }: ModelChoice): string =>
  data.kind === "mnist" ? "MNIST" : `${data.samples} random samples`;

export class Current {
  readonly files = new Files(() => this.#digits());
  mnistFolder = "";
  /** Of the network that there is; null for one that was opened. */
  #choice: ModelChoice | null = null;
  /** The files that it came in, and how they were read: others may have been opened since that are no network. */
  #openedFrom: { model: File[]; data: File[]; choice: OpenChoice } | null = null;
  #mnist: Mnist | undefined;

  /** `forget`: what was drawn or found at other weights or samples. */
  constructor(
    private readonly session: Session,
    private readonly forget: () => void,
  ) {}

  /** A network of the options, at weights that are there already. */
  async at(choice: ModelChoice, trained: Float64Array): Promise<ModelInfo> {
    const source = (): Promise<Handles> => this.#handles(choice);
    const handles = await source();
    this.#choice = choice;
    return this.#adopt({ ...handles, source, trained, name: dataName(choice) }, choice.measured);
  }

  /** The files that there are, as the session's model if they are a network with data. */
  async openedBy(engine: Engine, choice: OpenChoice): Promise<OpenedFiles> {
    const nothing = { summary: "", parameterCount: 0, notes: [], model: null, fault: null, data: null, layers: null };
    const figures = { loss: Number.NaN, accuracy: Number.NaN, choice, stamp: null };
    const opening = await this.files.read(choice).catch(async (error: unknown) => {
      if (error instanceof NetworkWanted) return { fault: error.message, layers: await this.files.draft(choice) };
      if (wantsNetwork(error)) return { fault: error.message, layers: null };
      throw error;
    });
    if ("fault" in opening) {
      const name = this.files.opened.model.map(({ name }) => name).join(", ");
      return { ...nothing, ...figures, name, format: "", ...opening };
    }
    const { network, parameters, train, name, format, notes, data, layers, opened } = opening;
    const found = {
      ...nothing,
      ...figures,
      name,
      format,
      summary: network.summary,
      parameterCount: network.parameterCount,
      notes,
      data,
      layers,
    };
    if (!train) return found;
    const from = this.files.opened;
    const source = async (): Promise<Handles> => {
      // Others may have been given since.
      const files = new Files(() => this.#digits());
      files.restore(from);
      const again = await files.read(choice);
      if (!again.train) throw new LabFailure("not_possible", "the files are no longer what they were");
      return { network: again.network, train: again.train };
    };
    // Before it is adopted: what the device cannot compute leaves the network that there is.
    const { loss, accuracy } = await figuresOf(engine, train, parameters);
    const model = this.#adopt({ network, train, source, trained: parameters, name, opened });
    this.#choice = null;
    this.#openedFrom = { ...from, choice };
    return { ...found, model, loss, accuracy };
  }

  /** `training`: what its weights come from; null as it begins. */
  async remember(training: TrainChoice | null): Promise<string | null> {
    const now = this.now();
    return now && remember(now, this.about(training));
  }

  about(training: TrainChoice | null): About {
    return { ...infoOf(this.session.model), training };
  }

  /** The network with the weights that there are; null where there is none. */
  now(): Last | null {
    const { trained: parameters, way, summary } = this.session.model;
    const reached = { parameters, ...(way && { way }), ...(summary && { summary }) };
    if (this.#choice) return { kind: "trained", choice: this.#choice, ...reached };
    return this.#openedFrom && { kind: "files", ...this.#openedFrom, ...reached };
  }

  /** Other weights of the same network. */
  reached(parameters: Float64Array, way?: Way, summary?: TrainSummary): void {
    const { model } = this.session;
    model.trained = parameters;
    model.bent = parameters;
    model.way = way;
    model.summary = summary;
    delete model.sharpened;
    this.forget();
  }

  async restored(engine: Engine, last: Last): Promise<Restored> {
    const { parameters, way, summary } = last;
    const reached = { way: way?.length ?? 0, summary: summary ?? null };
    if (last.kind === "files") {
      this.files.restore(last);
      const opened = await this.openedBy(engine, last.choice);
      if (parameters && opened.model) this.reached(parameters, way, summary);
      return { opened, model: opened.model, choice: null, ...reached };
    }
    const model = await this.at(last.choice, last.parameters);
    this.reached(last.parameters, way, summary);
    return { opened: null, model, choice: last.choice, ...reached };
  }

  #digits(): Mnist {
    this.#mnist ??= new Mnist(new URL(this.mnistFolder));
    return this.#mnist;
  }

  async #handles({ network: choice, data }: ModelChoice): Promise<Handles> {
    const network = networkOf(choice);
    if (data.kind === "synthetic") {
      return { network, train: Problem.synthetic(network, { samples: data.samples, seed: data.seed }) };
    }
    const digits = this.#digits();
    const [images, test] = await Promise.all([digits.train(data.samples), digits.test()]);
    const train = new Problem(network, { loss: "cross_entropy", ...firstOf(images, data.samples) });
    return { network, train, validation: new Problem(network, { loss: "cross_entropy", ...test }) };
  }

  #adopt(...parts: Parameters<Session["adopt"]>): ModelInfo {
    const info = this.session.adopt(...parts);
    this.forget();
    return info;
  }
}
