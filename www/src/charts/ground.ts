/** What a drawing stands on, and has its colours from: the page, or an element of another page. */

import { token } from "../dom";
import { type Theme, themeNow } from "./palette";

export interface Ground {
  /** One of the theme's colours, as canvases take them. */
  colour: (name: string) => string;
  theme: () => Theme;
}

export const PAGE: Ground = { colour: token, theme: themeNow };
