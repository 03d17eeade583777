/** What the part on parameter spaces can be set to, and that in an address. Small: the page has it, whether that part is opened or not. */

import type { Setting } from "../worker/spaces-protocol";

const EXPERIMENT_IDS = ["rates", "low_high", "kept", "grid"] as const;
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

export const QUICK: Setting = { images: 12000, testImages: 1000, batch: 64, epochs: 3, seed: 1, repeats: 1 };
/** As in the thesis, which averages ten runs of each kind and validates on all 10,000 test images; the page has 2,000 of them. */
export const THESIS: Setting = { images: 60000, testImages: 2000, batch: 64, epochs: 20, seed: 1, repeats: 1 };

const textOf = ({ experiment, setting }: SpacesChoice): string =>
  [experiment, ...KEYS.map((key) => setting[key])].join("-");

/** Null for the setting that it opens with. */
export function spacesText(choice: SpacesChoice | null): string | null {
  const text = choice && textOf(choice);
  return text === textOf({ experiment: "rates", setting: QUICK }) ? null : text;
}

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
