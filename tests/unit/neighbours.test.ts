import { describe, expect, test } from "vitest";
import { EPSILONS, indexOf, neighboursFigure, ratioOf, SLIDER } from "../../www/src/gallery/neighbours";

/** As it is in closed form, with the weights (1, 1): two samples, δ = 0.01. */
const at = (epsilon: number) => ({
  epsilon,
  value: 1e-4,
  bound: (2 / epsilon ** 2) * 1e-4,
  matrixNorm: Math.SQRT2 / epsilon,
  kappa: 4,
  trusted: true,
});

describe("Petzka's appendix D.2", () => {
  test("a slider's place is one of the distances that are computed, 0.01 as it begins", () => {
    expect(EPSILONS[indexOf(SLIDER.first)]).toBe(0.01);
    expect(EPSILONS[0]).toBe(1e-3);
    expect(EPSILONS.at(-1)).toBeCloseTo(0.5, 2);
    const places = EPSILONS.map((epsilon) => indexOf(Number(Math.log10(epsilon).toFixed(1))));
    expect(places).toEqual(EPSILONS.map((_, index) => index));
    expect([indexOf(-9), indexOf(9)]).toEqual([0, EPSILONS.length - 1]);
  });

  test("the figure has all distances, and says which one is marked", () => {
    const figure = neighboursFigure(EPSILONS.map(at), at(0.01));
    expect(figure.columns().map(({ name }) => name)).toEqual([
      "epsilon",
      "robustness",
      "bound",
      "matrix_norm",
      "kappa",
    ]);
    expect(figure.columns()[2]?.values.length).toBe(EPSILONS.length);
    expect(figure.caption).toContain("ε = 0.01");
    expect(ratioOf(at(0.01))).toBeCloseTo(2e4, 6);
  });
});
