import type { Landscape, MeasureKey, Transformation } from "isoflat";
import { describe, expect, test } from "vitest";
import { rowsOf } from "../../www/src/charts/heights";
import type { Client } from "../../www/src/client";
import { Completion } from "../../www/src/completion";
import { Superseded } from "../../www/src/errors";
import type { Experiments } from "../../www/src/experiments";
import { isComplete, type Scope } from "../../www/src/plan";
import { NO_DINH, type State, Store } from "../../www/src/store";
import type { Progressing } from "../../www/src/waiting";
import type { LandscapeChoice, MeasureChoice, Point } from "../../www/src/worker/protocol";
import { DESCRIPTIONS, described, landscape, measured, state } from "./states";

const LINE = landscape([[1, 2, 3]]);

/** A worker that answers at once and notes what it was asked. */
function lab(asked: string[]) {
  const note = <T>(text: string, value: T) => {
    asked.push(text);
    return value;
  };
  return {
    line: (point: Point, _: LandscapeChoice) => note(`line ${point}`, LINE),
    surface: (point: Point, _: LandscapeChoice, __: string, before: Landscape | null) =>
      note(before ? `surface ${point} after ${rowsOf(before)} rows` : `surface ${point}`, LINE),
    bend: () => note("bend", { maxDifference: 0, maxOutput: 1, answers: [] }),
    examples: () => note("examples", { of: "test", labels: [], images: [], answers: [] }),
    accuracy: (point: Point) => note(`accuracy ${point}`, 0.9),
    invariance: (transformations: Transformation[], { keys = [] }: MeasureChoice) =>
      note(`check ${keys.join()}`, {
        transformations,
        cells: ["outputs", ...keys].map((measure) => ({ measure, transformation: 0 })),
      }),
    layers: (point: Point) => note(`layers ${point}`, { kappa: [] }),
    measure: (point: Point, { keys = [] }: MeasureChoice) =>
      note(keys.length === 1 ? `${keys[0]} ${point}` : `measure ${point}`, {
        values: keys.map((key: MeasureKey) => measured(key)),
      }),
  };
}

function completing(change: Partial<State> = {}) {
  const asked: string[] = [];
  const store = new Store(state(change));
  const client = { call: async (body: (lab: unknown) => unknown) => body(lab(asked)) } as unknown as Client;
  const valley = async () => {
    asked.push("valley");
    store.set({ dinh: { ...NO_DINH, valley: { refusal: "none" } } });
  };
  const construct = async (_: unknown, what: string, of: unknown) => void asked.push(`${what} ${of}`);
  const progressing = { through: (_: unknown, __: unknown, ___: unknown, body: () => Promise<unknown>) => body() };
  const completion = new Completion(
    store,
    client,
    { valley, construct } as unknown as Experiments,
    progressing as unknown as Progressing,
  );
  return { asked, store, completion };
}

const all = (): Scope => ({ asked: [], all: true });

const never = { checkpoint: () => {} };
const bend = { lambda: [2, 0.5], nodewise: null, permutation: null };

