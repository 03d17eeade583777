/** Visits, each from its beginning: a name, and what is done. */

import { test } from "./fixtures.mjs";
import { checkMinute } from "./minute.mjs";
import { checkNetworksKept, checkUndo } from "./networks.mjs";
import { checkSpaces } from "./spaces.mjs";
import { checkAlone, checkArrival, checkKept, checkLink } from "./stage.mjs";

/** By a page of the visit's own: `(browser, url, check)`. */
const visits = {
  "A first visit": checkArrival,
  "The minute of somebody who has never heard of flatness": checkMinute,
  "The stage alone": checkAlone,
  Links: checkLink,
  "What is kept": checkKept,
  "Undo and redo": checkUndo,
  "Networks side by side": checkNetworksKept,
  "Parameter spaces": checkSpaces,
};

/** With a lab that has been opened: `(lab, check)`. */
const labs = {};

for (const [name, visit] of Object.entries(visits)) {
  test(name, ({ browser, url, check }) => visit(browser, url, check));
}
for (const [name, visit] of Object.entries(labs)) test(name, ({ lab, check }) => visit(lab, check));
