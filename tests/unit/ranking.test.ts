import type { MeasureDescription, MeasureKey, MeasureValue } from "isoflat";
import { expect, test } from "vitest";
import { rankingChart } from "../../www/src/charts/ranking";
import { type Contender, flattestOf, rankingOf, saidOf } from "../../www/src/ranking";
import { NO_VALUES } from "../../www/src/store";

type Values = Partial<Record<MeasureKey, number>>;

const values = (of: Values): Map<MeasureKey, MeasureValue> =>
  new Map(Object.entries(of).map(([key, value]) => [key as MeasureKey, { key, value } as MeasureValue]));

const contender = (name: string, trained: Values, bent: Values = {}): Contender => ({
  name,
  known: {
    measures: { ...NO_VALUES, trained: values(trained), bent: values(bent) },
    model: null,
    surfaces: {},
    accuracy: {},
    training: null,
  },
});

const HESSIAN = "hessian.spectral_norm";
const LAYERWISE = "riemannian.layerwise_flat.spectral_norm";
const descriptions = [
  { key: HESSIAN, title: "Hessian’s norm" },
  { key: LAYERWISE, title: "Layer-wise norm" },
] as MeasureDescription[];

const sharp = contender("sharp", { [HESSIAN]: 10, [LAYERWISE]: 3 });
const flat = (bent: Values) => contender("flat", { [HESSIAN]: 2, [LAYERWISE]: 5 }, bent);

test("the flattest is the one of the least Hessian, of two or more that are known", () => {
  expect(flattestOf([sharp, flat({})])).toBe(1);
  expect(flattestOf([sharp])).toBe(-1);
  expect(flattestOf([sharp, contender("unknown", {})])).toBe(-1);
  expect(flattestOf([{ name: "gone", known: null }, sharp, flat({})])).toBe(2);
});

test("there is no ranking before the flattest is bent", () => {
  expect(rankingOf([sharp, flat({})], descriptions)).toBeNull();
  expect(rankingOf([contender("bent", { [HESSIAN]: 10 }, { [HESSIAN]: 99 }), flat({})], descriptions)).toBeNull();
});

test("a measure that the bend moves past another network’s flips; one that stands still does not", () => {
  const ranking = rankingOf([sharp, flat({ [HESSIAN]: 2000, [LAYERWISE]: 5 })], descriptions);
  expect(ranking?.rows.map(({ rank }) => rank)).toEqual([
    { trained: 1, bent: 2 },
    { trained: 2, bent: 2 },
  ]);
  expect(ranking && saidOf(ranking)).toMatch(
    /no longer where it was by Hessian’s norm\. Its place stays by Layer-wise norm/,
  );
});

test("one that is invariant by theory and moves all the same is said to flip", () => {
  const ranking = rankingOf([sharp, flat({ [HESSIAN]: 2000, [LAYERWISE]: 2 })], descriptions);
  expect(ranking && saidOf(ranking)).toMatch(/by Hessian’s norm; Layer-wise norm\.$/);
});

test("a small bend flips nothing, and rounding does not either", () => {
  const small = rankingOf([sharp, flat({ [HESSIAN]: 9, [LAYERWISE]: 5 })], descriptions);
  expect(small && saidOf(small)).toMatch(/keeps its place by every measure/);
  const same = [
    contender("one", { [HESSIAN]: 2 }, { [HESSIAN]: 2 + 1e-9 }),
    contender("other", { [HESSIAN]: 2 + 1e-10 }),
  ];
  const level = rankingOf(same, descriptions);
  expect(level?.rows[0]?.rank).toEqual({ trained: 1, bent: 1 });
});

test("what is not known of all, or has no logarithm, is left out", () => {
  const ranking = rankingOf(
    [
      contender("other", { [HESSIAN]: 3, "hessian.trace": -1 }),
      contender(
        "own",
        { [HESSIAN]: 2, "hessian.trace": 4, [LAYERWISE]: 1 },
        { [HESSIAN]: 8, "hessian.trace": 9, [LAYERWISE]: 1 },
      ),
    ],
    descriptions,
  );
  expect(ranking?.rows.map(({ key }) => key)).toEqual([HESSIAN]);
});

test("the chart has each network’s mark in each row, and the one of the twin", () => {
  const ranking = rankingOf([sharp, flat({ [HESSIAN]: 2000, [LAYERWISE]: 5 })], descriptions);
  const chart = ranking && rankingChart(ranking, "As trained.");
  expect(chart?.keys.map(({ name }) => name)).toEqual(["sharp", "flat", "flat, rescaled"]);
  const columns = new Map(chart?.columns().map(({ name, values }) => [name, Array.from(values)]));
  expect(columns.get("trained")).toEqual([10, 2, 3, 5]);
  expect(columns.get("rescaled")).toEqual(["", 2000, "", 5]);
});
