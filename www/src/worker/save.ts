/** Weights, alone or with their network and data, as files to keep. */

import { saveModel } from "isoflat";
import { LabFailure, type SaveChoice, type SavedFile, type SavedPoint } from "./protocol";
import type { Model } from "./session";

export async function saved(model: Model, point: SavedPoint, choice: SaveChoice): Promise<SavedFile> {
  const parameters = await parametersAt(model, point);
  const what = point === "trained" ? "" : `-${point}`;
  switch (choice) {
    case "problem.json": {
      const text = model.measured.save(parameters, model.name);
      return { name: `isoflat-problem${what}.json`, bytes: new TextEncoder().encode(text) };
    }
    case "problem.safetensors": {
      const bytes = await saveModel(model.measured, parameters, { name: model.name });
      return { name: `isoflat-problem${what}.safetensors`, bytes };
    }
    default: {
      const bytes = await saveModel(model.opened ?? model.network, parameters, { format: choice });
      return { name: `isoflat-weights${what}.${choice}`, bytes };
    }
  }
}

/** Balanced are the rescaling of the trained ones that has the least norm. */
async function parametersAt(model: Model, point: SavedPoint): Promise<Float64Array> {
  if (point === "balanced") return (await model.network.balance(model.trained)).parameters;
  const parameters = model[point];
  if (!parameters) throw new LabFailure("not_possible", "nothing has been sharpened yet");
  return parameters;
}
