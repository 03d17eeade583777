/** The results as tables: on the terminal, and in Markdown for the README. */

import { convolutions, flops } from "../../benches/web/problems.mjs";
import { operations } from "./contenders.mjs";

const time = (ms) => (ms < 100 ? ms.toPrecision(3) : ms.toFixed(0));
const exponential = (x) => x.toExponential(1);

function errorText({ error, missing, complaints = [] }) {
  const found = missing ?? exponential(error);
  return complaints.length > 0 ? `${found} (the GPU complained: ${complaints[0].slice(0, 60)})` : found;
}

/** The contender that `cell` compares with: isoflat in f32 on the same kind of device. */
function rivalOf(cell, results) {
  const name = /WebGPU/.test(cell.name) ? "isoflat WebGPU" : "isoflat CPU f32";
  const wanted = cell.operation === "plain" ? "product" : cell.operation;
  return results.find((other) => other.name === name && other.operation === wanted && other.ms !== undefined);
}

/** How many operations a second, and on one thread of the CPU how much of what a plain product of matrices reached in the same rounds. */
function speed(cell, results, work) {
  const speedOf = ({ flops: own, operation, ms }) => (own ?? flops(work, operation)) / ms / 1e6;
  const ceiling = results.find(({ ceilingOf, operation }) => ceilingOf === "cpu" && operation === cell.operation);
  const share =
    cell.name === "isoflat CPU f32" && ceiling?.ms !== undefined
      ? ` (${Math.round((100 * speedOf(cell)) / speedOf(ceiling))} %)`
      : "";
  return `${speedOf(cell).toFixed(1)}${share}`;
}

function row(cell, results, work) {
  const isCeiling = cell.ceilingOf !== undefined;
  const head = { contender: cell.name, what: operations[isCeiling ? "ceiling" : cell.operation] };
  if (cell.failure !== undefined) return { ...head, ms: `not available: ${cell.failure}` };
  const own = isCeiling ? undefined : rivalOf(cell, results);
  const fastest = results.find(({ name, operation }) => name === "isoflat CPU f32" && operation === own?.operation);
  return {
    ...head,
    ms: time(cell.ms),
    fastest: time(cell.fastest),
    "GFLOP/s (of the ceiling)": speed(cell, results, work),
    "÷ isoflat, same device": own ? (cell.ms / own.ms).toFixed(2) : "",
    "÷ isoflat CPU f32": fastest?.ms ? (cell.ms / fastest.ms).toFixed(2) : "",
    "error to f64": cell.name === "isoflat CPU f64" ? "the reference" : errorText(cell),
    dispatches: cell.counts?.dispatches ?? "",
    submissions: cell.counts?.submissions ?? "",
    rounds: cell.rounds,
  };
}

const rowsOf = ({ work, results }) => results.map((cell) => row(cell, results, work));

/** Kinds of convolutions: how many operations a second, and how much that is of what dense layers reach. */
function kindRows(found) {
  const speeds = ({ name, ...ms }) => ["gradient", "product"].map((what) => flops(name, what) / ms[what] / 1e6);
  const dense = speeds(found.find(({ name }) => name === "dense"));
  return found.map((one) => {
    const [gradient, product] = speeds(one).map(
      (speed, i) => `${speed.toFixed(1)} (${Math.round((100 * speed) / dense[i])} %)`,
    );
    return { layers: convolutions[one.name].title, gradient, "Hessian product": product };
  });
}

/** What one thread in f32 took for each kind in the browser. */
const kindsInBrowser = (works) =>
  works.map(({ work: name, results }) => {
    const of = (what) => results.find((cell) => cell.name === "isoflat CPU f32" && cell.operation === what)?.ms;
    return { name, gradient: of("gradient"), product: of("product") };
  });

function markdownTable(rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const body = rows.map((row) => line(columns.map((column) => row[column] ?? "")));
  return [line(columns), line(columns.map(() => "---")), ...body].join("\n");
}

/** Everything of one run. `titles` names the pieces of work. */
export function print({ browser, native, kinds, answers, date, machine }, titles, markdown) {
  const table = markdown ? (rows) => console.log(`\n${markdownTable(rows)}`) : (rows) => console.table(rows);
  const heading = (text) => console.log(markdown ? `\n**${text}**` : `\n${text}`);
  console.log(`\n${date}, ${machine}`);
  if (browser !== undefined) {
    console.log(`${browser.version}; WebGPU on ${browser.adapter ?? "no adapter"}; ${browser.command}`);
    console.log(
      "Medians of interleaved rounds after a warm-up. Slow cells take part in fewer rounds, never fewer than 3.",
    );
    for (const work of browser.works) {
      heading(titles[work.work].title);
      table(rowsOf(work));
    }
  }
  const spoken = "GFLOP/s of f32 on one thread (of what dense layers reach)";
  if (browser?.works.some(({ work }) => work === "dense")) {
    heading(`In the browser: ${spoken}`);
    table(kindRows(kindsInBrowser(browser.works)));
  }
  if (kinds !== undefined) {
    heading(`Native: ${spoken}`);
    table(kindRows(kinds));
  }
  if (native !== undefined) {
    heading("Native, by Criterion: medians");
    table(native.map(({ name, ms }) => ({ benchmark: name, ms: time(ms) })));
  }
  if (answers !== undefined) {
    heading("Whole answers: a published LeNet, 2,048 of MNIST's test images, on one thread where not said otherwise");
    table(answers.map(answerRow));
  }
}

function answerRow({ answer, who, seconds, missing, values, products, verified, cells, wrong }) {
  return {
    answer,
    who,
    seconds: seconds === undefined ? `not available: ${missing}` : seconds.toPrecision(3),
    found:
      values?.map((value) => value.toPrecision(6)).join(" ") ??
      (cells ? `${cells} cells, ${wrong} against theory` : ""),
    products: products === undefined ? "" : `${products}${verified ? ", verified" : ""}`,
  };
}
