import { describe, expect, test } from "vitest";
import { filesOf, foldersOf, notOpened, Openings } from "../../www/src/openings";
import { forPage, ofFile } from "../../www/src/worker/faults";
import { type Fold, withoutBatchNorm } from "../../www/src/worker/fold";
import { type Given, onTop, withoutOldest } from "../../www/src/worker/given";
import { Parts } from "../../www/src/worker/parts";
import { LabFailure } from "../../www/src/worker/protocol";

const named = (...names: string[]) => names.map((name) => ({ name }));
const names = (files: { name: string }[]): string[] => files.map(({ name }) => name);
const NOTHING: Given<{ name: string }> = { model: [], data: [], waited: [], unused: [] };

describe("files that come one after the other", () => {
  const drop = (before: typeof NOTHING, model: string[], data: string[], isIncomplete = false) =>
    onTop(before, isIncomplete, { model: named(...model), data: named(...data) });
  const said = ({ model, data, unused }: typeof NOTHING) => [names(model), names(data), unused.length];

  test("data wait for the model that they are for", () => {
    const waiting = drop(NOTHING, [], ["images.npy"]);
    const both = drop(waiting, [], ["labels.npy"]);
    expect(said(both)).toEqual([[], ["images.npy", "labels.npy"], 0]);
    expect(said(drop(both, ["net.onnx"], []))).toEqual([["net.onnx"], ["images.npy", "labels.npy"], 0]);
    expect(said(drop(waiting, ["net.onnx"], ["images.npy"]))).toEqual([["net.onnx"], ["images.npy"], 0]);
  });

  test("data for a model take the place of its old ones; another model has none", () => {
    const open = drop(NOTHING, ["net.onnx"], ["old.npz"]);
    expect(said(drop(open, [], ["new.npz"]))).toEqual([["net.onnx"], ["new.npz"], 0]);
    expect(said(drop(open, ["other.onnx"], []))).toEqual([["other.onnx"], [], 0]);
  });

  test("data that waited are not used where the model comes with others, which is said", () => {
    const waiting = drop(NOTHING, [], ["photo.png"]);
    const both = drop(waiting, ["net.onnx"], ["table.csv"]);
    expect(said(both)).toEqual([["net.onnx"], ["table.csv"], 1]);
    expect(both.unused[0]).toMatch(/^photo\.png was given before, and is not used/);
    expect(drop(waiting, ["net.onnx"], ["photo.png"]).unused).toEqual([]);
  });

  test("those that waited longest are let go of first, until none is left", () => {
    const waiting = drop(drop(drop(NOTHING, [], ["photo.png"]), [], ["x.npy", "y.npy"]), ["net.onnx"], []);
    const one = withoutOldest(waiting, "no such images");
    expect(one && said(one)).toEqual([["net.onnx"], ["x.npy", "y.npy"], 1]);
    expect(one?.unused).toEqual(["photo.png was given before, and is not used: no such images"]);
    const none = one && withoutOldest(one, "too few");
    expect(none?.unused[1]).toBe("x.npy, y.npy were given before, and are not used: too few");
    expect(none && [none.data, withoutOldest(none, "")]).toEqual([[], null]);
    const open = drop(waiting, [], ["new.npz"]);
    expect(withoutOldest(open, "data of a model that is open are what they are")).toBeNull();
  });

  test("a part of a model that another replaces is named", () => {
    const part = drop(NOTHING, ["network.json"], []);
    const { model, unused } = drop(part, ["weights.pt"], [], true);
    expect(names(model)).toEqual(["weights.pt"]);
    expect(unused).toEqual([expect.stringMatching(/^network\.json .*not used/)]);
    expect(drop(part, ["weights.pt", "network.json"], [], true).unused).toEqual([]);
    const twice = drop(NOTHING, ["net.onnx", "net.onnx"], []);
    expect(drop(twice, ["whole.json"], [], true).unused).toHaveLength(1);
  });
});

