/** The landscape as a relief on the page: a canvas that hands turn, drawn by a worker where there is one. */

import type { Landscape } from "isoflat";
import { svg } from "../dom";
import { number } from "../format";
import { axesOf, drawnAxes } from "./axes";
import { type Ground, PAGE } from "./ground";
import { type Heights, isWhole, lowest, rowsOf } from "./heights";
import { handle } from "./orbit";
import { FIRST_ORBIT, type Orbit } from "./relief";
import { type Drawer, drawerOnPage, type MakeDrawer } from "./surface-drawer";
import type { Picture, Size } from "./surface-protocol";
import { placesOf } from "./way";

/** Finer than this nobody sees. */
const FINEST = 2;

export class SurfaceView {
  readonly #resize: ResizeObserver;
  #canvas: HTMLCanvasElement | undefined;
  #drawer: Drawer | undefined;
  #picture: Picture | undefined;
  #words = "";
  #orbit = FIRST_ORBIT;
  #isOver = false;
  #size = { width: 0, height: 0 };
  /** Over the canvas: numbers are letters of the page, as sharp as its others. */
  readonly #axes = svg("svg", { class: "surface-axes", "aria-hidden": "true" });
  #shown: { landscape: Landscape; heights: Heights } | undefined;
  #frame = 0;

  /** `failed`: the browser has no WebGL. */
  constructor(
    private readonly view: HTMLElement,
    /** A hand wants it seen from elsewhere. */
    private readonly turned: (to: Orbit) => void,
    private readonly failed: () => void,
    /** What draws elsewhere than on this thread; nothing where that is not possible. */
    elsewhere: MakeDrawer | null = null,
    private readonly ground: Ground = PAGE,
  ) {
    // It says how large the place is when that is known: to ask would lay the page out once more.
    this.#resize = new ResizeObserver(([entry]) => {
      if (!entry) return;
      this.#size = { width: Math.round(entry.contentRect.width), height: Math.round(entry.contentRect.height) };
      this.#fit();
    });
    this.#resize.observe(view);
    if (elsewhere) this.#draw(elsewhere, () => this.#drawHere());
    else this.#drawHere();
  }

  show(landscape: Landscape, heights: Heights): void {
    const { s, t, loss, path } = landscape;
    const { kind, low, high } = heights;
    this.#picture = {
      landscape: { s, t, loss, ...(path && { path }) },
      scale: { kind, low, high },
      colours: {
        grid: this.ground.colour("surface-line"),
        level: this.ground.colour("ink"),
        floor: this.ground.colour("line-strong"),
        pin: this.ground.colour("pin"),
        way: this.ground.colour("way"),
      },
      theme: this.ground.theme(),
    };
    const lowestLoss = number(lowest(landscape).loss);
    const known = isWhole(landscape)
      ? `${number(landscape.center)} at the weights (pin), lowest ${lowestLoss} (ring)`
      : `${rowsOf(landscape)} of ${landscape.t.length} rows so far, lowest ${lowestLoss}`;
    this.#words = `Loss surface: ${known}${path ? "; the way of the training is drawn on it" : ""}. Arrow keys turn it, plus and minus zoom, Home returns.`;
    this.#say();
    this.#drawer?.show(this.#picture);
    this.#shown = { landscape, heights };
    this.#drawAxes();
  }

  turn(orbit: Orbit): void {
    if (orbit === this.#orbit) return;
    this.#orbit = orbit;
    this.#drawer?.turn(orbit);
    this.#drawAxes();
  }

  dispose(): void {
    this.#isOver = true;
    cancelAnimationFrame(this.#frame);
    this.#resize.disconnect();
    this.#drawer?.close();
    this.view.replaceChildren();
  }

  /** A canvas that has been given to a worker, or has no WebGL, is of no further use: each drawer has a new one. */
  #draw(drawer: MakeDrawer, failed: () => void): void {
    const canvas = document.createElement("canvas");
    canvas.tabIndex = 0;
    // Arrows are its own: of a picture a screen reader would keep them to itself.
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-roledescription", "surface");
    canvas.setAttribute("part", "surface");
    handle(canvas, (change) => {
      const to = change(this.#orbit);
      if (to) this.turned(to);
    });
    this.#canvas = canvas;
    this.#say();
    this.#drawer = drawer(
      canvas,
      () => {
        // Of all canvases that have been there.
        this.view.dataset.frames = String(Number(this.view.dataset.frames ?? 0) + 1);
        // What was there before stays until there is something to be seen.
        if (canvas !== this.#canvas || this.#isOver || canvas.parentElement === this.view) return;
        this.view.replaceChildren(canvas, this.#axes);
        this.#fit();
      },
      () => {
        if (canvas === this.#canvas && !this.#isOver) failed();
      },
    );
    this.#drawer.turn(this.#orbit);
    this.#fit();
    if (this.#picture) this.#drawer.show(this.#picture);
  }

  #drawHere(): void {
    void import("./scene").then(
      ({ SurfaceScene }) => {
        if (!this.#isOver) this.#draw(drawerOnPage(SurfaceScene), this.failed);
      },
      () => this.failed(),
    );
  }

  #say(): void {
    if (!this.#canvas || !this.#picture) return;
    const { landscape } = this.#picture;
    this.#canvas.dataset.rows = String(rowsOf(landscape));
    this.#canvas.dataset.way = String(placesOf(landscape).length);
    this.#canvas.setAttribute("aria-label", this.#words);
  }

  #fit(): void {
    const { width, height } = this.#size;
    if (width === 0 || height === 0) return;
    this.#drawAxes();
    this.#drawer?.fit({ width, height, ratio: Math.min(window.devicePixelRatio, FINEST) } satisfies Size);
  }

  /** With the next frame, as the surface, however often they have changed until then. */
  #drawAxes(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      const { width, height } = this.#size;
      if (!this.#shown || width === 0 || height === 0) return;
      const { landscape, heights } = this.#shown;
      this.#axes.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.#axes.replaceChildren(...drawnAxes(axesOf(landscape, heights, this.#orbit, width, height)));
    });
  }
}
