/** Does what the plan says is missing, piece by piece, and says how far that is. */

import type { InvarianceTable, Landscape, MeasureKey, MeasureValue } from "isoflat";
import type { Client } from "./client";
import { isConstruction } from "./constructions";
import { type Experiments, stays } from "./experiments";
import { gaugeKeys } from "./gauges";
import type { Job } from "./jobs";
import { aboutOf, growingOf, leftOf, nameOf, type Piece, planOf, type Scope } from "./plan";
import { type TableName, withSeed } from "./seeds";
import { type Asked, type CheckChoice, type State, type Store, type Task, transformationOf } from "./store";
import type { Progressing } from "./waiting";
import type { AskedWith, LandscapeChoice, Outcome, Point } from "./worker/protocol";

export const EPSILON = 1e-3;
/** Products for an estimate of a trace or a norm. */
export const PROBES = 100;
/** The check computes every estimate five times; its tolerance knows the standard error. */
const CHECK_PROBES = 30;

type Lab = Parameters<Parameters<Client["call"]>[0]>[0];

/** What the page says it is doing, where that is not looking around. */
const TASKS: Partial<Record<Piece["what"], Task>> = {
  check: "checking",
  spectrum: "spectrum",
  density: "spectrum",
  table2: "table2",
  table3: "table3",
  power: "table2",
};

export class Completion {
  constructor(
    private readonly store: Store,
    private readonly client: Client,
    private readonly experiments: Experiments,
    private readonly progressing: Progressing,
  ) {}

  /** `scope` is asked again after each piece: a person may open a part that shows more. */
  async run(job: Job, scope: () => Scope): Promise<void> {
    job.checkpoint();
    const { landscapeChoice, way } = this.store.state;
    // A choice outlives the network, and another one may have come without a way.
    if (landscapeChoice.directions === "way" && way === 0) {
      const choice = { ...landscapeChoice, directions: "random" } as const;
      this.store.set({ landscapeChoice: choice, lines: {}, surfaces: {}, growing: {} });
    }
    // A piece that leaves nothing behind is not begun twice.
    const done = new Set<string>();
    while (true) {
      const [piece, ...after] = planOf(this.store.state, scope()).filter((piece) => !done.has(nameOf(piece)));
      if (!piece) return;
      done.add(nameOf(piece));
      job.checkpoint();
      this.#say(piece);
      await this.progressing.through(piece, after, scope(), () => this.#do(job, piece));
      for (const name of scope().asked) {
        const isLeft = leftOf(this.store.state, name).some((piece) => !done.has(nameOf(piece)));
        if (!isLeft) this.#isDone(name);
      }
    }
  }

  /** What runs now. Whatever came before is over: the sliders may move again. */
  #say({ what }: Piece): void {
    const { task } = this.store.state;
    const now = isConstruction(what) ? "sharpening" : (TASKS[what] ?? (task === "bending" ? task : "looking"));
    this.store.set({ ...(now !== task && { task: now }), progress: null });
  }

