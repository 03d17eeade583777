/** Dinh et al. 2017, Theorem 4, at the trained point: the same function as sharp as one likes. */

import type { Engine, Landscape, RunOptions } from "isoflat";
import { norm } from "./directions";
import { LabFailure, type SharpenChoice, type SharpenFinding, type Valley } from "./protocol";
import type { Model, Session } from "./session";

/** Points of the valley in each of its ranges, and of the line that is measured anew. */
const POINTS = 41;
/** Ranges of the valley, each so many times as wide as the last. A curvature 10⁶ times as large narrows it by a thousand. */
const STEP = 10;
const RANGES = [1, STEP, STEP ** 2, STEP ** 3, STEP ** 4];

/**
 * Relative to the spectral norm. The norm itself comes out far more precise, since its residual falls fastest; the spectrum's
 * other end, in a crowd near 0, would take up to fifty times as long and is not shown.
 */
const TOLERANCE = 1e-3;

export class Dinh {
  /** The valley's direction, as long as the parameters: the page needs no more than its losses. */
  #direction: Float64Array | undefined;

  constructor(private readonly session: Session) {}

  /** Other weights or other samples have another valley. */
  forget(): void {
    this.#direction = undefined;
  }

  /**
   * The layer whose block of the Hessian is largest, and the loss along that block's steepest direction. After the layer has
   * been multiplied by α the same line reads L(T θ + s d) = L(θ + (s/α) d), so one wide line holds all of them.
   */
  async valley(engine: Engine, options: RunOptions): Promise<Valley> {
    const { model } = this.session;
    let best: { layer: number; value: number; vector: Float64Array } | undefined;
    for (let layer = 0; layer < model.network.depth; layer++) {
      const { top } = await engine.eigenvalues(model.measured, model.trained, {
        ...options,
        operator: `hessian.layer_${layer + 1}`,
        vectors: true,
      });
      const [pair] = top;
      if (pair?.vector && (!best || pair.value > best.value)) best = { layer, value: pair.value, vector: pair.vector };
    }
    if (!best || !(best.value > 0)) {
      throw new LabFailure("not_possible", "the loss is flat in every layer’s weights: no rescaling makes it sharp");
    }
    const direction = whole(model, best.layer, best.vector);
    this.#direction = direction;
    // Along an eigenvector of length √(2·2/λ) the quadratic part of the loss rises by 2 at the ends.
    const span = Math.min(norm(model.trained), Math.sqrt(4 / best.value));
    const points: [s: number, loss: number][] = [];
    for (const wide of RANGES) {
      const { s, loss } = await this.#line(engine, options, model.trained, direction, wide * span);
      // Nearer points are there already, closer together.
      const inner = wide === 1 ? -1 : (wide / STEP) * span;
      s.forEach((at, index) => {
        if (Math.abs(at) > inner) points.push([at, loss[index] ?? Number.NaN]);
      });
    }
    points.sort(([a], [b]) => a - b);
    const { values } = await engine.measure(model.measured, model.trained, {
      ...options,
      measures: ["hessian.spectral_norm"],
    });
    return {
      layer: best.layer,
      block: best.value,
      norm: values[0]?.value ?? Number.NaN,
      span,
      line: { s: points.map(([s]) => s), loss: points.map(([, loss]) => loss) },
    };
  }

  async sharpen(engine: Engine, options: RunOptions, valley: Valley, choice: SharpenChoice): Promise<SharpenFinding> {
    const { model } = this.session;
    const direction = this.#direction;
    if (!direction) throw new LabFailure("not_possible", "the valley is to be looked at first");
    const { parameters, ...found } = await engine.sharpen(model.measured, model.trained, {
      ...options,
      ...choice,
      layer: valley.layer + 1,
      tolerance: TOLERANCE,
    });
    model.sharpened = parameters;
    const { s, loss } = await this.#line(engine, options, parameters, direction, valley.span);
    return { ...found, line: { s: [...s], loss: [...loss] } };
  }

  #line(engine: Engine, options: RunOptions, at: Float64Array, values: Float64Array, end: number): Promise<Landscape> {
    return engine.landscape(this.session.model.measured, at, {
      ...options,
      directions: [{ type: "vector", values }],
      range: [-end, end],
      points: POINTS,
    });
  }
}

/** A direction over one layer's weights as one over all parameters, of length 1. */
function whole(model: Model, layer: number, vector: Float64Array): Float64Array {
  const { parameterCount } = model.network;
  if (vector.length === parameterCount) return vector;
  const block = model.network.blocks().find((block) => block.layer === layer + 1 && block.kind === "weight");
  if (!block || block.end - block.start !== vector.length) {
    throw new LabFailure("not_possible", "the layer's steepest direction does not fit its weights");
  }
  const direction = new Float64Array(parameterCount);
  direction.set(vector, block.start);
  return direction;
}
