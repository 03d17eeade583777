/** The stage's one control, and how the outputs have changed. */

import type { App } from "../app";
import { lambdaFor, refusalToRescale } from "../bends";
import { find } from "../dom";
import { factor, number } from "../format";
import { queryOf } from "../link";
import { found, refusalOf, type Sharpness, transformationOf } from "../store";

export function stageView(app: App): void {
  const slider = find("input", "sharpness");
  const ways = [...document.querySelectorAll<HTMLInputElement>("input[name=way]")];
  const way = (): Sharpness["way"] => (ways.find(({ checked }) => checked)?.value === "sharpen" ? "sharpen" : "bend");
  slider.addEventListener("input", () => app.twin.setSharpness({ way: way(), decades: Number(slider.value) }));
  slider.addEventListener("change", () => app.twin.release());
  for (const radio of ways) {
    radio.addEventListener("change", () => app.twin.setSharpness({ way: way(), decades: Number(slider.value) }));
  }
  closeLikeMenu(find("details", "more"));
  sharing(app);
  presenting();
  app.store.watch(["sharpness"], () => {
    const { sharpness } = app.store.state;
    for (const radio of ways) radio.checked = radio.value === sharpness.way;
    const decades = Math.min(sharpness.decades, Number(slider.max));
    if (Math.abs(Number(slider.value) - decades) > Number(slider.step) / 2) slider.value = String(decades);
    slider.style.setProperty("--at", String(decades / Number(slider.max)));
    const times = factor(10 ** sharpness.decades);
    find("output", "sharpness-value").textContent = times;
    slider.setAttribute("aria-valuetext", `${times} ${said(sharpness)}`);
  });
  app.store.watch(["sharpness", "dinh"], () => {
    const { sharpness, dinh } = app.store.state;
    const refusal = sharpness.way === "sharpen" ? refusalOf(dinh.valley) : null;
    find("p", "sharpness-note").textContent = refusal ? `Not possible here: ${refusal}.` : said(sharpness);
  });
  app.store.watch(["bend", "bendSummary", "ready", "task", "engine"], () => showSame(app));
  app.store.watch(["model", "bend", "ready"], () => {
    const { model, bend } = app.store.state;
    const stage = find("section", "stage");
    stage.dataset.bent = String(transformationOf(bend) !== null);
    stage.toggleAttribute("data-rigid", model !== null && refusalToRescale(model) !== null);
  });
}

/** The state as an address, to be given to others. */
function sharing(app: App): void {
  const button = find("button", "share");
  const words = button.textContent;
  app.store.watch(["modelChoice", "ready", "training"], () => {
    const { modelChoice, ready, training } = app.store.state;
    button.disabled = !ready || !modelChoice || training?.stopped === true;
    button.title = !modelChoice
      ? "No address holds a file"
      : training?.stopped
        ? "Training was stopped: no address says where"
        : "An address that opens the page as it is now";
  });
  button.addEventListener("click", async () => {
    const { sharpness, model, dinh, bend } = app.store.state;
    const slider = model && lambdaFor(sharpness, model, found(dinh.valley), dinh.powersOfTwo);
    const query = queryOf(app.store.state, JSON.stringify(slider) === JSON.stringify(bend.lambda));
    if (query === null) return;
    const [part] = (location.hash || "#/train").split("?");
    // Of the whole page, from a frame too.
    const address = `${location.origin}${location.pathname}${part}${query && `?${query}`}`;
    button.dataset.address = address;
    try {
      await navigator.clipboard.writeText(address);
      button.textContent = "Link copied";
      setTimeout(() => {
        button.textContent = words;
      }, 2000);
    } catch {
      // Where a page may not write there, the address line is for it.
      history.replaceState(null, "", `${part}${query && `?${query}`}`);
      app.messages.notice("The address line has the link now.", "This browser does not let the page copy it.");
    }
  });
}

/** The stage alone, as large as the screen; Escape ends it. */
function presenting(): void {
  const button = find("button", "present");
  const stage = find("section", "stage");
  button.hidden = !document.fullscreenEnabled;
  button.addEventListener("click", () => {
    if (document.fullscreenElement) void document.exitFullscreen();
    else void stage.requestFullscreen().catch(() => {});
  });
  document.addEventListener("fullscreenchange", () => {
    button.textContent = document.fullscreenElement ? "End" : "Present";
  });
}

/** What lies over the page goes by Escape, and by a press beside it. */
function closeLikeMenu(details: HTMLDetailsElement): void {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !details.open) return;
    const isInside = details.contains(document.activeElement);
    details.open = false;
    if (isInside) details.querySelector("summary")?.focus();
  });
  document.addEventListener("pointerdown", ({ target }) => {
    if (target instanceof Node && !details.contains(target)) details.open = false;
  });
}

/** What the factor is of: a layer's block of the Hessian grows by 1/λ². */
const said = ({ way }: Sharpness): string =>
  way === "bend"
    ? "so much sharper in the layer that shrinks most"
    : "so much sharper, or more, as a whole: Dinh et al. 2017, Theorem 4";

function showSame(app: App): void {
  const { bend, bendSummary, ready, task, engine } = app.store.state;
  const box = find("div", "same");
  const text = find("span", "same-text");
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
