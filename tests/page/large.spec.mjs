/**
 * Sizes that take minutes on two cores, so not part of `npm test`: `node tests/page/run.mjs --only large`. All 60,000 images of
 * MNIST on the CPU executor, and the VGG16 type (15 million parameters) on a few images on the CPU executor and on WebGPU,
 * which here is a software adapter.
 */

import { test } from "./fixtures.mjs";

const MINUTES = 60_000;

test("60,000 images of MNIST", async ({ lab, check }) => {
  await choose(lab, { network: "f1", samples: 60000, measured: 60000, epochs: 1, batch: 256 });
  await train(lab, 5 * MINUTES);
  const { training } = await state(lab);
  check("an epoch over all of them is learnt from", training.accuracy > 0.9, `accuracy ${training.accuracy}`);
  await checkLine(lab, check);
});

for (const [backend, samples] of [
  ["cpu", 8],
  ["webgpu", 4],
]) {
  test(`VGG16 type on ${samples} images, ${backend}`, async ({ lab, check }) => {
    await lab.page.selectOption("#backend", backend);
    await lab.idle(10 * MINUTES);
    check("the device", true, await lab.text("#badge"));
    await choose(lab, {
      network: "vgg16_cifar10",
      data: "synthetic",
      samples,
      measured: samples,
      epochs: 2,
      batch: samples,
    });
    // Large networks are tried out beside all work, which takes a while.
    await lab.page.waitForSelector("#train-estimate:not(:empty)", { timeout: 5 * MINUTES });
    check("the estimate is there before", true, await lab.text("#train-estimate"));
    await train(lab, 10 * MINUTES);
    const { training, model } = await state(lab);
    check("it trains", Number.isFinite(training.loss) && training.epochs === 2, `loss ${training.loss}`);
    check("15 million parameters", model.parameterCount > 14e6, String(model.parameterCount));
    await checkLine(lab, check);
  });
}

/** What comes after the line is passes by the hundred, each of seconds: it is stopped. */
async function checkLine(lab, check) {
  await lab.page.waitForFunction(() => window.isoflatLab.app.store.state.lines.trained, null, {
    timeout: 15 * MINUTES,
  });
  const line = await lab.page.evaluate(() => [...window.isoflatLab.app.store.state.lines.trained.loss]);
  check("a line of its landscape is finite", line.length > 20 && line.every(Number.isFinite), String(line[0]));
  await lab.page.click("#status-stop");
  await lab.idle(5 * MINUTES);
}

async function choose(lab, settings) {
  const { data, network, ...numbers } = settings;
  await lab.set("network", network);
  if (data) await lab.set("data", data);
  for (const [id, value] of Object.entries(numbers)) await lab.set(id, value);
  await lab.idle(5 * MINUTES);
}

async function train(lab, timeout) {
  await lab.train(undefined, timeout);
}

const state = (lab) =>
  lab.page.evaluate(() => {
    const { training, model } = window.isoflatLab.app.store.state;
    return { training, model };
  });
