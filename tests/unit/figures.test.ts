import type { PetzkaReport } from "isoflat";
import { describe, expect, test } from "vitest";
import { heightsOf } from "../../www/src/charts/heights";
import { LAYER_MEASURES } from "../../www/src/charts/layers";
import { FIRST_ORBIT, placer, projection } from "../../www/src/charts/relief";
import { linear } from "../../www/src/charts/scales";
import { bentBy, captionOf, directionsOf, joined, trainedBy } from "../../www/src/figures/caption";
import { columnsOf, csvOf, markdownOf, tabbed } from "../../www/src/figures/columns";
import { gaugesFigure } from "../../www/src/figures/gauges";
import { heatFigure } from "../../www/src/figures/heat";
import { lineFigure, surfaceColumns, surfaceFigure } from "../../www/src/figures/landscape";
import { layerColumns } from "../../www/src/figures/layers";
import { endsColumns } from "../../www/src/figures/spectrum";
import { besideFigure, measuresFigure } from "../../www/src/figures/tables";
import { trainingFigure } from "../../www/src/figures/training";
import { wrapped } from "../../www/src/figures/wrap";
import { xyFigure } from "../../www/src/figures/xy";
import { DESCRIPTIONS, INFO, landscape, measured, model, state } from "./states";

const BENT = { lambda: [2, 0.5], nodewise: null, permutation: null };

describe("numbers as text", () => {
  test("quotes what needs it, and nothing else", () => {
    const columns = columnsOf(
      ["name", "note"],
      [
        ["plain", 'say "hi", twice'],
        ["two\nlines", ""],
      ],
    );
    expect(csvOf(columns)).toBe('name,note\r\nplain,"say ""hi"", twice"\r\n"two\nlines",\r\n');
  });

  test("has every digit, and what is no number as pandas and R read it", () => {
    const values = [0.1 + 0.2, 1e-300, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, null, true];
    const [, ...cells] = csvOf([{ name: "x", values }]).split("\r\n");
    expect(cells).toEqual(["0.30000000000000004", "1e-300", "0", "NaN", "Inf", "-Inf", "", "true", ""]);
    expect(Number(cells[0])).toBe(0.1 + 0.2);
  });

  test("names units in the head, and fills short columns with nothing", () => {
    expect(
      csvOf([
        { name: "t", unit: "s", values: [1, 2] },
        { name: "x", values: Float64Array.of(3) },
      ]),
    ).toBe("t [s],x\r\n1,3\r\n2,\r\n");
  });

  test("keeps tabs and bars apart from its own", () => {
    const columns = columnsOf(
      ["a", "b"],
      [
        ["x\ty", 1],
        ["p|q", 2],
      ],
    );
    expect(tabbed(columns)).toBe("a\tb\nx y\t1\np|q\t2\n");
    expect(markdownOf(columns)).toBe("| a | b |\n| --- | ---: |\n| x\ty | 1 |\n| p\\|q | 2 |\n");
  });
});

describe("captions", () => {
  test("name network, data, samples and device", () => {
    expect(captionOf(state())).toBe("784-64-10 on the file “MNIST”, 500 samples, CPU f64");
    const modelChoice = {
      network: { kind: "preset", name: "small" },
      init: { scheme: "normal", scale: 1, seed: 1 },
      data: { kind: "mnist", samples: 1000 },
      measured: 500,
    } as const;
    expect(captionOf(state({ modelChoice }))).toBe("784-64-10 on MNIST, 500 samples, CPU f64");
    const random = state({ modelChoice, model: model({ data: "500 random samples" }) });
    expect(captionOf(random, { ...INFO, backend: "gpu", adapter: "llvmpipe", precision: "f32" })).toBe(
      "784-64-10 on random samples, 500 samples, WebGPU (llvmpipe) f32",
    );
    expect(captionOf(state({ model: null }))).toBe("");
  });

  test("say how it was bent, and nothing of what was not", () => {
    const straight = { lambda: [1, 1], nodewise: null, permutation: null };
    expect(bentBy(straight)).toBe("");
    expect(bentBy({ lambda: [0.5, 2], nodewise: { seed: 3, range: 10 }, permutation: { seed: 2 } })).toBe(
      "bent by λ = 0.500, 2.00, every hidden unit by its own factor up to × 10 (seed 3), hidden units in another order (seed 2)",
    );
  });

  test("say the directions, and how it was trained", () => {
    const choice = state().landscapeChoice;
    expect(directionsOf(choice)).toBe("filter-normalised random directions, seed 1");
    expect(directionsOf({ ...choice, directions: "eigenvectors" })).toContain("top two Hessian eigenvectors");
    expect(directionsOf({ ...choice, directions: "way" })).toBe("along the principal components of the training’s way");
    const trainChoice = { optimizer: "momentum", learningRate: 0.02, batchSize: 64, epochs: 8, seed: 1 } as const;
    const training = { epochs: 8, stopped: false, loss: 0, accuracy: 1 };
    expect(trainedBy({ trainChoice, training })).toBe(
      "8 epochs of SGD with momentum 0.9, learning rate 0.02, batches of 64, seed 1",
    );
    expect(trainedBy({ trainChoice, training: null })).toBe("");
  });

  test("are sentences of the parts that say something", () => {
    expect(joined("a", "", false, "b")).toBe("a; b.");
    expect(joined("", null)).toBe("");
  });

  test("are broken between words, and keep what belongs together", () => {
    expect(wrapped("one two three four", 9, (text) => text.length)).toEqual(["one two", "three", "four"]);
    expect(wrapped("1 × 10⁶ losses", 8, (text) => text.length)).toEqual(["1 × 10⁶", "losses"]);
    expect(wrapped("", 9, (text) => text.length)).toEqual([]);
  });
});

