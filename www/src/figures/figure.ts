/** What a chart says of itself, so that it can be taken along: as a picture, a drawing, numbers or text. */

import type { Column } from "./columns";

export interface Key {
  name: string;
  /** A line with its mark, 34 × 14. */
  drawing: () => SVGSVGElement;
}

export interface Figure {
  /** What its files are called: `isoflat-NAME.png`. */
  name: string;
  title: string;
  caption: string;
  columns: () => Column[];
  /** None of a table. On white, in the colours of the light theme. */
  drawing?: Drawing;
}

export interface Drawing {
  width: number;
  height: number;
  draw: (width: number, height: number) => SVGSVGElement;
  keys?: Key[];
}
