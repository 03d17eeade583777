/** Models and data of other programs in the page: chosen together or one after the other, kept over a reload, saved again. */

import { readFileSync } from "node:fs";
import { npy } from "../npy.mjs";
import { test as base, root } from "./fixtures.mjs";
import { Lab } from "./lab.mjs";

const MINUTE = 60_000;

/** Models without data for them: what the card says of each. */
const MODELS = [
  { says: "PyTorch's older format", files: ["pytorch/legacy.th"], expects: /PyTorch/ },
  { says: "PyTorch's zip format", files: ["pytorch/zip.pt"], expects: /PyTorch/ },
  { says: "safetensors", files: ["safetensors/model.safetensors"], expects: /safetensors/ },
  { says: "NumPy", files: ["pytorch/zip.npz"], expects: /NumPy/ },
  { says: "ONNX", files: ["onnx/residual_projection.onnx"], expects: /ONNX/ },
  {
    says: "ONNX with its weights beside it",
    files: ["onnx/external.onnx", "onnx/external.onnx.data"],
    expects: /ONNX/,
  },
  {
    says: "TensorFlow.js with shards",
    files: [1, 2, 3].map((shard) => `tfjs/lenet-group1-shard${shard}of3.bin`).concat("tfjs/lenet.json"),
    expects: /TensorFlow\.js/,
  },
];

/** Eight by eight pixels. */
const PHOTO =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAJklEQVR4nGNgkLOJqpi25dIHPh2vjLYlhx78k7GKKJuyiWFoSQAAC7Vawc6Hrt0AAAAASUVORK5CYII=";

/** A safetensors file of ones. */
function safetensors(tensors) {
  let end = 0;
  const entry = ([name, shape]) => {
    const start = end;
    end += 4 * shape.reduce((product, n) => product * n, 1);
    return [name, { dtype: "F32", shape, data_offsets: [start, end] }];
  };
  const header = Buffer.from(JSON.stringify(Object.fromEntries(tensors.map(entry))));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, Buffer.from(new Float32Array(end / 4).fill(1).buffer)]);
}

const fixture = (name) => `${root}tests/fixtures/${name}`;

/** What these tests do with files, besides what `lab` has. */
const test = base.extend({
  choose: ({ lab }, use) => use((names) => lab.page.locator("#open-input").setInputFiles(names.map(fixture))),

  says: ({ lab }, use) =>
    use((selector, pattern, timeout = MINUTE) =>
      lab.page.waitForFunction(
        ([selector, source]) => new RegExp(source).test(document.querySelector(selector)?.textContent ?? ""),
        [selector, pattern.source],
        { timeout },
      ),
    ),

  /** The figures are there before the measures, which are not waited for. */
  stop: ({ lab }, use) =>
    use(async () => {
      const button = lab.page.locator("#status-stop");
      // They begin a moment after the figures.
      await button.waitFor({ state: "visible", timeout: 10_000 });
      await button.click();
      await lab.idle();
    }),
});

test("A published LeNet", async ({ check, choose, lab, part, says, stop }) => {
  const { page } = lab;

  await part("A published LeNet on the lab's own digits", async () => {
    await choose(["published/lenet_example.pth"]);
    await says("#opened-figures", /accuracy 9[5-9]/);
    check("loss and accuracy are said at once", true, await lab.text("#opened-figures"));
    check("the parameters are counted", /61.706/.test(await lab.text("#opened-summary")));
    check("ten images are shown", (await lab.count("#opened-images canvas")) === 10);
    check("and how many a class has", /0: \d+, 1: \d+/.test(await lab.text("#opened-counts")));
    await stop();
  });

  await part("Its weights, back as they were", async () => {
    await lab.goTo("keep");
    for (const [format, start] of [
      ["safetensors", 8],
      ["npz", 4],
    ]) {
      await page.selectOption("#save-format", format);
      const text = await lab.download("#save-problem");
      check(`as ${format}`, text.length > 61_706 * 4 * 0.5 && text.length > start, `${text.length} characters`);
    }
    check("not as ONNX", await page.locator("#save-onnx").evaluate((option) => option.disabled));
    await page.selectOption("#save-format", "problem.json");
    await lab.goTo("train");
  });
});

