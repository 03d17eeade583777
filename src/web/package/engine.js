/** `Engine`: computes on one device. */

import { options, promised, run, unlessAborted, withOptions } from "./call.js";
import { adopted, fault } from "./errors.js";
import { Handle, of, wrap } from "./handle.js";
import { instance } from "./instance.js";
import { inCamelCase } from "./names.js";
import { Problem } from "./problem.js";
import { isAbsent, kept, named, numbers, plain } from "./read.js";
import { Remote } from "./remote.js";
import { neverStarted } from "./spawn.js";
import { keepTuning, keptTunings } from "./tunings.js";

const OPTION = "invalid_option";

const vector = (value, what = "parameters") => numbers(value, what, "invalid_parameters");

/** Vectors inside options: they go to the module as typed arrays, which it reads when the call's turn has come. */
const VECTORS =
  /^(train\.checkpoint\.(coordinates|mean|square)|landscape\.(directions\[\d+\]\.(parameters|values)|trajectory\[\d+\]))$/;

/** What of an option is no plain data: vectors, and a validation problem. */
function special(home) {
  return (value, path) => {
    if (isAbsent(value)) return undefined;
    if (VECTORS.test(path)) return kept(vector(value, path));
    return path.endsWith(".validation") ? problemOf(value, home, path.replace(".", ": ")) : undefined;
  };
}

function problemOf(value, home, what) {
  const raw = Handle.raw(value, Problem, what);
  // There it has a number.
  if (home instanceof Remote) return value;
  if (Handle.home(value) !== home) throw fault("invalid_handle", `${what} was made before isoflat crashed`);
  return raw;
}

/** `trainSideBySide`'s runs: parameters stay typed arrays. */
function runsOf(value) {
  const parameters = (entry, path) => (/^runs\[\d+\]\.parameters$/.test(path) ? vector(entry, path) : undefined);
  const runs = plain(value, "runs", OPTION, parameters);
  if (!Array.isArray(runs) || runs.length === 0) {
    throw fault(OPTION, "trainSideBySide needs runs, an array of at least one { parameters, options }");
  }
  for (const [i, run] of runs.entries()) {
    const unknown = Object.keys(Object(run)).find((key) => key !== "parameters" && key !== "options");
    if (unknown !== undefined) {
      throw fault(OPTION, `runs[${i}] has no key ${unknown}; there are parameters and options`);
    }
  }
  return runs;
}

/** The module's method of this name, on a problem at parameters; `between` are arguments before the options. */
function work(engine, method, problem, parameters, given, { canFinish = false, between = () => [] } = {}) {
  return promised(
    () => {
      const raw = Handle.raw(engine, Engine, `${method}: this Engine`);
      const home = Handle.home(engine);
      const { rest, watch } = options(given, method, canFinish);
      const values = [
        problemOf(problem, home, "problem"),
        ...(parameters ? [vector(parameters.of)] : []),
        ...between(),
      ];
      const settings = plain(rest, method, OPTION, special(home));
      return run(home, watch, (_, controls) => raw[method](...values, { ...settings, ...controls }));
    },
    withOptions(method, canFinish),
  );
}

/** Workers in a row that are replaced since they do not hear. */
const REPLACED = 3;

/** Where an engine is to be: in a worker of its own, or in the module's instance here. */
function homeOf(worker, here) {
  if (worker === true) return new Remote(here.glue.compiled());
  if (isAbsent(worker) || worker === false) return here;
  throw fault(OPTION, `Engine.create: worker must be true or false, not ${named(worker)}`);
}

/** An engine's handle there. */
async function engineIn(home, watch, settings) {
  const raw = await run(home, watch, (glue, controls) => glue.Engine.create({ ...settings, ...controls }));
  const { measured } = raw;
  if (measured) await keepTuning(...measured);
  return wrap(Engine, home, raw);
}

export class Engine extends Handle {
  // Messages say it; a minifier would take another.
  static name = "Engine";

