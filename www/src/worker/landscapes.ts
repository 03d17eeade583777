/** Lines and surfaces of the loss, along directions that stay the same until others are drawn. */

import type { Engine, Landscape, LandscapeOptions, Problem, Progress, RunOptions } from "isoflat";
import { norm, randomVector, scaled } from "./directions";
import { LabFailure, type LandscapeChoice, type Point, type PreviewChoice } from "./protocol";
import { axis, type Rows } from "./rows";
import type { Session } from "./session";
import type { Way } from "./way";

/** Rows of a landscape are shown as they come, but no page is drawn more often than this. */
const ROWS_INTERVAL_MS = 80;
const LINE_POINTS = 41;

/** Both ends of both axes, where the directions are as long as the weights. */
const USUAL: [number, number] = [-1, 1];

type Pair = [Float64Array, Float64Array];
type Ranges = [[number, number], [number, number]];

interface Plane {
  vectors: Pair;
  ranges: Ranges;
}

const vectorOf = (values: Float64Array) => ({ type: "vector", values }) as const;
const endsOf = (axis: Float64Array): [number, number] => [axis[0] ?? -1, axis.at(-1) ?? 1];

/** Has the training moved at all? At a rate that rounding swallows its way is a point, along which nothing can be drawn. */
const moves = (way: Way): boolean => {
  const [first, ...rest] = way;
  return rest.some(({ parameters }) => parameters.some((value, i) => value !== first?.parameters[i]));
};

export class Landscapes {
  #directions: { key: string; raw: Pair; length: number } | undefined;
  /** Along the way of the training that the weights come from. */
  #along: (Plane & { way: Way }) | undefined;
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
    this.#along = undefined;
    this.#few?.free();
    this.#few = undefined;
  }

  async line(engine: Engine, options: RunOptions, point: Point, choice: LandscapeChoice): Promise<Landscape> {
    const { model } = this.session;
    const { vectors, ranges } = await this.#plane(engine, options, model[point], choice);
    return engine.landscape(model.measured, model[point], {
      ...options,
      directions: [vectorOf(vectors[0])],
      range: ranges[0],
      points: LINE_POINTS,
      ...this.#shownAt(point),
    });
  }

  /** `rows`: those that are there already, to which the others come as they are computed. */
  async surface(
    engine: Engine,
    options: RunOptions,
    point: Point,
    choice: LandscapeChoice,
    about: string,
    rows: Rows,
  ): Promise<Landscape> {
    const { model } = this.session;
    const { points } = choice;
    const { vectors, ranges } = await this.#plane(engine, options, model[point], choice);
    rows.over(axis(ranges[0], points), axis(ranges[1], points), engine.info);
    const firstRow = rows.first;
    const tell = (): void => this.session.listener({ type: "rows", point, about, landscape: rows.sofar });
    try {
      const rest = await engine.landscape(model.measured, model[point], {
        ...options,
        onProgress: this.#collect(rows, tell),
        directions: [vectorOf(vectors[0]), vectorOf(vectors[1])],
        range: ranges[0],
        rangeT: ranges[1],
        points,
        firstRow,
        ...this.#shownAt(point),
      });
      return rows.with(rest, firstRow);
    } catch (error) {
      // Those that have come too soon to be told of are there too.
      if (rows.first > firstRow) tell();
      throw error;
    }
  }

  /** The way of the training leads to the trained weights, and to no others. */
  #shownAt(point: Point): { trajectory?: Float32Array[] } {
    const { way } = this.session.model;
    if (point !== "trained" || !way || !moves(way)) return {};
    return { trajectory: way.map(({ parameters }) => parameters) };
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
    const { vectors, ranges } = await this.#plane(engine, options, weights, choice);
    if (this.#few && this.#few.samples !== Math.min(samples, model.measuredSamples)) {
      this.#few.free();
      this.#few = undefined;
    }
    this.#few ??= model.measured.first(samples);
    const surface = await engine.landscape(this.#few, weights, {
      signal: options.signal,
      directions: [vectorOf(vectors[0]), vectorOf(vectors[1])],
      range: ranges[0],
      rangeT: ranges[1],
      points,
    });
    return { surface, samples: this.#few.samples };
  }

  /** Collects a surface's rows and tells the page of them; a row that comes too soon goes with a later one. */
  #collect(rows: Rows, tell: () => void): (progress: Progress) => void {
    let last = Number.NEGATIVE_INFINITY;
    return (progress) => {
      this.session.report(progress);
      if (!progress.losses) return;
      rows.add(progress);
      const now = performance.now();
      // The last row is the landscape itself.
      if (now - last < ROWS_INTERVAL_MS || rows.isWhole) return;
      last = now;
      tell();
    };
  }

  async #plane(engine: Engine, options: RunOptions, weights: Float64Array, choice: LandscapeChoice): Promise<Plane> {
    const { model } = this.session;
    if (choice.directions === "way") {
      if (this.#along?.way !== model.way) this.#along = undefined;
      this.#along ??= await this.#alongWay(engine, options);
      return this.#along;
    }
    const key = `${choice.directions} ${choice.seed}`;
    if (this.#directions?.key !== key) {
      this.#directions = { key, ...(await this.#draw(engine, options, choice)) };
    }
    const { raw, length } = this.#directions;
    const scaledBy = choice.atBent === "anew" ? weights : model.trained;
    const blocks = model.network.blocks();
    const [u, v] = raw.map((vector) => scaled(vector, scaledBy, blocks, choice.normalization, length)) as Pair;
    return { vectors: [u, v], ranges: [USUAL, USUAL] };
  }

  /** Along its principal components, with all of it inside: their units are lengths in the space of the weights. */
  async #alongWay(engine: Engine, options: RunOptions): Promise<Plane & { way: Way }> {
    const { way, network, train, trained } = this.session.model;
    if (!way) throw new LabFailure("not_possible", "there is no way of a training to look along");
    const trajectory = way.map(({ parameters }) => parameters);
    const { signal } = options;
    const { directions } = await network.principalComponents(trajectory, { ...(signal && { signal }) });
    const vectors = directions as Pair;
    // A look at four points, of one sample, says how far the way goes.
    const one = train.first(1);
    try {
      const few: LandscapeOptions = { directions: [vectorOf(vectors[0]), vectorOf(vectors[1])], points: 2, trajectory };
      const { s, t } = await engine.landscape(one, trained, few);
      return { way, vectors, ranges: [endsOf(s), endsOf(t)] };
    } finally {
      one.free();
    }
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
