/** Serves the benchmark's page, modules and the f64 reference values on a free port. */

import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { root } from "../lib/process.mjs";

const types = {
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
  ".wgsl": "text/plain",
};

/** What the first part of an address stands for. */
const folders = {
  web: join(root, "benches", "web"),
  built: join(root, "target", "bench"),
  modules: join(root, "node_modules"),
};

const imports = JSON.stringify({ imports: { "@jax-js/jax": "/modules/@jax-js/jax/dist/index.js" } });

const page = `<!doctype html><title>bench</title>
<script type="importmap">${imports}</script>
<script type="module" src="/web/page.mjs"></script>`;

function file(path) {
  const [, folder, ...rest] = normalize(path).split(/[\\/]/);
  const found = folders[folder] && join(folders[folder], ...rest);
  return found && existsSync(found) && statSync(found).isFile() ? found : undefined;
}

async function body(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

export async function serve() {
  const references = new Map();
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://localhost");
    // Modules and workers of an isolated page are held to the same policy, so theirs say so too.
    response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
    response.setHeader("Cross-Origin-Resource-Policy", "same-origin");
    response.setHeader("Cache-Control", "no-store");
    if (pathname === "/") {
      if (searchParams.has("isolated")) response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
      else response.removeHeader("Cross-Origin-Embedder-Policy");
      response.setHeader("Content-Type", "text/html");
      response.end(page);
    } else if (pathname.startsWith("/reference/")) {
      if (request.method === "POST") references.set(pathname, await body(request));
      const values = references.get(pathname);
      response.writeHead(values === undefined ? 404 : 200).end(values);
    } else {
      const found = file(pathname);
      if (found === undefined) response.writeHead(404).end();
      else {
        response.setHeader("Content-Type", types[extname(found)] ?? "application/octet-stream");
        createReadStream(found).pipe(response);
      }
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
