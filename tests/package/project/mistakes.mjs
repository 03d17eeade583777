/** What people get wrong, a row each: the error's code, and what its message has to say so that a stranger mends the call by it. */

import assert from "node:assert/strict";
import init, * as isoflat from "isoflat";

const { Engine, initSync, Network, openData, openModel, ParameterSpace, Problem, parseIdx, proposeNetwork } = isoflat;
const { saveModel, sortFiles } = isoflat;

/** Before there is a module. */
const early = [
  ["Network before init", "not_initialized", () => Network.dense([2, 1]), [/await init\(\)/]],
  ["Engine before init", "not_initialized", () => Engine.create(), [/await init\(\)/]],
  ["measures before init", "not_initialized", () => isoflat.describeMeasures(), [/await init\(\)/]],
  [
    "init of a text that is no address",
    "not_initialized",
    () => init("nowhere.wasm"),
    [/could not be loaded/, /nowhere/],
  ],
  [
    "init of bytes that are none of isoflat's",
    "not_initialized",
    () => init(new Uint8Array(8)),
    [/could not be loaded/],
  ],
  ["init of a number", "not_initialized", () => init(5), [/init/, /address/, /bytes/, /not 5/]],
  [
    "init with a misnamed key",
    "not_initialized",
    () => init({ wasm: new Uint8Array(8) }),
    [/no key wasm/, /there is module,/],
  ],
  ["init with options", "not_initialized", () => init({ backend: "cpu" }), [/no key backend/, /there is module,/]],
  ["initSync of nothing", "not_initialized", () => initSync(), [/initSync/, /bytes/, /init\(\)/]],
  ["initSync of a Promise", "not_initialized", () => initSync(Promise.resolve(1)), [/initSync/, /await/]],
  ["initSync of an address", "not_initialized", () => initSync("isoflat_bg.wasm"), [/initSync/, /bytes/, /string/]],
];

function late() {
  const network = Network.dense([4, 8, 3]);
  const image = Network.fromJSON({
    input: [1, 6, 6],
    layers: [
      { type: "conv2d", channels: 2, kernel: 3 },
      { type: "relu" },
      { type: "flatten" },
      { type: "dense", units: 3 },
    ],
  });
  const theta = network.initialize({ seed: 1 });
  const problem = Problem.synthetic(network, { samples: 6, seed: 2 });
  const inputs = new Float32Array(8);
  const data = { loss: "cross_entropy", inputs, targets: [0, 2] };
  const freed = Network.dense([4, 3]);
  freed.free();
  const gone = Problem.synthetic(network, { samples: 2 });
  gone.free();
  const parse = (json) => () => Network.fromJSON(json);
  const layers = (...list) => parse({ input: [4], layers: list });
  const problemOf = (changed) => () => new Problem(network, { ...data, ...changed });
  const dense = { type: "dense", units: 3 };
  return { network, image, theta, problem, inputs, data, freed, gone, parse, layers, problemOf, dense };
}

