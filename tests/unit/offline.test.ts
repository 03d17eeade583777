import { expect, test } from "vitest";
import { fileAt, keptOf, withIsolation } from "../../www/src/offline/files";

const files = [
  "index.html",
  "assets/isoflat_bg-aB3_x.wasm",
  "assets/isoflat_relaxed_bg-c4.wasm",
  "assets/isoflat_files_bg-d5.wasm",
  "mnist/train-images.idx.gz",
  "mnist/rest-images.idx.gz",
  "assets/surface-worker-e6.js",
  "assets/scene-f7.js",
  "assets/tables-g8.json",
  "arrival/stage.json",
].map((url) => ({ url, revision: null, integrity: "" }));
const names = (kept: { url: string }[]) => kept.map(({ url }) => url);

test("of the two engines the one that the browser takes is kept, and what reads files beside either", () => {
  const relaxed = names(keptOf(files, true).essential);
  expect(relaxed).toContain("assets/isoflat_relaxed_bg-c4.wasm");
  expect(relaxed).not.toContain("assets/isoflat_bg-aB3_x.wasm");
  expect(relaxed).toContain("assets/isoflat_files_bg-d5.wasm");
  const plain = names(keptOf(files, false).essential);
  expect(plain).toContain("assets/isoflat_bg-aB3_x.wasm");
  expect(plain).not.toContain("assets/isoflat_relaxed_bg-c4.wasm");
  expect(plain).toContain("assets/isoflat_files_bg-d5.wasm");
});

test("what is large and seldom needed waits, and nothing is in both lists", () => {
  const { essential, later } = keptOf(files, true);
  expect(names(later)).toEqual(["mnist/rest-images.idx.gz", "assets/scene-f7.js", "assets/tables-g8.json"]);
  expect(names(essential)).toContain("arrival/stage.json");
  expect(names(essential)).toContain("mnist/train-images.idx.gz");
  expect(names(essential)).not.toContain("mnist/rest-images.idx.gz");
  expect(names(essential)).toContain("assets/surface-worker-e6.js");
});

test("a folder is its page, whatever the page is asked", () => {
  expect(fileAt("https://a.example/lab/?embed#/measures")).toBe("https://a.example/lab/index.html");
  expect(fileAt("https://a.example/lab/index.html?x")).toBe("https://a.example/lab/index.html");
  expect(fileAt("https://a.example/lab/mnist/rest-images.idx.gz")).toBe(
    "https://a.example/lab/mnist/rest-images.idx.gz",
  );
});

test("pages and workers get the headers that a server has not sent, and keep those that it has", () => {
  const plain = () => new Response("x", { headers: { "Content-Type": "text/html" } });
  const page = withIsolation(plain(), "document");
  expect(page.headers.get("Cross-Origin-Embedder-Policy")).toBe("require-corp");
  expect(page.headers.get("Cross-Origin-Opener-Policy")).toBe("same-origin");
  expect(page.headers.get("Content-Type")).toBe("text/html");
  expect(withIsolation(plain(), "worker").headers.get("Cross-Origin-Embedder-Policy")).toBe("require-corp");
  const image = plain();
  expect(withIsolation(image, "image")).toBe(image);
  const own = new Response("x", { headers: { "Cross-Origin-Embedder-Policy": "credentialless" } });
  expect(withIsolation(own, "document").headers.get("Cross-Origin-Embedder-Policy")).toBe("credentialless");
});
