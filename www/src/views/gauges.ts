/** Three gauges: the Hessian's norm, which swings; a Riemannian norm and the accuracy, which stand. */

import type { App } from "../app";
import { html } from "../dom";
import { gaugesFigure } from "../figures/gauges";
import { LastReadings, type Reading, readingsOf, shareOf } from "../readings";
import { measureMark } from "./measure-note";
import { place } from "./place";
import { takeAlong } from "./take-along";
import { explainedText } from "./words";

export function gaugesView(app: App): void {
  const box = place("gauges");
  // What is beside it stays, and its menu with it.
  const three = html("div", { class: "three" });
  box.append(three);
  takeAlong(box, () => gaugesFigure(app.store.state));
  const last = new LastReadings();
  /** A name whose note is open says so, however often its gauge is drawn meanwhile. */
  const marks = new Map<string, HTMLElement>();
  const markOf = ({ key, title }: Reading): HTMLElement | false => {
    if (!key) return false;
    const mark = marks.get(key) ?? measureMark(key, `the ${title}`);
    marks.set(key, mark);
    return mark;
  };
  let drawn: { said: string; element: HTMLElement }[] = [];
  app.store.watch(["measures", "accuracy", "bend", "engine", "descriptions", "training", "ready", "task"], () => {
    const wanted = readingsOf(app.store.state)
      .map((reading) => last.of(reading))
      .map((reading) => ({ reading, said: JSON.stringify(reading) }));
    // While the twin moves on its way, most of what they say stays as it is.
    if (wanted.every(({ said }, index) => said === drawn[index]?.said)) return;
    // The word that has the focus keeps it, though it is another element.
    const word = box.querySelector(":is(.term, .about-mark):focus");
    const focused = word && `#${word.closest(".gauge")?.id} .${word.className}`;
    drawn = wanted.map(({ reading, said }, index) => {
      const before = drawn[index];
      return before?.said === said ? before : { said, element: gauge(reading, markOf(reading)) };
    });
    three.replaceChildren(...drawn.map(({ element }) => element));
    if (focused) box.querySelector<HTMLElement>(focused)?.focus({ preventScroll: true });
  });
}

function gauge(
  { id, key, title, about, trained, bent: now, before, text, at, verdict }: Reading,
  note: HTMLElement | false,
): HTMLElement {
  const share = (value: number) => 100 * shareOf({ at }, value);
  const mark = (value: number | undefined, point: string) =>
    value !== undefined && html("i", { class: `mark ${point}`, style: `left: ${share(value)}%` });
  const bent = now ?? before ?? undefined;
  const isAwaited = before !== undefined;
  const bentClass = isAwaited ? "bent before" : "bent";
  const ends = [trained, bent].flatMap((value) => (value === undefined ? [] : share(value)));
  const way =
    ends.length > 1 &&
    html("i", {
      class: isAwaited ? "way before" : "way",
      style: `left: ${Math.min(...ends)}%; right: ${100 - Math.max(...ends)}%`,
    });
  const values =
    trained === undefined
      ? ["–"]
      : bent === undefined && !isAwaited
        ? [html("span", { class: "trained" }, text(trained))]
        : [
            html("span", { class: "trained" }, text(trained)),
            html("span", { class: "arrow" }, " → "),
            html("span", { class: bentClass }, bent === undefined ? "…" : text(bent)),
          ];
  return html(
    "div",
    { class: "gauge", id: `gauge-${id}`, "data-key": key, "data-verdict": verdict.kind, title: about },
    html(
      "span",
      { class: "label" },
      explainedText(title),
      note,
      html("span", { class: "visually-hidden" }, `. ${about}`),
    ),
    html("span", { class: "values" }, ...values),
    html("span", { class: "scale", "aria-hidden": "true" }, way, mark(trained, "trained"), mark(bent, bentClass)),
    html("span", { class: "verdict" }, ...partsOf(verdict.text)),
  );
}

/** What commas part: each as a whole, or not at all where there is no room. */
const partsOf = (text: string): HTMLElement[] =>
  text
    .split(", ")
    .flatMap((part, index) =>
      index === 0 ? [html("span", {}, part)] : [html("wbr", {}), html("span", {}, `, ${part}`)],
    );
