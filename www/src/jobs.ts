/** One task at a time, the newest wins: a new task stops the running one and waits until it has let go. */

import type { Client } from "./client";
import { LabError, Superseded } from "./errors";

export interface Job {
  /** Throws `Superseded` when a later task waits or Stop was pressed; call it between two steps. */
  checkpoint(): void;
}

export class Jobs {
  #generation = 0;
  #tail: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: Client,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Resolves to whether the task came to its end. */
  async run(body: (job: Job) => Promise<void>): Promise<boolean> {
    const generation = ++this.#generation;
    const before = this.#tail;
    let release = (): void => {};
    this.#tail = new Promise((resolve) => {
      release = resolve;
    });
    try {
      await this.client.stop().catch(() => {});
      await before;
      const job: Job = {
        checkpoint: () => {
          if (generation !== this.#generation) throw new Superseded();
        },
      };
      job.checkpoint();
      await body(job);
      return true;
    } catch (error) {
      const wanted = error instanceof Superseded || (error instanceof LabError && error.code === "aborted");
      if (!wanted) this.onError(error);
      return false;
    } finally {
      release();
    }
  }

  /** Stops the running task and what would follow it. */
  async stop(): Promise<void> {
    this.#generation++;
    await this.client.stop().catch(() => {});
  }
}
