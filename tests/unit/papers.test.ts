import { expect, test } from "vitest";
import { byPaper } from "../../www/src/papers";
import { DESCRIPTIONS, described } from "./states";

test("every measure stands under one paper, and papers without one are left out", () => {
  const groups = byPaper(DESCRIPTIONS);
  const keys = groups.flatMap(({ measures }) => measures.map(({ key }) => key));
  expect(keys.sort()).toEqual(DESCRIPTIONS.map(({ key }) => key).sort());
  expect(byPaper([described("loss")]).map(({ measures }) => measures.length)).toEqual([1]);
  const [sharpness] = byPaper([
    described("hessian.trace", { family: "curvature" }),
    described("epsilon_sharpness", { family: "sharpness" }),
  ]);
  expect(sharpness?.measures).toHaveLength(2);
});
