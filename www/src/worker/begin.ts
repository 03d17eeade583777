/** How a worker begins: with the engine's module, and then with what the page calls. */

import { expose } from "comlink";
import init from "isoflat";
import type { WorkerReady } from "./protocol";

const say = (message: WorkerReady): void => self.postMessage(message);

/** `make`: what is called, made when the module is there. */
export function begin(make: () => object): void {
  init().then(
    () => {
      expose(make());
      say({ ready: true });
    },
    (error: unknown) => say({ ready: false, message: error instanceof Error ? error.message : String(error) }),
  );
}
