/** Which device computes, and in which colours the page is. */

import type { BackendInfo } from "isoflat";
import { html, render } from "lit-html";
import type { App } from "../app";
import type { BackendChoice } from "../worker/protocol";
import { place, within } from "./place";

type Theme = "system" | "light" | "dark";
const THEMES: Theme[] = ["system", "light", "dark"];
const SIGNS: Record<Theme, string> = { system: "◐", light: "○", dark: "●" };

export function badgeText({ backend, adapter, api, precision, isSoftware }: BackendInfo): string {
  const device = [backend === "cpu" ? "CPU" : "WebGPU", adapter || api];
  if (isSoftware) device.push("software adapter");
  return [...device, precision].join(" · ");
}

const MARKUP = html`
  <div class="brand">
    <svg class="logo" viewBox="0 0 40 40" aria-hidden="true">
      <ellipse cx="20" cy="20" rx="17" ry="7.5"/><ellipse cx="20" cy="20" rx="10.6" ry="4.7"/>
      <ellipse class="second" cx="20" cy="20" rx="7.5" ry="17"/><ellipse class="second" cx="20" cy="20" rx="4.7" ry="10.6"/>
      <circle cx="20" cy="20" r="2"/>
    </svg>
    <h1>isoflat</h1>
  </div>
  <p class="tagline">How flat is a neural network’s minimum, in a way that rescaling its weights cannot fake?</p>
  <div class="device">
    <label for="backend" class="visually-hidden">Compute on</label>
    <select id="backend" class="quiet">
      <option value="auto">Auto</option>
      <option value="webgpu">WebGPU</option>
      <option value="cpu">CPU</option>
    </select>
    <span id="badge" class="badge" role="status" aria-label="Computing on" data-state="starting">starting…</span>
    <button id="theme" type="button" class="quiet icon" aria-label="Colour theme: as the system"></button>
  </div>
`;

export function headerView(app: App): void {
  const header = place("header");
  render(MARKUP, header);
  const badge = within(header)("span", "badge");
  const select = within(header)("select", "backend");
  app.store.watch(["backend"], () => {
    select.value = app.store.state.backend;
  });
  app.store.watch(["engine", "task"], () => {
    const { engine, task } = app.store.state;
    if (!engine) {
      badge.textContent = task === "starting" ? "starting…" : "no engine";
      return;
    }
    badge.textContent = badgeText(engine.info);
    badge.dataset.state = engine.info.backend;
    badge.title = engine.note ?? engine.info.threadsReason ?? "";
    // What is shown as chosen must be what computes.
    if (engine.note) select.value = engine.info.backend === "cpu" ? "cpu" : "webgpu";
  });
  select.addEventListener("change", () => void app.chooseBackend(select.value as BackendChoice));
}

/** Calls `redraw` whenever the colours have changed. */
export function themeView(redraw: () => void): void {
  const button = within(place("header"))("button", "theme");
  const stored = document.documentElement.dataset.theme;
  let theme: Theme = stored === "light" || stored === "dark" ? stored : "system";
  const show = (): void => {
    render(html`<span aria-hidden="true">${SIGNS[theme]}</span>`, button);
    button.setAttribute("aria-label", `Colour theme: ${theme === "system" ? "as the system" : theme}`);
    button.title = button.getAttribute("aria-label") ?? "";
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("isoflat.theme", theme);
    } catch {
      // Private windows may refuse storage; the theme then lasts as long as the page.
    }
    show();
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  show();
}
