/** Rangamani's Table 4, MNIST's rows and CIFAR-10's: the spectral norm at each seed's end, where the paper has a mean. */

import { type RowMark, type RowsOptions, rowsPlot } from "../charts/rows";
import { log } from "../charts/scales";
import { columnsOf } from "../figures/columns";
import { number } from "../format";
import { type Chart, markKey } from "./charts";
import type { Table4 } from "./results";

const SEED = { kind: "of-f64", mark: "circle" } as const;
const NODEWISE = { kind: "of-f32", mark: "ring" } as const;
const PAPER = { kind: "of-paper", mark: "cross" } as const;

const NAMES: Record<string, string> = {
  mnist_fc: "784-512×5-10",
  lenet: "LeNet’s type",
  alexnet_cifar10: "AlexNet’s type",
};

/** Means of the paper, by network and batches. */
const FOUND: Record<string, number> = {
  "mnist_fc small": 0.096,
  "mnist_fc large": 73805,
  "lenet small": 6e-5,
  "lenet large": 4.03,
  "alexnet_cifar10 small": 1790,
  "alexnet_cifar10 large": 28533,
};

/** Which of the trainings: as the paper says, or as its authors' published program does. */
export type TrainedAs = "printed" | "published" | "cifar10";

/** MNIST's training images. */
const ALL = 60000;

const imagesOf = ({ training, measured }: Table4): string => {
  if (measured < training) return `the first ${measured} of the ${training} images of MNIST that it is trained on`;
  return `${training < ALL ? "the first" : "all"} ${training} training images of MNIST`;
};

/** `name`: of its files. */
const ABOUT: Record<TrainedAs, (found: Table4) => { name: string; title: string; over: string }> = {
  printed: (found) => ({
    name: "rangamani-table-4",
    title: "Spectral norms at minima of small and of large batches",
    over: `${imagesOf(found)}, when all that it is trained on are told right`,
  }),
  published: (found) => ({
    name: "rangamani-table-4-published",
    title: `Spectral norms after ${found.epochs} epochs of small and of large batches`,
    over: `${imagesOf(found)}, after ${found.epochs} epochs as the authors’ program trains`,
  }),
  cifar10: ({ training, measured, epochs }) => ({
    name: "rangamani-table-4-cifar10",
    title: `Spectral norms after ${epochs} epochs of small and of large batches, on the way to a minimum`,
    over: `the first ${measured} of ${training} training images of CIFAR-10, after ${epochs} epochs as the authors’ program trains`,
  }),
};

export function table4Chart(found: Table4, as: TrainedAs = "printed"): Chart {
  const { runs } = found;
  const settings = [...new Set(runs.map(({ network, batches }) => `${network} ${batches}`))];
  const all = settings.flatMap((setting) => {
    const own = runs.filter(({ network, batches }) => `${network} ${batches}` === setting);
    const [first] = own;
    if (!first) return [];
    const paper = FOUND[setting] ?? Number.NaN;
    const name = `${NAMES[first.network] ?? first.network}, batches of ${first.batch}`;
    const seeds = own.flatMap((run, index): RowMark[] => {
      const { seed, spectral_norm, nodewise_spectral_norm, test_accuracy, epochs } = run;
      const shift = own.length > 1 ? (0.6 * index) / (own.length - 1) - 0.3 : 0;
      const end = `after ${epochs} epochs, ${number(100 * test_accuracy)} % of the test images right`;
      const mark = (at: number, metric: string, drawn: Pick<RowMark, "kind" | "mark">): RowMark => ({
        at,
        ...drawn,
        shift,
        title: `seed ${seed}: ${number(at)}${metric} ${end}`,
      });
      const layerwise = mark(spectral_norm, "", SEED);
      if (nodewise_spectral_norm === undefined) return [layerwise];
      return [layerwise, mark(nodewise_spectral_norm, " in the node-wise metric", NODEWISE)];
    });
    const cross: RowMark = { at: paper, ...PAPER, title: `the paper: ${number(paper)}` };
    return [{ name, own, paper, marks: [...seeds, cross] }];
  });
  const hasNodewise = runs.some(({ nodewise_spectral_norm: norm }) => norm !== undefined);
  const values = all.flatMap(({ marks }) => marks.map(({ at }) => at));
  const said = all.map(({ name, own, paper }) => {
    const norms = own.map(({ spectral_norm }) => number(spectral_norm, 2));
    const nodewise = own.flatMap(({ nodewise_spectral_norm: norm }) => (norm === undefined ? [] : number(norm, 2)));
    const besides = nodewise.length > 0 ? `, in the node-wise metric ${nodewise.join(" and ")}` : "";
    return `${name} ${norms.join(" and ")}${besides}, in the paper ${number(paper)}`;
  });
  const { name, title, over } = ABOUT[as](found);
  const options: RowsOptions = {
    x: log(Math.min(...values) / 3, Math.max(...values) * 3),
    xLabel: "spectral norm of the Riemannian Hessian",
    label: `${title}: ${said.join("; ")}`,
  };
  return {
    name,
    title,
    caption: `After Rangamani et al. 2019, Table 4: the spectral norm of the Riemannian Hessian over ${over}; a mark a seed${hasNodewise ? ", and one in the node-wise metric, which the paper leaves to others" : ""}.`,
    plot: rowsPlot(all, options),
    narrow: rowsPlot(all, { ...options, isNarrow: true }),
    keys: [
      markKey("a seed", SEED.kind, SEED.mark),
      ...(hasNodewise ? [markKey("in the node-wise metric", NODEWISE.kind, NODEWISE.mark)] : []),
      markKey("the paper’s mean", PAPER.kind, PAPER.mark),
    ],
    columns: () =>
      columnsOf(
        [
          ...["network", "batch", "seed", "epochs", "training_loss", "test_accuracy", "spectral_norm"],
          ...["nodewise_spectral_norm", "paper"],
        ],
        all.flatMap(({ own, paper }) =>
          own.map((run) => [
            ...[run.network, run.batch, run.seed, run.epochs],
            ...[run.training_loss, run.test_accuracy, run.spectral_norm],
            ...[run.nodewise_spectral_norm, paper],
          ]),
        ),
      ),
    rows: all.length,
  };
}
