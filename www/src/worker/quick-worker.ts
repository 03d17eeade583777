import { expose } from "comlink";
import init from "isoflat";
import type { WorkerReady } from "./protocol";
import { QuickLab } from "./quick";

const say = (message: WorkerReady): void => self.postMessage(message);

init().then(
  () => {
    expose(new QuickLab());
    say({ ready: true });
  },
  (error: unknown) => say({ ready: false, message: String(error) }),
);
