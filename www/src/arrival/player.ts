/** Moves the twin along the frames that the page came with. */

import type { App } from "../app";
import { nextTask } from "../moments";
import type { Frame, Shown } from "./arrival";

/** For the whole way of the slider. */
const MS_PER_DECADE = 750;

export class Player {
  #run = 0;
  #stopped = -1;

  constructor(private readonly app: App) {}

  /** Where it stands. */
  stop(): void {
    this.#stopped = this.#run++;
  }

  /** From where the slider stands; at once where motion is not wanted. False where something else is played by then, or nothing was. */
  async play(frames: Frame[], to: number): Promise<boolean> {
    const run = ++this.#run;
    const { sharpness, bendSummary } = this.app.store.state;
    const from = sharpness.decades;
    // What the engine has said of it stays.
    if (from === to && (to === 0 || bendSummary)) return false;
    this.app.twin.hold();
    const last = frames[indexOf(frames, to)];
    if (!last) return false;
    const length = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : Math.abs(to - from) * MS_PER_DECADE;
    const began = performance.now();
    while (true) {
      const now = await nextFrame();
      if (run !== this.#run) return this.#stopped === run;
      const share = length > 0 ? Math.min(Math.max(now - began, 0) / length, 1) : 1;
      if (share >= 1) break;
      // Slow at both ends.
      const eased = share * share * (3 - 2 * share);
      const frame = between(frames, from + (to - from) * eased);
      if (frame) this.app.twin.showFrame(frame);
      await leaveTime(now);
    }
    this.app.twin.showFrame(last);
    return true;
  }
}

/** A hidden page draws no frames, and is to come to its end all the same. */
function nextFrame(): Promise<number> {
  return new Promise((resolve) => {
    if (document.hidden) setTimeout(() => resolve(performance.now()), 100);
    else requestAnimationFrame(() => resolve(performance.now()));
  });
}

/** So long a frame may take and be followed by the next one at once: half of sixty a second. */
const LIGHT_MS = 8;

/** After a frame that took longer the page has as long again for others: the engine starts meanwhile, and hands want to be heard. */
async function leaveTime(began: number): Promise<void> {
  if (document.hidden) return;
  await nextTask();
  const took = performance.now() - began;
  if (took > LIGHT_MS) await new Promise((resolve) => setTimeout(resolve, took));
}

/** The last frame that is not beyond. */
const indexOf = (frames: Frame[], decades: number): number =>
  frames.findLastIndex((frame) => frame.decades <= decades + 1e-9);

/** Losses from one frame to the next, by their ratios; norms are those that were computed, or none. */
function between(frames: Frame[], decades: number): Shown | undefined {
  const index = indexOf(frames, decades);
  const [low, high] = [frames[index], frames[index + 1]];
  if (!low || !high) return low;
  const share = (decades - low.decades) / (high.decades - low.decades);
  const loss = low.surface.loss.map((loss, k) => loss ** (1 - share) * (high.surface.loss[k] ?? loss) ** share);
  return { decades, surface: { ...low.surface, loss }, ...(share === 0 && { norm: low.norm }) };
}
