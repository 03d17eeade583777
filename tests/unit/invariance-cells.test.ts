import type { InvarianceCell, MeasureDescription } from "isoflat";
import { describe, expect, test } from "vitest";
import { csvOf } from "../../www/src/figures/columns";
import { invarianceFigure } from "../../www/src/figures/invariance";
import { type Check, checkOf, marksOf, nameOf, tableOf, ticksOf } from "../../www/src/invariance-cells";
import { INFO, state } from "./states";

const cell = (change: Partial<InvarianceCell> = {}): InvarianceCell => ({
  measure: "loss",
  transformation: 0,
  before: 1,
  after: 1,
  relativeChange: 0,
  expected: "invariant",
  verdict: "invariant",
  agrees: true,
  tolerance: 1e-12,
  reason: "rounding",
  ...change,
});

const checked = (cells: InvarianceCell[]) =>
  state({
    invariance: { transformations: [{ type: "layerwise", lambda: [2, 0.5] }], cells, backend: INFO },
    checkChoice: {
      range: 10,
      searches: false,
      transformations: [{ type: "layerwise", lambda: [2, 0.5] }],
      keys: ["loss", "hessian.trace"],
    },
  });

describe("what colours a cell", () => {
  const heat = (relativeChange: number, precision: "f32" | "f64" = "f64") =>
    marksOf(cell({ relativeChange }), precision).heat;

  test("runs from the engine's rounding to a thousandfold, and no further", () => {
    expect([heat(0), heat(1e-16), heat(1e3), heat(1e9)]).toEqual([0, 0, 1, 1]);
    expect(heat(1e-8)).toBeCloseTo(8 / 19);
    expect([heat(1e-8, "f32"), heat(1e3, "f32")]).toEqual([0, 1]);
  });

  test("is coldest where there is no number", () => {
    expect(heat(Number.NaN)).toBe(0);
  });

  test("has its numbers along it where the colours are", () => {
    const ticks = ticksOf("f64");
    expect(ticks.map(({ text }) => text)).toEqual(["10⁻¹⁶", "10⁻⁸", "1", "10³"]);
    expect(ticks.map(({ at }) => at)).toEqual([0, heat(1e-8), heat(1), 1]);
  });
});

describe("what marks a cell", () => {
  test("says what theory says, what was found, and whether the two part", () => {
    expect(marksOf(cell(), "f64")).toMatchObject({ symbol: "=", shouldStand: true, isAgainst: false });
    const moved = cell({ verdict: "changed", agrees: false, relativeChange: 0.3 });
    expect(marksOf(moved, "f64")).toMatchObject({ symbol: "≠", change: "0.30", shouldStand: true, isAgainst: true });
    const free = cell({ verdict: "unresolved", expected: "changes" });
    expect(marksOf(free, "f64")).toMatchObject({ symbol: "?", shouldStand: false, isAgainst: false });
  });
});

describe("the table", () => {
  test("is none before a check", () => {
    expect(checkOf(state())).toBeNull();
    expect(invarianceFigure(state())).toBeNull();
  });

  test("has a row for all that is checked, the outputs first, and cells that are there", () => {
    const table = tableOf(checkOf(checked([cell()])) as Check);
    expect(table.groups.map(({ measures }) => measures)).toEqual([["outputs", "loss"], ["hessian.trace"]]);
    expect([...table.cells.keys()]).toEqual([nameOf({ measure: "loss", transformation: 0 })]);
  });

  test("has rows for what has cells, where nobody says which there will be, and papers where they are known", () => {
    const cells = [cell({ measure: "hessian.trace" }), cell({ measure: "outputs" })];
    const table = { transformations: [], cells };
    const titled = (descriptions: MeasureDescription[]) =>
      tableOf({ table, measures: null, descriptions }).groups.map(({ title, measures }) => [title, ...measures]);
    expect(titled([])).toEqual([["", "hessian.trace", "outputs"]]);
    const [described] = titled(state().descriptions.filter(({ key }) => key === "hessian.trace"));
    expect(described?.[0]).toContain("Dinh");
    expect(described?.slice(1)).toEqual(["hessian.trace"]);
  });

  test("is as high on paper as its rows are, whether or not they are there", () => {
    const [one, all] = [[cell()], [cell(), cell({ measure: "outputs" }), cell({ measure: "hessian.trace" })]].map(
      (cells) => invarianceFigure(checked(cells)),
    );
    expect(one?.drawing?.height).toBe(all?.drawing?.height);
    expect(one?.drawing?.keys?.map(({ name }) => name)).toContain("still to come");
    expect(all?.drawing?.keys?.map(({ name }) => name)).not.toContain("still to come");
    const unknown = invarianceFigure(checked([cell({ verdict: "changed", agrees: false })]));
    expect(all?.drawing?.keys).toHaveLength(2);
    expect(unknown?.drawing?.keys?.map(({ name }) => name)).toEqual([
      "changes",
      "should stand still, says theory",
      "against theory",
      "still to come",
    ]);
  });

  test("has a row for each cell as numbers, in full", () => {
    const figure = invarianceFigure(checked([cell({ after: 1 + 2 ** -52, relativeChange: 2 ** -52 })]));
    expect(csvOf(figure?.columns() ?? []).split("\r\n")[1]).toBe(
      "loss,loss,layer-wise,1,1.0000000000000002,2.220446049250313e-16,1e-12,invariant,invariant,true",
    );
  });
});
