/** `isoflat/plots` as a TypeScript program has it. */

import { describeMeasures, type Engine, type MeasureKey, type Problem } from "isoflat";
import { IsoflatInvariance, type IsoflatLandscape, IsoflatSpectrum, type LandscapeData } from "isoflat/plots";

export async function show(engine: Engine, problem: Problem, parameters: Float64Array): Promise<void> {
  const element = document.createElement("isoflat-landscape");
  element satisfies IsoflatLandscape;
  element.landscape = await engine.landscape(problem, parameters, { directions: [{ type: "random", seed: 1 }] });
  element.landscape = { s: [0, 1], t: [], loss: [1, null] } satisfies LandscapeData;
  element.beside = [{ s: [0, 1], t: [], loss: [1, 2] }];
  element.landscape = [element.landscape, { s: [0, 1], t: [], loss: [1, 2] }];
  element.names = ["before", "after"];
  element.noScale = true;
  element.addEventListener("fallback", () => element.view satisfies "surface" | "contour");
  element.view = "contour";
  element.scale = "linear";
  element.addEventListener("camerachange", () => element.camera.length satisfies number);
  element.addEventListener("pointerdown", ({ clientX }) => clientX satisfies number);
  // @ts-expect-error: no such view
  element.view = "map";
  // @ts-expect-error: a landscape has losses
  element.landscape = { s: [0, 1], t: [] };

  const spectrum = new IsoflatSpectrum();
  const eigenvalues = await engine.eigenvalues(problem, parameters);
  spectrum.eigenvalues = eigenvalues;
  spectrum.eigenvalues = [eigenvalues, eigenvalues];
  spectrum.density = await engine.density(problem, parameters);
  spectrum.names = ["as trained", "rescaled"];
  spectrum.ownAxes = true;
  // @ts-expect-error: two are compared, and no more
  spectrum.eigenvalues = [eigenvalues, eigenvalues, eigenvalues];

  const table = document.querySelector("isoflat-invariance") ?? new IsoflatInvariance();
  table.descriptions = describeMeasures();
  const found = await engine.invariance(problem, parameters, { transformations: [] });
  table.table = found;
  table.table = { transformations: found.transformations, cells: found.cells.slice(1) };
  table.measures = ["outputs", "hessian.trace"];
  table.explained = true;
  table.addEventListener("explain", ({ detail }) => detail.measure satisfies MeasureKey);
  // @ts-expect-error: no such measure
  table.measures = ["hessian.size"];
}
