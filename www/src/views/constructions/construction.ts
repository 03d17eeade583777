/** What a card of Dinh's constructions is made of; `views/dinh.ts` does with each what is the same for all. */

import type { PlotOptions } from "../../charts/plot";
import { html } from "../../dom";
import type { Column } from "../../figures/columns";
import type { Key } from "../../figures/figure";
import type { Constructed, Construction } from "../../worker/protocol";

export interface ConstructionCard<K extends Construction> {
  title: string;
  about: string;
  action: string;
  /** What it is asked with: by a choice in the card, or always the same. */
  asked: Choice<Constructed[K]["asked"]> | Constructed[K]["asked"];
  show: (found: Constructed[K]["found"]) => Shown;
}

export interface Choice<T> {
  label: string;
  options: readonly (readonly [value: T, text: string])[];
}

/** A finding as the card shows it. */
export interface Shown {
  /** What it comes to, for programs. */
  data: Record<string, string>;
  body: HTMLElement[];
  drawn?: Drawn;
}

/** What is drawn above the numbers, and what is taken along of it. */
export interface Drawn {
  title: string;
  caption: string;
  plot: PlotOptions;
  columns: () => Column[];
  keys?: Key[];
}

export const note = (text: string): HTMLElement => html("p", { class: "note" }, text);

export const outputsOf = (
  { bitwise, relative }: { bitwise: boolean; relative: number },
  say: (value: number) => string,
) => (bitwise ? "equal, bit for bit" : `equal to ${say(relative)}`);
