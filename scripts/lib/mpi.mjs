/** MPI, which the feature `mpi` is built with and its tests run under; nothing else needs it. */

import { capture, which } from "./process.mjs";

/** Debian's Open MPI, and what reads its header while the feature is built. */
export const mpiPackages = ["libopenmpi-dev", "openmpi-bin", "libclang-dev"];

export const noMpi = "MPI was not found: install Open MPI or MPICH with its headers (mpicc, mpirun), and libclang";

/** Are the compiler's wrapper, the starter and, where one can ask, the library that reads headers there? */
export function hasMpi() {
  if (which("mpicc") === undefined || which("mpirun") === undefined) return false;
  const libraries = process.platform === "linux" ? capture("/sbin/ldconfig", "-p") : undefined;
  return libraries === undefined || libraries.includes("libclang");
}
