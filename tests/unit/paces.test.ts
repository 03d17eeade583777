import { describe, expect, test } from "vitest";
import { Paces, type Shelf } from "../../www/src/paces";

function shelf(text: string | null = null): Shelf & { text: string | null } {
  return {
    text,
    getItem() {
      return this.text;
    },
    setItem(_: string, value: string) {
      this.text = value;
    },
  };
}

const work = { kind: "training", device: "cpu", network: "784-64-10" };

describe("Paces", () => {
  test("multiply nothing that has never been done", () => {
    expect(new Paces(shelf()).factor(work)).toBe(1);
  });

  test("learn what work really took, and keep it", () => {
    const kept = shelf();
    new Paces(kept).learn(work, 50, 5);
    expect(new Paces(kept).factor(work)).toBeCloseTo(0.1);
  });

  test("blend: what has just been seen counts for half", () => {
    const paces = new Paces(shelf());
    paces.learn(work, 1, 4);
    paces.learn(work, 1, 1);
    expect(paces.factor(work)).toBeCloseTo(2);
  });

  test("another network is told from its like, until it has been seen itself; another device is not", () => {
    const paces = new Paces(shelf());
    paces.learn(work, 1, 4);
    const other = { ...work, network: "784-300-10" };
    expect(paces.factor(other)).toBeCloseTo(4);
    paces.learn(other, 1, 1);
    expect(paces.factor(other)).toBeCloseTo(1);
    expect(paces.factor(work)).toBeCloseTo(4);
    expect(paces.factor({ ...work, device: "gpu" })).toBe(1);
    expect(paces.factor({ ...work, kind: "surface" })).toBe(1);
  });

  test("take no notice of what is too short to tell, and believe no machine that slept", () => {
    const paces = new Paces(shelf());
    paces.learn(work, 1e-4, 0.01);
    expect(paces.factor(work)).toBe(1);
    paces.learn(work, 1, 1e6);
    expect(paces.factor(work)).toBeCloseTo(30);
  });

  test("begin anew where what was kept cannot be read, and work without a shelf", () => {
    for (const text of ["{", "[]", '{"version":0,"ratios":[["cpu training",1]]}', '{"version":1,"ratios":[["x"]]}']) {
      expect(new Paces(shelf(text)).factor(work)).toBe(1);
    }
    const full: Shelf = {
      getItem: () => null,
      setItem: () => {
        throw new Error("full");
      },
    };
    const paces = new Paces(full);
    paces.learn(work, 1, 2);
    expect(paces.factor(work)).toBeCloseTo(2);
    expect(new Paces(null).factor(work)).toBe(1);
  });

  test("forget the oldest", () => {
    const paces = new Paces(shelf());
    paces.learn(work, 1, 2);
    for (let i = 0; i < 400; i++) paces.learn({ ...work, kind: `other ${i}` }, 1, 2);
    expect(paces.factor(work)).toBe(1);
  });
});
