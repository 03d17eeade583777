/**
 * The program over ranks that MPI connects, against itself alone: `node tests/ranks.mjs [--all] [--kills N] [PROGRAM]`. What ranks compute is tried
 * case by case in `tests/native/ranks.rs`, without MPI; here it is that processes find each other, speak with one voice, and end together.
 * With --all every golden case goes over 1, 2, 3 and 7 of them here too, which takes some minutes; with --kills 50 each kind of work is
 * killed so often at random moments, and nothing else is tried.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { deflateRawSync } from "node:zlib";
import { environment, fail, root, run } from "../scripts/lib/process.mjs";
import { npy } from "./npy.mjs";

const { values: options, positionals } = parseArgs({ options: { all: { type: "boolean" }, kills: { type: "string" } }, allowPositionals: true });
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

/** A zip of files, as they are or deflated. */
function zip(name, files, isDeflated) {
  const [parts, list] = [[], []];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const data = isDeflated ? deflateRawSync(content) : content;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(isDeflated ? 8 : 0, 4);
    [crc32(content), data.length, content.length].forEach((n, i) => void common.writeUInt32LE(n, 10 + 4 * i));
    common.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    parts.push(Buffer.from("PK\x03\x04"), common, Buffer.from(name), data);
    list.push(Buffer.from("PK\x01\x02\x14\x00"), common, place, Buffer.from(name));
    at += 30 + name.length + data.length;
  }
  const end = Buffer.alloc(18);
  const count = Object.keys(files).length;
  end.writeUInt16LE(count, 4);
  end.writeUInt16LE(count, 6);
  end.writeUInt32LE(Buffer.concat(list).length, 8);
  end.writeUInt32LE(at, 12);
  const file = join(folder, name);
  writeFileSync(file, Buffer.concat([...parts, ...list, Buffer.from("PK\x05\x06"), end]));
  return file;
}

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** Each rank reads its own samples of such files, and no others: what is wrong with one is one rank's error, as it is of all. */
function shares() {
  const { inputs, targets } = JSON.parse(readFileSync(model, "utf8"));
  const images = idx("images.idx", [24, 7], inputs.flat(), true);
  const labels = (name, targets) => idx(name, [24], targets, false);
  const arrays = { "x.npy": npy([24, 7], inputs.flat()), "y.npy": npy([24], targets, "|u1") };
  for (const data of [
    [images, labels("labels.idx", targets)],
    [zip("stored.npz", arrays, false)],
    [zip("packed.npz", arrays, true)],
  ]) {
    const words = ["eigenvalues", model, ...data, "--precision", "f64"];
    for (const more of [[], ["--samples", "20"]]) {
      const expected = parsed(alone([...words, ...more, "--json"]));
      const found = parsed(onRanks(3, [...words, ...more, "--json"]));
      for (const key of ["loss", "accuracy", "eigenvalues"])
        compare(`${key} of ${data}`, found[key], expected[key], 0, 1e-9);
      assert.deepEqual(found.data, expected.data);
      assert.equal(found.data.samples, more.length > 0 ? 20 : 24);
    }
    assert.match(onRanks(3, [...words, "--samples", "20"]).stdout, /the\s+first\s+20\s+of\s+24\s+samples/);
  }
  const wrong = ["report", model, images, labels("wrong.idx", targets.with(10, 3))];
  const [line, ...rest] = told(onRanks(3, wrong, 1));
  const [told1] = told(spawnSync(program, wrong, { env, encoding: "utf8" }));
  assert.match(line, /target of sample 10 is class 3/);
  assert.equal(line, told1.replace("isoflat: ", "isoflat: rank 1: "));
  assert.deepEqual(rest, []);
}

