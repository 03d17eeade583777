/** What draws a surface: the page itself, or a worker (`surface-in-worker.ts`). */

import type { Orbit } from "./relief";
import type { SurfaceScene } from "./scene";
import type { Picture, Size } from "./surface-protocol";

export interface Drawer {
  show: (picture: Picture) => void;
  turn: (orbit: Orbit) => void;
  fit: (size: Size) => void;
  close: () => void;
}

/** `failed`: nothing is drawn on this canvas, nor will be. */
export type MakeDrawer = (canvas: HTMLCanvasElement, drawn: () => void, failed: () => void) => Drawer;

export function drawerOnPage(Scene: typeof SurfaceScene): MakeDrawer {
  return (canvas, drawn, failed) => {
    try {
      const scene = new Scene(canvas, drawn);
      return {
        show: (picture) => scene.show(picture),
        turn: (orbit) => scene.turn(orbit),
        fit: (size) => scene.fit(size),
        close: () => scene.dispose(),
      };
    } catch {
      queueMicrotask(failed);
      return { show: () => {}, turn: () => {}, fit: () => {}, close: () => {} };
    }
  };
}
