/** `<isoflat-invariance>`: which measures stand still under which maps of the weights, and which move. */

import type { MeasureDescription, MeasureKey } from "isoflat";
import type { Check, InvarianceData, Measure } from "../invariance-cells";
import { type MakeDrawing, PlotElement } from "./element";
import { descriptionsOf, invarianceOf, measuresOf } from "./given";

export interface InvarianceContent extends Check {
  isExplained: boolean;
}

/** What an `explain` says: of what measure somebody has pressed the name, and where that stands. */
export interface Explained {
  measure: MeasureKey;
  name: HTMLElement;
}

export class IsoflatInvariance extends PlotElement<InvarianceContent> {
  static readonly observedAttributes = ["explained"];
  protected readonly given = ["table", "measures", "descriptions", "explained"];
  #table: { given: InvarianceData; own: InvarianceData } | null = null;
  #measures: readonly Measure[] | null = null;
  #descriptions: MeasureDescription[] = [];

  get table(): InvarianceData | null {
    return this.#table?.given ?? null;
  }

  set table(table: InvarianceData | null) {
    this.#table = table ? { given: table, own: invarianceOf(table, "table") } : null;
    this.redraw();
  }

  get measures(): readonly Measure[] | null {
    return this.#measures;
  }

  set measures(measures: readonly Measure[] | null) {
    this.#measures = measuresOf(measures, "measures");
    this.redraw();
  }

  get descriptions(): readonly MeasureDescription[] {
    return this.#descriptions;
  }

  set descriptions(descriptions: readonly MeasureDescription[]) {
    this.#descriptions = descriptionsOf(descriptions, "descriptions");
    this.redraw();
  }

  get explained(): boolean {
    return this.hasAttribute("explained");
  }

  set explained(is: boolean) {
    this.toggleAttribute("explained", is);
  }

  attributeChangedCallback(): void {
    this.redraw();
  }

  /** Somebody has pressed a measure's name. */
  explain(detail: Explained): void {
    this.dispatchEvent(new CustomEvent("explain", { detail, bubbles: true, composed: true }));
  }

  protected override content(): InvarianceContent | null {
    if (!this.#table) return null;
    return {
      table: this.#table.own,
      measures: this.#measures,
      descriptions: this.#descriptions,
      isExplained: this.explained,
    };
  }

  protected override async load(): Promise<MakeDrawing<InvarianceContent>> {
    return (await import("./invariance-drawing")).invarianceDrawing as MakeDrawing<InvarianceContent>;
  }
}
