import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** The lab's logic in Node, without a browser: what needs one is in tests/page. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // The time is for what never ends: on a busy computer five seconds are little for a search over many views.
  test: { include: ["**/*.test.ts"], environment: "node", testTimeout: 60_000 },
});
