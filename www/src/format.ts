/** Numbers as people read them. */

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function superscript(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[Number(digit)]).join("");
  return exponent < 0 ? `⁻${digits}` : digits;
}

const minus = (text: string): string => text.replace("-", "−");

/** `digits` significant digits; powers of ten where a plain number would be long. */
export function number(value: number, digits = 3): string {
  if (value === 0) return "0";
  if (Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) return minus(plain(value, digits));
  const [mantissa = "", exponent = "0"] = value.toExponential(digits - 1).split("e");
  // Unbreakable: a line must not end before the power of ten.
  return `${minus(mantissa)}\u00a0×\u00a010${superscript(Number(exponent))}`;
}

/** The power of ten nearest to a small or large number, the number itself near 1: `10⁻¹²`, `0.3`, `12`. */
export function power(value: number): string {
  if (value === 0) return "0";
  if (Number.isNaN(value)) return "–";
  if (value >= 0.01 && value < 1000) return plain(value, 2);
  return Number.isFinite(value) ? `10${superscript(Math.round(Math.log10(value)))}` : "∞";
}

/** `2⁻⁷`; as a number where it is no power of two. */
export function powerOfTwo(value: number): string {
  const exponent = Math.log2(value);
  return Number.isInteger(exponent) && exponent !== 0 ? `2${superscript(exponent)}` : number(value);
}

/** A round number as it is: `0.5`, `100`, `1 × 10⁶`, `1.5 × 10⁶`. More than `digits` of it are rounding. */
export function round(value: number, digits = 6): string {
  const size = Math.abs(value);
  if (value === 0 || !Number.isFinite(value)) return number(value);
  const shown = Number(value.toPrecision(digits));
  if (size >= 1e-3 && size < 1e5) return minus(String(shown));
  // As many digits as it has, and no zeros behind them.
  const [mantissa = ""] = shown.toExponential().split("e");
  return number(shown, mantissa.replace(/[-.]/g, "").length);
}

/** The most digits that tell two numbers apart. */
const ALL_DIGITS = 17;

/** Round numbers that stand beside each other: with `digits` of each, or as many more as tell all that differ. */
export function rounds(values: readonly number[], digits = 6): string[] {
  const kinds = new Set(values).size;
  let labels: string[] = [];
  for (let count = digits; count <= ALL_DIGITS; count++) {
    labels = values.map((value) => round(value, count));
    if (new Set(labels).size >= kinds) break;
  }
  return labels;
}

function plain(value: number, digits: number): string {
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(decimals, 12));
}

export const percent = (value: number, decimals = 1): string => `${(100 * value).toFixed(decimals)} %`;

export const integer = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");

/** A factor: `×146` or `÷ 12`. */
export function factor(ratio: number): string {
  if (!(ratio > 0) || !Number.isFinite(ratio)) return "–";
  return ratio >= 1 ? `× ${number(ratio)}` : `÷ ${number(1 / ratio)}`;
}

/** A time as one says it: `less than a second`, `about 4 s`, `about 2 min`, `about 3 hours`, `more than a year`. */
export function duration(seconds: number): string {
  if (seconds < 1) return "less than a second";
  if (seconds < 10) return `about ${Math.round(seconds)} s`;
  if (seconds < 90) return `about ${5 * Math.round(seconds / 5)} s`;
  if (seconds < 90 * 60) return `about ${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3600) return `about ${Math.round(seconds / 3600)} hours`;
  // Digits say nothing there.
  if (seconds > 365 * 86400) return "more than a year";
  return `about ${Math.round(seconds / 86400)} days`;
}

/** `35 MB`; two digits are what an estimate is worth. */
export function bytes(count: number): string {
  if (count < 1e6) return "less than 1 MB";
  if (count < 1e9) return `${Number((count / 1e6).toPrecision(2))} MB`;
  return `${Number((count / 1e9).toPrecision(2))} GB`;
}

/** Words as a sentence. A name at its beginning, of a file or of what is in one, stays as it is: also one that a colon follows. */
export function sentence(text: string): string {
  const isName = /^(isoflat\b|\S*[._/\d]|\S+: )/.test(text);
  const first = isName ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
