/** Visits, each from its beginning: a name, and what is done. */

import { checkDragging } from "./dragging.mjs";
import { checkEnded } from "./ends.mjs";
import {
  checkHiddenFault,
  checkImpossible,
  checkLabels,
  checkLateAddress,
  checkOldLinks,
  checkSmallFaults,
  checkTrainByKeyboard,
  checkTrainDuringReport,
} from "./faults.mjs";
import { checkFigures } from "./figures.mjs";
import { root, test } from "./fixtures.mjs";
import { checkGallery, checkQuick, checkQuickMinima } from "./gallery.mjs";
import {
  checkLinkOnOwn,
  checkNewerBuild,
  checkNothingKept,
  checkOpenedKept,
  checkTrainingElsewhere,
  checkTwoTabs,
} from "./kept.mjs";
import { checkLink } from "./links.mjs";
import { checkMinute } from "./minute.mjs";
import { checkLinksAsSteps, checkNetworksKept, checkUndo } from "./networks.mjs";
import { checkNewVersion, checkNotFetched, checkOffline } from "./offline.mjs";
import { checkPhone } from "./phone.mjs";
import { checkCitation, checkReport } from "./report.mjs";
import { checkSpaces } from "./spaces.mjs";
import { checkAlone, checkArrival, checkKept } from "./stage.mjs";
import { checkStaying } from "./staying.mjs";
import { checkStopped } from "./stopped.mjs";
import { checkSurfaces } from "./surfaces.mjs";
import { checkDiverged, checkPause, checkSteps, checkSurfacePause } from "./waiting.mjs";
import { checkContinued, checkWay } from "./way.mjs";
import { checkWords } from "./words.mjs";

/** By a page of the visit's own: `(browser, url, check)`. */
const visits = {
  "A first visit": checkArrival,
  "The minute of somebody who has never heard of flatness": checkMinute,
  "The stage alone": checkAlone,
  "Who draws the surfaces": checkSurfaces,
  Links: checkLink,
  "What is kept": checkKept,
  "Ended at any moment": checkEnded,
  "Two tabs": checkTwoTabs,
  "A training in another tab": checkTrainingElsewhere,
  "Nothing can be kept": checkNothingKept,
  "A newer build": checkNewerBuild,
  "A link on one's own": checkLinkOnOwn,
  "An opened model": checkOpenedKept,
  "Undo and redo": checkUndo,
  "Links and Undo": checkLinksAsSteps,
  "Networks side by side": checkNetworksKept,
  "Parameter spaces": checkSpaces,
  "The papers, run again": checkGallery,
  "The papers, run on little": checkQuick,
  "Rangamani’s minima, on little": checkQuickMinima,
  "Taken along": checkFigures,
  "The full report": checkReport,
  "A citation": checkCitation,
  "What words mean": checkWords,
  "A fault in a field that is folded away": checkHiddenFault,
  "Train by keyboard": checkTrainByKeyboard,
  "Train during a report": checkTrainDuringReport,
  "Older addresses": checkOldLinks,
  "A part that is opened while an address is due": checkLateAddress,
  "What cannot be had": checkImpossible,
  "Labels on fine screens": checkLabels,
  "Small faults": checkSmallFaults,
  "Pause and continue": checkPause,
  "A surface, paused": checkSurfacePause,
  "Steps, folded": checkSteps,
  "A training that runs away": checkDiverged,
  "The stage stays": checkStaying,
  "Nothing moves while one drags": checkDragging,
  "On a phone": checkPhone,
  "Without a network": (browser, _, check) => checkOffline(browser, root, check),
  "A part that is not fetched": checkNotFetched,
  "A new version": (browser, _, check) => checkNewVersion(browser, root, check),
  "A training that was stopped": checkStopped,
  "The way of a training": async (browser, url, check) =>
    checkContinued(browser, url, check, await checkWay(browser, url, check)),
};

/** With a lab that has been opened: `(lab, check)`. */
const labs = {};

/** Those that are about the network that the page comes with, go by its numbers, or are to meet what is computed of it before that ends. */
const WHOLE = new Set([
  "A first visit",
  "The minute of somebody who has never heard of flatness",
  "The stage alone",
  "Who draws the surfaces",
  "Links",
  "Links and Undo",
  "Taken along",
  "What cannot be had",
  "Pause and continue",
  "Steps, folded",
  "A training that was stopped",
  "The way of a training",
]);

for (const [name, visit] of Object.entries(visits)) {
  test(name, ({ browser, url, little, check }) => visit(browser, WHOLE.has(name) ? url : little, check));
}
for (const [name, visit] of Object.entries(labs)) test(name, ({ lab, check }) => visit(lab, check));
