/** Parts of the page that are closed: what they show is drawn when it has rested, one thing a task, or when they are opened. */

/** A twin that moves asks for many drawings of what nobody sees. */
const REST_MS = 100;

type Drawing = () => void;

export class Closed {
  /** By part, in the order in which they were asked for. */
  readonly #waiting = new Map<string, Set<Drawing>>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly isClosed: (part: string) => boolean) {}

  draw(part: string, drawing: Drawing): void {
    if (!this.isClosed(part)) {
      this.#waiting.get(part)?.delete(drawing);
      drawing();
      return;
    }
    const waiting = this.#waiting.get(part) ?? new Set();
    this.#waiting.set(part, waiting.add(drawing));
    this.#later(REST_MS);
  }

  /** All that the part shows, as it is now. */
  opened(part: string): void {
    const waiting = this.#waiting.get(part);
    this.#waiting.delete(part);
    for (const drawing of waiting ?? []) drawing();
  }

  #later(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#drawOne(), ms);
  }

  #drawOne(): void {
    for (const waiting of this.#waiting.values()) {
      for (const drawing of waiting) {
        waiting.delete(drawing);
        this.#later(0);
        drawing();
        return;
      }
    }
  }
}
