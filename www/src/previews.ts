/** What a slider's movement does, as it moves: coarse looks, as fine as there is time for. */

import type { Client } from "./client";
import type { Job } from "./jobs";
import { type Bend, type Store, transformationOf } from "./store";
import type { PreviewChoice } from "./worker/protocol";

/** A slider sends many values; what it asks for is computed in full when it rests. */
const REST_MS = 200;
/** For one look: what is drawn takes its time too where there is no GPU. */
const BUDGET_MS = 35;
/** Where even the coarsest takes longer, a slider is better off without. */
const PATIENCE_MS = 500;
/** Then it is tried again: something else may have kept the machine busy. */
const RETRY_MS = 20_000;

/** From the coarsest to the finest. */
const CHOICES: PreviewChoice[] = [
  { points: 9, samples: 50 },
  { points: 11, samples: 60 },
  { points: 11, samples: 100 },
  { points: 13, samples: 150 },
  { points: 15, samples: 200 },
  { points: 17, samples: 300 },
  { points: 21, samples: 500 },
];

const workOf = ({ points, samples }: PreviewChoice): number => points ** 2 * samples;

export class Previews {
  /** The run that follows the slider; 0 while none does. */
  #running = 0;
  #runs = 0;
  #rested = 0;
  /** Until the slider rests, or is let go. */
  #wake: () => void = () => {};
  /** Of work; unknown of a network that no look has been taken at. */
  #msPerWork: number | undefined;
  #isFirst = true;
  #learnt = 0;

  constructor(
    private readonly store: Store,
    private readonly client: Client,
  ) {}

  /** Is a job following the slider already? */
  get isRunning(): boolean {
    return this.#running !== 0;
  }

  /** Another network has another speed. */
  forget(): void {
    this.#msPerWork = undefined;
    this.#isFirst = true;
  }

  /** It is being stopped: the next movement begins anew. */
  end(): void {
    this.#running = 0;
  }

  /** The slider has moved. */
  moved(): void {
    this.#rested = performance.now() + REST_MS;
    this.#wake();
  }

  /** The slider has been let go: nothing more is to be waited for. */
  released(): void {
    this.#rested = 0;
    this.#wake();
  }

  /** Follows the slider until it rests. */
  async run(job: Job): Promise<void> {
    const mine = ++this.#runs;
    this.#running = mine;
    try {
      let shown: Bend | undefined;
      while (true) {
        const { bend } = this.store.state;
        if (bend !== shown) {
          shown = bend;
          await this.#look(job, bend);
          job.checkpoint();
          continue;
        }
        const wait = this.#rested - performance.now();
        if (wait <= 0) return;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, wait);
          this.#wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        job.checkpoint();
      }
    } finally {
      if (this.#running === mine) this.#running = 0;
    }
  }

  async #look(job: Job, bend: Bend): Promise<void> {
    const transformation = transformationOf(bend);
    if (!transformation) return this.store.set({ preview: null });
    const choice = this.#choice();
    // What stands there is of another bend.
    if (!choice) return this.store.set({ preview: null });
    const began = performance.now();
    const preview = await this.client.call((lab) =>
      lab.preview(transformation, this.store.state.landscapeChoice, choice),
    );
    job.checkpoint();
    this.#learn((performance.now() - began) / workOf(choice));
    this.store.set({ preview });
  }

  /** The first look draws directions and compiles: it says little of the next. */
  #learn(msPerWork: number): void {
    if (this.#isFirst) this.#isFirst = false;
    else this.#msPerWork = this.#msPerWork === undefined ? msPerWork : (msPerWork + this.#msPerWork) / 2;
    this.#learnt = performance.now();
  }

  #choice(): PreviewChoice | undefined {
    const [coarsest] = CHOICES;
    const speed = this.#msPerWork;
    if (speed === undefined || !coarsest) return coarsest;
    const isSlow = workOf(coarsest) * speed > PATIENCE_MS;
    if (isSlow) return performance.now() - this.#learnt > RETRY_MS ? coarsest : undefined;
    return CHOICES.findLast((choice) => workOf(choice) * speed <= BUDGET_MS) ?? coarsest;
  }
}
