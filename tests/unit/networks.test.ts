import { expect, test } from "vitest";
import { defaultsOf, networkGroups, unfitForMnist } from "../../www/src/networks";

test("every network is offered once", () => {
  const names = networkGroups().flatMap(({ networks }) => networks.map(({ name }) => name));
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(["small", "f1", "c1", "vgg16_cifar10"]));
});

test("convolutions stand apart from dense networks", () => {
  const [dense, convolutional] = networkGroups();
  expect(dense?.networks.map(({ name }) => name)).toContain("mnist_fc");
  expect(convolutional?.networks.map(({ name }) => name)).toContain("lenet");
});

test("a slow network begins with fewer samples, and keeps the rest of the usual settings", () => {
  const usual = defaultsOf({ kind: "preset", name: "small" });
  expect(defaultsOf({ kind: "widths", widths: [4, 2], bias: true })).toEqual(usual);
  const vgg = defaultsOf({ kind: "preset", name: "vgg16_cifar10" });
  expect(vgg.random).toBeLessThan(usual.random);
  expect(vgg.training).toBe(usual.training);
});

test("only what takes 784 values and gives ten is for MNIST", () => {
  expect(unfitForMnist({ kind: "preset", name: "lenet" })).toBeNull();
  expect(unfitForMnist({ kind: "preset", name: "lenet5" })).toMatch(/3×32×32 = 3072 values/);
  const of = (...widths: number[]) => unfitForMnist({ kind: "widths", widths, bias: true });
  expect(of(784, 20, 10)).toBeNull();
  expect(of(784, 20, 12)).toBeNull();
  expect(of(783, 20, 10)).toMatch(/takes 783 values/);
  expect(of(784, 20, 9)).toMatch(/has 9 outputs/);
  // Of an address: what there is none of the engine refuses.
  expect(unfitForMnist({ kind: "preset", name: "none" as "small" })).toBeNull();
});
