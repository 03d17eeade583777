/**
 * What all elements have in common: a shadow root with the theme, a drawing that is loaded when the element comes near to the window,
 * and drawn anew when something changes: what it is given, its size, or the colours around it.
 */

import type { Ground } from "../charts/ground";
import { nextFrame, whenNear } from "../observers";
import basics from "../style/basics.css?inline";
import around from "../style/elements.css?inline";
import { type ElementGround, groundOf, themed, watchColours } from "./colours";

/** What is loaded later: it draws into the element's place. */
export interface Drawing<Content> {
  show: (content: Content, ground: Ground) => void;
  close: () => void;
}

export type MakeDrawing<Content> = (place: HTMLElement, element: PlotElement<Content>) => Drawing<Content>;

/** Where there are no elements, as in Node, the module can be imported and does nothing. */
const Base = globalThis.HTMLElement ?? (class {} as unknown as typeof HTMLElement);

let sheet: CSSStyleSheet | undefined;

/** A style sheet that all elements share. */
export function sheetOf(css: string): CSSStyleSheet {
  const made = new CSSStyleSheet();
  made.replaceSync(css);
  return made;
}

/** So far from the window an element begins to load what draws it. */
const NEAR = "50%";

export abstract class PlotElement<Content> extends Base {
  /** Properties that may have been set before the element was known. */
  protected abstract readonly given: readonly string[];
  readonly #root: ShadowRoot;
  readonly #place: HTMLElement;
  #ground: ElementGround | undefined;
  #drawing: Drawing<Content> | undefined;
  #isNear = false;
  #isLoading = false;
  #isDue = false;
  #leave: (() => void)[] = [];

  constructor() {
    super();
    this.#root = this.attachShadow({ mode: "open" });
    sheet ??= sheetOf(themed() + basics + around);
    this.#root.adoptedStyleSheets = [sheet];
    this.#place = document.createElement("div");
    this.#place.className = "place";
    this.#place.setAttribute("part", "drawing");
    // What the page says while there is nothing to draw.
    this.#place.append(document.createElement("slot"));
    this.#root.append(this.#place);
  }

  connectedCallback(): void {
    for (const name of this.given) this.#upgrade(name);
    this.#ground = groundOf(this.#root);
    this.#leave = [watchColours(this.#root, () => this.#recolour()), this.#whenNear()];
    this.redraw();
  }

  disconnectedCallback(): void {
    for (const leave of this.#leave.splice(0)) leave();
    this.#isNear = false;
    this.#close();
  }

  /** What there is to draw; null for nothing. */
  protected abstract content(): Content | null;

  protected abstract load(): Promise<MakeDrawing<Content>>;

  /** With the next frame, however much changes until then. */
  redraw(): void {
    if (this.#isDue || !this.isConnected) return;
    this.#isDue = true;
    nextFrame(() => {
      this.#isDue = false;
      this.#draw();
    });
  }

  adopt(...sheets: CSSStyleSheet[]): void {
    const all = new Set([...this.#root.adoptedStyleSheets, ...sheets]);
    this.#root.adoptedStyleSheets = [...all];
  }

  #recolour(): void {
    this.#ground?.forget();
    this.redraw();
  }

  #draw(): void {
    if (!this.isConnected || !this.#isNear || !this.#ground) return;
    // It is drawn when it is there again. A test's document may not know what is.
    if (this.checkVisibility?.() === false) return;
    const content = this.content();
    if (content === null) {
      this.#close();
      return;
    }
    if (this.#drawing) {
      this.#drawing.show(content, this.#ground);
      return;
    }
    if (this.#isLoading) return;
    this.#isLoading = true;
    void this.load()
      .then((make) => {
        if (this.isConnected && this.content() !== null) this.#drawing = make(this.#place, this);
      })
      .catch((error: unknown) => {
        this.dispatchEvent(new ErrorEvent("error", { error, message: `${this.localName}: ${String(error)}` }));
        throw error;
      })
      .finally(() => {
        this.#isLoading = false;
        if (this.#drawing) this.#draw();
      });
  }

  #close(): void {
    if (!this.#drawing) return;
    this.#drawing.close();
    this.#drawing = undefined;
    this.#place.replaceChildren(document.createElement("slot"));
  }

  /** Where it was hidden the colours may have become others, which nobody was told. */
  #whenNear(): () => void {
    return whenNear(this, NEAR, (isNear) => {
      if (!isNear) return;
      this.#isNear = true;
      this.#recolour();
    });
  }

  /** A property of the element itself hides the class' own. */
  #upgrade(name: string): void {
    if (!Object.hasOwn(this, name)) return;
    const element = this as unknown as Record<string, unknown>;
    const value = element[name];
    delete element[name];
    element[name] = value;
  }
}

/** One of the values that an attribute may have: the first where it has another one. */
export function chosen<T extends string>(value: string | null, values: readonly [T, ...T[]]): T {
  return values.find((known) => known === value) ?? values[0];
}

/** That it is one of them. */
export function oneOf<T extends string>(value: T, values: readonly T[], what: string): T {
  if (values.includes(value)) return value;
  throw new TypeError(`${what}: it is to be ${values.join(" or ")}, and not ${JSON.stringify(value)}`);
}