test("A published ResNet-20", async ({ check, choose, lab, part, says, stop }) => {
  const { page } = lab;

  await part("A published ResNet-20 and images in one drop", async () => {
    await choose(["published/cifar10_first32.npz", "published/resnet20-12fca82f.th"]);
    await says("#opened-figures", /on 32 samples/);
    const wrong = await lab.text("#opened-figures");
    check("the usual normalisation is not its own", !/0\.0104/.test(wrong), wrong);
    await stop();
    await page.selectOption("#opened-normalization", "imagenet");
    await says("#opened-figures", /Loss 0\.0104/);
    check("by ImageNet's it has its loss", true, await lab.text("#opened-figures"));
    await stop();
    check("the page is no wider than its window", (await lab.overflow()) <= 0);
  });

  await part("A reload", async () => {
    await page.reload();
    await says("#opened-figures", /Loss 0\.0104/);
    check("finds the files and the choice again", (await page.inputValue("#opened-normalization")) === "imagenet");
    await stop();
  });

  await part("What cannot be read", async () => {
    await page
      .locator("#open-input")
      .setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("?") });
    await page.waitForSelector(".message.error");
    const message = await lab.text(".message.error");
    check("is named", /notes\.txt/.test(message), message);
    check("and takes nothing away", /Loss 0\.0104/.test(await lab.text("#opened-figures")));
    await page.locator(".message.error button").first().click();
  });
});

test("Every format", async ({ check, choose, lab, says }) => {
  for (const { says: name, files, expects } of MODELS) {
    await choose(files);
    await says("#opened-summary", expects);
    await lab.idle();
    const isAsked = /drop the data/.test(await lab.text("#opened-figures"));
    check(`${name} opens, and its data are asked for`, isAsked, await lab.text("#opened-summary"));
  }
});

test("Data by mistake, and then the right files", async ({ browser, check, little }) => {
  const mimeType = "application/octet-stream";
  const photo = { name: "photo.png", mimeType, buffer: Buffer.from(PHOTO, "base64") };
  const model = { name: "mlp.onnx", mimeType, buffer: readFileSync(fixture("onnx/mlp.onnx")) };
  const rows = Array.from({ length: 6 }, (_, i) =>
    [1, 2, 3, 4, 5]
      .map((x) => Math.sin(x * i))
      .concat(i % 3)
      .join(","),
  );
  const data = { name: "rows.csv", mimeType, buffer: Buffer.from(["a,b,c,d,e,label", ...rows].join("\n")) };
  for (const drops of [
    [[photo], [model, data]],
    [[photo], [model], [data]],
    [[photo], [data], [model]],
  ]) {
    const lab = await Lab.open(browser, little, { rests: true });
    const { page } = lab;
    const way = drops.map((files) => files.map(({ name }) => name).join(" and ")).join(", then ");
    for (const [i, files] of drops.entries()) {
      // Each is taken before the next one comes.
      const seen = await page.evaluate(() => window.isoflatLab.app.store.state.opened);
      await lab.dropFiles(files);
      if (files.includes(model)) await page.waitForFunction(() => window.isoflatLab.app.store.state.opened !== null);
      else if (i < drops.length - 1) await page.getByText("These are data").waitFor();
      if (files[0] === data && i === 1 && !seen) {
        const said = await lab.text(".message.error");
        check("what is kept for a model is named", /kept for it are photo\.png, rows\.csv/.test(said), said);
      }
    }
    await page.waitForFunction(() =>
      /on 6 samples from rows\.csv/.test(document.querySelector("#opened-figures").textContent),
    );
    const notes = await lab.text("#opened-notes");
    check(`${way}: they open, and what is not used is said`, /^photo\.png was given before/m.test(notes), notes);
    check("with no error", (await lab.count(".message.error")) === 0);
    await lab.close();
  }
});

