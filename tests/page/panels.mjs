/** Checks of the panels beyond the landscape: measures by paper, layers, spectra, Dinh's constructions. Both runs make them. */

const state = (lab, body) => lab.page.evaluate(body);

/** Sets a slider as a drag's end does. */
async function slide(lab, id, value) {
  await lab.page.locator(`#${id}`).evaluate((slider, value) => {
    slider.value = String(value);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  }, value);
}

export async function checkPapers(lab, check) {
  const { page } = lab;
  const groups = await page.locator("table.measures tbody").evaluateAll((bodies) =>
    bodies.map((body) => ({
      paper: body.dataset.paper,
      rows: body.querySelectorAll("tr[data-key]").length,
      definition: body.querySelector(".definition")?.textContent ?? "",
      badges: body.querySelectorAll(".stand").length,
    })),
  );
  const described = await state(lab, () => window.isoflatLab.app.store.state.descriptions.length);
  check(
    "the measures are grouped by paper, each group with its definition",
    groups.map(({ paper }) => paper).join() === "point,dinh,rangamani,petzka,orbit,norms" &&
      groups.every(({ definition }) => definition.length > 80),
  );
  const rows = groups.reduce((sum, group) => sum + group.rows, 0);
  check("every measure is in one of them", rows === described, `${rows} of ${described}`);
  check(
    "and says under which maps it should stand still",
    groups.every(({ rows, badges }) => rows === badges),
  );
}

/** One search for the highest point: its value comes last, with what says how far to trust it. */
export async function checkSearch(lab, check) {
  const value = await lab.waitForMeasure("epsilon_sharpness", "trained");
  const quadratic = await lab.measure("epsilon_sharpness_quadratic", "trained");
  check("the ε-sharpness by ascent is no less than its quadratic part says", value > 0.9 * quadratic, `${value}`);
}

export async function checkHeatMap(lab, check) {
  const cells = await lab.page.locator(".invariance td button").evaluateAll((buttons) =>
    buttons.map((button) => ({
      heat: Number(button.style.getPropertyValue("--heat")),
      symbol: button.querySelector(".symbol").textContent,
      expected: button.dataset.expected,
      label: button.getAttribute("aria-label"),
    })),
  );
  const { measures, maps } = await state(lab, () => {
    const { cells, transformations } = window.isoflatLab.app.store.state.invariance;
    return { measures: new Set(cells.map(({ measure }) => measure)).size, maps: transformations.length };
  });
  check("the heat map has a cell for every measure and map", cells.length === measures * maps, `${measures} × ${maps}`);
  const mean = (of) => of.reduce((sum, { heat }) => sum + heat, 0) / of.length;
  const still = cells.filter(({ expected }) => expected === "invariant");
  const moving = cells.filter(({ symbol }) => symbol === "≠");
  check(
    "what stands still is cold, what moves is warm",
    mean(still) < 0.4 && mean(moving) > 0.7 && cells.every(({ heat }) => heat >= 0 && heat <= 1),
    `${mean(still).toFixed(2)} and ${mean(moving).toFixed(2)}`,
  );
  check(
    "and it can be read without colours",
    cells.every(({ symbol, label }) => "=≠?".includes(symbol) && /relative change/.test(label)),
  );
  const groups = await lab.count(".invariance tr.group");
  check("its rows are grouped by paper", groups === 6, `${groups} groups`);
}

/** Petzka's appendix D.2: what the engine finds is what its closed form says, wherever the slider is. */
export async function checkNeighbours(lab, check) {
  const { page } = lab;
  await lab.goTo("layers");
  const card = page.locator("#neighbours");
  for (const [decades, epsilon] of [
    [-2, 0.01],
    [-3, 0.001],
    [-0.5, 10 ** -0.5],
  ]) {
    await slide(lab, "neighbours-epsilon", decades);
    await page.waitForFunction(
      (epsilon) => Math.abs(document.querySelector("#neighbours").dataset.epsilon / epsilon - 1) < 1e-9,
      epsilon,
    );
    const ratio = Number(await card.getAttribute("data-ratio"));
    // ‖A‖² is the larger root of x² − (1 + 2/ε²) x + 1/ε², κ = 2 λ with λ that of the Gram matrix's x² − (2 + ε²) x + ε²; the rise is δ².
    const larger = (trace, determinant) => (trace + Math.sqrt(trace ** 2 - 4 * determinant)) / 2;
    const norm = larger(1 + 2 / epsilon ** 2, 1 / epsilon ** 2);
    const expected = (norm * 2 * larger(2 + epsilon ** 2, epsilon ** 2)) / 2;
    check(
      `the bound of feature robustness at ε = ${epsilon.toPrecision(2)} is so many times as large`,
      Math.abs(ratio / expected - 1) < 1e-6,
      `${ratio}, expected ${expected}`,
    );
    if (decades === -2) check("by four orders of magnitude at 0.01", ratio > 1e4, `${ratio}`);
  }
  check("with the norm that it takes", /≥.*✓/.test(await card.innerText()));
}

