/** Text whose subscripts stand below the line, in a template. */

import { html } from "lit-html";
import { pieces } from "../subscripts";

export const formula = (text: string): unknown[] =>
  pieces(text).map((piece) => (typeof piece === "string" ? piece : html`${piece.base}<sub>${piece.sub}</sub>`));
