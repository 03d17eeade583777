/**
 * The program over ranks that MPI connects, against itself alone: `node tests/ranks.mjs [--all] [PROGRAM]`. What ranks compute is tried
 * case by case in `tests/native/ranks.rs`, without MPI; here it is that processes find each other, speak with one voice, and end together.
 * With --all every golden case goes over 1, 2, 3 and 7 of them here too, which takes some minutes.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { environment, fail, root } from "../scripts/lib/process.mjs";

const { values: options, positionals } = parseArgs({ options: { all: { type: "boolean" } }, allowPositionals: true });
const program = resolve(positionals[0] ?? join(root, "target", "debug", "isoflat"));
const folder = mkdtempSync(join(tmpdir(), "isoflat-ranks-"));
const golden = join(root, "tests", "golden");

// As root, and with more ranks than cores, Open MPI runs where it is told that this is meant.
const isOpen = spawnSync("mpirun", ["--version"], { env: environment, encoding: "utf8" }).stdout.includes("Open MPI");
const may = isOpen ? [...(process.getuid?.() === 0 ? ["--allow-run-as-root"] : []), "--oversubscribe"] : [];
const env = { ...environment, RAYON_NUM_THREADS: "1" };

const launch = (ranks, words, before = []) => [...may, "-n", `${ranks}`, ...before, program, ...words];

function alone(words) {
  const found = spawnSync(program, words, { env, encoding: "utf8" });
  assert.equal(found.status, 0, found.stderr);
  return found;
}

function onRanks(ranks, words, status = 0) {
  const found = spawnSync("mpirun", launch(ranks, words), { env, encoding: "utf8" });
  assert.equal(found.status, status, `${ranks} ranks, ${words.join(" ")}: ${found.stderr}`);
  return found;
}

/** What a rank of its own is told besides: `then` on the rank of this number, `words` on the others. */
const onOne = (rank, then, words) => [
  "sh",
  "-c",
  `if [ "\${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = ${rank} ]; then exec "$0" ${then}; else exec "$0" ${words}; fi`,
  program,
];

/** What is not compared: times, names of devices, and what is said of rounding. */
const passedOver = ["backend", "seconds", "sections", "residual", "relativeChange", "tolerance", "reason", "bytes"];

/** Numbers within a tolerance of the largest beside them; eigenvalues of their operator's norm. */
function compare(path, found, expected, scale, tolerance) {
  if (Array.isArray(expected)) {
    assert.equal(found?.length, expected.length, path);
    const numbers = expected.filter((value) => typeof value === "number").map(Math.abs);
    const largest = Math.max(scale, ...numbers);
    expected.forEach((value, i) => compare(`${path}[${i}]`, found[i], value, largest, tolerance));
  } else if (expected !== null && typeof expected === "object") {
    const norm = Math.abs(expected.spectral_norm ?? expected.max_eigenvalue ?? 0);
    for (const [key, value] of Object.entries(expected)) {
      if (passedOver.includes(key)) continue;
      compare(`${path}.${key}`, found?.[key], value, norm, tolerance);
    }
  } else if (typeof expected === "number") {
    const error = Math.abs(found - expected) / Math.max(Math.abs(expected), scale, Number.MIN_VALUE);
    assert.ok(error <= tolerance || found === expected, `${path} is ${found}, and ${expected} alone`);
  } else {
    assert.equal(found, expected, path);
  }
}

const parsed = ({ stdout }) => JSON.parse(stdout);
const withoutTimes = (text) => text.replace(/"(seconds|gradientSeconds)": ?[\d.e-]+/g, "");
const some = { "mlp_bias.json": [1, 2, 3, 7], "graph_mlp_skip.json": [2], "linear_regression.json": [3] };

function goldenCases() {
  for (const name of options.all ? readdirSync(golden) : Object.keys(some)) {
    const file = join(golden, name);
    const words = ["report", file, "--json", "--precision", "f64"];
    const expected = parsed(alone(words));
    for (const ranks of options.all ? [1, 2, 3, 7] : some[name]) {
      const found = onRanks(ranks, words);
      compare(`${name} on ${ranks} ranks`, parsed(found), expected, 0, 1e-9);
      assert.equal(parsed(found).backend.ranks, ranks > 1 ? ranks : undefined);
    }
  }
}

const model = join(golden, "mlp_bias.json");

function commands() {
  const weights = (name) => join(folder, name);
  for (const words of [
    ["eigenvalues", model],
    ["invariance", model],
    ["landscape", model, "--points", "5"],
    ["train", model, "--epochs", "5", "--out", weights("trained.json")],
  ]) {
    const all = [...words, "--json", "--precision", "f64"];
    const expected = parsed(alone(all));
    const first = onRanks(3, all);
    compare(words[0], parsed(first), expected, 0, 1e-7);
    assert.equal(withoutTimes(onRanks(3, all).stdout), withoutTimes(first.stdout), `${words[0]}: other bits the second time`);
  }
  // Problem files have all data, wherever they were: it is the first rank that writes.
  assert.equal(JSON.parse(readFileSync(weights("trained.json"), "utf8")).targets.length, 24);
  const { stdout } = onRanks(2, ["report", model, "--precision", "f64"]);
  assert.match(stdout, /computed by\s+2 × /);
  assert.equal(stdout.match(/computed by/g).length, 1, "only one rank prints");
  assert.equal(onRanks(2, ["--version"]).stdout.match(/isoflat \d/g).length, 1);
}

