import { describe, expect, test } from "vitest";
import { bytes, duration, factor, integer, number, percent, power, powerOfTwo, round } from "../../www/src/format";

const NBSP = "\u00a0";

describe("number", () => {
  test("has so many significant digits", () => {
    expect(number(1.23456)).toBe("1.23");
    expect(number(99999)).toBe("99999");
    expect(number(0.0012345, 2)).toBe("0.0012");
    expect(number(-42)).toBe("−42.0");
  });

  test("goes over to powers of ten on both sides, with a line that cannot break before them", () => {
    expect(number(1e5)).toBe(`1.00${NBSP}×${NBSP}10⁵`);
    expect(number(9.99e-4)).toBe(`9.99${NBSP}×${NBSP}10⁻⁴`);
    expect(number(-1.5e-12, 2)).toBe(`−1.5${NBSP}×${NBSP}10⁻¹²`);
  });

  test("names what is no finite number", () => {
    expect([0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map((value) => number(value))).toEqual([
      "0",
      "not a number",
      "∞",
      "−∞",
    ]);
  });
});

test("power rounds to a power of ten where the number is far from 1", () => {
  expect([0, 0.3, 12, 2e-12, 4000, Number.NaN].map(power)).toEqual(["0", "0.30", "12", "10⁻¹²", "10⁴", "–"]);
});

test("powerOfTwo keeps what is none as a number", () => {
  expect([2 ** -7, 1024, 1, 3].map(powerOfTwo)).toEqual(["2⁻⁷", "2¹⁰", "1.00", "3.00"]);
});

test("round leaves round numbers as they are", () => {
  expect([0, 0.5, -100, 0.1 + 0.2].map(round)).toEqual(["0", "0.5", "−100", "0.3"]);
  expect(round(1e6)).toBe(`1${NBSP}×${NBSP}10⁶`);
});

test("factor says whether something grew or shrank", () => {
  expect([146, 1 / 12, 1].map(factor)).toEqual(["× 146", "÷ 12.0", "× 1.00"]);
  expect([0, -2, Number.NaN, Number.POSITIVE_INFINITY].map(factor)).toEqual(["–", "–", "–", "–"]);
});

test("integer groups digits by three from the right", () => {
  expect([7, 1000, 1234567].map(integer)).toEqual(["7", "1\u202f000", "1\u202f234\u202f567"]);
});

test("percent", () => {
  expect([percent(0.97612), percent(1, 0)]).toEqual(["97.6 %", "100 %"]);
});

test("duration takes the unit that one would say", () => {
  expect([0.4, 4.4, 12, 89, 90, 5399, 5400, 36 * 3600, 3.15e7, 3.2e7, 1e300].map(duration)).toEqual([
    "less than a second",
    "about 4 s",
    "about 10 s",
    "about 90 s",
    "about 2 min",
    "about 90 min",
    "about 2 hours",
    "about 2 days",
    "about 365 days",
    "more than a year",
    "more than a year",
  ]);
});

test("bytes has two digits", () => {
  expect([999_999, 35_499_000, 1.26e9].map(bytes)).toEqual(["less than 1 MB", "35 MB", "1.3 GB"]);
});
