/** The page's foot: where what is computed stays, and whether all of it works without a network. */

import { html, nothing, render } from "lit-html";
import type { App } from "../app";
import { type Offline, OfflineUse } from "../offline/register";
import { place } from "./place";

const WORKS: Record<Offline["works"], string> = {
  no: "",
  page: "Works offline, but for the training images beyond the first 24,000.",
  all: "Works offline.",
};

export function footerView(app: App): void {
  const [foot, head] = [place("footer"), place("update")];
  const offline = new OfflineUse((state) => draw(state));
  const draw = ({ works, update }: Offline): void => {
    render(
      html`<p>Nothing leaves this page: training, curvature and landscapes are computed on this device.</p>
        <p><a href="./docs/">Guides, theory and the package’s reference</a></p>
        <p id="offline" role="status" data-works=${works}>${WORKS[works]}</p>`,
      foot,
    );
    render(
      update === "none"
        ? nothing
        : html`<div class="newer">
            <p>
              <strong>A new version is there.</strong>
              ${
                update === "there"
                  ? "Your networks and what was computed of them stay."
                  : "Another tab works with the files of this one: close it first."
              }
            </p>
            <button id="update-reload" type="button" @click=${() => void offline.reload()}>Reload</button>
          </div>`,
      head,
    );
  };
  draw({ works: "no", update: "none" });
  // A visitor's frame on another page is no visit.
  if ("embed" in document.documentElement.dataset) return;
  let isBegun = false;
  app.store.watch(["engine", "task"], () => {
    const { engine, task } = app.store.state;
    // What the page needs at once comes first, and so does what it shows by itself: to fetch and keep all its files takes its time.
    if (isBegun || !engine || task === "starting" || task === "looking") return;
    isBegun = true;
    void offline.start(import.meta.url);
  });
}