/** An IDX file: big-endian, doubles or bytes. */
function idx(name, shape, numbers, isWide) {
  const bytes = Buffer.alloc(4 + 4 * shape.length + numbers.length * (isWide ? 8 : 1));
  bytes.set([0, 0, isWide ? 0x0e : 0x08, shape.length]);
  shape.forEach((length, i) => void bytes.writeUInt32BE(length, 4 + 4 * i));
  const at = 4 + 4 * shape.length;
  numbers.forEach((x, i) => void (isWide ? bytes.writeDoubleBE(x, at + 8 * i) : bytes.writeUInt8(x, at + i)));
  const file = join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

/** Each rank reads its own samples of an IDX file, and no others: what is wrong with one is one rank's error. */
function shares() {
  const { inputs, targets } = JSON.parse(readFileSync(model, "utf8"));
  const images = idx("images.idx", [24, 7], inputs.flat(), true);
  const labels = (name, targets) => idx(name, [24], targets, false);
  const words = ["eigenvalues", model, images, labels("labels.idx", targets), "--json", "--precision", "f64"];
  for (const more of [[], ["--samples", "20"]]) {
    const expected = parsed(alone([...words, ...more]));
    const found = parsed(onRanks(3, [...words, ...more]));
    for (const key of ["loss", "accuracy", "eigenvalues"])
      compare(`${key} of IDX files`, found[key], expected[key], 0, 1e-9);
    assert.equal(found.data.samples, more.length > 0 ? 20 : 24);
  }
  const wrong = labels("wrong.idx", targets.with(10, 3));
  const [line, ...rest] = told(onRanks(3, ["report", model, images, wrong], 1));
  assert.match(line, /^isoflat: rank 1: .*target of sample 2 is class 3/);
  assert.deepEqual(rest, []);
}

const told = (found) => found.stderr.split("\n").filter((line) => line.startsWith("isoflat:"));

function faults() {
  for (const [words, status, says] of [
    [["report", "there-is-none.json"], 1, "isoflat: there-is-none.json: there is no such file"],
    [["reprot", model], 2, /^isoflat: .*did you mean report/],
    [["report", model, "--samples", "2"], 1, /there are 3 ranks for 2 samples, and each needs one at least/],
  ]) {
    const [line, ...more] = told(onRanks(3, words, status));
    assert.match(line, says instanceof RegExp ? says : new RegExp(says));
    assert.deepEqual(more, [], "what is everybody's fault is told once");
  }
  const other = join(folder, "other.json");
  writeFileSync(other, readFileSync(model, "utf8").replace("1.0909171580484358", "1.0909171580484357"));
  for (const [then, says] of [
    ["report there-is-none.json", "isoflat: rank 1: there-is-none.json: there is no such file"],
    [`report ${other}`, "isoflat: rank 1 has not the same command line as rank 0"],
  ]) {
    const words = onOne(1, then, `report ${model}`);
    const found = spawnSync("mpirun", [...may, "-n", "3", ...words], { env, encoding: "utf8" });
    assert.deepEqual([told(found), found.status], [[says], 1], found.stderr);
  }
}

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Long work, and what became of it once `act` was done to it after a while. */
async function interrupted(words, act) {
  const child = spawn("mpirun", launch(3, words), { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  const end = new Promise((resolve) => child.on("close", resolve));
  // Until all of them compute.
  for (let i = 0; process.platform === "linux" && processes().length < 3 && i < 100; i++) await wait(100);
  await wait(3000);
  assert.equal(child.exitCode, null, said);
  const begin = performance.now();
  act(child);
  const status = await end;
  return { said, status, seconds: (performance.now() - begin) / 1000 };
}

const processes = () =>
  spawnSync("pgrep", ["-f", folder], { encoding: "utf8" })
    .stdout.split("\n")
    .filter((id) => id !== "" && readFileSync(`/proc/${id}/cmdline`, "utf8").startsWith(program))
    .map(Number);

const rankOf = (id) => Number(/OMPI_COMM_WORLD_RANK=(\d+)/.exec(readFileSync(`/proc/${id}/environ`, "utf8"))?.[1]);

async function ends() {
  const out = join(folder, "long.safetensors");
  const words = ["train", model, "--epochs", "100000000", "--batch", "8", "--out", out];
  // How mpirun hands Ctrl-C on: after a while it asks, and as long after that it kills.
  const patient = isOpen ? ["--mca", "odls_base_sigkill_timeout", "3"] : [];
  may.push(...patient);
  const finished = await interrupted(words, (child) => child.kill("SIGINT"));
  assert.ok(existsSync(out), `what was finished is written: ${finished.said}`);
  assert.ok(finished.seconds < 20, `it took ${finished.seconds} s to finish`);
  may.splice(may.length - patient.length);
  if (process.platform !== "linux" || !isOpen) return;
  const killed = await interrupted(words, () => process.kill(processes().find((id) => rankOf(id) === 1), "SIGKILL"));
  assert.ok(killed.seconds < 10, `it took ${killed.seconds} s to end`);
  assert.notEqual(killed.status, 0);
  assert.match(killed.said, /rank 1 /);
}

try {
  for (const part of [goldenCases, commands, shares, faults, ends]) {
    const start = performance.now();
    await part();
    console.log(`${part.name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  }
} catch (error) {
  fail(error);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
