/** TensorFlow.js in the parts that compute; bundled by scripts/bench.mjs, for its gradients are in no file a page can load. */

import "@tensorflow/tfjs-core/dist/register_all_gradients.js";
import "@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops.js";
import "@tensorflow/tfjs-backend-webgpu";

export { setThreadsCount, setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
export * from "@tensorflow/tfjs-core";
