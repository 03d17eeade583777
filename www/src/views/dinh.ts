/** Dinh et al. 2017: the same function as sharp as one likes, and what else they do with its weights. */

import { render, type TemplateResult, html as template } from "lit-html";
import type { App } from "../app";
import { Plot } from "../charts/plot";
import { CONSTRUCTIONS, refusalBefore, wantsValley } from "../constructions";
import { html } from "../dom";
import { captionOf, joined } from "../figures/caption";
import type { Figure } from "../figures/figure";
import { plotted } from "../figures/plots";
import { sentence } from "../format";
import { found, refusalOf } from "../store";
import type { AnyFound, AskedWith, Construction } from "../worker/protocol";
import { type Card, card, offer } from "./card";
import { watchIn } from "./closed";
import { ball } from "./constructions/ball";
import { boxes } from "./constructions/boxes";
import type { ConstructionCard, Drawn } from "./constructions/construction";
import { inputs } from "./constructions/inputs";
import { many } from "./constructions/many";
import { normalized } from "./constructions/normalized";
import { radial } from "./constructions/radial";
import { ESTIMATED, nothingToSay, showEstimate } from "./estimate";
import { Figure5 } from "./figure5";
import { place } from "./place";
import { sharpenView } from "./sharpen";
import { takeAlong } from "./take-along";

const CARDS: { readonly [K in Construction]: ConstructionCard<K> } = { boxes, ball, many, radial, normalized, inputs };

export function dinhView(app: App): void {
  const made = CONSTRUCTIONS.map((what) => new OneCard(app, what, CARDS[what] as ConstructionCard<Construction>));
  const figure = new Figure5(app);
  const part = place("dinh");
  render(markup([...made.map(({ card }) => card.root), figure.root]), part);
  sharpenView(app, part);
  figure.begin();
  for (const one of made) one.begin(part);
}

class OneCard {
  readonly card: Card;
  readonly #select: HTMLSelectElement | null;
  readonly #plot: Plot;
  readonly #title = html("span");
  #drawn: Drawn | null = null;

  constructor(
    private readonly app: App,
    private readonly what: Construction,
    private readonly about: ConstructionCard<Construction>,
  ) {
    const { title, about: text, action, asked } = about;
    const choice = typeof asked === "object" ? asked : null;
    const options = choice?.options.map(([, text], index) => html("option", { value: index }, text)) ?? [];
    this.#select = choice && html("select", { id: `${what}-choice` }, ...options);
    const label = choice && html("label", { for: `${what}-choice` }, choice.label, this.#select);
    this.card = card(what, title, text, action, label);
    this.#plot = new Plot(this.card.plot);
    this.card.head.append(this.#title);
    takeAlong(this.card.head, () => this.#figure());
  }

  begin(part: HTMLElement): void {
    const { app, what, card } = this;
    card.button.addEventListener("click", () => void app.asking.construct(what, this.#asked() as never));
    const offerIt = () => {
      const { ready, model, task } = app.store.state;
      const isPossible = ready && model !== null && !["training", "starting", "sharpening"].includes(task);
      offer(card, isPossible, this.#refusal());
    };
    const estimate = () => {
      if (this.#refusal() === null) showEstimate(app, what, card.estimate, { asked: this.#asked() });
      else nothingToSay(card.estimate);
    };
    const show = () => this.#show();
    app.store.watch(["ready", "model", "task", "dinh"], offerIt);
    app.store.watch(ESTIMATED, estimate);
    watchIn(part, app, ["dinh", "model"], show);
    this.#select?.addEventListener("change", () => {
      for (const anew of [offerIt, estimate, show]) anew();
    });
  }

  #asked(): AskedWith {
    const { asked } = this.about;
    if (typeof asked !== "object") return asked;
    return asked.options[this.#select?.selectedIndex ?? 0]?.[0] as AskedWith;
  }

  #refusal(): string | null {
    const { model, dinh } = this.app.store.state;
    if (!model) return null;
    // A target is a multiple of the norm that the valley begins with.
    return refusalBefore(this.what, model, this.#asked()) ?? (wantsValley(this.what) ? refusalOf(dinh.valley) : null);
  }

  #show(): void {
    const { card, what } = this;
    const finding = this.app.store.state.dinh[what];
    const value = found<AnyFound>(finding);
    const shown = value && this.about.show(value);
    this.#drawn = shown?.drawn ?? null;
    for (const element of [card.head, card.plot]) element.hidden = this.#drawn === null;
    for (const name of Object.keys(card.body.dataset)) delete card.body.dataset[name];
    // Of another choice than the one that was refused, there is nothing to be said yet.
    const refusal = this.#refusal() ?? refusalOf(finding);
    const said = refusal ? [html("p", { class: "note refusal" }, sentence(refusal))] : [];
    if (!shown) {
      card.body.replaceChildren(...said);
      return;
    }
    if (this.#drawn) {
      this.#title.textContent = this.#drawn.title;
      this.#plot.show(this.#drawn.plot);
    }
    Object.assign(card.body.dataset, shown.data);
    card.body.replaceChildren(...shown.body, ...(this.#refusal() ? said : []));
  }

  #figure(): Figure | null {
    if (!this.#drawn) return null;
    const { title, caption, plot, keys, columns } = this.#drawn;
    return {
      name: `dinh-${this.what}`,
      title,
      caption: joined(captionOf(this.app.store.state), caption),
      columns,
      drawing: plotted(plot, keys),
    };
  }
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
