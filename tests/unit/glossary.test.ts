import { expect, test } from "vitest";
import { GLOSSARY, termsIn, withTerms } from "../../www/src/glossary";

test("a term is found where it first stands, as the text spells it", () => {
  expect(withTerms("The Hessian, and the Hessian again.")).toEqual([
    "The ",
    { id: "hessian", text: "Hessian" },
    ", and the Hessian again.",
  ]);
  expect(withTerms("Nothing to explain.")).toEqual(["Nothing to explain."]);
});

test("a longer term goes before a part of it, and no word is cut", () => {
  expect(termsIn("κ and κ_τ are of layers, ρ is of single neurons.")).toEqual(["kappa", "kappaTrace", "rho"]);
  expect(termsIn("κ_τ alone")).toEqual(["kappaTrace"]);
  expect(termsIn("traces and gradients")).toEqual([]);
  expect(termsIn("The Gauss–Newton matrix, trace")).toEqual(["gaussNewton", "trace"]);
});

test("what is known already is left as it is", () => {
  expect(withTerms("The Riemannian trace", new Set(["riemannian"]))).toEqual([
    "The Riemannian ",
    { id: "trace", text: "trace" },
  ]);
});

test("every term says something, in sentences", () => {
  for (const { name, about } of Object.values(GLOSSARY)) {
    expect(name).not.toBe("");
    expect(about).toMatch(/^\p{Lu}.{20,}\.$/u);
  }
});
