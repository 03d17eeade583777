/** The stage's two views: the landscape as surface, contour map or line, of the trained and of the bent weights side by side. */

import type { Landscape } from "isoflat";
import { render, html as template } from "lit-html";
import type { App } from "../app";
import type { Look } from "../charts/camera";
import { type Heights, heightsOf, isWhole, rowsOf } from "../charts/heights";
import { drawLossScale } from "../charts/loss-scale";
import { waySaid } from "../charts/way";
import { html } from "../dom";
import { disable } from "../focus";
import { integer, number } from "../format";
import { isArrival } from "../kept";
import type { IsoflatLandscape } from "../plots/landscape";
import { oneOrTwo, type PerPoint, type State, transformationOf } from "../store";
import type { DirectionKind, LandscapeChoice, NormalizationKind, Point } from "../worker/protocol";
import { snapshotsOf } from "../worker/way";
import { estimateView } from "./estimate";
import { place, within } from "./place";

const POINTS: Point[] = ["trained", "bent"];

/** Rendered once: what people choose stays as they have it. */
const panel = () => template`
  <div class="side">
    <h2 id="landscape-tab-title">Landscape</h2>
    <p class="story">Around the weights that were found, the loss forms a valley. The stage shows a slice of it, along two directions through the space of all weights.</p>
    <div class="fields">
      <fieldset class="field">
        <legend>View</legend>
        <div class="segments">
          <label><input type="radio" name="view" value="surface" checked /><span>Surface</span></label>
          <label><input type="radio" name="view" value="contour" /><span>Contour</span></label>
          <label><input type="radio" name="view" value="line" /><span>Line</span></label>
        </div>
      </fieldset>
      <label class="whole">Directions
        <select id="directions" aria-describedby="directions-note">
          <option value="random">random</option>
          <option value="eigenvectors">top two Hessian eigenvectors</option>
          <option value="way">along the training’s way</option>
        </select>
      </label>
      <p id="directions-note" class="note whole"></p>
      <label id="normalization-field">Scaled to the weights
        <select id="normalization">
          <option value="filter">filter by filter</option>
          <option value="layer">layer by layer</option>
          <option value="none">as a whole</option>
        </select>
      </label>
      <label>Points a side
        <input id="points" type="number" min="11" max="31" step="2" value="21" aria-describedby="points-note" />
      </label>
      <p id="points-note" class="note whole" role="status"></p>
      <label>Height
        <select id="height">
          <option value="log">log (1 + loss)</option>
          <option value="linear">loss</option>
        </select>
      </label>
      <label id="at-bent-field">Bent view
        <select id="at-bent">
          <option value="same">along the same directions</option>
          <option value="anew">directions scaled anew</option>
        </select>
      </label>
    </div>
    <div class="row"><button id="draw-directions" type="button">Draw other directions</button></div>
    <p id="look-estimate" class="note estimate"></p>
  </div>
  <div class="display">
    <p id="look-note" class="note"></p>
    <div id="cut" class="chart" role="img" aria-label="Loss along the first direction"></div>
    <ul class="legend">
      <li><span class="key trained"></span>● as trained</li>
      <li><span class="key bent"></span>◆ bent</li>
      <li id="cut-way"><span class="key way"></span>the training’s way</li>
      <li class="text">loss along the first direction, through the weights</li>
    </ul>
  </div>
`;

export class LookView {
  readonly #panel = place("landscape");
  readonly #find = within(this.#panel);
  readonly #scale = place("loss-scale");
  readonly #elements: Record<Point, IsoflatLandscape>;
  /** As it is drawn. */
  #view: Look["view"] = "surface";
  /** The browser has no WebGL: surfaces are drawn as maps. */
  #isFlat = false;
  #seed = 1;
  #drawn: PerPoint<Landscape> = {};

