/**
 * Networks of two or three weights with one input (Jestädt Figures 1.5, 1.6, 4.8, 4.9; Dinh Figure 2), and gradient descent on them in each
 * space.
 */

import type { Place } from "./methods";

export interface Step {
  /** Where the step is in the plane drawn; beside it if the plane does not hold it. */
  at: [number, number] | null;
  loss: number;
}

export interface Descent {
  place: Place;
  steps: Step[];
}

/** A line on which all points are one function, and minus the gradient at some of them. */
export interface SameFunction {
  line: [number, number][];
  downhill: { at: [number, number]; minusGradient: [number, number] }[];
}

export interface Knobs {
  rate: number;
  /** Along the line of the same function: one weight times this, the other over it. */
  along: number;
  /** The fixed weight, where the drawing is of a plane in which it does not move. */
  fixed: number;
}

export interface Toy {
  title: string;
  formula: string;
  about: string;
  axes: [string, string];
  range: { x: [number, number]; y: [number, number] };
  /** Which knobs mean something. */
  knobs: ("along" | "fixed")[];
  /** The largest learning rate on offer. */
  rates: [number, number];
  loss: (x: number, y: number, knobs: Knobs) => number;
  /** Of the start's own function. */
  sameFunction?: SameFunction;
  descents: (knobs: Knobs) => Descent[];
}

export const STEPS = 24;

interface Loss {
  of: (output: number) => number;
  slope: (output: number) => number;
}
const SINE: Loss = { of: Math.sin, slope: Math.cos };
const SQUARE: Loss = { of: (output) => (output - 1) ** 2 / 2, slope: (output) => output - 1 };

/** Gradient descent on coordinates of any kind: `gradient` is ∂output/∂coordinate, `plane` where they are in the drawing. */
function descend(
  place: Place,
  loss: Loss,
  rate: number,
  start: number[],
  output: (v: number[]) => number,
  gradient: (v: number[]) => number[],
  plane: (v: number[]) => [number, number] | null,
): Descent {
  const steps: Step[] = [];
  let v = start;
  for (let step = 0; step <= STEPS; step++) {
    steps.push({ at: plane(v), loss: loss.of(output(v)) });
    const slope = loss.slope(output(v));
    const direction = gradient(v);
    v = v.map((value, index) => value - rate * slope * (direction[index] ?? 0));
  }
  return { place, steps };
}

/** y = w₂ w₁: the weights, the path value v = w₁ w₂, and w₁ alone. In the last two w₂ is the skeleton's and stays. */
function product(loss: Loss, begin: number): (knobs: Knobs) => Descent[] {
  return ({ rate, along }) => {
    const side = Math.sqrt(begin);
    const [w1, w2] = [side * along, side / along];
    const at = (first = 0, second = 0): [number, number] => [first, second];
    return [
      descend(
        "weights",
        loss,
        rate,
        [w1, w2],
        ([a = 0, b = 0]) => a * b,
        ([a = 0, b = 0]) => [b, a],
        ([a, b]) => at(a, b),
      ),
      descend(
        "weight_fixing",
        loss,
        rate,
        [w1],
        ([a = 0]) => a * w2,
        () => [w2],
        ([a]) => at(a, w2),
      ),
      descend(
        "g_space",
        loss,
        rate,
        [w1 * w2],
        ([v = 0]) => v,
        () => [1],
        ([v = 0]) => at(v / w2, w2),
      ),
    ];
  };
}

/**
 * y = w₂ w₁ along w₁ w₂ = `begin`, w₁ times a factor and w₂ over it: the same function, and a gradient, ∂L/∂y · (w₂, w₁), as long as
 * (w₁, w₂) is (Jestädt, Figure 1.6 and equation 1.20).
 */
function alongProduct(loss: Loss, begin: number): SameFunction {
  const [side, slope] = [Math.sqrt(begin), loss.slope(begin)];
  const place = (factor: number): [number, number] => [side * factor, side / factor];
  const factors = (count: number) => Array.from({ length: count }, (_, index) => 3 ** ((2 * index) / (count - 1) - 1));
  return {
    line: factors(61).map(place),
    downhill: factors(9).map((factor) => {
      const [w1, w2] = place(factor);
      return { at: [w1, w2], minusGradient: [-slope * w2, -slope * w1] };
    }),
  };
}

