/** isoflat with threads: its engine lives in a worker, since a page's main thread may not wait for others. */

export async function open(problem, options) {
  const worker = new Worker(new URL("isoflat-worker.mjs", import.meta.url), { type: "module" });
  const ask = (method, ...values) =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data: { value, error } }) =>
        error === undefined ? resolve(value) : reject(new Error(error));
      worker.onerror = ({ message }) => reject(new Error(message || "the worker did not load"));
      worker.postMessage({ method, values });
    });
  return {
    adapter: await ask("open", problem, options),
    gradient: () => ask("gradient"),
    product: () => ask("product"),
    landscape: () => ask("landscape"),
    read: (operation) => ask("read", operation),
  };
}
