/**
 * What work costs on a device: trial runs of the very calls that the work is made of, at as many samples as they will have, or
 * at as many as there is time for. A pass over a few samples overstates what many take: it is shared out to no threads, and
 * fills neither blocks nor caches.
 */

import type { Engine, Problem } from "isoflat";
import { randomVector } from "./directions";
import { firstSamples } from "./options";
import type { Line, SampleCosts } from "./protocol";

/** The first trial, which says how many samples there is time for. */
const FIRST = 64;
/** A product or a landscape of this many seconds is tried out whole; of larger ones a part. */
const TRIAL_SECONDS = 0.04;
/** A network that takes so long for the first trial is told from that alone. */
const LONG_SECONDS = 0.6;
/** Nor is anything tried out any longer than that: on a software GPU the first calls compile for as long as the work itself takes. */
const PATIENCE_SECONDS = 3;
/** Trials of one kind: the least of them counts, since whatever else runs only adds. */
const REPEATS = 3;
/**
 * What is tried out takes at most so many times what the engine's own trial says, which is not in a queue: beyond it a call
 * has waited for work that the page has asked for meanwhile.
 */
const WAITED = 2;
/** Batches of training, small and large, and at most how many steps with each. */
const BATCHES = [32, 128];
const STEPS = 48;
const STEPS_SECONDS = 0.08;
/**
 * A module that has just been loaded is slow until the engine has compiled what is called often: where there is time, the call with
 * most in it is made so long, and those that are a part of it are warm then.
 */
const WARM_SECONDS = 0.2;
/** Points of a line, and a side of a surface. */
const [LINE, SIDE] = [3, 7];

const now = (): number => performance.now() / 1e3;

/** Calls for so many seconds at least. The first one warms up, and waits in the queue for work that was there before. */
async function leastIn(atLeast: number, call: () => Promise<unknown>): Promise<number> {
  await call();
  const begun = now();
  let seconds = Number.POSITIVE_INFINITY;
  for (let i = 0; i < REPEATS || now() - begun < atLeast; i++) {
    const start = now();
    await call();
    seconds = Math.min(seconds, now() - start);
  }
  return seconds;
}

/** Unless the calls have waited: then what they are expected to take. */
export function unlessWaited(line: Line, samples: number, expected: number): Line {
  const isLikely = line.call + samples * line.sample <= WAITED * samples * expected;
  return isLikely ? line : { call: 0, sample: expected };
}

/** Through two times; no sample is for nothing, and no call takes less than no time. */
export function lineThrough(few: number, fewSeconds: number, many: number, manySeconds: number): Line {
  if (!(many > few)) return { call: 0, sample: manySeconds / Math.max(many, 1) };
  const mean = manySeconds / many;
  const sample = Math.min(Math.max((manySeconds - fewSeconds) / (many - few), 0.05 * mean), mean);
  return { call: manySeconds - many * sample, sample };
}

