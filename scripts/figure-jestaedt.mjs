/**
 * Draws docs/results/jestaedt-figures.svg from docs/results/jestaedt-figures.json, which `cargo run --release --example papers -- jestaedt-figures`
 * writes: Jestädt's Figures 1.5, 1.6 and 4.9, of networks of one to three weights.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { contours } from "d3-contour";
import { figure } from "./lib/figure.mjs";
import { linear, PANEL_STYLE, panel } from "./lib/panels.mjs";
import { root } from "./lib/process.mjs";

const results = join(root, "docs", "results");
const found = JSON.parse(readFileSync(join(results, "jestaedt-figures.json"), "utf8"));
const [INK, ARROWS] = ["#444", "#c2571a"];
const SIZE = { width: 240, height: 240 };
/** Of losses from −1 to 1, from valleys to hills. */
const BANDS = ["#2f6fb5", "#93b6d9", "#f0ebe6", "#dfae83", "#c2571a"];
const ticks = (reach) => Array.from({ length: reach + 1 }, (_, i) => i);
const place = (column, row) => ({ ...SIZE, x: 60 + 300 * column, y: 50 + 320 * row });

function curve({ w, losses }) {
  const on = panel({
    ...place(0, 0),
    title: "Figure 1.5: y = relu(w)",
    across: linear(-3, 12, [-3, 0, 3, 6, 9, 12]),
    down: linear(-1.1, 1.1, [-1, 0, 1]),
    acrossName: "w",
    downName: "sin y",
  });
  on.line(
    w.map((x, i) => [x, losses[i]]),
    INK,
  );
  return on.svg();
}

/** Bands of the loss over two weights. */
function surface({ reach, side, losses }, { at, title, names: [acrossName, downName] }) {
  const axis = linear(0, reach, ticks(reach));
  const on = panel({ ...at, title, across: axis, down: axis, acrossName, downName });
  const levels = BANDS.map((_, i) => -1.001 + (2 * i) / BANDS.length);
  const shapes = contours().size([side, side]).thresholds(levels)(losses);
  const to = (cells) => ((cells - 0.5) / (side - 1)) * reach;
  shapes.forEach((shape, i) => {
    // One path a level, so that holes stay holes.
    on.areas(
      shape.coordinates.flat().map((ring) => ring.map(([column, row]) => [to(column), to(row)])),
      BANDS[i],
    );
  });
  return on.svg();
}

function gradients({ lines }) {
  const axis = linear(0, 5.6, [0, 1, 2, 3, 4, 5]);
  const on = panel({
    ...place(2, 0),
    title: "Figure 1.6: one function, gradients",
    across: axis,
    down: axis,
    acrossName: "w₁",
    downName: "w₂",
  });
  for (const { output, points, arrows } of lines) {
    const has = output === 1 || output === 3;
    on.line(points, INK, { dashed: !has });
    for (const { at, minus_gradient: minus } of has ? arrows : []) {
      const [dx, dy] = minus.map((value) => 0.25 * value);
      const to = [at[0] + dx, at[1] + dy];
      const barb = (turn) => [to[0] - 0.25 * (dx + turn * dy), to[1] - 0.25 * (dy - turn * dx)];
      on.line([at, to, barb(0.6), to, barb(-0.6)], ARROWS);
    }
  }
  return on.svg();
}

const { figure_1_5: first, figure_1_6: second, figure_4_9: third } = found;
const [plain, ...fixed] = third.surfaces.map(({ losses, w_1 }) => ({
  losses,
  reach: third.reach,
  side: third.side,
  w_1,
}));
const drawn = figure({
  width: 960,
  height: 1010,
  label: "Jestädt’s Figures 1.5, 1.6 and 4.9, of what the engine finds",
  style: PANEL_STYLE,
  parts: [
    curve(first),
    surface(first.surface, { at: place(1, 0), title: "Figure 1.5: y = w₂ relu(w₁)", names: ["w₁", "w₂"] }),
    gradients(second),
    surface(plain, { at: place(0, 1), title: "Figure 4.9: y = relu(w₁ + w₂)", names: ["w₁", "w₂"] }),
    ...fixed.map((each, i) =>
      surface(each, {
        at: i < 2 ? place(i + 1, 1) : place(0, 2),
        title: `Figure 4.9: y = w₃ relu(${each.w_1} + w₂)`,
        names: ["w₂", "w₃"],
      }),
    ),
  ],
  note: "The loss is sin y, from valleys (blue) to hills (brown); arrows are minus the gradient, times a quarter",
});
writeFileSync(join(results, "jestaedt-figures.svg"), drawn);
