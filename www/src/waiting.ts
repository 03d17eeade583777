/** Says how far a job is, as a whole: by the plan's pieces, their estimates, and the pace so far. */

import type { Progress } from "isoflat";
import { stepOfConstruction } from "./constructions";
import { kindOf, known, secondsOf, type Training } from "./estimates";
import { Pace, type Part } from "./pace";
import type { Paces } from "./paces";
import { countOf, type Piece, type Scope } from "./plan";
import { measuresOf, type State, type Store, type Waiting } from "./store";
import type { Construction } from "./worker/protocol";

/** More often than this nobody reads it. */
const INTERVAL_MS = 250;

/** Phases whose steps take as long as each other and are all taken: elsewhere iterations end when they have converged. */
const STEADY: ReadonlySet<string> = new Set(["training", "landscape", "spectral density", "average sharpness"]);

const STEPS: Record<Exclude<Piece["what"], Construction>, string> = {
  training: "Training",
  report: "Report",
  bend: "Bending",
  examples: "What it reads",
  line: "Line of the loss",
  surface: "Surface of the loss",
  measures: "Measures",
  accuracy: "Test accuracy",
  layers: "Layers and neurons",
  valley: "The sharpest layer",
  sharpen: "Sharpening",
  spectrum: "Ends of the spectrum",
  density: "Density of the spectrum",
  check: "Invariance check",
  table2: "Table 2",
  table3: "Table 3",
  power: "Algorithm 1",
};

/** In which a whole section of a report consists. */
const STEADY_SECTION = "density: spectral density";

/** The share of a piece that is done, of a report that of its section; null where its progress does not tell. */
export function shareOf({ what }: Piece, progress: Progress | null): number | null {
  if (!progress || progress.total <= 0) return null;
  // Several of them make one check.
  const isSteady = what === "report" ? progress.phase === STEADY_SECTION : STEADY.has(progress.phase);
  return isSteady && what !== "check" ? progress.done / progress.total : null;
}

/** What a piece consists of, as far as it says where it is: a report in its sections. */
export const stepsOf = (piece: Piece): Piece[] =>
  piece.what === "report" && piece.sections.length > 0
    ? piece.sections.map((section) => ({ ...piece, sections: [section] }))
    : [piece];

export class Progressing {
  #pace: Pace | null = null;
  /** `steps`: of the piece, those that are still to come. */
  #now: { piece: Piece; steps: Piece[]; after: Piece[]; scope: Scope } | null = null;
  #training: Training | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #told = 0;

