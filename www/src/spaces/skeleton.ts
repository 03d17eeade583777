/**
 * The skeleton of a small dense network and its basis paths (Jestädt 2025, sections 2.1 and 3.0.3), as the drawing shows them: from every
 * hidden unit one outgoing weight is fixed; a free weight's path comes to it up the tree and goes on down the fixed weights.
 */

/** The weight from unit `from` of layer `layer` (0 is the input) to unit `to` of the next. */
export interface Edge {
  layer: number;
  from: number;
  to: number;
}

export class SmallNetwork {
  /** weights[layer][to][from]. */
  constructor(
    readonly widths: readonly number[],
    readonly weights: readonly (readonly (readonly number[])[])[],
  ) {}

  weight({ layer, from, to }: Edge): number {
    return this.weights[layer]?.[to]?.[from] ?? Number.NaN;
  }

  edges(): Edge[] {
    return this.weights.flatMap((rows, layer) =>
      rows.flatMap((row, to) => row.map((_, from) => ({ layer, from, to }))),
    );
  }

  /** The outgoing weight of hidden unit j that stays as it is: the one to unit j mod n of the next layer of n units. */
  isFixed({ layer, from, to }: Edge): boolean {
    return layer > 0 && to === from % this.#width(layer + 1);
  }

  /** The weights along the free weight's path, inputs first. */
  path(edge: Edge): Edge[] {
    const path = [edge];
    for (let { layer, from } = edge; layer > 0; layer--) {
      const before = this.#tree(layer - 1, from);
      path.unshift(before);
      from = before.from;
    }
    for (let { layer, to } = edge; layer + 1 < this.weights.length; layer++) {
      const next = { layer: layer + 1, from: to, to: to % this.#width(layer + 2) };
      path.push(next);
      to = next.to;
    }
    return path;
  }

  pathValue(edge: Edge): number {
    return this.path(edge).reduce((product, step) => product * this.weight(step), 1);
  }

  /** The same function: what comes into a hidden unit times the factor, what goes out over it. */
  rescaled(layer: number, unit: number, factor: number): SmallNetwork {
    const weights = this.weights.map((rows, at) =>
      rows.map((row, to) =>
        row.map((weight, from) => {
          if (at === layer - 1 && to === unit) return weight * factor;
          return at === layer && from === unit ? weight / factor : weight;
        }),
      ),
    );
    return new SmallNetwork(this.widths, weights);
  }

  get parameterCount(): number {
    return this.edges().length;
  }

  /** H: one for each hidden unit. */
  get fixedCount(): number {
    return this.edges().filter((edge) => this.isFixed(edge)).length;
  }

  #width(layer: number): number {
    return this.widths[layer] ?? 1;
  }

  /** The way into a hidden unit: a fixed weight where one comes in, or the weight from the unit opposite. */
  #tree(layer: number, to: number): Edge {
    return { layer, to, from: to % this.#width(layer) };
  }
}

/** Of a network of dense layers without biases: its spaces have a coordinate for each weight but one of each hidden unit. */
export interface Dimensions {
  name: string;
  weights: number;
  hidden: number;
}

export const dimensionsOf = (name: string, widths: readonly number[]): Dimensions => ({
  name,
  weights: widths.slice(1).reduce((sum, width, index) => sum + width * (widths[index] ?? 0), 0),
  hidden: widths.slice(1, -1).reduce((sum, width) => sum + width, 0),
});
