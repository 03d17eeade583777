/** Who draws the surfaces: a worker; the page itself where no worker can; nobody where there is no WebGL. And how hands turn them. */

import { Lab } from "./lab.mjs";

const OF = (point) => `#landscapes [data-point=${point}] canvas`;

async function opened(browser, url, prepare) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 }, reducedMotion: "reduce" });
  const lab = new Lab(await context.newPage());
  const loaded = [];
  lab.page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  await prepare(lab.page);
  await lab.page.goto(url);
  return { lab, loaded, drawsHere: () => loaded.some((path) => /\/scene-/.test(path)) };
}

async function drawn({ lab }, check, who) {
  for (const point of ["trained", "bent"]) {
    await lab.page.waitForSelector(OF(point));
    const colours = await lab.colours(OF(point));
    check(`${who} draws the ${point} surface`, colours > 20, `${colours} colours`);
  }
}

/** Until the picture of a canvas is another one than before, and stands. */
async function changes(lab, canvas, before) {
  let now = before;
  for (let tries = 0; tries < 40 && now.equals(before); tries++) {
    await lab.page.waitForTimeout(100);
    now = await canvas.screenshot();
  }
  await lab.page.waitForTimeout(300);
  return !now.equals(before);
}

async function checkTurning(lab, check) {
  await lab.idle();
  const [canvas, other] = [lab.page.locator(OF("trained")), lab.page.locator(OF("bent"))];
  const moves = async (what, body) => {
    const before = [await canvas.screenshot(), await other.screenshot()];
    await body();
    check(`${what} moves the surface`, await changes(lab, canvas, before[0]));
    check(`${what} moves the other with it`, await changes(lab, other, before[1]));
  };
  const { x, y, width, height } = await canvas.boundingBox();
  const [across, down] = [x + width / 2, y + height / 2];
  await lab.page.mouse.move(across, down);
  // Nobody turns the wheel of what has not the focus.
  const scrolled = () => lab.page.evaluate(() => window.scrollY);
  await lab.page.mouse.wheel(0, 60);
  await lab.page.waitForFunction(() => window.scrollY > 0);
  check("without the focus a wheel scrolls the page", (await scrolled()) > 0);
  await lab.page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
  await moves("a hand", async () => {
    await lab.page.mouse.down();
    await lab.page.mouse.move(across + 60, down + 10, { steps: 3 });
    await lab.page.mouse.up();
  });
  await canvas.focus();
  await moves("a key", () => lab.page.keyboard.press("ArrowLeft"));
  const at = await scrolled();
  await moves("a wheel", () => lab.page.mouse.wheel(0, -200));
  check("and the page stays where it is", (await scrolled()) === at);
}

export async function checkSurfaces(browser, url, check) {
  const usual = await opened(browser, url, () => {});
  await drawn(usual, check, "a worker");
  check("the page has nothing to draw with, and needs nothing", !usual.drawsHere());
  await checkTurning(usual.lab, check);
  await usual.lab.close();

  const without = (page) =>
    page.addInitScript(() => {
      delete HTMLCanvasElement.prototype.transferControlToOffscreen;
    });
  const here = await opened(browser, url, without);
  await drawn(here, check, "where no canvas can be given away, the page");
  check("with what it has loaded for that", here.drawsHere());
  await here.lab.idle();
  await here.lab.page.locator(OF("trained")).evaluate(async (canvas) => {
    const loses = canvas.getContext("webgl2").getExtension("WEBGL_lose_context");
    const restored = new Promise((resolve) => canvas.addEventListener("webglcontextrestored", resolve));
    loses.loseContext();
    await new Promise((resolve) => setTimeout(resolve, 100));
    loses.restoreContext();
    await restored;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  });
  const again = await here.lab.colours(OF("trained"));
  check("a context that was lost comes back with its picture", again > 20, `${again} colours`);
  await here.lab.close();

  const broken = await opened(browser, url, (page) => page.route("**/surface-worker*", (route) => route.abort()));
  await drawn(broken, check, "where the worker does not come, the page");
  broken.lab.forgive(/Failed to load resource/);
  await broken.lab.close();

  const flat = await opened(browser, url, (page) =>
    page.addInitScript(() => {
      delete HTMLCanvasElement.prototype.transferControlToOffscreen;
      const { getContext } = HTMLCanvasElement.prototype;
      HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
        return kind.startsWith("webgl") ? null : getContext.call(this, kind, ...rest);
      };
    }),
  );
  await flat.lab.page.waitForSelector("#landscapes [data-point=trained] svg path.level");
  check("without WebGL there is a map", await flat.lab.page.locator("[name=view][value=contour]").isChecked());
  flat.lab.forgive(/WebGL/);
  await flat.lab.close();
}
