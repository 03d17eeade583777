/**
 * What every call owes its caller: finite numbers (or a map that marks those that are not), or an `IsoflatError` with a documented
 * code and a sentence in the API's own words. Anything else is a fault; `failure` says which kind.
 */

export const codes = [
  "parse",
  "invalid_network",
  "invalid_problem",
  "invalid_parameters",
  "not_finite",
  "invalid_option",
  "invalid_transformation",
  "not_homogeneous",
  "too_large",
  "out_of_range",
  "backend_unavailable",
  "device_lost",
  "gpu",
  "aborted",
  "crashed",
  "invalid_handle",
  "not_initialized",
];

/** Words of the language and the tools underneath, which say nothing to who calls. */
const jargon = [
  /\b[ui](8|16|32|64|128|size)\b/,
  /\bf(32|64) expected\b/,
  /untagged enum/,
  /internally tagged/,
  /adjacently tagged/,
  /JsValue/,
  /null pointer/,
  /unreachable/,
  /memory access/,
  /recursive use/,
  /RuntimeError/,
  /panicked/,
  /undefined is not/,
  /is not a function/,
  /unwrap\(\)/,
  /\bSome\(/,
  /\bOk\(/,
  /RefCell|BorrowMut|already borrowed/,
  /wasm-bindgen|__wbg/,
  /serde/,
  /\bstruct \w/,
  /newtype|unit variant|tuple variant/,
  /\[object Object\]/,
  /Infinityx|inf B\b/,
  /\busize::|u32::MAX/,
  /capacity overflow/,
  /index out of bounds/,
  /expected a sequence|a sequence\b/,
  /invalid type: .* expected (a )?(map|struct|sequence)/,
];

export const jargonIn = (message) => jargon.find((pattern) => pattern.test(message))?.source;

const say = (value) => {
  try {
    return String(value?.message ?? value).slice(0, 300);
  } catch {
    return "something that cannot be said";
  }
};

/** What is wrong with an error, if anything: `{failure, detail}`. */
export function faultOf(error, { IsoflatError }) {
  let isOwn = false;
  try {
    isOwn = error instanceof IsoflatError;
  } catch {
    return { failure: "foreign-error", detail: "the error itself cannot be looked at" };
  }
  if (!isOwn) return { failure: "foreign-error", detail: `${error?.constructor?.name ?? typeof error}: ${say(error)}` };
  return (
    faultOfParts(error.code, error.message) ??
    (error instanceof Error && error.name === "IsoflatError"
      ? undefined
      : { failure: "foreign-error", detail: error.name })
  );
}

export function faultOfParts(code, message) {
  if (!codes.includes(code)) return { failure: "undocumented-code", detail: `${code}: ${say(message)}` };
  if (code === "crashed") return { failure: "crashed", detail: say(message) };
  if (code === "gpu") return { failure: "gpu-refused", detail: say(message) };
  const word = jargonIn(message);
  if (word !== undefined) return { failure: "jargon", detail: `${word} in: ${say(message)}` };
  if (typeof message !== "string" || message.length < 10)
    return { failure: "mute", detail: `${code}: ${say(message)}` };
  if (message.length > 2000) return { failure: "verbose", detail: `${message.length} characters: ${say(message)}` };
  return undefined;
}

/** Keys under which a number may be missing. */
const nullable = new Set(["quadratic", "threadsReason", "direction", "name", "remainingSeconds"]);
/** Maps, which mark what is not finite by holding it: points of landscapes, epochs of a run that diverged. */
const maps = new Set(["loss", "accuracy", "validationLoss", "validationAccuracy"]);
const mapsOf = { landscape: new Set(["loss", "accuracy"]), train: maps, trainSideBySide: maps };

/** The path of the first number in a result that is neither finite nor marked, or undefined. */
export function notFinite(value, method, path = "", seen = new Set()) {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${path || "it"} is ${value}`;
  if (value === null) {
    // A report's relative flatness is one of dense layers: a convolution has none.
    const isNullable =
      nullable.has(path.split(".").at(-1)) || /\.(relativeFlatness|relative_flatness)\.\d+$/.test(path);
    return isNullable ? undefined : `${path || "it"} is null`;
  }
  if (typeof value !== "object" || seen.has(value)) return undefined;
  seen.add(value);
  if (ArrayBuffer.isView(value)) {
    const at = value.findIndex((number) => !Number.isFinite(Number(number)));
    return at < 0 ? undefined : `${path || "it"}[${at}] is ${value[at]}`;
  }
  if (value instanceof Error) return undefined;
  for (const key of Object.keys(value)) {
    const isMap = mapsOf[method]?.has(key) && (method === "landscape" ? path === "" : path.includes("history"));
    if (isMap || (method === "invariance" && /^cells/.test(path) && isUnresolved(value))) continue;
    const found = notFinite(value[key], method, path === "" ? key : `${path}.${key}`, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A cell of the invariance table that says itself that its numbers mean nothing. */
const isUnresolved = (cell) => cell.verdict === "unresolved";

/** A report of progress that is one. */
export function faultOfProgress(progress) {
  const { phase, done, total } = progress ?? {};
  if (typeof phase !== "string" || phase === "")
    return { failure: "progress", detail: `a report of phase ${say(phase)}` };
  const sane = Number.isFinite(done) && Number.isFinite(total) && done >= 0 && done <= total;
  return sane ? undefined : { failure: "progress", detail: `${phase}: ${done} of ${total}` };
}

/** What failures of one cause have in common: no numbers, no quoted names. */
export const signature = ({ kind, failure, where = "", detail = "" }) => {
  // What follows is the example, not the kind.
  const [text] = detail.split(" in: ");
  const words = text
    .replace(/"[^"]*"|`[^`]*`/g, "…")
    .replace(/-?\d[\d.e+-]*/g, "#")
    .replace(/\s+/g, " ");
  return [kind, failure, where, words.slice(0, 90)].join(" | ");
};
