/** What the part on parameter spaces can be set to, and that in an address. Small: the page has it, whether that part is opened or not. */

import { integer } from "../format";
import type { Setting } from "../worker/spaces-protocol";

const EXPERIMENT_IDS = ["rates", "low_high", "kept", "rescaled", "grid"] as const;
export type ExperimentId = (typeof EXPERIMENT_IDS)[number];

export interface SpacesChoice {
  experiment: ExperimentId;
  setting: Setting;
}

/** From, to. */
export const LIMITS: Record<keyof Setting, readonly [number, number]> = {
  images: [1, 60000],
  testImages: [1, 2000],
  batch: [1, 60000],
  epochs: [1, 1000],
  seed: [0, 4294967295],
  repeats: [1, 10],
};
const KEYS = Object.keys(LIMITS) as (keyof Setting)[];

/** Three runs of each kind, since fewer decide nothing; the images are as many in all as one run of three epochs over 12,000 would see. */
export const QUICK: Setting = { images: 6000, testImages: 1000, batch: 64, epochs: 2, seed: 1, repeats: 3 };
export const LONGER: Setting = { images: 60000, testImages: 2000, batch: 64, epochs: 20, seed: 1, repeats: 3 };

/** What the thesis trains and validates with (its section 4.1). No setting is called its own that is not all of this: the page has 2,000 test images. */
const THESIS: Omit<Setting, "seed"> = { images: 60000, testImages: 10000, batch: 64, epochs: 150, repeats: 10 };

const count = (value: number, one: string, many = `${one}s`): string => `${integer(value)} ${value === 1 ? one : many}`;

/** Its grid of rates and values took days: fewer epochs, and a median of fewer runs (its section 4.2.3). */
const THESIS_GRID = { ...THESIS, epochs: 20, repeats: 5 };

const SAID: Record<keyof typeof THESIS, (value: number) => string> = {
  images: (value) => count(value, "training image"),
  testImages: (value) => count(value, "test image"),
  batch: (value) => `batches of ${integer(value)}`,
  epochs: (value) => count(value, "epoch"),
  repeats: (value) => `${count(value, "run")} of each kind`,
};

/** What differs between an experiment here and the thesis' own: how the thesis has it, and how it is here, in words. */
export function unlikeThesis({ experiment, setting }: SpacesChoice): { thesis: string[]; here: string[] } {
  const own = experiment === "grid" ? THESIS_GRID : THESIS;
  const keys = (Object.keys(own) as (keyof typeof own)[]).filter((key) => setting[key] !== own[key]);
  const words = (of: Omit<Setting, "seed">): string[] => keys.map((key) => SAID[key](of[key]));
  return { thesis: words(own), here: words(setting) };
}

const textOf = ({ experiment, setting }: SpacesChoice): string =>
  [experiment, ...KEYS.map((key) => setting[key])].join("-");

/** Null for the setting that it opens with. */
export function spacesText(choice: SpacesChoice | null): string | null {
  const text = choice && textOf(choice);
  return text === textOf({ experiment: "rates", setting: QUICK }) ? null : text;
}

/** An address that says nothing but this: the stage stays as it is. */
export const spacesAddress = (choice: SpacesChoice): `#/${string}` => `#/spaces?spaces=${textOf(choice)}`;

/** Null where the text says none. */
export function spacesOf(text: string | null): SpacesChoice | null {
  const [name, ...values] = (text ?? "").split("-");
  const experiment = EXPERIMENT_IDS.find((id) => id === name);
  const numbers = values.map(Number);
  const isWithin = (value: number | undefined, key: keyof Setting): boolean =>
    Number.isSafeInteger(value) && (value ?? -1) >= LIMITS[key][0] && (value ?? 0) <= LIMITS[key][1];
  if (!experiment || numbers.length !== KEYS.length || !KEYS.every((key, index) => isWithin(numbers[index], key))) {
    return null;
  }
  const setting = Object.fromEntries(KEYS.map((key, index) => [key, numbers[index]])) as unknown as Setting;
  return { experiment, setting };
}
