import { describe, expect, test } from "vitest";
import { caveat, EXPERIMENTS } from "../../www/src/spaces/experiments";
import { gridFindings, RATES, rateFindings, VALUES } from "../../www/src/spaces/findings";
import { ended } from "../../www/src/spaces/kept";
import { keyOf, type MethodId, orderOf, run } from "../../www/src/spaces/methods";
import { begun, type Curve, GUESSING, learns, Results } from "../../www/src/spaces/results";
import { QUICK } from "../../www/src/spaces/settings";
import { SmallNetwork } from "../../www/src/spaces/skeleton";
import { STEPS, TOYS } from "../../www/src/spaces/toy";

const curve = (losses: number[], end: Curve["end"] = "done"): Curve => ({
  points: losses.map((validationLoss, index) => ({ key: "", epoch: index + 1, loss: 0, validationLoss })),
  end,
});

describe("Results", () => {
  const [fast, slow] = [run("sgd", 0.1), run("sgd", 0.001)];
  const results = (curves: [typeof fast, Curve[]][], repeats = 1) =>
    new Results(new Map(curves.map(([of, list]) => [keyOf(of), list])), repeats);

  test("count the best epoch of each run, averaged over the initialisations", () => {
    expect(results([[fast, [curve([3, 1, 2]), curve([5, 4])]]], 2).best(fast)).toBe(2.5);
    expect(results([]).best(fast)).toBeUndefined();
  });

  test("take a run that has blown up for infinitely bad", () => {
    expect(results([[fast, [curve([], "diverged")]]]).best(fast)).toBe(Number.POSITIVE_INFINITY);
    expect(results([[fast, [curve([40, 11])]]]).best(fast)).toBe(Number.POSITIVE_INFINITY);
    expect(results([[fast, [curve([], "running")]]]).best(fast)).toBeUndefined();
  });

  test("the winner has the lowest finite loss", () => {
    const found = results([
      [fast, [curve([], "diverged")]],
      [slow, [curve([0.5])]],
    ]);
    expect(found.winner([fast, slow])).toEqual({ run: slow, loss: 0.5 });
    expect(found.winner([fast])).toBeUndefined();
  });

  test("are complete when every initialisation has come to an end of its own", () => {
    const one = results([[fast, [curve([1])]]], 2);
    expect(one.complete([fast])).toBe(false);
    expect(results([[fast, [curve([1]), curve([], "diverged")]]], 2).complete([fast])).toBe(true);
    expect(results([[fast, [curve([1]), curve([1], "stopped")]]], 2).complete([fast])).toBe(false);
  });

  test("guessing is not learning", () => {
    expect([learns(GUESSING / 2), learns(1), learns(undefined)]).toEqual([false, true, false]);
    expect([begun(GUESSING), begun(2)]).toEqual([false, true]);
  });
});

describe("findings", () => {
  const all = (losses: Partial<Record<MethodId, number[]>>) =>
    new Results(
      new Map(
        Object.entries(losses).flatMap(([method, values]) =>
          values.map((loss, index) => [keyOf(run(method as MethodId, RATES[index] ?? 0)), [curve([loss])]] as const),
        ),
      ),
      1,
    );

  test("follow the numbers: who learns at more rates cares less about the rate", () => {
    const robust = { g_sgd: [0.2, 0.2, 0.2, 0.2, 2.3], fixed_sgd: [0.2, 0.2, 0.2, 0.2, 0.2] };
    const [agreeing] = rateFindings(all({ sgd: [0.1, 0.2, 2.3, 2.3, 2.3], ...robust }));
    expect(agreeing?.agrees).toBe(true);
    expect(agreeing?.here).toMatch(/at 2 of 5 rates with SGD, 4 with G-SGD, 5 with Fixed SGD/);
    const [disagreeing] = rateFindings(all({ sgd: [0.1, 0.1, 0.1, 0.1, 0.1], ...robust }));
    expect(disagreeing?.agrees).toBe(false);
  });

  test("the larger the fixed value, the smaller its best rate", () => {
    const grid = (best: (index: number) => number) =>
      new Results(
        new Map(
          VALUES.flatMap((value, index) =>
            RATES.map((rate, at) => [keyOf(run("fixed_sgd", rate, value)), [curve([at === best(index) ? 0.1 : 1])]]),
          ),
        ),
        1,
      );
    expect(gridFindings(grid((index) => Math.floor(index / 2)))[0]?.agrees).toBe(true);
    expect(gridFindings(grid((index) => 2 - Math.floor(index / 2)))[0]?.agrees).toBe(false);
  });

  test("a reader is warned while SGD has not begun to learn", () => {
    expect(caveat("rates", all({ sgd: [2.3] }))).toMatch(/hardly begun/);
    expect(caveat("rates", all({ sgd: [0.3] }))).toBe("");
    expect(caveat("grid", all({}))).toBe("");
  });
});

