/**
 * The papers' experiments on so little that a visitor can wait for them, in a worker of its own: the rest of the lab stays free. On the CPU,
 * whose numbers are the same everywhere.
 */

import { CpuEngines } from "./cpu-engines";
import { lines, table4 } from "./minima";
import { Mnist } from "./mnist";
import { MnistProblems } from "./mnist-problems";
import { outcome } from "./outcome";
import { petzka } from "./petzka";
import { type Piece, Pieces } from "./pieces";
import { LabFailure, type Outcome } from "./protocol";
import type { QuickApi, QuickName, QuickProgress, QuickResults } from "./quick-protocol";

interface Job {
  pieces: Pieces;
  result: () => QuickResults[QuickName];
}

export class QuickLab implements QuickApi {
  readonly #engines = new CpuEngines();
  readonly #jobs = new Map<QuickName, Job>();
  #data: MnistProblems | undefined;
  #controller = new AbortController();
  #listener: (progress: QuickProgress) => void = () => {};

  connect(mnistFolder: string, listener: (progress: QuickProgress) => void): void {
    this.#data = new MnistProblems(new Mnist(new URL(mnistFolder)));
    this.#listener = listener;
  }

  run(name: QuickName): Promise<Outcome<QuickResults[QuickName]>> {
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    return outcome(async () => {
      const job = this.#jobs.get(name) ?? (await this.#job(name));
      this.#jobs.set(name, job);
      await job.pieces.run(signal, this.#listener);
      // Its networks and data are needed no more.
      this.#jobs.delete(name);
      return job.result();
    });
  }

  stop(): void {
    this.#controller.abort(new LabFailure("aborted", "stopped"));
  }

  async #job(name: QuickName): Promise<Job> {
    const data = this.#data;
    if (!data) throw new LabFailure("not_possible", "the worker is not connected");
    const engine = await this.#engines.of("f32");
    const job = ({ pieces, result }: { pieces: Piece[]; result: Job["result"] }): Job => ({
      pieces: new Pieces(pieces),
      result,
    });
    switch (name) {
      case "table-4":
        return job(table4({ engine, data }, engine, "printed"));
      case "table-4-published":
        return job(table4({ engine, data }, await this.#engines.of("f64"), "published"));
      case "lines":
        return job(lines({ engine, data }));
      case "petzka":
        return job(petzka(engine, data));
    }
  }
}
