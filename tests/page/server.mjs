/** Serves a folder on a free port of this computer, the way a plain file server does, or with headers of its own, or compressed. */

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { createGzip } from "node:zlib";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

export function serve(folder, headers = {}, { compress = false } = {}) {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    const file = join(folder, normalize(path), path.endsWith("/") ? "index.html" : "");
    const found = file.startsWith(folder) && statSync(file, { throwIfNoEntry: false })?.isFile();
    if (!found) return response.writeHead(404).end();
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    const encoding = compress ? { "Content-Encoding": "gzip" } : {};
    response.writeHead(200, { ...headers, ...encoding, "Content-Type": type });
    const stream = createReadStream(file);
    (compress ? stream.pipe(createGzip()) : stream).pipe(response);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      resolve({ url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() });
    });
  });
}
