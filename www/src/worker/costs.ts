/** What one sample costs on a device, from a trial run of a few. */

import type { Engine, Problem } from "isoflat";
import { firstSamples } from "./options";
import type { SampleCosts } from "./protocol";

/** More than the engine tries out when it estimates what a sample costs. */
const TRIAL_SAMPLES = 128;

export async function sampleCosts(engine: Engine, problem: Problem, at: Float64Array): Promise<SampleCosts> {
  const trial = firstSamples(problem, TRIAL_SAMPLES);
  const { samples } = trial;
  try {
    const estimate = await engine.estimate(trial, at);
    // What is fixed for a gradient is so for the others, in proportion. A trial is so small that several threads may not be worth
    // their while: these are the times of one, and `estimateOf` knows how many the work has.
    const share = (estimate.threads / samples) * (1 - estimate.callSeconds / estimate.gradientSeconds);
    return {
      callSeconds: estimate.callSeconds,
      gradientSeconds: share * estimate.gradientSeconds,
      productSeconds: share * estimate.productSeconds,
      evaluationSeconds: share * estimate.evaluationSeconds,
      dataBytes: estimate.dataBytes / samples,
      pointBytes: estimate.pointBytes / samples,
      vectorBytes: estimate.vectorBytes,
    };
  } finally {
    if (trial !== problem) trial.free();
  }
}