describe("Completion", () => {
  test("completes a page, and then finds nothing left to do", async () => {
    const { asked, store, completion } = completing({ bend });
    await completion.run(never, all);
    expect(isComplete(store.state)).toBe(true);
    expect(asked).toContain("measure bent");
    asked.length = 0;
    await completion.run(never, all);
    expect(asked).toEqual([]);
  });

  test("bends before it looks at the bent point, and leaves that point out where there is none", async () => {
    const bent = completing({ bend });
    await bent.completion.run(never, all);
    expect(bent.asked.filter((text) => text === "bend" || text.endsWith("bent"))[0]).toBe("bend");
    const straight = completing();
    await straight.completion.run(never, all);
    expect(straight.asked.filter((text) => text === "bend" || text.endsWith("bent"))).toEqual([]);
  });

  test("shows a line of a point before its surface, and both before its layers", async () => {
    const { asked, completion } = completing();
    await completion.run(never, all);
    const [line, surface, layers] = ["line", "surface", "layers"].map((what) => asked.indexOf(`${what} trained`));
    expect(line).toBeGreaterThanOrEqual(0);
    expect(line).toBeLessThan(surface ?? -1);
    expect(surface).toBeLessThan(layers ?? -1);
  });

  test("asks for what swings before the bent surface, and for what theory has said after it", async () => {
    const { asked, completion } = completing({
      bend,
      descriptions: [...DESCRIPTIONS, described("hessian.spectral_norm")],
    });
    await completion.run(never, all);
    const of = asked.filter((text) => text.endsWith("bent"));
    const stands = "riemannian.layerwise_flat.spectral_norm bent";
    expect(of.slice(0, 5)).toEqual([
      "hessian.spectral_norm bent",
      "line bent",
      "surface bent",
      stands,
      "accuracy bent",
    ]);
  });

  test("asks for the measures that are missing alone", async () => {
    const { store, completion, asked } = completing();
    const known = new Map([["loss", measured("loss", 7)]] as const);
    store.set({ measures: { trained: known, bent: new Map() } });
    await completion.run(never, all);
    expect(store.state.measures.trained.get("loss")?.value).toBe(7);
    expect(store.state.measures.trained.has("hessian.trace")).toBe(true);
    expect(asked.length).toBeGreaterThan(0);
  });

  test("goes on with what is missing of a check, and puts the cells in their order", async () => {
    const transformations = [{ type: "layerwise" as const, lambda: [2, 0.5] }];
    const keys: MeasureKey[] = ["hessian.frobenius_norm", "loss"];
    const { store, completion, asked } = completing({
      asked: { check: true },
      checkChoice: { range: 10, searches: false, transformations, keys },
    });
    const steps: number[] = [];
    store.watch(["invariance"], () => steps.push(store.state.invariance?.cells.length ?? 0));
    await completion.run(never, () => ({ asked: ["check"], all: false }));
    expect(asked.filter((text) => text.startsWith("check"))).toEqual(["check loss", "check hessian.frobenius_norm"]);
    expect(steps).toEqual([0, 2, 3]);
    expect(store.state.invariance?.cells.map(({ measure }) => measure)).toEqual(["outputs", ...keys]);
    expect(store.state.asked).toEqual({});
  });

  test("does once what leaves nothing behind, and then nobody asks for it any more", async () => {
    const { store, completion, asked } = completing({ asked: { boxes: true } });
    await completion.run(never, () => ({ asked: ["boxes"], all: false }));
    expect(asked.filter((text) => text === "boxes true")).toHaveLength(1);
    expect(store.state.asked).toEqual({});
  });

  test("a frame's number is measured anew once the twin is there", async () => {
    const descriptions = [...DESCRIPTIONS, described("hessian.spectral_norm", { cost: "eigenvalues" })];
    const frame = new Map([["hessian.spectral_norm", measured("hessian.spectral_norm", 7)]] as const);
    const { store, completion } = completing({ bend, descriptions, measures: { trained: new Map(), bent: frame } });
    await completion.run(never, () => ({ asked: [], all: false }));
    expect(store.state.measures.bent.get("hessian.spectral_norm")?.value).toBe(1);
  });

  test("keeps no result that comes after its task has been superseded", async () => {
    const { store, completion } = completing({ examples: { of: "test", labels: [], images: [], answers: [] } });
    let checks = 0;
    const job = {
      checkpoint: () => {
        // The first are at the beginning and before the piece, the third before the line is asked for, the fourth when it is there.
        if (++checks === 4) throw new Superseded();
      },
    };
    await expect(completion.run(job, all)).rejects.toBeInstanceOf(Superseded);
    expect(store.state.lines).toEqual({});
  });
});

describe("Completion.grow", () => {
  const rows = (count: number) =>
    landscape(
      Array.from({ length: count }, () => [1, 2, 3]),
      3,
    );
  const about = (of: State) => JSON.stringify([of.landscapeChoice, false]);

  test("shows the rows that come, and keeps those of an earlier run until there are more", () => {
    const { store, completion } = completing();
    completion.grow("trained", about(store.state), rows(2));
    expect(store.state.growing.trained?.loss).toHaveLength(6);
    completion.grow("trained", about(store.state), rows(1));
    expect(store.state.growing.trained?.loss).toHaveLength(6);
    completion.grow("trained", about(store.state), rows(3));
    expect(store.state.growing.trained?.loss).toHaveLength(9);
  });

  test("a surface that was stopped goes on with the rows that are missing, at each of the points", async () => {
    const { asked, store, completion } = completing({ bend });
    completion.grow("trained", about(store.state), rows(2));
    completion.grow("bent", JSON.stringify([store.state.landscapeChoice, bend]), rows(1));
    await completion.run(never, all);
    expect(asked).toContain("surface trained after 2 rows");
    expect(asked).toContain("surface bent after 1 rows");
    expect(store.state.growing).toEqual({});
  });

  test("of another bend or other directions it begins anew", async () => {
    const { asked, store, completion } = completing({ bend });
    completion.grow("trained", about(store.state), rows(2));
    completion.grow("bent", JSON.stringify([store.state.landscapeChoice, bend]), rows(1));
    store.set({ bend: { ...bend, lambda: [3, 1 / 3] } });
    await completion.run(never, all);
    expect(asked).toContain("surface trained after 2 rows");
    expect(asked).toContain("surface bent");
  });

  test("takes no notice of rows of another choice, or of a surface that is whole", () => {
    const { store, completion } = completing();
    const before = about(store.state);
    store.set({ landscapeChoice: { ...store.state.landscapeChoice, seed: 2 } });
    completion.grow("trained", before, rows(2));
    store.set({ surfaces: { trained: rows(3) } });
    completion.grow("trained", about(store.state), rows(2));
    expect(store.state.growing).toEqual({});
  });
});
