import { describe, expect, test } from "vitest";
import { caveat, EXPERIMENTS } from "../../www/src/spaces/experiments";
import {
  type Finding,
  gridFindings,
  HIGH_RATE,
  LOW_RATE,
  lowHighFindings,
  RATES,
  rateFindings,
  rescaledFindings,
  VALUES,
} from "../../www/src/spaces/findings";
import { ended } from "../../www/src/spaces/kept";
import { keyOf, METHODS, type MethodId, orderOf, type Run, run } from "../../www/src/spaces/methods";
import { LEAST_SEEDS } from "../../www/src/spaces/paired";
import { begun, type Curve, GUESSING, learns, Results } from "../../www/src/spaces/results";
import {
  type ExperimentId,
  LIMITS,
  LONGER,
  QUICK,
  spacesOf,
  spacesText,
  unlikeThesis,
} from "../../www/src/spaces/settings";
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
    expect(results([[fast, [curve([0.5, Number.NaN])]]]).best(fast)).toBe(0.5);
    expect(results([[fast, [curve([Number.NaN])]]]).best(fast)).toBe(Number.POSITIVE_INFINITY);
  });

  test("the winner has the lowest finite loss", () => {
    const found = results([
      [fast, [curve([], "diverged")]],
      [slow, [curve([0.5])]],
    ]);
    expect(found.winner([fast, slow])).toEqual({ run: slow, loss: 0.5 });
    expect(found.winner([fast])).toBeUndefined();
  });

  test("the leader is the winner, and where none is finite what diverged least often", () => {
    const [always, once] = [curve([], "diverged"), curve([0.5])];
    const found = results(
      [
        [fast, [always, always]],
        [slow, [always, once]],
      ],
      2,
    );
    expect(found.winner([fast, slow])).toBeUndefined();
    expect(found.leader([fast, slow])).toBe(slow);
    expect(found.losses(slow)).toEqual([Number.POSITIVE_INFINITY, 0.5]);
    // One that never diverged leads, though the other's mean is less if divergence counts as no more than 10.
    const steady = results(
      [
        [fast, [curve([6]), curve([6])]],
        [slow, [always, once]],
      ],
      2,
    );
    expect(steady.leader([fast, slow])).toBe(fast);
  });

  test("are complete when every initialisation has come to an end of its own", () => {
    const one = results([[fast, [curve([1])]]], 2);
    expect(one.complete([fast])).toBe(false);
    expect(results([[fast, [curve([1]), curve([], "diverged")]]], 2).complete([fast])).toBe(true);
    expect(results([[fast, [curve([1]), curve([1], "stopped")]]], 2).complete([fast])).toBe(false);
  });

  test("a run explodes where it diverges, or where a training loss on the way is beyond that of guessing", () => {
    const trained = (...losses: number[]): Curve => ({
      points: losses.map((loss, index) => ({ key: "", epoch: index + 1, loss, validationLoss: GUESSING })),
      end: "done",
    });
    const all = [trained(2.4, 40, 2.3), trained(2.4, 4, 2.3), trained(Number.NaN), curve([], "diverged"), curve([99])];
    expect(results([[fast, all]], 6).explosions(fast)).toEqual([true, false, true, true, false, false]);
  });

  test("guessing is not learning", () => {
    expect([learns(GUESSING / 2), learns(1), learns(undefined)]).toEqual([false, true, false]);
    expect([begun(GUESSING), begun(2)]).toEqual([false, true]);
  });
});

/** Seed by seed. */
type Losses = readonly number[];
const LOST = Number.POSITIVE_INFINITY;
const curveOf = (loss: number): Curve => (Number.isFinite(loss) ? curve([loss]) : curve([], "diverged"));
const made = (runs: [Run, Losses][]): Results =>
  new Results(new Map(runs.map(([of, losses]) => [keyOf(of), losses.map(curveOf)])), runs[0]?.[1].length ?? 0);

const USUAL: Losses = [0.3, 0.31, 0.29];
/** So many times the usual losses, with a per cent of chance in it. */
const about = (times: number): Losses => USUAL.map((loss, seed) => loss * times * ([1, 1.01, 0.99][seed] ?? 1));
/** Now far better than those, and now far worse. */
const UNSURE = [0.1, 0.3, 0.9];
const NOTHING = [GUESSING, GUESSING, GUESSING];

