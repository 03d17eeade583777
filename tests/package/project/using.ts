/** Only type-checked: `using`, for which a program has TypeScript's own declarations beside the package's. */

import { Engine, Network, Problem } from "isoflat";

export async function loss(): Promise<number> {
  using network = Network.dense([2, 1]);
  using problem = Problem.synthetic(network, { samples: 4 });
  using engine = await Engine.create({ backend: "cpu" });
  return (await engine.evaluate(problem, network.initialize())).loss;
}