  constructor(
    private readonly store: Store,
    private readonly paces: Paces,
    private readonly seconds: () => number = () => performance.now() / 1e3,
  ) {
    store.watch(["progress"], () => {
      if (store.state.progress && this.seconds() - this.#told > INTERVAL_MS / 1e3) this.#tell();
    });
  }

  /** A job begins, or one that was paused goes on. */
  begin(training: Training | null, isContinued: boolean): void {
    const before = isContinued ? this.#pace : null;
    this.end(false);
    this.#training = training;
    this.#pace = before ?? new Pace(this.seconds);
    this.#pace.rest();
    this.#timer = setInterval(() => this.#tell(), INTERVAL_MS);
  }

  /** `isPaused`: what was said last stays, and it goes on from there. */
  end(isPaused: boolean): void {
    clearInterval(this.#timer);
    this.#now = null;
    if (isPaused) return;
    this.#pace = null;
    this.store.set({ waiting: null });
  }

  /** One piece, and what is to come after it. What it took is learnt from, if it comes to its end. */
  async through<T>(piece: Piece, after: Piece[], scope: Scope, body: () => Promise<T>): Promise<T> {
    const pace = this.#pace ?? new Pace(this.seconds);
    const [first = piece, ...steps] = stepsOf(piece);
    this.#now = { piece, steps, after, scope };
    const { state } = this.store;
    const began = this.seconds();
    pace.begin(this.#part(first));
    this.#tell();
    const found = await body();
    pace.end();
    const taken = this.seconds() - began;
    // Of what a person has stopped, some parts hand over what they have.
    if (pace !== this.#pace || this.store.state.paused) return found;
    // Costs that are too high are replaced by others.
    if ((state.costs ?? this.store.state.costs)?.isBeside !== false) return found;
    const estimated = this.estimate(piece, state, this.#training, false);
    if (estimated !== null) this.paces.learn(workOf(piece, state), estimated, taken);
    return found;
  }

  /** Seconds that a piece takes; as this device has shown, or only by what its parts cost. */
  estimate(piece: Piece, state: State, training: Training | null, isLearnt = true): number | null {
    // Costs that have come meanwhile are as good.
    const found = known({ ...state, costs: state.costs ?? this.store.state.costs }, training);
    if (!found) return null;
    const seconds = secondsOf(piece, found);
    if (seconds === null) return null;
    return seconds * (isLearnt ? this.paces.factor(workOf(piece, state)) : 1);
  }

  /** Where a report is in its sections. */
  #follow(pace: Pace, progress: Progress | null): void {
    const { section, sections } = progress ?? {};
    if (!this.#now || section === undefined || sections === undefined) return;
    while (this.#now.steps.length > sections - section) {
      const [next, ...steps] = this.#now.steps;
      this.#now.steps = steps;
      if (!next) return;
      pace.end();
      pace.begin(this.#part(next));
    }
  }

  #part(piece: Piece): Part {
    return { group: groupOf(piece), seconds: this.estimate(piece, this.store.state, this.#training) };
  }

  /** What itself says how far it is, in steps that people know. */
  #stepsOf({ what }: Piece): Waiting["count"] {
    const { progress } = this.store.state;
    if (what === "training" && this.#training) {
      return { done: progress?.epoch ?? 1, total: this.#training.epochs, of: "epochs" };
    }
    const { section, sections } = progress ?? {};
    return section === undefined || sections === undefined ? null : { done: section, total: sections, of: "sections" };
  }

  #tell(): void {
    const pace = this.#pace;
    if (!pace || !this.#now) return;
    const { piece, after, scope } = this.#now;
    const { progress } = this.store.state;
    this.#told = this.seconds();
    this.#follow(pace, progress);
    const share = shareOf(piece, progress);
    const { fraction, left } = pace.howFar(
      [...this.#now.steps, ...after].map((piece) => this.#part(piece)),
      share,
    );
    // What the engine says of a report knows nothing of what such work has taken before.
    const own = piece.what === "report" && left !== null ? undefined : progress?.remainingSeconds;
    this.store.set({
      waiting: {
        count: this.#stepsOf(piece) ?? countOf(this.store.state, scope, piece),
        fraction,
        left: own === undefined ? left : own,
        step: stepOf(piece, this.store.state),
        after: after.length,
      },
    });
  }
}

/** Steps of training, points of landscapes, and products. */
const groupOf = ({ what }: Piece): string =>
  what === "training" ? what : what === "line" || what === "surface" ? "plane" : "products";

function workOf(piece: Piece, state: State): { kind: string; device: string; network: string } {
  const info = state.engine?.info;
  const device = info ? `${info.backend} ${info.adapter} ${info.precision} ${info.threads}` : "";
  return { kind: kindOf(piece, state), device, network: state.model?.summary ?? "" };
}

/** In words, with the point that it is of where there are two. */
export function stepOf(piece: Piece, state: State): string {
  const of = "point" in piece && piece.point === "bent" ? ", bent" : "";
  if ("asked" in piece) return stepOfConstruction(piece.what);
  if ("seed" in piece) return `${STEPS[piece.what]}, seed ${piece.seed}`;
  if (!("unit" in piece)) return `${STEPS[piece.what]}${of}`;
  const [first] = piece.unit.keys;
  const title = measuresOf(state).find(({ key }) => key === first)?.title ?? STEPS[piece.what];
  const others = piece.unit.keys.length - 1;
  return `${title}${others > 0 ? ` and ${others} more` : ""}${of}`;
}
