/** A small network with its skeleton of fixed weights; a weight that is pointed at shows its basis path and the path's value. */

import { html, nothing, type TemplateResult } from "lit-html";
import { svg } from "../dom";
import { columnsOf } from "../figures/columns";
import type { Figure } from "../figures/figure";
import { dimensionsFigure } from "../figures/spaces";
import { integer, number } from "../format";
import { type Dimensions, dimensionsOf, type Edge, SmallNetwork } from "../spaces/skeleton";
import { renderPart } from "./part";
import { takenAlong } from "./take-along";

const WIDTHS = [2, 3, 3, 2];
const WEIGHTS = [
  [
    [0.8, -0.5],
    [0.6, 1.2],
    [-0.9, 0.7],
  ],
  [
    [1.1, 0.4, -0.6],
    [-0.7, 0.9, 0.5],
    [0.3, -0.8, 1.3],
  ],
  [
    [0.9, 0.5, 1.2],
    [-0.4, 1.4, 0.6],
  ],
];
/** What a press on a unit multiplies the weights into it by. */
const FACTOR = 2;

const WIDTH = 560;
const HEIGHT = 270;
const RADIUS = 15;

/** Networks of the thesis: widths of their layers. */
const THESIS: [string, number[]][] = [
  ["784-64×4-10", [784, 64, 64, 64, 64, 10]],
  ["3072-64×5-10", [3072, 64, 64, 64, 64, 64, 10]],
];

export function skeletonView(section: HTMLElement): void {
  let network = new SmallNetwork(WIDTHS, WEIGHTS);
  const free = network.edges().filter((edge) => !network.isFixed(edge));
  let chosen: Edge = free.find(({ layer, from, to }) => layer === 1 && from === 2 && to === 0) ?? {
    layer: 0,
    from: 0,
    to: 0,
  };
  const drawing = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "skeleton",
    role: "group",
    "aria-label": "A network of 2, 3, 3 and 2 units with its fixed weights; choose a weight to see its path",
  });
  const networks = [
    { name: "the one drawn", weights: network.parameterCount, hidden: network.fixedCount },
    ...THESIS.map(([name, widths]) => dimensionsOf(name, widths)),
  ];

  const choose = (edge: Edge): void => {
    chosen = edge;
    draw();
  };
  const draw = (): void => {
    const focused = drawing.contains(document.activeElement) ? document.activeElement?.id : undefined;
    drawing.replaceChildren(
      ...edges(network, chosen, free, choose),
      ...labels(network, chosen),
      ...units(network, press),
    );
    if (focused) document.getElementById(focused)?.focus();
    renderPart(section, {
      title: "Coordinates that no rescaling moves",
      controls: html`<div class="row wrap" ${takenAlong(() => skeletonFigure(drawing, network, chosen))}>
        <button type="button" ?disabled=${network.weights === WEIGHTS} @click=${reset}>Reset</button>
      </div>`,
      note:
        "One weight that leaves each hidden unit is fixed (drawn bold). For every other weight there is then one path from an input to an output: " +
        "over the weight, and otherwise along the skeleton. The product of the weights along it is a coordinate of the G-space. " +
        "Point at a weight to see its path; press a hidden unit to double what comes in and halve what goes out.",
      content: html`<div class="space-columns wide-first">
        <figure class="panel">
          ${drawing}
          <p id="path-value" class="path-value" role="status" data-value=${network.pathValue(chosen)}>${spelled(network, chosen)}</p>
        </figure>
        ${dimensions(networks)}
      </div>`,
    });
  };
  const press = (layer: number, unit: number): void => {
    network = network.rescaled(layer, unit, FACTOR);
    draw();
  };
  const reset = (): void => {
    network = new SmallNetwork(WIDTHS, WEIGHTS);
    draw();
  };
  draw();
}

function skeletonFigure(drawing: SVGSVGElement, network: SmallNetwork, chosen: Edge): Figure {
  return {
    name: "skeleton",
    title: "A network of 2, 3, 3 and 2 units with its fixed weights",
    caption: `Bold: the skeleton of fixed weights; a path leads over the chosen weight and else along the skeleton, and the product of the weights along it is ${number(network.pathValue(chosen))}.`,
    columns: () =>
      columnsOf(
        ["layer", "from_unit", "to_unit", "weight", "is_fixed", "path_value"],
        network.edges().map((edge) => {
          const isFixed = network.isFixed(edge);
          const { layer, from, to } = edge;
          return [layer, from + 1, to + 1, network.weight(edge), isFixed, isFixed ? null : network.pathValue(edge)];
        }),
      ),
    drawing: { width: WIDTH, height: HEIGHT, draw: () => drawing.cloneNode(true) as SVGSVGElement },
  };
}

function position(layer: number, unit: number): [number, number] {
  const count = WIDTHS[layer] ?? 1;
  const x = 60 + (layer * (WIDTH - 120)) / (WIDTHS.length - 1);
  return [x, HEIGHT / 2 + (unit - (count - 1) / 2) * 92];
}

const idOf = ({ layer, from, to }: Edge): string => `edge-${layer}-${from}-${to}`;
const same = (a: Edge, b: Edge): boolean => idOf(a) === idOf(b);