test("Files of one model that come one after the other", async ({ browser, check, little }) => {
  const shards = [1, 2, 3].map((shard) => `tfjs/lenet-group1-shard${shard}of3.bin`);
  for (const drops of [
    ["onnx/external.onnx", "onnx/external.onnx.data"],
    ["onnx/external.onnx.data", "onnx/external.onnx"],
    ["tfjs/lenet.json", ...shards],
    [...shards, "tfjs/lenet.json"],
  ]) {
    const lab = await Lab.open(browser, little, { rests: true });
    const { page } = lab;
    const input = page.locator("#open-input");
    for (const file of drops.slice(0, -1)) {
      await page.evaluate(() => window.isoflatLab.app.messages.clear());
      await input.setInputFiles(fixture(file));
      await page.locator(".message.error, #opened-fault:not([hidden])").first().waitFor();
    }
    await input.setInputFiles(fixture(drops.at(-1)));
    await page.waitForFunction(() => /parameters/.test(document.querySelector("#opened-summary").textContent));
    check(`${drops[0]} first: they are put together`, (await lab.count(".message.error")) === 0);
    await lab.close();
  }
});

test("What weights do not tell, layer by layer", async ({ check, choose, lab, says }) => {
  const { page } = lab;
  await choose(["pytorch/zip.pt"]);
  await says("#opened-summary", /2×2×2-conv3×3×3-4/);
  await page.locator("#opened-layers summary").click();
  await says("#opened-rows td.shape", /3 × 2 × 2/);
  check("the proposal is shown with what each layer gives", (await lab.count("#opened-rows tr")) === 4);
  await page.fill("#opened-input", "2x4x4");
  await page.locator("#opened-input").blur();
  await says("#opened-layers-fault", /\[4, 12\]/);
  check("a shape that does not fit is said at once", await page.locator("#opened-apply").isDisabled());
  await page.fill("input[aria-label='padding of layer 1']", "0");
  await page.locator("input[aria-label='padding of layer 1']").blur();
  await page.waitForSelector("#opened-apply:enabled");
  await page.selectOption("select[aria-label='kind of layer 2']", "tanh");
  await page.waitForSelector("#opened-apply:enabled");
  await page.click("#opened-apply");
  await says("#opened-summary", /2×4×4-conv3×3×3-4/);
  check("it opens as it was set", true, await lab.text("#opened-summary"));
  const kind = await page.inputValue("select[aria-label='kind of layer 2']");
  check("with the activation that was chosen", kind === "tanh", kind);
  await page.locator("#opened-layers summary").click();
});

test("Weights that do not tell their network", async ({ check, lab, says }) => {
  const { page } = lab;
  const norm = ["weight", "bias", "running_mean", "running_var"].map((leaf) => [`norm.${leaf}`, [3]]);
  const buffer = safetensors([["fc.weight", [2, 3]], ...norm]);
  const name = "normed.safetensors";
  await page.locator("#open-input").setInputFiles({ name, mimeType: "application/octet-stream", buffer });
  await says("#opened-fault", /nothing says where in the network it stands/);
  check("ask for it", true, await lab.text("#opened-fault"));
  await page.selectOption("#opened-network", "json");
  await page.fill(
    "#opened-json",
    JSON.stringify({ input: [3], layers: [{ type: "scale" }, { type: "dense", units: 2 }] }),
  );
  await page.locator("#opened-json").blur();
  await says("#opened-summary", /safetensors/);
  check("and open as the one that is given", true, await lab.text("#opened-summary"));
  await lab.idle();
});

