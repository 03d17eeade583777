/** The stage's one control: how sharp the twin is, and in which way; the stage as an address, and as large as the screen. */

import { Address } from "../address";
import type { App } from "../app";
import { noBend, refusalToRescale } from "../bends";
import { disable } from "../focus";
import { factor } from "../format";
import { refusalOf, type Sharpness, transformationOf } from "../store";
import { place, within } from "./place";

/** Returns the control, which the tour listens to. Its frame is in index.html: it is what people see before there is any script. */
export function stageView(app: App, part: () => string): HTMLElement {
  const [stage, control] = [place("stage"), place("control")];
  closeLikeMenu(within(control)("details", "more"));
  slide(app, control);
  reset(app, control);
  sharing(app, stage, part);
  availability(app, stage, control);
  return control;
}

function slide(app: App, control: HTMLElement): void {
  const own = within(control);
  const [slider, value, note] = [
    own("input", "sharpness"),
    own("output", "sharpness-value"),
    own("p", "sharpness-note"),
  ] as const;
  const ways = [...control.querySelectorAll<HTMLInputElement>("input[name=way]")];
  const way = (): Sharpness["way"] => (ways.find(({ checked }) => checked)?.value === "sharpen" ? "sharpen" : "bend");
  const set = (): void => void app.twin.setSharpness({ way: way(), decades: Number(slider.value) });
  slider.addEventListener("input", set);
  slider.addEventListener("change", () => app.twin.release());
  for (const radio of ways) radio.addEventListener("change", set);
  app.store.watch(["sharpness"], () => {
    const { sharpness } = app.store.state;
    for (const radio of ways) radio.checked = radio.value === sharpness.way;
    const decades = Math.min(sharpness.decades, Number(slider.max));
    if (Math.abs(Number(slider.value) - decades) > Number(slider.step) / 2) slider.value = String(decades);
    slider.style.setProperty("--at", String(decades / Number(slider.max)));
    const times = factor(10 ** sharpness.decades);
    value.textContent = times;
    slider.setAttribute("aria-valuetext", `${times} ${said(sharpness)}`);
  });
  app.store.watch(["sharpness", "dinh"], () => {
    const { sharpness, dinh } = app.store.state;
    const refusal = sharpness.way === "sharpen" ? refusalOf(dinh.valley) : null;
    note.toggleAttribute("data-refused", refusal !== null);
    note.textContent = refusal ? `Not possible here: ${refusal}.` : said(sharpness);
  });
}

function reset(app: App, control: HTMLElement): void {
  const button = within(control)("button", "bend-reset");
  button.addEventListener("click", () => void app.twin.setBend(noBend(app.store.state.bend.lambda.length)));
  app.store.watch(["bend", "sharpness"], () => {
    const { bend, sharpness } = app.store.state;
    // The slider may stand elsewhere while nothing is bent: where the sharpest layer is still looked for, or there is none.
    disable(button, transformationOf(bend) === null && sharpness.decades === 0);
  });
}

/** Is there something that can be bent? If never, it says why. */
function availability(app: App, stage: HTMLElement, control: HTMLElement): void {
  const refusal = within(stage)("p", "bend-refusal");
  app.store.watch(["model", "bend", "ready"], () => {
    const { model, bend } = app.store.state;
    const why = model && refusalToRescale(model);
    stage.dataset.bent = String(transformationOf(bend) !== null);
    stage.toggleAttribute("data-rigid", why !== null);
    refusal.hidden = why === null;
    refusal.textContent = why ?? "";
  });
  app.store.watch(["model", "ready", "task", "engine"], () => {
    const { model, ready, task, engine } = app.store.state;
    const refused = model !== null && refusalToRescale(model) !== null;
    control.toggleAttribute("disabled", !ready || refused || task === "training" || !engine);
  });
}

/** The state as an address, to be given to others. */
function sharing(app: App, stage: HTMLElement, part: () => string): void {
  const own = within(place("sharing"));
  presenting(own("button", "present"), stage);
  const button = own("button", "share");
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
    const hash = Address.of(app.store.state, part());
    if (hash === null) return;
    // Of the whole page, from a frame too.
    const address = `${location.origin}${location.pathname}${hash}`;
    button.dataset.address = address;
    try {
      await navigator.clipboard.writeText(address);
      button.textContent = "Link copied";
      setTimeout(() => {
        button.textContent = words;
      }, 2000);
    } catch {
      // Where a page may not write there.
      app.messages.notice("This browser does not let the page copy the link.", `It is ${address}`);
    }
  });
}

/** The stage alone, as large as the screen; Escape ends it. */
function presenting(button: HTMLButtonElement, stage: HTMLElement): void {
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
