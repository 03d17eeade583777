/**
 * Draws docs/results/dinh-figures.svg from docs/results/dinh-figures.json, which `cargo run --release --example papers -- dinh-figures` writes:
 * Dinh's Figures 1 to 6, of networks of one and of two weights.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { figure } from "./lib/figure.mjs";
import { linear, PANEL_STYLE, panel } from "./lib/panels.mjs";
import { root } from "./lib/process.mjs";

const results = join(root, "docs", "results");
const found = JSON.parse(readFileSync(join(results, "dinh-figures.json"), "utf8"));
const [INK, HERE, THERE, FAR] = ["#444", "#2f6fb5", "#c2571a", "#2e8b57"];
const SIZE = { width: 370, height: 230 };
const three = (value) => Number(value.toPrecision(3));

function circle([x, y], radius) {
  return Array.from({ length: 97 }, (_, i) => {
    const angle = (2 * Math.PI * i) / 96;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

/** Functions, a line each: the minima's in full. */
function functions(on, curves) {
  for (const { share, points } of curves) on.line(points, share === 1 ? INK : "#aaa", { dashed: share !== 1 });
}

function volumeAndBall({ found: at, theta, losses }) {
  const [low, high] = [theta[0], theta.at(-1)];
  const on = panel({
    ...SIZE,
    x: 60,
    y: 50,
    title: `Figure 1: volume ${three(at.width)} at ε = ${at.height}; ${three(at.rise)} in a ball of ${three(at.radius)}`,
    across: linear(
      low,
      high,
      [-0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5].filter((value) => value > low && value < high),
    ),
    down: linear(0.3, 1, [0.4, 0.6, 0.8, 1]),
    acrossName: "θ",
    downName: "L",
  });
  const top = at.loss + at.height;
  const within = theta.map((x, i) => [x, losses[i]]).filter(([x]) => x > at.low && x < at.high);
  on.area([[at.low, top], ...within, [at.high, top]], THERE);
  on.line(
    [
      [at.low, top],
      [at.high, top],
    ],
    THERE,
    { width: 3 },
  );
  const [left, right] = [at.minimum - at.radius, at.minimum + at.radius];
  on.line(
    [
      [left, at.loss],
      [left, at.loss + at.rise],
      [right, at.loss + at.rise],
      [right, at.loss],
      [left, at.loss],
    ],
    HERE,
  );
  on.line(
    theta.map((x, i) => [x, losses[i]]),
    INK,
  );
  on.dot([at.minimum, at.loss], INK);
  return on.svg();
}

function lines({ found: at, curves }) {
  const on = panel({
    ...SIZE,
    x: 510,
    y: 50,
    title: "Figure 2: all points of a line are one function",
    across: linear(0, 4.5, [0, 1, 2, 3, 4]),
    down: linear(0, 3.2, [0, 1, 2, 3]),
    acrossName: "θ₁",
    downName: "θ₂",
  });
  functions(on, curves);
  on.line([at.point, at.moved], HERE, { width: 1 });
  on.dot(at.point, HERE);
  on.dot(at.moved, THERE);
  on.text([at.point[0] + 0.1, at.point[1] + 0.12], "θ");
  on.text([at.moved[0] + 0.1, at.moved[1] + 0.45], `T_α(θ), α = ${at.alpha}`);
  return on.svg();
}

/** One above the other. */
function coordinates({ found: at, theta, losses, maps }) {
  const [sharp, flat] = maps.map(({ curvatures }) => three(curvatures[at.minima.indexOf(at.center)]));
  const on = panel({
    ...SIZE,
    x: 510,
    y: 350,
    title: `Figure 5: curvature ${three(at.curvature)} in θ, ${sharp} and ${flat} in η`,
    across: linear(-1, 6, [-1, 0, 1, 2, 3, 4, 5, 6]),
    down: linear(0, 3.75, []),
    acrossName: "θ, and θ̂ + η",
    downName: "L",
  });
  on.line(
    [
      [at.center, 0],
      [at.center, 4],
    ],
    "#bbb",
  );
  const all = [theta, ...maps.map(({ eta }) => eta.map((value) => at.center + value))];
  all.forEach((places, i) => {
    on.line(
      places.map((place, k) => [place, losses[k] + 2.5 - 1.25 * i]),
      [INK, HERE, THERE][i],
    );
  });
  return on.svg();
}

