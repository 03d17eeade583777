/** The same function as sharp as one likes (Dinh et al. 2017, Theorem 4): what the stage's *Sharpen* comes from. */

import type { SpectrumEnds } from "isoflat";
import type { App } from "../app";
import { alphaFor, refusalToRescale } from "../bends";
import { ValleyChart } from "../charts/valley";
import { html } from "../dom";
import { valleyFigure } from "../figures/valley";
import { factor, number, powerOfTwo } from "../format";
import { found, refusalOf } from "../store";
import type { SharpenFinding, Valley } from "../worker/protocol";
import { watchIn } from "./closed";
import { within } from "./place";
import { takeAlong } from "./take-along";

/** `part`: where Dinh's constructions are. */
export function sharpenView(app: App, part: HTMLElement): void {
  const powers = within(part)("input", "powers-of-two");
  const chart = new ValleyChart(within(part)("div", "valley"));
  takeAlong(part.querySelector("#valley + .legend"), () => valleyFigure(app.store.state));
  powers.addEventListener("change", () => app.twin.setPowersOfTwo(powers.checked));
  app.store.watch(["model", "ready", "task"], () => {
    const { model, ready, task } = app.store.state;
    const possible = !model || refusalToRescale(model) === null;
    within(part)("fieldset", "sharpen-controls").disabled =
      !ready || !possible || task === "training" || task === "starting";
  });
  watchIn(part, app, ["dinh", "model", "measures", "sharpness"], () => {
    const { decades, powersOfTwo, valley, sharpened } = app.store.state.dinh;
    powers.checked = powersOfTwo;
    const there = found(valley);
    const measured = found(sharpened);
    const alpha = there ? (measured?.alpha ?? alphaFor(there, decades, powersOfTwo)) : 1;
    if (there) chart.show(there, alpha, measured?.line ?? null);
    else chart.clear();
    showNumbers(app, part, there, measured, alpha);
    showSame(app, part, measured);
    showNote(app, part, there, alpha);
  });
}

function showNumbers(
  app: App,
  part: HTMLElement,
  valley: Valley | null,
  sharpened: SharpenFinding | null,
  alpha: number,
): void {
  const { engine } = app.store.state;
  const show = (id: string, value: number | undefined, small = "") => {
    const output = within(part)("output", id);
    output.replaceChildren(value === undefined ? "–" : number(value), small && html("small", {}, small));
    if (value === undefined) delete output.dataset.value;
    else output.dataset.value = String(value);
  };
  const trust = ({ max: { residual }, converged }: SpectrumEnds) =>
    `residual ${number(residual, 1)}, ${engine?.info.precision ?? ""}${converged ? "" : ", not converged"}`;
  within(part)("output", "r-alpha").replaceChildren(valley ? powerOfTwo(alpha) : "–");
  within(part)("output", "r-alpha").dataset.value = String(alpha);
  show("r-before", valley?.norm);
  if (sharpened) {
    show("r-predicted", sharpened.predicted.norm, trust(sharpened.predicted));
    show("r-measured", sharpened.measured.norm, trust(sharpened.measured));
  } else {
    show("r-predicted", valley ? valley.block / alpha ** 2 : undefined, valley ? "at least" : "");
    show("r-measured", undefined);
  }
}

function showSame(app: App, part: HTMLElement, sharpened: SharpenFinding | null): void {
  const { dinh, ready, model, sharpness } = app.store.state;
  const box = within(part)("div", "sharpen-same");
  const text = within(part)("span", "sharpen-text");
  const refusal = refusalOf(dinh.valley) ?? refusalOf(dinh.sharpened);
  const never = model && refusalToRescale(model);
  delete box.dataset.bitwise;
  if (never) {
    box.dataset.state = "none";
    text.textContent = never;
  } else if (refusal) {
    box.dataset.state = "none";
    text.textContent = `Not possible here: ${refusal}.`;
  } else if (sharpened) {
    box.dataset.state = "same";
    box.dataset.bitwise = String(sharpened.outputs.bitwise);
    const sharper = factor(sharpened.measured.norm / sharpened.before.norm);
    text.textContent = sharpened.outputs.bitwise
      ? `Same function: all outputs are equal, bit for bit. The Hessian is ${sharper}.`
      : `Same function: outputs differ by ${number(sharpened.outputs.relative, 1)} of the largest, which is rounding. The Hessian is ${sharper}.`;
  } else {
    box.dataset.state = sharpness.way === "sharpen" && dinh.decades > 0 ? "pending" : "none";
    text.textContent = !ready
      ? "Train a network first."
      : box.dataset.state === "pending"
        ? "The outputs are compared when the slider rests…"
        : "Not sharpened yet.";
  }
}

function showNote(app: App, part: HTMLElement, valley: Valley | null, alpha: number): void {
  const { model } = app.store.state;
  if (!valley || !model) {
    within(part)("p", "sharpen-note").textContent = "";
    return;
  }
  const other = valley.layer + 1 < model.depth ? valley.layer + 1 : valley.layer - 1;
  within(part)("p", "sharpen-note").textContent =
    `Layer ${valley.layer + 1} (${model.layers[valley.layer]}) is multiplied by α = ${number(alpha)}, ` +
    `layer ${other + 1} by 1/α. A step in layer ${valley.layer + 1} is then worth 1/α steps: its valley is as deep as before, and α times as wide.`;
}