/** κ and κ_τ of the bars against the measures' sums; ρ of every neuron. */
export async function checkLayers(lab, check, { bent, tolerance }) {
  const { page } = lab;
  await lab.goTo("layers");
  await page.waitForSelector("#layers svg.plot .bar.trained", { state: "attached", timeout: 120_000 });
  const found = await state(lab, () => {
    const { layers, measures, model } = window.isoflatLab.app.store.state;
    const { kappa, kappaTrace, rho } = layers.trained;
    const sum = (values) => values.reduce((total, value) => total + value, 0);
    return {
      depth: model.depth,
      kappa: sum(kappa.map(({ value }) => value)) / measures.trained.get("petzka.kappa_sum").value,
      trace: sum(kappaTrace) / measures.trained.get("petzka.kappa_trace_sum").value,
      rho: sum(rho.flatMap((values) => [...values])) / measures.trained.get("petzka.rho_sum").value,
    };
  });
  const near = (ratio) => Math.abs(ratio - 1) < tolerance;
  check(
    "the layers' κ, κ_τ and ρ add up to the measures",
    near(found.kappa) && near(found.trace) && near(found.rho),
    `${found.kappa}, ${found.trace}, ${found.rho}`,
  );
  if (bent) await page.waitForSelector("#layers svg.plot .bar.bent", { state: "attached", timeout: 120_000 });
  const drawn = await lab.count("#layers .bar");
  check("three charts have a bar for each layer", drawn === 3 * found.depth * (bent ? 2 : 1), `${drawn} bars`);
  await page.selectOption("#rho-layer", "1");
  const neurons = await state(lab, () => window.isoflatLab.app.store.state.layers.trained.rho[1].length);
  const dots = Number(await page.locator("#rho-plot .dots.trained").getAttribute("data-count"));
  check("every neuron of a layer has its ρ drawn", dots === neurons, `${dots} dots`);
  await page.selectOption("#rho-layer", "0");
  return found;
}

export async function checkPixels(lab, check) {
  const colours = await lab.colours("#rho-images [data-of=trained] canvas");
  check("ρ of the pixels is an image", colours > 20, `${colours} colours`);
}

/** Both ends and the density of a small spectrum; those of one that is never negative have no lower end. */
export async function checkSpectrum(lab, check, { part, points }) {
  const { page } = lab;
  await lab.goTo("spectrum");
  await page.selectOption("#operator", "hessian");
  await page.selectOption("#operator-part", part);
  const wanted = part === "all" ? "10,5" : "10,0";
  await page.click("#spectrum-button");
  await page.waitForFunction(
    (points) => points.every((point) => window.isoflatLab.app.store.state.densities[point]),
    points,
    { timeout: 120_000 },
  );
  const { ends, integrals } = await state(lab, () => ({
    ends: Object.values(window.isoflatLab.app.store.state.spectra).map(({ top, bottom, verified, converged }) => ({
      ordered: top.every(({ value }, index) => index === 0 || value <= top[index - 1].value + 1e-9),
      counts: [top.length, bottom.length],
      trusted: converged && verified,
    })),
    // By the trapezoidal rule.
    integrals: Object.values(window.isoflatLab.app.store.state.densities).map(({ grid, density }) =>
      grid.slice(1).reduce((sum, x, i) => sum + ((density[i] + density[i + 1]) / 2) * (x - grid[i]), 0),
    ),
  }));
  check(
    "the largest and the smallest eigenvalues, in order",
    ends.length === points.length && ends.every(({ ordered, counts }) => ordered && counts.join() === wanted),
  );
  check(
    "they are converged, and verified that none was missed",
    ends.every(({ trusted }) => trusted),
  );
  check("and the page says so", /verified/.test(await lab.text("isoflat-spectrum .trust")));
  check(
    "the density integrates to 1",
    integrals.length === points.length && integrals.every((integral) => Math.abs(integral - 1) < 0.01),
    integrals.map((integral) => integral.toFixed(4)).join(", "),
  );
  // A chart is drawn a moment after its numbers are there.
  const areDrawn = async (name) => {
    const found = page.locator(`isoflat-spectrum ${name}`);
    await found.nth(points.length - 1).waitFor({ state: "attached" });
    return (await found.count()) === points.length;
  };
  check("both are drawn", (await areDrawn(".ends .dots")) && (await areDrawn(".curve")));
}

