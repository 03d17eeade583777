/** The worker, seen from the page: starts it, unwraps its answers, replaces it when it breaks. */

import { proxy, type Remote, wrap } from "comlink";
import { LabError } from "./errors";
import type { LabApi, Outcome, WorkerEvent, WorkerReady } from "./worker/protocol";

/** What every worker of the page has. */
interface Connected<Event> {
  connect(mnistFolder: string, listener: (event: Event) => void): void;
  stop(): void;
}

/** The literal address is what the bundler looks for. */
const labWorker = (): Worker =>
  new Worker(new URL("./worker/worker.ts", import.meta.url), { type: "module", name: "isoflat" });

export class Client<Api = LabApi, Event = WorkerEvent> {
  #worker: Worker | undefined;
  #lab: Promise<Remote<Connected<Event>>> | undefined;
  /** Rejects the calls that a broken worker will never answer. */
  #broken: (error: LabError) => void = () => {};
  #breaking: Promise<never> = new Promise(() => {});

  constructor(
    private readonly listener: (event: Event) => void,
    private readonly spawn: () => Worker = labWorker,
  ) {}

  async call<T>(body: (lab: Remote<Api>) => Promise<Outcome<T>>): Promise<T> {
    this.#lab ??= this.#start();
    const lab = await this.#lab;
    const outcome = await Promise.race([body(lab as unknown as Remote<Api>), this.#breaking]);
    if (outcome.ok) return outcome.value;
    throw new LabError(outcome.failure.code, outcome.failure.message);
  }

  /** Aborts what the worker is doing, if there is a worker. */
  async stop(): Promise<void> {
    if (this.#lab) await (await this.#lab).stop();
  }

  /** What has no answer, if there is a worker. */
  async tell(body: (lab: Remote<Api>) => Promise<void>): Promise<void> {
    if (this.#lab) await body((await this.#lab) as unknown as Remote<Api>);
  }

  /** The next call starts a new worker. */
  discard(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#lab = undefined;
    this.#broken(new LabError("unexpected", "the engine was started anew"));
  }

  async #start(): Promise<Remote<Connected<Event>>> {
    this.#breaking = new Promise((_, reject) => {
      this.#broken = reject;
    });
    this.#breaking.catch(() => {}); // nobody may be waiting
    const worker = this.spawn();
    this.#worker = worker;
    await new Promise<void>((resolve, reject) => {
      worker.onerror = (event) => {
        const error = new LabError("unexpected", event.message || "the engine could not be loaded");
        reject(error);
        this.#broken(error);
      };
      worker.onmessage = ({ data }: MessageEvent<WorkerReady>) => {
        if (data.ready) resolve();
        else reject(new LabError("not_initialized", data.message));
      };
    }).catch((error: unknown) => {
      worker.terminate();
      this.#lab = undefined;
      throw error;
    });
    worker.onmessage = null;
    const lab = wrap<Connected<Event>>(worker);
    await lab.connect(new URL("mnist/", document.baseURI).href, proxy(this.listener));
    return lab;
  }
}