test("Weights that form no chain, put together layer by layer", async ({ check, lab, says, stop }) => {
  const { page } = lab;
  const buffer = safetensors([
    ["a.weight", [4, 1, 3, 3]],
    ["b.weight", [4, 4, 3, 3]],
    ["c.weight", [4, 1, 1, 1]],
    ["d.weight", [10, 4]],
  ]);
  const name = "around.safetensors";
  await page.locator("#open-input").setInputFiles({ name, mimeType: "application/octet-stream", buffer });
  await says("#opened-fault", /makes a chain/);
  await page.waitForSelector("#opened-layers[open]");
  await says("#opened-rows", /c: convolution 1 × 1/);
  check("a draft is there", (await lab.count("#opened-rows tr")) === 9);
  await page.selectOption("select[aria-label='what layer 5 reads']", "input");
  await page.selectOption("select[aria-label='put behind layer 5']", "add");
  await page.selectOption("select[aria-label='what layer 6 adds']", "3");
  await page.waitForSelector("#opened-apply:enabled");
  await page.click("#opened-apply");
  await says("#opened-figures", /Loss/);
  check("it opens with its shortcut", /add/.test(await lab.text("#opened-summary")), await lab.text("#opened-summary"));
  await stop();
  const read = await page.inputValue("select[aria-label='what layer 5 reads']");
  check("and stays in the form as it was set", read === "input", read);
  await page.locator("#opened-layers summary").click();
});

test("Weights whose data tell how large images are", async ({ check, lab, says, stop }) => {
  const buffer = safetensors([
    ["0.weight", [4, 3, 3, 3]],
    ["3.weight", [6, 4, 3, 3]],
    ["7.weight", [5, 24]],
  ]);
  const pixels = Array.from({ length: 12 * 300 }, (_, i) => Math.sin(7 * i));
  const classes = Array.from({ length: 12 }, (_, i) => BigInt(i % 5));
  const mimeType = "application/octet-stream";
  await lab.dropFiles([
    { name: "w.safetensors", mimeType, buffer },
    { name: "X.npy", mimeType, buffer: npy([12, 3, 10, 10], pixels, "<f4") },
    { name: "y.npy", mimeType, buffer: npy([12], classes, "<i8") },
  ]);
  await says("#opened-figures", /on 12 samples/);
  check("are over such images", /3×10×10/.test(await lab.text("#opened-summary")), await lab.text("#opened-summary"));
  await stop();
});

test("An ONNX file with a table of data in one drop, saved as ONNX", async ({ check, lab, says }) => {
  const { page } = lab;
  const { inputs, shape } = JSON.parse(readFileSync(fixture("onnx/outputs.json"), "utf8")).mlp;
  const width = shape.at(-1);
  const rows = Array.from({ length: inputs.length / width }, (_, i) => inputs.slice(i * width, (i + 1) * width));
  const header = [...rows[0].map((_, j) => `x${j}`), "label"].join(",");
  const csv = [header, ...rows.map((row, i) => [...row, i % 3].join(","))].join("\n");
  await lab.dropFiles([
    { name: "mlp.onnx", mimeType: "application/octet-stream", buffer: readFileSync(fixture("onnx/mlp.onnx")) },
    { name: "rows.csv", mimeType: "text/csv", buffer: Buffer.from(csv) },
  ]);
  await says("#opened-figures", new RegExp(`on ${rows.length} samples`));
  check("the table's rows are its data", true, await lab.text("#opened-figures"));
  await lab.idle();
  await lab.goTo("keep");
  await page.selectOption("#save-format", "onnx");
  const saved = await lab.download("#save-problem");
  check("the weights go back into the ONNX file", saved.includes("Gemm"), `${saved.length} characters`);
  await page.selectOption("#save-format", "problem.json");
  const norms = [];
  for (const button of ["#save-problem", "#save-balanced"]) {
    const { parameters } = JSON.parse(await lab.download(button));
    norms.push(parameters.reduce((sum, x) => sum + x * x, 0));
  }
  const [norm, balanced] = norms;
  check("balanced weights have a smaller norm", balanced < 0.999 * norm, `${balanced} instead of ${norm}`);
});
