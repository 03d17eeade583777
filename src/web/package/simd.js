/** The smallest module with a fused multiply-add of relaxed SIMD: where it is valid, so is the package's second module. */
const PROBE = [
  [0, 97, 115, 109, 1, 0, 0, 0],
  [1, 5, 1, 96, 0, 1, 123],
  [3, 2, 1, 0],
  [10, 19, 1, 17, 0, 65, 0, 253, 15, 65, 0, 253, 15, 65, 0, 253, 15, 253, 133, 2, 11],
].flat();

/** Has this engine relaxed SIMD? Node has since version 22, Safari has not. */
export const hasRelaxedSimd = () => WebAssembly.validate(new Uint8Array(PROBE));