  static create(given) {
    return promised(async () => {
      const here = instance();
      const { rest, watch } = options(given, "Engine.create");
      const { worker, ...settings } = plain(rest, "Engine.create", OPTION);
      const tunings = settings.backend === "cpu" ? [] : await unlessAborted(watch, keptTunings());
      for (let replaced = 0; ; replaced++) {
        const home = homeOf(worker, here);
        const work = engineIn(home, watch, { ...settings, tunings });
        if (!(home instanceof Remote)) return await work;
        try {
          if (!(await home.isDeaf(work))) {
            const engine = await work;
            Handle.whenGone(engine, () => home.free());
            return engine;
          }
        } catch (error) {
          home.end();
          throw error;
        }
        home.end();
        if (replaced === REPLACED) throw neverStarted("it does not answer, nor do those in its place");
      }
    }, withOptions("Engine.create"));
  }

  get info() {
    return of(this, Engine, "info", (raw) => raw.info);
  }

  estimate(problem, parameters, options) {
    return work(this, "estimate", problem, { of: parameters }, options);
  }

  evaluate(problem, parameters, options) {
    return work(this, "evaluate", problem, { of: parameters }, options);
  }

  outputs(problem, parameters, options) {
    return work(this, "outputs", problem, { of: parameters }, options);
  }

  gradient(problem, parameters, options) {
    return work(this, "gradient", problem, { of: parameters }, options);
  }

  product(problem, parameters, directions, options) {
    const between = () => [vector(directions, "directions")];
    return work(this, "product", problem, { of: parameters }, options, { between });
  }

  train(problem, parameters, options) {
    return work(this, "train", problem, { of: parameters }, options, { canFinish: true });
  }

  async trainSideBySide(problem, runs, options) {
    const between = () => [runsOf(runs)];
    const results = await work(this, "trainSideBySide", problem, undefined, options, { canFinish: true, between });
    return results.map((result) => (result.error ? { error: adopted(result.error) } : result));
  }

  eigenvalues(problem, parameters, options) {
    return work(this, "eigenvalues", problem, { of: parameters }, options);
  }

  measure(problem, parameters, options) {
    return work(this, "measure", problem, { of: parameters }, options);
  }

  invariance(problem, parameters, options) {
    return work(this, "invariance", problem, { of: parameters }, options);
  }

  landscape(problem, parameters, options) {
    return work(this, "landscape", problem, { of: parameters }, options);
  }

  density(problem, parameters, options) {
    return work(this, "density", problem, { of: parameters }, options);
  }

  trace(problem, parameters, options) {
    return work(this, "trace", problem, { of: parameters }, options);
  }

  diagonal(problem, parameters, options) {
    return work(this, "diagonal", problem, { of: parameters }, options);
  }

  leastTrace(problem, parameters, options) {
    return work(this, "leastTrace", problem, { of: parameters }, options);
  }

  petzka(problem, parameters, options) {
    return work(this, "petzka", problem, { of: parameters }, options);
  }

  sharpness(problem, parameters, options) {
    return work(this, "sharpness", problem, { of: parameters }, options);
  }

  averageSharpness(problem, parameters, options) {
    return work(this, "averageSharpness", problem, { of: parameters }, options);
  }

  featureRobustness(problem, parameters, options) {
    return work(this, "featureRobustness", problem, { of: parameters }, options);
  }

  noiseInjection(problem, parameters, options) {
    return work(this, "noiseInjection", problem, { of: parameters }, options);
  }

  sharpen(problem, parameters, options) {
    return work(this, "sharpen", problem, { of: parameters }, options);
  }

  volumeFlatness(problem, parameters, options) {
    return work(this, "volumeFlatness", problem, { of: parameters }, options);
  }

  manyLargeEigenvalues(problem, parameters, options) {
    return work(this, "manyLargeEigenvalues", problem, { of: parameters }, options);
  }

  constantInBall(problem, parameters, options) {
    return work(this, "constantInBall", problem, { of: parameters }, options);
  }

  normalizedSharpness(problem, parameters, options) {
    return work(this, "normalizedSharpness", problem, { of: parameters }, options);
  }

  reparametrizedHessian(problem, parameters, options) {
    return work(this, "reparametrizedHessian", problem, { of: parameters }, options);
  }

  inputRepresentation(problem, parameters, options) {
    return work(this, "inputRepresentation", problem, { of: parameters }, options);
  }

  async report(problem, parameters, options) {
    const found = await work(this, "report", problem, { of: parameters }, options, { canFinish: true });
    return { ...found, values: inCamelCase(found.values) };
  }

  loseDevice() {
    of(this, Engine, "loseDevice", (raw) => raw.loseDevice());
  }
}
