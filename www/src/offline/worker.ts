/**
 * The service worker: after one visit the page works without a network.
 *
 * It keeps one build, whole, and answers with nothing else. What it fetches has to have the build's own bytes, so that a server
 * that changes in the middle leaves it without a build rather than with half of two. The next build is fetched beside it, and
 * takes over when a person says so and no other tab is left that works with this one.
 */

import { PrecacheController } from "workbox-precaching/PrecacheController.js";
import { type Answer, fileAt, keptOf, type OfflineFile, type Question, withIsolation } from "./files";

declare const self: ServiceWorkerGlobalScope;
/** The build's list (build/offline.ts). */
declare const OFFLINE_FILES: OfflineFile[];

/** A module of one instruction that only engines with relaxed SIMD take. */
const RELAXED_SIMD = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 0, 253, 15, 65, 0, 253, 15, 65,
  0, 253, 15, 253, 133, 2, 11,
];

const { scope } = self.registration;
const kept = keptOf(OFFLINE_FILES, WebAssembly.validate(new Uint8Array(RELAXED_SIMD)));

function controllerOf(name: string, files: OfflineFile[]): PrecacheController {
  const controller = new PrecacheController({ cacheName: `isoflat-${name} ${scope}` });
  controller.addToCacheList(files.map((file) => ({ ...file, url: new URL(file.url, scope).href })));
  return controller;
}

const essential = controllerOf("page", kept.essential);
const later = controllerOf("data", kept.later);

/** Its file, from where it is kept; or else from the network, if that has the same one still, and then it is kept. */
function answer(
  controller: PrecacheController,
  url: string,
  event: ExtendableEvent,
): [Promise<Response>, Promise<void>] {
  const cacheKey = controller.getCacheKeyForURL(url) ?? url;
  const integrity = controller.getIntegrityForCacheKey(cacheKey);
  const request = new Request(url, { credentials: "same-origin" });
  return controller.strategy.handleAll({ event, request, params: { cacheKey, integrity } });
}

self.addEventListener("install", (event) => void essential.install(event));

self.addEventListener("activate", (event) => {
  for (const controller of [essential, later]) void controller.activate(event);
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  const url = fileAt(request.url);
  const controller = [essential, later].find((one) => one.getCacheKeyForURL(url) !== undefined);
  if (!controller) return;
  const [response, done] = answer(controller, url, event);
  event.respondWith(response.then((found) => withIsolation(found, request.destination)));
  // What fails in keeping a file has nothing to do with whoever asked for it.
  event.waitUntil(done.catch(() => {}));
});

self.addEventListener("message", (event) => {
  const question = event.data as Question;
  const [port] = event.ports;
  event.waitUntil(
    answerTo(question, event).then(
      (answer) => port?.postMessage(answer),
      () => port?.postMessage("failed" satisfies Answer),
    ),
  );
});

async function answerTo(question: Question, event: ExtendableEvent): Promise<Answer> {
  if (question.type === "keep-later") {
    for (const url of later.getCachedURLs()) await Promise.all(answer(later, url, event));
    return "done";
  }
  const tabs = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (tabs.length > 1) return "others";
  if (question.type === "take-over") await self.skipWaiting();
  else if (essential.getCacheKeyForURL(question.script) !== undefined) await self.clients.claim();
  return "done";
}
