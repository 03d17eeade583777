/** The worker, seen from the page: starts it, unwraps its answers, replaces it when it breaks. */

import { proxy, type Remote, wrap } from "comlink";
import { LabError } from "./errors";
import type { LabApi, Outcome, WorkerEvent, WorkerReady } from "./worker/protocol";

/** What every worker of the page has. */
interface Connected<Event> {
  connect(mnistFolder: string, listener: (event: Event) => void): void;
  stop(): void;
}

/** What a worker has that is asked whether it still hears. */
interface Hearing {
  hear(): void;
}

/** Between two questions whether it hears; so many in a row without an answer, and it never will. */
const QUESTION_MS = 1000;
const UNHEARD = 4;
/** Workers in a row that are replaced for it. */
const REPLACED = 3;

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

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

  /**
   * The same for a call in which the worker starts threads, and has to go on hearing. In Firefox `new Worker` may never return inside a
   * worker (153: after one reload in some twenty of a page that has threads). Nothing there can tell of it, so a deaf worker is
   * replaced and the call made anew, which is to be one that needs nothing of those before.
   */
  async callHearing<T>(body: (lab: Remote<Api>) => Promise<Outcome<T>>, questionMs = QUESTION_MS): Promise<T> {
    for (let replaced = 0; ; replaced++) {
      const called = this.call(body);
      const isOver = called.then(
        () => true,
        () => true,
      );
      if (!(await this.#isDeaf(isOver, questionMs))) return await called;
      this.discard();
      if (replaced === REPLACED)
        throw new LabError("unexpected", "the engine's worker does not answer, nor do those in its place");
    }
  }

  /** Before the call is over. */
  async #isDeaf(isOver: Promise<boolean>, questionMs: number): Promise<boolean> {
    // The module may be on its way for long.
    const lab = (await Promise.race([isOver, this.#lab?.catch(() => true)])) as true | Remote<Hearing>;
    if (lab === true) return false;
    let unheard = 0;
    while (unheard < UNHEARD) {
      unheard++;
      void lab.hear().then(() => {
        unheard = 0;
      });
      if (await Promise.race([isOver, after(questionMs)])) return false;
    }
    return true;
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
        // A worker that is not fetched has nothing to say.
        const error = event.message
          ? new LabError("unexpected", event.message)
          : new LabError("not_fetched", "the engine could not be fetched");
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