describe("parts of one model that come one after the other", () => {
  /** A graph names its weights, as ONNX does; weights of a shard say nothing without one, as TensorFlow.js has them. */
  const parts = (graph: string, ...weights: string[]) =>
    new Parts<{ name: string }>(
      async (files) => {
        for (const { name } of files) {
          const has = (wanted: string) => files.some((file) => file.name === wanted);
          if (name === "notes.txt") throw new Error("notes.txt: none of the formats");
          if (name === graph && !weights.every(has)) throw new Error(`${graph}: open it together with its weights`);
          if (name.includes("shard") && !has(graph)) throw new Error(`${name}: open them together with the model`);
        }
        const isData = ({ name }: { name: string }) => name.endsWith(".csv");
        return { model: files.filter((file) => !isData(file)), data: files.filter(isData) };
      },
      async (model) => model.some(({ name }) => name === graph || name === "whole.onnx"),
    );
  const model = async (of: Parts<{ name: string }>, ...drop: string[]) =>
    names((await of.sorted(named(...drop))).model).sort();

  test("are put together when the last has come", async () => {
    const onnx = parts("a.onnx", "a.onnx.data");
    await expect(model(onnx, "a.onnx")).rejects.toThrow(/together with its weights/);
    expect(await model(onnx, "a.onnx.data")).toEqual(["a.onnx", "a.onnx.data"]);
    // Weights that are known as such are a model that is not complete.
    const other = parts("a.onnx", "a.onnx.data");
    expect(await model(other, "a.onnx.data")).toEqual(["a.onnx.data"]);
    other.hold(named("a.onnx.data"));
    expect(await model(other, "a.onnx")).toEqual(["a.onnx", "a.onnx.data"]);
    for (const drops of [
      ["model.json", "shard1", "shard2"],
      ["shard2", "model.json", "shard1"],
      ["shard2", "shard1", "model.json"],
    ]) {
      const shards = parts("model.json", "shard1", "shard2");
      for (const drop of drops.slice(0, -1)) await expect(model(shards, drop)).rejects.toThrow(/together/);
      expect(await model(shards, drops.at(-1) ?? "")).toEqual(["model.json", "shard1", "shard2"]);
    }
  });

  test("are no matter to what is whole without them, nor to data, nor to a fault of another file", async () => {
    const onnx = parts("a.onnx", "a.onnx.data");
    await expect(model(onnx, "a.onnx")).rejects.toThrow();
    await expect(model(onnx, "notes.txt")).rejects.toThrow(/none of the formats/);
    expect(await model(onnx, "table.csv")).toEqual([]);
    expect(await model(onnx, "whole.onnx")).toEqual(["whole.onnx"]);
    expect(await model(onnx, "a.onnx.data")).toEqual(["a.onnx.data"]);
  });
});

describe("drops that are faster than opening", () => {
  const file = (name: string) => new File([""], name);

  test("take their turns", async () => {
    const log: string[] = [];
    let take = () => {};
    const openings = new Openings(
      async ([first]) => {
        log.push(first?.name ?? "");
        // What follows the opening goes on until it is stopped.
        await new Promise(() => {});
      },
      () =>
        new Promise((resolve) => {
          take = resolve;
        }),
    );
    const one = openings.add([file("model.onnx")]);
    const two = openings.add([file("data.npz")]);
    await new Promise((resolve) => setTimeout(resolve));
    expect(log).toEqual(["model.onnx"]);
    take();
    await one;
    await new Promise((resolve) => setTimeout(resolve));
    expect(log).toEqual(["model.onnx", "data.npz"]);
    take();
    await two;
  });

  test("come after one that fails, too", async () => {
    const log: string[] = [];
    const openings = new Openings(
      async ([first]) => {
        log.push(first?.name ?? "");
        if (log.length === 1) throw new Error("unreadable");
      },
      () => new Promise(() => {}),
    );
    await Promise.all([openings.add([file("bad")]), openings.add([file("good")])]);
    expect(log).toEqual(["bad", "good"]);
  });

  test("name their folders, which cannot be read", () => {
    const dropped = [
      { file: file("a.npz"), folder: null },
      { file: file("photos"), folder: "photos" },
      { file: null, folder: "more" },
      { file: null, folder: null },
    ];
    expect(names(filesOf(dropped))).toEqual(["a.npz"]);
    expect(notOpened(foldersOf(dropped))).toMatch(/“photos”, “more” are folders/);
    expect(notOpened(["photos"])).toMatch(/“photos” is a folder/);
  });
});

