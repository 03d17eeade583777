/** Dinh et al. 2017: the same function as sharp as one likes, and what else they do with its weights. */

import type { VolumeFlatness } from "isoflat";
import { render, type TemplateResult, html as template } from "lit-html";
import type { App } from "../app";
import { curve, dots, level, Plot } from "../charts/plot";
import { linear, log } from "../charts/scales";
import { CONSTRUCTIONS, type Construction, judged, refusalBefore } from "../constructions";
import { html } from "../dom";
import { integer, number, power, sentence } from "../format";
import { type Finding, found, refusalOf } from "../store";
import type { BallFinding, ManyFinding } from "../worker/protocol";
import { type Card, card, facts, offer } from "./card";
import { watchIn } from "./closed";
import { ESTIMATED, nothingToSay, showEstimate } from "./estimate";
import { Figure5 } from "./figure5";
import { place } from "./place";
import { sharpenView } from "./sharpen";

const EPSILON = 0.01;

export function dinhView(app: App): void {
  const boxes = card(
    "boxes",
    "Boxes without end",
    "Around the weights lies a box in which the loss stays below L + ε. Stretching the layers moves it elsewhere, no smaller and with the same losses, as often as one likes: the flat region’s volume is infinite (Theorem 2).",
    "Build the boxes",
  );
  const many = card(
    "many",
    "Many large eigenvalues",
    "Not one direction alone: shrinking all layers but the smallest makes nearly all positive eigenvalues of the Hessian exceed M at once (Theorem 5). M is the slider’s.",
    "Compute both spectra",
  );
  const ball = card(
    "ball",
    "A constant function within reach",
    "Shrink the first layer until it is as short as ε. Then setting it to zero, which leaves a constant function, is a step of length ε: the ε-sharpness is at least that large (section 4.3).",
    `Measure it, ε = ${EPSILON}`,
  );
  const figure = new Figure5();
  const part = place("dinh");
  render(markup([boxes.root, ball.root, many.root, figure.root]), part);
  sharpenView(app, part);

  const plots = { boxes: new Plot(boxes.plot), many: new Plot(many.plot) };
  boxes.button.addEventListener("click", () => void app.asking.findBoxes());
  many.button.addEventListener("click", () => void app.asking.findManyEigenvalues());
  ball.button.addEventListener("click", () => void app.asking.findBall(EPSILON));

  const cards = { boxes, many, ball };
  const refusal = (construction: Construction) => {
    const { model, dinh } = app.store.state;
    if (!model) return null;
    // Theorem 5's M is a multiple of the norm that the valley begins with.
    return refusalBefore(construction, model) ?? (construction === "many" ? refusalOf(dinh.valley) : null);
  };
  app.store.watch(["ready", "model", "task", "dinh"], () => {
    const { ready, model, task } = app.store.state;
    const isPossible = ready && model !== null && !["training", "starting", "sharpening"].includes(task);
    for (const construction of CONSTRUCTIONS) offer(cards[construction], isPossible, refusal(construction));
  });
  app.store.watch(ESTIMATED, () => {
    for (const construction of CONSTRUCTIONS) {
      const { estimate } = cards[construction];
      if (refusal(construction) === null) showEstimate(app, construction, estimate);
      else nothingToSay(estimate);
    }
  });
  watchIn(part, app, ["dinh", "model"], () => {
    const { dinh } = app.store.state;
    show(boxes, dinh.boxes, refusal("boxes"), (value) => showBoxes(boxes, plots.boxes, value));
    show(many, dinh.many, refusal("many"), (value) => showMany(many, plots.many, value));
    show(ball, dinh.ball, refusal("ball"), (value) => showBall(ball, value));
  });
}

const markup = (cards: HTMLElement[]): TemplateResult => template`
    <div class="side">
      <h2 id="sharpen-title">Dinh’s constructions</h2>
      <p class="story">Dinh et al. (2017) asked whether sharp minima generalise worse, and found that “sharp” can be had for nothing: say how sharp, and a rescaling makes the same function that sharp. Choose <em>Sharpen</em> on the stage and drag its slider.</p>
      <fieldset id="sharpen-controls" disabled>
        <legend class="visually-hidden">How sharp it is to be</legend>
        <label class="check"><input id="powers-of-two" type="checkbox"> α a power of two: not one bit of the outputs changes</label>
      </fieldset>
      <p id="sharpen-note" class="note"></p>
    </div>
    <div class="display">
      <div class="same" id="sharpen-same" role="status" data-state="none">
        <span class="symbol" aria-hidden="true">≡</span>
        <span id="sharpen-text">Not sharpened yet.</span>
      </div>
      <div class="readouts">
        <div><span class="label">factor α</span><output id="r-alpha">–</output></div>
        <div><span class="label">‖H‖ as trained</span><output id="r-before">–</output></div>
        <div><span class="label">‖H‖ predicted</span><output id="r-predicted">–</output></div>
        <div><span class="label">‖H‖ measured</span><output id="r-measured">–</output></div>
      </div>
      <div id="valley" class="chart"></div>
      <ul class="legend">
        <li><span class="key trained"></span>as trained</li>
        <li><span class="key bent"></span>sharpened, predicted</li>
        <li class="bent">◆ measured there</li>
      </ul>
    </div>
    <div class="cards" id="dinh-cards">${cards}</div>
  
`;