function networks({ network, theta, freed, parse, layers, dense }) {
  return [
    ["dense of nothing", "invalid_network", () => Network.dense(), [/widths/, /array of numbers/]],
    [
      "dense of numbers that are no list",
      "invalid_network",
      () => Network.dense(4, 8, 3),
      [/widths/, /array of numbers/, /not 4/],
    ],
    ["dense of one width", "invalid_network", () => Network.dense([4]), [/width/, /two|2/]],
    ["dense of texts", "invalid_network", () => Network.dense(["4", "3"]), [/widths\[0\]/, /string "4"/]],
    ["dense of a fraction", "invalid_network", () => Network.dense([4, 2.5, 3]), [/width/, /whole/, /2\.5/]],
    ["dense of a negative width", "invalid_network", () => Network.dense([4, -2, 3]), [/width/, /-2/]],
    ["dense of a width too large", "invalid_network", () => Network.dense([2 ** 31, 1]), [/width/, /1 to 1000000000/]],
    ["dense of a width of 0", "invalid_network", () => Network.dense([4, 0, 3]), [/width|units/, /0/]],
    ["dense of NaN", "invalid_network", () => Network.dense([4, Number.NaN, 3]), [/width/, /NaN/]],
    [
      "dense with a bias that is a text",
      "invalid_option",
      () => Network.dense([4, 3], "no"),
      [/bias/, /true or false|object/],
    ],
    [
      "dense with biases",
      "invalid_option",
      () => Network.dense([4, 3], { biases: false }),
      [/no option biases/, /bias/],
    ],
    [
      "dense with an activation",
      "invalid_option",
      () => Network.dense([4, 3], { activation: "tanh" }),
      [/no option activation/, /bias/],
    ],
    ["new Network", "invalid_handle", () => new Network(), [/Network\.dense/]],
    ["fromJSON of nothing", "parse", parse(undefined), [/network/, /object or a JSON text/, /undefined/]],
    ["fromJSON of a text that is none", "parse", parse("{"), [/JSON/i]],
    ["fromJSON of a list", "parse", parse([]), [/input|object|network/]],
    ["fromJSON without layers", "parse", parse({ input: [4] }), [/layers/]],
    ["fromJSON without an input", "parse", parse({ layers: [] }), [/input/]],
    ["fromJSON of an unknown layer", "parse", layers({ type: "elu" }), [/elu/, /relu/]],
    ["fromJSON of a layer without a type", "parse", layers({ units: 3 }), [/type/]],
    ["fromJSON of a misnamed key", "parse", layers({ type: "dense", features: 3 }), [/features/, /units/]],
    ["fromJSON of units in a text", "parse", layers({ type: "dense", units: "3" }), [/units/, /whole number|number/]],
    ["fromJSON of negative units", "parse", layers({ type: "dense", units: -1 }), [/units/, /-1/]],
    ["fromJSON of PyTorch's names", "parse", layers({ type: "Linear", units: 3 }), [/Linear/, /dense/]],
    [
      "fromJSON of an image without channels",
      /parse|invalid_network/,
      parse({ input: [32, 32], layers: [dense] }),
      [/input/, /channels|3|three|1/],
    ],
    [
      "fromJSON of a convolution over rows",
      "invalid_network",
      layers({ type: "conv2d", channels: 2, kernel: 3 }),
      [/conv2d|convolution|image/i],
    ],
    [
      "fromJSON of a dense layer over images",
      "invalid_network",
      parse({ input: [1, 4, 4], layers: [dense] }),
      [/flatten/],
    ],
    [
      "fromJSON of a kernel that is too large",
      "invalid_network",
      parse({ input: [1, 4, 4], layers: [{ type: "conv2d", channels: 2, kernel: 9 }, { type: "flatten" }, dense] }),
      [/kernel|window|9/],
    ],
    [
      "fromJSON of a slope below 0",
      /parse|invalid_network/,
      layers(dense, { type: "leaky_relu", slope: -1 }, dense),
      [/slope/, /positive|-1/],
    ],
    [
      "fromJSON of a layer that reads what there is not",
      "invalid_network",
      layers({ ...dense, from: "before" }),
      [/before/],
    ],
    [
      "fromJSON of a batch normalisation",
      "invalid_network",
      layers(dense, { type: "batch_norm", mean: [0, 0, 0], variance: [1, 1, 1] }, dense),
      [/foldBatchNorm|fold_batch_norm|fold/i],
    ],
    ["preset of nothing", "invalid_option", () => Network.preset(), [/preset/, /string/]],
    ["preset that there is not", "invalid_option", () => Network.preset("resnet50"), [/resnet50/, /resnet20/]],
    ["preset in capitals", "invalid_option", () => Network.preset("LeNet"), [/LeNet/, /lenet/]],
    ["initialize with a number", "invalid_option", () => network.initialize(1), [/initialize/, /object/, /not 1/]],
    [
      "initialize with an unknown scheme",
      "invalid_option",
      () => network.initialize({ scheme: "he" }),
      [/he\b/, /kaiming/],
    ],
    [
      "initialize with a bound and no scheme",
      "invalid_option",
      () => network.initialize({ bound: 1 }),
      [/bound/, /uniform/],
    ],
    ["initialize with no bound", "invalid_option", () => network.initialize({ scheme: "uniform" }), [/bound/]],
    [
      "initialize with a seed that is a text",
      "invalid_option",
      () => network.initialize({ seed: "1" }),
      [/seed/, /whole number|number/],
    ],
    ["initialize with a negative seed", "invalid_option", () => network.initialize({ seed: -1 }), [/seed/, /-1|whole/]],
    ["initialize with a misnamed key", "invalid_option", () => network.initialize({ sed: 1 }), [/sed/, /seed/]],
    [
      "transform of too few parameters",
      "invalid_parameters",
      () => network.transform(new Float64Array(3), { type: "random_permutation", seed: 1 }),
      [/parameters/, /3/, String(67)],
    ],
    [
      "transform without a transformation",
      /invalid_transformation|invalid_option/,
      () => network.transform(theta),
      [/transformation/],
    ],
    [
      "transform with a text",
      "invalid_transformation",
      () => network.transform(theta, "layerwise"),
      [/transformation/, /object/, /string/],
    ],
    [
      "transform of an unknown type",
      "invalid_transformation",
      () => network.transform(theta, { type: "scale" }),
      [/scale/, /alpha_scale|layerwise/],
    ],
    [
      "transform with too few factors",
      "invalid_transformation",
      () => network.transform(theta, { type: "layerwise", lambda: [2] }),
      [/layerwise|factor|lambda/i, /2/],
    ],
    [
      "transform with factors whose product is not 1",
      "invalid_transformation",
      () => network.transform(theta, { type: "layerwise", lambda: [2, 2] }),
      [/factors/, /multiply to 1/],
    ],
    [
      "transform with a factor of 0",
      "invalid_transformation",
      () => network.transform(theta, { type: "layerwise", lambda: [0, 1] }),
      [/lambda\[0\]/, /positive/],
    ],
    [
      "transform with NaN",
      "invalid_transformation",
      () => network.transform(theta, { type: "alpha_scale", alpha: Number.NaN }),
      [/alpha/, /finite/],
    ],
    [
      "transform with a permutation that is none",
      "invalid_transformation",
      () => network.transform(theta, { type: "permutation", permutations: [[0, 0, 1, 2, 3, 4, 5, 6]] }),
      [/permutation/],
    ],
    [
      "transform by low above high",
      "invalid_transformation",
      () => network.transform(theta, { type: "random_nodewise", seed: 1, low: 5, high: 0.2 }),
      [/low/, /high/],
    ],
    [
      "transform with a misnamed key",
      "invalid_transformation",
      () => network.transform(theta, { type: "layerwise", lambdas: [2, 0.5] }),
      [/lambdas?/],
    ],
    [
      "transform without a seed",
      "invalid_transformation",
      () => network.transform(theta, { type: "random_permutation" }),
      [/seed/],
    ],
    [
      "transform of a network that rescaling changes",
      "not_homogeneous",
      () => {
        const tanh = Network.fromJSON({ input: [4], layers: [dense, { type: "tanh" }, dense] });
        tanh.transform(tanh.initialize(), { type: "layerwise", lambda: [2, 0.5] });
      },
      [/tanh|homogeneous/],
    ],
    [
      "equivalence in a group that is none",
      "invalid_option",
      () => network.equivalence(theta, theta, { group: "units" }),
      [/units/, /nodewise/],
    ],
    [
      "equivalence of a network that rescaling changes",
      "not_homogeneous",
      () => {
        const tanh = Network.fromJSON({ input: [4], layers: [dense, { type: "tanh" }, dense] });
        tanh.equivalence(tanh.initialize(), tanh.initialize());
      },
      [/tanh|homogeneous/],
    ],
    ["space of an unknown type", "invalid_option", () => network.space(theta, { type: "path" }), [/path/, /g_space/]],
    [
      "tree of a G-space that begins at 0",
      "invalid_option",
      () => network.space(theta, { type: "g_space", tree: { set: 0 } }),
      [/tree/, /0/],
    ],
    [
      "tree of a G-space that is to be rescaled",
      "invalid_option",
      () => network.space(theta, { type: "g_space", tree: "reparametrize" }),
      [/reparametrize/, /keep/, /set/],
    ],
    [
      "tree of a space that has none",
      "invalid_option",
      () => network.space(theta, { type: "weight_fixing", tree: "keep" }),
      [/tree/, /choice/, /values/],
    ],
    ["space as a text", "invalid_option", () => network.space(theta, "g_space"), [/space/, /object/, /string/]],
    ["balance by neuron", "invalid_option", () => network.balance(theta, { per: "neuron" }), [/per/, /neuron/, /node/]],
    ["balance of too few parameters", "invalid_parameters", () => network.balance([1, 2]), [/parameters/, /2/, /67/]],
    [
      "principal components of one vector",
      "invalid_parameters",
      () => network.principalComponents(theta),
      [/trajectory\[0\]/, /Float64Array/],
    ],
    ["principal components of nothing", /invalid_/, () => network.principalComponents([]), [/trajectory|snapshots/]],
    [
      "folding without parameters",
      "invalid_parameters",
      () => Network.foldBatchNorm({ input: [4], layers: [dense] }),
      [/parameters/, /Float64Array/],
    ],
    ["a network that was freed", "invalid_handle", () => freed.initialize(), [/Network/, /freed/]],
    [
      "a method without its network",
      "invalid_handle",
      () => {
        const { initialize } = network;
        initialize();
      },
      [/initialize/, /Network/],
    ],
  ];
}

