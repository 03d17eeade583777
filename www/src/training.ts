/** What is said of a run while it goes on and when it is over, and when another can be begun. */

import { number, percent } from "./format";
import type { Task } from "./store";
import type { ModelInfo, TrainSummary } from "./worker/protocol";
import type { Unfinished } from "./worker/unfinished";

export const DIVERGED = "diverged";

export const lossSaid = (loss: number): string => (Number.isFinite(loss) ? number(loss) : DIVERGED);

export const accuracySaid = (accuracy: number): string => (Number.isFinite(accuracy) ? percent(accuracy) : "–");

/** Training that goes well, or badly, or has hardly begun stays below so many times the loss of guessing. */
const FAR_ABOVE = 4;

/** The loss of who knows nothing and says so; null where targets are no classes, or their number is not known. */
export function lossOfGuessing({ loss, layers }: Pick<ModelInfo, "loss" | "layers">): number | null {
  const classes = Number(/→ (\d+)/.exec(layers.at(-1) ?? "")?.[1]);
  return loss === "cross_entropy" && classes > 1 ? Math.log(classes) : null;
}

/** Did it run away? It ends where the loss is no number, or where all units are dead and it is as large as it happens to be. */
export function hasDiverged(
  { loss, validationLoss = 0 }: TrainSummary,
  model: Pick<ModelInfo, "loss" | "layers">,
): boolean {
  const guessing = lossOfGuessing(model);
  return (
    !Number.isFinite(loss) || !Number.isFinite(validationLoss) || (guessing !== null && loss > FAR_ABOVE * guessing)
  );
}

/** How the message about it begins, so that the advice is on the learning rate. */
export function divergenceSaid({ loss }: TrainSummary, model: Pick<ModelInfo, "loss" | "layers">): string {
  const guessing = lossOfGuessing(model);
  if (!Number.isFinite(loss) || guessing === null) return "training diverged: its loss is no finite number any more";
  return `training diverged: its loss is ${number(loss)} in the end, and guessing has ${number(guessing)}`;
}

const epochsIn = (epochs: number): string => String(Number(epochs.toFixed(1)));

/** Of a training that has come to an end, or was stopped; `all`: as many as it was to have, where that is known. */
export const epochsSaid = ({ epochs, stopped }: Pick<TrainSummary, "epochs" | "stopped">, all = epochs): string =>
  `${epochsIn(epochs)} / ${epochsIn(all)}${stopped ? " stopped" : ""}`;

/** The same as a part of a sentence. */
export const trainedFor = (all: number, stoppedAt?: number): string =>
  stoppedAt === undefined ? `${all} epochs` : `stopped after ${epochsIn(stoppedAt)} of ${all} epochs`;

/** Where there is no database. */
export const NOT_KEPT = [
  "This browser does not keep the network: its storage is switched off, or full.",
  "A reload loses it, and Undo does not bring it back. Under Keep its weights can be saved in a file.",
] as const;

/** Of a training that can go on: what it is, and from where, which may be before it broke off. */
export function unfinishedSaid({ network, epochs, choice, isElsewhere }: Unfinished): string {
  if (isElsewhere) return `The training of ${network}, ${choice.epochs} epochs, is running in another tab.`;
  const at = epochs > 0 ? `is at ${epochsIn(epochs)} of ${choice.epochs} epochs` : "was kept at its beginning";
  return `The training of ${network} ${at}: Continue goes on from there, and ends as it would have.`;
}

/**
 * `isChoosing`: what the page is starting is the network of the options, and Train would do that too. Were the button disabled then,
 * it would be so the moment a person leaves a field to press it.
 */
export const canTrain = (task: Task, isChoosing: boolean): boolean =>
  task !== "training" && (task !== "starting" || isChoosing);