describe("a problem file with batch normalisations", () => {
  const dense = { type: "dense", units: 2 };
  const norm = { type: "batch_norm", mean: [0, 0], variance: [1, 1] };
  const problem = (layers: object[]) => ({
    name: "normed",
    network: { input: [2], layers },
    loss: "cross_entropy",
    parameters: [1, 2, 3, 4],
    inputs: [[0.1, 1e-300]],
    targets: [1],
    direction: [1, 1, 1, 1],
  });
  const fold: Fold = ({ input, layers }, parameters) => ({
    network: { input, layers: layers.filter(({ type }) => type !== "batch_norm") as never },
    parameters: Float64Array.from([...parameters, 0.5, -0.25]),
  });
  const fileOf = (content: unknown, name = "normed.json") =>
    new File([typeof content === "string" ? content : JSON.stringify(content)], name);

  test("comes without them, which is said", async () => {
    const { file, notes } = await withoutBatchNorm(fileOf(problem([dense, norm])), fold);
    expect(file.name).toBe("normed.json");
    const { direction: _, ...kept } = problem([dense]);
    expect(JSON.parse(await file.text())).toEqual({ ...kept, parameters: [1, 2, 3, 4, 0.5, -0.25] });
    expect(notes).toEqual(["1 batch normalisation folded into the layers beside them"]);
  });

  test("says which became scales", async () => {
    const keep: Fold = ({ input }, parameters) => ({
      network: { input, layers: [{ type: "scale" }, dense] as never },
      parameters,
    });
    const said = async (layers: object[]) => (await withoutBatchNorm(fileOf(problem(layers)), keep)).notes;
    expect(await said([norm, dense])).toEqual([expect.stringMatching(/^1 batch .* scales/)]);
    expect(await said([norm, dense, norm])).toEqual([expect.stringMatching(/folded .*, 1 became scales$/)]);
  });

  test("is left alone where there are none, or where it is not the page's to say what is wrong", async () => {
    const never: Fold = () => {
      throw new Error("nothing is to be folded here");
    };
    const others = [
      fileOf(problem([dense])),
      fileOf("x,y\n1,2", "rows.csv"),
      fileOf('{"batch_norm": 1', "cut.json"),
      fileOf('{"layers": ["batch_norm", null]}', "other.json"),
      fileOf({ network: { layers: [norm] } }, "bare.json"),
      fileOf({ input: [2], layers: [dense, norm] }, "network.json"),
    ];
    for (const file of others) expect(await withoutBatchNorm(file, never)).toEqual({ file, notes: [] });
  });
});

describe("a fault of a file", () => {
  const refused = (code: string, message: string) => Object.assign(new Error(message), { code });

  test("comes without advice on the options of training", () => {
    const fault = ofFile(refused("invalid_network", "net.onnx: there is no such operator: Erf"));
    expect(fault).toBeInstanceOf(LabFailure);
    expect(fault).toMatchObject({ code: "not_possible", message: "net.onnx: there is no such operator: Erf" });
    for (const code of ["parse", "crashed", "not_finite"]) {
      const error = refused(code, "…");
      expect(ofFile(error)).toBe(error);
    }
    expect(ofFile("text")).toBe("text");
  });

  test("with a batch normalisation says what to do on the page", () => {
    const message =
      "n.json: layers[1] (batch_norm) does not withstand rescaling by itself, as its mean and shift stay where they are; " +
      "fold it into the layer beside it: fold_batch_norm in Rust, Network.foldBatchNorm in JavaScript";
    const said = forPage(message);
    expect(said).toMatch(/^n\.json: layers\[1\] \(batch_norm\) does not withstand rescaling/);
    expect(said).toMatch(/Leave the batch_norm layers out/);
    expect(said).not.toMatch(/Rust|JavaScript|widths/);
    expect(forPage("no")).toBe("no");
  });
});
