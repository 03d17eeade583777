/** Problem files with batch normalisations: the package reads networks that have none, and can fold them. */

import type { BatchNormNetworkJSON, LayerJSON, NetworkJSON } from "isoflat";

/** A network without its batch normalisations, and its parameters. */
export type Fold = (
  network: BatchNormNetworkJSON,
  parameters: number[],
) => { network: NetworkJSON; parameters: ArrayLike<number> };

export interface Folded {
  file: File;
  /** What was done to it, if anything was. */
  notes: string[];
}

/** Enough of a file to tell JSON from what is not. */
const START = 64;

/** Any other file comes back as it is; so does what is none of ours, and the package says why. */
export async function withoutBatchNorm(file: File, fold: Fold): Promise<Folded> {
  const same = { file, notes: [] };
  const start = await file.slice(0, START).text();
  if (!start.trimStart().startsWith("{")) return same;
  const text = await file.text();
  // Most files have none, and may be long.
  if (!text.includes('"batch_norm"')) return same;
  const found = folded(text, fold);
  return found ? { file: new File([found.text], file.name), notes: [found.note] } : same;
}

function folded(text: string, fold: Fold): { text: string; note: string } | null {
  const problem = problemOf(text);
  if (!problem) return null;
  const { network: given, parameters: values, ...rest } = problem;
  const { network, parameters } = fold(given, values);
  // Along what the weights were before, nothing can be drawn any more.
  const { direction: _, transformations: __, ...kept } = rest;
  const note = told(given.layers, network.layers);
  return { text: JSON.stringify({ ...kept, network, parameters: Array.from(parameters) }), note };
}

interface ProblemText {
  network: BatchNormNetworkJSON;
  parameters: number[];
  [other: string]: unknown;
}

function problemOf(text: string): ProblemText | null {
  try {
    const problem = JSON.parse(text) as ProblemText;
    const layers: unknown = problem.network?.layers;
    return Array.isArray(layers) && layers.some(isNorm) && Array.isArray(problem.parameters) ? problem : null;
  } catch {
    return null;
  }
}

const isNorm = (layer: { type?: unknown } | null): boolean => layer?.type === "batch_norm";

/** In the words that the package has for other files. */
function told(before: { type?: unknown }[], after: LayerJSON[]): string {
  const count = (layers: { type?: unknown }[], type: string) => layers.filter((layer) => layer.type === type).length;
  const norms = count(before, "batch_norm");
  const scales = count(after, "scale") - count(before, "scale");
  const said = (n: number) => (n === 1 ? "1 batch normalisation" : `${n} batch normalisations`);
  if (scales === norms) return `${said(norms)} with frozen statistics are scales, w x + b`;
  const rest = scales > 0 ? `, ${scales} became scales` : "";
  return `${said(norms - scales)} folded into the layers beside them${rest}`;
}
