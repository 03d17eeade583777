/** What the runs have come to, kept in the browser: a long setting takes hours, and a reload should take none of them. */

import { transaction } from "../database";
import type { SpacesState } from "./app";
import type { Curve, Curves } from "./results";

const KEY = "spaces";
/** Of what is kept: other ones are of a page that wrote something else, or whose runs began elsewhere and saw other inputs. */
const FORM = 2;
/** News come several times a second. */
const REST_MS = 2000;

type Kept = Pick<SpacesState, "experiment" | "setting" | "curves" | "curvature">;

/** Undefined where nothing is kept. */
export async function keptRuns(): Promise<Kept | undefined> {
  const found = await transaction(
    "readonly",
    (store): IDBRequest<(Kept & { form: number }) | undefined> => store("last").get(KEY),
  );
  if (found?.form !== FORM) return undefined;
  const { experiment, setting, curves, curvature } = found;
  return { experiment, setting, curves: ended(curves), curvature };
}

/** What was running when the page was left does not go on. */
export function ended(curves: Curves): Curves {
  const end = (curve: Curve): Curve => (curve.end === "running" ? { ...curve, end: "stopped" } : curve);
  return new Map([...curves].map(([key, of]) => [key, of.map(end)]));
}

export class KeptRuns {
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly state: () => SpacesState) {
    // A page that is left is not waited for.
    document.addEventListener("visibilitychange", () => {
      if (document.hidden && this.#timer !== undefined) void this.now();
    });
  }

  soon(): void {
    this.#timer ??= setTimeout(() => void this.now(), REST_MS);
  }

  async now(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { experiment, setting, curves, curvature } = this.state();
    const kept: Kept & { form: number } = { form: FORM, experiment, setting, curves, curvature };
    await transaction("readwrite", (store) => store("last").put(kept, KEY));
  }
}
