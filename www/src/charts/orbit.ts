/** From where surfaces are seen, and how hands move that: one finger or the mouse turns, two fingers and the wheel come closer, keys do both. */

import { FIRST_ORBIT, type Orbit, TARGET } from "./relief";

/** A view point seen from what is looked at: angles in radians, `lift` from the floor up. */
export interface Polar {
  around: number;
  lift: number;
  distance: number;
}

/** By hand a little from below; by keys never. */
export const LOWEST = -0.02 * Math.PI;
export const HIGHEST = 1.57;
export const [NEAREST, FARTHEST] = [2.5, 12];

const KEY_TURN = Math.PI / 24;
const KEY_STEP = 1.12;
/** A notch of a wheel: 100 pixels, or so many lines or pages. */
const NOTCH = 0.95;
const PIXELS_OF = [1, 16, 100];
/** Trackpads say of two fingers that come apart that a wheel was turned, a little, with Ctrl. */
const PINCH = 10;

const within = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

export function polarOf({ position: [x, y, z] }: Orbit): Polar {
  const offset = [x - TARGET[0], y - TARGET[1], z - TARGET[2]] as const;
  return {
    around: Math.atan2(offset[0], offset[2]),
    lift: Math.atan2(offset[1], Math.hypot(offset[0], offset[2])),
    distance: Math.hypot(...offset),
  };
}

export function orbitAt({ around, lift, distance }: Polar, zoom: number): Orbit {
  const flat = Math.cos(lift) * distance;
  return {
    position: [
      TARGET[0] + Math.sin(around) * flat,
      TARGET[1] + Math.sin(lift) * distance,
      TARGET[2] + Math.cos(around) * flat,
    ],
    zoom,
  };
}

/** `closer`: by which factor the distance is divided. */
export function moved(orbit: Orbit, { around = 0, lift = 0, closer = 1 }, lowest = LOWEST, highest = HIGHEST): Orbit {
  const now = polarOf(orbit);
  return orbitAt(
    {
      around: now.around + around,
      lift: within(now.lift + lift, lowest, highest),
      distance: within(now.distance / closer, NEAREST, FARTHEST),
    },
    orbit.zoom,
  );
}

/** Undefined where the key means nothing. */
export function byKey(orbit: Orbit, key: string): Orbit | undefined {
  const by = (move: Parameters<typeof moved>[1]): Orbit => moved(orbit, move, 0, 1.5);
  if (key === "ArrowLeft") return by({ around: -KEY_TURN });
  if (key === "ArrowRight") return by({ around: KEY_TURN });
  if (key === "ArrowUp") return by({ lift: KEY_TURN });
  if (key === "ArrowDown") return by({ lift: -KEY_TURN });
  if (key === "+" || key === "=") return by({ closer: KEY_STEP });
  if (key === "-") return by({ closer: 1 / KEY_STEP });
  return key === "Home" ? FIRST_ORBIT : undefined;
}

/** How much closer a turn of the wheel brings one. */
export function closerBy({ deltaY, deltaMode, ctrlKey }: Pick<WheelEvent, "deltaY" | "deltaMode" | "ctrlKey">): number {
  return NOTCH ** ((deltaY * (PIXELS_OF[deltaMode] ?? 1) * (ctrlKey ? PINCH : 1)) / 100);
}

/** `moves` is told of what a hand does on the element. Zooming belongs to the page's scrolling unless the element has the focus. */
export function handle(element: HTMLElement, moves: (change: (orbit: Orbit) => Orbit | undefined) => void): void {
  const fingers = new Map<number, { x: number; y: number }>();
  let zooms = false;
  const setZoom = (on: boolean): void => {
    zooms = on;
    element.style.touchAction = on ? "none" : "pan-y";
  };
  setZoom(false);
  element.addEventListener("focus", () => setZoom(true));
  element.addEventListener("blur", () => setZoom(false));
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    element.setPointerCapture(event.pointerId);
  });
  for (const kind of ["pointerup", "pointercancel"] as const) {
    element.addEventListener(kind, ({ pointerId }) => fingers.delete(pointerId));
  }
  element.addEventListener("pointermove", ({ pointerId, clientX: x, clientY: y }) => {
    const from = fingers.get(pointerId);
    if (!from) return;
    const [other] = [...fingers].flatMap(([id, place]) => (id === pointerId ? [] : place));
    fingers.set(pointerId, { x, y });
    if (!other) {
      const radians = (2 * Math.PI) / element.clientHeight;
      moves((orbit) => moved(orbit, { around: (from.x - x) * radians, lift: (y - from.y) * radians }));
    } else if (zooms) {
      const apart = (place: typeof from): number => Math.hypot(place.x - other.x, place.y - other.y) || 1;
      moves((orbit) => moved(orbit, { closer: apart({ x, y }) / apart(from) }));
    }
  });
  element.addEventListener(
    "wheel",
    (event) => {
      if (!zooms) return;
      event.preventDefault();
      moves((orbit) => moved(orbit, { closer: closerBy(event) }));
    },
    { passive: false },
  );
  element.addEventListener("keydown", (event) => {
    moves((orbit) => {
      const to = byKey(orbit, event.key);
      if (to) event.preventDefault();
      return to;
    });
  });
}