function show<T>(card: Card, finding: Finding<T> | null, known: string | null, body: (value: T) => void): void {
  const value = found(finding);
  const refusal = refusalOf(finding) ?? known;
  card.plot.hidden = value === null;
  if (value) body(value);
  else card.body.replaceChildren(refusal ? html("p", { class: "note refusal" }, sentence(refusal)) : "");
}

function showBoxes(card: Card, plot: Plot, volume: VolumeFlatness): void {
  const ks = volume.boxes.map(({ power }) => power + 1);
  const volumes = volume.boxes.map(({ totalLogVolume }) => totalLogVolume / Math.LN10);
  const [low, high] = [Math.min(...volumes), Math.max(...volumes)];
  const room = (high - low) * 0.08 || 1;
  plot.show({
    x: linear(0.5, ks.length + 0.5),
    y: linear(low - room, high + room, 5),
    xLabel: "boxes",
    yLabel: "log₁₀ of their volume",
    label: `Volume of the boxes together: a power of ten of ${number(low)} with one box, ${number(high)} with ${ks.length}`,
    left: 76,
    marks: (frame) => [curve(frame, ks, volumes, "bent"), dots(frame, ks, volumes, "bent", 4)],
  });
  const largest = Math.max(...volume.boxes.map(({ largestDifference }) => largestDifference));
  card.body.dataset.disjoint = String(volume.disjoint);
  card.body.replaceChildren(
    facts([
      ["ε", number(volume.epsilon)],
      ["half a side", `${number(volume.radius)}${volume.radiusFound ? ", by a search for higher points" : ""}`],
      ["from box to box, layers × and ÷", number(volume.alpha)],
      ["largest rise of the loss found inside", number(volume.largestRise, 2)],
      ["losses in all boxes the same to", number(largest, 1)],
      ["boxes disjoint", volume.disjoint ? "✓ yes" : "✗ no"],
    ]),
    html("p", { class: "note" }, `Sampled at ${volume.samples} points a box, half of them corners.`),
  );
}

function showMany(card: Card, plot: Plot, many: ManyFinding): void {
  const positive = (values: number[]) => [...values].reverse().filter((value) => value > 0);
  const [before, after] = [positive(many.spectrumBefore), positive(many.spectrumAfter)];
  const high = Math.max(after[0] ?? 1, before[0] ?? 1, many.target) * 2;
  // Below it eigenvalues are rounding.
  const low = Math.max((before[0] ?? 1) * 1e-8, 1e-12);
  const ranks = (values: number[]) => values.map((_, index) => index + 1);
  plot.show({
    x: log(1, Math.max(before.length, after.length, 2)),
    y: log(low, high),
    xLabel: "positive eigenvalues, largest first",
    yLabel: "eigenvalue",
    label: `Eigenvalues of the Hessian: ${many.before} above M as trained, ${many.measured} after the rescaling`,
    marks: (frame) => [
      level(frame, many.target, `M = ${number(many.target)}`),
      dots(frame, ranks(before), before, "trained", 2.5),
      dots(frame, ranks(after), after, "bent", 2.5),
    ],
  });
  card.body.dataset.holds = String(many.holds);
  card.body.replaceChildren(
    facts([
      ["eigenvalues above M, as trained", integer(many.before)],
      ["promised by the theorem", integer(many.promised)],
      ["measured", `${integer(many.measured)} ${judged(many.holds, true, "fewer than promised")}`],
      ["β, by which the larger layers shrink", number(many.beta)],
      ["outputs", many.outputs.bitwise ? "equal, bit for bit" : `equal to ${number(many.outputs.relative, 1)}`],
    ]),
  );
}

function showBall(card: Card, ball: BallFinding): void {
  card.plot.hidden = true;
  card.body.dataset.holds = String(ball.holds);
  const { before, measured } = ball;
  card.body.replaceChildren(
    facts([
      ["length of the first layer, now", `${number(ball.distance)} ≤ ε = ${number(ball.epsilon)}`],
      ["loss", number(ball.loss)],
      ["loss of the constant function", number(ball.constantLoss)],
      ["ε-sharpness as trained", `${number(before.value)}${before.converged ? "" : ", not converged"}`],
      ["guaranteed after the rescaling", `≥ ${number(ball.guaranteed)}`],
      ["measured", `${number(measured.value)} ${judged(ball.holds, measured.converged, "less than guaranteed")}`],
      ["outputs", ball.outputs.bitwise ? "equal, bit for bit" : `equal to ${power(ball.outputs.relative)}`],
    ]),
    html("p", { class: "note" }, "By ascent from several starts: lower bounds, in the same ball before and after."),
  );
}
