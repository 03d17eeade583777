/**
 * The lab's drawings as elements for any page: `<isoflat-landscape>`, `<isoflat-spectrum>` and `<isoflat-invariance>`. To import this
 * module makes them known; what draws is loaded when an element near the window has something to draw.
 */

import type { EigenResult, InvarianceTable, MeasureDescription, MeasureKey, SpectralDensity } from "../isoflat.js";

/** What `engine.landscape` gives, or the same read from JSON: lists of numbers, and null for what is not finite. */
export interface LandscapeData {
  readonly s: ArrayLike<number | null>;
  /** Empty for a line. */
  readonly t: ArrayLike<number | null>;
  /** Whole rows; fewer than `t` has are drawn as a beginning. */
  readonly loss: ArrayLike<number | null>;
  readonly center?: number;
  readonly path?: { readonly s: ArrayLike<number | null>; readonly t: ArrayLike<number | null> };
}

/**
 * The loss around a point, as a surface that hands and keys turn, as a contour map, or, of one direction, as a line. For a style sheet its
 * canvas is the part `surface`.
 */
export class IsoflatLandscape extends HTMLElement {
  /** Null for none, as it begins: then the element shows what is between its tags. Two lines are drawn in one chart. */
  get landscape(): LandscapeData | readonly [LandscapeData] | readonly [LandscapeData, LandscapeData] | null;
  set landscape(landscape: LandscapeData | readonly [LandscapeData] | readonly [LandscapeData, LandscapeData] | null);
  /** What two lines are called; default `["before", "after"]`. */
  names: readonly [string, string];
  /** Landscapes of other elements, with which it shares one scale of heights and colours. */
  get beside(): readonly LandscapeData[];
  set beside(landscapes: readonly LandscapeData[]);
  /** The attribute `view`; default `surface`. */
  view: "surface" | "contour";
  /** The attribute `scale`: heights and colours as log (1 + loss), the default, or as the loss. */
  scale: "log" | "linear";
  /** The attribute `controls`: buttons for the view. */
  controls: boolean;
  /** The attribute `no-scale`: what its colours mean is left out, since it is said elsewhere. */
  noScale: boolean;
  /**
   * From where the surface is seen: degrees around, degrees up and distance as `"36_25_4.8"`; `""` where it begins. The attribute `camera` sets it,
   * and what a hand does is not written there.
   */
  camera: string;
  addEventListener<K extends keyof IsoflatLandscapeEventMap>(
    type: K,
    listener: (this: IsoflatLandscape, event: IsoflatLandscapeEventMap[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

export interface IsoflatLandscapeEventMap extends HTMLElementEventMap {
  /** Somebody has turned the surface. */
  camerachange: Event;
  /** Somebody has chosen another view. */
  viewchange: Event;
  /** This browser has no WebGL, or none left for this surface: it is drawn as a map. */
  fallback: Event;
}

/**
 * An operator's spectrum: its ends with their residuals and how far to trust them, its density, or both; of one point, or of two to compare.
 * What a page puts into the slots `ends`, `density-1` and `density-2` stands beside these figures' titles.
 */
export class IsoflatSpectrum extends HTMLElement {
  /** What `engine.eigenvalues` gives. */
  get eigenvalues(): EigenResult | readonly [EigenResult] | readonly [EigenResult, EigenResult] | null;
  set eigenvalues(results: EigenResult | readonly [EigenResult] | readonly [EigenResult, EigenResult] | null);
  /** What `engine.density` gives. */
  get density(): SpectralDensity | readonly [SpectralDensity] | readonly [SpectralDensity, SpectralDensity] | null;
  set density(results:
    | SpectralDensity
    | readonly [SpectralDensity]
    | readonly [SpectralDensity, SpectralDensity]
    | null);
  /** What the two that are compared are called; default `["before", "after"]`. */
  names: readonly [string, string];
  /** The attribute `own-axes`: each of two densities on an axis of its own, and not both on one. */
  ownAxes: boolean;
}

/** What `engine.invariance` gives, or those of its cells that there are. */
export type InvarianceData = Pick<InvarianceTable, "transformations" | "cells"> & {
  readonly backend?: Pick<InvarianceTable["backend"], "precision">;
};

/** A row of an invariance table. */
export type RowKey = InvarianceTable["cells"][number]["measure"];

/** Which measures stand still under which maps of the weights, and which move. */
export class IsoflatInvariance extends HTMLElement {
  get table(): InvarianceData | null;
  set table(table: InvarianceData | null);
  /** Of the rows that there will be, while cells are still to come: these have their place. Null, as it begins, for those that have cells. */
  get measures(): readonly RowKey[] | null;
  set measures(keys: readonly RowKey[] | null);
  /** What `describeMeasures()` gives: names and papers. Without it rows have the measures' keys. */
  get descriptions(): readonly MeasureDescription[];
  set descriptions(descriptions: readonly MeasureDescription[]);
  /** The attribute `explained`: measures' names are buttons, and `explain` says which of them was pressed. */
  explained: boolean;
  addEventListener<K extends keyof IsoflatInvarianceEventMap>(
    type: K,
    listener: (this: IsoflatInvariance, event: IsoflatInvarianceEventMap[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

export interface IsoflatInvarianceEventMap extends HTMLElementEventMap {
  /** Somebody wants to know what a measure is; `name` is the button. It bubbles. */
  explain: CustomEvent<{ measure: MeasureKey; name: HTMLElement }>;
}

declare global {
  interface HTMLElementTagNameMap {
    "isoflat-landscape": IsoflatLandscape;
    "isoflat-spectrum": IsoflatSpectrum;
    "isoflat-invariance": IsoflatInvariance;
  }
}
