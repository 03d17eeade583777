/** Pictures of the page in 256 colours, which takes a third of the room: letters and lines on plain ground have few, and many shades between. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { PNG } from "pngjs";

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
/** Where a PNG's header says what its pixels are, and what says that they are places in a palette. */
const COLOUR_TYPE = { at: 25, palette: 3 };

const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? 0xedb88320 ^ (rest >>> 1) : rest >>> 1;
  return rest;
});

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  let rest = 0xffffffff;
  for (const byte of body) rest = remainders[(rest ^ byte) & 255] ^ (rest >>> 8);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(~rest >>> 0);
  return Buffer.concat([length, body, check]);
}

const channels = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];
const distance = (one, another) => {
  const [a, b] = [channels(one), channels(another)];
  return a.reduce((sum, value, index) => sum + (value - b[index]) ** 2, 0);
};

/** The colours that are most of the picture; every other one becomes the nearest of them. */
function inPalette({ width, height, data }) {
  const counts = new Map();
  const colourAt = (pixel) => (data[4 * pixel] << 16) | (data[4 * pixel + 1] << 8) | data[4 * pixel + 2];
  for (let pixel = 0; pixel < width * height; pixel++) {
    counts.set(colourAt(pixel), (counts.get(colourAt(pixel)) ?? 0) + 1);
  }
  const most = [...counts].sort(([a, m], [b, n]) => n - m || a - b).map(([colour]) => colour);
  const palette = most.slice(0, 256);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  for (const colour of most.slice(256)) {
    const nearest = palette.reduce((best, other) => (distance(other, colour) < distance(best, colour) ? other : best));
    places.set(colour, places.get(nearest));
  }
  // A line begins with how it is foretold from the one above: not at all.
  const lines = Buffer.alloc((width + 1) * height);
  for (let pixel = 0; pixel < width * height; pixel++) {
    lines[pixel + Math.floor(pixel / width) + 1] = places.get(colourAt(pixel));
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, COLOUR_TYPE.palette, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flatMap(channels))),
    chunk("IDAT", deflateSync(lines, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Of landscapes: their colours are what they show. */
const WHOLE = new Set(["surfaces.png"]);

/** The pictures of a folder, but for those that are small already; says by how much. */
export function shrink(folder) {
  let [before, after] = [0, 0];
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const picture = readFileSync(file);
    const isSmall = WHOLE.has(name) || picture[COLOUR_TYPE.at] === COLOUR_TYPE.palette;
    const small = isSmall ? picture : inPalette(PNG.sync.read(picture));
    if (small !== picture) writeFileSync(file, small);
    before += picture.length;
    after += small.length;
  }
  return `${(before / 1e6).toFixed(2)} MB became ${(after / 1e6).toFixed(2)} MB`;
}
