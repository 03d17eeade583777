/** The page as a person meets it: presses, drags, reads, and waits for what appears. */

const MINUTE = 60_000;

/** What `spin` takes in a page, as two tests at a time leave the computer that limits in ms are written for. */
const USUAL_MS = 110;

/** Milliseconds between two looks at what a test waits for. */
const LOOK_EVERY = 20;

/** Chrome's remarks on drawing speed are no errors of the page. */
const IGNORED = /GPU stall due to ReadPixels/;

/** The address of the page as it opens, but for how many samples are measured. */
export const measuredOn = (url, samples) => `${url}#/train?measured=${samples}&s=3.5`;

/** Milliseconds of a sum that always takes the same on a machine that does nothing else; in Node, or in a page. */
export function spin() {
  const start = performance.now();
  let sum = 0;
  for (let i = 0; i < 3e7; i++) sum += i % 7;
  // Used, or there would be nothing to compute.
  return sum > 0 ? performance.now() - start : 0;
}

export class Lab {
  /** All that a test has opened: none of them may have complained at its end. */
  static opened = [];

  /** What the console said that it should not have. */
  complaints = [];

  constructor(page) {
    Lab.opened.push(this);
    this.page = page;
    // For what never comes: how long something may take is measured where it matters.
    page.setDefaultTimeout(3 * MINUTE);
    // Playwright looks once a frame, and so has Chrome make sixty a second for as long as a test waits.
    const waitForFunction = page.waitForFunction.bind(page);
    page.waitForFunction = (what, arg, options) => waitForFunction(what, arg, { polling: LOOK_EVERY, ...options });
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" && !IGNORED.test(message.text())) this.complaints.push(message.text());
    });
  }

  /**
   * `measured`: on so few samples, for what asks whether numbers are there and not which: all of them are soon found then. Null for
   * as many as the page comes with; an address that says more than where the page is stays as it is.
   * `rests`: what is computed of the network that the page comes with is stopped, for what begins with another one.
   *
   * Without a service worker unless `options` have one: keeping all of the site is a fifth of the work of opening the page, and from the
   * second visit on it brings threads, and with them other roundings.
   */
  static async open(browser, url, { measured = url.includes("#") ? null : 100, rests = false, ...options } = {}) {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      // A page that is still gliding to where it was scrolled moves away from under the mouse.
      reducedMotion: "reduce",
      serviceWorkers: "block",
      ...options,
    });
    const lab = new Lab(await context.newPage());
    await lab.page.goto(measured ? measuredOn(url, measured) : url);
    await lab.page.waitForSelector("#badge:not([data-state=starting])");
    // Stopped before the address is carried out, the page would stay as it comes: on as many samples as it has, whatever is trained then.
    if (rests && measured) await lab.measuring(measured);
    await (rests ? lab.rest() : lab.idle());
    return lab;
  }

  /** Until it is measured on so many samples. */
  measuring(samples) {
    const isMeasuredOn = (samples) => window.isoflatLab.app.store.state.model?.measuredSamples === samples;
    return this.page.waitForFunction(isMeasuredOn, samples);
  }

  /** What the console had to say, since the test wanted it to fail. */
  forgive(pattern) {
    this.complaints = this.complaints.filter((complaint) => !pattern.test(complaint));
  }

  close() {
    return this.page.context().close();
  }

  text(selector) {
    return this.page.locator(selector).innerText();
  }

  count(selector) {
    return this.page.locator(selector).count();
  }

  /** Presses Train, by `press`, and waits until the network is another one: the page comes with one that has been trained. */
  async train(press = () => this.page.click("#train-button"), timeout = 4 * MINUTE) {
    await this.page.evaluate(() => {
      window.trainedBefore = window.isoflatLab.app.store.state.training;
    });
    await press();
    await this.replace({ knowsBefore: true });
    await this.page.waitForFunction(
      () => {
        const { training, ready } = window.isoflatLab.app.store.state;
        return ready && training && training !== window.trainedBefore;
      },
      null,
      { timeout },
    );
  }

  /** A network without a name gives way to another one, if the page asks. */
  async replace({ knowsBefore = false } = {}) {
    const question = this.page.locator("dialog.ask");
    // It asks, or begins; what is soon over may be over by now.
    const asksOrBegins = (knowsBefore) => {
      const { task, training } = window.isoflatLab.app.store.state;
      const isOver = knowsBefore && training !== window.trainedBefore;
      return isOver || document.querySelector("dialog.ask[open]") || ["starting", "training"].includes(task);
    };
    await this.page.waitForFunction(asksOrBegins, knowsBefore, { timeout: MINUTE });
    if (await question.isVisible()) await question.getByText("Replace it").click();
  }

  /** Until nothing runs any more. */
  idle(timeout = 4 * MINUTE) {
    return this.page.waitForFunction(
      () => {
        const settled = document.querySelector("#status")?.dataset.state === "idle";
        return settled && window.isoflatLab.app.store.state.task === "idle";
      },
      null,
      { timeout },
    );
  }

  /** Until all is there but the searches for the highest point, which come last and take longest: what a part that shows it waits for. */
  async looked(timeout = 4 * MINUTE) {
    await this.page.evaluate(() => window.isoflatLab.app.complete());
    return this.page.waitForFunction(
      () => {
        const { task, measures, surfaces, dinh } = window.isoflatLab.app.store.state;
        const bent = document.querySelector("#landscapes")?.dataset.bent === "true";
        const points = bent ? ["trained", "bent"] : ["trained"];
        const there = points.every((point) => surfaces[point] && measures[point].has("gauss_newton.frobenius_norm"));
        return task === "idle" || (task === "looking" && there && dinh.valley);
      },
      null,
      { timeout },
    );
  }

  /** After what has been begun on the stage: all is there that `looked` waits for, and the searches are stopped. */
  async settled() {
    await this.looked();
    await this.rest();
  }

  /** What is computed meanwhile is not waited for; what starts is, since nothing is on the stage before. */
  async rest() {
    await this.page.waitForFunction(() => window.isoflatLab.app.store.state.task !== "starting");
    await this.page.evaluate(() => window.isoflatLab.app.stop());
    await this.idle();
  }

  /** Opens one of the parts below the stage. */
  async goTo(tab) {
    await this.page.locator(`.tabs a[href="#/${tab}"]`).click();
    await this.page.waitForSelector(`[data-tab=${tab}]:not([hidden])`);
    // It comes when it is first opened.
    if (tab === "papers") await this.page.waitForSelector("#gallery .run-again");
  }

  /** The names of the parts below the stage. */
  tabs() {
    const names = (links) => links.map((link) => link.getAttribute("href").slice(2));
    return this.page.locator(".tabs a").evaluateAll(names);
  }

  /** Opens what is under *More* on the stage, or closes it: it lies over the page, and maybe over its own button. */
  async more(isOpen = true) {
    const details = this.page.locator("#more");
    if ((await details.evaluate(({ open }) => open)) === isOpen) return;
    if (isOpen) await details.locator("summary").click();
    else await this.page.keyboard.press("Escape");
  }

  async set(id, value) {
    await this.goTo("train");
    const options = this.page.locator("#train-form details.options");
    if (!(await options.evaluate((element) => element.open))) await options.locator("summary").click();
    const field = this.page.locator(`#${id}`);
    if ((await field.evaluate((element) => element.localName)) === "select") await field.selectOption(value);
    else {
      await this.fill(field, String(value));
      await field.blur();
    }
  }

  /** What is driven by WebDriver BiDi puts the text beside what is there already. */
  async fill(field, text) {
    if (this.page.context().browser().browserType().name() !== "firefox") return field.fill(text);
    await field.press("ControlOrMeta+a");
    await field.pressSequentially(text);
    // Whoever types sees what stands there.
    const stands = await field.inputValue();
    if (stands !== text) throw new Error(`${text} was typed, and ${stands} stands there`);
  }

  /** What one of the stage's gauges says: `swings`, `stands` or `accuracy`. */
  verdict(gauge) {
    return this.page.locator(`#gauge-${gauge}`).getAttribute("data-verdict");
  }

  /** What the page says before it computes: seconds and bytes in words, and as numbers that can be compared. */
  async estimate(work) {
    const place = this.page.locator(`#${work}-estimate`);
    await this.page.waitForSelector(`#${work}-estimate[data-seconds]`, { state: "attached" });
    return {
      seconds: Number(await place.getAttribute("data-seconds")),
      bytes: Number(await place.getAttribute("data-bytes")),
      text: await place.innerText(),
    };
  }

  /** A measure's number in the table; undefined while it is not there. */
  async measure(key, point) {
    const cell = this.page.locator(`tr[data-key="${key}"] td[data-of=${point}]`);
    const value = await cell.getAttribute("data-value");
    return value === null ? undefined : Number(value);
  }

  async waitForMeasure(key, point) {
    // One that is there may be gone when it is asked for again: what is bent anew is measured anew.
    const found = await this.page.waitForFunction(
      (cell) => document.querySelector(cell)?.dataset.value ?? null,
      `tr[data-key="${key}"] td[data-of=${point}]`,
      { timeout: 3 * MINUTE },
    );
    return Number(await found.jsonValue());
  }

  /** Files lie in memory: their text is what is tried out. */
  async chooseFile(name, text) {
    await this.goTo("train");
    const chooser = this.page.waitForEvent("filechooser");
    await this.page.click("#open-button");
    await (await chooser).setFiles({ name, mimeType: "application/json", buffer: Buffer.from(text) });
  }

  /** The full report of a problem file of 7-6-4-3, which it opens first. */
  async reportOf(name, text) {
    const { page } = this;
    await this.chooseFile(name, text);
    await page.waitForFunction(() => /7-6-4-3/.test(document.querySelector("#model-summary")?.textContent ?? ""));
    await this.idle();
    await this.goTo("keep");
    await page.click("#save-report");
    await page.waitForSelector("#report-save");
  }

  dropFile(name, text) {
    return this.dropFiles([{ name, mimeType: "application/json", buffer: Buffer.from(text) }]);
  }

  /** All in one drop, as `setInputFiles` takes them. */
  async dropFiles(files) {
    await this.page.evaluate(
      (files) => {
        const dataTransfer = new DataTransfer();
        for (const { name, mimeType: type, base64 } of files) {
          const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
          dataTransfer.items.add(new File([bytes], name, { type }));
        }
        const target = document.querySelector("main");
        for (const type of ["dragenter", "dragover", "drop"]) {
          target.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
        }
      },
      files.map(({ name, mimeType, buffer }) => ({ name, mimeType, base64: buffer.toString("base64") })),
    );
  }

  /** Drags a slider's thumb to a place between 0 (left) and 1; `held`: what happens there before it is let go. */
  async drag(selector, to, { held = async () => {} } = {}) {
    const slider = this.page.locator(selector);
    // Not at the foot, where the bar with what is running lies over the page.
    if (selector.startsWith("#lambda")) await this.more();
    await slider.evaluate((element) => element.scrollIntoView({ block: "center", behavior: "instant" }));
    await this.scrolled();
    const box = await slider.boundingBox();
    const y = box.y + box.height / 2;
    const at = await slider.evaluate(({ value, min, max }) => (value - min) / (max - min));
    const x = (share) => box.x + 8 + share * (box.width - 16);
    await this.page.mouse.move(x(at), y);
    await this.page.mouse.down();
    await this.page.mouse.move(x((at + to) / 2), y, { steps: 3 });
    await this.page.mouse.move(x(to), y, { steps: 3 });
    await held();
    await this.page.mouse.up();
    if (selector.startsWith("#lambda")) await this.more(false);
  }

  /** Until all that a scroll leads to is there: the page hears of it with the next frame, and a note closes or the stage makes room. */
  scrolled() {
    return this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }

  /** Presses Tab until the element has the focus. */
  async tabTo(selector, most = 200) {
    for (let presses = 0; presses <= most; presses++) {
      if (await this.page.evaluate((selector) => document.activeElement?.matches(selector), selector)) return presses;
      await this.page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not come to ${selector} within ${most} presses`);
  }

  async download(selector) {
    const wait = this.page.waitForEvent("download");
    await this.page.click(selector);
    const stream = await (await wait).createReadStream();
    let text = "";
    for await (const chunk of stream) text += chunk;
    return text;
  }

  /** How many clearly different colours an element shows: 1 where nothing is drawn. */
  async colours(selector) {
    const locator = this.page.locator(selector);
    await locator.scrollIntoViewIfNeeded();
    const image = (await locator.screenshot()).toString("base64");
    return this.page.evaluate(async (image) => {
      // The page's policy lets nothing be fetched but what is its own.
      const blob = new Blob([Uint8Array.from(atob(image), (character) => character.charCodeAt(0))]);
      const bitmap = await createImageBitmap(blob);
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
      context.drawImage(bitmap, 0, 0);
      const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) seen.add(`${data[i] >> 4} ${data[i + 1] >> 4} ${data[i + 2] >> 4}`);
      return seen.size;
    }, image);
  }

  /**
   * Begins to watch the page's own thread. Not the frames: which of them are shown is up to the browser's other processes too, and beside
   * another test on two cores those wait for each other (what is drawn on a quiet computer is in frames.mjs).
   */
  watchThread() {
    return this.page.evaluate(() => {
      const tasks = [];
      const add = (entries) => tasks.push(...entries.map(({ duration }) => duration));
      const observer = new PerformanceObserver((list) => add(list.getEntries()));
      observer.observe({ type: "longtask" });
      window.endWatch = () => {
        add(observer.takeRecords());
        observer.disconnect();
        return Math.max(0, ...tasks);
      };
    });
  }

  /**
   * For how long the page's thread was held at a time since `watchThread`, at most, in ms of a computer on which it takes `USUAL_MS` to
   * `spin`: where that takes longer now, all of the page does. 0 where nothing took 50 ms.
   */
  async longestTask() {
    const longest = await this.page.evaluate(() => window.endWatch());
    const spins = [];
    for (let i = 0; i < 3; i++) spins.push(await this.page.evaluate(spin));
    const slowness = Math.max(1, spins.sort((a, b) => a - b)[1] / USUAL_MS);
    return {
      held: longest / slowness,
      said: `the page's thread was held for ${longest.toFixed(0)} ms ÷ ${slowness.toFixed(2)}`,
    };
  }

  /** By how many pixels the page is wider than its window. */
  overflow() {
    return this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  }
}
