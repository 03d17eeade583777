/** Which device computes, and in which colours the page is. */

import type { BackendInfo } from "isoflat";
import type { App } from "../app";
import { find, html } from "../dom";
import type { BackendChoice } from "../worker/protocol";

type Theme = "system" | "light" | "dark";
const THEMES: Theme[] = ["system", "light", "dark"];
const SIGNS: Record<Theme, string> = { system: "◐", light: "○", dark: "●" };

export function badgeText({ backend, adapter, api, precision, isSoftware }: BackendInfo): string {
  const device = [backend === "cpu" ? "CPU" : "WebGPU", adapter || api];
  if (isSoftware) device.push("software adapter");
  return [...device, precision].join(" · ");
}

export function headerView(app: App): void {
  const badge = find("span", "badge");
  const select = find("select", "backend");
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
  const button = find("button", "theme");
  const stored = document.documentElement.dataset.theme;
  let theme: Theme = stored === "light" || stored === "dark" ? stored : "system";
  const show = (): void => {
    button.replaceChildren(html("span", { "aria-hidden": "true" }, SIGNS[theme]));
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
