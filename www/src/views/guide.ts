/** The riddle, what plays on arrival, and five captions that drive the stage. */

import type { App } from "../app";
import { type Arrival, LANDSCAPE } from "../arrival/arrival";
import type { Beginning } from "../arrival/load";
import { Player } from "../arrival/player";
import { factor } from "../format";
import { SWINGS } from "../gauges";
import { same } from "../same";
import { place, within } from "./place";

/** Where the twin is brought, in powers of ten. */
const SHARP = 3.5;

interface Step {
  /** A part of the stage that is looked at. */
  part: "views" | "sameness" | "gauges" | "control";
  /** Of the slider. */
  decades: number;
  text: (app: App) => string;
}

const STEPS: Step[] = [
  {
    part: "views",
    decades: 0,
    text: () => "This network has learnt to read digits. Around its weights the loss forms a valley: a minimum.",
  },
  {
    part: "views",
    decades: SHARP,
    text: () =>
      "Its first layer is divided by a number, the others multiplied to make up for it. The valley becomes a needle.",
  },
  {
    part: "sameness",
    decades: SHARP,
    text: () =>
      "And yet every digit gets the answer that it got before: both are the same function, so neither generalises better.",
  },
  {
    part: "gauges",
    decades: SHARP,
    text: (app) => {
      const { trained, bent } = app.store.state.measures;
      const grown = (bent.get(SWINGS)?.value ?? Number.NaN) / (trained.get(SWINGS)?.value ?? Number.NaN);
      const moved = grown > 0 ? `went up ${factor(grown)}` : "moves";
      return `The Hessian’s norm, the usual sharpness, ${moved}, and says nothing of the function. A norm that respects the symmetry stands still however one rescales.`;
    },
  },
  {
    part: "control",
    decades: SHARP,
    text: () =>
      "Now drag the slider yourself. Or train your own network below, or drop your own model anywhere on this page.",
  },
];

/** What is played on arrival: called when there is something to see, done when it is over or somebody takes the slider. */
export function guideView(app: App, beginning: Promise<Beginning>, control: HTMLElement): () => Promise<void> {
  const own = within(place("guide"));
  const riddle = own("h2", "riddle");
  const question = riddle.textContent ?? "";
  const next = own("button", "guide-next");
  const back = own("button", "guide-back");
  const skip = own("button", "guide-skip");
  const at = own("span", "guide-at");
  const player = new Player(app);
  let step = -1;
  let arrival: Arrival | null = null;
  /** Nothing that is offered goes before it is known whether it has to: what stands beside it would move. */
  let isKnown = false;

  const show = (to: number): void => {
    step = to;
    const shown = STEPS[step];
    delete document.documentElement.dataset.look;
    back.hidden = step <= 0;
    at.hidden = skip.hidden = !shown;
    at.textContent = shown ? `${step + 1} of ${STEPS.length}` : "";
    next.textContent = !shown ? "Show me" : step + 1 < STEPS.length ? "Next" : "Done";
    if (!shown) {
      riddle.textContent = question;
      return;
    }
    document.documentElement.dataset.look = shown.part;
    riddle.textContent = shown.text(app);
    move(shown.decades);
  };
  const move = (decades: number): void => {
    void player.play(arrival?.frames ?? [], decades).then((isLast) => isLast && app.twin.settle());
  };
  next.addEventListener("click", () => show(step + 1 < STEPS.length ? step + 1 : -1));
  back.addEventListener("click", () => {
    show(step - 1);
    // It hides itself in front of the first.
    if (back.hidden) next.focus();
  });
  skip.addEventListener("click", () => {
    show(-1);
    next.focus();
    move(SHARP);
  });
  // Whoever takes the control drives.
  for (const kind of ["pointerdown", "keydown"]) {
    control.addEventListener(kind, () => player.stop());
  }
  const showOffer = (): void => {
    if (!isKnown) return;
    // Its frames are of the network that the page came with, as it was looked at.
    const { training, model, landscapeChoice } = app.store.state;
    const isThere =
      arrival !== null &&
      training?.loss === arrival.training.loss &&
      model?.measuredSamples === arrival.model.measuredSamples &&
      same(landscapeChoice, LANDSCAPE);
    next.hidden = !isThere;
    if (isThere) return;
    player.stop();
    if (step >= 0) show(-1);
  };
  app.store.watch(["training", "model", "landscapeChoice"], showOffer);
  app.store.watch(["measures"], () => {
    const shown = STEPS[step];
    if (shown) riddle.textContent = shown.text(app);
  });
  void beginning.then((first) => {
    isKnown = true;
    if (first.kind === "arrival") arrival = first.arrival;
    showOffer();
  });
  return async () => {
    if (arrival) await player.play(arrival.frames, SHARP);
  };
}
