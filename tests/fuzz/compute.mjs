/**
 * Work on a problem file, in words that the package and the native runner both understand: a list of `{do, options}`, each answered
 * by `{ok}` or `{error: {code, message}}`. `do` is the name of an engine's method.
 */

import { faultOf, faultOfParts, notFinite } from "./oracle.mjs";

const plainError = (error) => ({ error: { code: error.code, message: error.message } });

/** A value as JSON; undefined of what is nested too deep for that. */
function stringified(value) {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** What is no number would be asked for one, and may be nested too deep for that. */
const numberOf = (value) => (typeof value === "number" ? value : Number.NaN);

/** In the package. Foreign errors are thrown on. */
export async function computeInPackage(host, { file, precision, work }) {
  const { isoflat } = host;
  const answers = [];
  let opened;
  const attempt = async (of) => {
    try {
      return { ok: await of() };
    } catch (error) {
      const fault = faultOf(error, isoflat);
      return fault?.failure === "foreign-error" ? { fault } : plainError(error);
    }
  };
  const text = typeof file === "string" ? file : JSON.stringify(file);
  const open = await attempt(() => isoflat.Problem.open(text));
  if (open.ok === undefined) return [open];
  opened = open.ok;
  const engine = await host.engine(precision);
  for (const { do: name, options, direction } of work) {
    const { problem, parameters } = opened;
    const extra = name === "product" ? [Float64Array.from(direction)] : [];
    answers.push(
      await attempt(() => engine[name](problem, parameters, ...extra, ...(options === undefined ? [] : [options]))),
    );
  }
  const freed = await attempt(() => void opened.problem.free());
  return [{ ok: true }, ...answers, ...(freed.ok === undefined && (freed.error ?? freed.fault) ? [freed] : [])];
}

/** What is wrong with answers in themselves, right numbers or not. */
export function faultsOfAnswers(answers, work) {
  return answers.flatMap((answer, i) => {
    const name = i === 0 ? "open" : (work[i - 1]?.do ?? "free");
    const where = name;
    if (answer.fault !== undefined) return [{ ...answer.fault, where }];
    if (answer.panic !== undefined) return [{ failure: "panic", detail: answer.panic, where }];
    if (answer.error !== undefined) {
      const fault = faultOfParts(answer.error.code, answer.error.message);
      return fault === undefined ? [] : [{ ...fault, where }];
    }
    const faults = [];
    if (answer.late > 300)
      faults.push({ failure: "late-stop", detail: `heard ${Math.round(answer.late)} ms after the stop`, where });
    const detail = notFinite(answer.ok, name);
    if (detail !== undefined) faults.push({ failure: "not-finite", detail, where });
    return faults;
  });
}

/** What is no problem file: networks, batch normalisations, transformations and IDX bytes, with all that can be asked of them. */
export async function parseInPackage({ isoflat }, { what, text, bytes, network, parameters }) {
  const answers = [];
  const attempt = (of) => {
    try {
      const ok = of();
      answers.push({ ok: ok ?? null });
      return ok;
    } catch (error) {
      const fault = faultOf(error, isoflat);
      answers.push(fault?.failure === "foreign-error" ? { fault } : plainError(error));
      return undefined;
    }
  };
  const json = (of) => {
    try {
      return JSON.parse(of);
    } catch {
      return of;
    }
  };
  const look = (of) => {
    attempt(() => [of.inputLength, of.outputLength, of.parameterCount, of.depth]);
    for (const name of ["inputShape", "summary", "homogeneous", "piecewiseLinear"]) attempt(() => of[name]);
    if (of.parameterCount < 1e6) attempt(() => isoflat.Network.fromJSON(attempt(() => of.toJSON())).free());
    attempt(() => of.blocks().length);
    if (of.parameterCount < 1e6) attempt(() => of.initialize({ seed: 1 }));
    of.free();
  };
  const { Network } = isoflat;
  if (what === "idx") attempt(() => isoflat.parseIdx(Uint8Array.from(bytes)));
  if (what === "network") {
    const found = attempt(() => Network.fromJSON(text));
    attempt(() => Network.fromJSON(json(text))?.free());
    if (found !== undefined) look(found);
  }
  if (what === "batch_norm") {
    const given = json(text);
    const weights = Array.isArray(given?.parameters) ? given.parameters : [];
    const found = attempt(() => Network.foldBatchNorm(given?.network, weights));
    const again = stringified(given?.network);
    if (again !== undefined)
      attempt(() => Network.foldBatchNorm(again, Float64Array.from(weights, numberOf))?.network.free());
    if (found !== undefined) look(found.network);
  }
  if (what === "transformation") {
    const net = attempt(() => Network.fromJSON(network));
    const map = json(text);
    const moved = attempt(() => net.transform(Float64Array.from(parameters), map));
    const inverse = attempt(() => net.invert(map));
    if (moved !== undefined && inverse !== undefined) attempt(() => net.transform(moved, inverse));
    net?.free();
  }
  // Null stands for "nothing to say" here.
  return answers.map((answer) => (answer.ok === null ? { ok: true } : answer));
}
