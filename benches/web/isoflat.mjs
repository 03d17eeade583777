/** isoflat, through examples/bench.rs: see there why not through the package. */

/** `built` is where the module lies: this checkout's, or another's. */
export async function open(problem, { device, threads = 1, built = "/built/" }) {
  const { default: init, Bench } = await import(`${built}bench.js`);
  await init();
  const bench = await Bench.open(
    device,
    threads,
    JSON.stringify(problem.network),
    problem.inputs,
    problem.labels,
    Float64Array.from(problem.parameters),
    Float64Array.from(problem.direction),
    Float64Array.from(problem.u),
    Float64Array.from(problem.v),
  );
  let losses;
  return {
    adapter: bench.adapter(),
    gradient: () => bench.gradient(),
    product: () => bench.product(),
    landscape: async () => {
      losses = await bench.landscape(problem.points);
    },
    read: async (operation) => {
      if (operation === "landscape") return losses;
      return operation === "gradient" ? bench.readGradient() : bench.readProduct();
    },
  };
}
