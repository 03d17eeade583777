import { expect, test } from "vitest";
import { byPaper } from "../../www/src/papers";
import { pieces, plain } from "../../www/src/subscripts";
import { DESCRIPTIONS } from "./states";

const marked = (text: string): string =>
  pieces(text)
    .map((piece) => (typeof piece === "string" ? piece : `${piece.base}<${piece.sub}>`))
    .join("");

test("subscripts are told from the line", () => {
  expect(marked("Petzka’s κ_τ (trace), sum")).toBe("Petzka’s κ<τ> (trace), sum");
  expect(marked("κ_τ")).toBe("κ<τ>");
  expect(marked("Sum over the layers of κ_τ: ‖W_l‖² times …")).toBe("Sum over the layers of κ<τ>: ‖W<l>‖² times …");
  expect(marked("Σ ⟨w_s, w_s'⟩ Tr H_(s, s') is θ_12.")).toBe("Σ ⟨w<s>, w<s>'⟩ Tr H<s, s'> is θ<12>.");
});

test("and are words of their own where there is no place for them", () => {
  expect(plain("κ_τ of layer 1, H_(s, s')")).toBe("κτ of layer 1, H(s, s')");
});

test("names stay as they are", () => {
  for (const name of [
    "batch_norm",
    "a_b.json",
    "data/x_1.npy",
    "layer_1",
    "petzka.kappa_tau",
    "__x_y",
    "f_1_2",
    "no",
  ]) {
    expect(pieces(name)).toEqual([name]);
    expect(plain(name)).toBe(name);
  }
  expect(pieces("")).toEqual([]);
});

test("what the page says of a paper has none left on the line", () => {
  for (const { paper } of byPaper(DESCRIPTIONS)) {
    for (const piece of pieces(paper.about)) if (typeof piece === "string") expect(piece).not.toMatch(/\p{L}_\p{L}/u);
  }
});