test("no experiment runs the same thing twice", () => {
  for (const { runs } of Object.values(EXPERIMENTS)) {
    expect(new Set(runs.map(keyOf)).size).toBe(runs.length);
  }
  expect(QUICK.repeats).toBe(1);
});

test("an order sets the fixed weights, or keeps them as they were drawn", () => {
  expect(orderOf(run("sgd", 0.1), "a").space).toEqual({ type: "weights" });
  expect(orderOf(run("g_sgd", 0.1, 3), "a").space).toEqual({ type: "g_space", values: { set: 3 } });
  expect(orderOf(run("fixed_sgd_kept", 0.1, 3), "a")).toEqual({
    key: "a",
    space: { type: "weight_fixing", values: "keep" },
    optimizer: { type: "sgd", learningRate: 0.1 },
  });
});

describe("SmallNetwork", () => {
  // 2-3-2-1, with weights that are all different.
  const widths = [2, 3, 2, 1];
  const weights = [1, 2, 3].map((layer) =>
    Array.from({ length: widths[layer] ?? 0 }, (_, to) =>
      Array.from({ length: widths[layer - 1] ?? 0 }, (_, from) => 1 + layer + 0.1 * to + 0.01 * from),
    ),
  );
  const network = new SmallNetwork(widths, weights);

  test("fixes one outgoing weight of every hidden unit", () => {
    expect(network.parameterCount).toBe(2 * 3 + 3 * 2 + 2);
    expect(network.fixedCount).toBe(3 + 2);
  });

  test("a path goes from an input to an output through its free weight", () => {
    for (const edge of network.edges().filter((each) => !network.isFixed(each))) {
      const path = network.path(edge);
      expect(path.map(({ layer }) => layer)).toEqual([0, 1, 2]);
      expect(path).toContainEqual(edge);
      for (const [index, { to }] of path.slice(0, -1).entries()) expect(path[index + 1]?.from).toBe(to);
    }
  });

  test("no rescaling of a hidden unit changes a path value, though it changes weights", () => {
    const rescaled = network.rescaled(1, 2, 5).rescaled(2, 0, 0.25);
    expect(rescaled.weight({ layer: 0, from: 1, to: 2 })).toBeCloseTo(5 * network.weight({ layer: 0, from: 1, to: 2 }));
    for (const edge of network.edges()) expect(rescaled.pathValue(edge)).toBeCloseTo(network.pathValue(edge), 12);
  });
});

describe("toys", () => {
  const losses = (along: number, place: string) =>
    TOYS.product
      .descents({ rate: 0.1, along, fixed: 1 })
      .find((descent) => descent.place === place)
      ?.steps.map(({ loss }) => loss);

  test("along the same function the G-space descends alike, and the weights do not", () => {
    const [here, there] = [losses(1, "g_space"), losses(2, "g_space")];
    expect(here).toHaveLength(STEPS + 1);
    for (const [index, loss] of here?.entries() ?? []) expect(there?.[index]).toBeCloseTo(loss, 12);
    expect(losses(2, "weights")?.[0]).toBeCloseTo(losses(1, "weights")?.[0] ?? Number.NaN, 12);
    expect(losses(2, "weights")?.[1]).not.toBeCloseTo(losses(1, "weights")?.[1] ?? Number.NaN, 3);
  });

  test("a descent's points lie where its losses are", () => {
    const knobs = { rate: 0.05, along: 1.3, fixed: 1 };
    for (const { steps } of TOYS.dinh.descents(knobs)) {
      for (const { at, loss } of steps) if (at) expect(TOYS.dinh.loss(...at)).toBeCloseTo(loss, 12);
    }
  });
});

describe("Runs that are kept", () => {
  test("do not go on after a reload: what was running was stopped", () => {
    const curves = new Map([["sgd 1 1", [curve([1]), curve([], "running")]]]);
    expect(
      ended(curves)
        .get("sgd 1 1")
        ?.map(({ end }) => end),
    ).toEqual(["done", "stopped"]);
  });
});
