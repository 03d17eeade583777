/** An element's colours: the theme's, each of which a page may say otherwise, light or dark as what is around the element. */

import type { Ground } from "../charts/ground";
import theme from "../style/theme.css?inline";

/** The theme's properties on the element: `--ink` is what the page says as `--isoflat-ink`, or the theme's own. */
export function themed(): string {
  const said = [...theme.matchAll(/--(?!page|gap|lightningcss)([\w-]+):\s*([^;}]+)/g)];
  // The first of each: what follows is of wider windows.
  const own = new Map(said.reverse().map(([, name = "", value = ""]) => [name, value.trim()]));
  const lines = [...own].map(([name, value]) => `--${name}: var(--isoflat-${name}, ${value});`);
  return `:host { ${lines.join(" ")} }\n`;
}

const DARK = "light-dark(rgb(0 0 0), rgb(255 255 255))";

/** Three numbers, however a style sheet spells a colour. */
function asRgb(colour: string): string {
  if (/^rgba?\(/.test(colour)) return colour;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) return colour;
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [r, g, b] = context.getImageData(0, 0, 1, 1).data;
  return `rgb(${r}, ${g}, ${b})`;
}

/** Colours are asked for at every drawing, and of the browser once. */
export interface ElementGround extends Ground {
  /** They may have become others. */
  forget: () => void;
}

export function groundOf(root: ShadowRoot): ElementGround {
  const known = new Map<string, string>();
  const computed = (colour: string): string => {
    const before = known.get(colour);
    if (before !== undefined) return before;
    const probe = document.createElement("span");
    probe.hidden = true;
    probe.style.color = colour;
    root.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    known.set(colour, color);
    return color;
  };
  return {
    colour: (name) => asRgb(computed(`var(--${name})`)),
    theme: () => (computed(DARK) === "rgb(255, 255, 255)" ? "dark" : "light"),
    forget: () => known.clear(),
  };
}

/** Style sheets tell nobody that they have changed, but a transition from one colour to another does. */
const WATCHED = ["surface-line", "ink", "line-strong", "pin", "way"];

export function watchColours(root: ShadowRoot, changed: () => void): () => void {
  const probe = document.createElement("span");
  probe.className = "probe";
  probe.setAttribute("aria-hidden", "true");
  const watch = (colour: string): void => {
    const one = document.createElement("i");
    one.style.color = colour;
    probe.append(one);
  };
  watch(DARK);
  for (const name of WATCHED) watch(`var(--${name})`);
  probe.addEventListener("transitionend", changed);
  root.append(probe);
  return () => probe.remove();
}
