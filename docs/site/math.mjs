/** `$…$` and `$$…$$` in comments and guides: TeX, of which the build makes MathML with the library that the lab's formulas are made by. */

import temml from "temml";

const mathml = (tex, displayMode) => temml.renderToString(tex, { displayMode, throwOnError: true });

/** A rule of markdown-it for text: a formula has no space behind its first sign, so that two prices are none. */
function formula(state, silent) {
  const found = /^(\${1,2})(?=\S)([^$]*[^$\s])\1/.exec(state.src.slice(state.pos));
  if (!found) return false;
  const [whole, signs, tex] = found;
  if (!silent) state.push("html_inline", "", 0).content = mathml(tex, signs.length === 2);
  state.pos += whole.length;
  return true;
}

export function withMath(parser) {
  parser.inline.ruler.before("escape", "formula", formula);
}
