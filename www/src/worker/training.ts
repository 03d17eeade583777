/** A training that can be broken off at any moment and go on: it is run in pieces, and after each a checkpoint is kept. */

import type { Checkpoint, Engine, RunOptions, TrainResult } from "isoflat";
import { optimizerOf } from "./options";
import { LabFailure, type TrainChoice } from "./protocol";
import type { Session } from "./session";
import { joined, snapshotsOf, type Way } from "./way";

/** A crash costs no more than so much of what was done; of what has just begun, less. */
const [FIRST_MS, PIECE_MS] = [500, 2000];
/** A piece's end may take so much of its time: of large networks a checkpoint takes longer, and they come less often. */
const SHARE = 0.02;
/** A piece is no more than so many times the one before: what an end really takes a few of them show. */
const GROWTH = 2;

export interface Reached extends Pick<TrainResult, "parameters" | "stopped" | "epochs" | "checkpoint"> {
  way: Way;
}

/** What is no finite number after steps from weights that were: of weights the engine says only which, as of a file's. */
export function divergence({ message }: Error): LabFailure {
  const isSaid = message.includes("diverged");
  return new LabFailure(
    "not_finite",
    isSaid ? message : "training diverged: its weights are no finite numbers any more",
  );
}

export class TrainingRun {
  constructor(
    private readonly session: Session,
    private readonly choice: TrainChoice,
    /** Called after each piece but the last, with what was reached. */
    private readonly keep: (checkpoint: Checkpoint, way: Way) => Promise<void>,
    private checkpoint: Checkpoint | null = null,
    private way: Way = [],
  ) {}

  /** From where it stands: a device that was lost has cost a piece. */
  async on(engine: Engine, { onProgress, signal }: RunOptions): Promise<Reached> {
    const { model } = this.session;
    const { choice } = this;
    const count = snapshotsOf(model.network.parameterCount);
    let [length, least, keeping] = [FIRST_MS, Number.POSITIVE_INFINITY, Promise.resolve()];
    while (true) {
      const piece = new AbortController();
      let endedAt = Number.POSITIVE_INFINITY;
      const timer = setTimeout(() => {
        endedAt = performance.now();
        piece.abort();
      }, length);
      const stop = (): void => piece.abort();
      signal?.addEventListener("abort", stop);
      if (signal?.aborted) stop();
      try {
        const { snapshots, ...reached } = await engine.train(model.train, model.trained, {
          ...(onProgress && { onProgress }),
          finish: piece.signal,
          optimizer: optimizerOf(choice),
          batchSize: Math.min(choice.batchSize, model.train.samples),
          epochs: choice.epochs,
          seed: choice.seed,
          ...(model.validation && { validation: model.validation }),
          ...(this.checkpoint && { checkpoint: this.checkpoint }),
          ...(count > 0 && { snapshots: { count } }),
        });
        this.checkpoint = reached.checkpoint;
        this.way = joined(this.way, snapshots ?? [], count);
        if (!reached.stopped || signal?.aborted) {
          await keeping;
          return { ...reached, way: this.way };
        }
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", stop);
      }
      // The one before has had all of the piece's time.
      await keeping;
      keeping = this.keep(this.checkpoint, this.way);
      // Any may take long once, for what is no checkpoint's: in the first one's time a GPU makes its pipelines.
      least = Math.min(least, performance.now() - endedAt);
      length = Math.max(PIECE_MS, Math.min(least / SHARE, GROWTH * length));
    }
  }
}