/** Over all parameters it takes a while: long enough to be stopped. */
export async function checkSpectrumStop(lab, check) {
  const { page } = lab;
  await page.selectOption("#operator-part", "all");
  await page.click("#spectrum-button");
  await page.waitForFunction(() => window.isoflatLab.app.store.state.progress?.done > 5);
  const start = performance.now();
  await page.click("#status-stop");
  await lab.idle();
  const seconds = (performance.now() - start) / 1000;
  const { densities } = await state(lab, () => window.isoflatLab.app.store.state);
  check("Stop stops a spectrum within 2 s", seconds < 2 && !densities.trained, `${seconds.toFixed(2)} s`);
}

/** Theorem 4: a thousand times as sharp, with the outputs as they were; with a power of two to the last bit. */
export async function checkSharpen(lab, check, { precision, longest }) {
  const { page } = lab;
  await page.waitForFunction(() => window.isoflatLab.app.store.state.dinh.valley, null, { timeout: 120_000 });
  const sharpened = async () => {
    await page.waitForFunction(() => window.isoflatLab.app.store.state.dinh.sharpened, null, { timeout: 120_000 });
    return state(lab, () => window.isoflatLab.app.store.state.dinh.sharpened.value);
  };
  await lab.goTo("dinh");
  await page.locator("#bend-controls .segments").getByText("Sharpen").click();
  await lab.watchThread();
  await lab.drag("#sharpness", 0.5);
  const { held, said } = await lab.longestTask();
  const found = await sharpened();
  const asked = await state(lab, () => 10 ** window.isoflatLab.app.store.state.dinh.decades);
  check("the page stays responsive while one drags", held < longest, said);
  check(
    "it is as sharp as was asked for",
    asked > 500 && asked < 2000 && found.reached && found.measured.norm >= 0.999 * asked * found.before.norm,
    `× ${asked.toPrecision(3)} asked, × ${(found.measured.norm / found.before.norm).toPrecision(3)} measured`,
  );
  check(
    "and as sharp as was predicted",
    found.relativeDifference < (precision === "f64" ? 1e-6 : 1e-2),
    `${found.relativeDifference}`,
  );
  check(
    "the outputs are the same to rounding",
    found.outputs.relative < (precision === "f64" ? 1e-12 : 1e-4),
    `${found.outputs.relative}`,
  );
  const shape = await page.locator("#valley .curve.bent").getAttribute("d");
  await page.locator("#powers-of-two").check();
  check("the line follows at once", (await page.locator("#valley .curve.bent").getAttribute("d")) !== shape);
  const exact = await sharpened();
  check(
    "with a power of two they are the same to the last bit",
    exact.outputs.bitwise && exact.outputs.largest === 0 && Number.isInteger(Math.log2(exact.alpha)),
    `α = 2^${Math.log2(exact.alpha)}`,
  );
  check("and the page says so", /bit for bit/.test(await lab.text("#sharpen-text")));
  check("the measured line is drawn over the predicted one", (await lab.count("#valley .dots.bent")) === 1);
}

