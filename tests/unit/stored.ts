/** The stored results that the lab draws, with their types, and the rows of docs/papers that say what they are. */

import README from "../../docs/papers/README.md?raw";
import dinhJson from "../../docs/results/dinh-figures.json";
import jestaedtJson from "../../docs/results/jestaedt-figures.json";
import cifarPetzkaJson from "../../docs/results/petzka-cifar10.json";
import petzkaJson from "../../docs/results/petzka-mnist.json";
import printedJson from "../../docs/results/petzka-printed.json";
import cifar10Table4Json from "../../docs/results/rangamani-cifar10.json";
import linesJson from "../../docs/results/rangamani-lines.json";
import table4Json from "../../docs/results/rangamani-mnist.json";
import powerJson from "../../docs/results/rangamani-power.json";
import publishedJson from "../../docs/results/rangamani-published.json";
import spacesJson from "../../docs/results/spaces.json";
import adamJson from "../../docs/results/spaces-adam.json";
import cifarSpacesJson from "../../docs/results/spaces-cifar10.json";
import cifarAdamJson from "../../docs/results/spaces-cifar10-adam.json";
import cifarGridJson from "../../docs/results/spaces-cifar10-grid.json";
import cifarGridIgnoredJson from "../../docs/results/spaces-cifar10-grid-defects.json";
import cifarKeptJson from "../../docs/results/spaces-cifar10-kept.json";
import cifarLowHighJson from "../../docs/results/spaces-cifar10-low-high.json";
import spacesGridJson from "../../docs/results/spaces-grid.json";
import gridIgnoredJson from "../../docs/results/spaces-grid-defects.json";
import spacesKeptJson from "../../docs/results/spaces-kept.json";
import lowHighJson from "../../docs/results/spaces-low-high.json";
import reparametrizedJson from "../../docs/results/spaces-reparametrized.json";
import tablesJson from "../../docs/results/tables.json";
import type {
  DinhFigures,
  JestaedtFigures,
  LinesStored,
  Petzka,
  Power,
  Spaces,
  Table4Stored,
  Tables,
} from "../../www/src/gallery/results";
import { readPapers } from "../../www/src/gallery/rows";

export const [tables, petzka] = [tablesJson as unknown as Tables, petzkaJson as unknown as Petzka];
export const [spaces, adam] = [spacesJson as unknown as Spaces, adamJson as unknown as Spaces];
export const [cifarPetzka, cifarSpaces] = [cifarPetzkaJson as unknown as Petzka, cifarSpacesJson as unknown as Spaces];
export const cifarAdam = cifarAdamJson as unknown as Spaces;
export const [kept, grid] = [spacesKeptJson as unknown as Spaces, spacesGridJson as unknown as Spaces];
export const [gridIgnored, cifarGridIgnored] = [
  gridIgnoredJson as unknown as Spaces,
  cifarGridIgnoredJson as unknown as Spaces,
];
export const lowHigh = lowHighJson as unknown as Spaces;
export const [cifarKept, cifarLowHigh] = [cifarKeptJson as unknown as Spaces, cifarLowHighJson as unknown as Spaces];
export const [cifarGrid, reparametrized] = [
  cifarGridJson as unknown as Spaces,
  reparametrizedJson as unknown as Spaces,
];
export const jestaedt = jestaedtJson as unknown as JestaedtFigures;
export const [power, dinh] = [powerJson as unknown as Power, dinhJson as unknown as DinhFigures];
export const lines = linesJson as unknown as LinesStored;
export const table4 = table4Json as unknown as Table4Stored;
export const published = publishedJson as unknown as Table4Stored;
export const printed = printedJson;
export const cifar10Table4 = cifar10Table4Json as unknown as Table4Stored;

export const papers = readPapers(README);
export const rows = papers.flatMap((paper) => paper.rows);
export const row = (id: string) => rows.find((one) => one.id === id);
/** All that is said of what was found, and of why: in the table and below it. */
export const told = (id: string): string => {
  const { here = "", why = "", more = [] } = row(id) ?? {};
  return [here, why, ...more].join("\n");
};

/** Runs that have learned their training set: how many. */
export const keptOf = ({ runs, largest_loss: largest }: Petzka): number =>
  runs.filter(({ training_loss: loss }) => loss !== null && loss <= largest).length;
