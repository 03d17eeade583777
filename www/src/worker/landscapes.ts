/** Lines and surfaces of the loss, along directions that stay the same until others are drawn. */

import type { Engine, Landscape, Problem, Progress, RunOptions } from "isoflat";
import { norm, randomVector, scaled } from "./directions";
import { LabFailure, type LandscapeChoice, type Point, type PreviewChoice } from "./protocol";
import type { Session } from "./session";

/** Rows of a landscape are shown as they come, but no page is drawn more often than this. */
const ROWS_INTERVAL_MS = 80;
const LINE_POINTS = 41;

type Pair = [Float64Array, Float64Array];

export class Landscapes {
  #directions: { key: string; raw: Pair; length: number } | undefined;
  /** The few samples that previews are of. */
  #few: Problem | undefined;

  constructor(private readonly session: Session) {
    session.lost.push(() => {
      this.#few = undefined;
    });
  }

  /** Another network, other weights, or other samples: eigenvectors are theirs. */
  forget(): void {
    this.#directions = undefined;
    this.#few?.free();
    this.#few = undefined;
  }

  async line(engine: Engine, options: RunOptions, point: Point, choice: LandscapeChoice): Promise<Landscape> {
    const { model } = this.session;
    const [u] = await this.#vectors(engine, options, model[point], choice);
    return engine.landscape(model.measured, model[point], {
      ...options,
      directions: [{ type: "vector", values: u }],
      points: LINE_POINTS,
    });
  }

  async surface(
    engine: Engine,
    options: RunOptions,
    point: Point,
    choice: LandscapeChoice,
    about: string,
  ): Promise<Landscape> {
    const { model } = this.session;
    const [u, v] = await this.#vectors(engine, options, model[point], choice);
    return engine.landscape(model.measured, model[point], {
      ...options,
      onProgress: this.#rows(engine, point, choice.points, about),
      directions: [
        { type: "vector", values: u },
        { type: "vector", values: v },
      ],
      points: choice.points,
      pointsT: choice.points,
    });
  }

  /** The surface at other weights, of fewer points and samples. */
  async preview(
    engine: Engine,
    options: RunOptions,
    weights: Float64Array,
    choice: LandscapeChoice,
    { points, samples }: PreviewChoice,
  ): Promise<{ surface: Landscape; samples: number }> {
    const { model } = this.session;
    const [u, v] = await this.#vectors(engine, options, weights, choice);
    if (this.#few && this.#few.samples !== Math.min(samples, model.measuredSamples)) {
      this.#few.free();
      this.#few = undefined;
    }
    this.#few ??= model.measured.first(samples);
    const surface = await engine.landscape(this.#few, weights, {
      signal: options.signal,
      directions: [
        { type: "vector", values: u },
        { type: "vector", values: v },
      ],
      points,
      pointsT: points,
    });
    return { surface, samples: this.#few.samples };
  }

  /** Collects a surface's rows and tells the page of them; a row that comes too soon goes with a later one. */
  #rows(engine: Engine, point: Point, points: number, about: string): (progress: Progress) => void {
    const axis = Float64Array.from({ length: points }, (_, index) => (2 * index) / (points - 1) - 1);
    const losses: number[] = [];
    let last = Number.NEGATIVE_INFINITY;
    return (progress) => {
      this.session.report(progress);
      if (!progress.losses) return;
      losses.push(...progress.losses);
      const now = performance.now();
      // The last row is the landscape itself.
      if (now - last < ROWS_INTERVAL_MS || losses.length >= points * points) return;
      last = now;
      const landscape: Landscape = {
        s: axis,
        t: axis,
        loss: Float64Array.from(losses),
        accuracy: new Float64Array(),
        center: losses[(points * points - 1) / 2] ?? Number.NaN,
        notFinite: losses.filter((loss) => !Number.isFinite(loss)).length,
        backend: engine.info,
      };
      this.session.listener({ type: "rows", point, about, landscape });
    };
  }

  async #vectors(engine: Engine, options: RunOptions, weights: Float64Array, choice: LandscapeChoice): Promise<Pair> {
    const { model } = this.session;
    const key = `${choice.directions} ${choice.seed}`;
    if (this.#directions?.key !== key) {
      this.#directions = { key, ...(await this.#draw(engine, options, choice)) };
    }
    const { raw, length } = this.#directions;
    const scaledBy = choice.atBent === "anew" ? weights : model.trained;
    const blocks = model.network.blocks();
    return [
      scaled(raw[0], scaledBy, blocks, choice.normalization, length),
      scaled(raw[1], scaledBy, blocks, choice.normalization, length),
    ];
  }

  async #draw(engine: Engine, options: RunOptions, choice: LandscapeChoice): Promise<{ raw: Pair; length: number }> {
    const { model } = this.session;
    const count = model.network.parameterCount;
    if (choice.directions === "random") {
      const seed = 2 * choice.seed;
      return { raw: [randomVector(count, seed), randomVector(count, seed + 1)], length: norm(model.trained) };
    }
    const { top } = await engine.eigenvalues(model.measured, model.trained, { ...options, top: 2, vectors: true });
    const [first, second] = top;
    if (!first?.vector || !second?.vector)
      throw new LabFailure("not_possible", "two eigenvectors could not be computed for this network");
    // Along an eigenvector of length √(2·2/λ) the quadratic part of the loss rises by 2 at the ends.
    const length = Math.min(norm(model.trained), Math.sqrt(4 / Math.max(first.value, 1e-12)));
    return { raw: [first.vector, second.vector], length };
  }
}