/** Disjoint boxes, a constant function in the ball, many large eigenvalues: on a network small enough for all three. */
export async function checkConstructions(lab, check) {
  const { page } = lab;
  await lab.goTo("dinh");
  await page.click("#boxes-button");
  await page.waitForSelector("#boxes-finding[data-disjoint=true]");
  const volumes = await state(lab, () =>
    window.isoflatLab.app.store.state.dinh.boxes.value.boxes.map(({ totalLogVolume }) => totalLogVolume),
  );
  check(
    "the boxes are disjoint, and their volume grows with each",
    volumes.length > 4 && volumes.every((volume, index) => index === 0 || volume > volumes[index - 1]),
  );
  check("and is drawn", Number(await page.locator("#boxes-plot .dots").getAttribute("data-count")) === volumes.length);
  await page.click("#ball-button");
  await page.waitForSelector("#ball-finding[data-holds]");
  const ball = await state(lab, () => window.isoflatLab.app.store.state.dinh.ball.value);
  check(
    "a constant function lies in the ball, and the sharpness is at least its",
    ball.holds && ball.distance <= ball.epsilon * (1 + 1e-6),
    `${ball.measured.value.toPrecision(3)} ≥ ${ball.guaranteed.toPrecision(3)}`,
  );
  await page.click("#many-button");
  await page.waitForSelector("#many-finding[data-holds]");
  const many = await state(lab, () => window.isoflatLab.app.store.state.dinh.many.value);
  check(
    "as many eigenvalues exceed M as the theorem promises",
    many.holds && many.measured >= many.promised && many.measured > many.before,
    `${many.before} before, ${many.promised} promised, ${many.measured} measured`,
  );
}

/** Sections 5.1 and 5.2: what other coordinates, of the weights and of the inputs, make of a minimum. */
export async function checkCoordinates(lab, check) {
  const { page } = lab;
  await lab.goTo("dinh");
  const found = (what) => page.evaluate((what) => window.isoflatLab.app.store.state.dinh[what]?.value, what);
  const ask = async (what, choice) => {
    await page.evaluate((what) => {
      const { store } = window.isoflatLab.app;
      store.set({ dinh: { ...store.state.dinh, [what]: null } });
    }, what);
    if (choice) await page.selectOption(`#${what}-choice`, { label: choice });
    await page.click(`#${what}-button`);
    await page.waitForFunction((what) => window.isoflatLab.app.store.state.dinh[what], what, { timeout: 120_000 });
    await lab.idle();
    return found(what);
  };
  for (const [choice, wanted] of [
    ["100 times as flat", 100],
    ["10\u202f000 times as sharp", 1e-4],
  ]) {
    const { before, after, inner, rho } = await ask("radial", choice);
    const ratio = before.value / after;
    check(`the Hessian in η is ${choice} as in θ`, Math.abs(ratio / wanted - 1) < 1e-6, `÷ ${ratio}`);
    check("by the map's own radii", Math.abs((rho / inner) ** 2 / wanted - 1) < 1e-9, `${inner} to ${rho}`);
    check("and the card says that it holds", (await page.getAttribute("#radial-finding", "data-holds")) === "true");
  }
  const { scales, volumes, boxes } = await ask("normalized");
  const values = scales.map(({ directions }) => directions.value);
  check(
    "under weight normalisation sharpness in v falls as α grows",
    values.length > 3 && values.every((value, index) => index === 0 || value < values[index - 1]),
    values.map((value) => value.toPrecision(3)).join(" "),
  );
  check(
    "what v alone reaches, all coordinates reach",
    scales.every(({ directions, whole }) => whole.value >= directions.value * (1 - 1e-9)),
  );
  check(
    "the function is the same for each",
    scales.every(({ outputs }) => outputs.relative < 1e-9),
    scales.map(({ outputs }) => outputs.relative).join(" "),
  );
  // Each α of the boxes multiplies the side of each weight's edge: of all weights, which biases are not.
  const { weights, alpha } = await state(lab, () => {
    const { dinh, model } = window.isoflatLab.app.store.state;
    const sizes = model.layers.map((layer) => layer.split("→").map((text) => Number.parseInt(text, 10)));
    return {
      weights: sizes.reduce((sum, [fanIn, fanOut]) => sum + fanIn * fanOut, 0),
      alpha: dinh.normalized.value.volumes[1].alpha,
    };
  });
  const grown = (volumes[1].logVolume - volumes[0].logVolume) / Math.log(alpha);
  check("a box in v grows by α to the number of weights", Math.abs(grown - weights) < 1e-6 * weights, `${grown}`);
  check("and all boxes are disjoint", boxes.disjoint);
  const drawn = page.locator("#normalized-plot .dots.bent");
  check("both are drawn over α", Number(await drawn.getAttribute("data-count")) === scales.length);
  for (const [choice, map] of [
    ["of mean 0 and variance 1", "standardize"],
    ["of mean 0 and covariance 1, whitened", "whiten"],
    ["gaussianised, one by one", "gaussianize"],
  ]) {
    const { map: of, samples, outputs, chainRuleError, predictionGradients } = await ask("inputs", choice);
    const { before, after, ratios } = predictionGradients;
    check(`${map}: the outputs stay`, of === map && outputs.relative < 1e-9, `${outputs.relative}`);
    check(
      "every sample's gradient is another one, by the chain rule",
      before.length === samples &&
        after.length === samples &&
        chainRuleError < 1e-9 &&
        (ratios[0] < 0.99 || ratios[1] > 1.01),
      `× ${ratios.map((ratio) => ratio.toPrecision(3)).join(" to ")}, ${chainRuleError.toPrecision(1)}`,
    );
    check("and is drawn", Number(await page.locator("#inputs-plot .dots.bent").getAttribute("data-count")) === samples);
  }
}

