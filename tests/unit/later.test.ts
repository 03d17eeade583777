/** Pieces of the page that are fetched later, and are not. */

import { describe, expect, test, vi } from "vitest";
import { advice } from "../../www/src/errors";
import { canReload, isNotFetched, later } from "../../www/src/later";

const GONE = "Failed to fetch dynamically imported module: http://localhost/assets/spaces-1.js";
const UNSTYLED = "Unable to preload CSS for /assets/gallery-1.css";

describe("a piece that is fetched later", () => {
  test("is known not to have come by what browsers say, and not by a fault of its own", () => {
    const said = [
      GONE,
      UNSTYLED,
      `error loading dynamically imported module: /a.js`,
      "Importing a module script failed.",
    ];
    for (const message of said) expect(isNotFetched(new TypeError(message))).toBe(true);
    expect(isNotFetched(new TypeError("view is not a function"))).toBe(false);
    expect(isNotFetched("text")).toBe(false);
  });

  test("is asked for again where it did not come", async () => {
    const load = vi.fn<() => Promise<string>>().mockRejectedValueOnce(new TypeError(GONE)).mockResolvedValue("part");
    const part = later(load);
    await expect(part()).rejects.toThrow(GONE);
    await expect(part()).resolves.toBe("part");
  });

  test("but not where it would come without its style sheet", async () => {
    const load = vi.fn<() => Promise<string>>().mockRejectedValueOnce(new Error(UNSTYLED)).mockResolvedValue("part");
    const part = later(load);
    await expect(part()).rejects.toThrow(UNSTYLED);
    await expect(part()).rejects.toThrow(UNSTYLED);
    expect(load).toHaveBeenCalledTimes(1);
  });

  test("comes with a page that is loaded again, if there is one", async () => {
    vi.stubGlobal("document", { baseURI: "http://localhost/" });
    const answers = vi.fn().mockResolvedValueOnce({ ok: true }).mockResolvedValueOnce({ ok: false });
    vi.stubGlobal("fetch", answers.mockRejectedValueOnce(new TypeError("Failed to fetch")));
    expect([await canReload(), await canReload(), await canReload()]).toEqual([true, false, false]);
    expect(advice("not_fetched")).not.toMatch(/engine|Train/);
  });
});
