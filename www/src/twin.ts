/** The twin: where the slider, the layers' factors and the tour put it, and what follows from that. */

import { MODEL, type Shown } from "./arrival/arrival";
import { decadesOf, lambdaFor, noBend } from "./bends";
import type { Client } from "./client";
import type { Job } from "./jobs";
import type { Previews } from "./previews";
import { withoutTwin } from "./states";
import { type Bend, type Dinh, found, type Sharpness, type Store, type Task } from "./store";
import type { FlattestBend } from "./worker/protocol";

/** What a twin has of the page around it. */
interface Page {
  client: Client;
  store: Store;
  previews: Previews;
  /** Resolves to whether nothing else has been begun meanwhile. */
  task: (task: Task, body: (job: Job) => Promise<void>) => Promise<boolean>;
  /** What the stage shows, and more where a part is open that does. */
  complete: (job: Job) => Promise<void>;
  /** All that the page shows. */
  everything: (job: Job) => Promise<void>;
  stop: () => void;
}

export class Twin {
  constructor(private readonly page: Page) {}

  /** As sharp as wanted, one way or the other. Done when what follows from it is there. */
  async setSharpness(sharpness: Sharpness): Promise<void> {
    const { model, bend } = this.page.store.state;
    if (model) await this.#bendTo({ ...bend, lambda: this.lambdaAt(sharpness) }, sharpness);
  }

  /** The layers' factors that are as sharp as that. While the sharpest layer is not known the twin stays where it is. */
  lambdaAt(sharpness: Sharpness): number[] {
    const { dinh, model, bend } = this.page.store.state;
    return (model && lambdaFor(sharpness, model, found(dinh.valley), dinh.powersOfTwo)) ?? bend.lambda;
  }

  /** Dinh’s α a power of two, or not. */
  setPowersOfTwo(powersOfTwo: boolean): void {
    this.page.store.set({ dinh: { ...this.page.store.state.dinh, powersOfTwo, sharpened: null, many: null } });
    void this.setSharpness({ ...this.page.store.state.sharpness, way: "sharpen" });
  }

  /** Layer by layer, unit by unit. */
  setBend(bend: Bend): Promise<void> {
    return this.#bendTo(bend, { way: "bend", decades: decadesOf(bend) });
  }

  /** Where rescaling of the layers leaves the Hessian the least trace. Null where that is not found, or something else was begun. */
  async setFlattest(): Promise<FlattestBend | null> {
    const found: FlattestBend[] = [];
    const isLatest = await this.page.task("bending", async () => {
      found.push(await this.page.client.call((lab) => lab.flattest()));
    });
    const [flattest] = found;
    if (!flattest || !isLatest) return null;
    const { lambda } = flattest;
    void this.setBend({ ...noBend(lambda.length), lambda });
    return flattest;
  }

  /** The slider has been let go. */
  release(): void {
    this.page.previews.released();
  }

  /** What the engine has to say of the twin that is shown. */
  settle(): void {
    const { engine, ready, task } = this.page.store.state;
    // What a person has begun meanwhile goes on.
    if (!engine || !ready || (task !== "idle" && task !== "bending")) return;
    void this.page.task("bending", (job) => this.page.complete(job));
  }

  /** The twin is about to move by itself: what is asked of it now is of the one before. */
  hold(): void {
    const { task } = this.page.store.state;
    if (task === "bending" || task === "looking") this.page.stop();
  }

  /** The twin as it was computed before: nothing is asked of the engine. */
  showFrame({ decades, surface, norm }: Shown): void {
    const { model, examples, measures } = this.page.store.state;
    const lambda = model && lambdaFor({ way: "bend", decades }, model, null, false);
    if (!lambda) return;
    this.page.store.set({
      sharpness: { way: "bend", decades },
      dinh: this.#dinhAt(decades),
      bend: { ...noBend(lambda.length), lambda },
      ...withoutTwin(this.page.store.state),
      preview: decades > 0 ? { surface, samples: MODEL.measured, answers: examples?.answers ?? [] } : null,
      measures: { ...measures, bent: decades > 0 && norm ? new Map([[norm.key, norm]]) : new Map() },
    });
  }

  /** Puts the twin there; nothing is computed. */
  put(bend: Bend, sharpness: Sharpness): void {
    const dinh = this.#dinhAt(sharpness.decades);
    this.page.store.set({ bend, sharpness, dinh, ...withoutTwin(this.page.store.state) });
  }

  /** The constructions are asked for as much as the slider says, whichever way it bends. */
  #dinhAt(decades: number): Dinh {
    const { dinh } = this.page.store.state;
    return decades === dinh.decades ? dinh : { ...dinh, decades, sharpened: null, many: null };
  }

  async #bendTo(bend: Bend, sharpness: Sharpness): Promise<void> {
    this.put(bend, sharpness);
    if (!this.page.store.state.ready) return;
    this.page.previews.moved();
    if (this.page.previews.isRunning) return;
    await this.page.task("bending", async (job) => {
      await this.page.previews.run(job);
      await this.page.everything(job);
    });
  }
}
