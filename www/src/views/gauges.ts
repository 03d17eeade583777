/** Three gauges: the Hessian's norm, which swings; a Riemannian norm and the accuracy, which stand. */

import type { MeasureKey } from "isoflat";
import type { App } from "../app";
import { compare, shouldStandStill } from "../compare";
import { html } from "../dom";
import { factor, number, percent } from "../format";
import { SWINGS, standsFor } from "../gauges";
import { transformationOf } from "../store";
import { place } from "./place";
import { explainedText } from "./words";

/** Powers of ten that a scale has, and of those below the trained value. */
const [DECADES, BELOW] = [8, 1];

interface Reading {
  id: string;
  key?: MeasureKey;
  title: string;
  /** One sentence for who meets the word for the first time. */
  about: string;
  trained: number | undefined;
  bent: number | undefined;
  text: (value: number) => string;
  /** Along the scale, 0 to 1. */
  at: (value: number) => number;
  verdict: { kind: "still" | "moves" | "unsure" | "theory" | "pending" | "none"; text: string };
}

export function gaugesView(app: App): void {
  const box = place("gauges");
  let drawn: { said: string; element: HTMLElement }[] = [];
  app.store.watch(["measures", "accuracy", "bend", "engine", "descriptions", "training", "ready", "task"], () => {
    const wanted = readings(app).map((reading) => ({ reading, said: JSON.stringify(reading) }));
    // While the twin moves on its way, most of what they say stays as it is.
    if (wanted.every(({ said }, index) => said === drawn[index]?.said)) return;
    // The word that has the focus keeps it, though it is another element.
    const focused = box.querySelector(".term:focus")?.closest(".gauge")?.id;
    drawn = wanted.map(({ reading, said }, index) => {
      const before = drawn[index];
      return before?.said === said ? before : { said, element: gauge(reading) };
    });
    box.replaceChildren(...drawn.map(({ element }) => element));
    if (focused) box.querySelector<HTMLElement>(`#${focused} .term`)?.focus();
  });
}

function readings(app: App): Reading[] {
  const { bend } = app.store.state;
  return [
    norm(app, SWINGS, "Hessian norm", "The largest curvature of the loss, in the weights as they are."),
    norm(
      app,
      standsFor(bend),
      "Riemannian norm",
      "The same curvature with every step measured relative to the weights: what rescaling gives to one it takes from the other.",
    ),
    accuracy(app),
  ];
}

/** What is not there yet, and may never be: after Stop nothing computes it. */
function awaited({ store }: App): Reading["verdict"] {
  const { ready, task } = store.state;
  if (!ready) return { kind: "none", text: "" };
  return task === "idle" ? { kind: "none", text: "not computed" } : { kind: "pending", text: "computing…" };
}

function norm(app: App, key: MeasureKey, title: string, about: string): Reading {
  const { measures, bend, engine, descriptions } = app.store.state;
  const before = measures.trained.get(key);
  const after = measures.bent.get(key);
  const bent = transformationOf(bend) !== null;
  const description = descriptions.find((measure) => measure.key === key);
  const stands = description !== undefined && shouldStandStill(description, bend);
  const low = Math.log10(Math.abs(before?.value ?? 1)) - BELOW;
  const verdict = ((): Reading["verdict"] => {
    if (!before) return awaited(app);
    if (!bent) return { kind: "none", text: "" };
    if (after) {
      const { verdict: kind, symbol, word, ratio } = compare(before, after, engine?.info.precision ?? "f32");
      const short = kind === "moves" && Number.isFinite(ratio) ? factor(ratio) : word;
      const isChecked = kind === "still" && stands && before.converged && after.converged;
      return { kind, text: `${symbol} ${short}${isChecked ? ", checked" : ""}` };
    }
    return stands ? { kind: "theory", text: "= by theory, to be checked" } : awaited(app);
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

function accuracy(app: App): Reading {
  const { accuracy, bend, model } = app.store.state;
  const bent = transformationOf(bend) !== null;
  const trained = accuracy.trained ?? undefined;
  const after = accuracy.bent ?? undefined;
  const verdict = ((): Reading["verdict"] => {
    if (accuracy.trained === null) return { kind: "none", text: "targets are no classes" };
    if (trained === undefined) return awaited(app);
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

function gauge({ id, key, title, about, trained, bent, text, at, verdict }: Reading): HTMLElement {
  // A norm of 0 has no place on a scale of powers.
  const share = (value: number) => 100 * Math.min(Math.max(at(value) || 0, 0), 1);
  const mark = (value: number | undefined, point: "trained" | "bent") =>
    value !== undefined && html("i", { class: `mark ${point}`, style: `left: ${share(value)}%` });
  const ends = [trained, bent].flatMap((value) => (value === undefined ? [] : share(value)));
  const way =
    ends.length > 1 &&
    html("i", { class: "way", style: `left: ${Math.min(...ends)}%; right: ${100 - Math.max(...ends)}%` });
  const values =
    trained === undefined
      ? ["–"]
      : bent === undefined
        ? [html("span", { class: "trained" }, text(trained))]
        : [
            html("span", { class: "trained" }, text(trained)),
            html("span", { class: "arrow" }, " → "),
            html("span", { class: "bent" }, text(bent)),
          ];
  return html(
    "div",
    { class: "gauge", id: `gauge-${id}`, "data-key": key, "data-verdict": verdict.kind, title: about },
    html("span", { class: "label" }, explainedText(title), html("span", { class: "visually-hidden" }, `. ${about}`)),
    html("span", { class: "values" }, ...values),
    html("span", { class: "scale", "aria-hidden": "true" }, way, mark(trained, "trained"), mark(bent, "bent")),
    html("span", { class: "verdict" }, verdict.text),
  );
}
