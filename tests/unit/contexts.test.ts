import { describe, expect, test } from "vitest";
import { type Holder, hold, isCrowded, release, spare } from "../../www/src/charts/contexts";

describe("WebGL contexts", () => {
  test("of those that are far are given back, the oldest first, where there are many", () => {
    const gone: number[] = [];
    const all = Array.from({ length: 9 }, (_, index) => ({ isNear: index !== 2, letGo: () => void gone.push(index) }));
    for (const holder of all.slice(0, 6)) hold(holder);
    expect([gone, isCrowded()]).toEqual([[], false]);
    for (const holder of all.slice(6)) hold(holder);
    expect([gone, isCrowded()]).toEqual([[2], true]);
    for (const index of [4, 5, 8]) (all[index] as { isNear: boolean }).isNear = false;
    spare();
    expect([gone, isCrowded()]).toEqual([[2, 4, 5], false]);
    for (const holder of all as Holder[]) release(holder);
  });
});
