/** How often the bent surface is drawn while the slider is dragged: printed, since it is the computer's doing as much as ours. */

import { Lab } from "./lab.mjs";

/** Of the slider's way, there and back, one a frame, as a hand's moves come. */
const MOVES = 90;
/** The wish, on two cores without a GPU. */
const WISHED = 15;

const VIEW = "#landscapes [data-point=bent] .view[data-frames]";
const frames = (page) => page.locator(VIEW).evaluate((view) => Number(view.dataset.frames));

export async function checkFrames(browser, url, check) {
  const lab = await Lab.open(browser, url, { viewport: { width: 1366, height: 768 } });
  const { page } = lab;
  await page.waitForSelector(VIEW);
  await lab.drag("#sharpness", 0.2);
  await lab.idle();
  const slider = page.locator("#sharpness");
  const box = await slider.boundingBox();
  const y = box.y + box.height / 2;
  const x = (share) => box.x + 8 + share * (box.width - 16);
  const nextFrame = () => page.evaluate(() => new Promise(requestAnimationFrame));
  // Shapes that have been computed for the slider: a frame may show one that was there.
  await page.evaluate(() => {
    const { store } = window.isoflatLab.app;
    window.shapes = new Set();
    store.watch(["preview"], () => store.state.preview && window.shapes.add(store.state.preview.surface));
  });
  await page.mouse.move(x(0.2), y);
  await page.mouse.down();
  const [before, shapesBefore, began] = [await frames(page), await page.evaluate(() => window.shapes.size), Date.now()];
  for (let move = 1; move <= MOVES; move++) {
    await page.mouse.move(x(0.5 - 0.3 * Math.cos((2 * Math.PI * move) / MOVES)), y);
    await nextFrame();
  }
  const seconds = (Date.now() - began) / 1000;
  const drawn = (await frames(page)) - before;
  const shapes = (await page.evaluate(() => window.shapes.size)) - shapesBefore;
  await page.mouse.up();
  console.log(
    `  while the slider is dragged: ${(drawn / seconds).toFixed(1)} frames a second (wished: ${WISHED}), ` +
      `${(shapes / seconds).toFixed(1)} new shapes a second, ${(MOVES / seconds).toFixed(1)} moves a second`,
  );
  check("the surface is drawn while the slider moves", drawn > 1, `${drawn} frames in ${seconds.toFixed(1)} s`);
  check("in shapes of its own", shapes > 1, `${shapes}`);
  const atRelease = await frames(page);
  await lab.idle();
  while ((await frames(page)) <= atRelease) await nextFrame();
  check("no complaints in the console", lab.complaints.length === 0, lab.complaints.join("; "));
  await lab.close();
}
