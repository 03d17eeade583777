import { describe, expect, test, vi } from "vitest";
import type { Client } from "../../www/src/client";
import { LabError } from "../../www/src/errors";
import { Experiments } from "../../www/src/experiments";
import { NO_DINH, type State, Store } from "../../www/src/store";
import { measured, model, state } from "./states";

const never = { checkpoint: () => {} };
const VALLEY = { layer: 0, block: 4, norm: 2, span: 1, line: { s: [], loss: [] } };

function experimenting(lab: Record<string, unknown>, change: Partial<State> = {}) {
  const store = new Store(state(change));
  const client = { call: async (body: (lab: unknown) => unknown) => body(lab) } as unknown as Client;
  return { store, experiments: new Experiments(store, client) };
}

describe("Experiments", () => {
  test("show in its place what a construction says of a network that it is not for", async () => {
    const construct = () => Promise.reject(new LabError("not_homogeneous", "tanh is not homogeneous"));
    const { store, experiments } = experimenting({ construct });
    await experiments.construct(never, "boxes", true);
    expect(store.state.dinh.boxes).toEqual({ refusal: "tanh is not homogeneous" });
  });

  test("hand on what is wrong with the page or the device", async () => {
    const construct = () => Promise.reject(new LabError("device_lost", "the GPU is gone"));
    const { store, experiments } = experimenting({ construct });
    await expect(experiments.construct(never, "boxes", true)).rejects.toMatchObject({ code: "device_lost" });
    expect(store.state.dinh.boxes).toBeNull();
  });

  test("sharpen to a multiple of the Hessian's norm, which they find first", async () => {
    const sharpen = vi.fn(async () => ({ alpha: 0.5 }));
    const dinh = { ...NO_DINH, decades: 3, powersOfTwo: true };
    const { store, experiments } = experimenting({ valley: async () => VALLEY, sharpen }, { dinh });
    await experiments.sharpen(never);
    expect(sharpen).toHaveBeenCalledWith(VALLEY, { target: 2000, powersOfTwo: true });
    expect(store.state.dinh.sharpened).toEqual({ value: { alpha: 0.5 } });
  });

  test("ask for a construction with what was chosen, and for Theorem 5's with M, which they find first", async () => {
    const construct = vi.fn(async (what: string) => ({ of: what }));
    const lab = { valley: async () => VALLEY, construct };
    const { store, experiments } = experimenting(lab, { dinh: { ...NO_DINH, decades: 1 } });
    await experiments.construct(never, "inputs", "whiten");
    expect(store.state.dinh.valley).toBeNull();
    await experiments.construct(never, "many", true);
    expect(construct.mock.calls).toEqual([
      ["inputs", "whiten", null],
      ["many", true, { target: 20, powersOfTwo: false }],
    ]);
    expect([store.state.dinh.inputs, store.state.dinh.many]).toEqual([
      { value: { of: "inputs" } },
      { value: { of: "many" } },
    ]);
  });

  test("give a spectrum to no twin but the one that it is of", async () => {
    const bend = { lambda: [0.1, 10], nodewise: null, permutation: null };
    const lab: Record<string, unknown> = { density: async () => "density" };
    const { store, experiments } = experimenting(lab, { bend });
    lab.spectrum = async () => {
      // A tour moves the twin on meanwhile.
      store.set({ bend: { ...bend, lambda: [0.01, 100] } });
      return "ends";
    };
    await experiments.ends(never, "bent");
    expect(store.state.spectra).toEqual({});
    await experiments.ends(never, "trained");
    await experiments.density(never, "bent");
    expect([store.state.spectra, store.state.densities]).toEqual([{ trained: "ends" }, { bent: "density" }]);
  });

  test("put the twin where the valley says, and what was known of it is of another one", async () => {
    const dinh = { ...NO_DINH, decades: 3 };
    const measures = { trained: new Map(), bent: new Map([["loss", measured("loss")] as const]) };
    const of = async (sharpness: State["sharpness"]) => {
      const { store, experiments } = experimenting({ valley: async () => VALLEY }, { sharpness, dinh, measures });
      const before = store.state.bend.lambda;
      await experiments.valley(never);
      const { bend } = store.state;
      return { hasMoved: String(bend.lambda) !== String(before), bent: store.state.measures.bent.size };
    };
    expect(await of({ way: "sharpen", decades: 3 })).toEqual({ hasMoved: true, bent: 0 });
    expect(await of({ way: "bend", decades: 3 })).toEqual({ hasMoved: false, bent: 1 });
    expect(await of({ way: "sharpen", decades: 0 })).toEqual({ hasMoved: false, bent: 1 });
  });

  test("look for no valley where there is nothing to rescale", async () => {
    const valley = vi.fn(async () => VALLEY);
    for (const change of [{ homogeneous: false }, { depth: 1 }]) {
      await experimenting({ valley }, { model: model(change) }).experiments.valley(never);
    }
    expect(valley).not.toHaveBeenCalled();
  });

  test("keep the ends of a spectrum and its density, each of its point", async () => {
    const spectrum = vi.fn(async (point: string) => ({ of: point }));
    const lab = { spectrum, density: async () => ({}) };
    const { store, experiments } = experimenting(lab);
    await experiments.ends(never, "trained");
    await experiments.density(never, "bent");
    expect(spectrum.mock.calls.map(([point]) => point)).toEqual(["trained"]);
    expect([Object.keys(store.state.spectra), Object.keys(store.state.densities)]).toEqual([["trained"], ["bent"]]);
  });
});
