/** What of the rows the lab does live, and where; and what is drawn of them from stored results. */

import type { TableName } from "../seeds";
import { QUICK, spacesAddress } from "../spaces/settings";
import type { QuickName } from "../worker/quick-protocol";

/** What a row's drawing is made of. */
export type Drawing =
  | "table-2"
  | "table-3"
  | "table-4"
  | "table-4-published"
  | "table-4-cifar10"
  | "power"
  | "lines"
  | "petzka"
  | "petzka-rescaled"
  | "petzka-cifar10"
  | "dinh-figures"
  | "jestaedt-figures"
  | "spaces"
  | "spaces-adam"
  | "spaces-low-high"
  | "spaces-fixed"
  | "spaces-reparametrized"
  | "spaces-cifar10"
  | "spaces-cifar10-adam";

export const DRAWINGS: Readonly<Record<string, Drawing>> = {
  "rangamani-table-2": "table-2",
  "rangamani-table-3": "table-3",
  "rangamani-table-4-mnist": "table-4",
  "rangamani-table-4-mnist-as-the-authors-program-trains": "table-4-published",
  "rangamani-table-4-cifar-10": "table-4-cifar10",
  "rangamani-figure-1": "power",
  "rangamani-figure-2": "lines",
  "petzka-figures-3-to-6": "petzka",
  "petzka-figure-2-rescaling": "petzka-rescaled",
  "petzka-figures-1-and-2": "petzka-cifar10",
  "dinh-figures-1-to-6": "dinh-figures",
  "jestadt-figures-1-5-1-6-4-8-4-9": "jestaedt-figures",
  "jestadt-figures-4-1-4-2-4-4-4-5-4-10": "spaces",
  "jestadt-figures-4-1-4-2-4-4-4-5-with-adam": "spaces-adam",
  "jestadt-figure-4-3": "spaces-low-high",
  "jestadt-figures-4-6-and-4-7": "spaces-fixed",
  "jestadt-section-4-2-2": "spaces-reparametrized",
  "jestadt-figures-4-1-4-2-4-4-4-5-cifar-10": "spaces-cifar10",
  "jestadt-figures-4-1-4-2-4-4-4-5-with-adam-cifar-10": "spaces-cifar10-adam",
};

/** An experiment that is run in its row, on little. */
export interface Quick {
  text: string;
  run: QuickName;
  /** As what the row shows of stored results. */
  drawing: Drawing;
}

const HERE = "Run a quick version here";

export const QUICK_HERE: Readonly<Record<string, Quick>> = {
  "rangamani-table-4-mnist": { text: HERE, run: "table-4", drawing: "table-4" },
  "rangamani-table-4-mnist-as-the-authors-program-trains": {
    text: HERE,
    run: "table-4-published",
    drawing: "table-4-published",
  },
  "rangamani-figure-2": { text: HERE, run: "lines", drawing: "lines" },
  "petzka-figures-3-to-6": { text: HERE, run: "petzka", drawing: "petzka" },
  "petzka-figure-2-rescaling": { text: HERE, run: "petzka", drawing: "petzka-rescaled" },
  "petzka-figures-1-and-2": { text: "Run a quick version on MNIST here", run: "petzka", drawing: "petzka-rescaled" },
};

/** As people download it, in megabytes: more than a page may fetch unasked. */
const NO_CIFAR10 = "CIFAR-10 is 139 MB and does not come with the lab.";

/** Of the thesis' published program. */
const NO_DEFECTS = "The published code’s defects are run by the command alone.";

export interface Live {
  /** What is done there. */
  text: string;
  /** Where; a table is further down in the same part. */
  to: `#/${string}` | TableName;
}

