import type { BackendInfo } from "isoflat";
import type { Failure } from "./worker/protocol";

export class LabError extends Error {
  constructor(
    readonly code: Failure["code"],
    message: string,
    /** It is one of files that were being opened: none of them need be open. */
    readonly isOfFiles = false,
  ) {
    super(message);
  }
}

/** A later task has taken this one's place; nothing to tell anybody. */
export class Superseded extends Error {}

const ADVICE: Partial<Record<Failure["code"], string>> = {
  parse:
    "What was open stays open. Files that belong together, a model, its weights and its data, may be dropped at once.",
  invalid_network: "Check the widths, or choose one of the networks in the list.",
  invalid_problem: "Choose data that fits the network’s inputs and outputs, or a network that fits the data.",
  invalid_parameters: "The file’s parameters must be as many as its network has.",
  not_finite:
    "Numbers become too large or too small to compute with: reset the bend, or choose another scale of the initialisation under Options; if training ran away, lower the learning rate.",
  invalid_option: "Change the value under Options and try again.",
  invalid_transformation: "Reset the bend and try again.",
  not_homogeneous: "Rescalings keep the function only where the activation is positively homogeneous, like ReLU.",
  too_large: "Choose narrower layers or fewer samples.",
  backend_unavailable: "The CPU does the same computations; choose it at the top of the page.",
  device_lost:
    "Press the button again, or choose the CPU at the top of the page. If that does not help, load the page again: what is on it is kept, and comes back.",
  out_of_range: "Such numbers need double precision: choose the CPU at the top of the page.",
  crashed: "Choose a smaller network, fewer samples or fewer points, and try again.",
  gpu: "Try again, or choose the CPU at the top of the page.",
  download: "Check the connection and press Train again, or use random samples under Options.",
  not_fetched:
    "Check the connection, or see whether there is a newer version, by loading the page again: what is on it is kept, and comes back.",
  not_initialized: "Check the connection, then press Train, or load the page again.",
  unexpected: "The engine has been started anew. Press Train, or open the file again.",
};

/** The numbers may be the file's own. */
const NOT_FINITE_OF_FILE =
  "Look for NaN, infinite or very large numbers in the file; if it is bent, reset the bend; if training ran away, lower the learning rate.";

/** `isOfFile`: the network on the stage, or what was being opened, came in a file. */
export function advice(code: Failure["code"], message = "", isOfFile = false): string {
  if (code === "not_finite" && /diverged/.test(message))
    return "Lower the learning rate under Options, and train again.";
  if (code === "not_finite" && isOfFile) return NOT_FINITE_OF_FILE;
  return ADVICE[code] ?? "";
}

/** Of a device that was lost in the middle of a step; `was`: what computed before. */
export function lostSaid(was: BackendInfo["backend"] | undefined, { backend, precision }: BackendInfo): string {
  if (was === "gpu" && backend === "cpu")
    return `The GPU was lost, and could not be had again. The CPU has taken over, in ${precision}, and the step is begun anew.`;
  return `The ${was === "cpu" ? "engine" : "GPU"} was lost. It has been set up again, and the step is begun anew.`;
}