const METHOD_IDS = Object.keys(METHODS) as MethodId[];
/** Methods at their best rate, 0.01; at the others they learn nothing, or diverge where they do at the best. Those not named are alike. */
const bests = (losses: Partial<Record<MethodId, Losses>>): Results =>
  made(
    METHOD_IDS.flatMap((method) => {
      const own = losses[method] ?? USUAL;
      const elsewhere = own.includes(LOST) ? own : NOTHING;
      return RATES.map((rate): [Run, Losses] => [run(method, rate), rate === 0.01 ? own : elsewhere]);
    }),
  );

/** By the number of rates at which they learn, seed by seed; each as well as any other where it does. */
const counts = (learning: Partial<Record<MethodId, Losses>>): Results =>
  made(
    METHOD_IDS.flatMap((method) =>
      RATES.map((rate, index): [Run, Losses] => [
        run(method, rate),
        [0, 1, 2].map((seed) => (index < (learning[method]?.[seed] ?? 3) ? (USUAL[seed] ?? 0) : GUESSING)),
      ]),
    ),
  );

/** By the number of rates at which they explode, seed by seed: half of them diverge, the others come back to guessing. Others never do. */
const explosions = (exploding: Partial<Record<MethodId, Losses>>): Results => {
  const peak: Curve = { points: [{ key: "", epoch: 1, loss: 40, validationLoss: GUESSING }], end: "done" };
  const runs = METHOD_IDS.flatMap((method) => RATES.map((rate, index) => ({ of: run(method, rate), index })));
  const curvesOf = ({ of, index }: (typeof runs)[number]): Curve[] =>
    [0, 1, 2].map((seed) => {
      const isOver = index < (exploding[of.method]?.[seed] ?? 0);
      return isOver ? (index % 2 === 0 ? curveOf(LOST) : peak) : curveOf(GUESSING);
    });
  return new Results(new Map(runs.map((each) => [keyOf(each.of), curvesOf(each)])), 3);
};

const lowHigh = (losses: Partial<Record<MethodId, [low: Losses, high: Losses]>>): Results =>
  made(
    METHOD_IDS.flatMap((method): [Run, Losses][] => {
      const [low, high] = losses[method] ?? [USUAL, USUAL];
      return [
        [run(method, LOW_RATE), low],
        [run(method, HIGH_RATE), high],
      ];
    }),
  );

/** Fixed SGD by its value's place in the list: where its best rate is in theirs, and the losses there. */
const grid = (best: (value: number) => number, losses: (value: number) => Losses = () => USUAL): Results =>
  made(
    VALUES.flatMap((value, index) =>
      RATES.map((rate, at): [Run, Losses] => [
        run("fixed_sgd", rate, value),
        at === best(index) ? losses(index) : NOTHING,
      ]),
    ),
  );

