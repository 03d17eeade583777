/** What the service worker keeps: which files, when, and under which address each is asked for. */

/** One of the built page's files, as the build lists them. */
export interface OfflineFile {
  /** Relative to the page. */
  url: string;
  /** Of its content; null where the name has one. */
  revision: string | null;
  /** What its bytes have to come to: so a file of another build is never taken for it. */
  integrity: string;
}

export interface Kept {
  /** Without which the page is none: all of them, or the build is not taken. */
  essential: OfflineFile[];
  /** What is large and seldom needed: when it is first used, or when there is nothing else to do. */
  later: OfflineFile[];
}

/**
 * The training images beyond the first 24,000 are as large as most of the page; three.js draws in a worker, and seldom on the page; what
 * was run of the papers (.json) is drawn where somebody opens it.
 */
const LATER = /^(mnist\/rest-|assets\/scene-|assets\/[^/]+\.json$)/;
/** The engine is there twice, and a browser takes one of the two. */
const [PLAIN, RELAXED] = [/\/isoflat_bg-[^/]*\.wasm$/, /\/isoflat_relaxed_bg-[^/]*\.wasm$/];

export function keptOf(files: readonly OfflineFile[], hasRelaxedSimd: boolean): Kept {
  const other = hasRelaxedSimd ? PLAIN : RELAXED;
  const wanted = files.filter(({ url }) => !other.test(url));
  return {
    essential: wanted.filter(({ url }) => !LATER.test(url)),
    later: wanted.filter(({ url }) => LATER.test(url)),
  };
}

/** The file that an address is of: a folder's is its page, and what comes after `?` or `#` is the page's own business. */
export function fileAt(address: string): string {
  const url = new URL(address);
  url.search = "";
  url.hash = "";
  if (url.pathname.endsWith("/")) url.pathname += "index.html";
  return url.href;
}

/** Without these a page has no shared memory, and the engine one thread. */
export const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
} as const;

/** Pages, and workers that are to be started by isolated ones. Other files need no such words: all of them are the page's own. */
const ISOLATED: ReadonlySet<RequestDestination> = new Set(["document", "iframe", "frame", "worker"]);

/** An answer with the headers that a server may not have sent. */
export function withIsolation(response: Response, destination: RequestDestination): Response {
  if (!ISOLATED.has(destination) || !response.ok) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(ISOLATION)) if (!headers.has(name)) headers.set(name, value);
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

/** What the page asks of the worker. */
export type Question =
  /** Keep what is large, too. */
  | { type: "keep-later" }
  /** Take over from the network in a page that is of this build. */
  | { type: "claim"; script: string }
  /** Take over from the build before. */
  | { type: "take-over" };

/** `others`: another tab works with the files of the build before. */
export type Answer = "done" | "others" | "failed";
