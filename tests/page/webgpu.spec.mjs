/** With WebGPU, by mouse. A software adapter is slow, so the check is made on the small problem file. */

import { checkLost } from "./ends.mjs";
import { test } from "./fixtures.mjs";
import { Lab } from "./lab.mjs";
import { checkConstructions, checkHeatMap, checkLayers, checkPapers, checkSharpen, checkSpectrum } from "./panels.mjs";
import {
  checkBent,
  checkConvolution,
  checkEstimates,
  checkInvariance,
  checkLandscapes,
  checkStop,
  checkTestAccuracy,
} from "./steps.mjs";
import { checkLostDevice } from "./way.mjs";

const onGpu = async (lab) => /^WebGPU · .+ · f32$/.test(await lab.text("#badge"));

/** A lab that computes on the GPU. Coarse landscapes will do. */
async function onAdapter(lab, check) {
  const { page } = lab;
  await page.selectOption("#backend", "webgpu");
  await page.waitForFunction(() => /WebGPU/.test(document.querySelector("#badge")?.textContent ?? ""));
  check("the badge names WebGPU, the adapter and f32", await onGpu(lab), await lab.text("#badge"));
  await lab.goTo("landscape");
  await page.fill("#points", "11");
  await page.locator("#points").blur();
}

test("From estimates to Stop", async ({ browser, url, check, part }) => {
  const lab = await Lab.open(browser, url, { rests: true });
  const { page } = lab;
  await onAdapter(lab, check);

  await part("Estimates", () => checkEstimates(lab, check));

  await part("Training", async () => {
    // Half of the epochs that the page comes with, each of which takes a software adapter ten seconds.
    await lab.set("epochs", 4);
    await lab.train();
    await checkTestAccuracy(lab, check);
    check("its curve is drawn", (await lab.colours("#training-chart")) > 4);
  });

  await part("Looking", () => checkLandscapes(lab, check, ["trained"]));

  await part("Bending", async () => {
    await lab.waitForMeasure("hessian.spectral_norm", "trained");
    await lab.drag("#lambda-1", 5 / 6);
    await checkBent(lab, check, "f32");
    await page.waitForSelector("#landscapes [data-point=bent] canvas", { timeout: 180_000 });
    check("the bent surface is drawn beside it", (await lab.colours("#landscapes [data-point=bent] canvas")) > 20);
  });

  await part("Stop", async () => {
    // A software adapter computes on the cores that the page is drawn with.
    await checkStop(lab, check, 500);
    check("it was WebGPU all the time", await onGpu(lab));
  });
});

test("A small problem file, and a lost device", async ({ lab, check, problem, part }) => {
  const { page } = lab;
  await onAdapter(lab, check);

  await part("The file", async () => {
    await lab.chooseFile("mlp_bias.json", problem);
    await page.waitForFunction(() => /7-6-4-3/.test(document.querySelector("#model-summary")?.textContent ?? ""));
    await lab.idle();
    await lab.goTo("check");
    await page.click("#check-button");
    await checkInvariance(lab, check);
    await lab.idle();
    await checkPapers(lab, check);
    await checkHeatMap(lab, check);
    await checkLayers(lab, check, { bent: false, tolerance: 1e-3 });
    await checkSpectrum(lab, check, { part: "all", points: ["trained"] });
    await checkSharpen(lab, check, { precision: "f32", longest: 500 });
    await checkConstructions(lab, check);
    await lab.idle();
  });

  await part("The device", async () => {
    await page.evaluate(() => window.isoflatLab.loseDevice());
    await lab.goTo("check");
    await page.click("#check-button");
    await page.waitForSelector(".message.notice");
    check("a lost GPU is said", true, await lab.text(".message.notice strong"));
    await checkInvariance(lab, check);
    const badge = await lab.text("#badge");
    check("and the page goes on, saying with what", /WebGPU|CPU/.test(badge), badge);
  });
});

test("A convolutional network", async ({ lab, check }) => {
  await onAdapter(lab, check);
  await checkConvolution(lab, check, { samples: 128, measured: 8, bend: false });
});

test("A device that is lost in the middle of training", ({ browser, little, check }) =>
  checkLostDevice(browser, little, check));

test("A device that is lost at any other moment", ({ browser, little, check }) => checkLost(browser, little, check));
