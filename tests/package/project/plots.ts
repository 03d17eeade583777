/** `isoflat/plots` as a TypeScript program has it. */

import { describeMeasures, type Engine, type Problem } from "isoflat";
import { IsoflatInvariance, type IsoflatLandscape, IsoflatSpectrum, type LandscapeData } from "isoflat/plots";

export async function show(engine: Engine, problem: Problem, parameters: Float64Array): Promise<void> {
  const element = document.createElement("isoflat-landscape");
  element satisfies IsoflatLandscape;
  element.landscape = await engine.landscape(problem, parameters, { directions: [{ type: "random", seed: 1 }] });
  element.landscape = { s: [0, 1], t: [], loss: [1, null] } satisfies LandscapeData;
  element.beside = [element.landscape];
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
  // @ts-expect-error: two are compared, and no more
  spectrum.eigenvalues = [eigenvalues, eigenvalues, eigenvalues];

  const table = document.querySelector("isoflat-invariance") ?? new IsoflatInvariance();
  table.descriptions = describeMeasures();
  table.table = await engine.invariance(problem, parameters, { transformations: [] });
}
