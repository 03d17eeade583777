/** What the stage's three gauges read: values before and after, where they stand on their scales, and what is said of them. */

import type { MeasureKey } from "isoflat";
import { compare, shouldStandStill } from "./compare";
import { factor, number, percent } from "./format";
import { SWINGS, standsFor } from "./gauges";
import { type State, transformationOf } from "./store";

/** Powers of ten that a scale has, and of those below the trained value. */
const [DECADES, BELOW] = [8, 1];

export interface Reading {
  id: string;
  key?: MeasureKey;
  title: string;
  /** One sentence for who meets the word for the first time. */
  about: string;
  trained: number | undefined;
  bent: number | undefined;
  /** What stands for the bent value while that is computed: the one before, of another bend, or nothing yet. */
  before?: number | null;
  text: (value: number) => string;
  /** Along the scale, 0 to 1. */
  at: (value: number) => number;
  verdict: { kind: "still" | "moves" | "unsure" | "theory" | "pending" | "none"; text: string };
}

export function readingsOf(state: State): Reading[] {
  const { bend } = state;
  return [
    norm(state, SWINGS, "Hessian norm", "The largest curvature of the loss, in the weights as they are."),
    norm(
      state,
      standsFor(bend),
      "Riemannian norm",
      "The same curvature with every step measured relative to the weights: what rescaling gives to one it takes from the other.",
    ),
    accuracyOf(state),
  ];
}

/** What gauges have shown of each network's twins, by which a needle stays where it is until it knows where to go. */
export class LastReadings {
  readonly #last = new Map<string, { trained: number; bent: number }>();

  /** The reading, with the value before where one is awaited. */
  of(reading: Reading): Reading {
    const { id, key, trained, bent, verdict } = reading;
    const name = `${id} ${key}`;
    if (trained === undefined) this.#last.delete(name);
    else if (bent !== undefined) this.#last.set(name, { trained, bent });
    if (trained === undefined || bent !== undefined || verdict.kind !== "pending") return reading;
    const last = this.#last.get(name);
    // Of another network it says nothing.
    return { ...reading, before: last?.trained === trained ? last.bent : null };
  }
}

/** What is not there yet, and may never be: after Stop nothing computes it. `missing`: which of a gauge's two numbers it is. */
function awaited({ ready, task }: State, missing: "trained" | "bent" = "trained"): Reading["verdict"] {
  if (!ready) return { kind: "none", text: "" };
  if (task !== "idle") return { kind: "pending", text: "computing…" };
  return { kind: "none", text: missing === "bent" ? "after it: not computed" : "not computed" };
}

function norm(state: State, key: MeasureKey, title: string, about: string): Reading {
  const { measures, bend, engine, descriptions } = state;
  const before = measures.trained.get(key);
  const after = measures.bent.get(key);
  const bent = transformationOf(bend) !== null;
  const description = descriptions.find((measure) => measure.key === key);
  const stands = description !== undefined && shouldStandStill(description, bend);
  const low = Math.log10(Math.abs(before?.value ?? 1)) - BELOW;
  const verdict = ((): Reading["verdict"] => {
    if (!before) return awaited(state);
    if (!bent) return { kind: "none", text: "" };
    if (after) {
      const { verdict: kind, symbol, word, ratio } = compare(before, after, engine?.info.precision ?? "f32");
      const short = kind === "moves" && Number.isFinite(ratio) ? factor(ratio) : word;
      const isChecked = kind === "still" && stands && before.converged && after.converged;
      return { kind, text: `${symbol} ${short}${isChecked ? ", checked" : ""}` };
    }
    return stands ? { kind: "theory", text: "= by theory, to be checked" } : awaited(state, "bent");
  })();
  return {
    id: key.startsWith("riemannian") ? "stands" : "swings",
    key,
    title,
    about,
    trained: before?.value,
    bent: bent ? (after?.value ?? (stands ? before?.value : undefined)) : undefined,
    text: (value) => number(value),
    at: (value) => (Math.log10(Math.abs(value)) - low) / DECADES,
    verdict,
  };
}

function accuracyOf(state: State): Reading {
  const { accuracy, bend, model } = state;
  const bent = transformationOf(bend) !== null;
  const trained = accuracy.trained ?? undefined;
  const after = accuracy.bent ?? undefined;
  const verdict = ((): Reading["verdict"] => {
    if (accuracy.trained === null) return { kind: "none", text: "targets are no classes" };
    if (trained === undefined) return awaited(state);
    if (!bent) return { kind: "none", text: "" };
    if (after === undefined) return { kind: "theory", text: "= by theory, to be checked" };
    return after === trained
      ? { kind: "still", text: "= stands still, checked" }
      : { kind: "moves", text: `moves by ${percent(after - trained, 2)}` };
  })();
  return {
    id: "accuracy",
    title: (model?.validationSamples ?? 0) > 0 ? "Test accuracy" : "Accuracy",
    about: "How many of the samples the network gets right: a rescaling changes no answer.",
    trained,
    bent: bent ? (after ?? trained) : undefined,
    text: (value) => percent(value),
    at: (value) => value,
    verdict,
  };
}

/** Along its scale, from 0 to 1: a norm of 0 has no place on a scale of powers. */
export const shareOf = ({ at }: Pick<Reading, "at">, value: number): number => Math.min(Math.max(at(value) || 0, 0), 1);
