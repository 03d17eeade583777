/** A few inputs with what both networks say of them: bars above the line as trained, below it bent. */

import type { App } from "../app";
import { html, picture, svg } from "../dom";
import { number, percent } from "../format";
import { transformationOf } from "../store";
import type { Examples } from "../worker/protocol";
import { place, within } from "./place";

/** Of one drawing of bars, in its own units. */
const [WIDTH, HALF, GAP] = [60, 17, 1.5];
/** More outputs than this are no bars any more. */
const MOST = 40;

export function samenessView(app: App): void {
  const own = within(place("sameness"));
  const [digits, heading] = [own("div", "digits"), own("h3", "sameness-title")];
  const [box, text] = [own("div", "same"), own("span", "same-text")];
  let shown: Examples | null = null;
  /** Of each figure, the answers of the twin that it shows: while the twin moves on its way they are mostly the same. */
  let drawn: (number[] | undefined)[] = [];
  app.store.watch(["examples", "preview", "bendSummary", "bend"], () => {
    const { examples, preview, bendSummary, bend } = app.store.state;
    if (examples !== shown) {
      shown = examples;
      digits.replaceChildren(...(examples ? examples.answers.map((_, sample) => frame(examples, sample)) : []));
      heading.textContent = title(examples);
      drawn = [];
    }
    if (!examples) return;
    const bent = transformationOf(bend) ? (bendSummary?.answers ?? preview?.answers) : undefined;
    examples.answers.forEach((before, sample) => {
      const figure = digits.children[sample];
      const after = bent?.[sample];
      if (!figure || (sample in drawn && drawn[sample] === after)) return;
      drawn[sample] = after;
      showAnswers(figure, before, after, examples.labels.length > 0);
    });
  });
  app.store.watch(["bend", "bendSummary", "ready", "task", "engine"], () => showSame(app, box, text));
}

function title(examples: Examples | null): string {
  if (!examples) return "What it answers";
  const what = examples.images.length > 0 ? "images" : "samples";
  const outputs = examples.answers[0]?.length ?? 0;
  const shown = outputs > MOST ? ` (the first ${MOST} of ${outputs} outputs)` : "";
  return `What it says of ${examples.of === "test" ? "test " : ""}${what}${shown}`;
}

function frame({ images, labels }: Examples, sample: number): HTMLElement {
  const image = images[sample];
  const label = labels[sample];
  return html(
    "figure",
    { class: "example" },
    // Decoration: what it is read as stands below it.
    image
      ? picture(image, { "aria-hidden": "true" })
      : html("span", { class: "sample" }, label === undefined ? `${sample + 1}` : `class ${label}`),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${2 * HALF + 2 * GAP}`, preserveAspectRatio: "none", "aria-hidden": "true" }),
    html("figcaption", {}),
  );
}

function showAnswers(figure: Element, before: number[], after: number[] | undefined, isClasses: boolean): void {
  const bars = figure.querySelector("svg");
  const caption = figure.querySelector("figcaption");
  if (!bars || !caption) return;
  const scale = isClasses ? 1 : Math.max(...before.map(Math.abs), Number.MIN_VALUE);
  const step = WIDTH / Math.min(before.length, MOST);
  const bar = (value: number, index: number, way: "trained" | "bent") => {
    const height = Math.min(Math.abs(value) / scale, 1) * HALF;
    const y = way === "trained" ? HALF - height : HALF + 2 * GAP;
    return svg("rect", { class: way, x: index * step + step * 0.12, y, width: step * 0.76, height });
  };
  bars.replaceChildren(
    svg("line", { x1: 0, x2: WIDTH, y1: HALF + GAP, y2: HALF + GAP }),
    ...before.slice(0, MOST).map((value, index) => bar(value, index, "trained")),
    ...(after?.slice(0, MOST).map((value, index) => bar(value, index, "bent")) ?? []),
  );
  if (!isClasses) return;
  const words = [before, after ?? before].map((answers) => {
    const best = answers.reduce((best, value, index) => (value > (answers[best] ?? 0) ? index : best), 0);
    return { best, text: `${best}`, sure: percent(answers[best] ?? 0, 0) };
  });
  const [first, second] = words;
  if (!first || !second) return;
  caption.textContent = first.best === second.best ? first.text : `${first.text} → ${second.text}`;
  caption.dataset.same = String(first.best === second.best);
  caption.title = `as trained ${first.text} with ${first.sure}${after ? `, bent ${second.text} with ${second.sure}` : ""}`;
}

/** How far the outputs have changed, in words. */
function showSame(app: App, box: HTMLElement, text: HTMLElement): void {
  const { bend, bendSummary, ready, task, engine } = app.store.state;
  delete box.dataset.value;
  if (!transformationOf(bend)) {
    box.dataset.state = "none";
    text.textContent = ready ? "Not bent yet: both are the same weights." : "Train a network first.";
    return;
  }
  if (!bendSummary) {
    box.dataset.state = "pending";
    text.textContent = task === "idle" ? "Outputs are not compared: that was stopped." : "Comparing outputs…";
    return;
  }
  const { maxDifference, maxOutput } = bendSummary;
  box.dataset.value = String(maxDifference);
  // Layers of sums, each at factors far from 1: far above their rounding, far below any answer.
  const tolerance = engine?.info.precision === "f64" ? 1e-8 : 1e-2;
  if (!(maxDifference <= tolerance * maxOutput)) {
    box.dataset.state = "differs";
    text.textContent = `Outputs differ by ${number(maxDifference, 2)}, where they reach ${number(maxOutput, 2)}: more than rounding explains.`;
    return;
  }
  box.dataset.state = "same";
  text.textContent =
    maxDifference === 0
      ? "Same function: all outputs are equal, bit for bit."
      : `Same function: outputs differ by ${number(maxDifference, 2)} at most, where they reach ${number(maxOutput, 2)}.`;
}
