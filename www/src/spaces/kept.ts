/** What the runs have come to, kept in the browser: a long setting takes hours, and a reload should take none of them. */

import { transaction } from "../database";
import { same } from "../same";
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

/**
 * What is to be kept: of one's own what has changed since it was `known` to be kept, and of what another tab has kept meanwhile, `there`,
 * the rest. Who has changed nothing but what is looked at takes no results from another setting's.
 */
export function merged(own: Kept, known: Kept, there: Kept | undefined): Kept {
  if (!there) return own;
  const isChanged = (key: string): boolean => own.curves.get(key) !== known.curves.get(key);
  const changed = [...own.curves].filter(([key]) => isChanged(key));
  if (!same(own.setting, there.setting)) {
    const isUntouched = same(own.setting, known.setting) && changed.length === 0 && own.curvature === known.curvature;
    return isUntouched ? { ...there, experiment: own.experiment } : own;
  }
  // What one has let go oneself is not brought back.
  const theirs = [...there.curves].filter(([key]) => own.curves.has(key) || !known.curves.has(key));
  const curvature = own.curvature === known.curvature ? there.curvature : own.curvature;
  return { ...own, curves: new Map([...theirs, ...changed]), curvature };
}

export class KeptRuns {
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** As they were read, or kept last. */
  #known: Kept;

  constructor(private readonly state: () => SpacesState) {
    this.#known = state();
    // A page that is left is not waited for.
    document.addEventListener("visibilitychange", () => {
      if (document.hidden && this.#timer !== undefined) void this.now();
    });
  }

  soon(): void {
    this.#timer ??= setTimeout(() => void this.now(), REST_MS);
  }

  /** These are kept: nothing of them has changed. */
  are(kept: Kept): void {
    this.#known = kept;
  }

  async now(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [own, known] = [this.state(), this.#known];
    this.#known = own;
    await transaction("readwrite", (store) => {
      const there: IDBRequest<(Kept & { form: number }) | undefined> = store("last").get(KEY);
      there.onsuccess = () => {
        const kept = there.result?.form === FORM ? there.result : undefined;
        const { experiment, setting, curves, curvature } = merged(own, known, kept);
        store("last").put({ form: FORM, experiment, setting, curves, curvature }, KEY);
      };
      return there;
    });
  }
}