describe("figures", () => {
  const surface = {
    ...landscape([
      [4, 1, 4],
      [3, 0, 3],
      [5, 2, 5],
    ]),
    center: 0,
  };

  test("of a surface have a row for each point, and only for those that are there", () => {
    const [s, t, loss] = surfaceColumns(surface);
    expect([s?.values, t?.values, loss?.values].map((values) => Array.from(values ?? []))).toEqual([
      [0, 1, 2, 0, 1, 2, 0, 1, 2],
      [0, 0, 0, 1, 1, 1, 2, 2, 2],
      [4, 1, 4, 3, 0, 3, 5, 2, 5],
    ]);
    expect(surfaceColumns({ ...surface, loss: surface.loss.slice(0, 6) })[0]?.values.length).toBe(6);
  });

  test("of a bent surface say the bend", () => {
    const bent = state({ bend: { lambda: [0.1, 10], nodewise: null, permutation: null } });
    const heights = heightsOf([surface], "log");
    expect(surfaceFigure(bent, "bent", surface, heights).caption).toContain("bent by λ = 0.100, 10.0");
    expect(surfaceFigure(bent, "trained", surface, heights).caption).not.toContain("bent");
  });

  test("of lines have both points in one table", () => {
    const lines = { trained: landscape([[4, 1, 4]]), bent: landscape([[9, 1, 9]]) };
    const columns = lineFigure(state({ lines }), "log")?.columns() ?? [];
    expect(columns.map(({ name }) => name)).toEqual(["s", "loss_trained", "loss_bent"]);
    expect(lineFigure(state(), "log")).toBeNull();
  });

  test("of training leave out what was never said", () => {
    const learning = { span: 2, epoch: [1, 2], loss: [2, 1], accuracy: [0.5, null], test: [null, null] };
    expect(csvOf(trainingFigure(state(), learning)?.columns() ?? [])).toBe(
      "epoch,loss,accuracy\r\n1,2,0.5\r\n2,1,\r\n",
    );
    expect(trainingFigure(state(), { span: 1, epoch: [], loss: [], accuracy: [], test: [] })).toBeNull();
  });

  test("of measures have the bent column only where it is bent", () => {
    const trained = new Map([["loss", measured("loss", 0.25)]] as const);
    const measures = { trained, bent: new Map([["loss", measured("loss", 0.5)]] as const) };
    const head = (change: Parameters<typeof state>[0]) =>
      csvOf(measuresFigure(state(change))?.columns() ?? []).split("\r\n");
    expect(head({ measures })[0]).not.toContain("bent");
    const [names, loss] = head({ measures, bend: { lambda: [0.1, 10], nodewise: null, permutation: null } });
    expect(names).toMatch(/bent_by_trained$/);
    expect(loss).toBe("loss,loss,,0.25,,,true,0.5,,,true,2");
  });

  test("of eigenvalues name their end and rank", () => {
    const pair = (value: number) => ({ value, residual: 1e-9, converged: true });
    const value = { top: [pair(3), pair(2)], bottom: [pair(-1)] } as Parameters<typeof endsColumns>[0][0]["value"];
    expect(csvOf(endsColumns([{ point: "trained", value }]))).toBe(
      "point,end,rank,eigenvalue,residual,converged\r\n" +
        "trained,largest,1,3,1e-9,true\r\ntrained,largest,2,2,1e-9,true\r\ntrained,smallest,1,-1,1e-9,true\r\n",
    );
  });

  test("of layers have a column for each point", () => {
    const report = { kappa: [{ value: 4 }, { value: 5 }], kappaTrace: [6, 7] } as PetzkaReport;
    const columns = layerColumns({ trained: report, bent: report }, LAYER_MEASURES.slice(0, 2));
    expect(csvOf(columns)).toBe(
      "layer,kappa_trained,kappa_trace_trained,kappa_bent,kappa_trace_bent\r\n1,4,6,4,6\r\n2,5,7,5,7\r\n",
    );
  });
});

