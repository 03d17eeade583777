/** How landscapes are looked at: as what, on which scale, and from where; and that in an address. */

import type { HeightKind } from "./heights";
import { FARTHEST, HIGHEST, LOWEST, NEAREST, orbitAt, polarOf } from "./orbit";
import { FIRST_ORBIT, type Orbit } from "./relief";

export interface Look {
  view: "surface" | "contour" | "line";
  height: HeightKind;
  /** Of all surfaces: seen from one place they can be compared. */
  orbit: Orbit;
}

export const FIRST_LOOK: Look = { view: "surface", height: "log", orbit: FIRST_ORBIT };

const DEGREES = 180 / Math.PI;
const rounded = (value: number, digits: number): string => String(Number(value.toFixed(digits)));

/** Degrees around and up, and how far away: what nobody sees is left out. Null for the place where the page begins. */
export function cameraText(orbit: Orbit): string | null {
  const text = textOf(orbit);
  return text === textOf(FIRST_ORBIT) ? null : text;
}

function textOf(orbit: Orbit): string {
  const { around, lift, distance } = polarOf(orbit);
  return [rounded(around * DEGREES, 1), rounded(lift * DEGREES, 1), rounded(distance, 2)].join("_");
}

/** Where the text says no place, or one that no hand comes to, it is where the page begins. */
export const orbitOf = (text: string | null): Orbit => orbitSaid(text ?? "") ?? FIRST_ORBIT;

/** Null where the text says no place, or one that no hand comes to. */
export function orbitSaid(text: string): Orbit | null {
  const [around, lift, distance, ...more] = text.split("_").map(Number);
  if (around === undefined || lift === undefined || distance === undefined || more.length > 0) return null;
  const polar = { around: around / DEGREES, lift: lift / DEGREES, distance };
  const isWithin =
    Math.abs(around) <= 360 &&
    polar.lift >= LOWEST - SLACK &&
    polar.lift <= HIGHEST + SLACK &&
    distance >= NEAREST &&
    distance <= FARTHEST;
  return isWithin ? orbitAt(polar, FIRST_ORBIT.zoom) : null;
}

/** What the text may say, in words. */
export const PLACES =
  `degrees around up to 360, degrees up from ${rounded(LOWEST * DEGREES, 1)} to ${rounded(HIGHEST * DEGREES, 1)} ` +
  `and a distance from ${NEAREST} to ${FARTHEST}, as "36_25_4.8"`;

/** An end of the way was rounded to a tenth of a degree. */
const SLACK = 0.1 / DEGREES;

export const lookText = ({ view, height }: Look): string | null =>
  view === FIRST_LOOK.view && height === FIRST_LOOK.height ? null : height === "linear" ? `${view}_linear` : view;

export function lookOf(show: string | null, camera: string | null): Look {
  const [view, height] = (show ?? "").split("_");
  return {
    view: view === "contour" || view === "line" ? view : "surface",
    height: height === "linear" ? "linear" : "log",
    orbit: orbitOf(camera),
  };
}