function boxes({ found: at, curves }) {
  const on = panel({
    ...SIZE,
    x: 60,
    y: 350,
    title: `Figure 3: boxes of one volume, ${three(at.boxes[0].volume)}, with α = ${three(at.alpha)}`,
    across: linear(0, 7.5, [0, 1, 2, 3, 4, 5, 6, 7]),
    down: linear(0, 1.5, [0, 0.5, 1, 1.5]),
    acrossName: "θ₁",
    downName: "θ₂",
  });
  functions(on, curves);
  at.boxes.forEach(({ low, high }, i) => {
    const corners = [low, [high[0], low[1]], high, [low[0], high[1]]];
    on.area(corners, [HERE, THERE, FAR][i], 0.4);
    on.line([...corners, low], [HERE, THERE, FAR][i]);
  });
  return on.svg();
}

function balls({ found: at, curves }) {
  const on = panel({
    width: 370,
    height: 370,
    x: 60,
    y: 650,
    title: `Figure 4: sharpness ${three(at.before)} and ${three(at.after)} within ε = ${at.epsilon}`,
    across: linear(-0.2, 3.8, [0, 1, 2, 3]),
    down: linear(-0.2, 3.8, [0, 1, 2, 3]),
    acrossName: "θ₁",
    downName: "θ₂",
  });
  on.line(
    [
      [0, -1],
      [0, 5],
    ],
    INK,
    { width: 2.5 },
  );
  functions(on, curves);
  for (const [center, highest, colour] of [
    [at.point, at.highest_before, HERE],
    [at.moved, at.highest_after, THERE],
  ]) {
    on.area(circle(center, at.epsilon), colour);
    on.line(circle(center, at.epsilon), colour);
    on.line([center, highest], colour, { width: 1 });
    on.dot(center, colour);
  }
  on.text([at.point[0] + 0.4, at.point[1] + 0.25], "θ");
  on.text([at.moved[0] + 0.4, at.moved[1]], "T_α(θ), within ε of a constant function");
  return on.svg();
}

function radial({ found: at, lines, half }) {
  const [x, y] = at.center;
  const on = panel({
    width: 370,
    height: 370,
    x: 510,
    y: 650,
    title: `Figure 6: curvature ${three(at.eigenvalues.at(-1))} in θ, ${three(at.eigenvalues_in_eta.at(-1))} in η`,
    across: linear(x - half, x + half, [0, 1, 2]),
    down: linear(y - half, y + half, [0, 1, 2]),
    acrossName: "η₁",
    downName: "η₂",
  });
  on.area(circle(at.center, at.delta), THERE, 0.18);
  on.area(circle(at.center, at.rho), HERE, 0.3);
  for (const { eta } of lines) on.line(eta, INK, { width: 0.9 });
  on.line(circle(at.center, at.inner), HERE, { dashed: true });
  on.dot(at.center, INK);
  return on.svg();
}

const drawn = figure({
  width: 920,
  height: 1090,
  label: "Dinh’s Figures 1 to 6, of what the engine finds",
  style: PANEL_STYLE,
  parts: [
    volumeAndBall(found.figure_1),
    lines(found.figure_2),
    boxes(found.figure_3),
    balls(found.figure_4),
    coordinates(found.figure_5),
    radial(found.figure_6),
  ],
  note: "1: a logistic regression with one weight; 5: η = (|θ − θ̂|² + b)ᵃ (θ − θ̂), a = 0.3 and −0.25; the others: θ₂ relu(θ₁ x), lines are of one function each; 6: a grid of θ",
});
writeFileSync(join(results, "dinh-figures.svg"), drawn);