  #isDone(name: keyof Asked): void {
    const { [name]: was, ...asked } = this.store.state.asked;
    if (was !== undefined) this.store.set({ asked });
  }

  #do(job: Job, piece: Piece): Promise<void> {
    switch (piece.what) {
      case "bend":
        return this.#bendAnew(job);
      case "examples":
        return this.#examples(job);
      case "line":
        // The line first: with it a growing surface's scale is nearly the whole one's.
        return this.#landscape(job, "lines", piece.point, (lab, choice) => lab.line(piece.point, choice));
      case "surface":
        return this.#surface(job, piece.point);
      case "accuracy":
        return this.#accuracy(job, piece.point);
      case "layers":
        return this.#layers(job, piece.point);
      case "measures":
        return this.#measure(job, piece.point, piece.unit.keys);
      case "check":
        return this.#check(job, piece.unit.keys);
      case "spectrum":
        return this.experiments.ends(job, piece.point);
      case "density":
        return this.experiments.density(job, piece.point);
      case "valley":
      case "sharpen":
        return this.experiments[piece.what](job);
      case "table2":
      case "table3":
        return this.#table(job, piece.what, piece.seed);
      case "power":
        return this.#power(job);
      default:
        if (isBuilt(piece)) return this.experiments.construct(job, piece.what, piece.asked);
        throw new Error(`the plan has no ${piece.what}`);
    }
  }

  /** Asks the worker and keeps the answer, unless another task has begun meanwhile, or the point that it is of is elsewhere. */
  async #keep<T>(
    job: Job,
    point: Point,
    ask: (lab: Lab) => Promise<Outcome<T>>,
    change: (found: T, state: State) => Partial<State>,
  ): Promise<void> {
    const isThere = stays(this.store, point);
    job.checkpoint();
    const found = await this.client.call(ask);
    job.checkpoint();
    if (isThere()) this.store.set(change(found, this.store.state));
  }

  #examples(job: Job): Promise<void> {
    return this.#keep(
      job,
      "trained",
      (lab) => lab.examples(),
      (examples) => ({ examples }),
    );
  }

  #accuracy(job: Job, point: Point): Promise<void> {
    return this.#keep(
      job,
      point,
      (lab) => lab.accuracy(point),
      (found, { accuracy }) => ({ accuracy: { ...accuracy, [point]: found } }),
    );
  }

  /** What a frame has said of what swings is replaced by what is so here. */
  async #bendAnew(job: Job): Promise<void> {
    await this.bend(job);
    const [swings] = gaugeKeys(this.store.state);
    const there = swings.filter((key) => this.store.state.measures.bent.has(key));
    if (there.length > 0) await this.#measure(job, "bent", there);
  }

  /** Puts the worker's bent point where the page has it. */
  async bend(job: Job): Promise<void> {
    const transformation = transformationOf(this.store.state.bend);
    if (this.store.state.bendSummary || !transformation) return;
    await this.#keep(
      job,
      "bent",
      (lab) => lab.bend(transformation),
      (bendSummary) => ({ bendSummary }),
    );
  }

  #landscape(
    job: Job,
    kind: "lines" | "surfaces",
    point: Point,
    ask: (lab: Lab, choice: LandscapeChoice) => ReturnType<Lab["line"]>,
  ): Promise<void> {
    return this.#keep(
      job,
      point,
      (lab) => ask(lab, this.store.state.landscapeChoice),
      (landscape, state) => {
        const { [point]: _, ...growing } = state.growing;
        return {
          [kind]: { ...state[kind], [point]: landscape },
          ...(kind === "surfaces" && { growing }),
          ...(kind === "surfaces" && point === "bent" && { preview: null }),
        };
      },
    );
  }

  #surface(job: Job, point: Point): Promise<void> {
    return this.#landscape(job, "surfaces", point, (lab, choice) => {
      const { state } = this.store;
      return lab.surface(point, choice, aboutOf(state, point), growingOf(state, point));
    });
  }

  /** Rows that are there stay until those of a new run, over the same choice, are more. */
  grow(point: Point, about: string, landscape: Landscape): void {
    const { growing, surfaces } = this.store.state;
    // A task that is being stopped may still send a row.
    if (about !== aboutOf(this.store.state, point)) return;
    if (surfaces[point] || (growing[point]?.loss.length ?? 0) > landscape.loss.length) return;
    this.store.set({ growing: { ...growing, [point]: { ...landscape, about } } });
  }

  #layers(job: Job, point: Point): Promise<void> {
    return this.#keep(
      job,
      point,
      (lab) => lab.layers(point),
      (report, { layers }) => ({ layers: { ...layers, [point]: report } }),
    );
  }

  #measure(job: Job, point: Point, keys: MeasureKey[]): Promise<void> {
    const choice = { keys, epsilon: EPSILON, probes: PROBES };
    return this.#keep(
      job,
      point,
      (lab) => lab.measure(point, choice),
      ({ values }, { measures }) => ({ measures: { ...measures, [point]: withValues(measures[point], values) } }),
    );
  }

  #check(job: Job, keys: MeasureKey[]): Promise<void> {
    const { checkChoice } = this.store.state;
    if (!checkChoice) return Promise.resolve();
    const choice = { keys, epsilon: EPSILON, probes: CHECK_PROBES };
    return this.#keep(
      job,
      "trained",
      (lab) => lab.invariance(checkChoice.transformations, choice),
      (found, { invariance }) => ({ invariance: joined(invariance, found, checkChoice) }),
    );
  }

  #table(job: Job, name: TableName, seed: number): Promise<void> {
    return this.#keep(
      job,
      "trained",
      (lab) => lab.table(name, seed),
      ({ device, found }, state) => ({ [name]: withSeed(state[name], device, found) }),
    );
  }

  #power(job: Job): Promise<void> {
    return this.#keep(
      job,
      "trained",
      (lab) => lab.power(),
      (power, { table2 }) => ({ table2: table2 && { ...table2, power } }),
    );
  }
}

const isBuilt = (piece: Piece): piece is Extract<Piece, { asked: AskedWith }> => "asked" in piece;

function withValues(
  before: ReadonlyMap<MeasureKey, MeasureValue>,
  values: MeasureValue[],
): Map<MeasureKey, MeasureValue> {
  const all = new Map(before);
  for (const value of values) all.set(value.key, value);
  return all;
}

/** One table of two, measure by measure as the check has them; the outputs are in both. */
export function joined(before: InvarianceTable | null, found: InvarianceTable, { keys }: CheckChoice): InvarianceTable {
  if (!before) return found;
  const there = new Set(before.cells.map(({ measure }) => measure));
  const cells = [...before.cells, ...found.cells.filter(({ measure }) => !there.has(measure))];
  const order = ["outputs", ...keys];
  return {
    ...before,
    cells: cells.sort(
      (a, b) => order.indexOf(a.measure) - order.indexOf(b.measure) || a.transformation - b.transformation,
    ),
  };
}