export async function sampleCosts(
  engine: Engine,
  problem: Problem,
  train: Problem,
  at: Float64Array,
  isThorough = false,
): Promise<SampleCosts> {
  const warmSeconds = isThorough ? WARM_SECONDS : 0;
  const parts: Problem[] = [];
  const first = (of: Problem, samples: number): Problem => {
    const part = firstSamples(of, samples);
    if (part !== of) parts.push(part);
    return part;
  };
  try {
    // What is in the queue is no trial's time.
    await engine.evaluate(first(problem, 1), at);
    const begun = now();
    const isLong = (): boolean => now() - begun > PATIENCE_SECONDS;
    const estimate = await engine.estimate(first(problem, FIRST), at);
    const samples = Math.min(FIRST, problem.samples);
    const bytes = {
      dataBytes: estimate.dataBytes / samples,
      pointBytes: estimate.pointBytes / samples,
      vectorBytes: estimate.vectorBytes,
    };
    const gradient = lineOf(estimate.callSeconds, estimate.gradientSeconds, samples);
    const forward = estimate.evaluationSeconds / samples;
    // A coarse clock may have seen nothing of a small network.
    const factor = estimate.gradientSeconds > 0 ? estimate.productSeconds / estimate.gradientSeconds : 2;
    const told: SampleCosts = {
      step: gradient,
      product: { call: factor * gradient.call, sample: factor * gradient.sample },
      evaluation: forward,
      plane: { begin: forward, point: forward },
      ...bytes,
    };
    if (estimate.gradientSeconds > LONG_SECONDS || isLong()) return told;
    const most = Math.max(FIRST, Math.round((TRIAL_SECONDS * samples) / estimate.productSeconds));
    const whole = first(problem, Math.min(most, problem.samples));
    const trial = new Trial(engine, at, warmSeconds);
    const tried = await trial.product(whole, first(problem, Math.ceil(whole.samples / 4)));
    const product = unlessWaited(tried, whole.samples, estimate.productSeconds / samples);
    if (isLong()) return { ...told, product };
    const evaluation = Math.min((await leastIn(0, () => engine.evaluate(whole, at))) / whole.samples, WAITED * forward);
    const found = await trial.plane(whole);
    // Its first layer is taken once for all points: each of them is less than a loss.
    const plane = { begin: Math.min(found.begin, 8 * forward), point: Math.min(found.point, forward) };
    if (isLong()) return { ...told, product, evaluation, plane };
    const rate = estimate.gradientSeconds / samples;
    const [few, many] = BATCHES.map((batch) => {
      const size = Math.min(batch, train.samples);
      const steps = Math.min(Math.max(Math.round(STEPS_SECONDS / (rate * size)), 2), STEPS);
      return { size, data: first(train, steps * size) };
    });
    const step =
      few && many ? lineThrough(few.size, await trial.step(few), many.size, await trial.step(many)) : gradient;
    return { step, product, evaluation, plane, ...bytes };
  } finally {
    for (const part of parts) part.free();
  }
}

const lineOf = (call: number, seconds: number, samples: number): Line => ({ call, sample: (seconds - call) / samples });

class Trial {
  constructor(
    private readonly engine: Engine,
    private readonly at: Float64Array,
    private readonly warmSeconds: number,
  ) {}

  async product(whole: Problem, part: Problem): Promise<Line> {
    const v = randomVector(this.at.length, 1);
    const of = (problem: Problem, seconds: number) => leastIn(seconds, () => this.engine.product(problem, this.at, v));
    // The larger first: it is what counts, and what warms up.
    const many = await of(whole, this.warmSeconds);
    return lineThrough(part.samples, await of(part, 0), whole.samples, many);
  }

  async plane(problem: Problem): Promise<SampleCosts["plane"]> {
    const [u, v] = [randomVector(this.at.length, 1), randomVector(this.at.length, 2)];
    const along = (values: Float64Array) => ({ type: "vector", values }) as const;
    const surface = await leastIn(this.warmSeconds, () =>
      this.engine.landscape(problem, this.at, { directions: [along(u), along(v)], points: SIDE, pointsT: SIDE }),
    );
    const line = await leastIn(0, () =>
      this.engine.landscape(problem, this.at, { directions: [along(u)], points: LINE }),
    );
    const { call, sample } = lineThrough(LINE, line, SIDE ** 2, surface);
    return { begin: call / problem.samples, point: sample / problem.samples };
  }

  /** Between two reports of one epoch: the first step has loading in it, and the end more than steps. */
  async step({ size, data }: { size: number; data: Problem }): Promise<number> {
    const times: { steps: number; at: number }[] = [];
    const start = now();
    await this.engine.train(data, this.at, {
      epochs: 1,
      batchSize: size,
      seed: 1,
      optimizer: { type: "sgd", learningRate: 1e-9, momentum: 0.9 },
      onProgress: ({ done }) => times.push({ steps: done, at: now() }),
    });
    const [first, last] = [times.at(0), times.at(-1)];
    if (first && last && last.steps > first.steps) return (last.at - first.at) / (last.steps - first.steps);
    return (now() - start) / Math.ceil(data.samples / size);
  }
}
