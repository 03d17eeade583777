/** `<isoflat-invariance>`: which measures stand still under which maps of the weights, and which move. */

import type { InvarianceTable, MeasureDescription } from "isoflat";
import { type MakeDrawing, PlotElement } from "./element";
import { descriptionsOf, invarianceOf } from "./given";

export interface InvarianceContent {
  table: InvarianceTable;
  descriptions: MeasureDescription[];
}

export class IsoflatInvariance extends PlotElement<InvarianceContent> {
  protected readonly given = ["table", "descriptions"];
  #table: InvarianceTable | null = null;
  #descriptions: MeasureDescription[] = [];

  get table(): InvarianceTable | null {
    return this.#table;
  }

  set table(table: InvarianceTable | null) {
    this.#table = table ? invarianceOf(table, "table") : null;
    this.redraw();
  }

  get descriptions(): readonly MeasureDescription[] {
    return this.#descriptions;
  }

  set descriptions(descriptions: readonly MeasureDescription[]) {
    this.#descriptions = descriptionsOf(descriptions, "descriptions");
    this.redraw();
  }

  protected override content(): InvarianceContent | null {
    return this.#table && { table: this.#table, descriptions: this.#descriptions };
  }

  protected override async load(): Promise<MakeDrawing<InvarianceContent>> {
    return (await import("./invariance-drawing")).invarianceDrawing;
  }
}