/** Of every experiment, finding by finding in their order: results that were made up to come out so. */
const CASES: Record<ExperimentId, Partial<Record<Finding["verdict"], Results[]>>[]> = {
  rates: [
    {
      agrees: [counts({ sgd: [2, 2, 2], g_sgd: [4, 4, 4], fixed_sgd: [5, 4, 5] })],
      // One that cares less does not make up for one that cares more.
      differs: [
        counts({ sgd: [4, 4, 4], g_sgd: [2, 2, 2], fixed_sgd: [5, 5, 5] }),
        counts({ sgd: [4, 4, 4], g_sgd: [5, 5, 5], fixed_sgd: [2, 2, 2] }),
      ],
      "cannot say": [counts({ sgd: [3, 3, 3], g_sgd: [4, 5, 2], fixed_sgd: [5, 5, 5] }), counts({})],
    },
    {
      agrees: [bests({}), bests({ g_sgd: about(2), g_adam: about(3) })],
      differs: [bests({ g_sgd: about(0.6) }), bests({ g_adam: about(0.6) })],
      "cannot say": [bests({ g_sgd: UNSURE }), bests({ g_sgd: about(0.9) })],
    },
    {
      agrees: [bests({ g_adam: about(1.5) }), bests({ g_adam: [LOST, LOST, LOST] })],
      differs: [bests({ g_adam: about(1.5), sgd: about(2) })],
      "cannot say": [bests({ g_adam: UNSURE }), bests({})],
    },
    {
      agrees: [bests({ fixed_sgd: about(0.85) })],
      differs: [bests({ fixed_sgd: about(1.1) }), bests({ fixed_sgd: about(0.3) })],
      "cannot say": [
        bests({ fixed_sgd: UNSURE }),
        bests({ fixed_sgd: NOTHING, sgd: NOTHING }),
        bests({ sgd: NOTHING }),
      ],
    },
    {
      agrees: [bests({ fixed_adam: about(1.2) })],
      differs: [bests({ fixed_adam: about(0.9) }), bests({ fixed_adam: about(3) })],
      "cannot say": [bests({ fixed_adam: UNSURE }), bests({})],
    },
    {
      agrees: [bests({ fixed_sgd: about(0.85) })],
      differs: [
        bests({ fixed_sgd: about(0.3) }),
        bests({ fixed_sgd: about(1.2) }),
        counts({ fixed_sgd: [5, 5, 5], g_sgd: [1, 1, 1] }),
      ],
      "cannot say": [bests({ fixed_sgd: UNSURE }), counts({ fixed_sgd: [5, 3, 4], g_sgd: [3, 3, 3] })],
    },
  ],
  low_high: [
    {
      agrees: [lowHigh({ g_sgd: [about(0.5), about(1)] })],
      differs: [lowHigh({}), lowHigh({ g_sgd: [about(2), about(1)] })],
      "cannot say": [
        lowHigh({ g_sgd: [UNSURE, about(1)] }),
        lowHigh({ g_sgd: [NOTHING, about(1)], sgd: [NOTHING, about(1)] }),
      ],
    },
    {
      agrees: [
        lowHigh({ adam: [about(1), about(2)], sgd: [about(2), about(1)] }),
        lowHigh({ adam: [about(1), [LOST, LOST, LOST]], sgd: [NOTHING, about(1)] }),
      ],
      differs: [
        lowHigh({ sgd: [about(2), about(1)] }),
        lowHigh({ adam: [about(1), about(2)], sgd: [about(1), about(2)] }),
      ],
      "cannot say": [
        lowHigh({ adam: [about(1), UNSURE], sgd: [about(2), about(1)] }),
        lowHigh({ adam: [about(1), about(2)], sgd: [NOTHING, NOTHING] }),
        lowHigh({
          adam: [about(1), about(2)],
          sgd: [
            [LOST, LOST, LOST],
            [LOST, LOST, LOST],
          ],
        }),
      ],
    },
  ],
  kept: [
    {
      agrees: [bests({ fixed_sgd: about(0.7), fixed_sgd_kept: about(1.1) })],
      differs: [bests({ fixed_sgd: about(0.7), fixed_sgd_kept: about(0.7) }), bests({ fixed_sgd: about(1.3) })],
      "cannot say": [bests({ fixed_sgd: about(0.7), fixed_sgd_kept: UNSURE }), bests({ fixed_sgd: UNSURE })],
    },
    {
      "the ones": [bests({ g_sgd: about(0.5), g_sgd_kept: about(1) })],
      "the space": [bests({ g_sgd: about(0.5), g_sgd_kept: about(0.6) })],
      "cannot say": [
        bests({ g_sgd: about(0.5), g_sgd_kept: UNSURE }),
        // The ones help, and whether the space does is at the limit.
        bests({ g_sgd: about(0.5), g_sgd_kept: about(0.9) }),
        bests({ g_sgd: UNSURE, g_sgd_kept: about(0.5) }),
        // Nothing helps, whatever the skeleton is.
        bests({ g_sgd: about(1.5), g_sgd_kept: about(2) }),
      ],
    },
  ],
  rescaled: [
    {
      agrees: [
        explosions({ fixed_sgd_rescaled: [5, 5, 5] }),
        explosions({ fixed_sgd_rescaled: [5, 4, 5], sgd: [1, 1, 1] }),
      ],
      differs: [
        explosions({}),
        explosions({ fixed_sgd_rescaled: [5, 5, 5], sgd: [5, 5, 5] }),
        explosions({ fixed_sgd_rescaled_distance: [5, 5, 5] }),
      ],
      // Two rates more could be one, and one is no more than the rates are apart.
      "cannot say": [explosions({ fixed_sgd_rescaled: [5, 0, 3] }), explosions({ fixed_sgd_rescaled: [2, 2, 2] })],
    },
    {
      agrees: [explosions({ fixed_sgd_rescaled_distance: [3, 3, 3] })],
      differs: [explosions({}), explosions({ fixed_sgd_rescaled: [5, 5, 5], fixed_sgd_rescaled_factors: [5, 5, 5] })],
      "cannot say": [
        explosions({ fixed_sgd_rescaled_distance: [4, 1, 2] }),
        explosions({ fixed_sgd_rescaled_distance: [3, 3, 3], sgd: [1, 1, 1] }),
      ],
    },
  ],
  grid: [
    {
      agrees: [grid((value) => Math.floor(value / 2))],
      differs: [grid((value) => 2 - Math.floor(value / 2))],
      // One step at one value, at every seed alike: the rates are too coarse for that to be a slope.
      "cannot say": [
        grid(() => 1),
        grid((value) => (value < 5 ? 1 : 2)),
        grid((value) => (value < 2 ? 1 : RATES.length)),
      ],
    },
    {
      agrees: [grid(() => 1)],
      differs: [
        grid(
          () => 1,
          (value) => about(value === 3 ? 0.5 : 1),
        ),
      ],
      "cannot say": [
        grid(
          () => 1,
          (value) => (value === 0 ? about(1) : value === 1 ? [0.1, 0.2, 1.5] : about(4)),
        ),
        grid((value) => (value === 0 ? 1 : RATES.length)),
      ],
    },
  ],
};

