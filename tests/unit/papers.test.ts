import { expect, test } from "vitest";
import { byPaper, measureGroups } from "../../www/src/papers";
import { DESCRIPTIONS, described } from "./states";

test("what is quick is computed first, the Riemannian part of it apart, and each search by itself at the end", () => {
  const another = described("epsilon_sharpness_box", { family: "sharpness", cost: "search" });
  expect(measureGroups([...DESCRIPTIONS, another])).toEqual([
    ["loss", "hessian.trace", "petzka.rho_max", "path_norm_squared"],
    ["riemannian.layerwise_flat.spectral_norm"],
    ["hessian.frobenius_norm"],
    ["epsilon_sharpness"],
    ["epsilon_sharpness_box"],
  ]);
});

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
