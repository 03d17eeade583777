/** Serves a folder on a free port of this computer, the way a plain file server does, or with headers of its own, or compressed. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { basename, extname, join, normalize } from "node:path";
import { gzipSync } from "node:zlib";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile();

/** All files before one is asked for: a page that is timed is not to share its processors with what compresses for it. */
const compressed = (folder) =>
  new Map(
    readdirSync(folder, { recursive: true })
      .map((name) => join(folder, name))
      .filter(isFile)
      .map((path) => [path, gzipSync(readFileSync(path))]),
  );

/** `arrival`: a folder with another network than the page's own to open with. `changed`: other contents of some files, by their paths. */
export function serve(folder, headers = {}, { compress = false, arrival, changed } = {}) {
  const ready = compress ? compressed(folder) : null;
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    const [base, name] =
      arrival && path.startsWith("/arrival/") ? [arrival, basename(path)] : [folder, normalize(path)];
    const file = join(base, name, path.endsWith("/") ? "index.html" : "");
    if (!file.startsWith(base) || !isFile(file)) return response.writeHead(404).end();
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    const encoding = compress ? { "Content-Encoding": "gzip" } : {};
    response.writeHead(200, { ...headers, ...encoding, "Content-Type": type });
    if (changed?.has(file)) response.end(changed.get(file));
    else if (ready) response.end(ready.get(file));
    else readFile(file).then((bytes) => response.end(bytes));
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      resolve({ url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() });
    });
  });
}
