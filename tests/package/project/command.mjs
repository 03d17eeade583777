/** The command, as a person types it. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const command = here("node_modules/isoflat/pkg/command.mjs");

function isoflat(...words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...words], {
    encoding: "utf8",
    cwd: here("."),
  });
  return { status, stdout, stderr };
}

assert(existsSync(here("node_modules/.bin/isoflat")), "npx would not find the command");
const help = isoflat("--help");
assert.equal(help.status, 0, help.stderr);
for (const word of ["report", "invariance", "eigenvalues", "landscape", "convert", "train", "plan"])
  assert(help.stdout.includes(word), word);

// A problem file's report, as JSON and for people.
const golden = "fixtures/mlp_bias.json";
const { expected } = JSON.parse(readFileSync(here(golden), "utf8"));
const report = isoflat("report", golden, "--json", "--backend", "cpu", "--threads", "2");
assert.equal(report.status, 0, report.stderr);
const found = JSON.parse(report.stdout);
assert(Math.abs(found.loss - expected.loss) <= 1e-9 * expected.loss, `${found.loss}`);
const text = isoflat("report", golden, "--html", "report.html", "--sections", "point");
assert.equal(text.status, 0, text.stderr);
assert(/accuracy/i.test(text.stdout), text.stdout);
assert(readFileSync(here("report.html"), "utf8").startsWith("<!doctype html>"));

// A model of another program, with data.
const resnet = ["fixtures/published/resnet20-12fca82f.th", "fixtures/published/cifar10_first32.npz"];
const point = isoflat("report", ...resnet, "--normalize", "imagenet", "--sections", "point", "--json");
assert.equal(point.status, 0, point.stderr);
assert(Math.abs(JSON.parse(point.stdout).loss - 0.010370075748057874) < 1e-9, point.stdout);
const converted = isoflat("convert", "fixtures/published/lenet_example.pth", "--to", "npz", "--out", "lenet.npz");
assert.equal(converted.status, 0, converted.stderr);
assert(existsSync(here("lenet.npz")));

// What is wrong is said, and ends with its status.
const typo = isoflat("reprot", golden);
assert.deepEqual([typo.status, typo.stderr.includes("report")], [2, true], typo.stderr);
const option = isoflat("report", golden, "--presicion", "f32");
assert.deepEqual([option.status, option.stderr.includes("--precision")], [2, true], option.stderr);
for (const [name, value] of Object.entries({ adapter: "0", tune: "anew", checkpoint: "kept" })) {
  const native = isoflat("report", golden, `--${name}`, value);
  assert.deepEqual(
    [native.status, native.stderr.includes(`--${name} is of the native program`)],
    [2, true],
    native.stderr,
  );
}
const missing = isoflat("report", "nothing.onnx");
assert.deepEqual([missing.status, missing.stderr.includes("nothing.onnx")], [1, true], missing.stderr);
for (const written of [golden, `./${golden}`, here(golden)]) {
  const over = isoflat("report", golden, "--sections", "point", "--out", written);
  assert.deepEqual([over.status, over.stderr.includes("would be lost")], [1, true], over.stderr);
}
assert(readFileSync(here(golden), "utf8").includes('"expected"'), "what is read is not written over");
// Nor where nobody names what is written, which has the model's name then.
copyFileSync(here(golden), here("own.json"));
const kept = readFileSync(here("own.json"), "utf8");
for (const read of ["own.json", "./own.json", here("own.json")]) {
  const over = isoflat("convert", read, "--to", "json", "--transformations", "nodewise");
  assert.deepEqual([over.status, over.stderr.includes("would be lost")], [1, true], over.stderr);
}
assert.equal(readFileSync(here("own.json"), "utf8"), kept);
// What has the name that is made, and is not read, stays too.
writeFileSync(here("own.npz"), "somebody's");
const made = isoflat("convert", "own.json", "--to", "npz");
assert.deepEqual([made.status, made.stderr.includes("own.npz is there already")], [1, true], made.stderr);
assert.equal(readFileSync(here("own.npz"), "utf8"), "somebody's");
assert.equal(isoflat("convert", "own.json", "--to", "npz", "--out", "own.npz").status, 0);
mkdirSync(here("empty"));
const empty = isoflat("report", "empty");
assert.deepEqual(
  [empty.status, empty.stderr.includes("empty: there is no file in this folder")],
  [1, true],
  empty.stderr,
);
for (const other of ["./one.html", here("one.html")]) {
  const one = isoflat("report", golden, "--sections", "point", "--out", "one.html", "--html", other);
  assert.deepEqual([one.status, one.stderr.includes("are one file")], [1, true], one.stderr);
}
// What is no file of its own is written through, and what was found is said though it cannot be kept.
writeFileSync(here("kept.json"), "");
symlinkSync("kept.json", here("link.json"));
const linked = isoflat("report", golden, "--sections", "point", "--out", "link.json");
assert.equal(linked.status, 0, linked.stderr);
assert(lstatSync(here("link.json")).isSymbolicLink() && JSON.parse(readFileSync(here("kept.json"), "utf8")).loss > 0);
if (existsSync("/dev/full")) {
  const full = isoflat("report", golden, "--sections", "point", "--html", "/dev/full");
  assert.deepEqual([full.status, full.stderr.includes("/dev/full cannot be written")], [1, true], full.stderr);
  assert(/accuracy/i.test(full.stdout), full.stdout);
  assert(lstatSync("/dev/full").isCharacterDevice());
  // Who does not read what is printed has the file all the same.
  const stdio = ["ignore", openSync("/dev/full", "w"), "pipe"];
  const words = ["report", golden, "--sections", "point", "--out", "unread.json"];
  spawnSync(process.execPath, [command, ...words], { cwd: here("."), stdio });
  assert(JSON.parse(readFileSync(here("unread.json"), "utf8")).loss > 0);
}
const nameless = isoflat("report", golden, "--out=");
assert.deepEqual([nameless.status, nameless.stderr.includes("--out is a file's name")], [2, true], nameless.stderr);
writeFileSync(here("broken.json"), "{");
const broken = isoflat("report", "broken.json");
assert.deepEqual([broken.status, broken.stderr.includes("broken.json")], [1, true], broken.stderr);

// Ctrl-C: the first asks for what there is, and the second ends at once.
async function interrupted(wait, presses) {
  const words = ["train", golden, "--epochs", "100000000", "--json", "--out", "interrupted.npz"];
  const child = spawn(process.execPath, [command, ...words], { cwd: here("."), stdio: ["ignore", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].on("data", (text) => {
      said[name] += text;
      // Not before the first is heard: two that come at once may be one.
      if (name === "stderr" && presses > 1 && text.includes("Ctrl-C again")) child.kill("SIGINT");
    });
  }
  const [code, signal] = await new Promise((resolve) => {
    setTimeout(() => child.kill("SIGINT"), wait);
    child.on("close", (...ended) => resolve(ended));
  });
  return { code, signal, ...said };
}
/** Before its work has begun the program ends with the first: on a slow computer it is asked once more, later. */
async function heard(presses) {
  let ended;
  for (const wait of [1000, 4000, 16_000]) {
    ended = await interrupted(wait, presses);
    if (ended.stderr.includes("finishing with what there is")) return ended;
  }
  return assert.fail(`Ctrl-C is not heard: ${JSON.stringify(ended)}`);
}
const once = await heard(1);
assert.equal(once.code, 130, once.stderr);
assert(JSON.parse(once.stdout).training.steps > 0 && existsSync(here("interrupted.npz")), once.stdout);
const twice = await heard(2);
assert(twice.signal === "SIGINT" || twice.code === 130, JSON.stringify(twice));
console.log("command: reports, conversions and faults, as typed");
