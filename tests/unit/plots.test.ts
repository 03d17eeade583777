import { describe, expect, test } from "vitest";
import {
  densityOf,
  descriptionsOf,
  eigenvaluesOf,
  invarianceOf,
  landscapeOf,
  landscapesOf,
  measuresOf,
  namesOf,
} from "../../www/src/plots/given";

const grid = { s: [0, 1, 2], t: [0, 1], loss: [1, 2, 3, 4, 5, 6], center: 1 };

describe("a landscape that is given", () => {
  test("may be lists, with null for what is not finite", () => {
    const { loss, notFinite, center } = landscapeOf({ ...grid, loss: [null, 2, 3, 4, 5, 6] }, "landscape");
    expect([...loss]).toEqual([Number.NaN, 2, 3, 4, 5, 6]);
    expect([notFinite, center]).toEqual([1, 1]);
  });

  test("may be a beginning, of whole rows", () => {
    expect(landscapeOf({ ...grid, loss: [1, 2, 3] }, "landscape").loss).toHaveLength(3);
    for (const loss of [[], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6, 7, 8, 9]])
      expect(() => landscapeOf({ ...grid, loss }, "landscape")).toThrow(/^landscape: its loss has \d numbers/);
  });

  test("need not say the loss at the weights, which may be no number", () => {
    const { center: _, ...without } = grid;
    expect(landscapeOf(without, "landscape").center).toBeUndefined();
    expect(landscapeOf({ ...grid, center: null }, "landscape").center).toBeNaN();
  });

  test("keeps its way, and says where that is none", () => {
    const path = { s: [0, 1], t: [0, 1] };
    expect([...(landscapeOf({ ...grid, path }, "landscape").path?.s ?? [])]).toEqual([0, 1]);
    expect(() => landscapeOf({ ...grid, path: { s: 1 } }, "landscape")).toThrow("its path");
  });

  test("may be two lines, and not two grids", () => {
    const line = { s: [0, 1], t: [], loss: [1, 2] };
    expect(landscapesOf([line, line], "landscape")).toHaveLength(2);
    expect(landscapesOf([grid], "landscape")).toHaveLength(1);
    expect(() => landscapesOf([line, grid], "landscape")).toThrow("two are compared where they are lines");
    expect(() => landscapesOf([], "landscape")).toThrow("one landscape or two lines, and not 0");
  });

  test("has two points along what it has", () => {
    expect(() => landscapeOf({ s: [1], t: [], loss: [1] }, "landscape")).toThrow("at least 2 points");
    expect(() => landscapeOf({ s: [1, 2], t: [1], loss: [1, 2] }, "landscape")).toThrow("a grid has at least 2");
  });
});

describe("results that are given", () => {
  const ends = { top: [{ value: 1, residual: 0, converged: true }], bottom: [], products: 3, converged: true };

  test("are one, or two to compare, or none", () => {
    expect(eigenvaluesOf(ends, "eigenvalues")).toEqual([ends]);
    expect(eigenvaluesOf([ends, ends], "eigenvalues")).toEqual([ends, ends]);
    expect(eigenvaluesOf(null, "eigenvalues")).toBeNull();
    expect(() => eigenvaluesOf([ends, ends, ends], "eigenvalues")).toThrow("one result or two, and not 3");
    expect(() => eigenvaluesOf([], "eigenvalues")).toThrow("and not 0");
  });

  test("may have eigenvalues at one end alone", () => {
    const low = { ...ends, top: [], bottom: ends.top };
    expect(eigenvaluesOf(low, "eigenvalues")).toEqual([low]);
    expect(() => eigenvaluesOf({ ...ends, top: [] }, "eigenvalues")).toThrow("neither at the top nor at the bottom");
  });

  test("have no number where JSON has null", () => {
    const cell = {
      measure: "loss",
      transformation: 0,
      verdict: "unresolved",
      before: null,
      after: 1,
      relativeChange: null,
    };
    const { cells } = invarianceOf({ cells: [cell], transformations: [] }, "table");
    expect(cells[0]).toMatchObject({ before: Number.NaN, after: 1, relativeChange: Number.NaN });
    expect(() => invarianceOf({ cells: [{ ...cell, verdict: "maybe" }], transformations: [] }, "table")).toThrow(
      "cells",
    );
  });

  test("are what they are to be", () => {
    expect(() => eigenvaluesOf({ top: 1 }, "eigenvalues")).toThrow(
      /^eigenvalues: it is to be what engine\.eigenvalues/,
    );
    expect(() =>
      densityOf({ grid: [0, 1], density: [1], densityError: [0, 0], width: 1, dimension: 2 }, "density"),
    ).toThrow("1 numbers on a grid of 2");
    expect(() => invarianceOf({ cells: [{}], transformations: [] }, "table")).toThrow("engine.invariance");
    expect(() => descriptionsOf([{ key: "loss" }], "descriptions")).toThrow("describeMeasures()");
    expect(() => eigenvaluesOf({ ...ends, products: undefined }, "eigenvalues")).toThrow("with products");
    expect(() => eigenvaluesOf({ ...ends, top: [{ value: 1 }] }, "eigenvalues")).toThrow("lists of pairs");
    expect(() => measuresOf("loss", "measures")).toThrow(/^measures: they are to be a list of measures' keys/);
    expect(measuresOf(null, "measures")).toBeNull();
    for (const names of [["one"], ["one", 2], "two"])
      expect(() => namesOf(names, "names")).toThrow("names: they are to be two");
  });
});
