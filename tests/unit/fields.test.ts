import { describe, expect, test } from "vitest";
import { LabError } from "../../www/src/errors";
import { type Field, FieldFault, numberOf, type Written, widthsOf } from "../../www/src/fields";

const said = (written: Written, field: Field): string => {
  try {
    return String(numberOf("seed", written, field));
  } catch (error) {
    expect(error).toBeInstanceOf(FieldFault);
    expect((error as FieldFault).field).toBe("seed");
    return (error as Error).message;
  }
};

describe("a field of a number", () => {
  const seed: Field = { name: "The seed", whole: true, least: 0, most: 4294967295 };

  test("is refused where it is empty: that is no 0", () => {
    for (const text of ["", " ", "\t"]) expect(said({ text }, seed)).toBe("The seed is empty, and must be a number");
    expect(said({ text: "", isBad: true }, seed)).toBe("The seed is not a number");
    expect(said({ text: "", isBad: true }, { name: "The learning rate", above: 0 })).toMatch(/^The learning rate /);
  });

  test("is its number within its limits", () => {
    expect([said({ text: "0" }, seed), said({ text: " 12 " }, seed), said({ text: "1e3" }, seed)]).toEqual([
      "0",
      "12",
      "1000",
    ]);
    expect(said({ text: "0.02" }, { name: "The learning rate", above: 0, least: 0 })).toBe("0.02");
  });

  test("says what it must be", () => {
    expect(said({ text: "1.5" }, seed)).toBe("The seed must be a whole number, not 1.5");
    expect(said({ text: "-1" }, seed)).toBe("The seed must be at least 0, not −1");
    expect(said({ text: "5000000000" }, seed)).toMatch(/must be at most 4\u202f294\u202f967\u202f295, not 5000000000/);
    expect(said({ text: "0" }, { name: "The rate", above: 0, least: 0 })).toBe("The rate must be above 0, not 0");
    expect(said({ text: "1e999" }, { name: "The rate" })).toMatch(/^The rate must be a number/);
    expect(said({ text: "12a" }, seed)).toMatch(/^The seed must be a number/);
  });
});

describe("widths", () => {
  test("are numbers apart by anything", () => {
    for (const text of ["784-100-10", "784, 100, 10", "784 × 100 × 10", "784–100–10"]) {
      expect(widthsOf("widths", text)).toEqual([784, 100, 10]);
    }
  });

  test("are refused by name where they are none", () => {
    for (const text of ["", "784", "784-abc", "784-0-10"]) {
      let error: unknown;
      try {
        widthsOf("widths", text);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(FieldFault);
      expect(error).toBeInstanceOf(LabError);
      const { field, code, message } = error as FieldFault;
      expect([field, code]).toEqual(["widths", "invalid_network"]);
      expect(message).toMatch(/widths/);
    }
  });
});