describe("figures of the part on spaces", () => {
  const words = { name: "n", title: "t", caption: "c" };

  test("have each mark at its own rate, though it is drawn beside it", () => {
    const points = [{ x: 0.11, at: 0.1, y: Number.POSITIVE_INFINITY }];
    const series = [{ name: "SGD", kind: "space-weights", mark: "circle" as const, points }];
    const scale = linear(0, 1);
    const options = { x: scale, y: scale, xLabel: "", yLabel: "", label: "" };
    const figure = xyFigure({ series, options }, { ...words, x: "learning_rate", y: "loss", keys: [] });
    expect(csvOf(figure?.columns() ?? [])).toBe("series,drawn_as,learning_rate,loss\r\nSGD,mark,0.1,Inf\r\n");
    expect(xyFigure({ series: [], options }, { ...words, x: "x", y: "y", keys: [] })).toBeNull();
  });

  test("have the least and the most of what a mark is the mean of, where there are several", () => {
    const points = [
      { x: 0.1, y: 2, range: [1, 3] as const },
      { x: 0.2, y: 4 },
    ];
    const scale = linear(0, 1);
    const options = { x: scale, y: scale, xLabel: "", yLabel: "", label: "" };
    const series = [{ name: "SGD", kind: "space-weights", mark: "circle" as const, points }];
    const figure = xyFigure({ series, options }, { ...words, x: "rate", y: "loss", keys: [] });
    expect(csvOf(figure?.columns() ?? [])).toBe(
      "series,drawn_as,rate,loss,least,most\r\nSGD,mark,0.1,2,1,3\r\nSGD,mark,0.2,4,,\r\n",
    );
  });

  test("have a row for each cell of a grid, empty where it was not run", () => {
    const figure = heatFigure({
      ...words,
      rows: { name: "value", values: [1, 2] },
      columns: { name: "rate", values: [0.1] },
      value: "loss",
      cells: [[0.5], [undefined]],
      high: 2.3,
    });
    expect(csvOf(figure.columns())).toBe("value,rate,loss\r\n1,0.1,0.5\r\n2,0.1,\r\n");
  });
});

describe("the gauges", () => {
  test("are taken along as soon as one of them has a value, with what is said of it", () => {
    expect(gaugesFigure(state())).toBeNull();
    const figure = gaugesFigure(state({ accuracy: { trained: 0.5, bent: 0.5 }, bend: BENT }));
    const [head, , , accuracy] = csvOf(figure?.columns() ?? []).split("\r\n");
    expect(head).toBe("gauge,key,trained,bent,verdict");
    expect(accuracy).toBe('Test accuracy,,0.5,0.5,"= stands still, checked"');
    expect(figure?.drawing?.keys?.map(({ name }) => name)).toEqual(["as trained", "bent"]);
  });
});

describe("a surface for paper", () => {
  test("is seen from where the stage sees it: its middle in the middle, the near corner lower and closer", () => {
    const project = projection(FIRST_ORBIT, 640, 480);
    const target = project([0, 0.4, 0]);
    expect([target.x, target.y]).toEqual([320, 240]);
    const [near, far] = [project([1, 0, 1]), project([-1, 0, -1])];
    expect(near.depth).toBeLessThan(far.depth);
    expect(near.y).toBeGreaterThan(far.y);
    expect(project([0, 1, 0]).y).toBeLessThan(240);
  });

  test("is closer when it is zoomed", () => {
    const half = projection(FIRST_ORBIT, 640, 480)([1, 0.4, 0]).x - 320;
    const whole = projection({ ...FIRST_ORBIT, zoom: 2 }, 640, 480)([1, 0.4, 0]).x - 320;
    expect(whole).toBeCloseTo(2 * half);
  });

  test("stands as high as the loss is", () => {
    const valley = landscape([
      [1, 0, 1],
      [1, 0, 1],
      [1, 0, 1],
    ]);
    const place = placer(valley, heightsOf([valley], "log"));
    expect(place(1, 0)[1]).toBe(0);
    expect(place(0, 0)[1]).toBeCloseTo(1.25);
  });
});

describe("networks side by side", () => {
  const entry = (name: string | null) => ({ name, summary: "784-64-10", data: "MNIST", training: null });

  test("are taken along with a row for each number, under heads that every program reads", () => {
    const trained = new Map([["loss", measured("loss", 1)]] as const);
    const known = state({ measures: { trained, bent: new Map() } });
    const { columns, caption } = besideFigure([entry("Großes, scharf"), entry(null)], [known, null], DESCRIPTIONS);
    expect(csvOf(columns())).toBe(
      'network,key,measure,trained\r\n"Großes, scharf",loss,loss,1\r\n784-64-10,loss,loss,\r\n',
    );
    expect(caption).toContain("“Großes, scharf”: 784-64-10 on MNIST");
  });
});
