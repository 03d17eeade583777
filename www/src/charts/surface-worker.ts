/** Draws the page's surfaces: without a GPU a frame takes long, and the page goes on meanwhile. */

import { SurfaceScene } from "./scene";
import type { FromWorker, ToWorker } from "./surface-protocol";

const scenes = new Map<number, SurfaceScene>();

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  const { surface } = data;
  const say = (type: FromWorker["type"]): void => self.postMessage({ surface, type } satisfies FromWorker);
  if (data.type === "open") {
    try {
      scenes.set(
        surface,
        new SurfaceScene(
          data.canvas,
          () => say("drawn"),
          () => say("lost"),
        ),
      );
    } catch {
      say("failed");
    }
    return;
  }
  const scene = scenes.get(surface);
  if (!scene) return;
  if (data.type === "show") scene.show(data.picture);
  else if (data.type === "turn") scene.turn(data.orbit);
  else if (data.type === "fit") scene.fit(data.size);
  else {
    scene.dispose();
    scenes.delete(surface);
  }
};
