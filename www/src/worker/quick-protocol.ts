/** What the gallery and the worker of its quick runs say to each other. */

import type { Lines, Petzka, Table4 } from "../gallery/results";
import type { HowFar } from "../pace";
import type { Outcome } from "./protocol";

/** As the commands' results, so that one drawing shows both. */
export interface QuickResults {
  "table-4": Table4;
  "table-4-published": Table4;
  lines: Lines;
  petzka: Petzka;
}

export type QuickName = keyof QuickResults;

export interface QuickProgress extends HowFar {
  /** That runs now. */
  what: string;
}

export interface QuickApi {
  connect(mnistFolder: string, listener: (progress: QuickProgress) => void): void;
  /** What was stopped goes on with the pieces that are missing. */
  run(name: QuickName): Promise<Outcome<QuickResults[QuickName]>>;
  stop(): void;
}
