/** Visits, each from its beginning: a name, and what is done. */

import { checkFigures } from "./figures.mjs";
import { test } from "./fixtures.mjs";
import { checkLinkOnOwn, checkNewerBuild, checkNothingKept, checkTwoTabs } from "./kept.mjs";
import { checkMinute } from "./minute.mjs";
import { checkNetworksKept, checkUndo } from "./networks.mjs";
import { checkSpaces } from "./spaces.mjs";
import { checkAlone, checkArrival, checkKept, checkLink } from "./stage.mjs";
import { checkContinued, checkWay } from "./way.mjs";

/** By a page of the visit's own: `(browser, url, check)`. */
const visits = {
  "A first visit": checkArrival,
  "The minute of somebody who has never heard of flatness": checkMinute,
  "The stage alone": checkAlone,
  Links: checkLink,
  "What is kept": checkKept,
  "Two tabs": checkTwoTabs,
  "Nothing can be kept": checkNothingKept,
  "A newer build": checkNewerBuild,
  "A link on one's own": checkLinkOnOwn,
  "Undo and redo": checkUndo,
  "Networks side by side": checkNetworksKept,
  "Parameter spaces": checkSpaces,
  "Taken along": checkFigures,
  "The way of a training": async (browser, url, check) =>
    checkContinued(browser, url, check, await checkWay(browser, url, check)),
};

/** With a lab that has been opened: `(lab, check)`. */
const labs = {};

for (const [name, visit] of Object.entries(visits)) {
  test(name, ({ browser, url, check }) => visit(browser, url, check));
}
for (const [name, visit] of Object.entries(labs)) test(name, ({ lab, check }) => visit(lab, check));
