/** The landscape as a relief on the page: a canvas that hands turn, drawn by a worker where there is one. */

import type { Landscape } from "isoflat";
import { svg } from "../dom";
import { number } from "../format";
import { nextFrame, whenNear, whenSized } from "../observers";
import { axesOf, drawnAxes } from "./axes";
import { type Holder, hold, isCrowded, release, spare } from "./contexts";
import { type Ground, PAGE } from "./ground";
import { centerSaid, type Heights, isWhole, lowest, rowsOf } from "./heights";
import { handle } from "./orbit";
import { FIRST_ORBIT, type Orbit } from "./relief";
import { type Drawer, drawerOnPage, type MakeDrawer } from "./surface-drawer";
import type { Picture, Size } from "./surface-protocol";
import { placesOf } from "./way";

/** Finer than this nobody sees. */
const FINEST = 2;

/** Beside the window, where a surface keeps what it is drawn with, and has it again before it is seen. */
const NEAR = "50%";

export class SurfaceView implements Holder {
  readonly #leave: (() => void)[];
  #isNear = true;
  /** Has one been made anew since it came near? */
  #isSecond = false;
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
  /** How to leave what is due with the next frame. */
  #due: (() => void) | undefined;

  /** `failed`: the browser has no WebGL. */
  constructor(
    private readonly view: HTMLElement,
    /** A hand wants it seen from elsewhere. */
    private readonly turned: (to: Orbit) => void,
    private readonly failed: () => void,
    /** What draws elsewhere than on this thread; nothing where that is not possible. */
    private elsewhere: MakeDrawer | null = null,
    private readonly ground: Ground = PAGE,
  ) {
    this.#leave = [
      whenSized(view, (width, height) => {
        this.#size = { width: Math.round(width), height: Math.round(height) };
        this.#fit();
      }),
      whenNear(view, NEAR, (isNear) => this.#come(isNear)),
    ];
    this.#open();
  }

  /** Somebody at the keys misses it wherever it is. */
  get isNear(): boolean {
    return this.#isNear || this.#canvas?.matches(":focus") === true;
  }

  /** The canvas that is there stays, and has nothing to show, until there is another. */
  letGo(): void {
    this.#drawer?.close();
    this.#drawer = undefined;
    this.#canvas = undefined;
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
      ? `${centerSaid(landscape, "at the weights (pin)")}lowest ${lowestLoss} (ring)`
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
    this.#due?.();
    for (const leave of this.#leave) leave();
    release(this);
    this.#drawer?.close();
    this.view.replaceChildren();
  }

  #come(isNear: boolean): void {
    if (isNear === this.#isNear) return;
    this.#isNear = isNear;
    this.#isSecond = false;
    if (!isNear) spare();
    else if (!this.#drawer) this.#open();
  }

  #open(): void {
    if (this.elsewhere) {
      this.#draw(this.elsewhere, () => {
        this.elsewhere = null;
        this.#drawHere();
      });
    } else this.#drawHere();
  }

  /** The browser has taken the context away, most likely for another surface. */
  #lose(): void {
    release(this);
    this.letGo();
    if (!this.isNear) return;
    // Where all are in sight, to take it back would be to take it from another.
    if (this.#isSecond || isCrowded()) this.failed();
    else {
      this.#isSecond = true;
      this.#open();
    }
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
    const isIts = (): boolean => canvas === this.#canvas && !this.#isOver;
    this.#drawer = drawer(canvas, {
      drawn: () => {
        // Of all canvases that have been there.
        this.view.dataset.frames = String(Number(this.view.dataset.frames ?? 0) + 1);
        // What was there before stays until there is something to be seen.
        if (!isIts() || canvas.parentElement === this.view) return;
        const isAtKeys = this.view.querySelector("canvas:focus") !== null;
        this.view.replaceChildren(canvas, this.#axes);
        if (isAtKeys) canvas.focus({ preventScroll: true });
        this.#fit();
      },
      failed: () => isIts() && failed(),
      lost: () => isIts() && this.#lose(),
    });
    this.#drawer.turn(this.#orbit);
    this.#fit();
    if (this.#picture) this.#drawer.show(this.#picture);
    // Where it is far by now it may have to give it back at once.
    hold(this);
  }

  #drawHere(): void {
    this.letGo();
    void import("./scene").then(
      ({ SurfaceScene }) => {
        // It may have gone far meanwhile and come back.
        if (!this.#isOver && !this.#drawer) this.#draw(drawerOnPage(SurfaceScene), this.failed);
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
    this.#due ??= nextFrame(() => {
      this.#due = undefined;
      const { width, height } = this.#size;
      if (!this.#shown || width === 0 || height === 0) return;
      const { landscape, heights } = this.#shown;
      this.#axes.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.#axes.replaceChildren(...drawnAxes(axesOf(landscape, heights, this.#orbit, width, height)));
    });
  }
}
