/** What is written in fields of numbers: the number, or why it is none, in words that name the field. */

import { LabError } from "./errors";
import { integer, number } from "./format";

export interface Field {
  /** As a sentence begins with it. */
  name: string;
  whole?: boolean;
  /** It must be larger than this. */
  above?: number | undefined;
  least?: number | undefined;
  most?: number | undefined;
}

/** What a field has, as the browser gives it. */
export interface Written {
  text: string;
  /** Something is written that is no number: the browser keeps to itself what it is. */
  isBad?: boolean;
}

/** Something is wrong with one field, which is shown where it is. */
export class FieldFault extends LabError {
  constructor(
    readonly field: string,
    message: string,
    code: LabError["code"] = "invalid_option",
  ) {
    super(code, message);
  }
}

/** Fails with a `FieldFault`; an empty field is no 0. */
export function numberOf(id: string, { text, isBad = false }: Written, field: Field): number {
  const why = fault({ text, isBad }, field);
  if (why) throw new FieldFault(id, `${field.name} ${why}`);
  return Number(text);
}

function fault({ text, isBad }: Written, { whole, above, least, most }: Field): string | null {
  if (isBad) return "is not a number";
  if (text.trim() === "") return "is empty, and must be a number";
  const value = Number(text);
  const said = `not ${text.trim().replace(/^-/, "−")}`;
  if (!Number.isFinite(value)) return `must be a number, ${said}`;
  if (whole && !Number.isSafeInteger(value)) return `must be a whole number, ${said}`;
  if (above !== undefined && !(value > above)) return `must be above ${number(above)}, ${said}`;
  if (least !== undefined && value < least) return `must be at least ${plain(least)}, ${said}`;
  if (most !== undefined && value > most) return `must be at most ${plain(most)}, ${said}`;
  return null;
}

const plain = (limit: number): string => (Number.isInteger(limit) ? integer(limit) : number(limit));

/** Numbers apart by whatever is no digit, at least an input's and an output's. */
export function widthsOf(id: string, text: string): number[] {
  const refuse = (message: string) => new FieldFault(id, message, "invalid_network");
  if (text.trim() === "") throw refuse("The widths are empty; write them like 784-100-10, input first");
  const numbers = text
    .split(/[^0-9]+/)
    .filter((part) => part !== "")
    .map(Number);
  if (/[^0-9\s,;x×–-]/.test(text) || numbers.length < 2 || numbers.some((width) => width < 1)) {
    throw refuse(`The widths “${text}” are none; write them like 784-100-10, input first`);
  }
  return numbers;
}