/** y = w₃ (w₁ + w₂): all weights, the plane in which w₁ is fixed, and the path values w₁ w₃ and w₂ w₃. */
function twoInputs({ rate, fixed: w1 }: Knobs): Descent[] {
  const [w2, w3] = [1.2, 0.9];
  return [
    descend(
      "weights",
      SINE,
      rate,
      [w1, w2, w3],
      ([a = 0, b = 0, c = 0]) => c * (a + b),
      ([a = 0, b = 0, c = 0]) => [c, c, a + b],
      () => null,
    ),
    descend(
      "weight_fixing",
      SINE,
      rate,
      [w2, w3],
      ([b = 0, c = 0]) => c * (w1 + b),
      ([b = 0, c = 0]) => [c, w1 + b],
      ([b = 0, c = 0]) => [b, c],
    ),
    descend(
      "g_space",
      SINE,
      rate,
      [w1 * w3, w2 * w3],
      ([a = 0, b = 0]) => a + b,
      () => [1, 1],
      () => null,
    ),
  ];
}

const oneLayer = ({ rate }: Knobs): Descent[] => [
  descend(
    "weights",
    SINE,
    rate,
    [0.9, 1.2],
    ([a = 0, b = 0]) => a + b,
    () => [1, 1],
    ([a = 0, b = 0]) => [a, b],
  ),
];

export const TOYS = {
  product: {
    title: "Two layers",
    formula: "L = sin y, y = w₂ w₁",
    about:
      "All points on a hyperbola w₁ w₂ = c are the same function. Move the start along it: on the weights the steps change with it, and so do " +
      "those with w₂ fixed, along a horizontal line. The G-space goes along that line too, but there the network is one of a single weight, y = v: its losses stay the same.",
    axes: ["w₁", "w₂"],
    range: { x: [0, 5], y: [0, 5] },
    knobs: ["along"],
    rates: [0.01, 1],
    loss: (x, y) => Math.sin(x * y),
    sameFunction: alongProduct(SINE, 2),
    descents: product(SINE, 2),
  },
  dinh: {
    title: "Level curves",
    formula: "L = ½ (y − 1)², y = w₂ w₁",
    about:
      "Dinh’s picture: the minimum is a whole curve, flat where it is near the diagonal and steep where it is far out, though every point of it is the same " +
      "function. What is a good learning rate at one end is too much at the other.",
    axes: ["w₁", "w₂"],
    range: { x: [0, 5], y: [0, 5] },
    knobs: ["along"],
    rates: [0.01, 1],
    loss: (x, y) => (x * y - 1) ** 2 / 2,
    sameFunction: alongProduct(SQUARE, 3),
    descents: product(SQUARE, 3),
  },
  fixed: {
    title: "One weight fixed",
    formula: "L = sin y, y = w₃ (w₁ + w₂)",
    about:
      "The plane of w₂ and w₃ while w₁ is fixed. The larger the fixed value, the closer the valleys lie along w₃: it takes a smaller learning rate. " +
      "The other two paths leave this plane; their losses are drawn on the right.",
    axes: ["w₂", "w₃"],
    range: { x: [0, 6], y: [0, 6] },
    knobs: ["fixed"],
    rates: [0.003, 0.3],
    loss: (x, y, { fixed }) => Math.sin(y * (fixed + x)),
    descents: twoInputs,
  },
  sum: {
    title: "One layer",
    formula: "L = sin y, y = w₁ + w₂",
    about:
      "Nothing to rescale, so nothing is distorted: even stripes, and steps that are as long wherever one begins. This is what a space without the symmetry should give back.",
    axes: ["w₁", "w₂"],
    range: { x: [0, 6], y: [0, 6] },
    knobs: [],
    rates: [0.01, 1],
    loss: (x, y) => Math.sin(x + y),
    descents: oneLayer,
  },
} as const satisfies Record<string, Toy>;

export type ToyId = keyof typeof TOYS;