/** Bytes that each of the program's processes had at most, as long as they run. */
async function peaks(command, words) {
  const child = spawn(command, words, { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  const found = {};
  const look = setInterval(() => {
    for (const id of processes()) {
      const most = /VmHWM:\s+(\d+)/.exec(of(id, "status"))?.[1];
      if (most !== undefined) found[id] = 1024 * Number(most);
    }
  }, 50);
  const status = await new Promise((resolve) => child.on("close", resolve));
  clearInterval(look);
  assert.equal(status, 0, said);
  return Object.values(found);
}

/** Of two ranks each has half of what one process has, but for what a program takes without data. */
async function memory() {
  if (process.platform !== "linux") return;
  const network = join(folder, "network.json");
  const units = { type: "dense", units: 10, bias: true };
  writeFileSync(network, JSON.stringify({ input: [784], layers: [units] }));
  const pixels = Float32Array.from({ length: 40000 * 784 }, (_, i) => ((i * 2654435761) % 1000) / 1000);
  const bytes = npy([40000, 784], [], "<f4");
  const x = Buffer.concat([bytes, Buffer.from(pixels.buffer)]);
  const y = npy([40000], Array.from({ length: 40000 }, (_, i) => i % 10), "|u1");
  const big = { x: join(folder, "x.npy"), y: join(folder, "y.npy") };
  writeFileSync(big.x, x);
  writeFileSync(big.y, y);
  const words = ["train", "--preset", network, big.x, big.y, "--inputs", "x", "--targets", "y", "--epochs", "2"];
  const all = [...words, "--batch", "20000", "--backend", "cpu", "--out", join(folder, "big.safetensors"), "--quiet"];
  const few = [...all, "--samples", "2"];
  const [one] = await peaks(program, all);
  const both = await peaks("mpirun", launch(2, all));
  const empty = Math.min(...(await peaks("mpirun", launch(2, few))));
  assert.equal(both.length, 2);
  const megabytes = (n) => `${Math.round(n / 1e6)} MB`;
  console.log(`memory: ${megabytes(one)} alone, ${both.map(megabytes).join(" and ")} on 2 ranks, ${megabytes(empty)} without data`);
  // The data themselves are 125 MB.
  assert.ok(one - empty > 200e6, `${one} alone`);
  for (const rank of both) assert.ok(rank - empty < 0.55 * (one - empty), `a rank has ${rank} bytes, and one alone ${one}`);
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

/** What Linux tells of a process in this file; of one that has ended meanwhile nothing. */
function of(id, file) {
  try {
    return readFileSync(`/proc/${id}/${file}`, "utf8");
  } catch {
    return "";
  }
}

const processes = () =>
  spawnSync("pgrep", ["-f", folder], { encoding: "utf8" })
    .stdout.split("\n")
    .filter((id) => id !== "" && of(id, "cmdline").startsWith(program))
    .map(Number);

const rankOf = (id) => Number(/OMPI_COMM_WORLD_RANK=(\d+)/.exec(of(id, "environ"))?.[1]);

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

const random = (most) => Math.floor(Math.random() * most);

/** A run that is killed after so many milliseconds: all of it, or one rank. True where it had ended before. */
async function killedAfter(command, words, milliseconds) {
  const child = spawn(command, words, { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  // Not "close": what MPI starts beside a program that is alone may outlive it, and holds its stderr.
  const end = new Promise((resolve) => child.on("exit", resolve));
  await Promise.race([wait(milliseconds), end]);
  if (child.exitCode !== null) {
    assert.equal(child.exitCode, 0, said);
    return true;
  }
  const ids = processes();
  const some = command !== program && random(2) === 0 ? [ids[random(ids.length)]] : [child.pid, ...ids];
  for (const id of some.filter((id) => id !== undefined)) {
    try {
      process.kill(id, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
  if (some.includes(undefined)) child.kill("SIGKILL");
  await end;
  for (let i = 0; processes().length > 0 && i < 100; i++) await wait(100);
  return false;
}

/** Work that is killed at random moments goes on from its checkpoint, to the same bits. */
async function checkpoints() {
  if (process.platform !== "linux") return;
  const kills = Number(options.kills ?? 1);
  const works = [
    ["report", join(golden, "mlp_bias.json")],
    ["eigenvalues", join(golden, "graph_mlp_skip.json"), "--count", "5", "--lowest", "--density"],
    ["train", model, "--epochs", "4000", "--batch", "5", "--out", join(folder, "killed.safetensors")],
  ];
  for (const [i, work] of works.entries()) {
    for (const ranks of [1, 2]) {
      const store = join(folder, `checkpoint-${i}-${ranks}`);
      const all = [...work, "--json", "--backend", "cpu", "--precision", "f64"];
      const kept = [...all, "--checkpoint", store, "--checkpoint-every", "0.01"];
      const [command, words] = ranks === 1 ? [program, kept] : ["mpirun", launch(ranks, kept)];
      const before = performance.now();
      const expected = withoutTimes((ranks === 1 ? alone(all) : onRanks(ranks, all)).stdout);
      const took = performance.now() - before;
      let [killed, begun] = [0, 0];
      while (killed < kills) {
        if (await killedAfter(command, words, random(took))) rmSync(store, { recursive: true, force: true });
        else killed += 1;
        begun = Math.max(begun, existsSync(store) ? readdirSync(store).length : 0);
      }
      const found = withoutTimes((ranks === 1 ? alone(kept) : onRanks(ranks, kept)).stdout);
      assert.equal(found, expected, `${work[0]} on ${ranks} ranks, killed ${kills} times`);
      // What is finished is there for another number of ranks, which makes no pass of its own.
      const others = onRanks(3, kept).stdout;
      assert.equal(withoutTimes(others).replace(/\s*"ranks": 3,/, ""), expected.replace(/\s*"ranks": 2,/, ""), work[0]);
      console.log(`${work[0]} on ${ranks}: killed ${kills} times, ${begun} files at most by then`);
    }
  }
  const store = join(folder, "checkpoint-0-1");
  const [line] = told(onRanks(2, ["report", model, "--precision", "f64", "--seed", "3", "--checkpoint", store], 1));
  assert.match(line, /^isoflat: rank 0: the checkpoint in .* is of another run: seed was 0 there and is 3 here/);
  // Half of the work on one process, the rest on two: the same but for rounding.
  for (const name of readdirSync(store).filter((name) => name > "000005")) if (name !== "about.json") rmSync(join(store, name));
  const half = ["report", model, "--json", "--backend", "cpu", "--precision", "f64"];
  const found = parsed(onRanks(2, [...half, "--checkpoint", store]));
  compare("half on one and half on 2 ranks", found, parsed(alone(half)), 0, 1e-9);
  const full = [...half, "--checkpoint", "/dev/full/checkpoint"];
  assert.match(told(onRanks(2, full, 1))[0], /^isoflat: rank 0: the folder \/dev\/full\/checkpoint cannot be made/);
}

try {
  // As the native tests have it: `cargo build` would compile all of it anew, with other features of what it depends on.
  if (positionals.length === 0) await run("cargo", ["test", "--no-run", "--test", "*", "--features", "mpi"]);
  const all = [goldenCases, commands, shares, memory, faults, ends, checkpoints];
  for (const part of options.kills === undefined ? all : [checkpoints]) {
    const start = performance.now();
    await part();
    console.log(`${part.name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  }
} catch (error) {
  fail(error);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
