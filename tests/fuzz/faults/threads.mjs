/** An engine's thread that dies in the middle of its work. Needs a page that may have threads; elsewhere the engine has one. */

/** Keeps the workers that are started while `body` runs. */
async function withWorkers(body) {
  const { Worker } = globalThis;
  const started = [];
  globalThis.Worker = class extends Worker {
    constructor(...args) {
      super(...args);
      started.push(this);
    }
  };
  try {
    return [await body(), started];
  } finally {
    globalThis.Worker = Worker;
  }
}

/** A worker that is told to end says nothing more, as one that the system has ended: its failure has to be found out. */
export const losesThreads =
  (run) =>
  async (world, { work, ms, setup }) => {
    const { Engine } = world.isoflat;
    const [engine, workers] = await withWorkers(() => Engine.create(setup.engineOptions));
    world.handles.engine = world.own(engine);
    if (workers.length === 0) return;
    setTimeout(() => {
      for (const worker of workers) worker.dispatchEvent(new ErrorEvent("error", { message: "killed by the harness" }));
      for (const worker of workers) worker.terminate();
    }, ms);
    await run(world, work, {});
    await new Promise((resolve) => setTimeout(resolve, ms + 20));
    const after = await run(world, work, {});
    if (after.error !== undefined && after.error.code !== "device_lost")
      world.fault({ failure: "after-loss", detail: after.error.code }, `engine.${work}`);
  };
