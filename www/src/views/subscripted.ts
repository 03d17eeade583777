/** Text in a template with its subscripts below the line: `κ_τ` with its τ. */

import { html, type TemplateResult } from "lit-html";
import { pieces } from "../subscripts";

export const subscripted = (text: string): (string | TemplateResult)[] =>
  pieces(text).map((piece) => (typeof piece === "string" ? piece : html`${piece.base}<sub>${piece.sub}</sub>`));