export async function checkTooLarge(lab, check) {
  const said = await lab.text("#many-finding");
  check("whole spectra of a large network are refused in words", /4\s?096 parameters/.test(said), said);
  const other = await lab.text("#radial-finding");
  check("so are whole Hessians in other coordinates", /2\s?048 parameters/.test(other), other);
  check("which cannot be asked for", await lab.page.locator("#radial-button").isDisabled());
}

/** Figure 5's curvature, which the engine gives, against the map's own derivative, b^a at θ̂. */
export async function checkFigure5(lab, check) {
  const { page } = lab;
  const figure = page.locator("#figure5");
  const settings = { center: 1.5, a: 0.7, b: 0.02 };
  const curvature = async (change) => {
    for (const [name, value] of Object.entries(change)) await slide(lab, `figure5-${name}`, value);
    const { center, a, b } = Object.assign(settings, change);
    await page.waitForSelector(`#figure5[data-of="${center} ${a} ${b}"]:not([aria-busy])`);
    return Number(await figure.getAttribute("data-curvature"));
  };
  const { a, b } = settings;
  const wanted = 2 * Math.PI ** 2 * b ** (-2 * a);
  const found = await curvature(settings);
  check("Figure 5: the minimum at θ̂ gets the map's curvature", Math.abs(found / wanted - 1) < 1e-9, `${found}`);
  check("with a = 0 nothing changes", Math.abs((await curvature({ a: 0 })) / (2 * Math.PI ** 2) - 1) < 1e-12);
  check("with a below 0 it is flatter there", (await curvature({ a: -0.4 })) < 2);
  check("where the map is singular there is none", Number.isNaN(await curvature({ b: 0 })));
  check("and the page says why", /singular/.test(await lab.text("#figure5-said")));

  // An engine that takes its time, and is asked for more meanwhile.
  await page.evaluate(() => {
    const { asking } = window.isoflatLab.app;
    window.asked = [];
    const isOpen = new Promise((resolve) => {
      window.openEngine = resolve;
    });
    const { powerMap } = asking;
    asking.powerMap = async (choice, points) => {
      window.asked.push(choice.a);
      await isOpen;
      return powerMap.call(asking, choice, points);
    };
  });
  const before = await figure.getAttribute("data-curvature");
  await slide(lab, "figure5-b", 0.02);
  for (const a of [0.1, 0.2, 0.3, 0.7]) await slide(lab, "figure5-a", a);
  await page.waitForSelector("#figure5[data-waiting][aria-busy=true]");
  check("a busy engine is said to be", /settings before/.test(await lab.text("#figure5-said")));
  check("and what is drawn stays meanwhile", (await figure.getAttribute("data-curvature")) === before);
  await page.evaluate(() => window.openEngine());
  const last = await curvature({ a: 0.7, b: 0.02 });
  check("the last answer is shown", Math.abs(last / wanted - 1) < 1e-9, `${last}`);
  const asked = await page.evaluate(() => {
    delete window.isoflatLab.app.asking.powerMap;
    return window.asked;
  });
  const between = asked.filter((a) => [0.1, 0.2, 0.3].includes(a));
  check("and those between were not asked for", between.length === 0 && asked.includes(0.7), asked.join(" "));
}
