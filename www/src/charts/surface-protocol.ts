/** What goes between a surface of the page and what draws it, on the page's thread or in a worker. */

import type { Relief, Scale } from "./heights";
import type { Theme } from "./palette";
import type { Orbit } from "./relief";

export type Canvas = HTMLCanvasElement | OffscreenCanvas;

/** Of the theme, as style sheets spell them. */
export interface Colours {
  grid: string;
  level: string;
  floor: string;
  pin: string;
  way: string;
}

export interface Picture {
  landscape: Relief;
  scale: Scale;
  colours: Colours;
  theme: Theme;
}

/** In pixels of the page, and how many of the screen there are to one. */
export interface Size {
  width: number;
  height: number;
  ratio: number;
}

/** A surface has a number, by which a worker knows it. */
export type ToWorker = { surface: number } & (
  | { type: "open"; canvas: OffscreenCanvas }
  | { type: "show"; picture: Picture }
  | { type: "turn"; orbit: Orbit }
  | { type: "fit"; size: Size }
  | { type: "close" }
);

/** `failed`: no WebGL there; `lost`: none any more for this surface. */
export interface FromWorker {
  surface: number;
  type: "drawn" | "failed" | "lost";
}
