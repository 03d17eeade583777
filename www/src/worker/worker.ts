import { expose } from "comlink";
import init from "isoflat";
import { Lab } from "./lab";
import type { WorkerReady } from "./protocol";

const say = (message: WorkerReady): void => self.postMessage(message);

init().then(
  () => {
    expose(new Lab());
    say({ ready: true });
  },
  (error: unknown) => say({ ready: false, message: error instanceof Error ? error.message : String(error) }),
);
