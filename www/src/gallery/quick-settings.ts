/**
 * The papers' experiments on so little that a visitor can wait for them: what the worker trains, and what the page says of it. Sizes
 * of batches are in the papers' ratios.
 */

import { integer } from "../format";
import type { QuickName } from "../worker/quick-protocol";

/** Rangamani's minima of small and of large batches: 20 to 1, as the paper has 5000 to 256. Images are the first of MNIST's. */
export const MINIMA = {
  training: 500,
  test: 1000,
  /** At which norms are taken, and losses drawn. */
  measured: 200,
  batches: { small: 25, large: 500 },
  /** Where training ends when all images are right; it does after some 60. */
  mostEpochs: 300,
  /** Of the authors' program, whose trainings have no other end. */
  publishedEpochs: 30,
  /** Of Table 4. */
  seed: 1,
  /** Of Figure 2. */
  lines: { seeds: [1, 2], directions: 4, points: 11 },
} as const;

/** Petzka's networks: the rate is in one ratio to the batch, and batches go up to eight times the smallest, as in the paper. */
export const CORRELATIONS = {
  training: 4000,
  test: 2000,
  measured: 250,
  epochs: 60,
  batches: [50, 100, 200, 400],
  rate: 0.0005,
  seeds: [1, 2, 3],
  /** Training losses above it are left out, as in the paper. */
  largestLoss: 0.07,
} as const;

interface Quick {
  /** Of what it consists. */
  says: string;
  /** About, of one core. */
  seconds: number;
}

const images = (count: number): string => `${integer(count)} images`;
const { training, batches, lines } = MINIMA;
const sizes = `batches of ${batches.small} and of all ${batches.large}`;
const networks = CORRELATIONS.batches.length * CORRELATIONS.seeds.length;

export const QUICK_RUNS: Record<QuickName, Quick> = {
  "table-4": { says: `both networks on ${images(training)} of MNIST, ${sizes}, until all are right`, seconds: 60 },
  "table-4-published": {
    says: `both networks on ${images(training)} of MNIST, ${sizes}, ${MINIMA.publishedEpochs} epochs each`,
    seconds: 75,
  },
  lines: {
    says: `LeNet’s type on ${images(training)} of MNIST, ${sizes}, ${lines.seeds.length} seeds, ${lines.directions} directions`,
    seconds: 60,
  },
  petzka: {
    says: `${networks} networks on ${images(CORRELATIONS.training)} of MNIST, batches of ${CORRELATIONS.batches[0]} to ${CORRELATIONS.batches.at(-1)}, measured before and after a rescaling`,
    seconds: 75,
  },
};
