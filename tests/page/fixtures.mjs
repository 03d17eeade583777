/**
 * What a test of the page is given: the addresses it is served at, a lab that is opened when it is asked for, `check` and `part`. At
 * its end no lab may have had anything to complain of, whoever opened it.
 */

import { readFileSync } from "node:fs";
import { test as base, expect } from "@playwright/test";
import { littleArrival, policy, root } from "./built.mjs";
import { Lab } from "./lab.mjs";
import { serve } from "./server.mjs";

export { expect, root };

async function served(sendsPolicy, options, use) {
  const headers = sendsPolicy ? { "Content-Security-Policy": policy() } : {};
  const server = await serve(`${root}dist`, headers, options);
  await use(server.url);
  server.close();
}

export const test = base.extend({
  sendsPolicy: [false, { option: true, scope: "worker" }],

  /** Files of the page that a browser is to get otherwise. */
  changed: [undefined, { option: true, scope: "worker" }],

  /** The page as it is, but for those. */
  url: [async ({ sendsPolicy, changed }, use) => served(sendsPolicy, { changed }, use), { scope: "worker" }],

  /** It opens with a smaller network: what is computed of it by itself is soon there, for what does not ask which numbers come. */
  little: [async ({ sendsPolicy }, use) => served(sendsPolicy, { arrival: littleArrival }, use), { scope: "worker" }],

  /** A small problem file's text. */
  problem: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs.
    async ({}, use) => use(readFileSync(`${root}tests/golden/mlp_bias.json`, "utf8")),
    { scope: "worker" },
  ],

  lab: async ({ browser, little }, use) => use(await Lab.open(browser, little, { rests: true })),

  /** Something that should hold, and what was found. One that fails does not end the test. */
  // biome-ignore lint/correctness/noEmptyPattern: as above.
  check: async ({}, use) =>
    use((name, holds, detail = "") => expect.soft(holds, detail === "" ? name : `${name}: ${detail}`).toBeTruthy()),

  /** A part of a long test. One that breaks off is a failure, and the next part goes on from what it has left. */
  // biome-ignore lint/correctness/noEmptyPattern: as above.
  part: async ({}, use) =>
    use(async (name, body) => {
      try {
        await base.step(name, body);
      } catch (error) {
        const text = error?.stack ?? String(error);
        // Its first line is what a summary has of it.
        expect.soft(text, `${name} broke off: ${text.split("\n")[0]}`).toBe("");
      }
    }),

  complaints: [
    // biome-ignore lint/correctness/noEmptyPattern: as above.
    async ({}, use) => {
      Lab.opened.length = 0;
      await use();
      const complaints = Lab.opened.flatMap((lab) => lab.complaints);
      expect.soft(complaints, "the console is quiet").toEqual([]);
      await Promise.all(Lab.opened.map((lab) => lab.close()));
    },
    { auto: true },
  ],
});
