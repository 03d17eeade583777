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
/** Trials of one kind: the least of them counts, since whatever else runs only adds. */
const REPEATS = 3;
/** Batches of training, small and large, and how many steps with each are timed. */
const BATCHES = [32, 128];
const STEPS = 6;
/** Points of a line, and a side of a surface. */
const [LINE, SIDE] = [3, 7];

const now = (): number => performance.now() / 1e3;

async function timed(call: () => Promise<unknown>): Promise<number> {
  const start = now();
  await call();
  return now() - start;
}

/** The first one warms up, and waits in the queue for work that was there before. */
async function least(call: () => Promise<unknown>): Promise<number> {
  await call();
  let seconds = Number.POSITIVE_INFINITY;
  for (let i = 0; i < REPEATS; i++) seconds = Math.min(seconds, await timed(call));
  return seconds;
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
): Promise<SampleCosts> {
  const parts: Problem[] = [];
  const first = (of: Problem, samples: number): Problem => {
    const part = firstSamples(of, samples);
    if (part !== of) parts.push(part);
    return part;
  };
  try {
    const estimate = await engine.estimate(first(problem, FIRST), at);
    const samples = Math.min(FIRST, problem.samples);
    const bytes = {
      dataBytes: estimate.dataBytes / samples,
      pointBytes: estimate.pointBytes / samples,
      vectorBytes: estimate.vectorBytes,
    };
    const gradient = lineOf(estimate.callSeconds, estimate.gradientSeconds, samples);
    if (estimate.gradientSeconds > LONG_SECONDS) {
      const times = (seconds: number): Line => {
        const factor = seconds / estimate.gradientSeconds;
        return { call: factor * gradient.call, sample: factor * gradient.sample };
      };
      const evaluation = estimate.evaluationSeconds / samples;
      const plane = { begin: evaluation, point: evaluation };
      return { step: gradient, product: times(estimate.productSeconds), evaluation, plane, ...bytes };
    }
    const many = Math.max(FIRST, Math.round((TRIAL_SECONDS * samples) / estimate.productSeconds));
    const whole = first(problem, Math.min(many, problem.samples));
    const trial = new Trial(engine, at);
    const product = await trial.product(whole, first(problem, Math.ceil(whole.samples / 4)));
    const evaluation = (await least(() => engine.evaluate(whole, at))) / whole.samples;
    const plane = await trial.plane(whole);
    const step = await trial.step(
      BATCHES.map((batch) => ({ batch: Math.min(batch, train.samples), data: first(train, 2 * batch) })),
    );
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
  ) {}

  async product(whole: Problem, part: Problem): Promise<Line> {
    const v = randomVector(this.at.length, 1);
    const of = (problem: Problem) => least(() => this.engine.product(problem, this.at, v));
    const few = await of(part);
    return lineThrough(part.samples, few, whole.samples, await of(whole));
  }

  async plane(problem: Problem): Promise<SampleCosts["plane"]> {
    const [u, v] = [randomVector(this.at.length, 1), randomVector(this.at.length, 2)];
    const along = (values: Float64Array) => ({ type: "vector", values }) as const;
    const line = await least(() => this.engine.landscape(problem, this.at, { directions: [along(u)], points: LINE }));
    const surface = await least(() =>
      this.engine.landscape(problem, this.at, { directions: [along(u), along(v)], points: SIDE, pointsT: SIDE }),
    );
    const { call, sample } = lineThrough(LINE, line, SIDE ** 2, surface);
    return { begin: call / problem.samples, point: sample / problem.samples };
  }

  /** What a second and more epochs take: the first has loading in it, and the last looks at all the data. */
  async step(batches: { batch: number; data: Problem }[]): Promise<Line> {
    const times: { batch: number; seconds: number }[] = [];
    for (const { batch, data } of batches) {
      const run = (epochs: number) =>
        this.engine.train(data, this.at, {
          epochs,
          batchSize: batch,
          seed: 1,
          optimizer: { type: "sgd", learningRate: 1e-9, momentum: 0.9 },
          onProgress: () => {},
        });
      await run(1);
      const steps = Math.ceil(data.samples / batch);
      const epochs = Math.max(1, Math.round(STEPS / steps));
      const short = await timed(() => run(1));
      const long = await timed(() => run(1 + epochs));
      times.push({ batch, seconds: Math.max(long - short, 0.2 * long) / (epochs * steps) });
    }
    const [few, many] = times;
    if (!few || !many) return { call: 0, sample: 0 };
    return lineThrough(few.batch, few.seconds, many.batch, many.seconds);
  }
}
