import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { alternate, disable } from "../../www/src/focus";

/** A button as far as focus goes: as in a browser, one that is disabled cannot have it. */
class Button {
  disabled = false;
  readonly attributes = new Map<string, string>();
  readonly #listeners = new Map<string, ((event: Event) => void)[]>();

  focus(): void {
    if (!this.disabled) page.activeElement = this;
  }

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  addEventListener(type: string, listener: unknown): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener as (event: Event) => void]);
  }

  /** Whether something comes of it. */
  fire(type: string): boolean {
    if (this.disabled) return false;
    const event = new Event(type, { cancelable: true });
    for (const listener of this.#listeners.get(type) ?? []) listener(event);
    return !event.defaultPrevented;
  }

  /** The reader's next button. */
  leave(): void {
    page.activeElement = null;
    this.fire("blur");
  }
}

const page: { activeElement: Button | null } = { activeElement: null };

/** What has the focus when the browser has seen to it. */
const focused = (): Button | null => (page.activeElement?.disabled ? null : page.activeElement);

beforeEach(() => {
  page.activeElement = null;
  vi.stubGlobal("document", page);
});
afterEach(() => {
  vi.unstubAllGlobals();
});

describe("Train and Stop", () => {
  test("hand the focus to each other", () => {
    const [train, stop] = [new Button(), new Button()];
    alternate(train, stop, { begin: true, end: false });
    train.focus();
    alternate(train, stop, { begin: false, end: true });
    expect([train.disabled, stop.disabled]).toEqual([true, false]);
    expect(focused()).toBe(stop);
    alternate(train, stop, { begin: true, end: false });
    expect(focused()).toBe(train);
  });

  test("take it from nothing else", () => {
    const [train, stop, other] = [new Button(), new Button(), new Button()];
    other.focus();
    alternate(train, stop, { begin: false, end: true });
    alternate(train, stop, { begin: true, end: false });
    expect(focused()).toBe(other);
  });
});

describe("a button whose own work disables it", () => {
  test("keeps the focus, and cannot be pressed", () => {
    const button = new Button();
    button.focus();
    for (let times = 0; times < 2; times++) disable(button, true);
    expect(focused()).toBe(button);
    expect(button.attributes.get("aria-disabled")).toBe("true");
    expect(button.fire("click")).toBe(false);
    disable(button, false);
    expect(button.attributes.has("aria-disabled")).toBe(false);
    expect(button.fire("click")).toBe(true);
    expect(focused()).toBe(button);
  });

  test("is disabled like any other when the focus goes on", () => {
    const button = new Button();
    button.focus();
    disable(button, true);
    button.fire("blur");
    expect(button.disabled, "another window was chosen").toBe(false);
    button.leave();
    expect([button.disabled, button.attributes.has("aria-disabled")]).toEqual([true, false]);
  });

  test("is disabled at once where it has no focus", () => {
    const button = new Button();
    disable(button, true);
    expect(button.disabled).toBe(true);
    button.focus();
    disable(button, true);
    expect(button.disabled).toBe(true);
  });
});
