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

export interface Told {
  /** Of each frame. */
  drawn: () => void;
  /** Nothing is drawn on this canvas, nor will be. */
  failed: () => void;
  /** The browser has taken away what it was drawn with. */
  lost: () => void;
}

export type MakeDrawer = (canvas: HTMLCanvasElement, told: Told) => Drawer;

export function drawerOnPage(Scene: typeof SurfaceScene): MakeDrawer {
  return (canvas, { drawn, failed, lost }) => {
    try {
      const scene = new Scene(canvas, drawn, lost);
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