function problems({ network, image, theta, problem, inputs, data, freed, gone, problemOf }) {
  return [
    [
      "a problem without a network",
      "invalid_handle",
      () => new Problem(undefined, data),
      [/network/, /Network/, /undefined/],
    ],
    [
      "a problem of a network's JSON",
      "invalid_handle",
      () => new Problem(network.toJSON(), data),
      [/network/, /Network/, /Object/],
    ],
    [
      "a problem of a network that is not awaited",
      "invalid_handle",
      () => new Problem(Promise.resolve(network), data),
      [/network/, /await it/],
    ],
    ["a problem of a freed network", "invalid_handle", () => new Problem(freed, data), [/network/, /freed/]],
    [
      "a problem of another problem",
      "invalid_handle",
      () => new Problem(problem, data),
      [/network/, /a Network/, /a Problem/],
    ],
    [
      "a problem with its arguments exchanged",
      "invalid_handle",
      () => new Problem(data, network),
      [/network/, /Object/],
    ],
    ["a problem without data", "invalid_problem", () => new Problem(network), [/data/, /object/, /undefined/]],
    [
      "a problem with arrays for data",
      "invalid_problem",
      () => new Problem(network, inputs, [0, 2]),
      [/data/, /object/, /Float32Array/],
    ],
    [
      "data without a loss",
      "invalid_problem",
      problemOf({ loss: undefined }),
      [/data\.loss/, /cross_entropy/, /squared_error/],
    ],
    [
      "data with a loss of other names",
      "invalid_problem",
      problemOf({ loss: "mse" }),
      [/data\.loss/, /squared_error/, /"mse"/],
    ],
    [
      "data with a loss in other letters",
      "invalid_problem",
      problemOf({ loss: "crossEntropy" }),
      [/data\.loss/, /cross_entropy/],
    ],
    [
      "data without inputs",
      "invalid_problem",
      problemOf({ inputs: undefined }),
      [/data\.inputs/, /Float64Array/, /undefined/],
    ],
    [
      "data with inputs in rows",
      "invalid_problem",
      problemOf({ inputs: [[1, 2, 3, 4]] }),
      [/data\.inputs\[0\]/, /Array/, /number/],
    ],
    [
      "data with pixels as bytes",
      "invalid_problem",
      problemOf({ inputs: new Uint8Array(8) }),
      [/data\.inputs/, /Float32Array/, /Uint8Array/],
    ],
    [
      "data with inputs of another length",
      "invalid_problem",
      problemOf({ inputs: new Float32Array(7) }),
      [/inputs/, /7/, /4/],
    ],
    [
      "data without any sample",
      "invalid_problem",
      problemOf({ inputs: new Float32Array(0), targets: [] }),
      [/sample|inputs/],
    ],
    [
      "data with NaN",
      "not_finite",
      problemOf({ inputs: new Float32Array(8).fill(Number.NaN) }),
      [/input 0 of sample 0/, /NaN/, /finite/],
    ],
    ["data without targets", "invalid_problem", problemOf({ targets: undefined }), [/data\.targets/, /undefined/]],
    [
      "data with labels for targets",
      "invalid_problem",
      () => new Problem(network, { loss: "cross_entropy", inputs, labels: [0, 2] }),
      [/no key labels/, /targets/],
    ],
    [
      "data with BigInts for targets",
      "invalid_problem",
      problemOf({ targets: new BigInt64Array(2) }),
      [/data\.targets/, /integers of up to 32 bits/, /BigInt64Array/],
    ],
    ["data with too few targets", "invalid_problem", problemOf({ targets: [0] }), [/targets/, /1/, /2/]],
    ["data with classes from 1", "invalid_problem", problemOf({ targets: [1, 3] }), [/target/, /3/]],
    ["data with a negative class", "invalid_problem", problemOf({ targets: [0, -1] }), [/target/, /-1/]],
    ["data with one-hot targets", "invalid_problem", problemOf({ targets: [1, 0, 0, 0, 0, 1] }), [/targets/, /6/, /2/]],
    [
      "data with names for classes",
      "invalid_problem",
      problemOf({ targets: ["cat", "dog"] }),
      [/data\.targets\[0\]/, /"cat"/],
    ],
    [
      "data with classes for squared errors",
      "invalid_problem",
      problemOf({ loss: "squared_error" }),
      [/targets/, /2/, /6/],
    ],
    [
      "images of the wrong length",
      "invalid_problem",
      () => new Problem(image, { ...data, inputs: new Float32Array(30), targets: [0] }),
      [/inputs/, /30/, /36/],
    ],
    ["synthetic data without samples", "invalid_option", () => Problem.synthetic(network, {}), [/samples/]],
    ["synthetic data without options", "invalid_option", () => Problem.synthetic(network), [/samples|options|object/]],
    [
      "synthetic data of a number",
      "invalid_option",
      () => Problem.synthetic(network, 10),
      [/synthetic/, /object/, /not 10/],
    ],
    [
      "synthetic data of no sample",
      /invalid_/,
      () => Problem.synthetic(network, { samples: 0 }),
      [/synthetic/, /at least one sample/],
    ],
    [
      "synthetic data of a negative number of samples",
      "invalid_option",
      () => Problem.synthetic(network, { samples: -5 }),
      [/samples/, /-5/],
    ],
    [
      "synthetic data of half a sample",
      "invalid_option",
      () => Problem.synthetic(network, { samples: 1.5 }),
      [/samples/, /whole/, /1\.5/],
    ],
    [
      "synthetic data by another name",
      "invalid_option",
      () => Problem.synthetic(network, { count: 5 }),
      [/count|samples/],
    ],
    [
      "the first of nothing",
      "invalid_option",
      () => problem.first(),
      [/first/, /samples/, /whole number/, /undefined/],
    ],
    ["the first none", "invalid_option", () => problem.first(0), [/samples/, /at least 1/]],
    ["the first minus one", "invalid_option", () => problem.first(-1), [/samples/, /at least 1/, /-1/]],
    [
      "a problem file as bytes",
      "parse",
      () => Problem.open(new Uint8Array(4)),
      [/problem file/, /string/, /Uint8Array/],
    ],
    ["a problem file that is none", "parse", () => Problem.open("{}"), [/network|missing|problem/]],
    [
      "a problem file that is not awaited",
      "parse",
      () => Problem.open(Promise.resolve("{}")),
      [/problem file/, /await it/],
    ],
    ["saving without parameters", "invalid_parameters", () => problem.save(), [/parameters/, /Float64Array/]],
    ["saving under a number", "invalid_option", () => problem.save(theta, 5), [/name/, /string/, /not 5/]],
    ["a problem that was freed", "invalid_handle", () => gone.first(1), [/Problem/, /freed/]],
  ];
}

