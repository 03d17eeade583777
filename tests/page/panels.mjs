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
  check(
    "both are drawn",
    (await lab.count("isoflat-spectrum .ends .dots")) === points.length &&
      (await lab.count("isoflat-spectrum .curve")) === points.length,
  );
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

export async function checkTooLarge(lab, check) {
  const said = await lab.text("#many-finding");
  check("whole spectra of a large network are refused in words", /4\s?096 parameters/.test(said), said);
}

/** Figure 5 is a drawing: its curvature against the map's own derivative, b^a at θ̂. */
export async function checkFigure5(lab, check) {
  const curvature = async () => Number(await lab.page.locator("#figure5").getAttribute("data-curvature"));
  const [a, b] = [0.7, 0.02];
  await slide(lab, "figure5-center", 1.5);
  await slide(lab, "figure5-a", a);
  await slide(lab, "figure5-b", b);
  const wanted = 2 * Math.PI ** 2 * b ** (-2 * a);
  const found = await curvature();
  check("Figure 5: the minimum at θ̂ gets the map's curvature", Math.abs(found / wanted - 1) < 1e-9, `${found}`);
  await slide(lab, "figure5-a", 0);
  check("with a = 0 nothing changes", Math.abs((await curvature()) / (2 * Math.PI ** 2) - 1) < 1e-12);
  await slide(lab, "figure5-a", -0.4);
  check("with a below 0 it is flatter there", (await curvature()) < 2);
}