function edges(network: SmallNetwork, chosen: Edge, free: Edge[], choose: (edge: Edge) => void): SVGElement[] {
  const path = network.path(chosen);
  const rank = (edge: Edge): number => (path.some((step) => same(step, edge)) ? 2 : network.isFixed(edge) ? 1 : 0);
  const lines = [...network.edges()].sort((a, b) => rank(a) - rank(b));
  const drawn = lines.map((edge) => {
    const [x1, y1] = position(edge.layer, edge.from);
    const [x2, y2] = position(edge.layer + 1, edge.to);
    const fixed = network.isFixed(edge);
    const kind = `edge${fixed ? " fixed" : ""}${rank(edge) === 2 ? " on" : ""}${same(edge, chosen) ? " chosen" : ""}`;
    return svg("line", { class: kind, x1, y1, x2, y2 });
  });
  // Wide and invisible: what a finger or the keyboard can get hold of.
  const targets = free.map((edge, index) => {
    const [x1, y1] = position(edge.layer, edge.from);
    const [x2, y2] = position(edge.layer + 1, edge.to);
    const target = svg("line", {
      id: idOf(edge),
      class: "target",
      role: "button",
      tabindex: same(edge, chosen) ? 0 : -1,
      "aria-label": `Weight from unit ${edge.from + 1} of layer ${edge.layer} to unit ${edge.to + 1} of the next: path value ${number(network.pathValue(edge))}`,
      x1,
      y1,
      x2,
      y2,
    });
    // Not pointerenter: what is drawn anew under a mouse at rest is entered too, and would undo what the keyboard has chosen.
    target.addEventListener("pointermove", () => !same(edge, chosen) && choose(edge));
    target.addEventListener("click", () => choose(edge));
    target.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const next = step && free[(index + step + free.length) % free.length];
      if (!next) return;
      event.preventDefault();
      choose(next);
      document.getElementById(idOf(next))?.focus();
    });
    return target;
  });
  return [...drawn, ...targets];
}

function units(network: SmallNetwork, press: (layer: number, unit: number) => void): SVGElement[] {
  return network.widths.flatMap((count, layer) =>
    Array.from({ length: count }, (_, unit) => {
      const [cx, cy] = position(layer, unit);
      const hidden = layer > 0 && layer + 1 < network.widths.length;
      if (!hidden) return svg("circle", { class: "unit", cx, cy, r: RADIUS - 4 });
      const label = `Double what comes into unit ${unit + 1} of hidden layer ${layer}, halve what leaves it`;
      const circle = svg("circle", { cx, cy, r: RADIUS });
      const text = svg("text", { x: cx, y: cy, dy: "0.35em" }, "×2");
      const button = svg(
        "g",
        { id: `unit-${layer}-${unit}`, class: "unit hidden-unit", role: "button", tabindex: 0, "aria-label": label },
        circle,
        text,
      );
      button.addEventListener("click", () => press(layer, unit));
      button.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        press(layer, unit);
      });
      return button;
    }),
  );
}

/** The weights along the path, beside their lines. */
function labels(network: SmallNetwork, chosen: Edge): SVGElement[] {
  return network.path(chosen).map((edge) => {
    const [x1, y1] = position(edge.layer, edge.from);
    const [x2, y2] = position(edge.layer + 1, edge.to);
    const kind = `weight${network.isFixed(edge) ? " fixed" : ""}`;
    return svg("text", { class: kind, x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 8 }, number(network.weight(edge), 2));
  });
}

function spelled(network: SmallNetwork, chosen: Edge): TemplateResult {
  const factors = network.path(chosen).map((edge, index) => {
    const kind = same(edge, chosen) ? "chosen" : network.isFixed(edge) ? "fixed" : "";
    return html`${index > 0 ? " · " : nothing}<span class=${kind}>${number(network.weight(edge), 2)}</span>`;
  });
  return html`<span>path value = ${factors} = <strong>${number(network.pathValue(chosen), 3)}</strong></span>`;
}

function dimensions(networks: Dimensions[]): TemplateResult {
  return html`<div>
    <table class="dimensions">
      <caption ${takenAlong(() => dimensionsFigure(networks), "table")}><span>One coordinate less for each hidden unit</span></caption>
      <thead>
        <tr>
          <th scope="col">network</th>
          <th scope="col" class="num" title="weights">m</th>
          <th scope="col" class="num" title="hidden units">H</th>
          <th scope="col" class="num" title="dimension of the G-space, and of the weights that are not fixed">m − H</th>
        </tr>
      </thead>
      <tbody>
        ${networks.map(
          ({ name, weights, hidden }) =>
            html`<tr>
              <th scope="row">${name}</th>
              <td class="num">${integer(weights)}</td>
              <td class="num">${integer(hidden)}</td>
              <td class="num">${integer(weights - hidden)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    <p class="note">
      Each hidden unit can be rescaled without a change of the function: H directions in which nothing happens. Both of
      the thesis’ spaces have m − H coordinates. The G-space’s are path values; weight fixing keeps the other weights as
      they are and never moves the skeleton.
    </p>
  </div>`;
}
