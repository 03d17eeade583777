/** A part of a report: tables with their words, and plots. */

import type { Column } from "../figures/columns";

/** Of a table: its rows as people read them, and its numbers in full. */
export interface ReportTable {
  name: string;
  title: string;
  head: string[];
  rows: string[][];
  /** What its rows are of, where each is a measure. */
  measures?: string[];
  columns: Column[];
}

export interface Part {
  id: string;
  title: string;
  about: string;
  tables: ReportTable[];
  /** Plots by name: the view draws them. */
  plots: ("eigenvalues" | "density")[];
}