export const LIVE: Readonly<Record<string, readonly Live[]>> = {
  "rangamani-table-2": [{ text: "Run the table here", to: "table2" }],
  "rangamani-table-3": [
    { text: "Run the table here", to: "table3" },
    { text: "Check every measure on a network of your own", to: "#/check" },
  ],
  "rangamani-figure-1": [{ text: "Run Algorithm 1 here", to: "table2" }],
  "rangamani-table-4-mnist": [
    {
      text: "Train the network on the stage in small batches and in large ones, and see its spectral norms",
      to: "#/train",
    },
  ],
  "rangamani-table-4-mnist-as-the-authors-program-trains": [
    { text: "Train the network on the stage for as many epochs in small batches and in large ones", to: "#/train" },
  ],
  "rangamani-figure-2": [{ text: "Draw a line through a network of your own", to: "#/landscape" }],
  "petzka-figures-3-to-6": [{ text: "κ_τ and ρ of the network on the stage", to: "#/layers" }],
  "petzka-figure-2-rescaling": [
    { text: "Bend the network on the stage, and see which measures move", to: "#/measures" },
  ],
  "petzka-figures-1-and-2": [{ text: "κ_τ and ρ of the network on the stage", to: "#/layers" }],
  "petzka-appendix-d-2": [{ text: "Move ε, and see the bound part from the robustness", to: "#/layers" }],
  "dinh-figures-1-to-6": [
    { text: "Move Figure 5", to: "#/dinh" },
    { text: "Move along Figure 2’s lines", to: "#/spaces" },
    { text: "Figure 3’s boxes and Figure 4’s ball, for the network on the stage", to: "#/dinh" },
    { text: "Figure 6’s radial map around its weights, as flat or as sharp as you like", to: "#/dinh" },
    { text: "Figure 1’s sharpness within a ball, among its measures", to: "#/measures" },
  ],
  "dinh-theorems-2-to-5-section-5-2": [
    { text: "Make the network on the stage as sharp as you like", to: "#/dinh" },
    { text: "Normalise its weights, and write its inputs in other coordinates", to: "#/dinh" },
  ],
  "jestadt-figures-2-1-to-2-3-and-3-1-tables-2-1-to-2-3": [
    { text: "Point at paths, their values and the skeleton of a small network", to: "#/spaces" },
  ],
  "jestadt-figures-1-5-1-6-4-8-4-9": [{ text: "Train two weights in each space", to: "#/spaces" }],
  "jestadt-figures-4-1-4-2-4-4-4-5-4-10": [
    { text: "Run the quick setting here", to: spacesAddress({ experiment: "rates", setting: QUICK }) },
  ],
  "jestadt-figures-4-1-4-2-4-4-4-5-with-adam": [
    { text: "Run the quick setting here", to: spacesAddress({ experiment: "rates", setting: QUICK }) },
  ],
  "jestadt-figure-4-3": [
    { text: "Run the quick setting here", to: spacesAddress({ experiment: "low_high", setting: QUICK }) },
  ],
  "jestadt-figures-4-6-and-4-7": [
    { text: "Run Figure 4.6, quick", to: spacesAddress({ experiment: "kept", setting: QUICK }) },
    { text: "Run Figure 4.7, quick", to: spacesAddress({ experiment: "grid", setting: QUICK }) },
  ],
  "jestadt-section-4-2-2": [
    { text: "Run the quick setting here", to: spacesAddress({ experiment: "rescaled", setting: QUICK }) },
  ],
  "jestadt-figures-4-1-4-2-4-4-4-5-cifar-10": [
    { text: "Run the quick setting on MNIST here", to: spacesAddress({ experiment: "rates", setting: QUICK }) },
  ],
  "jestadt-figures-4-1-4-2-4-4-4-5-with-adam-cifar-10": [
    { text: "Run the quick setting on MNIST here", to: spacesAddress({ experiment: "rates", setting: QUICK }) },
  ],
};

/** Beside what the lab does with a network of one's own: why the experiment itself is not run there, or what is special to it is not. */
export const NOT_LIVE: Readonly<Record<string, string>> = {
  "rangamani-table-4-cifar-10": `${NO_CIFAR10} This network takes no other images, and to train it takes hours.`,
  "petzka-figures-1-and-2": `${NO_CIFAR10} Its files can be opened, and a network that was trained on them.`,
  "jestadt-figures-4-1-4-2-4-4-4-5-with-adam": NO_DEFECTS,
  "jestadt-figures-4-6-and-4-7": NO_DEFECTS,
  "jestadt-figures-4-1-4-2-4-4-4-5-cifar-10": NO_CIFAR10,
  "jestadt-figures-4-1-4-2-4-4-4-5-with-adam-cifar-10": `${NO_CIFAR10} ${NO_DEFECTS}`,
};
