/** What the build makes of the formulas' TeX (vite.config.ts): MathML as text. */
declare module "virtual:formulas" {
  import type { MeasureKey } from "isoflat";
  import type { SymbolId } from "./formulas";

  /** Of each measure, set off from the text; one piece a line where they do not fit beside each other. */
  export const measures: Record<MeasureKey, string[]>;
  /** In the line. */
  export const symbols: Record<SymbolId, string>;
}
