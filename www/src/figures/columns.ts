/** Numbers that a figure shows, as columns, and as text that other programs read: CSV, tabs, Markdown. */

export type Cell = number | string | boolean | null | undefined;

export interface Column {
  /** In letters that every program reads: files have no byte order mark. */
  name: string;
  /** Where it has one. */
  unit?: string;
  values: ArrayLike<Cell>;
}

/** Columns of rows; heads may name a unit in brackets. */
export const columnsOf = (head: readonly string[], rows: readonly (readonly Cell[])[]): Column[] =>
  head.map((name, index) => ({ name, values: rows.map((row) => row[index]) }));

/** The shortest digits that give the number back, to the last bit; infinities as pandas and R have them. */
function spelled(cell: Cell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell !== "number" || Number.isFinite(cell)) return String(cell);
  return Number.isNaN(cell) ? "NaN" : cell > 0 ? "Inf" : "-Inf";
}

const head = ({ name, unit }: Column): string => (unit === undefined ? name : `${name} [${unit}]`);

function rowsOf(columns: readonly Column[]): string[][] {
  const length = Math.max(0, ...columns.map(({ values }) => values.length));
  return Array.from({ length }, (_, index) => columns.map(({ values }) => spelled(values[index])));
}

/** RFC 4180: quotes where a cell needs them, CRLF, and nothing before the head. */
export function csvOf(columns: readonly Column[]): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return [columns.map(head), ...rowsOf(columns)].map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
}

/** As spreadsheets and documents take it from the clipboard. */
export function tabbed(columns: readonly Column[]): string {
  const flat = (text: string) => text.replace(/[\t\r\n]+/g, " ");
  return [columns.map(head), ...rowsOf(columns)].map((row) => `${row.map(flat).join("\t")}\n`).join("");
}

export function markdownOf(columns: readonly Column[]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((text) => text.replace(/[\r\n]+/g, " ").replaceAll("|", "\\|")).join(" | ")} |\n`;
  const isNumeric = ({ values }: Column) =>
    Array.from(values).every((value) => typeof value !== "string" && typeof value !== "boolean");
  const rule = columns.map((column) => (isNumeric(column) ? "---:" : "---"));
  return [columns.map(head), rule, ...rowsOf(columns)].map(line).join("");
}
