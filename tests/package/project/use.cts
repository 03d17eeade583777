/** Only type-checked: a program that requires the package. */

import isoflat = require("isoflat");

export async function flatness(): Promise<number> {
  await isoflat.default();
  const network = isoflat.Network.preset("small");
  const problem = isoflat.Problem.synthetic(network, { samples: 4 });
  const engine = await isoflat.Engine.create();
  const { top } = await engine.eigenvalues(problem, network.initialize());
  return top[0]?.value ?? Number.NaN;
}