const EXPERIMENT_IDS = Object.keys(CASES) as ExperimentId[];
const findingsOf = (id: ExperimentId, results: Results) => EXPERIMENTS[id].findings(results);
const all = EXPERIMENT_IDS.flatMap((id) =>
  CASES[id].flatMap((verdicts, index) =>
    (Object.entries(verdicts) as [Finding["verdict"], Results[]][]).flatMap(([verdict, cases]) =>
      cases.map((results) => ({ id, index, verdict, results })),
    ),
  ),
);

describe("findings", () => {
  test("all have results that come out as each of their verdicts", () => {
    for (const id of EXPERIMENT_IDS) {
      expect(CASES[id]).toHaveLength(findingsOf(id, made([])).length);
      for (const [index, verdicts] of CASES[id].entries()) {
        const isOpen = id === "kept" && index === 1;
        const possible = isOpen ? ["cannot say", "the ones", "the space"] : ["agrees", "cannot say", "differs"];
        expect(Object.keys(verdicts).sort()).toEqual(possible);
      }
    }
  });

  test.each(all)("$id, finding $index: $verdict", ({ id, index, verdict, results }) => {
    const found = findingsOf(id, results)[index];
    expect(found?.verdict, found?.here).toBe(verdict);
    expect(found?.here).toMatch(verdict === "cannot say" ? /./ : /\d to \S+; claimed: (more|less) than|between/);
  });

  test("decide nothing by fewer than three seeds, and say how many are needed", () => {
    for (const { id, index, verdict, results } of all) {
      if (verdict === "cannot say") continue;
      for (const seeds of [1, 2]) {
        const fewer = new Results(
          new Map([...results.curves].map(([key, curves]) => [key, curves.slice(0, seeds)])),
          seeds,
        );
        const found = findingsOf(id, fewer)[index];
        expect(found?.verdict).toBe("cannot say");
        expect(found?.here).toMatch(/(one seed|two seeds) only, 3 are needed/);
      }
    }
  });

  test("say by how much, and within which bounds", () => {
    expect(rateFindings(bests({ fixed_sgd: about(0.85) }))[3]?.here).toBe(
      "Fixed SGD has 0.85 times the loss of SGD (0.83 to 0.87; claimed: between 0.67 and 1)",
    );
    expect(rateFindings(counts({ sgd: [2, 2, 2], g_sgd: [1, 1, 1] }))[0]?.here).toMatch(
      /^G-SGD learns at 1 of 5 rates and SGD at 2: 1 fewer \(−1.7 to −0.28; claimed: more than 0\); /,
    );
    expect(rescaledFindings(explosions({ fixed_sgd_rescaled: [5, 5, 5] }))[0]?.here).toMatch(
      /^Fixed SGD, rescaled explodes at 5 of 5 rates and SGD at 0: 5 more \(4.3 to 5.7; claimed: more than 1.5\)$/,
    );
    expect(gridFindings(grid((value) => Math.floor(value / 2)))[0]?.here).toMatch(
      /^for ten times the value the best rate is 0.0\d+ times as large \(/,
    );
  });

  test("say where runs diverged, and of how many seeds they are", () => {
    const found = lowHighFindings(lowHigh({ g_sgd: [[0.3, LOST, 0.3], about(1)], sgd: [[0.6, LOST, 0.6], about(1)] }));
    expect(found[0]).toMatchObject({ verdict: "cannot say" });
    expect(found[0]?.here).toMatch(/two seeds only, 3 are needed.*diverged runs count as a loss of 10/);
  });

  test("compare methods at one rate for all seeds, that of the lowest mean", () => {
    // The best of each seed would be half of SGD's; no rate is that good at all of them.
    const lucky = RATES.map((rate, index): [Run, Losses] => [
      run("fixed_sgd", rate),
      [0, 1, 2].map((seed) => about(index === seed ? 0.5 : 1.5)[seed] ?? 0),
    ]);
    const others = [...bests({}).curves].filter(([key]) => !key.startsWith("fixed_sgd "));
    const results = new Results(new Map([...others, ...made(lucky).curves]), 3);
    expect(rateFindings(results)[3]?.verdict).toBe("cannot say");
  });

  test("a reader is warned while SGD has not begun to learn", () => {
    expect(caveat("rates", bests({ sgd: NOTHING }))).toMatch(/hardly begun/);
    expect(caveat("rates", bests({}))).toBe("");
    expect(caveat("grid", made([]))).toBe("");
  });
});

describe("settings", () => {
  test("that are offered have as many runs as a verdict needs, and can be set by hand", () => {
    for (const setting of [QUICK, LONGER]) {
      expect(setting.repeats).toBeGreaterThanOrEqual(LEAST_SEEDS);
      for (const [key, [least, most]] of Object.entries(LIMITS)) {
        expect(setting[key as keyof typeof setting]).toBeGreaterThanOrEqual(least);
        expect(setting[key as keyof typeof setting]).toBeLessThanOrEqual(most);
      }
    }
  });

  test("are never the thesis' own, however long: the page has too few test images", () => {
    const largest = { ...LONGER, epochs: 150, repeats: 10, testImages: LIMITS.testImages[1] };
    expect(unlikeThesis({ experiment: "rates", setting: largest })).toEqual({
      thesis: ["10\u202f000 test images"],
      here: ["2\u202f000 test images"],
    });
    const { thesis, here } = unlikeThesis({ experiment: "grid", setting: { ...largest, epochs: 1, repeats: 1 } });
    expect(thesis.slice(1)).toEqual(["20 epochs", "5 runs of each kind"]);
    expect(here.slice(1)).toEqual(["1 epoch", "1 run of each kind"]);
  });

  test("of every experiment are in its address", () => {
    for (const experiment of EXPERIMENT_IDS) {
      const choice = { experiment, setting: { ...QUICK, epochs: 7 } };
      expect(spacesOf(spacesText(choice))).toEqual(choice);
    }
  });

  test("of an older address, with one run of each kind, are still opened", () => {
    const setting = { images: 12000, testImages: 1000, batch: 64, epochs: 3, seed: 1, repeats: 1 };
    expect(spacesOf("grid-12000-1000-64-3-1-1")).toEqual({ experiment: "grid", setting });
    expect(spacesOf(spacesText({ experiment: "rates", setting }))).toEqual({ experiment: "rates", setting });
  });
});

test("no experiment runs the same thing twice", () => {
  for (const { runs } of Object.values(EXPERIMENTS)) {
    expect(new Set(runs.map(keyOf)).size).toBe(runs.length);
  }
});

test("an order sets the fixed weights, or keeps them as they were drawn", () => {
  expect(orderOf(run("sgd", 0.1), "a").space).toEqual({ type: "weights" });
  expect(orderOf(run("g_sgd", 0.1, 3), "a").space).toEqual({ type: "g_space", values: { set: 3 }, tree: { set: 1 } });
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

  test("along one function arrows point down, across it, and are as long as gradients are", () => {
    for (const toy of [TOYS.product, TOYS.dinh]) {
      const [begin] = toy.sameFunction.line;
      for (const { at, minusGradient } of toy.sameFunction.downhill) {
        const [x, y] = at;
        expect(toy.loss(x, y)).toBeCloseTo(toy.loss(...(begin ?? at)), 12);
        const h = 1e-6;
        const slopes = [toy.loss(x + h, y) - toy.loss(x - h, y), toy.loss(x, y + h) - toy.loss(x, y - h)];
        for (const [index, slope] of slopes.entries()) expect(minusGradient[index]).toBeCloseTo(-slope / (2 * h), 6);
        // The line's own direction is (x, −y).
        expect(minusGradient[0] * x - minusGradient[1] * y).toBeCloseTo(0, 12);
      }
    }
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