  /** `box`: the stage's pair of figures, in which it draws. */
  constructor(
    private readonly app: App,
    readonly box: HTMLElement,
  ) {
    render(panel(), this.#panel);
    this.#elements = { trained: this.#element("trained"), bent: this.#element("bent") };
    estimateView(app, "landscape", this.#find("p", "look-estimate"));
    for (const radio of this.#panel.querySelectorAll<HTMLInputElement>("input[name=view]")) {
      radio.addEventListener("change", () => {
        if (!radio.checked) return;
        this.#isFlat = false;
        this.#choose({ view: radio.value as Look["view"] });
      });
    }
    const change = () => app.setLandscape(this.#choice());
    for (const id of ["directions", "normalization", "at-bent"])
      this.#find("select", id).addEventListener("change", change);
    this.#find("input", "points").addEventListener("change", change);
    const height = this.#find("select", "height");
    height.addEventListener("change", () => this.#choose({ height: height.value === "linear" ? "linear" : "log" }));
    this.#find("button", "draw-directions").addEventListener("click", () => {
      this.#seed++;
      change();
    });
    app.store.watch(["surfaces", "growing", "lines", "bend", "preview", "ready"], () => this.draw());
    app.store.watch(["landscapeChoice"], () => this.#writeChoice());
    app.store.watch(["look"], () => this.#look());
    app.store.watch(["bend", "ready", "landscapeChoice", "way", "training", "stamp"], () => this.#showFields());
  }

  /** Where the line is drawn, by the view of the bend: it knows both. */
  get cut(): HTMLDivElement {
    return this.#find("div", "cut");
  }

  /** What is to be seen now. */
  get shown() {
    const { height, orbit } = this.app.store.state.look;
    return { view: this.#view, height, surfaces: this.#drawn, heights: this.#heights(this.#drawn), orbit };
  }

  /** Again, in the colours of the theme. */
  redraw(): void {
    this.draw();
  }

  draw(): void {
    const { growing, lines, bend, preview } = this.app.store.state;
    const bent = transformationOf(bend) !== null;
    // A coarse whole says more than a fine beginning.
    const coarse = bent && preview ? { bent: preview.surface } : {};
    const surfaces = { ...growing, ...coarse, ...this.app.store.state.surfaces };
    this.#drawn = surfaces;
    this.box.dataset.view = this.#view;
    document.documentElement.dataset.surfaces = this.#view;
    this.box.dataset.bent = String(bent);
    this.#show(this.#view === "line" ? lines : surfaces, bent);
    const hasColours = this.#view !== "line" && surfaces.trained !== undefined;
    drawLossScale(this.#scale, hasColours ? this.#heights(surfaces) : undefined, present(surfaces).length);
    this.#showRanges(this.#view === "line" ? lines : surfaces, bent);
  }

  #choose(change: Partial<Look>): void {
    this.app.store.set({ look: { ...this.app.store.state.look, ...change } });
  }

  /** As the state has it: a hand, an address, a reload or Undo may have chosen it. */
  #look(): void {
    const { view, height, orbit } = this.app.store.state.look;
    for (const element of Object.values(this.#elements)) if (element.orbit !== orbit) element.orbit = orbit;
    const shown = view === "surface" && this.#isFlat ? "contour" : view;
    const select = this.#find("select", "height");
    if (shown === this.#view && height === select.value) return;
    select.value = height;
    for (const radio of this.#panel.querySelectorAll<HTMLInputElement>("input[name=view]")) {
      radio.checked = radio.value === shown;
    }
    this.#view = shown;
    this.draw();
  }

  #element(point: Point): IsoflatLandscape {
    const element = this.box.querySelector<IsoflatLandscape>(`[data-point=${point}] isoflat-landscape`);
    if (!element) throw new Error(`no place for the ${point} landscape`);
    element.names = ["as trained", "bent"];
    element.addEventListener("camerachange", () => this.#choose({ orbit: element.orbit }));
    element.addEventListener("fallback", () => this.#drawFlat());
    return element;
  }

  /** Lines are both in one chart. */
  #show(shown: PerPoint<Landscape>, bent: boolean): void {
    const { lines, look } = this.app.store.state;
    for (const point of POINTS) {
      const element = this.#elements[point];
      const landscape = shown[point] ?? null;
      const awaited = this.#awaited(point, bent);
      if (element.textContent !== awaited) element.replaceChildren(html("p", { class: "empty" }, awaited));
      element.view = this.#view === "contour" ? "contour" : "surface";
      element.scale = look.height;
      if (this.#view === "line") {
        element.landscape = point === "trained" ? oneOrTwo(lines) : null;
        continue;
      }
      element.beside = [
        ...POINTS.filter((other) => other !== point).flatMap((other) => shown[other] ?? []),
        ...this.#early(shown),
      ];
      if (element.landscape !== landscape) element.landscape = landscape;
    }
  }

  /** Without WebGL the contour map shows the same. */
  #drawFlat(): void {
    if (this.#isFlat) return;
    this.#isFlat = true;
    this.#look();
    this.app.messages.notice("This browser draws no 3D surfaces.", "The contour map shows the same numbers.");
  }

  /**
   * One scale for both. The lines, which are there first, go through the middle and along an edge: with them the scale of
   * a growing surface is nearly that of the whole one from its first row on.
   */
  #heights(surfaces: PerPoint<Landscape>): Heights {
    return heightsOf([...present(surfaces), ...this.#early(surfaces)], this.app.store.state.look.height);
  }

  #early(surfaces: PerPoint<Landscape>): Landscape[] {
    const { lines } = this.app.store.state;
    return POINTS.flatMap((point) => {
      const surface = surfaces[point];
      return surface && !isWhole(surface) ? (lines[point] ?? []) : [];
    });
  }

  /** What is said where nothing is drawn. */
  #awaited(point: Point, bent: boolean): string {
    if (point === "trained") {
      return this.app.store.state.ready
        ? "The landscape appears here, row by row."
        : "The landscape appears here when the network has been trained.";
    }
    return bent
      ? "The bent landscape appears here, row by row."
      : "Drag the slider, and the same network’s bent twin appears here.";
  }

  #showRanges(landscapes: PerPoint<Landscape>, bent: boolean): void {
    for (const point of POINTS) {
      const landscape = landscapes[point];
      const range = this.box.querySelector(`[data-point=${point}] .range`);
      if (!range) continue;
      if (!landscape) {
        range.textContent = "";
        continue;
      }
      let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (const loss of landscape.loss) {
        low = Math.min(low, loss);
        high = Math.max(high, loss);
      }
      const rows =
        this.#view === "line" || isWhole(landscape) ? "" : `${rowsOf(landscape)} of ${landscape.t.length} rows · `;
      const { preview, surfaces } = this.app.store.state;
      const isCoarse = point === "bent" && preview !== null && !surfaces.bent && landscape === preview.surface;
      const coarse = isCoarse ? `coarse, ${preview.samples} samples · ` : "";
      range.textContent = `${coarse}${rows}loss ${number(low)} to ${number(high)}`;
    }
    const { model, landscapeChoice } = this.app.store.state;
    const cut =
      this.app.store.state.look.height === "linear" && bent
        ? " Heights beyond four times the trained landscape’s are cut."
        : "";
    const marks = this.#view === "surface" ? " Pin: the weights; ring: the lowest point; lines: equal loss." : "";
    const { trained } = landscapes;
    this.#find("li", "cut-way").hidden = !this.app.store.state.lines.trained?.path;
    const way = trained ? waySaid(trained, landscapeChoice.directions) : "";
    this.#find("p", "look-note").textContent =
      trained && model
        ? `Loss on ${integer(model.measuredSamples)} samples; one scale for both.${marks}${way}${cut}`
        : "";
  }

  #showFields(): void {
    const { state } = this.app.store;
    const { bend, landscapeChoice, way } = state;
    const { directions, normalization } = landscapeChoice;
    const isAlong = directions === "way";
    this.#find("label", "at-bent-field").hidden =
      transformationOf(bend) === null || normalization === "none" || isAlong;
    // Its directions have lengths of their own, and there are no others.
    this.#find("label", "normalization-field").hidden = isAlong;
    disable(this.#find("button", "draw-directions"), directions !== "random");
    const option = this.#panel.querySelector<HTMLOptionElement>("#directions option[value=way]");
    if (option) option.disabled = way === 0;
    const note = this.#find("p", "directions-note");
    note.textContent = isAlong
      ? "The plane that keeps most of the training’s way: the principal components of its snapshots. Axes are lengths in the space of all weights."
      : noWay(state);
    note.hidden = note.textContent === "";
  }

  /** A reload brings a choice back. */
  #writeChoice(): void {
    const { directions, normalization, seed, points, atBent } = this.app.store.state.landscapeChoice;
    this.#find("select", "directions").value = directions;
    this.#find("select", "normalization").value = normalization;
    this.#find("select", "at-bent").value = atBent;
    this.#find("input", "points").value = String(points);
    this.#seed = seed;
  }

  #choice(): LandscapeChoice {
    const points = this.#find("input", "points");
    const wanted = Math.round(Number(points.value)) || 21;
    // An odd number has the weights themselves among its points.
    const odd = Math.min(Math.max(wanted - ((wanted + 1) % 2), 11), 31);
    const note = this.#find("p", "points-note");
    note.textContent =
      String(odd) === points.value ? "" : `${odd} instead of ${points.value || "none"}: an odd number from 11 to 31.`;
    points.value = String(odd);
    return {
      directions: this.#find("select", "directions").value as DirectionKind,
      normalization: this.#find("select", "normalization").value as NormalizationKind,
      seed: this.#seed,
      points: odd,
      atBent: this.#find("select", "at-bent").value === "anew" ? "anew" : "same",
    };
  }
}

function present<T>(values: PerPoint<T>): T[] {
  return POINTS.flatMap((point) => values[point] ?? []);
}

/** Why one cannot look along the way of a training; "" where one can. */
function noWay({ way, ready, training, stamp, model, opened }: State): string {
  if (way > 0) return "";
  const what = "The way of a training can be looked along";
  if (!ready) return `${what} when there is one.`;
  if (stamp !== null && isArrival(stamp))
    return `${what} once you have trained: the network shown comes without its own.`;
  if (opened && !training) return `${what} where the page has trained: this network came in a file.`;
  if (!training) return `${what} once you have trained: these weights are as they begin.`;
  return model && snapshotsOf(model.parameterCount) === 0
    ? `${what} in smaller networks: snapshots of this one would not fit.`
    : `${what} when a training has moved the weights: this one has kept no snapshots.`;
}
