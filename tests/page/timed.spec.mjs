/** Visits whose times are measured. */

import { checkFirstSeconds } from "./first-seconds.mjs";
import { test } from "./fixtures.mjs";
import { checkFrames } from "./frames.mjs";
import { checkEstimatesHold } from "./waiting.mjs";

test("The first seconds", ({ browser, url, check }) => checkFirstSeconds(browser, url, check));
test("A slider that is dragged", ({ browser, url, check }) => checkFrames(browser, url, check));
test("Estimates", ({ browser, url, check }) => checkEstimatesHold(browser, url, check));