function engines({ network, theta, problem, gone, engine }) {
  const call =
    (method, options, parameters = theta) =>
    () =>
      engine[method](problem, parameters, options);
  const own = (options) => () => Engine.create(options);
  const short = theta.subarray(1);
  const broken = new Float64Array(theta).fill(Number.NaN, 3, 4);
  const lost = new Float64Array(theta);
  structuredClone(lost.buffer, { transfer: [lost.buffer] });
  const spent = Engine.create({ backend: "cpu" });
  const inputs = new Float32Array(8);
  const squared = new Problem(network, { loss: "squared_error", inputs, targets: new Float64Array(6) });
  return [
    ["an engine by new", "invalid_handle", () => new Engine({ backend: "cpu" }), [/await Engine\.create/]],
    ["an engine of a text", "invalid_option", own("cpu"), [/Engine\.create/, /options/, /object/, /"cpu"/]],
    ["an engine of an unknown backend", "invalid_option", own({ backend: "cuda" }), [/backend/, /cuda/, /gpu/, /cpu/]],
    [
      "an engine of an unknown precision",
      "invalid_option",
      own({ precision: "float32" }),
      [/precision/, /float32/, /f32/],
    ],
    ["an engine of no thread", "invalid_option", own({ backend: "cpu", threads: 0 }), [/threads/, /0|at least/]],
    ["an engine of all threads", "invalid_option", own({ backend: "cpu", threads: "all" }), [/threads/, /auto/]],
    [
      "an engine with a misnamed key",
      "invalid_option",
      own({ device: "cpu" }),
      [/no key "device"; there are backend, precision, memoryBudget, threads, tune, worker, onProgress, signal$/],
    ],
    ["an engine with what is between the module and the package", "invalid_option", own({ tunings: [] }), [/tunings/]],
    ["an engine without a GPU", "backend_unavailable", own({ backend: "gpu" }), [/WebGPU/i]],
    [
      "double precision on a GPU",
      "invalid_option",
      own({ backend: "gpu", precision: "f64" }),
      [/f32/, /precision/, /cpu/],
    ],
    [
      "an engine that was freed",
      "invalid_handle",
      async () => {
        const other = await spent;
        other.free();
        await other.gradient(problem, theta);
      },
      [/Engine/, /freed/],
    ],
    [
      "a method without its engine",
      "invalid_handle",
      () => {
        const { gradient } = engine;
        return gradient(problem, theta);
      },
      [/gradient/, /Engine/],
    ],
    [
      "a network for a problem",
      "invalid_handle",
      () => engine.gradient(network, theta),
      [/problem/, /a Problem/, /a Network/],
    ],
    [
      "data for a problem",
      "invalid_handle",
      () => engine.gradient({ loss: "cross_entropy" }, theta),
      [/problem/, /a Problem/, /an Object/],
    ],
    [
      "a problem that is not awaited",
      "invalid_handle",
      () => engine.gradient(Promise.resolve(problem), theta),
      [/problem/, /await it/],
    ],
    ["a freed problem", "invalid_handle", () => engine.gradient(gone, theta), [/problem/, /freed/]],
    ["no problem", "invalid_handle", () => engine.gradient(), [/problem/, /undefined/]],
    ["arguments exchanged", "invalid_handle", () => engine.gradient(theta, problem), [/problem/, /Float64Array/]],
    ["no parameters", "invalid_parameters", call("gradient", undefined, null), [/parameters/, /Float64Array/, /null/]],
    [
      "parameters that are not awaited",
      "invalid_parameters",
      call("gradient", undefined, Promise.resolve(theta)),
      [/parameters/, /await it/],
    ],
    [
      "a training's result for parameters",
      "invalid_parameters",
      call("gradient", undefined, { parameters: theta }),
      [/parameters/, /an Object/],
    ],
    [
      "parameters as whole numbers",
      "invalid_parameters",
      call("gradient", undefined, new Int32Array(theta.length)),
      [/parameters/, /Int32Array/, /Float64Array/],
    ],
    ["too few parameters", "invalid_parameters", call("gradient", undefined, short), [/parameters/, /66/, /67/]],
    [
      "parameters a layer",
      "invalid_parameters",
      call("gradient", undefined, [[1, 2], [3]]),
      [/parameters\[0\]/, /Array/, /number/],
    ],
    ["parameters with NaN", "not_finite", call("gradient", undefined, broken), [/parameter/, /3/]],
    [
      "parameters that went to a worker",
      "invalid_parameters",
      call("gradient", undefined, lost),
      [/parameters/, /transferred/],
    ],
    [
      "parameters too large for the precision",
      /out_of_range|not_finite/,
      async () => {
        const single = await Engine.create({ backend: "cpu", precision: "f32" });
        await single.gradient(
          problem,
          theta.map(() => 1e60),
        );
      },
      [/weights of layer 1/, /f32/, /f64/],
    ],
    ["options as a number", "invalid_option", call("eigenvalues", 5), [/eigenvalues/, /options/, /object/, /not 5/]],
    ["options as a list", "invalid_option", call("eigenvalues", [5]), [/eigenvalues/, /options/, /object/]],
    ["a misnamed option", "invalid_option", call("eigenvalues", { count: 5 }), [/count/, /top/]],
    ["a negative count", "invalid_option", call("eigenvalues", { top: -1 }), [/top/, /-1/]],
    ["a count in a text", "invalid_option", call("eigenvalues", { top: "5" }), [/top/, /whole number/]],
    ["half a count", "invalid_option", call("eigenvalues", { top: 2.5 }), [/top/, /whole/, /2\.5/]],
    ["more eigenvalues than there are", "invalid_option", call("eigenvalues", { top: 1000 }), [/top|1000/, /67/]],
    ["an unknown operator", "invalid_option", call("eigenvalues", { operator: "fisher" }), [/fisher/, /gauss_newton/]],
    [
      "a layer that there is not",
      "invalid_option",
      call("eigenvalues", { operator: { layer: 9 } }),
      [/layer|operator/],
    ],
    ["no product", "invalid_option", call("eigenvalues", { maxProducts: 0 }), [/products/, /at least one/]],
    [
      "no product, by the power method",
      "invalid_option",
      call("eigenvalues", { maxProducts: 0, method: "power" }),
      [/products/, /at least one/],
    ],
    [
      "no product for a report",
      "invalid_option",
      call("report", { maxProducts: 0, sections: ["point"] }),
      [/products/, /at least one/],
    ],
    ["a seed beyond whole numbers", "invalid_option", call("eigenvalues", { seed: 2 ** 53 }), [/seed/, /2\^53/]],
    [
      "a transformation's seed beyond whole numbers",
      "invalid_transformation",
      () => network.transform(theta, { type: "random_permutation", seed: 2 ** 53 }),
      [/seed must/, /2\^53/],
    ],
    [
      "an option of a class that there is not",
      "invalid_option",
      call(
        "eigenvalues",
        new (class {
          get count() {
            return 5;
          }
        })(),
      ),
      [/count/, /top/],
    ],
    ["a misnamed default", "invalid_option", call("eigenvalues", Object.create({ count: 5 })), [/count/, /top/]],
    [
      "a number for one of several values",
      "invalid_option",
      call("eigenvalues", { space: { type: "g_space", values: 3 } }),
      [/space\.values/, /must name one/, /not 3/],
    ],
    ["NaN for a tolerance", "invalid_option", call("eigenvalues", { tolerance: Number.NaN }), [/tolerance/, /NaN/]],
    ["a negative tolerance", "invalid_option", call("eigenvalues", { tolerance: -1 }), [/tolerance/, /-1/]],
    [
      "a method's option given to another",
      "invalid_option",
      call("gradient", { epochs: 5 }),
      [/no key "epochs"; there are onProgress, signal$/],
    ],
    [
      "a misnamed option of training",
      "invalid_option",
      call("train", { abort: 5 }),
      [/there are optimizer, .*snapshots, validation, checkpoint, onProgress, signal, finish$/],
    ],
    [
      "a misnamed option of a landscape",
      "invalid_option",
      call("landscape", { directions: [{ type: "random", seed: 1 }], resolution: 5 }),
      [/there are normalization, .*firstRow, directions, trajectory, onProgress, signal$/],
    ],
    [
      "a validation problem for a gradient",
      "invalid_option",
      call("gradient", { validation: problem }),
      [/gradient/, /validation/],
    ],
    [
      "an abort controller for a signal",
      "invalid_option",
      call("gradient", { signal: new AbortController() }),
      [/signal/, /AbortSignal/, /AbortController/],
    ],
    ["true for a signal", "invalid_option", call("gradient", { signal: true }), [/signal/, /AbortSignal/, /true/]],
    [
      "finish where there is nothing to hand over",
      "invalid_option",
      call("gradient", { finish: new AbortController().signal }),
      [/finish/, /signal/],
    ],
    [
      "progress that is no function",
      "invalid_option",
      call("gradient", { onProgress: true }),
      [/onProgress/, /function/, /true/],
    ],
    [
      "a product without a direction",
      "invalid_parameters",
      () => engine.product(problem, theta),
      [/direction/, /Float64Array/],
    ],
    [
      "a product with a direction too short",
      "invalid_parameters",
      () => engine.product(problem, theta, [1, 2]),
      [/direction/, /2/, /67/],
    ],
    ["training for -1 epochs", "invalid_option", call("train", { epochs: -1 }), [/epochs/, /whole number/]],
    ["training by epoch", "invalid_option", call("train", { epoch: 3 }), [/epoch/, /epochs/]],
    [
      "training with batches of 0",
      "invalid_option",
      call("train", { batchSize: 0 }),
      [/batch size/, /0/, /at least 1/],
    ],
    ["training to a number", "invalid_option", call("train", { target: 3 }), [/target/, /loss, accuracy/, /not 3/]],
    [
      "training to two targets",
      "invalid_option",
      call("train", { target: { loss: 1, accuracy: 1 } }),
      [/target/, /loss, accuracy/, /alone/],
    ],
    ["training to a name", "invalid_option", call("train", { target: "loss" }), [/target/, /object/, /key/]],
    [
      "training to an accuracy under squared error",
      "invalid_option",
      () => engine.train(squared, theta, { target: { accuracy: 0.9 } }),
      [/squared_error/, /accuracy/, /target loss/],
    ],
    [
      "training with another loss for validation",
      "invalid_option",
      call("train", { validation: squared }),
      [/validation/, /squared_error/, /cross_entropy/],
    ],
    [
      "training with a learning rate at the top",
      "invalid_option",
      call("train", { learningRate: 0.1 }),
      [/learningRate/, /optimizer/],
    ],
    [
      "training with an unknown optimizer",
      "invalid_option",
      call("train", { optimizer: { type: "rmsprop", learningRate: 0.1 } }),
      [/rmsprop/, /adam/],
    ],
    [
      "training with an optimizer as a text",
      "invalid_option",
      call("train", { optimizer: "adam" }),
      [/optimizer/, /object/],
    ],
    [
      "training with Python's names",
      "invalid_option",
      call("train", { optimizer: { type: "sgd", lr: 0.1 } }),
      [/lr/, /learningRate/],
    ],
    [
      "training with a negative learning rate",
      "invalid_option",
      call("train", { optimizer: { type: "sgd", learningRate: -0.1 } }),
      [/learningRate|learning rate/, /-0\.1|positive/],
    ],
    [
      "training with NaN for a learning rate",
      "invalid_option",
      call("train", { optimizer: { type: "sgd", learningRate: Number.NaN } }),
      [/learningRate/, /finite|NaN/],
    ],
    [
      "training with data for validation",
      "invalid_handle",
      call("train", { validation: { inputs: [] } }),
      [/validation/, /Problem/],
    ],
    [
      "training from a checkpoint that is none",
      /invalid_/,
      call("train", { checkpoint: { epoch: 1 } }),
      [/checkpoint/],
    ],
    [
      "training in an unknown space",
      "invalid_option",
      call("train", { space: { type: "sphere" } }),
      [/sphere/, /g_space/],
    ],
    ["training side by side without runs", "invalid_option", () => engine.trainSideBySide(problem), [/runs/, /array/]],
    [
      "training side by side with vectors for runs",
      /invalid_/,
      () => engine.trainSideBySide(problem, [theta]),
      [/runs\[0\]|run/, /parameters|object/],
    ],
    [
      "measuring what there is not",
      "invalid_option",
      call("measure", { measures: ["hessian.trace_norm"] }),
      [/hessian\.trace_norm/, /hessian\./],
    ],
    ["measuring a text", "invalid_option", call("measure", { measures: "hessian.trace" }), [/measures/, /list|array/]],
    ["invariance without transformations", "invalid_option", call("invariance"), [/transformations/]],
    [
      "invariance of one transformation",
      "invalid_option",
      call("invariance", { transformations: { type: "random_permutation", seed: 1 } }),
      [/transformations/, /list|array/],
    ],
    ["a landscape without directions", "invalid_option", call("landscape"), [/directions/]],
    ...["rangeT", "pointsT"].map((key) => [
      `a landscape along one direction with ${key}`,
      "invalid_option",
      call("landscape", { directions: [{ type: "random", seed: 1 }], [key]: key === "rangeT" ? [0, 1] : 5 }),
      [new RegExp(key), /second direction/, /one alone/],
    ]),
    [
      "a landscape along three directions",
      "invalid_option",
      call("landscape", { directions: [1, 2, 3].map((seed) => ({ type: "random", seed })) }),
      [/direction/, /3|two|2/],
    ],
    [
      "a landscape along an unknown direction",
      "invalid_option",
      call("landscape", { directions: [{ type: "gradient" }] }),
      [/gradient/, /random/],
    ],
    [
      "a landscape of one point",
      "invalid_option",
      call("landscape", { directions: [{ type: "random", seed: 1 }], points: 1 }),
      [/points/, /1|at least/],
    ],
    [
      "a landscape towards too few parameters",
      /invalid_/,
      call("landscape", { directions: [{ type: "towards", parameters: [1] }] }),
      [/parameters|direction/, /67/],
    ],
    ["sharpness in a number", "invalid_option", call("sharpness", { region: 0.1 }), [/region/, /object/]],
    ["sharpness with a radius of 0", "invalid_option", call("sharpness", { epsilon: 0 }), [/ε/, /positive/]],
    [
      "features under a matrix of another size",
      "invalid_option",
      call("featureRobustness", { layer: 1, delta: 0.1, matrix: [1, 2] }),
      [/matrix has 2 entries/, /layer 1/],
    ],
    ["noise without a layer", "invalid_option", call("noiseInjection", { delta: 0.1 }), [/layer/]],
    [
      "noise in a layer that there is not",
      "invalid_option",
      call("noiseInjection", { layer: 7, delta: 0.1 }),
      [/layer 7/, /1 to 2/],
    ],
    [
      "noise in a layer counted from 0",
      "invalid_option",
      call("noiseInjection", { layer: 0, delta: 0.1 }),
      [/layer is 0/, /counted from 1/],
    ],
    [
      "sharpening a layer that there is not",
      "invalid_option",
      call("sharpen", { target: 10, layer: 3 }),
      [/layer 3/, /1 to 2/],
    ],
    [
      "a trace by an unknown method",
      "invalid_option",
      call("trace", { method: "exact" }),
      [/method/, /exact/, /hutchinson/],
    ],
    [
      "a trace by no probe",
      "invalid_option",
      call("trace", { method: "hutchinson", probes: 0 }),
      [/probes/, /0|at least/],
    ],
    ["a trace by three probes", "invalid_option", call("trace", { probes: 3 }), [/Hutch\+\+/, /at least 4/, /3/]],
    ["a diagonal by one probe", "invalid_option", call("diagonal", { probes: 1 }), [/probes/, /at least 2/]],
    ["measures by no probe", "invalid_option", call("measure", { probes: 0 }), [/at least 4/, /0/]],
    [
      "boxes beyond half of the largest weight",
      "invalid_option",
      call("volumeFlatness", { radius: 10 }),
      [/radius is 10/, /at most 0\.\d/, /half/],
    ],
    [
      "a report of a number",
      "invalid_option",
      call("report", { sections: [3] }),
      [/sections\[0\]/, /point, norms/, /not 3/],
    ],
    [
      "a report of a section that there is not",
      "invalid_option",
      call("report", { sections: ["hessians"] }),
      [/hessians/, /hessian\b/],
    ],
    [
      "a density by no probe, of a matrix that is small",
      "invalid_option",
      call("density", { probes: 0 }),
      [/probes/, /at least 2/, /not 0/],
    ],
    [
      "a density of a misnamed operator",
      "invalid_option",
      call("density", { operator: "hesian" }),
      [/hesian/, /hessian/],
    ],
    ["a space by new", "invalid_handle", () => new ParameterSpace(), [/ParameterSpace/, /network\.space/]],
    [
      "coordinates of another length",
      "invalid_parameters",
      () => network.space(theta, { type: "g_space" }).toParameters([1]),
      [/coordinates/, /1/],
    ],
    ["loadable nothing", "invalid_option", () => openModel(), [/file/, /File/, /undefined/]],
    ["an address for a file", "invalid_option", () => openModel("model.onnx"), [/file/, /bytes/, /"model.onnx"/]],
    ["a file that is not awaited", "invalid_option", () => openModel(Promise.resolve(new Uint8Array(4))), [/await it/]],
    ["a file in numbers", "invalid_option", () => openModel([1, 2, 3]), [/file 1/, /File/, /bytes/, /not 1/]],
    [
      "a file with a misnamed key",
      "invalid_option",
      () => openModel({ name: "a", data: new Uint8Array(4) }),
      [/no key data/, /bytes/],
    ],
    ["a file that is no model", "parse", () => openModel(new Uint8Array(16)), [/the file|known|format/]],
    [
      "a model with an option that there is not",
      "invalid_option",
      () => openModel(new Uint8Array(16), { format: "onnx" }),
      [/format/, /network/],
    ],
    [
      "a table for a model",
      "invalid_network",
      () => openModel({ name: "a.csv", bytes: new TextEncoder().encode("a,b,label\n1,2,0\n3,4,1\n") }),
      [/a\.csv/, /data/, /inputs \[2, 2\]/, /network/],
    ],
    [
      "an archive of nothing",
      "parse",
      () => openModel({ name: "a.npz", bytes: Uint8Array.from([80, 75, 5, 6, ...new Array(18).fill(0)]) }),
      [/a\.npz/, /archive is empty/],
    ],
    [
      "a format in a number",
      "invalid_option",
      () => saveModel(network, theta, { format: 3 }),
      [/format/, /safetensors, npz, onnx/, /not 3/],
    ],
    ["a name for weights", "invalid_option", () => saveModel(network, theta, { name: "x" }), [/name/, /problem/]],
    ["no file for data", "invalid_option", () => openData([]), [/file/]],
    ["data that is no data", "parse", () => openData(new Uint8Array(16)), [/the file|known|format/]],
    [
      "data normalised by an unknown name",
      "invalid_option",
      () => openData(new Uint8Array([0, 0, 8, 1, 0, 0, 0, 1, 5]), { normalization: "cifar" }),
      [/normalization/, /cifar10/],
    ],
    ["layers of a text", "invalid_option", () => proposeNetwork("weights.npz"), [/file/, /string/]],
    ["files of nothing", "invalid_option", () => sortFiles(null), [/file/, /null/]],
    [
      "saving a model as PyTorch's",
      "invalid_option",
      () => saveModel(network, theta, { format: "pth" }),
      [/format|pth/, /safetensors/],
    ],
    ["saving a model's parameters alone", "invalid_parameters", () => saveModel(theta), [/parameters/, /Float64Array/]],
    [
      "saving a model with an option that there is not",
      "invalid_option",
      () => saveModel(network, theta, { type: "onnx" }),
      [/no option type/, /format/],
    ],
    ["saving too few parameters", "invalid_parameters", () => saveModel(network, [1]), [/parameters/, /67/]],
    ["IDX of a text", "parse", () => parseIdx("t10k"), [/IDX/, /Uint8Array/, /"t10k"/]],
    ["IDX of other bytes", "parse", () => parseIdx(new Uint8Array(3)), [/IDX|idx/]],
  ];
}

