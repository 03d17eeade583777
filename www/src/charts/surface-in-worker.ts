/** Draws surfaces in a worker that all surfaces of the page share: without a GPU a frame takes long. */

import { firstPicture } from "../moments";
import type { MakeDrawer, Told } from "./surface-drawer";
import type { FromWorker, ToWorker } from "./surface-protocol";

/** The surfaces that the worker draws. */
const surfaces = new Map<number, Told>();
let worker: Worker | undefined;
/** No worker here, or none that draws: it is not tried again. */
let isImpossible =
  typeof OffscreenCanvas === "undefined" || !("transferControlToOffscreen" in HTMLCanvasElement.prototype);
let opened = 0;

function start(): Worker {
  const started = new Worker(new URL("./surface-worker.ts", import.meta.url), { type: "module", name: "surfaces" });
  started.onmessage = ({ data: { surface, type } }: MessageEvent<FromWorker>) => {
    if (type === "failed") giveUp();
    else surfaces.get(surface)?.[type]();
  };
  // Its file did not come, or it is broken.
  started.onerror = giveUp;
  return started;
}

function giveUp(): void {
  isImpossible = true;
  worker?.terminate();
  worker = undefined;
  const all = [...surfaces.values()];
  surfaces.clear();
  for (const { failed } of all) failed();
}

/** Starts the worker, if it has not been: three.js is large, and there when a surface is. */
export function drawersInWorker(): MakeDrawer | null {
  if (isImpossible) return null;
  try {
    worker ??= start();
  } catch {
    isImpossible = true;
    return null;
  }
  return (canvas, told) => {
    const surface = opened++;
    surfaces.set(surface, told);
    const tell = (message: ToWorker, transfer: Transferable[] = []): void =>
      void firstPicture().then(() => worker?.postMessage(message, transfer));
    const offscreen = canvas.transferControlToOffscreen();
    tell({ surface, type: "open", canvas: offscreen }, [offscreen]);
    return {
      show: (picture) => tell({ surface, type: "show", picture }),
      turn: (orbit) => tell({ surface, type: "turn", orbit }),
      fit: (size) => tell({ surface, type: "fit", size }),
      close: () => {
        surfaces.delete(surface);
        tell({ surface, type: "close" });
      },
    };
  };
}