/** Words of the module's own making, which say nothing to who calls. */
const INNER =
  /usize|\bu32\b|\bu64\b|\bi64\b|JsValue|untagged|null pointer|variant|or map\b|map with|invalid type|\[object|undefined is not/;

const wrong = [];
let count = 0;
async function tried(rows) {
  for (const [name, code, work, says] of rows) {
    count++;
    let error;
    try {
      await work();
    } catch (thrown) {
      error = thrown;
    }
    const faults = [];
    if (!(error instanceof isoflat.IsoflatError)) faults.push(`no IsoflatError: ${error}`);
    else {
      if (code instanceof RegExp ? !code.test(error.code) : error.code !== code)
        faults.push(`its code is ${error.code}`);
      for (const word of says) {
        const there = word instanceof RegExp ? word.test(error.message) : error.message.includes(word);
        if (!there) faults.push(`it does not say ${word}`);
      }
      if (INNER.test(error.message)) faults.push("it speaks of the module's insides");
      const copy = structuredClone(error);
      for (const key of ["name", "message", "code", "stack"]) {
        if (copy[key] !== error[key]) faults.push(`structuredClone makes ${copy[key]} of its ${key}`);
      }
      if (!(error instanceof Error) || String(error) !== `IsoflatError: ${error.message}`)
        faults.push("it is no Error");
      // Where the call stands, so that it is found.
      if (!error.stack.includes("mistakes.mjs")) faults.push(`its stack has no caller: ${error.stack}`);
    }
    if (faults.length > 0) wrong.push(`${name}: ${faults.join("; ")}: ${error?.message}`);
    else if (process.env.SHOW) console.log(`${name}: ${error.message}`);
  }
}

await tried(early);
await init();
const all = late();
const engine = await Engine.create({ backend: "cpu" });
await tried(networks(all));
await tried(problems(all));
await tried(engines({ ...all, engine }));
assert.deepEqual(wrong, [], wrong.join("\n"));
assert(count >= 150, `${count} mistakes`);
console.log(`${count} mistakes, each with a message that says how to mend it`);
